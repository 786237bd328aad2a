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
//! A second archive never begins anew, and holds the champions of edges alone. It is for programs whose costly texts
//! are far from those that cost most so far: a text on the way to them executes a loop more often than all others, but
//! is cheap in all. After 500 runs without a better text, a quarter of all texts vary one of its champions. Half of the
//! draws from an archive of champions look for an edge whose greatest count has grown lately. After a beginning that
//! has found nothing better than those before it, all texts vary champions for some time. If one of them costs more
//! than all so far, it is kept in the first archive, too; others are not, as a beginning would not be a new one with
//! them.
//!
//! Texts are slow if they take more than sixteen times as long as the average run. Once their variants have taken long
//! without a better text, quicker texts get as much time as each further variant takes. Most of these vary a text of a
//! third archive, the champions of edges among quick texts. It begins, when the first slow text is found, with those of
//! the second one that are quick, and is gathered from both at each further beginning.
//!
//! With several costs, texts that no other beats in all of them are parents half of the time; if the search explores,
//! those with new coverage are. Such a search does not begin anew.
//!
//! Texts on which the program does not end are set aside: they are no parents, and texts whose variants often do not
//! end are varied less.

use gramjet_session::decisions::Derivation;

use crate::bandit::Bandit;
use crate::maxima::{Coverage, Edge, Maxima};
use crate::strategy::{Desk, Ending, Making, Measured, Pool, Strategy};

mod archive;
mod balance;
mod growth;
mod habits;
mod operators;
#[cfg(test)]
mod tests;

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
const WIDE: f64 = 0.25;
/// The number of texts that vary champions after a beginning that has found nothing better.
const WIDER: u64 = 8000;
/// Fewer do if this many of them in a row have not become champions.
const BARREN: u64 = 500;
/// The share of texts that vary a champion among quick texts, where variants of quick texts are due. Where a champion
/// of the whole search would be varied, one among quick texts always is.
const QUICK: f64 = 0.8;
/// The best texts of beginnings that are remembered.
const PAST: usize = 30;
/// A time counts as this many edges a second, where no edges are counted.
const EDGES_A_SECOND: f64 = (1 << 30) as f64;
/// Habits are taken from the archive anew after this many texts that it has kept.
const RENEWED: u32 = 16;

/// Texts to vary, and the operators that have paid for them.
#[derive(Debug)]
struct Island {
    archive: Archive,
    ways: Bandit<{ Operator::ALL.len() }>,
}

impl Island {
    fn new(archive: Archive) -> Island {
        Island { archive, ways: Bandit::new() }
    }
}

#[derive(Debug)]
pub(super) struct Portfolio {
    /// The texts since the last beginning.
    recent: Island,
    /// The champions of edges of the whole search.
    wide: Island,
    /// The champions among quick texts, which are kept once a slow text was found.
    quick: Island,
    has_slow: bool,
    /// The number of next texts that all vary champions.
    wide_due: u64,
    /// The number of variants of champions of the whole search, since a variant of one of these or of a quick one
    /// became such a champion.
    barren: u64,
    /// The greatest cost so far.
    most: u64,
    /// The least cost so far.
    least: u64,
    /// A text made since the last beginning, or a variant of a champion, costs more than all before it, those of other
    /// searches too.
    has_found: bool,
    workshop: Workshop,
    habits: Habits,
    kept_since: u32,
    making: Making,
    beginning: u32,
    proposed: u64,
    /// The best text of each beginning.
    past: Vec<Best>,
    /// The best text since the last beginning.
    best: Option<Best>,
    /// The texts since the last beginning, and those since the last better text.
    runs: u64,
    stale: u64,
    /// Balance of what runs take, and of what is left for quicker texts.
    balance: Balance,
    /// Edges that runs have taken: since the last beginning, in the one before it, and by variants of champions since
    /// one of them has become a champion of the whole search. The first two are without variants of champions of the
    /// whole search, and without those of quick ones while all texts vary champions.
    spent: u64,
    spent_before: u64,
    spent_barren: u64,
    /// Maxima of what was executed, if the search explores.
    seen: Maxima,
}

