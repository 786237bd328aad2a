//! A survey of long texts: looks for texts that repeat a few bytes, whose time grows faster than their length.
//!
//! Much slow work counts nothing, such as that of a regular expression, and shows only in texts of kilobytes that end
//! in a way that makes it fail late. So a text is put together as people do who attack programs by hand: something
//! before, a piece many times, something after. The pieces come from texts of the language, and the text as a whole
//! need not be in it. Its time at several lengths shows how it grows, and the texts that would take longest at a
//! greater length are varied further.

use std::collections::{HashSet, VecDeque};

use gramjet_compiler::formats::Pump;
use gramjet_session::Language;
use gramjet_session::decisions::{Around, Chooser, Derivation, Deriver, OpenSite, Stretch};

use crate::digest::digest;
use crate::random::{Random, Seed};

mod pieces;
#[cfg(test)]
mod tests;

use pieces::Pieces;

/// Length of texts, in bytes, at first, and the least one where the program is slow.
const LONG: usize = 4096;
const LEAST_LONG: usize = 512;
/// Ways to nest that are tried first.
const NESTED: usize = 96;
/// Texts for regular expressions of the program between two ways to nest.
const PUMPS_AT_ONCE: usize = 2;
/// Length of the second of the texts that repeat a piece; further ones are four times as long.
const SHORT: usize = 64;
/// The texts of which an exponent is are about this many times as long as each other.
const TIMES: usize = 4;
/// A text that takes longer is long enough, in seconds.
const ENOUGH: f64 = 0.2;
/// Texts are made shorter if the median of their times is greater, in seconds.
const SLOW: f64 = 0.05;
/// Number of times of which the median is taken.
const RECENT: usize = 7;
/// A shorter time says nothing, in seconds, nor does a difference below this part of the time of an empty run.
const GRAIN: f64 = 20e-6;
const NOISE: f64 = 0.2;
/// The time has to be this many times the grain.
const SIGNAL: f64 = 4.0;
/// The length at which texts are compared, by what they are expected to take there.
const COMPARED: f64 = (64 << 10) as f64;
/// Texts that are kept, and of those the ones with the same piece.
const KEPT: usize = 24;
const ALIKE: usize = 2;
/// Number of texts that were stopped which are enough.
const MANY: usize = 4;
/// Times that a text is timed again before it is kept.
const AGAIN: usize = 2;
/// Greatest exponent that two lengths show.
const STEEPEST: f64 = 8.0;
/// Texts whose exponent is greater grow fast.
const FAST: f64 = 1.3;
/// Attempts to make a text simpler, and one that was stopped.
const SIMPLER: usize = 48;
const SIMPLER_STOPPED: usize = 12;
/// A simpler text has this share of the expected time, and of the exponent.
const NEARLY: f64 = 0.25;
const LOWER: f64 = 0.75;

/// Time of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    /// Processor time, in seconds; where the run was stopped, the time until then.
    pub seconds: f64,
    /// Whether the run was stopped at a limit.
    pub is_stopped: bool,
}

/// Runs a text and takes its time; returns nothing if no more runs are wanted.
pub type Timer<'t> = dyn FnMut(&[u8]) -> Option<Timed> + 't;

/// A text that grows fast.
#[derive(Clone, Debug, PartialEq)]
pub struct Promising {
    /// The text, with as many copies as are wanted.
    pub stretch: Stretch,
    /// Exponent by which the time grows with the length.
    pub exponent: f64,
    /// Time of the longest text, in seconds.
    pub seconds: f64,
    /// Whether the longest text was stopped at a limit.
    pub is_stopped: bool,
    /// Logarithm of the time that is expected of a much longer text.
    expected: f64,
}

impl Promising {
    /// Returns true if its time grows clearly faster than its length.
    pub fn is_fast(&self) -> bool {
        self.exponent > FAST
    }
}

