//! Programs with a fork server.

use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::time::Duration;

use gramjet_harness::{Command, ForkServer, Limits, Outcome, Program, Target};

use crate::kit::{assert_begins, built, compiled, place, processes_of};

fn limits() -> Limits {
    // A busy machine may need long for a short run.
    Limits::default().with_time(Duration::from_secs(2))
}

/// Returns a program of `tests/programs`, with our run time.
pub(crate) fn own(name: &str) -> Option<PathBuf> {
    built(name, "clang", |command, source, program| {
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("runtime");
        // Without the option of the compilation, for which the linker would want libraries of sanitizers.
        let compiled = |source: &Path, options: &[&str]| {
            let name = source.file_stem().expect("a name").display();
            let object = place("programs").join(format!("{name}.{}.o", program.file_name().expect("a name").display()));
            let done =
                Process::new("clang").args(["-O2", "-c"]).args(options).arg("-o").arg(&object).arg(source).status();
            assert!(done.expect("clang").success());
            object
        };
        command.arg(compiled(source, &["-fsanitize-coverage=trace-pc-guard,pc-table"]));
        command.arg(compiled(&runtime.join("counters.c"), &[]));
        if ["harness", "many"].contains(&name) {
            command.arg(compiled(&runtime.join("driver.c"), &[]));
        }
    })
}

/// Returns a program of `tests/programs`, built by AFL++.
fn afl(name: &str) -> Option<PathBuf> {
    built(name, "afl-clang-fast", |command, source, _| {
        command.env("AFL_QUIET", "1").arg("-O2").arg(source);
        if name == "harness" {
            command.arg("-fsanitize=fuzzer");
        }
    })
}

fn server(program: &Path, arguments: &[&str]) -> ForkServer {
    ForkServer::new(Program::new(program, arguments.iter().copied()).expect("the program").limits(limits()))
        .expect("a fork server")
}

fn cost(target: &mut ForkServer, input: &[u8]) -> (Outcome, u64) {
    let run = target.run(input).expect("a run");
    (run.outcome, run.edges.expect("edges").total())
}

fn counts_are_repeatable(mut target: ForkServer) {
    let (deep, flat) = ("[".repeat(50) + &"]".repeat(50), "[]".repeat(10));
    let first = cost(&mut target, deep.as_bytes());
    assert_eq!(first.0, Outcome::Exit(0));
    for _ in 0..100 {
        assert!(cost(&mut target, flat.as_bytes()).1 < first.1);
        assert_eq!(cost(&mut target, deep.as_bytes()), first);
    }
}

fn outcomes_are_told(mut target: ForkServer, program: &Path) {
    for _ in 0..3 {
        assert_eq!(cost(&mut target, b"!").0, Outcome::Signal(libc_abort()));
        assert_eq!(cost(&mut target, b"*").0, Outcome::Timeout);
        assert_eq!(cost(&mut target, b"k").0, Outcome::Lost);
        assert_eq!(cost(&mut target, b"f").0, Outcome::Exit(1));
        assert_eq!(cost(&mut target, b"z").0, Outcome::Lost);
        assert_eq!(cost(&mut target, b"r").0, Outcome::Exit(1));
        assert_eq!(cost(&mut target, b"[]").0, Outcome::Exit(0));
        assert_eq!(cost(&mut target, b"[x").0, Outcome::Exit(1));
    }
    let run = target.run(b"[[]]").expect("a run");
    assert_eq!(run.stdout.bytes, b"2\n");
    drop(target);
    assert_eq!(processes_of(program), [""; 0]);
}

fn libc_abort() -> i32 {
    6
}

#[test]
fn counts_are_exact() {
    let Some(program) = own("json_like") else { return };
    counts_are_repeatable(server(&program, &[]));
    counts_are_repeatable(server(&program, &["@@"]));
}

#[test]
fn counts_of_afl_are_repeatable() {
    let Some(program) = afl("json_like") else { return };
    counts_are_repeatable(server(&program, &[]));
    counts_are_repeatable(server(&program, &["@@"]));
}

