//! Tests of what runs of programs with a fork server use.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use gramjet_harness::{Demanded, ForkServer, Limits, Outcome, Program, Target, Usage};

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

/// Returns the compiler itself, to be run in a folder.
fn plainly(compiler: &[(&str, &str)], folder: &Path) -> Command {
    let name = compiler[0].1;
    let mut command = Command::new(if name.is_empty() { "clang" } else { name });
    command.current_dir(folder);
    command
}

/// Returns how a program is run whose demand is counted.
fn counting(path: &Path) -> Program {
    program(path).counts(Demanded { allocations: true, stack: true })
}

/// Returns the bytes that a run allocates, and the bytes of its stack.
fn demand(target: &mut impl Target, input: &str) -> (u64, Option<u64>) {
    let run = target.run(input.as_bytes()).expect("a run");
    assert_eq!(run.outcome, Outcome::Exit(0), "{input}");
    (run.usage.allocated.expect("bytes that were allocated"), run.usage.stack)
}

#[test]
fn allocations_and_the_stack_are_counted() {
    for compiler in compilers() {
        let folder = fresh("demand");
        for (name, flag) in [("once", "-DONCE"), ("loops", "-DLOOPS")] {
            succeeded(wrapper("cc", &compiler, &folder).args(["-O1", flag, "-o", name]).arg(source("demand.c")));
        }
        succeeded(plainly(&compiler, &folder).args(["-O1", "-DONCE", "-o", "plain"]).arg(source("demand.c")));
        let mut plain = gramjet_harness::Command::new(counting(&folder.join("plain"))).expect("a command");
        let mut once = ForkServer::new(counting(&folder.join("once"))).expect("a fork server");
        let mut loops = ForkServer::new(counting(&folder.join("loops"))).expect("a fork server");
        assert!(plain.measures().stack && once.measures().stack && !loops.measures().stack);
        each_letter_is_counted(&mut plain);
        each_letter_is_counted(&mut once);
        each_letter_is_counted(&mut loops);
    }
}

/// Checks the counts of a program that does something else for each letter of its input.
fn each_letter_is_counted(target: &mut impl Target) {
    let (least, stack) = demand(target, "x");
    for (input, bytes) in [
        ("x", 0),
        ("m", 1000),
        ("mmm", 3000),
        ("c", 1200),
        ("p", 4096),
        ("mx", 1000),
        ("g", 1500),
        ("n", 0),
        ("k", 100),
    ] {
        assert_eq!(demand(target, input).0, least + bytes, "{input}");
    }
    // A process that is started counts, too; it allocates for itself.
    assert!(demand(target, "f").0 >= least + 500_000);
    assert_eq!(demand(target, "x").0, least);
    let Some(stack) = stack else { return };
    let [ten, thirty] = ["d".repeat(10), "d".repeat(30)].map(|input| demand(target, &input).1.expect("a stack"));
    assert!(ten > stack && (20 * 512..20 * 1024).contains(&(thirty - ten)), "{stack} {ten} {thirty}");
    // Programs that leave by `_exit` tell it, too, and those that end by a signal tell nothing.
    let left = demand(target, &("d".repeat(30) + "q")).1.expect("a stack");
    assert!(left.abs_diff(thirty) < 4096, "{left} {thirty}");
    for (input, outcome) in [(b"a", Outcome::Signal(6)), (b"t", Outcome::Exit(0))] {
        let run = target.run(input).expect("a run");
        assert_eq!((run.outcome, run.usage.stack), (outcome, None));
    }
}

#[test]
fn programs_whose_demand_cannot_be_counted_are_refused() {
    let folder = fresh("uncounted");
    let refused = |path: &Path| match gramjet_harness::Command::new(counting(path)) {
        Ok(mut command) => command.run(b"").map(|_| ()).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    for compiler in compilers() {
        let options = ["-static", "-DONCE", "-o", "static"];
        let built = plainly(&compiler, &folder).args(options).arg(source("demand.c")).output();
        if built.expect("a compiler").status.success() {
            let said = refused(&folder.join("static"));
            assert!(said.contains("static cannot be counted: it is linked statically"), "{said}");
        }
        succeeded(plainly(&compiler, &folder).args(["-DOWN", "-DONCE", "-o", "own"]).arg(source("demand.c")));
        let said = refused(&folder.join("own"));
        assert!(said.contains("it has an allocator of its own"), "{said}");
        let options = ["-fsanitize=address", "-DONCE", "-o", "checked"];
        let built = plainly(&compiler, &folder).args(options).arg(source("demand.c")).output();
        if built.expect("a compiler").status.success() {
            let said = refused(&folder.join("checked"));
            assert!(said.contains("it seems to be built with a sanitizer"), "{said}");
        }
    }
}