/// A search among texts that repeat bytes.
#[derive(Debug)]
pub struct Survey<'l> {
    language: &'l Language,
    deriver: Deriver,
    drawn: Derivation,
    random: Random,
    pieces: Pieces,
    /// Texts that are tried before others.
    first: VecDeque<Stretch>,
    /// The best texts, the one that is expected to take longest first.
    kept: Vec<Promising>,
    /// Digests of texts that were made.
    known: HashSet<u64>,
    long: usize,
    longest: usize,
    /// The time of a run that does nearly nothing.
    least: f64,
    recent: VecDeque<f64>,
    tried: u64,
    runs: u64,
}

impl<'l> Survey<'l> {
    /// Returns a survey that takes pieces from these texts, and from texts of the language of at most `max_len` bytes.
    /// `pumps` has texts for each regular expression of the program, as far as they are known: see
    /// [`gramjet_compiler::formats::pumps`].
    pub fn new(
        language: &'l Language,
        texts: &[Vec<u8>],
        pumps: &[Vec<Pump>],
        max_len: usize,
        seed: Seed,
    ) -> Survey<'l> {
        let deriver = language.deriver(Some((max_len as u64).max(language.min_len())));
        let (nested, repeated) = {
            let mut deriver = language.deriver(None);
            (deriver.stretches(), deriver.repetitions())
        };
        let mut random = Random::new(seed.number());
        let pieces = Pieces::new(language.tokens(), texts, pumps);
        let nested = nested.into_iter().filter(|stretch| stretch.is_nested).take(NESTED);
        let ends: Vec<[Stretch; 3]> = nested.chain(repeated).map(|stretch| with_ends(stretch, &mut random)).collect();
        let first = VecDeque::from(in_turns(ends, &pieces));
        Survey {
            language,
            deriver,
            drawn: Derivation::default(),
            random,
            pieces,
            first,
            kept: Vec::new(),
            known: HashSet::new(),
            long: LONG,
            longest: 0,
            least: 0.0,
            recent: VecDeque::new(),
            tried: 0,
            runs: 0,
        }
    }

    /// Returns the number of texts that were tried, each at several lengths.
    pub fn tried(&self) -> u64 {
        self.tried
    }

    /// Returns the greatest length of the texts, in bytes.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Tries one text. Returns false if no more runs are wanted.
    pub fn step(&mut self, timer: &mut Timer<'_>) -> bool {
        if self.runs == 0 && self.calibrate(timer).is_none() {
            return false;
        }
        let Some(stretch) = self.next() else { return true };
        self.tried += 1;
        let Some(found) = self.look(&stretch, 1, timer) else { return false };
        let Some(found) = found else { return true };
        if !self.is_good(&found) {
            return true;
        }
        if found.is_stopped {
            self.keep(found);
            return true;
        }
        // Chance makes runs slower, never quicker.
        match self.look(&stretch, AGAIN, timer) {
            None => return false,
            Some(again) => self.keep(again.filter(|again| again.expected < found.expected).unwrap_or(found)),
        }
        true
    }

    /// Returns true if enough texts were stopped at the limit: further ones take long and show nothing new.
    pub fn has_enough(&self) -> bool {
        self.kept.iter().filter(|kept| kept.is_stopped).count() >= MANY
    }

    /// Returns the texts that grow fast, the one that is expected to take longest first; of those with the same piece,
    /// one.
    pub fn fast(&self) -> Vec<Promising> {
        let mut pieces = HashSet::new();
        let fast = self.kept.iter().filter(|kept| kept.is_fast());
        fast.filter(|kept| pieces.insert(kept.stretch.each.clone())).cloned().collect()
    }

    /// Leaves out what a text does not need to grow as fast.
    pub fn simplified(&mut self, promising: &Promising, timer: &mut Timer<'_>) -> Promising {
        let mut best = promising.clone();
        let mut left = if best.is_stopped { SIMPLER_STOPPED } else { SIMPLER };
        loop {
            let before = best.stretch.clone();
            for simpler in simpler(&before) {
                if left == 0 {
                    return best;
                }
                let simpler = plainest(simpler);
                if simpler.each.is_empty() || simpler == before {
                    continue;
                }
                left -= 1;
                let Some(found) = self.look(&simpler, 1, timer) else { return best };
                let is_near = |found: &Promising| {
                    found.expected >= best.expected + NEARLY.ln() && found.exponent >= FAST.max(LOWER * best.exponent)
                };
                if let Some(found) = found.filter(is_near) {
                    best = Promising { expected: best.expected.max(found.expected), ..found };
                    break;
                }
            }
            if best.stretch == before {
                return best;
            }
        }
    }

    /// Measures a run that does nearly nothing.
    fn calibrate(&mut self, timer: &mut Timer<'_>) -> Option<()> {
        let mut shortest = Derivation::default();
        self.language.deriver(None).replay(&[], &mut shortest);
        let mut least = f64::INFINITY;
        for _ in 0..=AGAIN {
            self.runs += 1;
            let timed = timer(&shortest.text)?;
            if timed.is_stopped {
                // The program takes long for each text.
                return None;
            }
            least = least.min(timed.seconds);
        }
        self.least = least;
        Some(())
    }

    /// Returns the next text, if one was found that is new.
    fn next(&mut self) -> Option<Stretch> {
        for _ in 0..16 {
            let takes_first = self.kept.is_empty() || self.random.below(2) == 0;
            let stretch = match if takes_first { self.first.pop_front() } else { None } {
                Some(first) => first,
                None if !self.kept.is_empty() && self.random.below(5) < 2 => self.varied(),
                None => self.fresh(),
            };
            let stretch = plainest(stretch);
            let mut text = Vec::new();
            stretch.write(2, &mut text);
            if !stretch.each.is_empty() && stretch.len(1) * TIMES < self.long && self.known.insert(digest(&text)) {
                return Some(stretch);
            }
        }
        None
    }

    /// Returns a variant of a text that was kept.
    fn varied(&mut self) -> Stretch {
        // Better ones are varied more. Those that were stopped need no better one.
        let first = self.random.below(self.kept.len());
        let rank = self.random.below(first + 1);
        let parent = &self.kept[rank];
        if parent.is_stopped {
            return self.fresh();
        }
        let stretch = parent.stretch.clone();
        self.pieces.varied(stretch, &mut self.random)
    }

    /// Returns a text that was not there before: in half of them a piece is from a new text of the language.
    fn fresh(&mut self) -> Stretch {
        let has_pump = self.pieces.has_pumps() && self.random.below(3) == 0;
        if self.pieces.is_empty() || self.random.below(2) == 0 {
            let mut chooser = Any(&mut self.random);
            self.deriver.derive(&[], &mut chooser, &mut self.drawn);
            let parts: Vec<(usize, usize)> =
                self.drawn.parts.iter().map(|part| (part.text.0 as usize, part.text.1 as usize)).collect();
            self.pieces.add(&self.drawn.text);
            return match has_pump {
                true => self.pieces.with_pump(&self.drawn.text, &parts, &mut self.random),
                false => self.pieces.pumped(&self.drawn.text, &parts, &mut self.random),
            };
        }
        let text = self.pieces.text(&mut self.random);
        match has_pump {
            true => self.pieces.with_pump(&text, &[], &mut self.random),
            false => self.pieces.pumped(&text, &[], &mut self.random),
        }
    }

    /// Takes the time of a text at several lengths, each four times the one before, until a run takes long. Each length
    /// is run `times` times. The outer result is `None` if no more runs are wanted, the inner one if no growth is seen.
    fn look(&mut self, stretch: &Stretch, times: usize, timer: &mut Timer<'_>) -> Option<Option<Promising>> {
        let mut known: Vec<(usize, f64)> = Vec::new();
        let mut levels = 1;
        loop {
            let mut least = Timed { seconds: f64::INFINITY, is_stopped: false };
            for _ in 0..times {
                let timed = self.timed(stretch, levels, timer)?;
                if timed.seconds < least.seconds {
                    least = timed;
                }
                if timed.is_stopped {
                    break;
                }
            }
            let len = stretch.len(levels);
            if least.is_stopped && known.is_empty() {
                // The rest of the text may be what takes long.
                return Some(None);
            }
            if least.is_stopped {
                return Some(Some(self.stopped(stretch, &known, (len, least.seconds))));
            }
            known.push((len, least.seconds));
            if len >= self.long || least.seconds > ENOUGH {
                break;
            }
            let next = if len < SHORT { (SHORT.saturating_sub(stretch.len(0)) / stretch.each.len()).max(1) } else { 0 };
            levels = next
                .max(TIMES * levels)
                .min((self.long.saturating_sub(stretch.len(0)) / stretch.each.len()).max(levels + 1));
        }
        self.remember(&known);
        Some(self.promising(stretch, &known))
    }

    /// Returns a text that was stopped at a length.
    fn stopped(&self, stretch: &Stretch, known: &[(usize, f64)], (len, seconds): (usize, f64)) -> Promising {
        let before = known.last().map_or(self.least, |&(_, seconds)| seconds);
        let exponent = ((seconds / before.max(GRAIN)).ln() / (TIMES as f64).ln()).clamp(2.0 * FAST, STEEPEST);
        let expected = seconds.ln() + exponent * (COMPARED / len as f64).ln();
        Promising { stretch: stretch.clone(), exponent, seconds, expected, is_stopped: true }
    }

    /// Returns what the times of several lengths say: the exponent is that of the longest one and of one that is much
    /// shorter.
    fn promising(&self, stretch: &Stretch, known: &[(usize, f64)]) -> Option<Promising> {
        let grain = GRAIN.max(NOISE * self.least);
        let &(long, long_time) = known.last()?;
        let &(short, short_time) = known.iter().rev().find(|&&(len, _)| len * (TIMES - 1) <= long)?;
        let (seconds, shorter) = (long_time - self.least, (short_time - self.least).max(grain));
        if seconds < SIGNAL * grain {
            return None;
        }
        let exponent = ((seconds / shorter).ln() / (long as f64 / short as f64).ln()).clamp(0.0, STEEPEST);
        let expected = seconds.ln() + exponent * (COMPARED / long as f64).ln();
        Some(Promising { stretch: stretch.clone(), exponent, seconds: long_time, expected, is_stopped: false })
    }

    /// Takes the time of a text with `levels` copies.
    fn timed(&mut self, stretch: &Stretch, levels: usize, timer: &mut Timer<'_>) -> Option<Timed> {
        let mut text = Vec::new();
        stretch.write(levels, &mut text);
        self.runs += 1;
        self.longest = self.longest.max(text.len());
        timer(&text)
    }

    /// Remembers what the longest text takes, and shortens texts where most take long.
    fn remember(&mut self, known: &[(usize, f64)]) {
        let Some(&(len, seconds)) = known.last() else { return };
        // One that was ended early would have taken longer.
        self.recent.push_back(seconds * (self.long as f64 / len as f64).max(1.0));
        if self.recent.len() < RECENT {
            return;
        }
        let mut sorted: Vec<f64> = self.recent.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        if sorted[RECENT / 2] > SLOW && self.long > LEAST_LONG {
            self.long /= 2;
            self.recent.clear();
        } else {
            self.recent.pop_front();
        }
    }

    /// Returns true if a text would be kept.
    fn is_good(&self, found: &Promising) -> bool {
        self.kept.len() < KEPT || self.kept.last().is_some_and(|last| found.expected > last.expected)
    }

    fn keep(&mut self, found: Promising) {
        if !self.is_good(&found) {
            return;
        }
        self.pieces.prefer(&found.stretch);
        let at = self.kept.partition_point(|kept| kept.expected >= found.expected);
        let each = found.stretch.each.clone();
        self.kept.insert(at, found);
        let mut alike = 0;
        self.kept.retain(|kept| {
            alike += usize::from(kept.stretch.each == each);
            kept.stretch.each != each || alike <= ALIKE
        });
        self.kept.truncate(KEPT);
    }
}

