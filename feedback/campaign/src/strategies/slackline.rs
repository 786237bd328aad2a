//! SlackLine and SlackLineMC: parts of good texts in other good texts (Alsaeed & Young, *Finding Short Slow Inputs
//! Faster with Grammar-Based Search*, ISSTA 2023).
//!
//! A *frontier* holds texts that cost more than all before, that were new, or whose cost has a much higher rank than
//! that of the text that they were made from. Each of its texts is changed at one instance of a rule: to an instance
//! of the same rule in another text (a *hybrid*), or else to a random one (a *mutant*), never beyond the limit on
//! length. SlackLine takes the texts in turn, SlackLineMC by a score.
//!
//! Differences from the published program:
//!
//! | | published | here, without the published constants |
//! |---|---|---|
//! | chunks are told apart by | text | rule and text, as the paper says |
//! | seeds | are not run, and cost 0; may be equal | are run, and differ |
//! | factor by which the frontier grows before the next winnow | 1 (`int(1.5)`) | 1.5, as the paper says |
//! | texts that a winnow keeps for their cost | do not count in its maxima | count |
//! | after 15 hybrids and mutants that are known | more of both | a mutant |
//! | a character of at least five | first a run of digits, letters and so on, then one of it | each is equally probable |
//!
//! In both cases: ranks are exact, not those of a t-digest. A winnow uses the counts of the first run of each text and
//! runs nothing, so seeds that were not run do not survive one. Instances that decide nothing are no points. If a
//! grammar's pools change a hybrid, it is tried as it is. If the frontier takes more than 256 MiB, it is winnowed at
//! once, and the cheapest texts go until it takes half of that. Texts that are known are forgotten when there are four
//! million.

mod alias;
mod chunks;
mod frontier;
mod member;
mod pedigree;
mod runs;
#[cfg(test)]
mod tests;
mod tree;
mod winnow;

use gramjet_session::decisions::Derivation;
use gramjet_session::hash;
use rustc_hash::FxHashSet;

use chunks::{Chunks, Key};
use frontier::{ByScore, Frontier, InTurn};
use gramjet_search::Maxima;
use gramjet_search::Ranks;
use gramjet_search::{Desk, Evenly, Measured, Strategy};
use member::Member;
use runs::Runs;
use tree::Tree;

/// Random texts at the beginning.
const SEEDS: usize = 10;
/// Greatest length of seeds in bytes, if the grammar and the limit permit it.
const SEED_LEN: u64 = 20;
/// Seeds that are tried if some are equal.
const MOST_SEEDS: usize = 100;
/// Frontiers of at most this size are never winnowed.
const TRIGGER: usize = 1000;
/// A frontier is winnowed when it has grown by this factor.
const GROWTH: f64 = 1.5;
/// A text with a gain in rank beyond this is kept.
const GAIN: f64 = 0.35;
/// Variants that are made for one proposal, if they are equal to texts that were proposed before. If none is new, only
/// one is made for the next: the texts of the language may be exhausted.
const RETRIES: usize = 16;
/// Memory of the frontier in bytes, roughly.
const MOST_BYTES: usize = 1 << 28;
/// Texts that are remembered as proposed.
const REMEMBERED: usize = 1 << 22;

/// Reason why a text is kept. The first reason that holds counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Cost,
    Hottest,
    Rank,
    Novelty,
}

impl Reason {
    /// Returns the value of the success for the text that was changed. A gain in rank is neither a success nor a
    /// failure.
    fn value(self) -> Option<u64> {
        match self {
            Reason::Cost => Some(10),
            Reason::Hottest => Some(5),
            Reason::Rank => None,
            Reason::Novelty => Some(1),
        }
    }
}

/// Returns the gain in rank, relative to the greatest possible one.
fn gain(rank: f64, parent: f64) -> f64 {
    (rank - parent) / (1.0 - parent).max(0.5)
}

/// Results of all texts.
#[derive(Clone, Debug, Default)]
struct Seen {
    ranks: Ranks,
    maxima: Maxima,
    cost: u64,
    hottest: u64,
}

impl Seen {
    /// Adds a run, of a variant of a text with the cost `parent`; says why to keep it.
    fn add(&mut self, measured: &Measured, parent: Option<u64>) -> Option<Reason> {
        let &Measured { cost, hottest, ref edges, .. } = measured;
        self.ranks.insert(cost);
        let novelty = self.maxima.add(edges);
        if cost > self.cost {
            self.cost = cost;
            return Some(Reason::Cost);
        }
        if hottest > self.hottest {
            self.hottest = hottest;
            return Some(Reason::Hottest);
        }
        if parent.is_some_and(|parent| gain(self.ranks.rank(cost), self.ranks.rank(parent)) > GAIN) {
            return Some(Reason::Rank);
        }
        novelty.is_any().then_some(Reason::Novelty)
    }
}

