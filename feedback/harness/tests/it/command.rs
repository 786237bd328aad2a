//! Programs that are started for each input.

use std::fs;
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::time::Duration;

use gramjet_harness::{
    Captured, Command, Confinement, Limits, Offered, Outcome, Program, Target, free_cores, offered, stay_on,
};

use crate::kit::{assert_begins, place, processes_of, torture, torture_as};

fn short() -> Limits {
    Limits::default().with_time(Duration::from_millis(500)).with_memory(Some(256 << 20)).with_processes(20)
}

fn target() -> Command {
    let none: [&str; 0] = [];
    Command::new(Program::new(torture(), none).expect("the program").limits(short())).expect("a target")
}

fn outcome(target: &mut Command, input: &str) -> Outcome {
    target.run(input.as_bytes()).expect("a run").outcome
}

#[test]
fn an_outcome_says_how_the_program_ended() {
    let mut target = target();
    for (input, expected) in [
        ("e0", Outcome::Exit(0)),
        ("e7", Outcome::Exit(7)),
        ("s0", Outcome::Signal(6)),
        ("s1", Outcome::Signal(11)),
        ("l", Outcome::Timeout),
        ("i", Outcome::Timeout),
        ("d0", Outcome::Exit(0)),
        ("c", Outcome::Exit(0)),
        ("e3", Outcome::Exit(3)),
    ] {
        assert_eq!(outcome(&mut target, input), expected, "{input}");
    }
}

#[test]
fn processor_time_counts_of_all_processes_and_waiting_does_not_until_long_after() {
    let limits = short().with_longest(Duration::from_secs(1000));
    let outcome = |script: &str, limits: Limits| {
        let program = Program::new("sh", ["-c", script]).expect("a shell").limits(limits);
        Command::new(program).expect("a target").run(b"").expect("a run").outcome
    };
    assert_eq!(outcome("sleep 1", limits), Outcome::Exit(0));
    assert_eq!(outcome("while :; do :; done & wait", limits), Outcome::Timeout);
    let children = "while :; do (i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done); done";
    assert_eq!(outcome(children, limits), Outcome::Timeout);
    assert_eq!(outcome("sleep 1000", limits.with_longest(Duration::from_secs(1))), Outcome::Timeout);
}

#[test]
fn runs_are_begun_and_waited_for() {
    assert_begins(&mut target(), &[(b"e0", Outcome::Exit(0)), (b"s0", Outcome::Signal(6)), (b"e7", Outcome::Exit(7))]);
}

#[test]
#[should_panic = "a run was begun"]
fn a_run_that_was_not_begun_has_no_end() {
    let _ = target().finish();
}

#[test]
fn memory_is_bounded() {
    let none: [&str; 0] = [];
    let limits = short().with_time(Duration::from_secs(60));
    let mut target =
        Command::new(Program::new(torture(), none).expect("the program").limits(limits)).expect("a target");
    assert_eq!(outcome(&mut target, "m"), Outcome::Memory);
    assert_eq!(outcome(&mut target, "e2"), Outcome::Exit(2));
}

#[test]
fn output_is_captured_up_to_a_bound() {
    let mut target = target();
    let run = target.run(b"w").expect("a run");
    assert_eq!((run.outcome, run.stdout.bytes.as_slice()), (Outcome::Exit(3), &b"a text"[..]));
    assert_eq!(run.stderr, &Captured { bytes: b"a message".to_vec(), written: 9 });
    let run = target.run(b"o0").expect("a run");
    assert_eq!((run.outcome, run.stdout.bytes.len(), run.stdout.written), (Outcome::Exit(0), 1 << 16, 1600 << 16));
    let run = target.run(b"o1").expect("a run");
    assert_eq!((run.outcome, run.stdout.bytes.len()), (Outcome::Timeout, 1 << 16));
    assert_eq!(target.run(b"e0").expect("a run").stdout, &Captured::default());
}

#[test]
fn nothing_outlives_its_run() {
    let none: [&str; 0] = [];
    let program = Program::new(torture_as("outlived"), none).expect("the program").limits(short());
    let mut target = Command::new(program).expect("a target");
    for input in ["d3", "b", "d9", "l"] {
        outcome(&mut target, input);
    }
    assert_eq!(outcome(&mut target, "b"), Outcome::Processes);
    assert_eq!(processes_of(Path::new("outlived")), [""; 0]);
}

#[test]
fn nothing_outlives_its_run_unconfined() {
    let none: [&str; 0] = [];
    let program = Program::new(torture_as("unconfined"), none).expect("the program").limits(short());
    let mut target = Command::new(program.confinement(Confinement::Unconfined)).expect("a target");
    for input in ["d3", "b", "d9"] {
        outcome(&mut target, input);
    }
    assert_eq!(processes_of(Path::new("unconfined")), [""; 0]);
}

/// The environment variable that makes [`victim`] run.
const VICTIM: &str = "GRAMJET_TEST_VICTIM";

