//! The edges of an instrumented program, and how often each was executed.

/// An edge and how often it was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// Its number, from 1 on in programs that `gramjet cc` has built.
    pub number: u32,
    /// Number of times that it was executed.
    pub count: u64,
}

/// The edges that a run has executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    executed: Vec<Edge>,
    total: u64,
    hottest: Option<Edge>,
    known: u32,
}

/// Counters are checked in blocks of this many: a block of zeroes costs one comparison.
const BLOCK: usize = 128;
/// In a block with other counters, this many zeroes cost one comparison.
const FEW: usize = 8;

impl Edges {
    /// Returns the edges that were executed, in ascending order of their numbers.
    pub fn executed(&self) -> &[Edge] {
        &self.executed
    }

    /// Returns the number of each edge that was executed, and how often it was.
    pub fn counts(&self) -> impl Iterator<Item = (u32, u64)> {
        self.executed.iter().map(|edge| (edge.number, edge.count))
    }

    /// Returns the sum of all counts: the cost of the run.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the edge that was executed most often; the first of several.
    pub fn hottest(&self) -> Option<Edge> {
        self.hottest
    }

    /// Returns how many counters the program has.
    pub fn known(&self) -> u32 {
        self.known
    }

    /// Returns how often an edge was executed.
    pub fn count(&self, number: u32) -> u64 {
        let place = self.executed.binary_search_by_key(&number, |edge| edge.number);
        place.map_or(0, |place| self.executed[place].count)
    }

    /// Gives each edge the number at the place that its number names; 0 is dropped, and the counts of edges that get
    /// one number are added.
    pub(crate) fn renumber(&mut self, numbers: &[u32], known: u32) {
        for edge in &mut self.executed {
            edge.number = numbers.get(edge.number as usize).copied().unwrap_or(0);
        }
        self.executed.retain(|edge| edge.number != 0);
        self.executed.sort_unstable_by_key(|edge| edge.number);
        self.executed.dedup_by(|next, kept| {
            let is_same = next.number == kept.number;
            if is_same {
                kept.count = kept.count.saturating_add(next.count);
            }
            is_same
        });
        self.known = known;
        self.sum();
    }

    fn sum(&mut self) {
        self.total = 0;
        let mut hottest = Edge { number: 0, count: 0 };
        for &edge in &self.executed {
            // A program can write any count into the shared memory.
            self.total = self.total.saturating_add(edge.count);
            // Of several the first.
            if edge.count > hottest.count {
                hottest = edge;
            }
        }
        self.hottest = (hottest.count > 0).then_some(hottest);
    }

    /// Takes over pairs of a number, from 1 to `known`, and a count, in ascending order of the numbers. Others, which
    /// a program may have written, are left out.
    pub(crate) fn take_listed(&mut self, pairs: impl Iterator<Item = (u32, u32)>, known: u32) {
        self.executed.clear();
        self.known = known;
        self.executed.reserve(pairs.size_hint().0);
        let mut last = 0;
        for (number, count) in pairs {
            let count = u64::from(count);
            if number > last && number <= known && count > 0 {
                last = number;
                self.executed.push(Edge { number, count });
            }
        }
        self.sum();
    }

    /// Takes over counters and makes them zero. Carries, if there are any, are as many: a counter has begun again at 0
    /// that often.
    pub(crate) fn take<C: Counter>(&mut self, counters: &mut [C], carries: &[u32]) {
        self.executed.clear();
        self.known = counters.len().saturating_sub(1) as u32;
        for (number, block) in counters.chunks_mut(BLOCK).enumerate() {
            if carries.is_empty() {
                if block.iter().fold(C::ZERO, |all, &counter| all.or(counter)) == C::ZERO {
                    continue;
                }
                // Mostly few counters of a block are used.
                for (first, few) in (number * BLOCK..).step_by(FEW).zip(block.chunks(FEW)) {
                    if few.iter().fold(C::ZERO, |all, &counter| all.or(counter)) == C::ZERO {
                        continue;
                    }
                    for (place, counter) in few.iter().enumerate() {
                        let count = counter.count();
                        if count != 0 {
                            self.executed.push(Edge { number: (first + place) as u32, count });
                        }
                    }
                }
                block.fill(C::ZERO);
                continue;
            }
            for (place, counter) in block.iter_mut().enumerate() {
                let number = number * BLOCK + place;
                let carry = carries.get(number).map_or(0, |&carry| u64::from(carry) << u32::BITS);
                let count = counter.count().saturating_add(carry);
                if count != 0 {
                    self.executed.push(Edge { number: number as u32, count });
                }
                *counter = C::ZERO;
            }
        }
        // Number 0 counts the edges without a counter of their own.
        if self.executed.first().is_some_and(|edge| edge.number == 0) {
            self.executed.remove(0);
        }
        self.sum();
    }
}

