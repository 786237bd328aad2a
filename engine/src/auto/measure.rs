//! Measures the speed of engines in short slices of time. The median counts, so that other work of the machine counts
//! little.

use std::time::Instant;

use gramjet::{Batch, Inputs, Limits, Producer};
use gramjet_compiler::Compiled;

use super::{Candidates, Chosen, Decision, LEAST, Pace, Pair, Sketch, Wanted, Why, decide};
use crate::bulk::{Bulk, Effort, Framing, NotInBulk};
use crate::jit::Jit;

/// The source of time.
pub trait Clock {
    /// Returns the seconds since some moment.
    fn seconds(&self) -> f64;

    /// Returns the seconds that this thread was at work, where that is known: long work is interrupted by other work on
    /// the machine.
    fn seconds_at_work(&self) -> f64 {
        self.seconds()
    }
}

impl Clock for Instant {
    fn seconds(&self) -> f64 {
        self.elapsed().as_secs_f64()
    }

    fn seconds_at_work(&self) -> f64 {
        let on_processor = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        let nanoseconds = on_processor.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
        nanoseconds.map_or_else(|| self.seconds(), |nanoseconds| nanoseconds / 1e9)
    }
}

/// The time that an engine is at work in one slice, at least, in seconds.
const SLICE: f64 = 300e-6;
/// Slices that are measured.
const SLICES: usize = 9;
/// Slices before these.
const WARMING: usize = 4;
/// The most choice bytes that an input reads while engines are measured, and the most bytes that it has: a slice must
/// not take long.
const MOST_CHOICES: u64 = 1 << 18;
const MOST_OUTPUT: u64 = 1 << 24;
/// Inputs that are made between two looks at the clock, and bytes.
const BATCH_INPUTS: u64 = 16;
const BATCH_BYTES: usize = 64 << 10;

/// Makes inputs, some at a time.
trait Runner {
    /// Makes some; returns their bytes and their number, if that is known.
    fn run(&mut self) -> (u64, u64);
}

/// An engine that replays.
struct Replaying<'f> {
    inputs: Inputs<Box<dyn Producer + Send>>,
    output: Vec<u8>,
    ends: Vec<usize>,
    framing: &'f Framing,
}

impl<'f> Replaying<'f> {
    fn new(mut producer: Box<dyn Producer + Send>, framing: &'f Framing) -> Replaying<'f> {
        let limits = producer.limits();
        let bounded =
            limits.max_choices(limits.choices().min(MOST_CHOICES)).max_output(limits.output().min(MOST_OUTPUT));
        // Only the bounds differ from the old limits, and every producer accepts these.
        let _ = producer.set_limits(bounded);
        Replaying { inputs: Inputs::new(producer, 1), output: Vec::new(), ends: Vec::new(), framing }
    }
}

impl Runner for Replaying<'_> {
    fn run(&mut self) -> (u64, u64) {
        self.output.clear();
        self.ends.clear();
        let batch = Batch::new(BATCH_INPUTS, &mut self.ends).until_full(BATCH_BYTES).separator(&self.framing.behind);
        self.inputs.append_batch(&mut self.output, batch);
        let inputs = self.ends.len();
        ((self.output.len() + inputs * self.framing.before) as u64, inputs as u64)
    }
}

impl Runner for Bulk {
    fn run(&mut self) -> (u64, u64) {
        (self.make_some(), 0)
    }
}

/// The output made in some time.
#[derive(Clone, Copy, Default)]
struct Slice {
    bytes: u64,
    inputs: u64,
    seconds: f64,
}

impl Slice {
    fn speed(self) -> f64 {
        self.bytes as f64 / self.seconds
    }

    fn pace(self) -> Pace {
        Pace { speed: self.speed(), mean_input: self.bytes as f64 / self.inputs.max(1) as f64 }
    }

