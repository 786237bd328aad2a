//! Tests of what runs of programs with a fork server use.

use std::path::Path;
use std::time::Duration;

use gramjet_harness::{ForkServer, Limits, Outcome, Program, Target, Usage};

use crate::fork_server::own;
use crate::instrument::{compilers, fresh, source, succeeded, wrapper};

/// The least processor time that inputs with this letter use, a little rounded down. Others use less than half of it.
const BURNT: Duration = Duration::from_millis(45);

fn program(program: &Path) -> Program {
    let none: [&str; 0] = [];
    // A busy machine may need long for a short run.
    Program::new(program, none).expect("the program").limits(Limits::default().with_time(Duration::from_secs(5)))
}

/// Checks that a run has used processor time as its input says.
fn assert_cpu(input: &str, cpu: Duration) {
    let burns = ["b", "A"].contains(&input);
    assert!(if burns { cpu >= BURNT } else { cpu < BURNT / 2 }, "{input}: {cpu:?}");
}

#[test]
fn processor_time_and_memory_of_processes_are_told() {
    for compiler in compilers() {
        let folder = fresh("usage");
        succeeded(wrapper("cc", &compiler, &folder).args(["-O1", "-o", "usage"]).arg(source("usage.c")));
        let mut target = ForkServer::new(program(&folder.join("usage"))).expect("a fork server");
        assert!(target.measures().cpu && target.measures().peak_memory);
        for input in ["b", "x", "S", "A", "m", "a", "x"] {
            let Usage { wall, cpu, peak_memory, .. } = target.run(input.as_bytes()).expect("a run").usage;
            let cpu = cpu.expect("processor time");
            // To touch memory takes time, too.
            if input != "m" {
                assert_cpu(input, cpu);
            }
            assert!(input != "S" || wall >= Duration::from_millis(200));
            let peak = peak_memory.expect("a peak of memory");
            assert!(if input == "m" { peak >= 64 << 20 } else { (1..48 << 20).contains(&peak) }, "{input}: {peak}");
        }
        let run = target.run(b"*").expect("a run");
        assert_eq!(run.outcome, Outcome::Timeout);
        // Other processes may have had most of the time.
        assert!(run.usage.cpu.expect("processor time") >= BURNT);
    }
}

/// The program takes five inputs in one process.
#[test]
fn processor_time_of_rounds_is_told_where_it_is_asked_for() {
    let Some(rounds) = own("rounds") else { return };
    let mut target = ForkServer::new(program(&rounds)).expect("a fork server");
    assert!(!target.measures().cpu);
    assert_eq!(target.run(b"b").expect("a run").usage.cpu, None);
    let inputs = ["b", "S", "b", "a", "x", "b", "A", "b", "x", "S", "b", "x", "x", "b", "a", "m", "S"];
    for at_a_time in [1, 5, 16] {
        let mut target = ForkServer::new(program(&rounds).times_rounds()).expect("a fork server");
        assert!(target.measures().cpu && !target.measures().peak_memory);
        let mut finished = inputs.iter();
        let mut check = |target: &mut ForkServer| {
            let run = target.finish().expect("a run");
            let input = finished.next().expect("an input");
            if *input != "m" {
                assert_cpu(input, run.usage.cpu.expect("processor time"));
            }
            assert_eq!(run.outcome.is_abnormal(), ["a", "A"].contains(input));
        };
        for (number, input) in inputs.iter().enumerate() {
            if number >= at_a_time {
                check(&mut target);
            }
            target.start(input.as_bytes()).expect("a start");
        }
        (0..at_a_time).for_each(|_| check(&mut target));
    }
    // The end of the process is no part of its last run.
    let mut target = ForkServer::new(program(&rounds).times_rounds()).expect("a fork server");
    for input in ["q", "x", "x", "x", "x", "x"] {
        assert_cpu(input, target.run(input.as_bytes()).expect("a run").usage.cpu.expect("processor time"));
    }
}

/// The harness does not look for its loop, so each input has a process of its own.
#[test]
fn processor_time_of_rounds_that_nobody_looks_for_is_told() {
    let Some(rounds) = own("rounds") else { return };
    let unknown = rounds.with_extension("unknown");
    let mark = b"##SIG_GRAMJET_PERSISTENT##";
    let mut bytes = std::fs::read(&rounds).expect("the program");
    while let Some(at) = bytes.windows(mark.len()).position(|part| part == mark) {
        bytes[at] = b'-';
    }
    std::fs::write(&unknown, bytes).expect("a copy");
    std::fs::set_permissions(&unknown, std::fs::metadata(&rounds).expect("the program").permissions()).expect("a copy");
    let mut target = ForkServer::new(program(&unknown)).expect("a fork server");
    for input in ["b", "S", "x", "b", "a", "b", "x", "a", "x", "x", "x", "x", "x"] {
        assert_cpu(input, target.run(input.as_bytes()).expect("a run").usage.cpu.expect("processor time"));
    }
}