/// Source of the text that was proposed last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Source {
    /// The text is not of this strategy, or was proposed before.
    #[default]
    Other,
    Seed,
    Hybrid(u32),
    Mutant(u32),
}

/// Returns SlackLine, which has a `SimpleFrontier`.
pub(crate) fn slackline(is_paper: bool) -> Box<dyn Strategy> {
    Box::new(SlackLine::<InTurn>::new(is_paper))
}

/// Returns SlackLineMC, which has a `WeightedFrontier`.
pub(crate) fn slackline_mc(is_paper: bool) -> Box<dyn Strategy> {
    Box::new(SlackLine::<ByScore>::new(is_paper))
}

/// Either, by the order in which the frontier is taken.
struct SlackLine<F> {
    is_paper: bool,
    frontier: F,
    members: Vec<Member>,
    chunks: Chunks,
    bytes: usize,
    /// A larger frontier is winnowed when a sweep begins.
    trigger: usize,
    seen: Seen,
    proposed: FxHashSet<u64>,
    /// Seeds that were drawn, and those of them that were run.
    drawn: usize,
    seeds: usize,
    retries: usize,
    source: Source,
    operator: &'static str,
    part: Derivation,
    options: Vec<u32>,
    /// With the published constants, once it has drawn a text.
    runs: Option<Runs>,
}

impl<F: Frontier> SlackLine<F> {
    fn new(is_paper: bool) -> SlackLine<F> {
        SlackLine {
            is_paper,
            frontier: F::default(),
            members: Vec::new(),
            chunks: Chunks::new(if is_paper { Key::Text } else { Key::RuleAndText }),
            bytes: 0,
            trigger: TRIGGER,
            seen: Seen::default(),
            proposed: FxHashSet::default(),
            drawn: 0,
            seeds: 0,
            retries: RETRIES,
            source: Source::Other,
            operator: F::NAME,
            part: Derivation::default(),
            options: Vec::new(),
            runs: None,
        }
    }

    /// Adds a text to the frontier, and its parts to the chunk store.
    fn add(&mut self, derivation: &Derivation, measured: &Measured, parent: Option<u32>) {
        let Some(tree) = Tree::new(derivation) else { return };
        let member = Member::new(tree, measured.cost, &measured.edges);
        self.chunks.stash(self.members.len() as u32, &member.tree);
        self.bytes += member.bytes();
        self.members.push(member);
        self.frontier.add(parent);
    }

    /// Returns true if seeds are still due. Of a small language, there may be fewer than [`SEEDS`].
    fn is_seeding(&self) -> bool {
        self.members.is_empty() || self.seeds < SEEDS && self.drawn < MOST_SEEDS && !self.is_paper
    }

    fn seed(&mut self, desk: &mut Desk, candidate: &mut Derivation) {
        self.drawn += 1;
        let most = desk.deriver.min_len().max(SEED_LEN).min(desk.max_len as u64);
        let start = desk.deriver.start_symbol();
        self.draw(desk, (start, 0), most, candidate);
    }

    /// Draws a random part with this symbol, at this depth.
    fn draw(&mut self, desk: &mut Desk, (symbol, depth): (u32, u32), most: u64, part: &mut Derivation) {
        if self.is_paper {
            let runs = self.runs.get_or_insert_with(|| Runs::new(&desk.deriver));
            desk.deriver.draw(symbol, depth, most, &mut runs.drawing(&mut desk.random), part);
        } else {
            desk.deriver.draw(symbol, depth, most, &mut Evenly(&mut desk.random), part);
        }
    }

    /// Makes the next text, which may be known.
    fn make(&mut self, may_be_hybrid: bool, desk: &mut Desk, candidate: &mut Derivation) -> Source {
        if self.is_seeding() {
            self.seed(desk, candidate);
            if !self.is_paper {
                return Source::Seed;
            }
            for _ in 1..SEEDS {
                self.add(candidate, &Measured::default(), None);
                self.seed(desk, candidate);
            }
            self.add(candidate, &Measured::default(), None);
        }
        let member = self.next(desk);
        if may_be_hybrid && self.hybrid(member, desk, candidate) {
            return Source::Hybrid(member);
        }
        self.mutant(member, desk, candidate);
        Source::Mutant(member)
    }

    /// Returns the next text to change.
    fn next(&mut self, desk: &mut Desk) -> u32 {
        if self.bytes <= MOST_BYTES
            && let Some(member) = self.frontier.next(self.members.len(), &mut desk.random)
        {
            return member;
        }
        if self.members.len() > self.trigger || self.bytes > MOST_BYTES {
            self.winnow();
        }
        self.frontier.begin(&self.members, &self.seen.ranks);
        // A frontier that is not empty has a first member.
        self.frontier.next(self.members.len(), &mut desk.random).unwrap_or(0)
    }

