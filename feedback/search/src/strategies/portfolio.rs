//! Several operators on archives of good texts, chosen by what they have yielded.
//!
//! The published searches each do one thing: they draw texts with a bias, grow a tree of prefixes, or put parts of one
//! text into another. None is the best for all programs. Here all operators work on decisions, so each is exact under
//! the limit on length, and share one archive: the texts that rank highest by their cost, and for each edge the text
//! that executes it most often, as in PerfFuzz (Lemieux et al. 2018). A bandit chooses the operator.
//!
//! A short text may rank above a longer one that costs more, as it has room to grow. After some time without a better
//! text, the cost alone ranks them.
//!
//! When nothing better has been found for long, the search begins anew with an empty archive, so that it does not stay
//! with the variants of one text. Each third time the best texts of all beginnings are put together.
//!
//! Some texts take much longer than the average one. Once their variants have taken long without a better text, quicker
//! texts get as much time as each further variant takes.
//!
//! A second archive never begins anew, and holds the champions of edges alone. It is for programs whose costly texts
//! are far from those that cost most so far: a text on the way to them executes a loop more often than all others, but
//! is cheap in all. While nothing better is found, a tenth of all texts vary one of its champions. After a beginning
//! that has found nothing better than those before it, all texts do for some time. If one of them costs more than all
//! so far, it is kept in the first archive, too; others are not, as a beginning would not be a new one with them.
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
mod balance;
mod habits;
mod operators;

use archive::{Archive, Kept, Merits, Ranking};
use balance::Balance;
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
/// Champions of the whole search are varied, and room does not count, after this many runs without a better text.
const NARROW: u64 = 500;
/// The share of texts that vary a champion then.
const WIDE: f64 = 0.1;
/// The number of texts that vary champions after a beginning that has found nothing better.
const WIDER: u64 = 8000;
/// Fewer do if this many of them in a row have not become champions.
const BARREN: u64 = 500;
/// The best texts of beginnings that are remembered.
const PAST: usize = 30;
/// The next text is made once the run of this one is known if the text that it varies has executed more than this many
/// edges. That takes a millisecond or two in compiled programs, which is much longer than to make a text.
const AWAITED: u64 = 1 << 20;
/// Habits are taken from the archive anew after this many texts that it has kept.
const RENEWED: u32 = 16;

/// Texts to vary, and the operators that have paid for them.
#[derive(Debug)]
struct Island {
    archive: Archive,
    ways: Bandit<{ Operator::ALL.len() }>,
}

#[derive(Debug)]
pub(super) struct Portfolio {
    /// The texts since the last beginning.
    recent: Island,
    /// The champions of edges of the whole search.
    wide: Island,
    /// The number of next texts that all vary one of these.
    wide_due: u64,
    /// The number of their variants since the last one that has become a champion.
    barren: u64,
    /// The greatest cost so far.
    most: u64,
    /// The least cost so far.
    least: u64,
    /// The greatest cost before the last beginning.
    most_before: u64,
    workshop: Workshop,
    habits: Habits,
    kept_since: u32,
    making: Making,
    beginning: u32,
    proposed: u64,
    /// The best text of each beginning.
    past: Vec<(Derivation, u64, Vec<Edge>)>,
    /// The best text since the last beginning.
    best: Option<(Derivation, u64, Vec<Edge>)>,
    /// The texts since the last beginning, and those since the last better text.
    runs: u64,
    stale: u64,
    /// What runs take, and how much is left for quicker texts.
    balance: Balance,
    /// The edges that were executed since the last beginning, in the one before it, and by variants of champions since
    /// one has become a champion.
    spent: u64,
    spent_before: u64,
    spent_barren: u64,
    /// What was executed, if the search explores.
    seen: Maxima,
}

impl Portfolio {
    pub(super) fn new() -> Portfolio {
        Portfolio {
            recent: Island { archive: Archive::new(), ways: Bandit::new() },
            wide: Island { archive: Archive::of_champions(), ways: Bandit::new() },
            wide_due: 0,
            barren: 0,
            most: 0,
            least: u64::MAX,
            most_before: 0,
            workshop: Workshop::default(),
            habits: Habits::default(),
            kept_since: 0,
            making: Making::default(),
            beginning: 0,
            proposed: 0,
            past: Vec::new(),
            best: None,
            runs: 0,
            stale: 0,
            balance: Balance::default(),
            spent: 0,
            spent_before: 0,
            spent_barren: 0,
            seen: Maxima::new(),
        }
    }