impl Portfolio {
    pub(super) fn new() -> Portfolio {
        Portfolio {
            recent: Island::new(Archive::new()),
            wide: Island::new(Archive::of_champions()),
            quick: Island::new(Archive::of_champions()),
            has_slow: false,
            wide_due: 0,
            barren: 0,
            most: 0,
            least: u64::MAX,
            has_found: false,
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
        (self.wide_due, self.barren) = (if self.has_found { 0 } else { WIDER }, 0);
        self.has_found = false;
        self.past.extend(self.best.take());
        self.recent.archive.clear();
        self.beginning += 1;
        self.balance.begin();
        if self.has_slow {
            // The average may be another one by now. A champion may be slow now. Those that it displaced do not come
            // back.
            let most = self.balance.quick_limit();
            self.quick.archive.drop_slower(most);
            self.quick.archive.absorb(&self.wide.archive, most);
        }
        (self.habits, self.kept_since) = (Habits::default(), 0);
        (self.spent, self.spent_before, self.spent_barren) = (0, self.spent, 0);
        (self.runs, self.stale, self.proposed) = Default::default();
        self.rank();
        if self.past.len().is_multiple_of(TOGETHER) {
            self.past.sort_by_key(|past| std::cmp::Reverse(past.cost));
            self.past.truncate(PAST);
            for &Best { ref derivation, cost, executed, ref edges } in &self.past {
                self.recent.archive.keep(derivation, Merits { cost, executed, edges, ..Merits::default() });
            }
        }
    }

    /// Returns true if nothing better has been found for long.
    fn is_stale(&self) -> bool {
        self.stale > PATIENCE.max(self.runs / 2)
    }

    /// Ranks the texts since the last beginning: room counts while better texts are found.
    fn rank(&mut self) {
        let ranking = if self.stale > NARROW { Ranking::Cost } else { Ranking::Room };
        self.recent.archive.rank_by(ranking, self.least);
    }

    /// Returns the new coverage, if the search explores.
    fn explored(&mut self, desk: &Desk, measured: &Measured) -> Coverage {
        if desk.explores { self.seen.add(&measured.edges).coverage } else { Coverage::Known }
    }

    fn draw(&mut self, desk: &mut Desk, candidate: &mut Derivation) {
        self.making = Making { beginning: self.beginning, ..Making::default() };
        desk.draw_text(candidate);
    }

    fn island(&mut self, pool: Pool) -> &mut Island {
        match pool {
            Pool::Recent => &mut self.recent,
            Pool::Wide => &mut self.wide,
            Pool::Quick => &mut self.quick,
        }
    }

    /// Keeps a text if it is a champion of the whole search, and if it is one among quick texts. A search that does not
    /// begin anew does not need them.
    fn keep_champion(&mut self, desk: &Desk, run: &Run<'_>) -> Won {
        if !run.is_to_keep() || !run.measured.several().is_empty() || desk.explores {
            return Won::default();
        }
        let merits = run.merits();
        let is_quick = run.executed <= self.balance.quick_limit();
        if !is_quick && !self.has_slow {
            self.has_slow = true;
            self.quick.archive.absorb(&self.wide.archive, self.balance.quick_limit());
        }
        let keep = |archive: &mut Archive| archive.keep(run.derivation, merits).is_some();
        Won {
            of_quick: is_quick && self.has_slow && keep(&mut self.quick.archive),
            of_all: keep(&mut self.wide.archive),
        }
    }

    /// Learns the cost of a text.
    fn weigh(&mut self, run: &Run<'_>) -> Weight {
        if !run.is_to_keep() {
            return Weight::default();
        }
        let cost = run.measured.cost;
        let weight = Weight { is_best: cost > self.most, is_rise: self.is_rise(self.most, cost) };
        (self.least, self.most) = (self.least.min(cost), self.most.max(cost));
        weight
    }

    /// Learns from a variant of a champion.
    fn observe_champion(&mut self, run: &Run<'_>, won: Won, is_best: bool) {
        let Making { way, beginning, pool, .. } = self.making;
        let is_of_quick = pool == Pool::Quick;
        let is_champion = won.of_all || is_of_quick && won.of_quick;
        let paid = if is_best { 10.0 } else { f64::from(u8::from(is_champion)) };
        self.island(pool).ways.learn(way, paid, 1.0);
        // While all texts vary champions, the beginning has not had its chance.
        if is_of_quick && beginning == self.beginning && self.wide_due == 0 {
            self.count_run(run);
        }
        if won.of_all {
            (self.barren, self.spent_barren) = (0, 0);
        } else if !is_of_quick || run.executed > self.balance.quick_limit() {
            // These may take as long as the beginning before.
            self.spent_barren = self.spent_barren.saturating_add(run.taken());
            if self.spent_barren > self.spent_before {
                self.wide_due = 0;
            }
        }
        if is_best {
            self.keep_best(run);
        }
    }

    /// Keeps a text that costs more than all before, though it varies none of this beginning. From then on not all
    /// texts vary champions.
    fn keep_best(&mut self, run: &Run<'_>) {
        self.wide_due = 0;
        self.keep(run, false);
        self.rank();
    }

    /// Counts a run of this beginning.
    fn count_run(&mut self, run: &Run<'_>) {
        self.runs += 1;
        self.stale += 1;
        self.spent = self.spent.saturating_add(run.taken());
    }

    /// Returns true if a cost is a reason to stay. It must be greater by a thousandth of what the best text costs
    /// beyond the cheapest one.
    fn is_rise(&self, before: u64, cost: u64) -> bool {
        cost > before.saturating_add(before.saturating_sub(self.least) / 1000)
    }

    /// Returns true if a text costs more than all since the last beginning.
    fn is_rise_here(&self, run: &Run<'_>) -> bool {
        run.is_to_keep() && self.is_rise(self.best.as_ref().map_or(0, |best| best.cost), run.measured.cost)
    }

    fn keep(&mut self, run: &Run<'_>, is_new: bool) -> Option<Kept> {
        if !run.is_to_keep() {
            return None;
        }
        let merits = Merits { is_new, ..run.merits() };
        let kept = self.recent.archive.keep(run.derivation, merits);
        if self.is_rise_here(run) {
            self.stale = 0;
        }
        if self.best.as_ref().is_none_or(|best| best.cost < run.measured.cost) {
            self.best = Some(Best::new(run));
        }
        self.kept_since += u32::from(kept.is_some_and(|kept| kept.place.is_some()));
        if self.kept_since >= RENEWED {
            self.kept_since = 0;
            self.habits.learn(self.recent.archive.top().map(|entry| &entry.derivation));
        }
        kept
    }
}

/// A text that has run.
#[derive(Debug)]
struct Run<'r> {
    derivation: &'r Derivation,
    measured: &'r Measured,
    /// The edges that it has executed, or would have executed in its time.
    executed: u64,
}

