//! The texts that a portfolio varies: those that rank highest by their cost, and for each edge the one that executes it
//! most often. With several costs also those that no other text beats in all of them; if it explores, those with new
//! coverage. An archive of champions has only those of edges.

use std::cmp::Reverse;

use gramjet_session::decisions::{Derivation, Deriver, Outline};
use rustc_hash::FxHashSet;

use super::growth::Growths;
use crate::front::Front;
use crate::maxima::Edge;
use crate::random::Random;

#[cfg(test)]
mod tests;

/// A text with its derivation.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Its derivation, which may lack its parts until [`Archive::complete`] adds them.
    pub(super) derivation: Derivation,
    pub(super) cost: u64,
    /// Number of edges that it executes.
    pub(super) executed: u64,
    /// Number of its variants that were run, and number of those that were stopped at a limit.
    pub(super) picks: u32,
    pub(super) stopped: u32,
    /// Number of systematic changes of its decisions that were looked at.
    pub(super) cursor: usize,
    reasons: Reasons,
    /// Its number among all that were kept.
    pub(super) serial: u64,
}

/// Reasons why a text is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reasons {
    /// The number of edges that it executes most often of all.
    edges: u32,
    /// Whether it is among the texts of the highest rank.
    is_top: bool,
    is_costliest: bool,
    /// No other text beats it in all costs.
    is_trade_off: bool,
    /// Whether it has new coverage, and the search explores.
    is_new: bool,
}

/// Ways of ranking texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Ranking {
    /// By what they cost beyond the cheapest text, divided by the square root of their length, as short texts have room
    /// to grow.
    #[default]
    Room,
    /// By the cost alone.
    Cost,
}

/// Numbers that are compared where texts are ranked. If all else is equal, the shorter text is better.
type Rank = (u64, u64, Reverse<usize>);

/// Merits of a text, as a run shows them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Merits<'m> {
    pub(super) cost: u64,
    /// Number of edges that it executes.
    pub(super) executed: u64,
    /// All costs, if there are several.
    pub(super) costs: &'m [u64],
    pub(super) edges: &'m [Edge],
    /// Whether it has new coverage, and the search explores.
    pub(super) is_new: bool,
}

/// Place of a text that is kept, and the edges that it has gained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    /// The number of its entry.
    number: usize,
    /// Its place among the texts that are kept for their cost, from 0 on.
    pub(super) place: Option<usize>,
    /// The number of edges that it executes most often of all.
    pub(super) edges: usize,
}

/// The number of texts that are kept for their cost.
const TOP: usize = 64;
/// Shorter texts are ranked as if they had this length, in bytes.
const SHORT: usize = 8;
/// The share of draws that take one of them, and not the champion of an edge.
const TOPS: f64 = 0.7;
/// In an archive of champions, the share of draws that look for one whose edge has grown lately.
const GROWING: f64 = 0.5;
/// The one that has grown most of this many edges at random is taken, if any of them has.
const RIVALS: usize = 64;
/// The number of other champions that compete is a power of two with an exponent below this.
const HOTTEST: usize = 9;
/// At most this many further draws, if a text executes too many edges.
const DRAWS: usize = 32;
/// The approximate memory for texts, in bytes. An archive of champions has a quarter of it, and forgets all when it is
/// full. The parts of texts that are varied may exceed it until the next text is kept.
const MOST_BYTES: usize = 256 << 20;

/// The greatest count of an edge, and the text that has it, with its length. The length is in another place, too, but
/// all champions are looked at for each text that has run.
#[derive(Clone, Copy, Debug)]
struct Champion {
    count: u64,
    len: u32,
    holder: u32,
}

impl Champion {
    /// Any text is shorter.
    const NONE: Champion = Champion { count: 0, len: u32::MAX, holder: u32::MAX };

    fn is_none(self) -> bool {
        self.holder == u32::MAX
    }
}

