//! Several operators on one archive, chosen by what they have yielded.
//!
//! The published searches each do one thing: they draw texts with a bias, grow a tree of prefixes, or put parts of one
//! text into another. None is the best for all programs. Here all operators work on decisions, so each is exact under
//! the limit on length, and share one archive: the texts that cost most, and for each edge the text that executes
//! it most often, as in PerfFuzz (Lemieux et al. 2018). A bandit chooses the operator.
//!
//! When nothing better has been found for long, the search begins anew with an empty archive, so that it does not stay
//! with the variants of one text. Each third time the best texts of all beginnings are put together.
//!
//! With several costs, texts that no other beats in all of them are parents half of the time; if the search explores,
//! those with new coverage are. Such a search does not begin anew.
//!
//! Texts on which the program does not end are set aside: they are no parents, and texts whose variants often do not
//! end are varied less.

use gramjet_session::decisions::Derivation;

use crate::bandit::Bandit;
use crate::maxima::{Coverage, Edge, Maxima};
use crate::strategy::{Desk, Ending, Making, Measured, Strategy};

mod archive;
mod habits;
mod operators;

use archive::{Archive, Kept, Merits};
use habits::Habits;
use operators::{Operator, Workshop};

/// Texts at random that begin a search.
const SEEDS: u64 = 64;
/// Attempts to make a text by the chosen operators before one is drawn at random.
const TRIES: usize = 8;
/// The search begins anew after this many runs without a better text, or half of the runs since it began.
const PATIENCE: u64 = 2000;
/// Each time after this many beginnings, their best texts are put together.
const TOGETHER: usize = 3;
/// The best texts of beginnings that are remembered.
const PAST: usize = 30;
/// Habits are taken from the archive anew after this many texts that it has kept.
const RENEWED: u32 = 16;

#[derive(Debug)]
pub(super) struct Portfolio {
    archive: Archive,
    workshop: Workshop,
    habits: Habits,
    kept_since: u32,
    ways: Bandit<{ Operator::ALL.len() }>,
    making: Making,
    beginning: u32,
    proposed: u64,
    /// The best text of each beginning.
    past: Vec<(Derivation, u64, Vec<Edge>)>,
    /// The best text since the last beginning.
    best: Option<(Derivation, u64, Vec<Edge>)>,
    /// The runs since the last beginning, and those since the last better text.
    runs: u64,
    stale: u64,
    /// What was executed, if the search explores.
    seen: Maxima,
}

impl Portfolio {
    pub(super) fn new() -> Portfolio {
        Portfolio {
            archive: Archive::default(),
            workshop: Workshop::default(),
            habits: Habits::default(),
            kept_since: 0,
            ways: Bandit::new(),
            making: Making::default(),
            beginning: 0,
            proposed: 0,
            past: Vec::new(),
            best: None,
            runs: 0,
            stale: 0,
            seen: Maxima::new(),
        }
    }

    /// Begins anew.
    fn restart(&mut self) {
        self.past.extend(self.best.take());
        self.archive.clear();
        self.beginning += 1;
        (self.habits, self.kept_since) = (Habits::default(), 0);
        (self.runs, self.stale, self.proposed) = (0, 0, 0);
        if self.past.len().is_multiple_of(TOGETHER) {
            self.past.sort_by_key(|past| std::cmp::Reverse(past.1));
            self.past.truncate(PAST);
            for (derivation, cost, edges) in &self.past {
                self.archive.keep(derivation, Merits { cost: *cost, edges, ..Merits::default() });
            }
        }
    }

    /// New coverage, if the search explores.
    fn explored(&mut self, desk: &Desk, measured: &Measured<'_>) -> Coverage {
        if desk.explores { self.seen.add(measured.edges).coverage } else { Coverage::Known }
    }

    fn draw(&mut self, desk: &mut Desk, candidate: &mut Derivation) {
        self.making = Making { beginning: self.beginning, ..Making::default() };
        desk.draw_whole(candidate);
    }

    fn keep(&mut self, derivation: &Derivation, measured: &Measured<'_>, is_new: bool) -> Option<Kept> {
        if measured.ending != Ending::Done || derivation.parts.is_empty() || measured.is_repeat {
            return None;
        }
        let &Measured { cost, costs, edges, .. } = measured;
        let kept = self.archive.keep(derivation, Merits { cost, costs, edges, is_new });
        // A rise by less than this share is no reason to stay.
        let least = self.best.as_ref().map_or(0, |best| best.1 + best.1 / 1000);
        if measured.cost > least {
            self.stale = 0;
        }
        if self.best.as_ref().is_none_or(|best| best.1 < measured.cost) {
            self.best = Some((derivation.clone(), measured.cost, measured.edges.to_vec()));
        }
        self.kept_since += u32::from(kept.is_some_and(|kept| kept.place.is_some()));
        if self.kept_since >= RENEWED {
            self.kept_since = 0;
            self.habits.learn(self.archive.top().map(|entry| &entry.derivation));
        }
        kept
    }
}

