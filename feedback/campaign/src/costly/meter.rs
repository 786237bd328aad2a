//! The cost of a run.

use std::ffi::OsString;
use std::fmt;
use std::time::{Duration, Instant};

use gramjet_harness::{Demanded, Outcome, Run, Target as _};
use gramjet_search::{Ending, Measured};

use super::noise::{self, Reference};
use super::own::Measure;
use crate::error::Error;
use crate::stop::Stop;
use crate::subject::{Surroundings, Tested};

/// The cost that a search maximises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Objective {
    /// The number of edges executed.
    Edges,
    /// The greatest count of an edge.
    Hottest,
    /// Processor time, in microseconds; time by the clock where that is not known.
    Cpu,
    /// The peak of memory, in KiB.
    Memory,
    /// Bytes that are allocated, all together.
    Allocations,
    /// Bytes of the stack at its deepest.
    Stack,
    /// Bytes of standard output.
    Output,
    /// The number that a command of the shell prints.
    Command(String),
    /// A cost that the caller measures.
    Own(Measure),
}

/// The costs of a search: one, or several between which there are trade-offs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objectives(Vec<Objective>);

impl Objectives {
    /// Parses costs by their names, with commas between them. A command is the last one, as it may have commas.
    pub fn parse(text: &str) -> Result<Objectives, String> {
        let (names, command) = match text.find("command:") {
            Some(at) if text[..at].is_empty() || text[..at].ends_with(',') => {
                (text[..at].strip_suffix(','), Some(&text[at..]))
            }
            _ => (Some(text), None),
        };
        let names = names.into_iter().flat_map(|names| names.split(','));
        names.chain(command).map(Objective::parse).collect::<Result<Vec<_>, _>>().map(Objectives)
    }

    /// Returns one cost alone.
    pub fn one(objective: Objective) -> Objectives {
        Objectives(vec![objective])
    }

    /// Returns all of several options, or the usual one.
    pub fn of(given: &[Objectives], tested: &Tested) -> Result<Objectives, Error> {
        let all: Vec<Objective> = given.iter().flat_map(|given| given.0.clone()).collect();
        if let Some(twice) = (1..all.len()).find(|&at| all[..at].contains(&all[at])) {
            return Err(Error::Usage(format!("the cost `{}` is given twice", all[twice])));
        }
        Ok(Objectives(if all.is_empty() { vec![Objective::usual(tested)] } else { all }))
    }

    /// Returns the place of the first cost that a slow machine raises.
    pub fn slowed(&self) -> Option<usize> {
        self.0.iter().position(Objective::is_slowed)
    }

    /// Returns the cost that decides which text is the best.
    pub fn first(&self) -> &Objective {
        &self.0[0]
    }

    /// Returns true if the first is a count of edges.
    pub fn counts_edges(&self) -> bool {
        matches!(self.first(), Objective::Edges | Objective::Hottest)
    }

    /// Returns true if one is processor time.
    fn has_cpu(&self) -> bool {
        self.0.contains(&Objective::Cpu)
    }

    /// Returns what is counted of that for which a program asks.
    fn demanded(&self) -> Demanded {
        let has = |objective| self.0.contains(&objective);
        Demanded { allocations: has(Objective::Allocations), stack: has(Objective::Stack) }
    }

    /// Returns all objectives, in the order in which they were given.
    pub fn all(&self) -> &[Objective] {
        &self.0
    }

    /// Returns the unit of the first.
    pub fn unit(&self) -> &'static str {
        self.first().unit()
    }
}

impl fmt::Display for Objectives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.0.iter().map(Objective::to_string).collect();
        f.write_str(&names.join(","))
    }
}

impl Objective {
    /// Returns a cost by its name.
    fn parse(text: &str) -> Result<Objective, String> {
        Ok(match text {
            "edges" => Objective::Edges,
            "hottest" => Objective::Hottest,
            "cpu" => Objective::Cpu,
            "memory" | "rss" => Objective::Memory,
            "alloc" => Objective::Allocations,
            "stack" => Objective::Stack,
            "output" => Objective::Output,
            _ => match text.strip_prefix("command:") {
                Some(command) if !command.trim().is_empty() => Objective::Command(command.to_string()),
                _ => {
                    return Err(
                        "use edges, hottest, cpu, memory (or rss), alloc, stack, output or command:COMMAND".to_string()
                    );
                }
            },
        })
    }