/// A text that is kept for its cost. Its rank and outline are copied here, as each text that has run is compared with
/// them.
#[derive(Clone, Copy, Debug)]
struct Placed {
    number: usize,
    rank: Rank,
    outline: Outline,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Archive {
    /// At most this many texts are kept for their cost; 0 if champions are all that there is.
    most_top: usize,
    /// Once the texts take this much memory, in bytes, none is kept for an edge alone.
    most_bytes: usize,
    entries: Vec<Option<Entry>>,
    free: Vec<usize>,
    ranking: Ranking,
    /// Cost of the cheapest text.
    least_cost: u64,
    /// The texts that are kept for their cost, those of the highest rank first.
    top: Vec<Placed>,
    /// The text that costs most, whatever its rank.
    costliest: Option<usize>,
    /// By edge: the text that executes it most often.
    champions: Vec<Champion>,
    /// The edges with a champion, to draw one.
    edges: Vec<u32>,
    /// Growth of the counts of champions, in an archive of champions.
    growths: Growths,
    /// The texts that no other beats in all costs.
    front: Front<usize>,
    /// The texts with new coverage, in the order in which they were found.
    new: Vec<usize>,
    texts: FxHashSet<Vec<u8>>,
    bytes: usize,
    /// Number of texts that were kept, those before it was cleared included.
    kept: u64,
}

impl Archive {
    /// Returns an archive of the texts that cost most and the champions of edges.
    pub(super) fn new() -> Archive {
        Archive { most_top: TOP, most_bytes: MOST_BYTES, ..Archive::default() }
    }

    /// Returns an archive of the champions of edges alone.
    pub(super) fn of_champions() -> Archive {
        Archive { most_bytes: MOST_BYTES / 4, ..Archive::default() }
    }

    /// Takes over the champions of another archive of champions that execute at most this many edges, while there is
    /// room. Their edges have not grown by that.
    pub(super) fn absorb(&mut self, other: &Archive, most_executed: u64) {
        let growths = std::mem::take(&mut self.growths);
        let champions = other.edges.iter().map(|&edge| {
            let champion = other.champions[edge as usize];
            (champion.holder, (edge, champion.count))
        });
        let mut champions: Vec<(u32, Edge)> = champions.collect();
        champions.sort_unstable();
        for won in champions.chunk_by(|one, next| one.0 == next.0) {
            let entry = other.entry(won[0].0 as usize);
            if entry.executed > most_executed {
                continue;
            }
            if self.bytes + bytes(&entry.derivation) > self.most_bytes {
                break;
            }
            let edges: Vec<Edge> = won.iter().map(|&(_, edge)| edge).collect();
            let merits = Merits { cost: entry.cost, executed: entry.executed, edges: &edges, ..Merits::default() };
            let Some(kept) = self.keep(&entry.derivation, merits) else { continue };
            if let Some(copy) = self.entry_mut(kept.number) {
                let &Entry { picks, stopped, cursor, .. } = entry;
                (copy.picks, copy.stopped, copy.cursor) = (picks, stopped, cursor);
            }
        }
        self.growths = growths;
    }

    /// Drops the champions that execute more than this many edges.
    pub(super) fn drop_slower(&mut self, most_executed: u64) {
        let mut edges = std::mem::take(&mut self.edges);
        edges.retain(|&edge| {
            let champion = &mut self.champions[edge as usize];
            let holder = champion.holder as usize;
            let is_slower = self.entries[holder].as_ref().is_some_and(|entry| entry.executed > most_executed);
            if is_slower {
                *champion = Champion::NONE;
                self.growths.forget(edge);
                self.release(holder, |reasons| reasons.edges -= 1);
            }
            !is_slower
        });
        self.edges = edges;
    }

    /// Drops all texts.
    pub(super) fn clear(&mut self) {
        let mut champions = std::mem::take(&mut self.champions);
        for &edge in &self.edges {
            champions[edge as usize] = Champion::NONE;
        }
        let &mut Archive { most_top, most_bytes, ranking, least_cost, kept, .. } = self;
        *self = Archive { most_top, most_bytes, ranking, least_cost, kept, champions, ..Archive::default() };
    }

    pub(super) fn is_empty(&self) -> bool {
        self.top.is_empty() && self.edges.is_empty()
    }

    pub(super) fn entry(&self, number: usize) -> &Entry {
        self.entries[number].as_ref().expect("a number of an entry")
    }

    /// Returns the text with its parts. Most texts are dropped before anything needs these.
    pub(super) fn complete(&mut self, number: usize, deriver: &mut Deriver) -> &Entry {
        if let Some(entry) = self.entries[number].as_mut().filter(|entry| entry.derivation.parts.is_empty()) {
            self.bytes -= bytes(&entry.derivation);
            deriver.complete(&mut entry.derivation);
            self.bytes += bytes(&entry.derivation);
        }
        self.entry(number)
    }