    /// Begins anew.
    fn restart(&mut self) {
        (self.wide_due, self.barren) = (if self.most > self.most_before { 0 } else { WIDER }, 0);
        self.most_before = self.most;
        self.past.extend(self.best.take());
        self.recent.archive.clear();
        self.beginning += 1;
        self.balance.begin();
        (self.habits, self.kept_since) = (Habits::default(), 0);
        (self.spent, self.spent_before, self.spent_barren) = (0, self.spent, 0);
        (self.runs, self.stale, self.proposed) = Default::default();
        if self.past.len().is_multiple_of(TOGETHER) {
            self.past.sort_by_key(|past| std::cmp::Reverse(past.1));
            self.past.truncate(PAST);
            for (derivation, cost, edges) in &self.past {
                self.recent.archive.keep(derivation, Merits { cost: *cost, edges, ..Merits::default() });
            }
        }
    }

    /// Whether nothing better has been found for long.
    fn is_stale(&self) -> bool {
        self.stale > PATIENCE.max(self.runs / 2)
    }

    /// Ranks the texts since the last beginning: room counts while better texts are found.
    fn rank(&mut self) {
        let ranking = if self.stale > NARROW { Ranking::Cost } else { Ranking::Room };
        self.recent.archive.rank_by(ranking, self.least);
    }

    /// New coverage, if the search explores.
    fn explored(&mut self, desk: &Desk, measured: &Measured<'_>) -> Coverage {
        if desk.explores { self.seen.add(measured.edges).coverage } else { Coverage::Known }
    }

    fn draw(&mut self, desk: &mut Desk, candidate: &mut Derivation) {
        self.making = Making { beginning: self.beginning, ..Making::default() };
        desk.draw_whole(candidate);
    }

    /// Keeps a text if it is a champion of the whole search. A search that does not begin anew does not need them.
    fn keep_wide(&mut self, desk: &Desk, derivation: &Derivation, measured: &Measured<'_>) -> bool {
        if !is_to_keep(derivation, measured) || !measured.costs.is_empty() || desk.explores {
            return false;
        }
        let &Measured { cost, edges, .. } = measured;
        self.wide.archive.keep(derivation, Merits { cost, edges, ..Merits::default() }).is_some()
    }

    /// Learns the cost of a text; whether it is greater than all before.
    fn weigh(&mut self, derivation: &Derivation, measured: &Measured<'_>) -> bool {
        if !is_to_keep(derivation, measured) {
            return false;
        }
        self.least = self.least.min(measured.cost);
        let is_raised = measured.cost > self.most;
        self.most = self.most.max(measured.cost);
        is_raised
    }

    /// Learns from a variant of a champion.
    fn observe_wide(&mut self, candidate: &Derivation, measured: &Measured<'_>, is_champion: bool, is_best: bool) {
        let paid = if is_best { 10.0 } else { f64::from(u8::from(is_champion)) };
        self.wide.ways.learn(self.making.way, paid, 1.0);
        self.spent_barren = self.spent_barren.saturating_add(executed(measured));
        if is_champion {
            (self.barren, self.spent_barren) = (0, 0);
        } else if self.spent_barren > self.spent_before {
            self.wide_due = 0;
        }
        if is_best {
            self.wide_due = 0;
            self.keep(candidate, measured, false);
        }
    }

    /// Whether a text costs more than all since the last beginning. A rise by a small share is no reason to stay.
    fn is_rise(&self, derivation: &Derivation, measured: &Measured<'_>) -> bool {
        let least = self.best.as_ref().map_or(0, |best| best.1.saturating_add(best.1 / 1000));
        is_to_keep(derivation, measured) && measured.cost > least
    }

    fn keep(&mut self, derivation: &Derivation, measured: &Measured<'_>, is_new: bool) -> Option<Kept> {
        if !is_to_keep(derivation, measured) {
            return None;
        }
        let &Measured { cost, costs, edges, .. } = measured;
        let kept = self.recent.archive.keep(derivation, Merits { cost, costs, edges, is_new });
        if self.is_rise(derivation, measured) {
            self.stale = 0;
        }
        if self.best.as_ref().is_none_or(|best| best.1 < measured.cost) {
            self.best = Some((derivation.clone(), measured.cost, measured.edges.to_vec()));
        }
        self.kept_since += u32::from(kept.is_some_and(|kept| kept.place.is_some()));
        if self.kept_since >= RENEWED {
            self.kept_since = 0;
            self.habits.learn(self.recent.archive.top().map(|entry| &entry.derivation));
        }
        kept
    }
}