    /// Returns the usual objective: edges where the program counts them, else time.
    fn usual(tested: &Tested) -> Objective {
        if tested.counts_edges() { Objective::Edges } else { Objective::Cpu }
    }

    /// Reports an error if the cost cannot be measured of this program.
    fn check(&self, tested: &Tested) -> Result<(), Error> {
        let needs_edges = matches!(self, Objective::Edges | Objective::Hottest);
        if needs_edges && !tested.counts_edges() {
            let what = format!("the cost `{self}` needs a program built by gramjet cc, gramjet c++ or gramjet cargo");
            return Err(Error::Usage(what));
        }
        if *self == Objective::Memory && !tested.knows_memory() {
            let what = "the cost `memory` needs a process for each text: it is not known of functions, of programs that \
                        take many texts in one process, nor of those that AFL++ or an earlier version has built";
            return Err(Error::Usage(what.to_string()));
        }
        if *self == Objective::Allocations && !tested.knows_allocations() {
            let what = "the cost `alloc` needs a program: it is not known of functions";
            return Err(Error::Usage(what.to_string()));
        }
        if *self == Objective::Stack && !tested.knows_stack() {
            let what = "the cost `stack` needs a process for each text: it is not known of functions, nor of programs \
                        that take many texts in one process";
            return Err(Error::Usage(what.to_string()));
        }
        Ok(())
    }

    /// Returns the cost of a run; 0 if a command tells it.
    fn of(&self, run: &Run<'_>) -> u64 {
        match self {
            Objective::Edges => run.edges.map_or(0, |edges| edges.total()),
            Objective::Hottest => run.edges.and_then(|edges| edges.hottest()).map_or(0, |edge| edge.count),
            Objective::Cpu => u64::try_from(cpu(run).as_micros()).unwrap_or(u64::MAX),
            Objective::Memory => run.usage.peak_memory.unwrap_or(0) >> 10,
            Objective::Allocations => run.usage.allocated.unwrap_or(0),
            Objective::Stack => run.usage.stack.unwrap_or(0),
            Objective::Output => run.stdout.written,
            Objective::Command(_) => 0,
            Objective::Own(measure) => measure.of(run),
        }
    }

    /// Returns true if a text costs the same in each run, also while the caller is busy, if the program is
    /// deterministic.
    pub fn is_exact(&self) -> bool {
        match self {
            Objective::Edges | Objective::Hottest | Objective::Allocations | Objective::Output => true,
            Objective::Cpu | Objective::Memory | Objective::Stack | Objective::Command(_) => false,
            Objective::Own(measure) => measure.is_exact(),
        }
    }

    /// Returns true if a text can cost more while the machine is slow.
    fn is_slowed(&self) -> bool {
        matches!(self, Objective::Cpu | Objective::Command(_) | Objective::Own(_)) && !self.is_exact()
    }

    /// Returns the unit of the cost.
    pub fn unit(&self) -> &'static str {
        match self {
            Objective::Edges => "edges",
            Objective::Hottest => "times the hottest edge",
            Objective::Cpu => "µs",
            Objective::Memory => "KiB",
            Objective::Allocations => "bytes allocated",
            Objective::Stack => "bytes of stack",
            Objective::Output => "bytes of output",
            Objective::Command(_) => "by the command",
            Objective::Own(measure) => measure.unit(),
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
            Objective::Allocations => f.write_str("alloc"),
            Objective::Stack => f.write_str("stack"),
            Objective::Output => f.write_str("output"),
            Objective::Command(command) => write!(f, "command:{command}"),
            Objective::Own(measure) => f.write_str(measure.name()),
        }
    }
}

/// No run executes more edges.
const MOST_EDGES: u64 = 1 << 52;

/// A program with the costs that are measured.
pub struct Meter {
    /// Program that is measured.
    pub tested: Tested,
    objectives: Objectives,
    /// A run that executes more edges is stopped.
    edge_limit: u64,
    /// For each command that prints a cost, the command, and whether it has printed a number.
    counters: Vec<(Tested, bool)>,
    /// The numbers that they have printed for the text that runs.
    counted: Vec<Option<u64>>,
    /// Time when the last run has begun, with the commands before it; `None` where all costs are exact.
    begun: Option<Instant>,
    last: Measured,
}

