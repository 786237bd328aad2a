//! What a run costs.

use std::ffi::OsString;
use std::fmt;

use gramjet_harness::{Outcome, Run, Target as _};
use gramjet_search::{Edge, Ending, Measured};

use crate::failure::Failure;
use crate::subject::{Surroundings, Tested};

/// The cost that a search maximises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Objective {
    /// The number of edges executed.
    Edges,
    /// The greatest count of an edge.
    Hottest,
    /// Processor time, in microseconds.
    Cpu,
    /// The peak of memory, in KiB.
    Memory,
    /// Bytes of standard output.
    Output,
    /// The number that a command of the shell prints.
    Command(String),
}

impl Objective {
    /// A cost by its name.
    pub(super) fn parse(text: &str) -> Result<Objective, String> {
        Ok(match text {
            "edges" => Objective::Edges,
            "hottest" => Objective::Hottest,
            "cpu" => Objective::Cpu,
            "memory" | "rss" => Objective::Memory,
            "output" => Objective::Output,
            _ => match text.strip_prefix("command:") {
                Some(command) if !command.trim().is_empty() => Objective::Command(command.to_string()),
                _ => return Err("use edges, hottest, cpu, memory, output or command:COMMAND".to_string()),
            },
        })
    }

    /// Edges where the program counts them, else time.
    pub(super) fn usual(tested: &Tested) -> Objective {
        if tested.counts_edges() { Objective::Edges } else { Objective::Cpu }
    }

    fn needs_edges(&self) -> bool {
        matches!(self, Objective::Edges | Objective::Hottest)
    }

    /// The unit of the cost.
    pub(super) fn unit(&self) -> &'static str {
        match self {
            Objective::Edges => "edges",
            Objective::Hottest => "times the hottest edge",
            Objective::Cpu => "µs",
            Objective::Memory => "KiB",
            Objective::Output => "bytes of output",
            Objective::Command(_) => "by the command",
        }
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Objective::Edges => f.write_str("edges"),
            Objective::Hottest => f.write_str("hottest"),
            Objective::Cpu => f.write_str("cpu"),
            Objective::Memory => f.write_str("memory"),
            Objective::Output => f.write_str("output"),
            Objective::Command(command) => write!(f, "command:{command}"),
        }
    }
}

/// A program with the cost that is measured.
pub(super) struct Meter {
    pub(super) tested: Tested,
    objective: Objective,
    counter: Option<Tested>,
    /// The command has printed a number.
    has_counted: bool,
    edges: Vec<Edge>,
}

/// The measurements of a run, and how it ended.
pub(super) struct Reading<'m> {
    pub(super) measured: Measured<'m>,
    pub(super) outcome: Outcome,
}

impl Meter {
    /// A program that is ready to take inputs.
    pub(super) fn new(
        command: &[OsString],
        surroundings: Surroundings,
        objective: &Objective,
    ) -> Result<Meter, Failure> {
        let tested = Tested::new(command, surroundings)?;
        if objective.needs_edges() && !tested.counts_edges() {
            let what =
                format!("the cost `{objective}` needs a program built by gramjet cc, gramjet c++ or gramjet cargo");
            return Err(Failure::Usage(what));
        }
        if *objective == Objective::Memory && tested.counts_edges() {
            let what =
                "the cost `memory` is known of programs that are started for each text, which are not instrumented";
            return Err(Failure::Usage(what.to_string()));
        }
        let counter = match objective {
            Objective::Command(command) => Some(Tested::shell(command, surroundings, None)?),
            _ => None,
        };
        Ok(Meter { tested, objective: objective.clone(), counter, has_counted: false, edges: Vec::new() })
    }

    /// Runs the program on a text.
    pub(super) fn read(&mut self, text: &[u8]) -> Result<Reading<'_>, Failure> {
        let counted = match &mut self.counter {
            None => Ok(0),
            Some(counter) => count(counter, text)?,
        };
        // A command that has never printed a number is a mistake; later, one text is at fault.
        if let (Err(printed), false) = (&counted, self.has_counted) {
            let what = format!("the command of --cost must print a number, and printed `{printed}`");
            return Err(Failure::Usage(what));
        }
        self.has_counted = true;
        let run = self.tested.run(text)?;
        self.edges.clear();
        self.edges.extend(
            run.edges.iter().flat_map(|edges| edges.executed()).map(|edge| (edge.number, u64::from(edge.count))),
        );
        let hottest = run.edges.and_then(|edges| edges.hottest()).map_or(0, |edge| u64::from(edge.count));
        let micros = |time: std::time::Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let cpu = run.usage.cpu.map_or(run.usage.wall, |(user, system)| user + system);
        let cost = match &self.objective {
            Objective::Edges => run.edges.map_or(0, |edges| edges.total()),
            Objective::Hottest => hottest,
            Objective::Cpu => micros(cpu),
            Objective::Memory => run.usage.peak_memory.unwrap_or(0) >> 10,
            Objective::Output => run.stdout.written,
            Objective::Command(_) => *counted.as_ref().unwrap_or(&0),
        };
        let ending = if counted.is_err() { Ending::Failed } else { ending(&run) };
        let seconds = cpu.as_secs_f64();
        let outcome = run.outcome;
        let measured = Measured { cost, hottest, edges: &self.edges, ending, seconds, is_repeat: false };
        Ok(Reading { measured, outcome })
    }
}

/// The number that a command prints for a text, or else what it prints.
fn count(counter: &mut Tested, text: &[u8]) -> Result<Result<u64, String>, Failure> {
    let run = counter.run(text)?;
    let printed = String::from_utf8_lossy(&run.stdout.bytes);
    let number = printed.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    Ok(match number {
        Some(number) if number >= 0.0 => Ok(number as u64),
        _ => Err(printed.trim().chars().take(60).collect()),
    })
}

/// Exceptions are how functions report errors in their input.
fn ending(run: &Run<'_>) -> Ending {
    match run.outcome {
        Outcome::Exit(_) | Outcome::Exception(_) => Ending::Done,
        Outcome::Timeout | Outcome::Memory | Outcome::Processes => Ending::Stopped,
        _ => Ending::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_have_names() {
        for name in ["edges", "hottest", "cpu", "memory", "output", "command:wc -c"] {
            assert_eq!(Objective::parse(name).expect("a cost").to_string(), name);
        }
        for name in ["", "edge", "command:", "command: "] {
            assert!(Objective::parse(name).is_err(), "{name}");
        }
    }
}
