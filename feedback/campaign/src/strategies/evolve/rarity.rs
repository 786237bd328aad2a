//! The rarity of the edges of a text.

use gramjet_search::Edge;

/// Number of runs that have executed each edge.
#[derive(Clone, Debug, Default)]
pub(super) struct Rarity {
    runs: Vec<u64>,
}

impl Rarity {
    /// Adds a run.
    pub(super) fn add(&mut self, edges: &[Edge]) {
        for edge in executed(edges) {
            let number = edge as usize;
            if number >= self.runs.len() {
                self.runs.resize(number + 1, 0);
            }
            self.runs[number] += 1;
        }
    }

    /// Returns the sum over these edges of 1 / n, where n runs have executed the edge: 1 for one that only this run has
    /// executed, and almost nothing for one that all execute. It lessens as other texts execute the same edges.
    pub(super) fn of(&self, edges: &[u32]) -> f64 {
        edges.iter().filter_map(|&edge| self.runs.get(edge as usize)).map(|&runs| 1.0 / runs.max(1) as f64).sum()
    }
}

/// Returns the numbers of the edges that were executed.
pub(super) fn executed(edges: &[Edge]) -> impl Iterator<Item = u32> {
    edges.iter().filter(|edge| edge.1 > 0).map(|edge| edge.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_count_less_the_more_runs_execute_them() {
        let mut rarity = Rarity::default();
        rarity.add(&[(0, 3), (2, 1), (5, 0)]);
        assert_eq!([rarity.of(&[0, 2]), rarity.of(&[]), rarity.of(&[9])], [2.0, 0.0, 0.0]);
        for _ in 0..3 {
            rarity.add(&[(0, 1)]);
        }
        rarity.add(&[(2, 7), (1, 1)]);
        // Edge 0 in four runs, 1 in one, 2 in two.
        assert_eq!([rarity.of(&[0, 2]), rarity.of(&[0, 1, 2])], [0.75, 1.75]);
    }
}
