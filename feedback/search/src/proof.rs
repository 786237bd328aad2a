//! Proves how the cost of a text grows: repeats its parts, measures, and fits.

mod places;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

use gramjet_session::decisions::{Derivation, Deriver, Fit};

use self::places::{Place, in_turns};
use crate::growth::{EdgeGrowth, Growth, Law, Measurement, edges_by_growth};
use crate::maxima::Edge;
use crate::pump::{Copies, Pump};
use crate::random::Random;
use crate::strategy::{Ending, Evenly, Measured};

/// A measured member of a family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Number of rounds or nested instances that it has: those of the text that it was made of, and the copies.
    pub copies: u32,
    /// The text.
    pub text: Vec<u8>,
    /// Its cost.
    pub cost: u64,
    /// The run was stopped at a limit, so the cost is at least this.
    pub is_stopped: bool,
    /// Edges with the number of times that each was executed.
    pub edges: Vec<Edge>,
}

impl Member {
    /// Returns how the cost of a family grows with the number of copies, which ascends; `None` if too little was
    /// measured.
    pub fn growth(members: &[Member]) -> Option<Growth> {
        let measurement = |member: &Member| {
            let stopped = member.is_stopped;
            let measured = Measurement { stopped, ..Measurement::new(f64::from(member.copies), member.cost as f64) };
            (measured, member.text.len())
        };
        Growth::of_texts(&members.iter().map(measurement).collect::<Vec<_>>())
    }

    /// Returns the edges of a family, those whose counts grow fastest first, over the sizes for which its law holds.
    pub fn edges_by_growth(members: &[Member], growth: Option<&Growth>) -> Vec<EdgeGrowth> {
        let from = growth.and_then(Growth::from).unwrap_or(0.0);
        let ended = members.iter().filter(|member| !member.is_stopped);
        let runs = ended.map(|member| (f64::from(member.copies), &*member.edges));
        let runs: Vec<(f64, &[Edge])> = runs.filter(|run| run.0 >= from).collect();
        edges_by_growth(&runs, LEAST_SIZES)
    }
}

/// Texts that repeat the same parts, with their costs.
#[derive(Clone, Debug)]
pub struct Family {
    /// Part that is repeated.
    pub pump: Pump,
    /// The texts, by the number of copies.
    pub members: Vec<Member>,
    /// Growth of the cost with the number of copies; `None` if too little was measured.
    pub growth: Option<Growth>,
    /// The text whose parts are repeated.
    whole: Rc<Derivation>,
    cost_limit: Option<u64>,
}

impl Family {
    /// Returns the edges whose counts grow fastest.
    pub fn edges(&self) -> Vec<EdgeGrowth> {
        Member::edges_by_growth(&self.members, self.growth.as_ref())
    }

    /// Returns how many copies the first text has on which the program was stopped.
    pub fn stopped_at(&self) -> Option<u32> {
        self.members.iter().find(|member| member.is_stopped).map(|member| member.copies)
    }

    /// Returns true if it is stopped although nothing that was measured before grows faster than linearly: the growth
    /// that is known does not explain it. At a [limit on cost](Effort::cost_limit) it is explained by a law that is
    /// proved and comes to the limit there, however slow the growth is.
    pub fn is_cut_short(&self) -> bool {
        let explains = |growth: &Growth| match self.limit_reached() {
            Some(limit) => growth.proved() > f64::NEG_INFINITY && comes_to(growth, limit),
            None => growth.is_superlinear(1.0),
        };
        self.stopped_at().is_some() && !self.growth.as_ref().is_some_and(explains)
    }

    /// Returns true if it is stopped at a limit on cost to which its law comes, and all laws that the costs before do
    /// not rule out grow no faster than n^`exponent`.
    pub(crate) fn is_slow(&self, exponent: f64) -> bool {
        let known = self.growth.as_ref().zip(self.limit_reached());
        known.is_some_and(|(growth, limit)| growth.is_at_most(exponent) && comes_to(growth, limit))
    }

