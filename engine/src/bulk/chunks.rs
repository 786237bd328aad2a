//! Chunks: sequences of frames that one step takes from the stack as a whole. A frame that decides little is drawn
//! together with the next ones.

use arrayvec::ArrayVec;
use rustc_hash::FxHashMap;

use super::frames::{Depth, Frame, Item, Step};
use super::unfold::{Beginning, FRAMES, OPEN, Open, Stream};

/// A chunk has at most this many frames: its first choice can then always be made (see [`super::unfold::FRAMES`]).
const MAX_FRAMES: usize = 3;
/// Frames of a chunk differ in depth by less than this.
const MAX_SPREAD: u32 = 4;
/// A chunk that decides this many bits is not made longer.
const BITS: f64 = 6.0;
/// The cost of a chunk that decides nothing, in steps, in addition to its own step.
const WASTE: f64 = 0.3;
/// The cost of a chunk that is made only because there would otherwise be too many.
const REFUSED: f64 = 1e3;
/// Distance ahead to which bits are counted.
const AHEAD: u32 = 6;

/// Frames, each with how much less is left of the depth than at the one with most; `None` where no limit matters.
type Chunk = Box<[Part]>;
/// A frame of a chunk.
type Part = (Frame, Option<u32>);

/// The chunks in use, by number.
#[derive(Clone, Default)]
pub(crate) struct Chunks {
    chunks: Vec<Chunk>,
    numbers: FxHashMap<Chunk, u32>,
    bits: FxHashMap<Item, f64>,
    /// Frequency with which chunks of several frames would be pushed.
    wanted: FxHashMap<Chunk, f64>,
    policy: Policy,
}

/// Rule that says when frames are joined to chunks. The best one depends on the grammar, so it is tried.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Policy {
    /// A new chunk is pushed in this many times the threshold of the steps.
    pub(crate) often: f64,
    /// The cost, in steps, of joining frames that both decide much.
    pub(crate) large: f64,
}

/// A chunk on the stack: its number and how much less is left of the depth than at the step that pushed it.
pub(crate) type Push = (u32, u32);