impl Meter {
    /// Starts a program whose runs are measured.
    pub fn new(command: &[OsString], surroundings: Surroundings, objectives: &Objectives) -> Result<Meter, Error> {
        let tested = Tested::new(command, surroundings.timed(objectives.has_cpu()).demanding(objectives.demanded()))?;
        let mut counters = Vec::new();
        for objective in objectives.all() {
            objective.check(&tested)?;
            if let Objective::Command(command) = objective {
                counters.push((Tested::shell(command, surroundings, None)?, false));
            }
        }
        let (counted, last) = Default::default();
        let edge_limit = surroundings.limits.edges.unwrap_or(u64::MAX);
        let begun = None;
        Ok(Meter { tested, objectives: objectives.clone(), edge_limit, counters, counted, begun, last })
    }

    /// Assumes that the commands can print a cost. A text for which one prints no number has failed then.
    pub fn with_checked_commands(mut self) -> Meter {
        self.counters.iter_mut().for_each(|(_, has_counted)| *has_counted = true);
        self
    }

    /// Returns true if time by the clock stands for the processor time that is a cost.
    pub fn lacks_cpu(&self) -> bool {
        self.objectives.has_cpu() && !self.tested.knows_cpu()
    }

    /// Returns true if a run measures the same while the caller is busy.
    pub fn is_exact(&self) -> bool {
        self.objectives.all().iter().all(Objective::is_exact)
    }

    /// Returns how many texts the program can begin on before the first is at its end. Outputs are told apart only one
    /// by one.
    pub fn room(&self) -> usize {
        let counts_edges = |objective: &Objective| matches!(objective, Objective::Edges | Objective::Hottest);
        if self.objectives.all().iter().all(counts_edges) { self.tested.room() } else { 1 }
    }

    /// Runs the program on a text.
    pub fn read(&mut self, text: &[u8]) -> Result<&Measured, Error> {
        let mut last = std::mem::take(&mut self.last);
        self.start(text)?;
        self.finish(&mut last)?;
        self.last = last;
        Ok(&self.last)
    }

    /// Ends the process that takes texts, so the next run knows nothing of those before it. Returns false if that is so
    /// for each run.
    ///
    /// # Errors
    ///
    /// If the program cannot be started again.
    pub fn renew(&mut self) -> Result<bool, Error> {
        let has_history = self.tested.has_history();
        if has_history {
            self.tested.renew()?;
        }
        Ok(has_history)
    }

    /// Runs the program on a text. If the first cost is not exact, the run is repeated until it costs no more than the
    /// reference, or often enough; where a slow machine raises the cost, the reference shows when it is fast. Returns
    /// the least cost, and how often the hottest edge was executed then; `None` if a run does not end by itself.
    pub fn confirmed(
        &mut self,
        text: &[u8],
        reference: &mut Reference,
        stop: &Stop,
    ) -> Result<Option<(u64, u64)>, Error> {
        let (is_exact, is_slowed) = (self.objectives.first().is_exact(), self.objectives.slowed() == Some(0));
        let (bound, mut patience) = (reference.cost, noise::PATIENCE);
        let mut least: Option<(u64, u64)> = None;
        for repeat in 0..=if is_exact { 0 } else { REPEATED } {
            if least.is_some_and(|least| least.0 <= bound) || repeat > 0 && stop.is_cut() {
                break;
            }
            if repeat > 1 && is_slowed && noise::is_short(self.last.took) {
                reference.await_calm(&mut patience, |text| {
                    let measured = self.read(text)?;
                    let is_of_use = measured.ending == Ending::Done && !stop.is_cut();
                    Ok(Some(measured.cost).filter(|_| is_of_use))
                })?;
            }
            let measured = self.read(text)?;
            if measured.ending != Ending::Done {
                return Ok(None);
            }
            let read = (measured.cost, measured.hottest);
            least = Some(least.map_or(read, |least| least.min(read)));
        }
        Ok(least)
    }

    /// Lets the program begin to run on a text.
    pub fn start(&mut self, text: &[u8]) -> Result<(), Error> {
        // A slow machine does not raise exact costs, so the time is not needed.
        self.begun = (!self.is_exact()).then(Instant::now);
        self.counted.clear();
        for counter in &mut self.counters {
            self.counted.push(counted_by(counter, text)?);
        }
        Ok(self.tested.start(text)?)
    }