    /// Returns the number of copies at which it is stopped at the limit on cost, and that limit.
    fn limit_reached(&self) -> Option<(u32, u64)> {
        let stopped = self.members.iter().find(|member| member.is_stopped)?;
        let limit = self.cost_limit.filter(|&limit| stopped.cost >= limit)?;
        Some((stopped.copies, limit))
    }

    fn fit(&mut self) {
        self.growth = Member::growth(&self.members);
    }
}

/// Effort that is made for a proof.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// No text is longer, in bytes.
    pub max_len: usize,
    /// At most this many runs.
    pub runs: u32,
    /// No run begins after this long.
    pub time: Duration,
    /// A run that costs this much or more was stopped there.
    pub cost_limit: Option<u64>,
}

impl Default for Effort {
    /// Returns an effort of 16 KiB, 2000 runs and a minute, without a limit on cost.
    fn default() -> Effort {
        Effort { max_len: 16 << 10, runs: 2000, time: Duration::from_secs(60), cost_limit: None }
    }
}

/// Copies that are added to choose among the places where a text has the same part.
const PROBE: [u32; 2] = [7, 31];
/// Copies that are added for the first look at a part.
const GLANCE: [u32; 4] = [3, 7, 15, 31];
/// Copies that are added to the families that grow fastest: dense enough for exponential growth, and far enough apart
/// for polynomial growth.
const SIZES: [u32; 18] = [0, 1, 2, 3, 5, 7, 11, 15, 23, 31, 47, 63, 95, 127, 191, 255, 383, 511];
/// Copies that are added where the text has many already, below [`WIDE`] times as many.
const MORE_SIZES: [u32; 8] = [767, 1023, 1535, 2047, 3071, 4095, 6143, 8191];
/// A proof needs sizes that lie this far apart, and some room.
const WIDE: u32 = 16;
/// Copies that are to be distinct come from a part that allows this many.
const DISTINCT: u64 = 600;
/// Attempts to draw such a part, for each part within what is repeated.
const DRAWS: u32 = 8;
/// A time beyond this is none: clocks cannot add it.
const LONGEST: Duration = Duration::from_secs(1 << 30);
/// The share of the time for first looks, and of that what the choice of places may take.
const LOOKING: f64 = 0.4;
const PROBING: f64 = 0.1;
/// The choice of places takes at most one run in this many.
const PROBING_RUNS: u32 = 4;
/// At most this many parts are tried.
const WIDENED: usize = 16;
/// At most this many families are measured. Of those for the same rule and kind of copies the fastest is reported.
const FAMILIES: usize = 6;
/// The parts that are repeated together with others.
const PAIRED: usize = 4;
/// A family is measured until a text costs this many times as much as the original.
const MUCH: u64 = 1 << 14;
/// An exponent is known if its interval is no wider: then it is right to a tenth.
const KNOWN_INTERVAL: f64 = 0.1;
/// Costs that grow in jumps, as where memory doubles, are at most this many times those of a law.
const REACHED: f64 = 2.0;
/// An edge is in at least this many members.
const LEAST_SIZES: usize = 5;

/// Finds the families of a text whose cost grows fastest, the fastest first. `measure` runs a text; it returns nothing
/// if no more runs are wanted.
pub fn prove(
    deriver: &mut Deriver,
    whole: &Derivation,
    effort: Effort,
    measure: &mut dyn FnMut(&[u8]) -> Option<Measured>,
) -> Vec<Family> {
    let begin = Instant::now();
    let effort = Effort { time: effort.time.min(LONGEST), ..effort };
    // First looks leave enough time to measure what they show.
    let end = begin + effort.time.mul_f64(LOOKING);
    let mut prover = Prover { deriver, effort, measure, made: Derivation::default(), left: effort.runs, end };
    let whole = Rc::new(whole.clone());
    let mut looked = Vec::new();
    for pump in prover.chosen(&whole, begin + effort.time.mul_f64(PROBING)) {
        let widened = prover.widened(&whole, &pump);
        let (whole, pump) = widened.unwrap_or((Rc::clone(&whole), pump));
        looked.extend(prover.glance(&whole, pump));
    }
    rank(&mut looked);
    let of_whole = looked.iter().filter(|family| Rc::ptr_eq(&family.whole, &whole));
    let pumps = of_whole.map(|family| family.pump.clone()).collect();
    // Those of other kinds first.
    let pairs: Vec<Pump> = in_turns(pumps, |pump: &Pump| (pump.kind(&whole), pump.copies));
    let pairs = &pairs[..pairs.len().min(PAIRED)];
    for (number, one) in pairs.iter().enumerate() {
        for other in &pairs[number + 1..] {
            let both = one.with(other).and_then(|both| prover.glance(&whole, both));
            looked.extend(both);
        }
    }
    rank(&mut looked);
    // The steepest of each rule and kind of copies, then others of these, as a first look may err.
    let mut looked = in_turns(looked, |family| family.pump.topic());
    looked.truncate(FAMILIES);
    prover.end = begin + effort.time;
    reported(looked.into_iter().map(|family| prover.measure_all(family)).collect())
}