/// Not a test, but a process that the next one kills.
#[test]
fn victim() {
    if std::env::var_os(VICTIM).is_none() {
        return;
    }
    let none: [&str; 0] = [];
    let limits = Limits::default().with_time(Duration::from_secs(1000));
    let program = Program::new(torture_as("orphan"), none).expect("the program").limits(limits);
    let mut target = Command::new(program).expect("a target");
    outcome(&mut target, "D3");
}

#[test]
fn nothing_outlives_the_harness() {
    let folder = place("killed");
    let this = std::env::current_exe().expect("this program");
    let mut victim = Process::new(this)
        .args(["--exact", "command::victim"])
        .env(VICTIM, "1")
        .env("TMPDIR", &folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a process");
    let orphans = || processes_of(Path::new("orphan")).len();
    wait_until("it runs", || orphans() == 5);
    victim.kill().expect("it is killed");
    victim.wait().expect("it is gone");
    wait_until("they are gone", || orphans() == 0);
    wait_until("the folder is gone", || fs::read_dir(&folder).expect("the folder").count() == 0);
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..1200 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("not within a minute: {what}");
}

#[test]
fn a_confined_program_harms_nobody_else() {
    if offered() < Offered::Signals {
        return;
    }
    let outside = place("confined").join("outside");
    let none: [&str; 0] = [];
    let limits = short().with_longest(Duration::from_millis(500));
    let program =
        Program::new(torture_as("confined"), none).expect("the program").limits(limits).variable("OUTSIDE", &outside);
    let mut target = Command::new(program.clone()).expect("a target");
    // It may not signal them, and waits.
    for (input, expected) in [("a", Outcome::Exit(0)), ("g", Outcome::Timeout), ("p", Outcome::Timeout)] {
        assert_eq!(outcome(&mut target, input), expected, "{input}");
    }
    assert_eq!(outcome(&mut target, "f"), Outcome::Exit(1));
    assert!(!outside.exists());
    let mut free = Command::new(program.confinement(Confinement::Unconfined)).expect("a target");
    assert_eq!(outcome(&mut free, "f"), Outcome::Exit(3));
    fs::remove_file(outside).expect("the file was written");
}

#[test]
fn the_program_reads_a_file_where_an_argument_names_it() {
    let program = Program::new("cat", ["@@"]).expect("cat").limits(short());
    let mut target = Command::new(program).expect("a target");
    for input in [&b"a longer text"[..], b"short", b""] {
        let run = target.run(input).expect("a run");
        assert_eq!((run.outcome, run.stdout.bytes.as_slice()), (Outcome::Exit(0), input));
    }
}

#[test]
fn a_program_may_remove_its_input() {
    for arguments in [["-c", "cat; rm -f \"$TMPDIR/../in/input\"; true"], ["-c", "cat @@; rm -f @@; mkdir @@; true"]] {
        let mut target = Command::new(Program::new("sh", arguments).expect("sh").limits(short())).expect("a target");
        for input in ["one", "another", "", "last"] {
            let run = target.run(input.as_bytes()).expect("a run");
            assert_eq!(
                (run.outcome, run.stdout.bytes.as_slice()),
                (Outcome::Exit(0), input.as_bytes()),
                "{arguments:?}"
            );
        }
    }
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let none: [&str; 0] = [];
    let error = Program::new("./missing/program", none).expect_err("an error").to_string();
    assert!(error.ends_with("missing/program cannot be run: there is no such program"), "{error}");
    let error = Program::new("no-such-program-anywhere", none).expect_err("an error").to_string();
    assert_eq!(error, "no-such-program-anywhere cannot be run: there is no such program");
    let folder = place("cargo-target");
    let built = folder.join("target/x86_64-unknown-linux-gnu/release/parser");
    fs::create_dir_all(built.parent().expect("a folder")).expect("a folder");
    fs::write(&built, "").expect("a file");
    let error = Program::new(folder.join("target/release/parser"), [""; 0]).expect_err("another place").to_string();
    assert!(error.ends_with(&format!("no such program; cargo has built {}", built.display())), "{error}");
}

#[test]
fn a_program_stays_on_its_core() {
    let cores_of = |program: Program| {
        let mut target = Command::new(program).expect("a target");
        let run = target.run(b"").expect("a run");
        String::from_utf8_lossy(&run.stdout.bytes).split_whitespace().last().expect("a list of cores").to_string()
    };
    let program = || Program::new("grep", ["^Cpus_allowed_list", "/proc/self/status"]).expect("grep");
    let (before, all) = (program(), cores_of(program()));
    // The tests run in threads of their own, so this changes no other one.
    let core = *free_cores().last().unwrap_or(&0);
    if stay_on(core).is_ok() {
        assert_eq!(cores_of(program()), core.to_string());
        assert_eq!(cores_of(before.clone()), all, "those of the thread when the program was made");
        assert_eq!(cores_of(before.core(core)), core.to_string());
        let mut bound = Process::new("sleep").arg("60").spawn().expect("sleep");
        let is_free = free_cores().contains(&core);
        bound.kill().and_then(|()| bound.wait()).expect("it ends");
        assert!(!is_free, "a process is bound to core {core}");
    }
    assert!(stay_on(100_000).is_err());
}