impl Strategy for Portfolio {
    fn name(&self) -> &'static str {
        "portfolio"
    }

    fn propose(&mut self, desk: &mut Desk, candidate: &mut Derivation) {
        self.proposed += 1;
        if self.proposed <= SEEDS || self.archive.is_empty() {
            return self.draw(desk, candidate);
        }
        for _ in 0..TRIES {
            let way = self.ways.choose(&mut desk.random);
            let operator = Operator::ALL[way];
            let parent = match operator {
                Operator::Next if desk.random.below(2) == 0 => self.archive.best(),
                _ => self.archive.pick(&mut desk.random),
            };
            let Some(parent) = parent else { break };
            // A text at random has no parent.
            let varied = (operator != Operator::Fresh).then(|| (parent, self.archive.entry(parent).serial));
            self.making = Making { way, parent: varied, beginning: self.beginning };
            let Portfolio { workshop, archive, habits, .. } = self;
            if workshop.make(operator, desk, (archive, parent), habits, candidate) {
                return;
            }
            // A way that is not open costs little, but it costs.
            self.ways.learn(way, 0.0, 0.2);
        }
        self.draw(desk, candidate);
    }

    fn observe(&mut self, desk: &mut Desk, candidate: &Derivation, measured: &Measured<'_>) {
        let Making { way, parent, beginning } = self.making;
        if beginning != self.beginning {
            // The search has left its family while it ran.
            self.explored(desk, measured);
            return;
        }
        // It may have been dropped while the text ran.
        if let Some(parent) = parent.and_then(|parent| self.archive.known_mut(parent)) {
            parent.picks += 1;
            parent.stopped += u32::from(measured.ending == Ending::Stopped);
        }
        self.runs += 1;
        self.stale += 1;
        let coverage = self.explored(desk, measured);
        let kept = self.keep(candidate, measured, coverage > Coverage::Known);
        if self.stale > PATIENCE.max(self.runs / 2) && measured.costs.is_empty() && !desk.explores {
            self.restart();
        }
        let paid = match kept {
            Some(_) if coverage == Coverage::Edge => 10.0,
            Some(_) if coverage == Coverage::Class => 3.0,
            Some(Kept { place: Some(0), .. }) => 10.0,
            Some(Kept { place: Some(place), edges }) => {
                2.0 / (1.0 + place as f64 / 8.0) + f64::from(u8::from(edges > 0))
            }
            Some(Kept { place: None, .. }) => 0.5,
            None => 0.0,
        };
        self.ways.learn(way, paid, 1.0);
    }

    fn adopt(&mut self, desk: &mut Desk, derivation: &Derivation, measured: &Measured<'_>) {
        let coverage = self.explored(desk, measured);
        self.keep(derivation, measured, coverage > Coverage::Known);
    }

    fn operator(&self) -> &'static str {
        Operator::ALL[self.making.way].name()
    }

    /// One result more or less makes no difference to the archive.
    fn proposes_ahead(&self) -> bool {
        true
    }

    fn making(&self) -> Making {
        self.making
    }

    fn recall(&mut self, making: Making) {
        self.making = making;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::kit;

    /// Each letter of a secret word that the text begins with is an edge; only `z` costs.
    fn secret(text: &[u8]) -> (u64, Vec<Edge>) {
        let known = b"kestrel".iter().zip(text).take_while(|(one, other)| one == other).count();
        let costly = text.iter().filter(|&&byte| byte == b'z').count() as u64;
        (costly, (1..=known as u32).map(|edge| (edge, 1)).chain([(100, costly)]).collect())
    }

    #[test]
    fn a_search_that_explores_covers_more() {
        let edges = |explores: bool, seed| {
            let mut search = kit::search("s ::= [a-z]+", kit::strategy("portfolio", false), 30, seed);
            if explores {
                search.explore();
            }
            kit::run(&mut search, 3000, secret);
            search.maxima().edges()
        };
        let [with, without] = [true, false].map(|explores| (1..=4).map(|seed| edges(explores, seed)).sum::<usize>());
        assert!(with > without + 4, "{with} and {without}");
    }
    #[test]
    fn what_runs_when_the_search_begins_anew_is_not_kept() {
        let mut search = kit::search("s ::= [a-z]+", kit::strategy("portfolio", false), 30, 1);
        let desk = search.desk();
        let mut portfolio = Portfolio::new();
        let mut candidate = Derivation::default();
        let measured = |edges| Measured { cost: 9, hottest: 9, edges, ..Measured::default() };
        portfolio.propose(desk, &mut candidate);
        let before = portfolio.making();
        portfolio.observe(desk, &candidate, &measured(&[(1, 9)]));
        assert!(!portfolio.archive.is_empty() && portfolio.best.is_some());
        portfolio.restart();
        portfolio.recall(before);
        portfolio.observe(desk, &candidate, &measured(&[(1, 9)]));
        assert!(portfolio.archive.is_empty() && portfolio.best.is_none() && portfolio.runs == 0);
        // What was proposed since then is.
        portfolio.propose(desk, &mut candidate);
        portfolio.observe(desk, &candidate, &measured(&[(1, 9)]));
        assert!(!portfolio.archive.is_empty() && portfolio.runs == 1);
    }
}
