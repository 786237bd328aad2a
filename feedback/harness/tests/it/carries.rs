//! Counts beyond 2^32 - 1, with all compilers. The program `carries.c` puts its counters just below 2^32 itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gramjet_harness::{Edges, ForkServer, Limits, Outcome, Program, Target};

use crate::instrument::{compilers, fresh, source, succeeded, wrapper};

/// Number that the digit 1 adds to each count.
const BASE: u64 = (1 << 32) - 3;

/// Returns `carries.c` by each compiler, linked with a library that counts, too, which is shared or not.
fn programs(name: &str, is_shared: bool, option: Option<&str>) -> impl Iterator<Item = PathBuf> {
    compilers().into_iter().map(move |compiler| {
        let folder = fresh(name);
        let (library, linked): (&[&str], &[&str]) = match is_shared {
            true => (&["-shared", "-fPIC", "-o", "libletters.so"], &["-L.", "-lletters", "-Wl,-rpath,$ORIGIN"]),
            false => (&["-c", "-o", "letters.o"], &["letters.o"]),
        };
        succeeded(wrapper("cc", &compiler, &folder).arg("-O2").args(library).arg(source("library.c")));
        let mut link = wrapper("cc", &compiler, &folder);
        link.args(option).args(["-O2", "-o", "program"]).arg(source("carries.c"));
        succeeded(link.args(linked));
        folder.join("program")
    })
}

fn server(program: &Path, seconds: u64) -> ForkServer {
    limited(program, Limits::default().with_time(Duration::from_secs(seconds)))
}

fn limited(program: &Path, limits: Limits) -> ForkServer {
    let none: [&str; 0] = [];
    ForkServer::new(Program::new(program, none).expect("the program").limits(limits)).expect("a fork server")
}

fn edges(target: &mut ForkServer, input: &str) -> Edges {
    let run = target.run(input.as_bytes()).expect("a run");
    assert_eq!(run.outcome, Outcome::Exit(0));
    run.edges.expect("edges").clone()
}

/// Counts from a place below 2^32 on are those from 0 on, and as many more; the next run begins at 0 again.
fn carry(program: &Path) {
    let mut target = server(program, 5);
    let text = "ab?c".repeat(500);
    let first = edges(&mut target, "0the first input of a process");
    assert!(first.executed().iter().all(|edge| edge.count < 1 << 20));
    let first = edges(&mut target, &format!("0{text}"));
    assert!(first.hottest().expect("an edge").count >= 1500);
    for _ in 0..3 {
        let raised = edges(&mut target, &format!("1{text}"));
        assert_eq!(raised.known(), first.known());
        for number in 1..=raised.known() {
            assert_eq!(raised.count(number), first.count(number) + BASE, "{} {number}", program.display());
        }
        assert!(raised.executed().iter().any(|edge| edge.count > u64::from(u32::MAX)));
        assert_eq!(edges(&mut target, &format!("0{text}")), first);
    }
}

#[test]
fn counts_pass_32_bits() {
    programs("carries", false, None).for_each(|program| carry(&program));
}

#[test]
fn counts_of_shared_libraries_pass_32_bits() {
    programs("carries-shared", true, None).for_each(|program| carry(&program));
}

#[test]
fn counts_of_many_inputs_in_one_process_pass_32_bits() {
    programs("carries-loop", true, Some("-DLOOPS")).for_each(|program| carry(&program));
}

#[test]
fn counts_up_to_the_limit_on_time_pass_32_bits() {
    for program in programs("carries-stopped", false, None) {
        let mut target = server(&program, 1);
        let run = target.run(b"1*").expect("a run");
        assert_eq!(run.outcome, Outcome::Timeout);
        assert!(run.edges.and_then(|edges| edges.hottest()).expect("an edge").count > BASE + 1000);
    }
}

/// The sum of the counts has carries, too.
#[test]
fn runs_end_at_a_number_of_edges() {
    let one_process = programs("limit-loop", true, Some("-DLOOPS"));
    for program in programs("limit", false, None).chain(one_process) {
        let run = |target: &mut ForkServer, input: &str| {
            let run = target.run(input.as_bytes()).expect("a run");
            (run.outcome, run.edges.expect("edges").total())
        };
        let limited = |edges| limited(&program, Limits::default().with_time(Duration::from_secs(60)).with_edges(edges));
        for kind in ["0", "1"] {
            let [text, endless] = ["a", "*"].map(|rest| format!("{kind}{rest}"));
            let mut free = limited(None);
            run(&mut free, "0the first input of a process");
            let (outcome, sum) = run(&mut free, &text);
            assert_eq!(outcome, Outcome::Exit(0));
            let mut target = limited(Some(sum + 1_000_000));
            run(&mut target, "0the first input of a process");
            for _ in 0..3 {
                assert_eq!(run(&mut target, &text), (Outcome::Exit(0), sum));
                let (outcome, executed) = run(&mut target, &endless);
                assert!(
                    outcome == Outcome::Edges && executed > sum + 1_000_000,
                    "{} {kind}: {outcome:?} {executed} {sum}",
                    program.display()
                );
                run(&mut target, "0the first input of a process");
            }
            // It ends before anybody looks.
            let mut target = limited(Some(sum - 1));
            run(&mut target, "0");
            assert_eq!(run(&mut target, &text), (Outcome::Edges, sum));
        }
    }
}

#[test]
#[ignore = "run by ci/test"]
fn a_loop_of_more_rounds_than_32_bits_is_counted() {
    let Some(compiler) = compilers().into_iter().next() else { return };
    let folder = fresh("rounds");
    let source =
        "int main(void) { volatile int seen = 0; for (long i = 0; i < 4294967305; i++) if (seen) return 1; }\n";
    fs::write(folder.join("rounds.c"), source).expect("a source");
    succeeded(wrapper("cc", &compiler, &folder).args(["-O2", "rounds.c", "-o", "program"]));
    let edges = edges(&mut server(&folder.join("program"), 100), "");
    assert!(edges.executed().iter().any(|edge| edge.count.abs_diff((1 << 32) + 9) < 2), "{:?}", edges.hottest());
}