/// Returns the texts that are tried first: what ends in a wrong way, with texts for regular expressions between, then
/// all others. No kind keeps another from its turn.
fn in_turns(ends: Vec<[Stretch; 3]>, pieces: &Pieces) -> Vec<Stretch> {
    let (mut first, mut of_pumps) = (Vec::new(), pieces.pumps());
    for [broken, ..] in &ends {
        first.push(broken.clone());
        first.extend(of_pumps.by_ref().take(PUMPS_AT_ONCE));
    }
    let mut others = pieces.alone().chain(ends.into_iter().flat_map(|[_, cut, whole]| [cut, whole]));
    loop {
        let next = [of_pumps.next(), others.next()];
        if next.iter().all(Option::is_none) {
            return first;
        }
        first.extend(next.into_iter().flatten());
    }
}

/// Returns variants of a text that is stretched: one that ends in a wrong way, one that is cut off, and the whole text.
fn with_ends(stretch: Stretch, random: &mut Random) -> [Stretch; 3] {
    let cut = Stretch { each: open(&stretch.each), around: open(&stretch.around), ..stretch.clone() };
    let mut broken = cut.clone();
    broken.around.after = pieces::junk(random);
    [broken, cut, stretch]
}

/// Returns the same texts, in which only one piece is repeated if one is enough.
fn plainest(mut stretch: Stretch) -> Stretch {
    let inner = std::mem::take(&mut stretch.inner);
    if stretch.each.after.is_empty() {
        stretch.around.after.splice(..0, inner);
    } else if stretch.each.before.is_empty() {
        stretch.around.before.extend(inner);
        stretch.each.before = std::mem::take(&mut stretch.each.after);
    } else {
        stretch.inner = inner;
    }
    stretch.is_nested = !stretch.each.after.is_empty();
    stretch
}