    pub(super) fn entry_mut(&mut self, number: usize) -> Option<&mut Entry> {
        self.entries.get_mut(number)?.as_mut()
    }

    /// Returns the text at a place with this number, if it is still kept.
    pub(super) fn known_mut(&mut self, (place, serial): (usize, u64)) -> Option<&mut Entry> {
        self.entry_mut(place).filter(|entry| entry.serial == serial)
    }

    /// Ranks texts in another way from now on.
    pub(super) fn rank_by(&mut self, ranking: Ranking, least_cost: u64) {
        if (self.ranking, self.least_cost) == (ranking, least_cost) {
            return;
        }
        (self.ranking, self.least_cost) = (ranking, least_cost);
        let mut top = std::mem::take(&mut self.top);
        top.iter_mut().for_each(|placed| placed.rank = self.rank(placed.number));
        top.sort_by_key(|placed| Reverse(placed.rank));
        self.top = top;
        // Its rank may have been too low before. Another text may have its outline.
        if let Some(costliest) = self.costliest.filter(|&costliest| !self.entry(costliest).reasons.is_top) {
            let place = self.place_of(self.rank(costliest));
            if place < self.most_top {
                if let Some(entry) = self.entry_mut(costliest) {
                    entry.reasons.is_top = true;
                }
                self.insert(place, costliest);
            }
        }
    }

    fn rank(&self, number: usize) -> Rank {
        let Entry { cost, derivation, .. } = self.entry(number);
        self.rank_of(*cost, derivation.text.len())
    }

    fn rank_of(&self, cost: u64, len: usize) -> Rank {
        let value = match self.ranking {
            Ranking::Room => cost.saturating_sub(self.least_cost) as f64 / (len.max(SHORT) as f64).sqrt(),
            Ranking::Cost => cost as f64,
        };
        // The bits of numbers that are not negative have their order.
        (value.to_bits(), cost, Reverse(len))
    }

    /// Returns the place that a text of this rank gets among those that are kept for their cost.
    fn place_of(&self, rank: Rank) -> usize {
        self.top.partition_point(|placed| placed.rank >= rank)
    }

    /// Returns the number of the text that costs most.
    pub(super) fn best(&self) -> Option<usize> {
        self.costliest
    }

    /// Returns the texts that are kept for their cost.
    pub(super) fn top(&self) -> impl Iterator<Item = &Entry> {
        self.top.iter().map(|placed| self.entry(placed.number))
    }

