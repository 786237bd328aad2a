//! Chooses one of several ways: mostly those that have paid lately, now and then the others.

use crate::random::Random;

/// Share of past gains and costs that each step keeps, as the best way changes in the course of a search.
const KEPT: f64 = 0.999;
/// Each way is tried in at least this share of all cases, and all ways together in at most this share regardless of
/// what they pay. A way that costs several times as much as others is tried as much more rarely.
const LEAST: f64 = 0.05;
const LEAST_IN_ALL: f64 = 0.3;

/// Chooses among `N` ways in proportion to their gains divided by their costs, both discounted.
#[derive(Clone, Debug)]
pub(crate) struct Bandit<const N: usize> {
    paid: [f64; N],
    cost: [f64; N],
    /// Number of times that each was taken, discounted as well.
    taken: [f64; N],
    /// Numbers that are added to gains and to costs: the shares of the ways while none of them pays.
    prior: [(f64, f64); N],
}

impl<const N: usize> Bandit<N> {
    pub(crate) fn new() -> Bandit<N> {
        // Each way begins as if it had paid a little, so none is given up before it was tried.
        Bandit { paid: [1.0; N], cost: [10.0; N], taken: [10.0; N], prior: [(0.0, 0.0); N] }
    }

    /// Sets what is expected of each way: while no way pays, each is taken more often, the more is expected of it. An
    /// expectation of 1 counts as so many gains.
    pub(crate) fn with_expected(self, expected: [f64; N], gains: f64) -> Bandit<N> {
        Bandit { prior: expected.map(|share| (gains * share, 10.0 * gains)), ..self }
    }

    pub(crate) fn choose(&self, random: &mut Random) -> usize {
        self.choose_among(&std::array::from_fn::<usize, N, _>(|way| way), random)
    }

    /// Returns one of these ways, of which there are some.
    pub(crate) fn choose_among(&self, ways: &[usize], random: &mut Random) -> usize {
        let rates: [f64; N] = std::array::from_fn(|way| {
            let (paid, cost) = self.prior[way];
            (self.paid[way] + paid) / (self.cost[way] + cost)
        });
        let sum: f64 = ways.iter().map(|&way| rates[way]).sum();
        let most = LEAST.min(LEAST_IN_ALL / ways.len() as f64);
        let least = |way: usize| most / (self.cost[way] / self.taken[way]).max(1.0);
        let free = 1.0 - ways.iter().map(|&way| least(way)).sum::<f64>();
        let mut left = random.unit();
        for &way in ways {
            left -= least(way) + free * rates[way] / sum;
            if left < 0.0 {
                return way;
            }
        }
        ways[ways.len() - 1]
    }

    /// Records a cost of the way, and its gain or 0.
    pub(crate) fn learn(&mut self, way: usize, paid: f64, cost: f64) {
        for known in 0..N {
            self.paid[known] *= KEPT;
            self.cost[known] *= KEPT;
            self.taken[known] *= KEPT;
        }
        self.paid[way] += paid;
        self.cost[way] += cost;
        self.taken[way] += 1.0;
        // No share becomes zero, however long its way was not taken.
        for known in 0..N {
            self.paid[known] = self.paid[known].max(1e-3);
            self.cost[known] = self.cost[known].max(1e-2);
            self.taken[known] = self.taken[known].max(1e-2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_that_pays_is_taken_most_and_no_way_is_given_up() {
        let (mut bandit, mut random) = (Bandit::<3>::new(), Random::new(1));
        let mut taken = [0; 3];
        for _ in 0..3000 {
            let way = bandit.choose(&mut random);
            taken[way] += 1;
            bandit.learn(way, f64::from(u8::from(way == 1)), 1.0);
        }
        assert!(taken[1] > 2000 && taken[0] > 50 && taken[2] > 50, "{taken:?}");
        for _ in 0..3000 {
            let way = bandit.choose(&mut random);
            taken[way] += 1;
            bandit.learn(way, f64::from(u8::from(way == 2)), 1.0);
        }
        assert!(taken[2] > 1500, "{taken:?}");
    }

    #[test]
    fn a_way_that_is_dear_and_does_not_pay_costs_little_in_all() {
        let (mut bandit, mut random) = (Bandit::<3>::new(), Random::new(1));
        let mut taken = [0; 3];
        for _ in 0..20_000 {
            let way = bandit.choose(&mut random);
            taken[way] += 1;
            bandit.learn(way, f64::from(u8::from(way == 1)), if way == 2 { 20.0 } else { 1.0 });
        }
        assert!(taken[0] > 500 && (10..200).contains(&taken[2]), "{taken:?}");
    }

    #[test]
    fn ways_that_do_not_pay_are_taken_as_expected() {
        let (mut bandit, mut random) = (Bandit::<3>::new().with_expected([0.1, 1.0, 0.3], 20.0), Random::new(1));
        let mut taken = [0; 3];
        for _ in 0..10_000 {
            let way = bandit.choose_among(&[0, 1], &mut random);
            taken[way] += 1;
            bandit.learn(way, 0.0, 1.0);
        }
        assert!(taken[2] == 0 && taken[0] > 500 && taken[1] > 2 * taken[0], "{taken:?}");
    }
}