impl<'r> Run<'r> {
    fn new(desk: &Desk, derivation: &'r Derivation, measured: &'r Measured) -> Run<'r> {
        // Of a run that exceeds a limit on edges no counts are known but that of the hottest one.
        let counted = measured.edges.iter().fold(0, |sum: u64, &(_, count)| sum.saturating_add(count));
        let executed = match counted.max(measured.hottest) {
            _ if measured.is_repeat => 0,
            0 if desk.uses_times => (measured.seconds * EDGES_A_SECOND) as u64,
            executed => executed,
        };
        Run { derivation, measured, executed }
    }

    /// Returns what the run has taken, in edges.
    fn taken(&self) -> u64 {
        if self.measured.is_repeat { 0 } else { self.executed.saturating_add(balance::START) }
    }

    /// Returns true if the text may be varied.
    fn is_to_keep(&self) -> bool {
        let &Measured { ending, is_repeat, .. } = self.measured;
        ending == Ending::Done && self.derivation.is_of_language() && !is_repeat
    }

    fn merits(&self) -> Merits<'r> {
        let &Measured { cost, ref edges, .. } = self.measured;
        Merits { cost, executed: self.executed, costs: self.measured.several(), edges, is_new: false }
    }
}

/// The best text of a beginning.
#[derive(Debug)]
struct Best {
    /// Its derivation, which may lack its parts.
    derivation: Derivation,
    cost: u64,
    executed: u64,
    edges: Vec<Edge>,
}

impl Best {
    fn new(run: &Run<'_>) -> Best {
        let &Measured { cost, ref edges, .. } = run.measured;
        Best { derivation: run.derivation.clone(), cost, executed: run.executed, edges: edges.clone() }
    }
}

/// Titles that a text has won: whether it is a champion of the whole search, and whether it is one among quick texts.
#[derive(Clone, Copy, Debug, Default)]
struct Won {
    of_all: bool,
    of_quick: bool,
}