    fn and(self, other: Slice) -> Slice {
        Slice {
            bytes: self.bytes + other.bytes,
            inputs: self.inputs + other.inputs,
            seconds: self.seconds + other.seconds,
        }
    }
}

fn slice(runner: &mut impl Runner, clock: &impl Clock) -> Slice {
    let (mut slice, start) = (Slice::default(), clock.seconds());
    while slice.seconds < SLICE {
        let (bytes, inputs) = runner.run();
        slice.bytes += bytes;
        slice.inputs += inputs;
        slice.seconds = clock.seconds() - start;
    }
    slice
}

/// Lets caches and buffers fill up.
fn warm(runner: &mut impl Runner, clock: &impl Clock) {
    for _ in 0..WARMING {
        slice(runner, clock);
    }
}

fn median(mut values: [f64; SLICES]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[SLICES / 2]
}

fn speed(runner: &mut impl Runner, clock: &impl Clock) -> f64 {
    warm(runner, clock);
    median([(); SLICES].map(|()| slice(runner, clock).speed()))
}

/// Measures both in turn, so that a machine that gets slower or faster in between affects both alike.
fn pair(own: &mut impl Runner, other: &mut impl Runner, clock: &impl Clock) -> Pair {
    warm(own, clock);
    warm(other, clock);
    let slices = [(); SLICES].map(|()| (slice(own, clock).speed(), slice(other, clock).speed()));
    Pair { own: median(slices.map(|(own, _)| own)), other: median(slices.map(|(_, other)| other)) }
}

/// Returns the pace of an engine by one of its producers, as far as the request needs it.
pub fn pace(wanted: Wanted, producer: Box<dyn Producer + Send>, framing: &Framing, clock: &impl Clock) -> Pace {
    let mut own = Replaying::new(producer, framing);
    let first = slice(&mut own, clock).pace();
    // The first slice is slower than the others, so this is little indeed.
    if wanted.seconds(first) < LEAST / 4.0 {
        return first;
    }
    warm(&mut own, clock);
    let slices = [(); SLICES].map(|()| slice(&mut own, clock));
    let all = slices.iter().fold(Slice::default(), |all, slice| all.and(*slice));
    Pace { speed: median(slices.map(Slice::speed)), ..all.pace() }
}

/// A grammar and limits for which engines are measured.
pub struct Timed<'a, C> {
    /// Makes producers of the engine that is in use.
    pub own: &'a dyn Fn() -> Box<dyn Producer + Send>,
    /// Whether that is a producer which was compiled ahead of time, so that machine code made here may be faster.
    pub is_generated: bool,
    /// The grammar.
    pub compiled: &'a Compiled,
    /// The limits in force.
    pub limits: Limits,
    /// The text between inputs.
    pub framing: Framing,
    /// Effort for the bulk engine's tables.
    pub effort: Effort,
    /// The source of time.
    pub clock: C,
}

/// Returns the bulk engine in place of one that replays under these limits.
///
/// # Errors
///
/// If the grammar or the limits do not fit it.
pub fn in_bulk(compiled: &Compiled, limits: Limits, framing: Framing, effort: Effort) -> Result<Bulk, NotInBulk> {
    // It reads no choice bytes, so a bound on them would not be the same.
    if limits.choices() != Limits::DEFAULT_MAX_CHOICES {
        return Err(NotInBulk::MaxChoices);
    }
    Bulk::new(compiled, limits, framing, effort)
}

/// The chosen engine.
#[derive(Debug)]
pub enum Engine {
    /// The engine that is in use.
    Own,
    /// Machine code, whose output is the same.
    Jit(Jit),
    /// The bulk engine, whose output is another.
    Bulk(Box<Bulk>),
}