    /// Keeps a text if it costs most, is among those of the highest rank, executes an edge more often than all others,
    /// is not beaten in all costs, or is new; of texts with the same count the shorter one is kept.
    pub(super) fn keep(&mut self, derivation: &Derivation, merits: Merits<'_>) -> Option<Kept> {
        let Merits { cost, executed, costs, edges, is_new } = merits;
        let len = derivation.text.len();
        let bytes = self::bytes(derivation);
        if self.most_top == 0 {
            self.growths.add_text();
            let is_champion = edges.iter().any(|&edge| self.is_beaten(edge, len as u32));
            if !is_champion || bytes > self.most_bytes || self.texts.contains(&derivation.text) {
                return None;
            }
            if self.bytes + bytes > self.most_bytes {
                self.clear();
            }
        }
        let place = self.place_of(self.rank_of(cost, len));
        let is_costlier = |&number: &usize| {
            let entry = self.entry(number);
            (entry.cost, Reverse(entry.derivation.text.len())) >= (cost, Reverse(len))
        };
        let is_costliest = self.most_top > 0 && !self.costliest.as_ref().is_some_and(is_costlier);
        // If several texts have the same outline, only the best of them is kept for its cost. For a text whose rank is
        // too low for that the outline does not matter, unless it costs most: then its rank may change.
        let outline = derivation.outline;
        let alike = if place < self.most_top || is_costliest {
            self.top.iter().position(|placed| placed.outline == outline)
        } else {
            None
        };
        let is_top = place < self.most_top && alike.is_none_or(|alike| place <= alike);
        let won: Vec<Edge> = edges.iter().copied().filter(|&edge| self.is_beaten(edge, len as u32)).collect();
        let is_of_use = is_top || is_costliest || is_new || !costs.is_empty() || !won.is_empty();
        // Most texts are not kept, and not searched for. In an archive of champions this one was.
        if !is_of_use || self.most_top > 0 && self.texts.contains(&derivation.text) {
            return None;
        }
        let number = self.free.last().copied().unwrap_or(self.entries.len());
        let replaced = if costs.is_empty() { None } else { self.front.add(costs, number) };
        let is_trade_off = replaced.is_some();
        let has_room = self.bytes + bytes <= self.most_bytes;
        let is_new = is_new && has_room;
        let reasons = Reasons { edges: 0, is_top, is_costliest, is_trade_off, is_new };
        if reasons == Reasons::default() && (won.is_empty() || !has_room) {
            return None;
        }
        let reasons = Reasons { edges: won.len() as u32, ..reasons };
        let (derivation, (picks, stopped, cursor)) = (derivation.clone(), Default::default());
        self.bytes += bytes;
        let serial = self.kept;
        self.kept += 1;
        let entry = Entry { derivation, cost, executed, picks, stopped, cursor, reasons, serial };
        self.free.pop();
        if number == self.entries.len() {
            self.entries.push(None);
        }
        self.texts.insert(entry.derivation.text.clone());
        self.entries[number] = Some(entry);
        if is_new {
            self.new.push(number);
        }
        for beaten in replaced.into_iter().flatten() {
            self.release(beaten, |reasons| reasons.is_trade_off = false);
        }
        for (edge, count) in won {
            let known = self.champions.len();
            self.champions.resize(known.max(edge as usize + 1), Champion::NONE);
            let champion = Champion { count, len: len as u32, holder: number as u32 };
            let before = std::mem::replace(&mut self.champions[edge as usize], champion);
            if self.most_top == 0 {
                self.growths.add(edge, before.count, count);
            }
            match before {
                none if none.is_none() => self.edges.push(edge),
                _ => self.release(before.holder as usize, |reasons| reasons.edges -= 1),
            }
        }
        if is_top {
            if let Some(alike) = alike {
                let beaten = self.top.remove(alike);
                self.release(beaten.number, |reasons| reasons.is_top = false);
            }
            self.insert(place, number);
        }
        if is_costliest && let Some(before) = self.costliest.replace(number) {
            self.release(before, |reasons| reasons.is_costliest = false);
        }
        Some(Kept { number, place: is_top.then_some(place), edges: reasons.edges as usize })
    }

    #[inline]
    fn is_beaten(&self, (edge, count): Edge, len: u32) -> bool {
        let champion = self.champions.get(edge as usize).unwrap_or(&Champion::NONE);
        champion.count < count || champion.count == count && len < champion.len
    }

    /// Puts a text at a place among those that are kept for their cost; the last one gives way.
    fn insert(&mut self, place: usize, number: usize) {
        let placed = Placed { number, rank: self.rank(number), outline: self.entry(number).derivation.outline };
        self.top.insert(place, placed);
        if self.top.len() > self.most_top
            && let Some(last) = self.top.pop()
        {
            self.release(last.number, |reasons| reasons.is_top = false);
        }
    }

    /// Drops a text that is kept for nothing any more.
    fn release(&mut self, number: usize, change: impl FnOnce(&mut Reasons)) {
        let Some(entry) = self.entries[number].as_mut() else { return };
        change(&mut entry.reasons);
        if entry.reasons == Reasons::default() {
            self.bytes -= bytes(&entry.derivation);
            self.texts.remove(&entry.derivation.text);
            self.entries[number] = None;
            self.free.push(number);
        }
    }

    /// Returns a text to vary: mostly one of those that rank highest, else the champion of an edge, rather of one that
    /// is executed often. In an archive of champions, half of the draws look for one whose edge has grown lately. Texts
    /// that execute more than `most_executed` edges are avoided.
    pub(super) fn pick(&self, random: &mut Random, most_executed: u64) -> Option<usize> {
        let mut number = self.draw_quick(random, most_executed)?;
        if self.most_top == 0
            && random.unit() < GROWING
            && let Some(growing) = self.draw_growing(random, most_executed)
        {
            number = growing;
        }
        for _ in 0..8 {
            let entry = self.entry(number);
            // Texts whose variants do not end are varied less.
            if random.unit() * f64::from(entry.picks + 1) >= f64::from(entry.stopped) {
                break;
            }
            number = self.draw_quick(random, most_executed)?;
        }
        Some(number)
    }