/// Weight of a text: whether it costs more than all before it, and whether it is a rise.
#[derive(Clone, Copy, Debug, Default)]
struct Weight {
    is_best: bool,
    is_rise: bool,
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
        // Few champions of the whole search may be quick, so one among quick texts is varied in their place.
        let is_quick =
            self.balance.is_quick_due() && !self.quick.archive.is_empty() && (is_wide || desk.random.unit() < QUICK);
        let pool = match (is_quick, is_wide) {
            (true, _) => Pool::Quick,
            (false, true) => Pool::Wide,
            (false, false) => Pool::Recent,
        };
        // Also texts that the search knows, which it does not run, are counted.
        self.barren += u64::from(pool == Pool::Wide);
        self.wide_due = if self.barren > BARREN { 0 } else { self.wide_due.saturating_sub(1) };
        let most_executed = self.balance.most_executed();
        let Portfolio { recent, wide, quick, workshop, habits, .. } = self;
        let Island { archive, ways } = match pool {
            Pool::Recent => recent,
            Pool::Wide => wide,
            Pool::Quick => quick,
        };
        for _ in 0..TRIES {
            let way = ways.choose(&mut desk.random);
            let operator = Operator::ALL[way];
            let best = if operator == Operator::Next && desk.random.below(2) == 0 { archive.best() } else { None };
            let best = best.filter(|&best| archive.entry(best).executed <= most_executed);
            let Some(parent) = best.or_else(|| archive.pick(&mut desk.random, most_executed)) else { break };
            // A text at random has no parent.
            let varied = (operator != Operator::Fresh).then(|| (parent, archive.entry(parent).serial));
            let parent_executed = varied.map(|_| archive.entry(parent).executed);
            self.making = Making { way, parent: varied, beginning: self.beginning, pool, parent_executed };
            if workshop.make(operator, desk, (archive, parent), habits, candidate) {
                return;
            }
            // A way that is not open costs little, but it costs.
            ways.learn(way, 0.0, 0.2);
        }
        self.draw(desk, candidate);
    }

    fn observe(&mut self, desk: &mut Desk, candidate: &Derivation, measured: &Measured) {
        let Making { way, parent, beginning, pool, parent_executed } = self.making;
        let run = &Run::new(desk, candidate, measured);
        let won = self.keep_champion(desk, run);
        let Weight { is_best, is_rise } = self.weigh(run);
        // The search may have begun anew while the text ran.
        let is_left = pool == Pool::Recent && beginning != self.beginning;
        self.has_found |= is_best && !is_left;
        // The parent may have been dropped.
        if let Some(parent) = parent.filter(|_| !is_left)
            && let Some(parent) = self.island(pool).archive.known_mut(parent)
        {
            parent.picks += 1;
            parent.stopped += u32::from(measured.ending == Ending::Stopped);
        }
        let is_better = if pool == Pool::Recent && !is_left { self.is_rise_here(run) } else { is_rise };
        if measured.is_repeat {
            self.balance.add_repeat();
        } else if !measured.several().is_empty() || desk.explores {
            // A text may be worth its time though it is not better.
        } else if is_better {
            self.balance.add_better(run.executed);
        } else if pool == Pool::Quick {
            self.balance.add_quick(run.executed);
        } else {
            self.balance.add(run.executed, parent_executed.filter(|_| !is_left));
        }
        if pool != Pool::Recent {
            return self.observe_champion(run, won, is_best);
        }
        let coverage = self.explored(desk, measured);
        if is_left {
            if is_best {
                self.keep_best(run);
            }
            return;
        }
        self.count_run(run);
        let kept = self.keep(run, coverage > Coverage::Known);
        self.rank();
        if self.is_stale() && measured.several().is_empty() && !desk.explores {
            self.restart();
        }
        let paid = match kept {
            Some(_) if coverage == Coverage::Edge => 10.0,
            Some(_) if coverage == Coverage::Class => 3.0,
            Some(_) if is_better => 10.0,
            Some(Kept { place: Some(0), .. }) => 10.0,
            Some(Kept { place: Some(place), edges, .. }) => {
                2.0 / (1.0 + place as f64 / 8.0) + f64::from(u8::from(edges > 0))
            }
            Some(Kept { place: None, .. }) => 0.5,
            None => 0.0,
        };
        self.recent.ways.learn(way, paid, 1.0);
    }

    fn adopt(&mut self, desk: &mut Desk, derivation: &Derivation, measured: &Measured) {
        if derivation.text.len() > desk.max_len {
            return;
        }
        let run = &Run::new(desk, derivation, measured);
        let coverage = self.explored(desk, measured);
        self.keep_champion(desk, run);
        if self.weigh(run).is_rise {
            self.wide_due = 0;
        }
        if self.is_rise_here(run) {
            self.balance.begin();
        }
        self.keep(run, coverage > Coverage::Known);
        self.rank();
    }

    fn operator(&self) -> &'static str {
        Operator::ALL[self.making.way].name()
    }

    /// Returns true: one result more or less makes no difference to the archive, but those of slow texts, which are
    /// awaited.
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
