//! Time for texts that take little of it.
//!
//! Where a few texts take a second and the others less than a millisecond, their variants would take nearly all the
//! time. The first such text is rarely the slowest that can be found, and the next one may be one change away from a
//! text that takes little. So once variants of such texts have taken long without a better text, each further
//! one is followed by variants of quicker texts for the same time. Those count as runs without a better text, so the
//! search begins anew sooner, unless all texts vary champions.
//!
//! Before that, none follow: in other programs each slow text is made from one that is hardly quicker.
//!
//! Most variants of quicker texts are of the champions of edges among these. A slow text may execute its hottest edge a
//! million times as often as a quick one with the same structure. Among quick texts a better structure is found in less
//! time. These variants do not count in the average, which would follow them, unless they are better.
//!
//! Edges stand for time, as the time by the clock would differ from search to search. Where no edges are counted and
//! the cost is not exact, the time is turned into edges.

/// A run is long if it takes more than this many times as long as the average one.
const LONG: u64 = 16;
/// Number of edges that stands for what each run takes besides: to make a text, and to start a process for it. It is
/// some tenths of a millisecond in compiled programs.
pub(super) const START: u64 = 1 << 17;
/// Long runs that find nothing better may take as much as this many average ones.
const TRIALS: u64 = 512;
/// There is no average before this many runs.
const FIRST: u64 = 64;

/// Balance of what runs have taken, and of what is left for quicker texts, in edges.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Balance {
    runs: u64,
    taken: u64,
    owed: u64,
    /// Edges that long runs of variants of slow texts have taken since the last better text.
    failed: u64,
}

impl Balance {
    /// Counts a run that has executed this number of edges and is not better than those before. `parent` is the number
    /// that its parent has executed, if it has one.
    pub(super) fn add(&mut self, executed: u64, parent: Option<u64>) {
        let limit = self.limit();
        let taken = executed.saturating_add(START);
        if taken <= limit {
            self.owed = self.owed.saturating_sub(taken);
        } else if parent.is_some_and(|parent| parent.saturating_add(START) > limit) {
            self.failed = self.failed.saturating_add(taken);
            if self.failed > self.average().saturating_mul(TRIALS) {
                self.owed = self.owed.saturating_add(taken);
            }
        }
        self.count(taken);
    }

    /// Counts a run of a variant of a champion among quick texts that is not better than those before.
    pub(super) fn add_quick(&mut self, executed: u64) {
        let taken = executed.saturating_add(START);
        if taken <= self.limit() {
            self.owed = self.owed.saturating_sub(taken);
        }
    }

    /// Counts a run that has executed this number of edges and is better than those before.
    pub(super) fn add_better(&mut self, executed: u64) {
        self.begin();
        self.count(executed.saturating_add(START));
    }

    /// Counts a text that the search knew, so that it did not run.
    pub(super) fn add_repeat(&mut self) {
        self.owed = self.owed.saturating_sub(START);
    }

    /// Lets slow texts be varied again. The average is kept.
    pub(super) fn begin(&mut self) {
        (self.owed, self.failed) = (0, 0);
    }

    /// Returns true if variants of quicker texts are due.
    pub(super) fn is_quick_due(&self) -> bool {
        self.owed > 0
    }

    /// Returns the greatest number of edges that the next text to vary should execute.
    pub(super) fn most_executed(&self) -> u64 {
        if self.is_quick_due() { self.quick_limit() } else { u64::MAX }
    }

    /// Returns the greatest number of edges of a quick text. Before there is an average, it is as if runs did nothing
    /// but start.
    pub(super) fn quick_limit(&self) -> u64 {
        let limit = if self.runs < FIRST { LONG * START } else { self.limit() };
        limit.saturating_sub(START)
    }

    /// Counts a run in the average. A run counts at most as sixteen average ones.
    fn count(&mut self, taken: u64) {
        let most = self.average().max(START).saturating_mul(LONG);
        self.runs += 1;
        self.taken = self.taken.saturating_add(taken.min(most));
    }

    /// Returns the number of edges above which a run is long.
    fn limit(&self) -> u64 {
        if self.runs < FIRST { u64::MAX } else { self.average().saturating_mul(LONG) }
    }