/// A counter in shared memory: 32 bits of ours, 8 of AFL++, 64 of other languages, a floating-point number of Node.
pub(crate) trait Counter: Copy + PartialEq {
    const ZERO: Self;
    /// Returns a count that is zero only if both are.
    fn or(self, other: Self) -> Self;
    fn count(self) -> u64;
}

macro_rules! unsigned_counters {
    ($($counter:ty),*) => { $(
        impl Counter for $counter {
            const ZERO: $counter = 0;
            fn or(self, other: $counter) -> $counter {
                self | other
            }
            fn count(self) -> u64 {
                u64::from(self)
            }
        }
    )* };
}
unsigned_counters!(u8, u32, u64);

impl Counter for f64 {
    const ZERO: f64 = 0.0;
    fn or(self, other: f64) -> f64 {
        f64::from_bits(self.to_bits() | other.to_bits())
    }
    fn count(self) -> u64 {
        self as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(counters: &mut [u32]) -> Edges {
        let mut edges = Edges::default();
        edges.take(counters, &[]);
        assert!(counters.iter().all(|&counter| counter == 0));
        edges
    }

    #[test]
    fn counters_become_edges_and_are_cleared() {
        let mut counters = vec![0; 1000];
        (counters[0], counters[1], counters[500], counters[999]) = (9, 3, 7, 7);
        let edges = taken(&mut counters);
        let executed: Vec<(u32, u64)> = edges.counts().collect();
        assert_eq!(executed, [(1, 3), (500, 7), (999, 7)]);
        assert_eq!((edges.total(), edges.known(), edges.count(500), edges.count(2)), (17, 999, 7, 0));
        assert_eq!(edges.hottest(), Some(Edge { number: 500, count: 7 }));
        assert_eq!(taken(&mut counters).hottest(), None);
    }

    #[test]
    fn listed_counts_become_edges_whatever_a_program_has_written() {
        let mut edges = Edges::default();
        edges.take_listed([(1, 3), (500, u32::MAX), (999, 7)].into_iter(), 999);
        let executed: Vec<(u32, u64)> = edges.counts().collect();
        assert_eq!(executed, [(1, 3), (500, u64::from(u32::MAX)), (999, 7)]);
        assert_eq!((edges.total(), edges.known()), (u64::from(u32::MAX) + 10, 999));
        edges.take_listed([(0, 1), (7, 2), (7, 3), (6, 4), (1000, 5), (8, 6), (9, 0)].into_iter(), 999);
        let executed: Vec<(u32, u64)> = edges.counts().collect();
        assert_eq!((executed, edges.total()), (vec![(7, 2), (8, 6)], 8));
    }

    #[test]
    fn counters_of_all_kinds_become_edges() {
        fn executed<C: Counter>(mut counters: Vec<C>) -> Vec<u64> {
            let mut edges = Edges::default();
            edges.take(&mut counters, &[]);
            assert!(counters.iter().all(|&counter| counter == C::ZERO));
            edges.executed().iter().map(|edge| edge.count).collect()
        }
        let most = (1 << 53) - 1;
        assert_eq!(executed(vec![0, 5u8, 0, u8::MAX]), [5, 255]);
        assert_eq!(executed(vec![0, 5, 0, most]), [5, most]);
        assert_eq!(executed(vec![0.0, 5.0, 0.0, most as f64]), [5, most]);
    }

    #[test]
    fn carries_are_the_high_half_of_counts() {
        let mut counters = vec![0; 300];
        (counters[1], counters[2], counters[299]) = (3, u32::MAX, 1);
        let mut carries = vec![0; 300];
        (carries[2], carries[150], carries[299]) = (1, 2, u32::MAX);
        let mut edges = Edges::default();
        edges.take(&mut counters, &carries);
        let executed: Vec<(u32, u64)> = edges.counts().collect();
        let most = u64::from(u32::MAX) << 32 | 1;
        assert_eq!(executed, [(1, 3), (2, (1 << 33) - 1), (150, 1 << 33), (299, most)]);
        assert_eq!((edges.hottest(), edges.known()), (Some(Edge { number: 299, count: most }), 299));
        assert!(counters.iter().all(|&counter| counter == 0));
    }

    #[test]
    fn edges_get_the_numbers_of_a_table() {
        let mut edges = taken(&mut [0, 4, 5, 0, 7, 1]);
        edges.renumber(&[0, 3, 0, 1, 2, 3], 9);
        assert_eq!(edges.executed(), [Edge { number: 2, count: 7 }, Edge { number: 3, count: 5 }]);
        assert_eq!((edges.total(), edges.known(), edges.hottest()), (12, 9, Some(Edge { number: 2, count: 7 })));
    }
}