/// The edges that a run has executed.
fn executed(measured: &Measured<'_>) -> u64 {
    if measured.is_repeat {
        return 0;
    }
    // Of a run that exceeds a limit on edges no counts are known but this one.
    archive::executed(measured.edges).max(measured.hottest)
}

/// Whether a text may be varied.
fn is_to_keep(derivation: &Derivation, measured: &Measured<'_>) -> bool {
    measured.ending == Ending::Done && !derivation.parts.is_empty() && !measured.is_repeat
}

impl Strategy for Portfolio {
    fn name(&self) -> &'static str {
        "portfolio"
    }

    fn propose(&mut self, desk: &mut Desk, candidate: &mut Derivation) {
        self.proposed += 1;
        if self.proposed <= SEEDS || self.recent.archive.is_empty() {
            return self.draw(desk, candidate);
        }
        let is_wide =
            !self.wide.archive.is_empty() && (self.wide_due > 0 || self.stale > NARROW && desk.random.unit() < WIDE);
        // Also texts that the search knows, which it does not run, are counted.
        self.barren += u64::from(is_wide);
        self.wide_due = if self.barren > BARREN { 0 } else { self.wide_due.saturating_sub(1) };
        let most_executed = self.balance.most_executed();
        let Portfolio { recent, wide, workshop, habits, .. } = self;
        let Island { archive, ways } = if is_wide { wide } else { recent };
        for _ in 0..TRIES {
            let way = ways.choose(&mut desk.random);
            let operator = Operator::ALL[way];
            let best = if operator == Operator::Next && desk.random.below(2) == 0 { archive.best() } else { None };
            let best = best.filter(|&best| archive.entry(best).executed <= most_executed);
            let Some(parent) = best.or_else(|| archive.pick(&mut desk.random, most_executed)) else { break };
            // A text at random has no parent.
            let varied = (operator != Operator::Fresh).then(|| (parent, archive.entry(parent).serial));
            let is_awaited = varied.is_some() && archive.entry(parent).executed > AWAITED;
            self.making = Making { way, parent: varied, beginning: self.beginning, is_wide, is_awaited };
            if workshop.make(operator, desk, (archive, parent), habits, candidate) {
                return;
            }
            // A way that is not open costs little, but it costs.
            ways.learn(way, 0.0, 0.2);
        }
        self.draw(desk, candidate);
    }

    fn observe(&mut self, desk: &mut Desk, candidate: &Derivation, measured: &Measured<'_>) {
        let Making { way, parent, beginning, is_wide, .. } = self.making;
        let is_champion = self.keep_wide(desk, candidate, measured);
        let is_best = self.weigh(candidate, measured);
        let mut parent_executed = None;
        if is_wide || beginning == self.beginning {
            let island = if is_wide { &mut self.wide } else { &mut self.recent };
            // It may have been dropped while the text ran.
            if let Some(parent) = parent.and_then(|parent| island.archive.known_mut(parent)) {
                parent.picks += 1;
                parent.stopped += u32::from(measured.ending == Ending::Stopped);
                parent_executed = Some(parent.executed);
            }
        }
        let is_better =
            if is_wide || beginning != self.beginning { is_best } else { self.is_rise(candidate, measured) };
        if measured.is_repeat {
            self.balance.add_repeat();
        } else if !measured.costs.is_empty() || desk.explores {
            // A text may be worth its time though it is not better.
        } else if is_better {
            self.balance.add_better(executed(measured));
        } else {
            self.balance.add(executed(measured), parent_executed);
        }
        if is_wide {
            return self.observe_wide(candidate, measured, is_champion, is_best);
        }
        if beginning != self.beginning {
            // The search has left its family while it ran.
            self.explored(desk, measured);
            return;
        }
        self.runs += 1;
        self.stale += 1;
        self.spent = self.spent.saturating_add(executed(measured));
        let coverage = self.explored(desk, measured);
        let kept = self.keep(candidate, measured, coverage > Coverage::Known);
        self.rank();
        if self.is_stale() && measured.costs.is_empty() && !desk.explores {
            self.restart();
        }
        let paid = match kept {
            Some(_) if coverage == Coverage::Edge => 10.0,
            Some(_) if coverage == Coverage::Class => 3.0,
            Some(_) if is_better => 10.0,
            Some(Kept { place: Some(0), .. }) => 10.0,
            Some(Kept { place: Some(place), edges }) => {
                2.0 / (1.0 + place as f64 / 8.0) + f64::from(u8::from(edges > 0))
            }
            Some(Kept { place: None, .. }) => 0.5,
            None => 0.0,
        };
        self.recent.ways.learn(way, paid, 1.0);
    }

    fn begin(&mut self, _desk: &mut Desk) {
        // What was found before is not found by the first beginning.
        self.most_before = self.most;
    }

    fn adopt(&mut self, desk: &mut Desk, derivation: &Derivation, measured: &Measured<'_>) {
        let coverage = self.explored(desk, measured);
        self.keep_wide(desk, derivation, measured);
        self.weigh(derivation, measured);
        if self.is_rise(derivation, measured) {
            self.balance.begin();
        }
        self.rank();
        self.keep(derivation, measured, coverage > Coverage::Known);
    }

    fn operator(&self) -> &'static str {
        Operator::ALL[self.making.way].name()
    }

    /// One result more or less makes no difference to the archive, but those of slow texts, which are awaited.
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

    /// What long runs take and what the others take, for a number of texts.
    fn times(seed: u64, texts: u64) -> (u64, u64) {
        const LONG: u64 = 30_000_000;
        let times = std::cell::Cell::new((0, 0));
        let subject = |text: &[u8]| {
            let (letters, mut edges) = kit::count_of(b'z')(text);
            let is_long = text.windows(5).any(|part| part == b"q z q");
            let (long, quick) = times.get();
            if !is_long {
                times.set((long, quick + balance::START));
                return (letters, edges);
            }
            times.set((long + LONG, quick));
            edges.push((300, LONG));
            (letters + 100, edges)
        };
        kit::run(&mut kit::search(kit::WORDS, Box::new(Portfolio::new()), 30, seed), texts, subject);
        times.get()
    }

    #[test]
    fn slow_texts_leave_time_for_quick_ones() {
        let (long, quick) = (1..=8).fold((0, 0), |sum, seed| {
            let (long, quick) = times(seed, 10_000);
            (sum.0 + long, sum.1 + quick)
        });
        // In each beginning some long runs owe nothing. Without the balance long ones take 29 times as
        // much as the others.
        assert!((quick / 8..5 * quick).contains(&long), "{long} and {quick}");
    }

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
        let [with, without] = [true, false].map(|explores| (1..=32).map(|seed| edges(explores, seed)).sum::<usize>());
        assert!(with > without + 10, "{with} and {without}");
    }

    #[test]
    fn champions_stay_when_the_search_begins_anew_and_are_varied_more() {
        let mut search = kit::search("s ::= [a-z]+", kit::strategy("portfolio", false), 30, 1);
        let desk = search.desk();
        let mut portfolio = Portfolio::new();
        let mut candidate = Derivation::default();
        let measured = |cost, edges| Measured { cost, hottest: 9, edges, ..Measured::default() };
        let wide = |portfolio: &mut Portfolio, desk: &mut Desk, candidate: &mut Derivation, texts| {
            (0..texts)
                .filter(|_| {
                    portfolio.propose(desk, candidate);
                    portfolio.making.is_wide
                })
                .count()
        };
        portfolio.propose(desk, &mut candidate);
        portfolio.observe(desk, &candidate, &measured(9, &[(1, 9)]));
        assert_eq!(wide(&mut portfolio, desk, &mut candidate, 400), 0);
        // The first beginning has found the best text; the second finds nothing better.
        portfolio.restart();
        assert!(portfolio.recent.archive.is_empty() && !portfolio.wide.archive.is_empty());
        assert_eq!(portfolio.wide_due, 0);
        portfolio.propose(desk, &mut candidate);
        portfolio.observe(desk, &candidate, &measured(5, &[(2, 5)]));
        portfolio.restart();
        portfolio.propose(desk, &mut candidate);
        portfolio.observe(desk, &candidate, &measured(5, &[(3, 5)]));
        assert_eq!(wide(&mut portfolio, desk, &mut candidate, 400), 401 - SEEDS as usize);
        // A champion sets the count back to 0. When the count exceeds its limit, champions are no longer due.
        portfolio.barren = BARREN - 1;
        portfolio.observe_wide(&candidate, &measured(1, &[]), true, false);
        assert_eq!(portfolio.barren, 0);
        assert_eq!(wide(&mut portfolio, desk, &mut candidate, 1000), BARREN as usize + 1);
        assert_eq!(portfolio.wide_due, 0);
        // If nothing better has been found for some time, a tenth of the texts vary champions; else none do.
        assert_eq!(wide(&mut portfolio, desk, &mut candidate, 400), 0);
        portfolio.stale = NARROW + 1;
        assert!((50..150).contains(&wide(&mut portfolio, desk, &mut candidate, 1000)));
        (portfolio.wide_due, portfolio.barren) = (WIDER, 0);
        // A variant of a champion that costs more than all texts so far is kept among the recent ones, too.
        let is_known = |portfolio: &Portfolio, text: &[u8]| {
            portfolio.recent.archive.top().any(|entry| entry.derivation.text == text)
        };
        while !portfolio.making.is_wide || is_known(&portfolio, &candidate.text) {
            portfolio.propose(desk, &mut candidate);
        }
        portfolio.observe(desk, &candidate, &measured(10, &[(1, 10)]));
        assert_eq!((portfolio.wide_due, portfolio.most), (0, 10));
        let best = portfolio.recent.archive.best().map(|best| portfolio.recent.archive.entry(best));
        assert_eq!(best.map(|best| (&best.derivation.text, best.cost)), Some((&candidate.text, 10)));
    }

    #[test]
    fn room_counts_while_better_texts_are_found() {
        let mut search = kit::search("s ::= [a-z]+", kit::strategy("portfolio", false), 60, 1);
        let desk = search.desk();
        let mut portfolio = Portfolio::new();
        let mut observe = |portfolio: &mut Portfolio, len: usize, cost| {
            let mut candidate = Derivation::default();
            while candidate.text.len() != len {
                desk.draw_whole(&mut candidate);
            }
            portfolio.observe(desk, &candidate, &kit::measured(cost, &[]));
            portfolio.recent.archive.top().map(|entry| entry.cost).collect::<Vec<_>>()
        };
        // Texts of letters alone have one outline, and the best of them is kept.
        assert_eq!(observe(&mut portfolio, 4, 100), [100]);
        assert_eq!(observe(&mut portfolio, 16, 150), [150]);
        assert_eq!(observe(&mut portfolio, 9, 130), [150]);
        assert_eq!(observe(&mut portfolio, 9, 140), [140]);
        portfolio.stale = NARROW;
        assert_eq!(observe(&mut portfolio, 9, 141), [150, 141]);
        assert_eq!(observe(&mut portfolio, 16, 145), [150, 141]);
        assert_eq!(observe(&mut portfolio, 16, 152), [141, 152]);
        assert_eq!(portfolio.stale, 0);
    }

    #[test]
    fn adopted_texts_are_ranked_by_what_they_cost_beyond_the_cheapest() {
        let mut search = kit::search(kit::WORDS, kit::strategy("portfolio", false), 60, 1);
        let mut portfolio = Portfolio::new();
        let desk = search.desk();
        let (mut short, mut long) = (Derivation::default(), Derivation::default());
        while short.text.len() > 4 || short.text.is_empty() {
            desk.draw_whole(&mut short);
        }
        // Another number of words, so another outline.
        while long.text.len() < 30 || long.parts.len() == short.parts.len() {
            desk.draw_whole(&mut long);
        }
        portfolio.adopt(desk, &short, &kit::measured(1010, &[]));
        portfolio.adopt(desk, &long, &kit::measured(1100, &[]));
        assert_eq!(portfolio.recent.archive.top().map(|entry| entry.cost).collect::<Vec<_>>(), [1100, 1010]);
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
        assert!(!portfolio.recent.archive.is_empty() && portfolio.best.is_some());
        portfolio.restart();
        portfolio.recall(before);
        portfolio.observe(desk, &candidate, &measured(&[(1, 9)]));
        assert!(portfolio.recent.archive.is_empty() && portfolio.best.is_none() && portfolio.runs == 0);
        // What was proposed since then is.
        portfolio.propose(desk, &mut candidate);
        portfolio.observe(desk, &candidate, &measured(&[(1, 9)]));
        assert!(!portfolio.recent.archive.is_empty() && portfolio.runs == 1);
    }
}
