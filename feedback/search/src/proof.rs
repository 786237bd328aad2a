//! Proves how the cost of a text grows: repeats its parts, measures, and fits.

mod family;
mod places;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

use gramjet_session::decisions::{Derivation, Deriver, Fit, Stretch};

use self::family::LEAST_TIME;
pub use self::family::{Effort, Family, Member, REPEATS, Repeated, Runs};
use self::places::{Place, in_turns};
use crate::growth::{Growth, Law};
use crate::pump::{Copies, Pump};
use crate::random::Random;
use crate::strategy::{Ending, Evenly, Measured};

/// Copies that are added to choose among the places where a text has the same part.
const PROBE: [u32; 2] = [7, 31];
/// Copies that are added for the first look at a part.
const GLANCE: [u32; 4] = [3, 7, 15, 31];
/// Copies that are added to the families that grow fastest: dense enough for exponential growth, and far enough apart
/// for polynomial growth.
///
/// A cost can change its growth where a table is full, so a family goes on up to the longest text.
const SIZES: [u32; 28] = [
    0, 1, 2, 3, 5, 7, 11, 15, 23, 31, 47, 63, 95, 127, 191, 255, 383, 511, 767, 1023, 1535, 2047, 3071, 4095, 6143,
    8191, 12_287, 16_383,
];
/// Copies of the text with which a new process begins: no member has as many, unless the program is stopped soon.
const WARMING: u32 = 6;
/// All numbers of copies up to this one are measured if the program is stopped soon.
const DENSE: u32 = 40;
/// A family has at least this many members, if the sizes allow it.
const ENOUGH: usize = 14;
/// A proof needs sizes that lie this far apart: three doublings, and one more to check the law.
const WIDE: u32 = 16;
/// Copies that are to be distinct come from a part that allows this many.
const DISTINCT: u64 = 5000;
/// A part is made longer by at most this many bytes for that.
const LONGER: usize = 3;
/// The share of the time for first looks that is left which the search for such a part may take.
const WIDENING: f64 = 0.1;
/// The share of the time that is left for one of several families, and of that the share of the first of its runs.
const FAMILY_TIME: f64 = 0.5;
const FIRST_TIME: f64 = 0.3;
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
/// A family is measured until a text costs this many times as much as the original, and its run takes as long as this,
/// or until it costs the greater number of times as much.
const MUCH: u64 = 1 << 14;
const LONG: Duration = Duration::from_millis(50);
const TOO_MUCH: u64 = 1 << 20;
/// A time that grows by more from one size to the next grows exponentially, if it is at least this long.
const STEEP: f64 = 8.0;
const BRIEF: f64 = 1e-3;
/// An exponent is known if its interval is no wider: then it is right to a tenth.
const KNOWN_INTERVAL: f64 = 0.1;
/// Costs that grow in jumps, as where memory doubles, are at most this many times those of a law.
const REACHED: f64 = 2.0;

/// Finds the families of a text whose cost grows fastest, the fastest first. `measure` runs a text; it returns nothing
/// if no more runs are wanted.
pub fn prove(deriver: &mut Deriver, whole: &Derivation, effort: Effort, measure: &mut dyn Runs) -> Vec<Family> {
    let begin = Instant::now();
    let mut prover = Prover::new(deriver, effort, measure);
    let effort = prover.effort;
    // First looks leave enough time to measure what they show.
    prover.end = begin + effort.time.mul_f64(LOOKING);
    let whole = Rc::new(whole.clone());
    let mut looked = Vec::new();
    let mut chosen = prover.chosen(&whole, begin + effort.time.mul_f64(PROBING));
    // Parts whose copies are to be distinct take time to be made longer.
    chosen.sort_by_key(|pump| pump.copies);
    for pump in chosen {
        let widened = prover.widened(&whole, &pump);
        let (whole, pump) = widened.unwrap_or((Rc::clone(&whole), pump));
        looked.extend(prover.glance(&whole, pump));
    }
    rank(&mut looked);
    let of_whole = looked.iter().filter_map(|family| match &family.of {
        Repeated::Parts { pump, whole: of } if Rc::ptr_eq(of, &whole) => Some(pump.clone()),
        Repeated::Parts { .. } | Repeated::Bytes(_) => None,
    });
    let pumps = of_whole.collect();
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
    let mut looked = in_turns(looked, |family| family.of.topic());
    looked.truncate(FAMILIES);
    prover.end = begin + effort.time;
    reported(looked.into_iter().map(|family| prover.measure_all(family)).collect())
}