    /// Waits for the end of the first run that was begun and not finished, and measures it. Returns how it ended.
    pub fn finish(&mut self, measured: &mut Measured) -> Result<Outcome, Error> {
        let run = self.tested.finish()?;
        measured.edges.clear();
        measured
            .edges
            .extend(run.edges.iter().flat_map(|edges| edges.executed()).map(|edge| (edge.number, edge.count)));
        let mut counted = self.counted.iter().map(|number| number.unwrap_or(0));
        measured.costs.clear();
        measured.costs.extend(self.objectives.all().iter().map(|objective| match objective {
            Objective::Command(_) => counted.next().unwrap_or(0),
            known => known.of(&run),
        }));
        // A process that ends without `exit` tells no depth of its stack.
        let is_told = run.usage.stack.is_some() || !self.objectives.demanded().stack;
        let has_counted = is_told && self.counted.iter().all(Option::is_some);
        measured.hottest = Objective::Hottest.of(&run);
        // A program can write any count; sums of them are to stay numbers.
        measured.executed = Objective::Edges.of(&run).min(MOST_EDGES);
        measured.ending = if has_counted { ending(&run) } else { Ending::Failed };
        if run.outcome == Outcome::Edges {
            // What was executed until then depends on the machine.
            count_as(measured, self.edge_limit, &self.objectives);
        }
        measured.cost = measured.costs.first().copied().unwrap_or(0);
        measured.seconds = cpu(&run).as_secs_f64();
        measured.took = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
        measured.is_repeat = false;
        Ok(run.outcome)
    }
}

/// Takes this many edges for what a run has executed.
fn count_as(measured: &mut Measured, edges: u64, objectives: &Objectives) {
    measured.edges.clear();
    (measured.hottest, measured.executed) = (edges, edges);
    for (cost, objective) in measured.costs.iter_mut().zip(objectives.all()) {
        if matches!(objective, Objective::Edges | Objective::Hottest) {
            *cost = edges;
        }
    }
}

/// Greatest number of times that a text is run again if it costs more than all before it, where costs are not exact.
/// These runs do not count as runs of the search.
pub const REPEATED: usize = 5;

/// The greatest costs so far.
#[derive(Debug, Default)]
pub struct Records {
    all: Vec<Record>,
}

/// The greatest of the costs by one objective, and a text that has it; for the first objective the shortest one.
#[derive(Debug, Default)]
struct Record {
    most: u64,
    text: Option<Reference>,
}

impl Records {
    /// Returns true if there is a cost that is not exact and by which a run of a text of this length costs more than
    /// all before it, or as much with a shorter text. Other work on the machine may be the reason.
    pub fn are_beaten(&self, measured: &Measured, len: usize, objectives: &Objectives) -> bool {
        let is_beaten = |(at, objective): (usize, &Objective)| {
            let cost = measured.costs.get(at).copied().unwrap_or(0);
            let is_better = self.all.get(at).map_or(cost > 0, |record| record.is_beaten(cost, len, at == 0));
            !objective.is_exact() && is_better
        };
        measured.ending == Ending::Done && objectives.all().iter().enumerate().any(is_beaten)
    }

    /// Returns a text whose cost at this place is known.
    pub fn reference(&self, at: usize) -> Option<&Reference> {
        self.all.get(at)?.text.as_ref()
    }

    /// Takes note that the text of a place was run again.
    pub fn refer(&mut self, at: usize, reference: Reference) {
        if let Some(record) = self.all.get_mut(at) {
            record.text = Some(reference);
        }
    }

    /// Lowers the costs of a run to the records, if there are any.
    pub fn bound(&self, measured: &mut Measured) {
        measured.lower(self.all.iter().map(|record| record.most));
    }

    /// Takes the run of a text for what it costs.
    pub fn add(&mut self, measured: &Measured, text: &[u8]) {
        self.all.resize_with(self.all.len().max(measured.costs.len()), Record::default);
        for (at, (record, &cost)) in self.all.iter_mut().zip(&measured.costs).enumerate() {
            if record.is_beaten(cost, text.len(), at == 0) {
                *record = Record { most: cost, text: Some(Reference::new(text, cost)) };
            }
        }
    }
}

impl Record {
    /// Returns true if a text of this length costs more, or as much if a shorter text is better.
    fn is_beaten(&self, cost: u64, len: usize, is_shorter_better: bool) -> bool {
        let is_shorter = || self.text.as_ref().is_none_or(|known| len < known.text.len());
        cost > self.most || cost == self.most && is_shorter_better && is_shorter()
    }
}