impl Chunks {
    /// Returns a set without chunks, which are to be made by a policy.
    pub(crate) fn new(policy: Policy) -> Chunks {
        Chunks { policy, ..Chunks::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Returns the chunks that are in use, and the new number of each.
    pub(crate) fn only(&self, used: &[bool]) -> (Chunks, Vec<u32>) {
        let mut kept = Chunks::new(self.policy);
        let numbers = self.chunks.iter().zip(used);
        let numbers = numbers.map(|(chunk, &used)| if used { kept.number(chunk) } else { u32::MAX }).collect();
        (kept, numbers)
    }

    /// Returns the frames of a chunk where `depth` is left at most, and how little that is.
    pub(crate) fn items(&self, chunk: u32, depth: Depth) -> Open {
        let at = |below: Option<u32>| below.map_or(Depth::ANY, |below| depth.less(below));
        self.chunks[chunk as usize].iter().map(|&(frame, below)| (frame, at(below))).collect()
    }

    /// Returns how much less is left at most at one of a chunk's frames than at another.
    pub(crate) fn spread(&self, chunk: u32) -> u32 {
        self.chunks[chunk as usize].iter().filter_map(|&(_, below)| below).max().unwrap_or(0)
    }

    /// Returns true if no limit matters in all of a chunk's frames.
    pub(crate) fn is_free(&self, chunk: u32) -> bool {
        self.chunks[chunk as usize].iter().all(|(_, below)| below.is_none())
    }

    fn number(&mut self, chunk: &[Part]) -> u32 {
        if let Some(&number) = self.numbers.get(chunk) {
            return number;
        }
        let next = self.chunks.len() as u32;
        self.numbers.insert(chunk.into(), next);
        self.chunks.push(chunk.into());
        next
    }

    /// Returns the frames as one chunk, and how much less than at `base` is left at the one with most.
    fn chunk(items: &[Item], base: Depth) -> (ArrayVec<Part, FRAMES>, u32) {
        let below = |&(_, depth): &Item| depth.below(base);
        let least = items.iter().filter_map(below).min().unwrap_or(0);
        (items.iter().map(|item| (item.0, below(item).map(|below| below - least))).collect(), least)
    }

    /// Returns the number of the chunk that these frames are.
    pub(crate) fn whole(&mut self, items: &[Item], base: Depth) -> Push {
        let (chunk, less) = Chunks::chunk(items, base);
        (self.number(&chunk), less)
    }

    /// Records which chunks would serve best for the open frames of a beginning, with this frequency.
    pub(crate) fn want(&mut self, stream: &Stream<'_>, beginning: &Beginning, base: Depth, flow: f64) {
        if beginning.open.len() < 2 {
            return;
        }
        let base = if beginning.end.is_some() { stream.start_depth() } else { base };
        let cuts = self.cut(stream, &beginning.open, base, |_, _| true);
        for pair in cuts.windows(2).filter(|pair| pair[1] > pair[0] + 1) {
            let chunk = Chunks::chunk(&beginning.open[pair[0]..pair[1]], base).0;
            match self.wanted.get_mut(&*chunk) {
                Some(wanted) => *wanted += flow,
                None => _ = self.wanted.insert((*chunk).into(), flow),
            }
        }
    }

    /// Forgets the wanted chunks.
    pub(crate) fn forget_wanted(&mut self) {
        self.wanted.clear();
    }

    /// Returns the open frames of a beginning, as chunks, the next first. New chunks of several frames are made only if
    /// they were wanted often enough. With `alone` the first frame is a chunk of its own.
    pub(crate) fn partition(
        &mut self,
        stream: &Stream<'_>,
        beginning: &Beginning,
        base: Depth,
        threshold: f64,
        alone: bool,
    ) -> ArrayVec<Push, OPEN> {
        let base = if beginning.end.is_some() { stream.start_depth() } else { base };
        let open = &beginning.open;
        if open.len() < 2 {
            return open.iter().map(|&item| self.whole(&[item], base)).collect();
        }
        let cuts = self.cut(stream, open, base, |chunks, (from, to)| {
            let chunk = Chunks::chunk(&open[from..to], base).0;
            let may_be = || chunks.wanted.get(&*chunk).is_some_and(|&wanted| wanted >= chunks.policy.often * threshold);
            !(alone && from == 0) && (chunks.numbers.contains_key(&*chunk) || may_be())
        });
        cuts.windows(2).map(|pair| self.whole(&open[pair[0]..pair[1]], base)).collect()
    }

    /// Returns the best places to cut frames into chunks, [`OPEN`] at most. Chunks of several frames must be allowed,
    /// unless there would otherwise be too many chunks.
    fn cut(
        &mut self,
        stream: &Stream<'_>,
        open: &[Item],
        base: Depth,
        allowed: impl Fn(&Chunks, (usize, usize)) -> bool,
    ) -> ArrayVec<usize, { OPEN + 1 }> {
        let bits: ArrayVec<f64, FRAMES> = open.iter().map(|&item| self.bits(stream, item, AHEAD)).collect();
        // The best ways to cut the frames from each one on into at most a given number of chunks: the cost, and where
        // the first chunk ends.
        let mut best = [[(f64::INFINITY, 0); OPEN + 1]; FRAMES + 1];
        best[open.len()] = [(0.0, 0); OPEN + 1];
        for from in (0..open.len()).rev() {
            for to in from + 1..=open.len().min(from + MAX_FRAMES) {
                let several = to > from + 1;
                let refused = several && !(near(&open[from..to], base) && allowed(self, (from, to)));
                let cost = cost(&bits[from..to], self.policy.large) + if refused { REFUSED } else { 0.0 };
                for chunks in 1..=OPEN {
                    let cost = cost + best[to][chunks - 1].0;
                    if cost < best[from][chunks].0 {
                        best[from][chunks] = (cost, to);
                    }
                }
            }
        }
        let mut cuts = ArrayVec::from_iter([0]);
        while cuts[cuts.len() - 1] < open.len() {
            let left = OPEN + 1 - cuts.len();
            cuts.push(best[cuts[cuts.len() - 1]][left].1);
        }
        cuts
    }

    /// Returns about how many bits a frame decides, up to [`BITS`] or a little more.
    fn bits(&mut self, stream: &Stream<'_>, item: Item, ahead: u32) -> f64 {
        if ahead == AHEAD
            && let Some(&bits) = self.bits.get(&item)
        {
            return bits;
        }
        let bits = self.count_bits(stream, item, ahead);
        if ahead == AHEAD {
            self.bits.insert(item, bits);
        }
        bits
    }

    fn count_bits(&mut self, stream: &Stream<'_>, item: Item, ahead: u32) -> f64 {
        if ahead == 0 {
            return BITS;
        }
        let mut total = 0.0;
        match stream.grammar.step(item, stream.floor) {
            Step::Text(..) => {}
            Step::End | Step::Unknown => return BITS,
            Step::Push(items) => {
                for item in items.into_iter().flatten() {
                    total += self.bits(stream, item, ahead - 1);
                }
            }
            Step::PushAll(items) => {
                for &item in items.iter() {
                    total += self.bits(stream, item, ahead - 1);
                }
            }
            Step::Choice => {
                let count = stream.grammar.option_count(item.0);
                if count >= 64 {
                    return BITS;
                }
                for &(share, ref items) in stream.grammar.options(item, stream.floor).iter() {
                    total += share * approximate_bits(share);
                    for &item in items.iter() {
                        if total < BITS {
                            total += share * self.bits(stream, item, ahead - 1);
                        }
                    }
                }
            }
        }
        total
    }
}

/// Returns the cost of a chunk of frames that decide these numbers of bits, in steps: one, and a part of one if it
/// decides little; `large` in addition if it joins frames that both decide much.
fn cost(bits: &[f64], large: f64) -> f64 {
    let total: f64 = bits.iter().sum();
    let last = bits[bits.len() - 1];
    let is_large = bits.len() > 1 && total - last >= BITS && last >= BITS;
    1.0 + WASTE * (1.0 - total.min(BITS) / BITS) + if is_large { large } else { 0.0 }
}

/// Returns true if the depths are near enough for one chunk.
fn near(items: &[Item], base: Depth) -> bool {
    let below = || items.iter().filter_map(|&(_, depth)| depth.below(base));
    match (below().min(), below().max()) {
        (Some(least), Some(most)) => most - least < MAX_SPREAD,
        _ => true,
    }
}

/// Returns -log2 of a probability, linear between powers of two: the same on every machine.
fn approximate_bits(probability: f64) -> f64 {
    let bits = probability.to_bits();
    let exponent = (bits >> 52 & 0x7FF) as f64 - 1023.0;
    let mantissa = (bits & ((1 << 52) - 1)) as f64 / (1u64 << 52) as f64;
    -(exponent + mantissa)
}