/// Measures how the cost of a text grows that repeats bytes. `None` if not even two texts could be run.
pub fn prove_bytes(deriver: &mut Deriver, stretch: &Stretch, effort: Effort, measure: &mut dyn Runs) -> Option<Family> {
    let mut prover = Prover::new(deriver, effort, measure);
    let family = prover.members(Repeated::Bytes(stretch.clone()), &[]);
    let family = prover.measured(family, 1.0);
    (family.members.len() > 1).then_some(family)
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
    families.retain(|family| is_hidden(family) || topics.insert(family.of.topic()));
    // Of families that grow alike, one whose law is known and with short copies says most.
    families.sort_by_key(|family| (Reverse(tenths(speed(family))), !is_known(family), family.of.len()));
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
    if let Some(power) = family.hidden() {
        return power;
    }
    family.growth.as_ref().map_or(0.0, |growth| match growth.best().law {
        // Growth that ends is worth a line.
        _ if growth.bounded().is_some() => 1.03,
        _ if growth.is_unclear() => 0.05,
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
        _ if growth.is_unclear() => false,
        Law::Polynomial { exponent } => exponent.high - exponent.low <= KNOWN_INTERVAL,
        Law::Constant | Law::Logarithmic | Law::Linearithmic | Law::Exponential { .. } => true,
    })
}

/// Returns the exponent that is proved; infinity for exponential growth and for what cannot be measured.
fn sure_speed(family: &Family) -> f64 {
    let growth = family.growth.as_ref();
    let proved = growth.map_or(f64::NEG_INFINITY, Growth::proved);
    if family.is_cut_short() { f64::INFINITY } else { family.hidden().map_or(proved, |power| power.max(proved)) }
}

/// Returns what a pump repeats of a text.
fn parts(whole: &Rc<Derivation>, pump: &Pump) -> Repeated {
    Repeated::Parts { pump: pump.clone(), whole: Rc::clone(whole) }
}

struct Prover<'p> {
    deriver: &'p mut Deriver,
    effort: Effort,
    measure: &'p mut dyn Runs,
    made: Derivation,
    left: u32,
    /// No run begins after this.
    end: Instant,
    /// The longest time that it has taken to begin anew.
    start: Duration,
}

