//! The expected speed of a plan: the bytes that its steps make, and the caches that they read from.

use super::plan::{Plan, Visits};

/// The memory that the steps of a trial run read.
pub(crate) struct Traffic {
    /// Mean bytes of text a step.
    pub(crate) bytes: f64,
    /// Mean number of records and rows that a step reads from beyond the first-level cache.
    pub(crate) first: f64,
    /// Mean number of records and rows that a step reads from beyond the second-level cache.
    pub(crate) second: f64,
}

/// Lines that stay in a first-level cache of 32 KiB, together with stacks and text.
const FIRST_LEVEL: usize = 256;
/// Lines that stay in a second-level cache of 1 MiB.
const SECOND_LEVEL: usize = 12 << 10;

impl Traffic {
    /// Returns the bytes a nanosecond, about: fitted to 48 plans that were measured, which it meets to within a seventh
    /// (`docs/bulk.md`).
    pub(crate) fn speed(&self) -> f64 {
        self.bytes / (1.9 + 0.2 * self.bytes + 1.3 * self.first + 4.0 * self.second)
    }

    /// Returns the reads of steps that visit the keys, and lines of the table of rows, this often.
    pub(crate) fn of(plan: &Plan, visits: &Visits, rows: Vec<f64>) -> Traffic {
        let mut by_state = vec![0.0; plan.states.len()];
        // In the order of the keys: sums of binary64 depend on it.
        for &(ref key, state) in &plan.index {
            by_state[state as usize] += visits.get(key).copied().unwrap_or_default();
        }
        let mut reads = rows;
        let mut bytes = 0.0;
        for (state, &visits) in plan.states.iter().zip(&by_state) {
            let even = 1.0 / state.entries.len() as f64;
            for entry in &state.entries {
                bytes += visits * entry.probability * entry.text.len() as f64;
                // The record of the cell that is drawn, or its alias.
                reads.push(visits * entry.probability.max(even));
            }
        }
        let beyond = |kept: usize, reads: &mut [f64]| {
            if kept >= reads.len() {
                return 0.0;
            }
            let (_, _, rest) = reads.select_nth_unstable_by(kept, |a, b| b.total_cmp(a));
            rest.sort_unstable_by(f64::total_cmp);
            rest.iter().sum()
        };
        let first = beyond(FIRST_LEVEL, &mut reads);
        let second = beyond(SECOND_LEVEL, &mut reads);
        Traffic { bytes, first, second }
    }
}