#[test]
#[ignore = "run by ci/test"]
fn outcomes_of_forks_are_told() {
    if let Some(program) = own("json_like") {
        outcomes_are_told(server(&program, &[]), &program);
    }
}

#[test]
#[ignore = "run by ci/test"]
fn outcomes_of_forks_of_afl_are_told() {
    if let Some(program) = afl("json_like") {
        outcomes_are_told(server(&program, &[]), &program);
    }
}

fn harnesses_run_on(mut target: ForkServer) {
    assert!(target.instrumentation().is_persistent);
    for _ in 0..3 {
        let first = cost(&mut target, b"some text");
        for _ in 0..200 {
            let longer = cost(&mut target, b"some longer text");
            assert!(longer.1 >= first.1, "{longer:?} {first:?}");
            assert_eq!(cost(&mut target, b"some text"), first);
        }
        assert_eq!(cost(&mut target, b"BUG").0, Outcome::Signal(libc_abort()));
        assert_eq!(cost(&mut target, b"*").0, Outcome::Timeout);
        // The first input of a process may execute more.
        cost(&mut target, b"");
    }
}

#[test]
fn a_harness_takes_many_inputs_in_one_process() {
    if let Some(program) = own("harness") {
        harnesses_run_on(server(&program, &[]));
    }
}

#[test]
fn runs_of_fork_servers_are_begun_and_waited_for() {
    let outcomes = [(&b"[]"[..], Outcome::Exit(0)), (b"!", Outcome::Signal(libc_abort())), (b"[x", Outcome::Exit(1))];
    if let Some(program) = own("json_like") {
        assert_begins(&mut server(&program, &[]), &outcomes);
        assert_begins(&mut server(&program, &["@@"]), &outcomes);
    }
    let Some(program) = own("harness") else { return };
    let mut target = server(&program, &[]);
    let whole = cost(&mut target, b"some text");
    // It ends after this input, so the next one is begun anew.
    assert_eq!(cost(&mut target, b"LATER").0, Outcome::Exit(0));
    std::thread::sleep(Duration::from_millis(100));
    target.start(b"some text").expect("a start");
    let run = target.finish().expect("a run");
    assert_eq!((run.outcome, run.edges.expect("edges").total()), whole);
}

#[test]
fn a_harness_that_ends_between_inputs_is_started_anew() {
    let Some(program) = own("harness") else { return };
    let mut target = server(&program, &[]);
    let whole = cost(&mut target, b"some text");
    for _ in 0..3 {
        assert_eq!(cost(&mut target, b"LATER").0, Outcome::Exit(0));
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(cost(&mut target, b"some text"), whole);
    }
}

#[test]
#[ignore = "run by ci/test"]
fn a_harness_built_by_afl_takes_many_inputs_in_one_process() {
    if let Some(program) = afl("harness") {
        harnesses_run_on(server(&program, &[]));
    }
}

#[test]
fn a_program_without_instrumentation_is_refused() {
    let none: [&str; 0] = [];
    let error = ForkServer::new(Program::new("true", none).expect("true")).err().expect("an error").to_string();
    assert!(
        error.ends_with(
            "true is not instrumented: build it with `gramjet cc`, `gramjet c++`, `gramjet cargo` or AFL++'s compilers"
        ),
        "{error}"
    );
}

#[test]
fn a_process_has_few_parts_of_memory_more_than_without_counters() {
    let parts = |target: &mut dyn Target| match target.run(b"").expect("a run").outcome {
        Outcome::Exit(parts) => parts,
        other => panic!("{other}"),
    };
    let Some(program) = own("maps") else { return };
    let none: [&str; 0] = [];
    let plain = Program::new(compiled("maps", &["-O2"]), none).expect("the program").limits(limits());
    let without = parts(&mut Command::new(plain).expect("the program"));
    let with = parts(&mut server(&program, &[]));
    // Each part takes time in each `fork`: what this process knows, its counters, what it tells, and pages between them
    // that nothing can touch.
    assert!(with <= without + MOST_PARTS, "{with} parts in place of {without}");
}

/// Parts of memory that the counters may take.
const MOST_PARTS: i32 = 9;
