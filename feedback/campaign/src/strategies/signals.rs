//! The signals of a good run, for BiasOnly and TreeLine: a new best cost, new coverage, or a new maximum of an edge.

use gramjet_search::Maxima;
use gramjet_search::Measured;

/// The best cost and the maxima of edges so far.
#[derive(Debug, Default)]
pub(super) struct Signals {
    best: u64,
    maxima: Maxima,
}

/// Signals that a run gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signal {
    /// Whether it costs more than all before.
    pub(super) is_best: bool,
    /// Whether it has new coverage or a new maximum of an edge.
    pub(super) is_new: bool,
}

impl Signal {
    /// Returns true if its choices are worth a reward.
    pub(super) fn is_good(self) -> bool {
        self.is_best || self.is_new
    }
}

impl Signals {
    /// Adds a run. One that was stopped counts as any other, as published.
    pub(super) fn add(&mut self, measured: &Measured) -> Signal {
        let is_best = measured.cost > self.best;
        self.best = self.best.max(measured.cost);
        Signal { is_best, is_new: self.maxima.add(&measured.edges).is_any() }
    }

    /// Returns the greatest cost.
    pub(super) fn best(&self) -> u64 {
        self.best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::kit::measured;

    #[test]
    fn a_run_is_good_if_it_costs_more_or_is_new() {
        let mut signals = Signals::default();
        let mut add = |cost, edges: &[_]| signals.add(&measured(cost, edges));
        assert_eq!(add(5, &[(1, 5)]), Signal { is_best: true, is_new: true });
        assert!(!add(5, &[(1, 5)]).is_good());
        assert_eq!(add(6, &[]), Signal { is_best: true, is_new: false });
        assert_eq!(add(2, &[(2, 1)]), Signal { is_best: false, is_new: true });
        assert_eq!(signals.best(), 6);
    }
}