    /// Draws texts until one executes at most `most_executed` edges. After some draws it takes the quickest of them.
    fn draw_quick(&self, random: &mut Random, most_executed: u64) -> Option<usize> {
        let mut quickest = self.draw(random)?;
        for _ in 0..DRAWS {
            if self.entry(quickest).executed <= most_executed {
                break;
            }
            let other = self.draw(random)?;
            if self.entry(other).executed < self.entry(quickest).executed {
                quickest = other;
            }
        }
        Some(quickest)
    }

    /// Returns the champion whose edge has grown most lately among some that are drawn at random, if any has.
    fn draw_growing(&self, random: &mut Random, most_executed: u64) -> Option<usize> {
        if self.edges.is_empty() || !self.growths.has_grown() {
            return None;
        }
        let drawn = (0..RIVALS).map(|_| self.edges[random.below(self.edges.len())]);
        let holder = |edge: u32| self.champions[edge as usize].holder as usize;
        let picks = |edge: u32| {
            let entry = self.entry(holder(edge));
            (entry.executed <= most_executed).then_some(entry.picks)
        };
        self.growths.greatest(drawn, picks).map(holder)
    }

    /// Draws a text to take parts of: any, however much it costs, in a third of all cases.
    pub(super) fn draw_other(&self, random: &mut Random) -> Option<usize> {
        match random.below(3) {
            0 if !self.edges.is_empty() => {
                let edge = self.edges[random.below(self.edges.len())];
                Some(self.champions[edge as usize].holder as usize)
            }
            _ => self.draw(random),
        }
    }

    fn draw(&self, random: &mut Random) -> Option<usize> {
        if self.is_empty() {
            return None;
        }
        if !self.new.is_empty() && random.below(2) == 0 {
            return Some(self.rather_unused(random));
        }
        if !self.front.is_empty() && random.below(2) == 0 {
            return Some(*self.front.at(random.below(self.front.len())));
        }
        if !self.top.is_empty() && (self.edges.is_empty() || random.unit() < TOPS) {
            let skewed = random.unit().powi(3);
            return Some(self.top[(skewed * self.top.len() as f64) as usize].number);
        }
        // Where champions are all that there is, mostly those of the hottest edges: such a text may be one step from a
        // costly one, but is one of hundreds.
        let contestants = if self.most_top == 0 { 1 << random.below(HOTTEST) } else { 2 };
        Some(self.hottest_of(contestants, random).holder as usize)
    }

    /// Returns the champion with the greatest count among some that are drawn at random.
    fn hottest_of(&self, contestants: u32, random: &mut Random) -> Champion {
        let drawn = (0..contestants).map(|_| self.champions[self.edges[random.below(self.edges.len())] as usize]);
        drawn.max_by_key(|champion| (champion.count, champion.holder)).unwrap_or(Champion::NONE)
    }
}

impl Archive {
    /// Returns the text that was varied least among three texts with new coverage that are drawn at random.
    fn rather_unused(&self, random: &mut Random) -> usize {
        let drawn: [usize; 3] = std::array::from_fn(|_| self.new[random.below(self.new.len())]);
        drawn.into_iter().min_by_key(|&number| self.entry(number).picks).unwrap_or(drawn[0])
    }
}

#[cfg(test)]
impl Archive {
    /// Returns the numbers of all texts.
    pub(super) fn numbers(&self) -> impl Iterator<Item = usize> {
        (0..self.entries.len()).filter(|&number| self.entries[number].is_some())
    }

    /// Returns true if the memory that it counts is that of its texts.
    pub(super) fn counts_its_bytes(&self) -> bool {
        self.bytes == self.numbers().map(|number| bytes(&self.entry(number).derivation)).sum::<usize>()
    }
}

/// Returns about how much memory a derivation takes, its text twice. Parts that are not made yet do not count.
fn bytes(derivation: &Derivation) -> usize {
    let Derivation { text, decisions, parts, .. } = derivation;
    2 * text.len() + size_of_val(&**decisions) + size_of_val(&**parts)
}