impl<'p> Prover<'p> {
    fn new(deriver: &'p mut Deriver, effort: Effort, measure: &'p mut dyn Runs) -> Prover<'p> {
        let effort = Effort { time: effort.time.min(LONGEST), ..effort };
        let (made, left, start) = (Derivation::default(), effort.runs, Duration::ZERO);
        Prover { deriver, effort, measure, made, left, end: Instant::now() + effort.time, start }
    }

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
            *original = self.members(parts(whole, &place.pump), &[0]).members.pop();
        }
        let Some(original) = original.clone() else { return };
        let mut family = self.members(parts(whole, &place.pump), &PROBE);
        family.members.insert(0, Member { copies: family.of.present(), ..original });
        place.steepness = steepness(&family);
    }

    /// Returns a few members of a family; `None` if fewer than two can be run. If the program is stopped on the first
    /// copies, or the text is too long for a proof by more of them, the other rounds or levels are left out of the
    /// text.
    fn glance(&mut self, whole: &Rc<Derivation>, pump: Pump) -> Option<Family> {
        let is_long = whole.text.len().saturating_mul(WIDE as usize) > self.effort.max_len;
        let mut family = self.members(parts(whole, &pump), &GLANCE);
        // With a limit on cost, `measure_all` does that: the rest of the text may be what makes it slow.
        let is_stopped = matches!(&family.members[..], [only] if only.is_stopped) && self.effort.cost_limit.is_none();
        if is_long || is_stopped || family.members.is_empty() {
            let alone = self.alone(whole, &pump);
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
        Some(self.members(parts(&alone, &pump), &GLANCE))
    }

    /// Returns many members of a family. Where a limit on cost leaves too few, the other rounds or levels are left out
    /// of the text, if the law of what remains is exponential, or explains why the whole text reaches the limit.
    fn measure_all(&mut self, known: Family) -> Family {
        let family = self.measured(known, FAMILY_TIME);
        let Some((copies, limit)) = family.limit_reached().filter(|_| family.is_cut_short()) else { return family };
        let Repeated::Parts { pump, whole } = &family.of else { return family };
        let Some(alone) = self.alone(whole, pump).map(|alone| self.measured(alone, FAMILY_TIME)) else {
            return family;
        };
        let rest = family.members.first().filter(|first| !first.is_stopped).map_or(0, |first| first.cost);
        let explains = |growth: &Growth| {
            growth.proved() == f64::INFINITY || comes_to(growth, (copies, limit.saturating_sub(rest)))
        };
        let is_law = alone.stopped_at().is_some() && !alone.is_cut_short();
        if is_law && alone.growth.as_ref().is_some_and(explains) { alone } else { family }
    }

    /// Returns many members of a family, with their law, in this share of the time that is left; if no more runs are
    /// wanted, those that are known.
    fn measured(&mut self, known: Family, share: f64) -> Family {
        let (begin, end) = (Instant::now(), self.end);
        let time = end.saturating_duration_since(begin).mul_f64(share);
        self.end = begin + time.mul_f64(FIRST_TIME);
        if !self.begin_anew(&known) {
            self.end = end;
            return known;
        }
        let mut family = self.members(known.of.clone(), &SIZES);
        self.fill(&mut family);
        self.end = begin + time;
        if family.members.len() < known.members.len() {
            family = known;
        }
        if self.measure.can_repeat() {
            (1..REPEATS).for_each(|_| self.repeat(&mut family));
        } else {
            family.members.iter_mut().for_each(|member| member.runs = REPEATS);
        }
        self.end = end;
        family.fit();
        family
    }

    /// Lets a process begin anew that takes many texts. First calls do what later ones find done, such as loading what
    /// texts of the family need: a text of the family that is no member is for that. Returns false if there is no time
    /// for it.
    fn begin_anew(&mut self, family: &Family) -> bool {
        let begin = Instant::now();
        if self.left == 0 || begin + 2 * self.start >= self.end {
            return false;
        }
        if self.measure.renew() {
            if family.of.write(WARMING, self.deriver, &mut self.made) && self.made.text.len() <= self.effort.max_len {
                self.left -= 1;
                if self.measure.run(&self.made.text).is_none() {
                    self.left = 0;
                }
            }
            self.start = self.start.max(begin.elapsed());
        }
        true
    }

    /// Adds members between those that are known, where few numbers of copies are so costly that the family ends.
    fn fill(&mut self, family: &mut Family) {
        let present = family.of.present();
        let last = family.members.iter().rfind(|member| !member.is_stopped).map_or(0, |last| last.copies - present);
        if family.members.len() >= ENOUGH || last > DENSE {
            return;
        }
        // Where time ends a family, it goes on in small steps.
        let most = if matches!(family.of, Repeated::Bytes(_)) { last + DENSE } else { last };
        let is_known = |copies: &u32| *copies <= last && SIZES.contains(copies);
        let more: Vec<u32> = (0..most).filter(|copies| !is_known(copies)).collect();
        let between = self.members(family.of.clone(), &more).members;
        family.members.extend(between);
        family.members.sort_by_key(|member| member.copies);
    }

    /// Runs all members once more that were not stopped, in a new process. The least costs and times are kept: all that
    /// other work on the machine does makes them greater.
    fn repeat(&mut self, family: &mut Family) {
        if !self.begin_anew(family) {
            return;
        }
        for member in family.members.iter_mut().filter(|member| !member.is_stopped) {
            if self.left == 0 || Instant::now() >= self.end {
                return;
            }
            self.left -= 1;
            let Some(reading) = self.measure.run(&member.text) else {
                self.left = 0;
                return;
            };
            if reading.ending == Ending::Done {
                if reading.cost < member.cost {
                    (member.cost, member.edges) = (reading.cost, reading.edges);
                }
                member.seconds = member.seconds.min(reading.seconds);
                member.runs += 1;
            }
        }
    }

    /// Returns the text with a longer part in what is repeated, if copies are to be distinct and too few of them can
    /// be: names of one letter are soon used up.
    fn widened(&mut self, whole: &Rc<Derivation>, pump: &Pump) -> Option<(Rc<Derivation>, Pump)> {
        if pump.copies == Copies::Equal || pump.capacity(whole, self.deriver) >= DISTINCT {
            return None;
        }
        let (mut random, mut drawn) = (Random::new(0), Derivation::default());
        let begin = Instant::now();
        let end = self.end.min(begin + self.end.saturating_duration_since(begin).mul_f64(WIDENING));
        let mut options = Vec::new();
        let mut widest: Option<(Rc<Derivation>, Pump)> = None;
        for part in pump.parts(whole).into_iter().take(WIDENED) {
            for bytes in (1..=LONGER).map(|more| part.len() + more) {
                for _ in 0..DRAWS {
                    if Instant::now() >= end {
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

    fn members(&mut self, of: Repeated, copies: &[u32]) -> Family {
        let cost_limit = self.effort.cost_limit;
        let (growth, time) = (None, None);
        let mut family = Family { of, members: Vec::new(), growth, time, cost_limit };
        let present = family.of.present();
        // Beyond that, copies would be equal again.
        let distinct = family.of.capacity(self.deriver);
        let (mut last_seconds, mut last_copies) = (f64::INFINITY, present);
        for &copies in copies.iter().take_while(|&&copies| u64::from(copies) < distinct) {
            let is_made = family.of.write(copies, self.deriver, &mut self.made);
            let is_over = self.left == 0 || Instant::now() >= self.end;
            if !is_made || self.made.text.len() > self.effort.max_len || is_over {
                break;
            }
            self.left -= 1;
            let begin = Instant::now();
            let Some(Measured { cost, ending, edges, seconds, .. }) = self.measure.run(&self.made.text) else {
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
            // may have cost nothing by then, as where the cost is what it returns. The cost of bytes is time, and a
            // short one says nothing.
            let is_exact = |last: &Member| matches!(family.of, Repeated::Parts { .. }) || last.seconds >= LEAST_TIME;
            if !is_stopped && family.members.last().is_some_and(|last| is_exact(last) && cost < last.cost / 2) {
                break;
            }
            let copies = present.saturating_add(copies);
            let (text, runs) = (self.made.text.clone(), 1);
            family.members.push(Member { copies, text, cost, seconds, runs, is_stopped, edges });
            let took = begin.elapsed();
            if is_stopped || cost / first > TOO_MUCH || cost / first > MUCH && took >= LONG {
                break;
            }
            // If times go on to grow as they do, the next one would take all that is left.
            let growing = seconds / last_seconds.max(1e-9);
            let left = self.end.saturating_duration_since(Instant::now()).as_secs_f64();
            let is_last = took >= LONG && took.as_secs_f64() * growing > left && growing < STEEP;
            // Then sizes that lie closer show more.
            let is_far = copies > last_copies + 1;
            let is_steep = is_far && seconds >= BRIEF && growing > STEEP;
            if matches!(family.of, Repeated::Bytes(_)) && (is_last || is_steep) {
                break;
            }
            (last_seconds, last_copies) = (seconds, copies);
        }
        family
    }
}