fn open(around: &Around) -> Around {
    Around { before: around.before.clone(), after: Vec::new() }
}

/// Returns texts that have less than this one, those that lack most first.
fn simpler(stretch: &Stretch) -> Vec<Stretch> {
    let mut all = Vec::new();
    let fields: [fn(&mut Stretch) -> &mut Vec<u8>; 5] = [
        |stretch| &mut stretch.around.before,
        |stretch| &mut stretch.around.after,
        |stretch| &mut stretch.inner,
        |stretch| &mut stretch.each.after,
        |stretch| &mut stretch.each.before,
    ];
    let mut shorter = |cut: &dyn Fn(&mut Vec<u8>) -> bool| {
        for field in fields {
            let mut next = stretch.clone();
            if cut(field(&mut next)) {
                all.push(next);
            }
        }
    };
    let is_cut = |bytes: &mut Vec<u8>, at: std::ops::Range<usize>| {
        let has_some = !at.is_empty();
        bytes.drain(at);
        has_some
    };
    shorter(&|bytes| is_cut(bytes, 0..bytes.len()));
    shorter(&|bytes| is_cut(bytes, 0..bytes.len() / 2));
    shorter(&|bytes| is_cut(bytes, bytes.len().div_ceil(2)..bytes.len()));
    shorter(&|bytes| bytes.len() > 1 && is_cut(bytes, 0..1));
    shorter(&|bytes| bytes.len() > 1 && is_cut(bytes, bytes.len() - 1..bytes.len()));
    all
}

/// Each option that is offered is equally probable, those included that are only read.
struct Any<'r>(&'r mut Random);

impl Chooser for Any<'_> {
    fn choose(&mut self, site: &OpenSite<'_>) -> u32 {
        match site.offered() {
            0 | 1 => 0,
            offered => self.0.below(offered as usize) as u32,
        }
    }
}