/// Returns true if a law says that a number of copies costs about as much as the limit.
fn comes_to(growth: &Growth, (copies, limit): (u32, u64)) -> bool {
    REACHED * growth.predict(f64::from(copies)) >= limit as f64
}

/// Returns the families that are reported: the fastest first, one for each rule and kind of copies.
fn reported(mut families: Vec<Family>) -> Vec<Family> {
    families.sort_by_key(|family| Reverse(tenths(sure_speed(family))));
    let mut topics = BTreeSet::new();
    // What a limit on cost hides says nothing of the others.
    let is_hidden = |family: &Family| family.cost_limit.is_some() && family.is_cut_short();
    families.retain(|family| is_hidden(family) || topics.insert(family.pump.topic()));
    // Of families that grow alike, one whose law is known and with short copies says most.
    families.sort_by_key(|family| (Reverse(tenths(speed(family))), !is_known(family), family.pump.len()));
    families
}

fn tenths(speed: f64) -> i64 {
    (10.0 * speed).round() as i64
}

/// Sorts families, those that grow fastest first.
fn rank(families: &mut [Family]) {
    families.sort_by(|one, other| steepness(other).total_cmp(&steepness(one)));
}

/// Returns the slope of the last increments on a logarithmic scale: 1 for linear growth, 2 for quadratic growth. A text
/// that did not end grows faster than any that did.
fn steepness(family: &Family) -> f64 {
    let members = &family.members;
    if members.iter().any(|member| member.is_stopped) {
        return 100.0;
    }
    let [.., a, b, c] = &members[..] else { return 0.0 };
    let grown = |from: &Member, to: &Member| to.cost.saturating_sub(from.cost) as f64;
    // The increments belong to the middles of their ranges.
    let middle = |from: &Member, to: &Member| f64::from(from.copies + to.copies) / 2.0;
    let apart = |from: &Member, to: &Member| f64::from(to.copies - from.copies);
    let (early, late) = (grown(a, b) / apart(a, b), grown(b, c) / apart(b, c));
    let doubled = (middle(b, c) / middle(a, b)).log2();
    if early <= 0.0 || late <= 0.0 { 0.0 } else { 1.0 + (late / early).log2() / doubled }
}

/// Returns the exponent, for the order of families: exponential growth is faster than all polynomials, and what cannot
/// be measured is faster still.
fn speed(family: &Family) -> f64 {
    if family.is_cut_short() {
        return 1e6;
    }
    family.growth.as_ref().map_or(0.0, |growth| match growth.best().law {
        Law::Constant => 0.1,
        Law::Logarithmic => 0.2,
        Law::Linearithmic => 1.05,
        Law::Polynomial { exponent } if is_known(family) => exponent.value,
        // A cost that grows in jumps, or begins to grow late, fits a steeper law than its own. It comes before one that
        // is known if it is surely faster.
        Law::Polynomial { exponent } => exponent.low - KNOWN_INTERVAL,
        Law::Exponential { base } => 100.0 + base.value,
    })
}