/// Chooses the engine that makes the amount soonest, where the engine in use has this pace.
pub fn choose<C: Clock>(wanted: Wanted, pace: Pace, timed: &Timed<'_, C>) -> (Engine, Why) {
    let mut made = Made { timed, jit: None, bulk: None };
    let Decision { chosen, why } = decide(wanted, pace, &mut made);
    let engine = match (chosen, made.jit, made.bulk) {
        (Chosen::Replaying, Some(jit), _) => Engine::Jit(jit),
        (Chosen::Bulk, _, Some(bulk)) => Engine::Bulk(Box::new(bulk)),
        _ => Engine::Own,
    };
    (engine, why)
}

/// The engines that were made ready to be measured.
struct Made<'a, C> {
    timed: &'a Timed<'a, C>,
    jit: Option<Jit>,
    bulk: Option<Bulk>,
}

impl<C: Clock> Made<'_, C> {
    fn own(&self) -> Replaying<'_> {
        Replaying::new((self.timed.own)(), &self.timed.framing)
    }

    fn tables(&self, effort: Effort) -> Result<Bulk, NotInBulk> {
        let Timed { compiled, limits, framing, .. } = self.timed;
        let bulk = in_bulk(compiled, *limits, framing.clone(), effort)?;
        // Many inputs of any length at once take too much memory to be chosen unasked.
        if bulk.mean_input().is_finite() { Ok(bulk) } else { Err(NotInBulk::TooLong) }
    }
}

impl<C: Clock> Candidates for Made<'_, C> {
    fn replaying(&mut self) -> Option<Pair> {
        if !self.timed.is_generated {
            return None;
        }
        let jit = Jit::with_limits(self.timed.compiled, self.timed.limits).ok()?;
        let mut other = Replaying::new(Box::new(jit.clone()), &self.timed.framing);
        self.jit = Some(jit);
        Some(pair(&mut self.own(), &mut other, &self.timed.clock))
    }

    fn sketch(&mut self) -> Result<Sketch, NotInBulk> {
        let start = self.timed.clock.seconds_at_work();
        let mut bulk = self.tables(Effort::SKETCH)?;
        let made_in = self.timed.clock.seconds_at_work() - start;
        Ok(Sketch { made_in, speed: speed(&mut bulk, &self.timed.clock) })
    }

    fn bulk(&mut self, chosen: Chosen) -> Result<Pair, NotInBulk> {
        let mut own = match (chosen, &self.jit) {
            (Chosen::Replaying, Some(jit)) => Replaying::new(Box::new(jit.clone()), &self.timed.framing),
            _ => self.own(),
        };
        let mut bulk = self.tables(self.timed.effort)?;
        let pair = pair(&mut own, &mut bulk, &self.timed.clock);
        self.bulk = Some(bulk);
        Ok(pair)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A clock that advances by itself and by the time of runners.
    struct Hands(Cell<f64>);

    impl Clock for Hands {
        fn seconds(&self) -> f64 {
            self.0.set(self.0.get() + 1e-9);
            self.0.get()
        }
    }

    /// A runner that takes so long for a byte; each thousandth run something else has the processor.
    struct Steady<'c>(&'c Hands, f64, u32);

    impl Runner for Steady<'_> {
        fn run(&mut self) -> (u64, u64) {
            self.2 += 1;
            let elsewhere = if self.2.is_multiple_of(1000) { 20e-3 } else { 0.0 };
            self.0.0.set(self.0.0.get() + 1000.0 * self.1 + elsewhere);
            (1000, 10)
        }
    }

    #[test]
    fn speeds_are_those_of_most_slices() {
        let hands = Hands(Cell::new(0.0));
        let Pair { own, other } = pair(&mut Steady(&hands, 2e-9, 0), &mut Steady(&hands, 5e-9, 500), &hands);
        assert!((own / 5e8 - 1.0).abs() < 0.05, "{own}");
        assert!((other / 2e8 - 1.0).abs() < 0.05, "{other}");
        let alone = speed(&mut Steady(&hands, 5e-9, 900), &hands);
        assert!((alone / 2e8 - 1.0).abs() < 0.05, "{alone}");
    }
}