    fn average(&self) -> u64 {
        self.taken / self.runs.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two such runs are free, as [`TRIALS`] is more than 400 and less than 600.
    const SLOW: u64 = 200 * START;

    /// Returns a balance after this many runs that only start.
    fn balance(runs: u64) -> Balance {
        let mut balance = Balance::default();
        (0..runs).for_each(|_| balance.add(0, None));
        balance
    }

    /// Returns how many runs that only start are due.
    fn due(balance: &mut Balance) -> usize {
        let is_due = |balance: &mut Balance| balance.most_executed() < u64::MAX;
        std::iter::from_fn(|| is_due(balance).then(|| balance.add(0, None))).count()
    }

    #[test]
    fn after_long_runs_without_a_better_text_quick_ones_have_the_same_time() {
        let mut balance = balance(10_000);
        let trials = |balance: &mut Balance| {
            for _ in 0..2 {
                balance.add(SLOW, Some(SLOW));
                assert_eq!(balance.most_executed(), u64::MAX);
            }
            balance.add(SLOW, Some(SLOW));
            assert!((15 * START..20 * START).contains(&balance.most_executed()), "{}", balance.most_executed());
        };
        trials(&mut balance);
        assert_eq!(due(&mut balance), 201);
        balance.add(SLOW, Some(SLOW));
        balance.add(SLOW, Some(SLOW));
        assert_eq!(due(&mut balance), 402);
        // A better text, or a new beginning, gives slow ones a new start.
        balance.add(SLOW, Some(SLOW));
        balance.add_better(SLOW);
        trials(&mut balance);
        balance.begin();
        trials(&mut balance);
        // In a small language quick texts may all be known.
        (0..200).for_each(|_| balance.add_repeat());
        assert_eq!(due(&mut balance), 1);
    }

    #[test]
    fn variants_of_quick_champions_pay_what_is_owed_and_leave_the_average() {
        let mut balance = balance(1000);
        balance.add(1000 * START, Some(1000 * START));
        let (owed, limit) = (balance.owed, balance.limit());
        balance.add_quick(10 * START);
        assert_eq!((balance.owed, balance.limit()), (owed - 11 * START, limit));
        (0..1000).for_each(|_| balance.add_quick(SLOW));
        assert_eq!((balance.owed, balance.limit()), (owed - 11 * START, limit));
        // Before there is an average, it is as if runs only started.
        assert_eq!(Balance::default().quick_limit(), 15 * START);
    }

    #[test]
    fn one_run_among_the_first_does_not_set_the_average() {
        let mut balance = balance(10);
        balance.add_better(10_000 * START);
        balance.add(10_000 * START, None);
        (0..100).for_each(|_| balance.add(0, None));
        assert!(balance.limit() < 2 * LONG * START, "{}", balance.limit());
        balance.add(10_000 * START, Some(10_000 * START));
        assert_eq!(due(&mut balance), 10_001);
    }

    #[test]
    fn the_average_is_soon_that_of_slow_programs() {
        let mut balance = Balance::default();
        (0..FIRST).for_each(|_| balance.add(10_000 * START, None));
        assert!((5000 * START..10_002 * START).contains(&balance.average()), "{}", balance.average());
    }

    #[test]
    fn the_slower_texts_are_the_fewer_are_free() {
        let mut balance = balance(FIRST);
        balance.add(1000 * START, Some(1000 * START));
        assert_eq!(due(&mut balance), 1001);
    }

    #[test]
    fn long_runs_of_variants_of_quick_texts_owe_nothing() {
        let mut balance = balance(1000);
        for _ in 0..100 {
            balance.add(SLOW, Some(START));
            balance.add(SLOW, None);
            balance.add(0, Some(SLOW));
            assert_eq!(due(&mut balance), 0);
        }
    }

    #[test]
    fn runs_that_are_alike_or_grow_slowly_owe_nothing() {
        let mut few = balance(FIRST - 10);
        (0..10).for_each(|_| few.add(SLOW, Some(SLOW)));
        assert_eq!(due(&mut few), 0, "no average yet");
        let (mut alike, mut grow) = (balance(FIRST), Balance::default());
        for run in 0..10_000u64 {
            alike.add(10 * START, Some(10 * START));
            grow.add(1000 * run, Some(1000 * run));
            assert_eq!((alike.owed, grow.owed), (0, 0));
        }
        alike.add(u64::MAX, Some(u64::MAX));
        assert!(alike.limit() < 200 * START);
    }

    /// Then long runs are the rule.
    #[test]
    fn the_average_follows_where_all_runs_are_long() {
        let mut balance = balance(FIRST);
        for _ in 0..100 {
            balance.add(SLOW, Some(SLOW));
        }
        assert!(balance.limit() > SLOW);
    }
}
