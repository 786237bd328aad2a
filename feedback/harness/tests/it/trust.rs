//! Programs that write where they must not, and programs that stop: neither harms the runs that follow.

use std::path::{Path, PathBuf};
use std::time::Duration;

use gramjet_harness::{Command, Edges, ForkServer, Function, Limits, Outcome, Program, Subject, Target};

use crate::instrument::{compilers, fresh, source, succeeded, wrapper};
use crate::kit::built;

fn limits() -> Limits {
    // A busy machine may need long for a short run.
    Limits::default().with_time(Duration::from_secs(2))
}

fn server(program: &Path) -> ForkServer {
    let none: [&str; 0] = [];
    ForkServer::new(Program::new(program, none).expect("the program").limits(limits())).expect("a fork server")
}

/// Returns `overflow.c` by each compiler.
fn overflow(name: &str) -> impl Iterator<Item = PathBuf> {
    compilers().into_iter().map(move |compiler| {
        let folder = fresh(name);
        let mut compile = wrapper("cc", &compiler, &folder);
        succeeded(compile.args(["-O1", "-fsanitize=fuzzer", "-o", "overflow"]).arg(source("overflow.c")));
        folder.join("overflow")
    })
}

fn run(target: &mut ForkServer, input: &str) -> (Outcome, Edges) {
    let run = target.run(input.as_bytes()).expect("a run");
    (run.outcome, run.edges.expect("edges").clone())
}

