//! Runs a program that does to its surroundings what its input asks for, many times: `torture RUNS PROGRAM [SEED]`. The
//! program is `tests/programs/torture.c`, by itself or built by a compiler wrapper, which runs it by its fork server.
//!
//! Prints how often each input had each outcome, which of them are wrong, and what is left: processes, files and shared
//! memory of this process, and the growth of its own memory.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use std::{env, fs, process};

use gramjet_harness::{Command, ForkServer, Instrumentation, Limits, Outcome, Program, Target, instrumentation};

/// Inputs of the program, how often each is given in comparison, and the outcomes that are right.
const INPUTS: [(&str, u32, &[Right]); 18] = [
    ("e0", 420, &[Right::Exit(0)]),
    ("e7", 100, &[Right::Exit(7)]),
    ("s0", 60, &[Right::Signal(6)]),
    ("s1", 60, &[Right::Signal(11)]),
    ("w", 100, &[Right::Exit(3)]),
    ("d0", 60, &[Right::Exit(0)]),
    ("d4", 40, &[Right::Exit(0)]),
    ("c", 60, &[Right::Exit(0)]),
    ("r", 20, &[Right::Exit(0)]),
    ("l", 1, &[Right::Timeout]),
    ("i", 1, &[Right::Timeout]),
    ("D2", 1, &[Right::Timeout]),
    ("o0", 2, &[Right::Exit(0)]),
    ("o1", 1, &[Right::Timeout]),
    ("m", 3, &[Right::Memory]),
    ("b", 1, &[Right::Processes]),
    // Its parent, and the group of its parent; where the kernel confines signals, neither is reached.
    ("p", 15, &[Right::Exit(0), Right::Lost, Right::Signal(9)]),
    ("g", 15, &[Right::Exit(0), Right::Lost, Right::Signal(9)]),
];

/// An outcome that is right.
#[derive(Clone, Copy, Debug)]
enum Right {
    Exit(i32),
    Signal(i32),
    Timeout,
    Memory,
    Processes,
    Lost,
}

impl Right {
    fn is(self, outcome: &Outcome) -> bool {
        match self {
            Right::Exit(status) => *outcome == Outcome::Exit(status),
            Right::Signal(number) => *outcome == Outcome::Signal(number),
            Right::Timeout => *outcome == Outcome::Timeout,
            Right::Memory => *outcome == Outcome::Memory,
            Right::Processes => *outcome == Outcome::Processes,
            Right::Lost => *outcome == Outcome::Lost,
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = env::args().skip(1);
    let mut argument = |name| arguments.next().ok_or(format!("{name} is missing"));
    let runs: u32 = argument("RUNS")?.parse()?;
    let program = argument("PROGRAM")?;
    let mut random = argument("SEED").ok().map_or(Ok(1), |seed| seed.parse::<u64>())?;
    let none: [&str; 0] = [];
    let limits = Limits::default().with_time(Duration::from_secs(1)).with_memory(Some(128 << 20)).with_processes(40);
    let program = Program::new(program, none)?.limits(limits);
    let mut target: Box<dyn Target> = match instrumentation(program.path())? {
        Instrumentation { by: None, .. } => Box::new(Command::new(program)?),
        _ => Box::new(ForkServer::new(program)?),
    };
    let mut found: BTreeMap<(&str, String), u32> = BTreeMap::new();
    let (mut wrong, begin, mut warm) = (0, Instant::now(), 0);
    for number in 0..runs {
        let (input, rights) = draw(&mut random);
        let outcome = target.run(input.as_bytes())?.outcome;
        wrong += u32::from(!rights.iter().any(|right| right.is(&outcome)));
        *found.entry((input, outcome.to_string())).or_default() += 1;
        if number == runs / 10 {
            warm = own_memory();
        }
    }
    let grown = own_memory().saturating_sub(warm);
    drop(target);
    for ((input, outcome), count) in found {
        println!("{input}: {count} times {outcome}");
    }
    println!("{runs} runs in {:.0} s, {wrong} outcomes wrong", begin.elapsed().as_secs_f64());
    println!("left: {} processes, {} folders, {} segments of shared memory", children(), folders(), segments());
    println!("memory of the harness: {} KiB more than after a tenth of the runs", grown >> 10);
    Ok(())
}

/// Returns the next input; the generator is that of Steele, Lea and Flood (SplitMix64).
fn draw(state: &mut u64) -> (&'static str, &'static [Right]) {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    let all: u32 = INPUTS.iter().map(|&(_, weight, _)| weight).sum();
    let mut left = ((mixed ^ (mixed >> 31)) % u64::from(all)) as u32;
    for (input, weight, rights) in INPUTS {
        if left < weight {
            return (input, rights);
        }
        left -= weight;
    }
    unreachable!("the weights add up")
}

fn own_memory() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * 4096
}

/// Returns the number of processes that descend from this one, or that run the program outside of it.
fn children() -> usize {
    let entries = fs::read_dir("/proc").map(|entries| entries.flatten().collect::<Vec<_>>()).unwrap_or_default();
    let name = env::args().nth(2).unwrap_or_default();
    let runs_it = |entry: &fs::DirEntry| {
        let link = fs::read_link(entry.path().join("exe"));
        link.is_ok_and(|link| fs::canonicalize(&name).is_ok_and(|program| link == program))
    };
    entries.iter().filter(|entry| runs_it(entry)).count()
}

fn folders() -> usize {
    let own = format!("gramjet-{}-", process::id());
    let entries = fs::read_dir(env::temp_dir()).map(|entries| entries.flatten().collect::<Vec<_>>());
    let is_own = |entry: &&fs::DirEntry| entry.file_name().to_string_lossy().starts_with(&own);
    entries.unwrap_or_default().iter().filter(is_own).count()
}

/// Returns the number of segments of System V that this process has made.
fn segments() -> usize {
    let all = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let own = process::id().to_string();
    all.lines().skip(1).filter(|line| line.split_whitespace().nth(4) == Some(&own)).count()
}
