//! Tests of which inputs are run in the same process.

use std::time::Duration;

use gramjet_harness::{Command, ForkServer, Function, Limits, Outcome, Program, Target};

use crate::fork_server::own;
use crate::kit::torture;
use crate::languages::kit::{interpreters, subject};

/// Runs a target on inputs, several of which are given at a time, and returns how many inputs each process had had.
fn earlier(target: &mut impl Target, inputs: &[&str], at_a_time: usize) -> Vec<u64> {
    let mut earlier = Vec::new();
    for (number, input) in inputs.iter().enumerate() {
        if number >= at_a_time {
            earlier.push(target.finish().expect("a run").earlier);
        }
        target.start(input.as_bytes()).expect("a start");
    }
    earlier.extend((earlier.len()..inputs.len()).map(|_| target.finish().expect("a run").earlier));
    earlier
}

fn program(path: &std::path::Path) -> Program {
    let none: [&str; 0] = [];
    Program::new(path, none).expect("the program").limits(Limits::default().with_time(Duration::from_secs(10)))
}

#[test]
fn a_run_says_how_many_inputs_its_process_had_before() {
    let Some(path) = own("rounds") else { return };
    // A process takes five inputs, unless one of them ends it.
    let inputs = ["x", "x", "x", "x", "x", "x", "a", "x", "e", "x", "m", "a"];
    for at_a_time in [1, 4] {
        let mut target = ForkServer::new(program(&path)).expect("a fork server");
        let counts = earlier(&mut target, &inputs, at_a_time);
        assert_eq!(counts, [0, 1, 2, 3, 4, 0, 1, 0, 1, 0, 1, 2], "{at_a_time} at a time");
    }
    let counts = earlier(&mut Command::new(program(torture())).expect("a program"), &["x", "x"], 1);
    assert_eq!(counts, [0, 0]);
}

#[test]
fn a_renewed_target_runs_the_next_input_in_a_new_process() {
    let Some(path) = own("rounds") else { return };
    let mut target = ForkServer::new(program(&path)).expect("a fork server");
    let all = target.run(b"x").expect("a run").edges.expect("edges").clone();
    let edge = all.executed()[0].number;
    let place = target.locations().of(edge).map(|(file, address)| (file.to_path_buf(), address));
    assert!(place.is_some());
    assert_eq!(earlier(&mut target, &["x", "x"], 1), [1, 2]);
    // Runs that were begun are lost.
    target.start(b"x").expect("a start");
    target.renew().expect("a new process");
    let locations = target.locations();
    assert_eq!(locations.of(edge), place.as_ref().map(|(file, address)| (file.as_path(), *address)));
    let run = target.run(b"x").expect("a run");
    assert_eq!((run.earlier, run.outcome, run.edges), (0, Outcome::Exit(0), Some(&all)));
}

#[test]
fn a_renewed_function_has_a_new_process_and_knows_its_edges() {
    if interpreters(&["python3"]).is_empty() {
        return;
    }
    let mut target = Function::new(subject("python:torture:run").interpreter("python3")).expect("a target");
    assert_eq!(earlier(&mut target, &["x1", "i", "i"], 1), [0, 0, 1]);
    let edges = target.run(b"i").expect("a run").edges.expect("edges").clone();
    target.renew().expect("a new process");
    let run = target.run(b"i").expect("a run");
    assert_eq!((run.earlier, run.edges), (0, Some(&edges)));
}