/// Runs that follow an attack have the outcome and the edges that they have without it.
fn assert_harmless(name: &str, attacks: &[&str]) {
    for program in overflow(name) {
        let mut clean = server(&program);
        run(&mut clean, "first");
        let expected = run(&mut clean, "benign");
        assert_eq!(expected.0, Outcome::Exit(0));
        for attack in attacks {
            let mut target = server(&program);
            run(&mut target, "first");
            run(&mut target, attack);
            for round in 0..3 {
                let after = run(&mut target, "benign");
                // What gcc's programs execute first is at their first input.
                assert_eq!(after.0, expected.0, "{} {attack} {round}", program.display());
                assert_eq!(after.1.executed(), expected.1.executed(), "{} {attack} {round}", program.display());
            }
            assert_eq!(run(&mut target, "a").0, Outcome::Signal(6), "{} {attack}", program.display());
            // The same with inputs given ahead.
            let texts = ["benign", attack, "benign", "benign", "a", "benign"];
            for text in texts {
                target.start(text.as_bytes()).expect("a start");
            }
            for text in texts {
                let outcome = target.finish().expect("a run").outcome;
                match text {
                    "benign" => assert_eq!(outcome, Outcome::Exit(0), "{} {attack}", program.display()),
                    "a" => assert_eq!(outcome, Outcome::Signal(6), "{} {attack}", program.display()),
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn an_overflow_of_a_static_buffer_harms_no_other_run() {
    assert_harmless(
        "overflow",
        &["o100", "o4000", "o5000", "o9000", "o80000", "o30000000", "u5000", "u30000", "u30000000"],
    );
}

#[test]
fn a_far_overflow_ends_in_a_fault() {
    for program in overflow("fault") {
        let mut target = server(&program);
        for attack in ["o30000000", "u30000000"] {
            assert_eq!(run(&mut target, attack).0, Outcome::Signal(11), "{} {attack}", program.display());
        }
    }
}

#[test]
fn a_program_that_changes_shared_memory_harms_no_other_run() {
    assert_harmless("scribble", &["C0", "I0", "N0", "E0", "R0", "T0"]);
}

#[test]
fn answers_that_nobody_asked_for_harm_no_other_run() {
    assert_harmless("answers", &["w1", "w5", "x1", "x2", "x3", "y1", "y7", "h1", "h3", "x9000", "c0"]);
}

#[test]
fn pipes_that_a_program_fills_or_drains_are_not_waited_for() {
    assert_harmless("pipes", &["f0", "d0"]);
}

#[test]
fn files_in_memory_count_as_memory() {
    for program in overflow("in-memory") {
        let none: [&str; 0] = [];
        let limits = Limits::default().with_time(Duration::from_secs(20)).with_memory(Some(128 << 20));
        let program = Program::new(program, none).expect("the program").limits(limits);
        assert_eq!(run(&mut ForkServer::new(program).expect("a fork server"), "m200").0, Outcome::Memory);
    }
}

#[cfg(feature = "lines")]
#[test]
fn places_of_edges_are_those_that_were_told_first() {
    for program in overflow("places") {
        let mut target = server(&program);
        let edge = run(&mut target, "benign").1.executed()[0].number;
        let places = |target: &mut ForkServer| gramjet_harness::Lines::new().frames(&target.locations(), edge);
        let before = places(&mut target);
        run(&mut target, "P");
        assert_eq!(places(&mut target), before, "{}", program.display());
    }
}

/// What a run leaves does not change the input of the next one, whether it is standard input or a file.
#[test]
fn the_next_input_is_whole_whatever_was_left() {
    for compiler in compilers() {
        let folder = fresh("left");
        succeeded(wrapper("cc", &compiler, &folder).args(["-o", "left"]).arg(source("left.c")));
        for arguments in [&[][..], &["@@"]] {
            let program = Program::new(folder.join("left"), arguments).expect("the program").limits(limits());
            let mut target = ForkServer::new(program).expect("a fork server");
            for round in 0..40 {
                assert_eq!(target.run(b"leave").expect("a run").outcome, Outcome::Exit(0));
                let run = target.run(b"some text").expect("a run");
                assert_eq!(
                    (run.outcome, String::from_utf8_lossy(&run.stdout.bytes).as_ref()),
                    (Outcome::Exit(0), "some text"),
                    "{arguments:?} {round}"
                );
            }
        }
    }
}

#[test]
fn a_function_that_ends_its_guard_harms_no_other_run() {
    let file = fresh("guard-python").join("ends.py");
    let text = "import os, signal, time\ndef run(data):\n    if data == b'k':\n        os.kill(os.getppid(), signal.SIGKILL)\n\
                \x20       time.sleep(60)\n    return 0\n";
    std::fs::write(&file, text).expect("a file");
    let subject = Subject::new(&format!("python:{}:run", file.display())).expect("a subject").limits(limits());
    let subject = subject.allow(gramjet_harness::Permission::Processes);
    if !gramjet_needs::has("python3") {
        return;
    }
    let mut target = Function::new(subject).expect("a function");
    for _ in 0..2 {
        assert_eq!(target.run(b"k").expect("a run").outcome, Outcome::Lost);
        assert_eq!(target.run(b"benign").expect("a run").outcome, Outcome::Exit(0));
    }
}

#[test]
fn a_process_that_stops_its_server_harms_no_other_run() {
    assert_harmless("stopped", &["s0", "t0"]);
    for program in overflow("stopped-itself") {
        let mut target = server(&program);
        for _ in 0..2 {
            assert_eq!(run(&mut target, "s").0, Outcome::Stopped);
            assert_eq!(run(&mut target, "benign").0, Outcome::Exit(0));
        }
    }
}

/// Checks the outcomes of the inputs of `stop.c`.
fn stops(target: &mut impl Target) {
    for _ in 0..2 {
        for input in ["s", "t", "c"] {
            assert_eq!(target.run(input.as_bytes()).expect("a run").outcome, Outcome::Stopped, "{input}");
            // The next one is run.
            assert_eq!(target.run(b"a").expect("a run").outcome, Outcome::Signal(6), "{input}");
            let run = target.run(b"x").expect("a run");
            assert_eq!((run.outcome, &run.stdout.bytes[..]), (Outcome::Exit(0), &b"x\n"[..]), "{input}");
        }
        let outcome = target.run(b"g").expect("a run").outcome;
        assert!([Outcome::Exit(0), Outcome::Stopped].contains(&outcome), "{outcome}");
    }
}

#[test]
fn a_program_that_stops_itself_is_ended() {
    let compile = |command: &mut std::process::Command, source: &Path, _: &Path| {
        command.arg(source);
    };
    let none: [&str; 0] = [];
    if let Some(program) = built("stop", "cc", compile) {
        let program = Program::new(program, none).expect("the program").limits(limits());
        stops(&mut Command::new(program).expect("a command"));
    }
    for compiler in compilers() {
        let folder = fresh("stop");
        succeeded(wrapper("cc", &compiler, &folder).args(["-o", "stop"]).arg(source("stop.c")));
        stops(&mut server(&folder.join("stop")));
    }
}

#[test]
fn a_function_that_stops_itself_is_ended() {
    let file = fresh("stop-python").join("stops.py");
    let text = "import os, signal\ndef run(data):\n    if data == b's':\n        os.kill(os.getpid(), signal.SIGSTOP)\n\
                \x20   if data == b'w':\n        os.write(199, b'D\\x01\\x00')\n\
                \x20   if data == b'x':\n        os.write(199, b'D\\x12\\x00\\x00\\x00\\x02\\x00' + bytes(16))\n    return 0\n";
    std::fs::write(&file, text).expect("a file");
    let subject = Subject::new(&format!("python:{}:run", file.display())).expect("a subject").limits(limits());
    if !gramjet_needs::has("python3") {
        return;
    }
    let mut target = Function::new(subject).expect("a function");
    for _ in 0..2 {
        for attack in ["s", "w", "x"] {
            let outcome = target.run(attack.as_bytes()).expect("a run").outcome;
            assert!(attack != "s" || outcome == Outcome::Stopped, "{outcome}");
            for _ in 0..3 {
                assert_eq!(target.run(b"benign").expect("a run").outcome, Outcome::Exit(0), "{attack}");
            }
        }
    }
}

#[test]
fn programs_of_other_versions_are_refused() {
    let compile = |command: &mut std::process::Command, source: &Path, _: &Path| {
        command.arg(source);
    };
    let Some(older) = built("older", "cc", compile) else { return };
    let none: [&str; 0] = [];
    let refused = ForkServer::new(Program::new(older, none).expect("the program"));
    let error = refused.err().expect("an error").to_string();
    assert!(error.ends_with("was built by another version of gramjet; build it again"), "{error}");
}