/// Returns the processor time of a run, or time by the clock if that is not known.
fn cpu(run: &Run<'_>) -> Duration {
    run.usage.cpu.unwrap_or(run.usage.wall)
}

/// Returns the number that a command prints for a text, if it prints one.
fn counted_by((counter, has_counted): &mut (Tested, bool), text: &[u8]) -> Result<Option<u64>, Error> {
    let counted = count(counter, text)?;
    // A command that has never printed a number is a mistake; later, one text is at fault.
    if let (Err(printed), false) = (&counted, *has_counted) {
        let what = format!("the command of --cost must print a number, and printed `{printed}`");
        return Err(Error::Usage(what));
    }
    *has_counted = true;
    Ok(counted.ok())
}

/// Returns the number that a command prints for a text, or else what it prints.
fn count(counter: &mut Tested, text: &[u8]) -> Result<Result<u64, String>, Error> {
    let run = counter.run(text)?;
    let printed = String::from_utf8_lossy(&run.stdout.bytes);
    let number = printed.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    Ok(match number {
        Some(number) if number >= 0.0 => Ok(number as u64),
        _ => Err(printed.trim().chars().take(60).collect()),
    })
}

/// Returns the end of a run for a search. Exceptions are how functions report errors in their input.
fn ending(run: &Run<'_>) -> Ending {
    match run.outcome {
        Outcome::Exit(_) | Outcome::Exception(_) => Ending::Done,
        Outcome::Timeout | Outcome::Stopped | Outcome::Memory | Outcome::Processes | Outcome::Disk | Outcome::Edges => {
            Ending::Stopped
        }
        _ => Ending::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_those_of_costs_that_are_not_exact() {
        let measured = |costs: &[u64]| Measured { costs: costs.to_vec(), ..Measured::of(costs[0], Vec::new()) };
        let both = Objectives::parse("cpu,edges").expect("costs");
        let mut records = Records::default();
        let mut first = measured(&[5, 9]);
        records.bound(&mut first);
        assert_eq!(first.costs, [5, 9]);
        assert!(records.are_beaten(&first, 4, &both));
        assert!(records.reference(0).is_none());
        records.add(&first, b"four");
        // Edges are exact; of texts with the same cost the shorter one would be better.
        for (costs, len, expected) in [([5, 100], 4, false), ([5, 1], 3, true), ([6, 1], 9, true), ([4, 9], 1, false)] {
            assert_eq!(records.are_beaten(&measured(&costs), len, &both), expected, "{costs:?} {len}");
        }
        let known = |records: &Records, at| records.reference(at).map(|known| known.text.clone());
        assert_eq!(known(&records, 0), Some(b"four".to_vec()));
        records.add(&measured(&[4, 10]), b"longer");
        assert_eq!(known(&records, 0), Some(b"four".to_vec()));
        assert_eq!(known(&records, 1), Some(b"longer".to_vec()));
        let stopped = Measured { ending: Ending::Stopped, ..measured(&[50, 9]) };
        assert!(!records.are_beaten(&stopped, 4, &both));
        let (mut great, mut again) = (measured(&[50, 1]), measured(&[7, 1]));
        again.lower(great.costs.iter().copied());
        assert_eq!(again.costs, [7, 1]);
        records.bound(&mut great);
        assert_eq!(great.costs, [5, 1]);
    }

    #[test]
    fn memory_has_two_names() {
        assert_eq!(Objective::parse("rss"), Ok(Objective::Memory));
        assert_eq!(Objectives::parse("edges,rss").expect("costs").to_string(), "edges,memory");
    }

    #[test]
    fn costs_have_names() {
        for name in ["edges", "hottest", "cpu", "memory", "output", "command:wc -c"] {
            assert_eq!(Objective::parse(name).expect("a cost").to_string(), name);
        }
        for name in ["", "edge", "command:", "command: "] {
            assert!(Objective::parse(name).is_err(), "{name}");
        }
        for names in ["edges", "edges,output", "command:wc -c", "cpu,command:sed s,a,b,|wc -c"] {
            let parsed = Objectives::parse(names).expect("costs");
            assert_eq!(parsed.to_string(), names);
            assert_eq!(parsed.all().len(), 1 + usize::from(names.starts_with("edges,") || names.starts_with("cpu")));
        }
        for names in ["edges,", ",edges", "edges,,output", "edges,command:", ",command:wc"] {
            assert!(Objectives::parse(names).is_err(), "{names}");
        }
    }
}
