//! The rule by which TreeLine drops its tree: if too few of the last costs differ.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// The greatest share of different costs that is too small (M).
const MOST: f64 = 0.9;
/// Speed at which the share that is too small grows with the runs of a tree (d).
const GROWTH: f64 = 5e-5;
/// The number of last costs before the first best cost is known.
const FIRST: usize = 25_000;

/// The last costs since a tree was begun.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    costs: VecDeque<u64>,
    counts: FxHashMap<u64, u32>,
    /// Number of costs that are looked at.
    len: usize,
    runs: u64,
}

impl Tail {
    pub(super) fn new() -> Tail {
        Tail { costs: VecDeque::new(), counts: FxHashMap::default(), len: FIRST, runs: 0 }
    }

    /// Looks at as many costs as suit the distance of the greatest cost from that of the empty text.
    pub(super) fn suit(&mut self, range: u64) {
        self.len = len_for(range);
        self.shorten();
    }

    /// Adds the cost of a run.
    pub(super) fn add(&mut self, cost: u64) {
        self.runs += 1;
        self.costs.push_back(cost);
        *self.counts.entry(cost).or_default() += 1;
        self.shorten();
    }

    /// Returns true if the tree is to be dropped.
    pub(super) fn is_stale(&self) -> bool {
        self.runs >= self.len as u64 && self.unique() < threshold(self.runs)
    }

    /// Begins again with a new tree.
    pub(super) fn clear(&mut self) {
        self.costs.clear();
        self.counts.clear();
        self.runs = 0;
    }

    /// Returns the share of different costs.
    fn unique(&self) -> f64 {
        match self.costs.len() < self.len {
            true => 1.0,
            false => self.counts.len() as f64 / self.len as f64,
        }
    }

    fn shorten(&mut self) {
        while self.costs.len() > self.len {
            let Some(cost) = self.costs.pop_front() else { break };
            if let Some(count) = self.counts.get_mut(&cost) {
                *count -= 1;
                if *count == 0 {
                    self.counts.remove(&cost);
                }
            }
        }
    }
}

/// Returns the share of different costs below which a tree with this many runs is dropped.
fn threshold(runs: u64) -> f64 {
    MOST * (1.0 - (-(runs as f64) * GROWTH).exp())
}

fn len_for(range: u64) -> usize {
    match range {
        0..500 => 200_000,
        500..1_000 => 100_000,
        1_000..100_000 => 50_000,
        100_000..1_000_000 => FIRST,
        1_000_000..1_000_000_000 => 5_000,
        1_000_000_000.. => 2_500,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_the_published_ones() {
        let found = [2_500, 5_000, 25_000, 50_000, 100_000].map(|runs| (threshold(runs) * 1000.0).round());
        assert_eq!(found, [106.0, 199.0, 642.0, 826.0, 894.0]);
    }

    #[test]
    fn the_tail_is_shorter_for_greater_costs() {
        let ranges = [0, 499, 500, 999, 1_000, 99_999, 100_000, 999_999, 1_000_000, 999_999_999, 1_000_000_000];
        let lens = ranges.map(|range| len_for(range) / 100);
        assert_eq!(lens, [2000, 2000, 1000, 1000, 500, 500, 250, 250, 50, 50, 25]);
    }

    #[test]
    fn a_tree_is_dropped_when_its_last_costs_repeat() {
        let mut tail = Tail::new();
        tail.suit(1 << 40);
        // 264 different costs of 2500 are 0.1056, and 0.9 (1 - exp(-0.125)) = 0.10575.
        for run in 0..2_500 {
            assert!(!tail.is_stale(), "{run}");
            tail.add(run % 264);
        }
        assert!((tail.unique() - 0.1056).abs() < 1e-9 && tail.is_stale());
        tail.clear();
        for run in 0..2_500 {
            tail.add(run % 265);
        }
        assert!(!tail.is_stale(), "265 of 2500 are 0.106");
        // One more run: the first cost leaves the tail but is in it elsewhere.
        tail.add(264);
        assert_eq!(tail.unique(), 0.106);
        // 50 more different costs in a tail that has become full of one other cost.
        (0..2_500).for_each(|_| tail.add(7));
        assert_eq!((tail.unique(), tail.counts.len()), (1.0 / 2_500.0, 1));
    }

    #[test]
    fn a_shorter_tail_forgets_the_oldest_costs() {
        let mut tail = Tail::new();
        (0..6_000).for_each(|cost| tail.add(cost / 2));
        assert_eq!(tail.unique(), 1.0, "until the tail is full");
        tail.suit(5_000_000);
        assert_eq!((tail.costs.len(), tail.counts.len(), tail.unique()), (5_000, 2_500, 0.5));
    }
}