    /// Replaces an instance of a rule by one from the chunk store. False if it finds none that fits.
    fn hybrid(&mut self, member: u32, desk: &mut Desk, candidate: &mut Derivation) -> bool {
        let tree = &self.members[member as usize].tree;
        let margin = desk.max_len.saturating_sub(tree.text.len());
        let Some(point) = tree.draw_inner(&mut desk.random) else { return false };
        let (most, text) = (point.len() + margin, tree.text_of(point));
        let tree_of = |member: u32| &self.members[member as usize].tree;
        let Some(chunk) = self.chunks.draw(&mut desk.random, point.symbol, most, text, tree_of) else { return false };
        let other = tree_of(chunk.member);
        let part = other.options_of(chunk.point(other)).iter().copied();
        tree.splice(point, part, desk, &mut self.options, candidate);
        true
    }

    /// Replaces an instance of a rule by a random one.
    fn mutant(&mut self, member: u32, desk: &mut Desk, candidate: &mut Derivation) {
        let tree = &self.members[member as usize].tree;
        let margin = desk.max_len.saturating_sub(tree.text.len());
        let point = *tree.draw_point(&mut desk.random);
        let (symbol, most) = ((point.symbol, point.depth), point.len() + margin);
        let mut part = std::mem::take(&mut self.part);
        self.draw(desk, symbol, most as u64, &mut part);
        let tree = &self.members[member as usize].tree;
        tree.splice(&point, part.options(), desk, &mut self.options, candidate);
        self.part = part;
    }

    fn winnow(&mut self) {
        let mut stay = winnow::winnow(&self.members, &mut self.seen.maxima, !self.is_paper);
        if self.bytes > MOST_BYTES {
            winnow::shed(&mut stay, &self.members, MOST_BYTES / 2);
        }
        self.frontier.keep(&stay);
        let mut members: Vec<Option<Member>> = std::mem::take(&mut self.members).into_iter().map(Some).collect();
        self.members = stay.iter().filter_map(|&member| members[member as usize].take()).collect();
        self.bytes = self.members.iter().map(Member::bytes).sum();
        self.chunks.clear();
        for (number, member) in (0..).zip(&self.members) {
            self.chunks.stash(number, &member.tree);
        }
        // The published program computes its factor as an integer.
        let growth = if self.is_paper { 1.0 } else { GROWTH };
        self.trigger = TRIGGER.max((growth * self.members.len() as f64) as usize);
    }

    /// Notes a text as proposed; returns whether it is new.
    fn is_new(&mut self, text: &[u8]) -> bool {
        if self.proposed.len() >= REMEMBERED {
            self.proposed.clear();
        }
        self.proposed.insert(hash(text))
    }

    fn judge(&mut self, member: u32, candidate: &Derivation, measured: &Measured) {
        let reason = self.seen.add(measured, Some(self.members[member as usize].cost));
        if let Some(value) = reason.map_or(Some(0), Reason::value) {
            self.frontier.credit(member, value);
        }
        if reason.is_some() {
            self.add(candidate, measured, Some(member));
        }
    }
}

impl<F: Frontier> Strategy for SlackLine<F> {
    fn name(&self) -> &'static str {
        F::NAME
    }

    fn propose(&mut self, desk: &mut Desk, candidate: &mut Derivation) {
        for left in (0..self.retries).rev() {
            // The texts of a small frontier have few hybrids.
            self.source = self.make(self.is_paper || left > 0, desk, candidate);
            self.operator = match self.source {
                Source::Other => F::NAME,
                Source::Seed => "seed",
                Source::Hybrid(_) => "hybrid",
                Source::Mutant(_) => "mutant",
            };
            if self.is_new(&candidate.text) {
                self.retries = RETRIES;
                return;
            }
        }
        // A text that was proposed before: the search remembers its cost.
        self.source = Source::Other;
        self.retries = 1;
    }

    fn observe(&mut self, _desk: &mut Desk, candidate: &Derivation, measured: &Measured) {
        match std::mem::take(&mut self.source) {
            Source::Seed => {
                self.seeds += 1;
                self.seen.add(measured, None);
                self.add(candidate, measured, None);
            }
            // The text of another worker, or one that was forgotten here: neither a success nor a failure.
            Source::Hybrid(_) | Source::Mutant(_) if measured.is_repeat => {}
            Source::Hybrid(member) | Source::Mutant(member) => self.judge(member, candidate, measured),
            // If there is nothing else, the search begins with what there is.
            Source::Other if self.members.is_empty() => self.add(candidate, measured, None),
            Source::Other => {}
        }
    }

    fn adopt(&mut self, desk: &mut Desk, derivation: &Derivation, measured: &Measured) {
        if derivation.parts.is_empty() || derivation.text.len() > desk.max_len || !self.is_new(&derivation.text) {
            return;
        }
        if self.seen.add(measured, None).is_some() {
            self.add(derivation, measured, None);
        }
    }

    fn operator(&self) -> &'static str {
        self.operator
    }
}