/// Returns true if its exponent is right to a tenth, if it has one.
fn is_known(family: &Family) -> bool {
    family.growth.as_ref().is_none_or(|growth| match growth.best().law {
        Law::Polynomial { exponent } => exponent.high - exponent.low <= KNOWN_INTERVAL,
        Law::Constant | Law::Logarithmic | Law::Linearithmic | Law::Exponential { .. } => true,
    })
}

/// Returns the exponent that is proved; infinity for exponential growth and for what cannot be measured.
fn sure_speed(family: &Family) -> f64 {
    let growth = family.growth.as_ref();
    if family.is_cut_short() { f64::INFINITY } else { growth.map_or(f64::NEG_INFINITY, Growth::proved) }
}

struct Prover<'p> {
    deriver: &'p mut Deriver,
    effort: Effort,
    measure: &'p mut dyn FnMut(&[u8]) -> Option<Measured>,
    made: Derivation,
    left: u32,
    /// No run begins after this.
    end: Instant,
}

impl Prover<'_> {
    /// Returns the parts to look at. Where the text has the same part in several places, a few copies show where the
    /// cost grows fastest.
    fn chosen(&mut self, whole: &Rc<Derivation>, end: Instant) -> Vec<Pump> {
        let mut places = places::all(whole, self.deriver);
        let least = self.left - self.left / PROBING_RUNS;
        let mut original = None;
        for place in places::to_probe(&mut places) {
            if self.left <= least || Instant::now() >= end {
                break;
            }
            self.probe(whole, place, &mut original);
        }
        places::chosen(places)
    }

    /// Measures how steeply the cost grows in a place. The original is run once.
    fn probe(&mut self, whole: &Rc<Derivation>, place: &mut Place, original: &mut Option<Member>) {
        if original.is_none() {
            *original = self.members(whole, place.pump.clone(), &[0]).members.pop();
        }
        let Some(original) = original.clone() else { return };
        let mut family = self.members(whole, place.pump.clone(), &PROBE);
        family.members.insert(0, Member { copies: family.pump.present(), ..original });
        place.steepness = steepness(&family);
    }

    /// Returns a few members of a family; `None` if fewer than two can be run. If the program is stopped on the first
    /// copies, or the text is too long for a proof by more of them, the other rounds or levels are left out of the
    /// text.
    fn glance(&mut self, whole: &Rc<Derivation>, pump: Pump) -> Option<Family> {
        let is_long = whole.text.len().saturating_mul(WIDE as usize) > self.effort.max_len;
        let mut family = self.members(whole, pump, &GLANCE);
        // With a limit on cost, `measure_all` does that: the rest of the text may be what makes it slow.
        let is_stopped = matches!(&family.members[..], [only] if only.is_stopped) && self.effort.cost_limit.is_none();
        if is_long || is_stopped || family.members.is_empty() {
            let alone = self.alone(whole, &family.pump);
            family = alone.filter(|alone| alone.members.len() >= family.members.len()).unwrap_or(family);
        }
        (family.members.len() > 1 || family.stopped_at().is_some()).then_some(family)
    }

    /// Returns the same family, in a text with the repeated part alone.
    fn alone(&mut self, whole: &Derivation, pump: &Pump) -> Option<Family> {
        let (options, from) = pump.alone(whole)?;
        let fit = self.deriver.replay(&options, &mut self.made);
        let alone = Rc::new(self.made.clone());
        let pump = pump.same_at(from, &alone, self.deriver).filter(|_| fit == Fit::Exact)?;
        Some(self.members(&alone, pump, &GLANCE))
    }

    /// Returns many members of a family. Where a limit on cost leaves too few, the other rounds or levels are left out
    /// of the text, if the law of what remains is exponential, or explains why the whole text reaches the limit.
    fn measure_all(&mut self, known: Family) -> Family {
        let family = self.measured(known);
        let Some((copies, limit)) = family.limit_reached().filter(|_| family.is_cut_short()) else { return family };
        let Some(alone) = self.alone(&family.whole, &family.pump).map(|alone| self.measured(alone)) else {
            return family;
        };
        let rest = family.members.first().filter(|first| !first.is_stopped).map_or(0, |first| first.cost);
        let explains = |growth: &Growth| {
            growth.proved() == f64::INFINITY || comes_to(growth, (copies, limit.saturating_sub(rest)))
        };
        let is_law = alone.stopped_at().is_some() && !alone.is_cut_short();
        if is_law && alone.growth.as_ref().is_some_and(explains) { alone } else { family }
    }

    /// Returns many members of a family, with their law; if no more runs are wanted, those that are known.
    fn measured(&mut self, known: Family) -> Family {
        let whole = known.whole.text.len() / known.pump.len().max(1);
        let widest = known.pump.present().max(whole as u32).saturating_mul(WIDE);
        let more = MORE_SIZES.into_iter().filter(|&copies| copies < widest);
        let sizes: Vec<u32> = SIZES.into_iter().chain(more).collect();
        let mut family = self.members(&known.whole, known.pump.clone(), &sizes);
        if family.members.len() < known.members.len() {
            family = known;
        }
        family.fit();
        family
    }

    /// Returns the text with a longer part in what is repeated, if copies are to be distinct and too few of them can
    /// be: names of one letter are soon used up.
    fn widened(&mut self, whole: &Rc<Derivation>, pump: &Pump) -> Option<(Rc<Derivation>, Pump)> {
        if pump.copies == Copies::Equal || pump.capacity(whole, self.deriver) >= DISTINCT {
            return None;
        }
        let (mut random, mut drawn) = (Random::new(0), Derivation::default());
        let mut options = Vec::new();
        let mut widest: Option<(Rc<Derivation>, Pump)> = None;
        for part in pump.parts(whole).into_iter().take(WIDENED) {
            for bytes in [part.len() + 1, part.len() + 2] {
                for _ in 0..DRAWS {
                    if Instant::now() >= self.end {
                        return widest;
                    }
                    let mut evenly = Evenly(&mut random);
                    self.deriver.draw(part.symbol, part.depth, bytes as u64, &mut evenly, &mut drawn);
                    whole.replaced(&part, drawn.options(), &mut options);
                    if self.deriver.replay(&options, &mut self.made) != Fit::Exact {
                        continue;
                    }
                    let Some(wider) = pump.same_in(&self.made, self.deriver) else { continue };
                    let capacity = wider.capacity(&self.made, self.deriver);
                    let known = widest.as_ref().unwrap_or(&(Rc::clone(whole), pump.clone())).clone();
                    if capacity > known.1.capacity(&known.0, self.deriver) {
                        widest = Some((Rc::new(self.made.clone()), wider));
                    }
                    if capacity >= DISTINCT {
                        return widest;
                    }
                }
            }
        }
        widest
    }

    fn members(&mut self, whole: &Rc<Derivation>, pump: Pump, copies: &[u32]) -> Family {
        let cost_limit = self.effort.cost_limit;
        let mut family = Family { pump, members: Vec::new(), growth: None, whole: Rc::clone(whole), cost_limit };
        let present = family.pump.present();
        for &copies in copies {
            let options = family.pump.options(whole, self.deriver, copies);
            let fit = self.deriver.replay(&options, &mut self.made);
            let is_over = self.left == 0 || Instant::now() >= self.end;
            if fit != Fit::Exact || self.made.text.len() > self.effort.max_len || is_over {
                break;
            }
            self.left -= 1;
            let Some(Measured { cost, ending, edges, .. }) = (self.measure)(&self.made.text) else {
                self.left = 0;
                break;
            };
            // Where the program fails, the family ends before this text.
            if ending == Ending::Failed {
                break;
            }
            let is_stopped = ending == Ending::Stopped || cost_limit.is_some_and(|limit| cost >= limit);
            let first = family.members.first().map_or(cost, |first: &Member| first.cost).max(1);
            // The program takes another way with texts of this size, as where it refuses them. A run that was stopped
            // may have cost nothing by then, as where the cost is what it returns.
            if !is_stopped && family.members.last().is_some_and(|last| cost < last.cost / 2) {
                break;
            }
            let copies = present.saturating_add(copies);
            family.members.push(Member { copies, text: self.made.text.clone(), cost, is_stopped, edges });
            if is_stopped || cost / first > MUCH {
                break;
            }
        }
        family
    }
}
