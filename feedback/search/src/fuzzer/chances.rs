//! Shares of the ways of making texts, and of the efforts to make kept ones shorter, by what they bring.

use super::trimming::EFFORTS;
use super::{Operator, STOPPED, WAYS};
use crate::bandit::Bandit;

/// Gains that are expected of fresh texts, changes to derivations, splices, broken texts, words, and texts by
/// probabilities that are learned and that evolve.
const EXPECTED: [f64; WAYS] = [0.1, 1.0, 0.3, 1.0, 0.3, 0.1, 0.1];
/// Number of gains as which these count, and as which those of efforts do.
const GAINS: f64 = 20.0;
const GAINS_OF_EFFORTS: f64 = 2.0;
/// Gains that are expected of efforts.
const OF_EFFORTS: [f64; EFFORTS.len()] = [1.0, 1.0, 0.3];
/// Number of texts of which the mean of the work is, and the most work of one text against it that counts.
const WORKS: f64 = 256.0;
const DEAREST: f64 = 20.0;
/// Cost of drawing a text by other probabilities than the grammar's, in runs of a fast program. What it takes by the
/// clock is not used, so that equal seeds give equal searches.
const DRAWN: f64 = 20.0;

/// Shares of the ways of making texts, and of efforts to make kept ones shorter, by what they bring.
#[derive(Debug)]
pub(super) struct Chances {
    pub(super) ways: Bandit<WAYS>,
    pub(super) efforts: Bandit<{ EFFORTS.len() }>,
    /// Mean of the work of the subject on a text, in which the last texts count more. It is 0 until one is known.
    work: f64,
}

impl Chances {
    pub(super) fn new() -> Chances {
        Chances {
            ways: Bandit::new().with_expected(EXPECTED, GAINS),
            efforts: Bandit::new().with_expected(OF_EFFORTS, GAINS_OF_EFFORTS),
            work: 0.0,
        }
    }

    /// Learns from a text that this operator has made, and whether it was kept. If its parent was made shorter, the
    /// effort of that learns from it, too. Half of its cost is that of any run, half is the work of the subject against
    /// that on other texts. Work that is not known is not part of the mean.
    pub(super) fn learn(&mut self, operator: Operator, effort: Option<usize>, is_kept: bool, work: u64) {
        let against_mean = match work {
            0 => 1.0,
            STOPPED => DEAREST,
            known => {
                let known = known as f64;
                self.work = if self.work == 0.0 { known } else { self.work + (known - self.work) / WORKS };
                (known / self.work).min(DEAREST)
            }
        };
        let cost = 0.5 + 0.5 * against_mean;
        let cost = cost + if matches!(operator, Operator::Common | Operator::Evolve) { DRAWN } else { 0.0 };
        let paid = f64::from(u8::from(is_kept));
        if operator != Operator::Trim {
            self.ways.learn(operator.number(), paid, cost);
        }
        if let Some(effort) = effort {
            self.efforts.learn(effort, paid, cost);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_whose_texts_are_stopped_is_taken_less_than_one_whose_texts_are_not() {
        let mut chances = Chances::new();
        for _ in 0..1000 {
            chances.learn(Operator::Mutate, None, false, STOPPED);
            chances.learn(Operator::Break, None, false, 100);
            chances.learn(Operator::Word, None, false, 0);
        }
        assert_eq!(chances.work, 100.0);
        let mut random = crate::random::Random::new(1);
        let ways = [Operator::Mutate.number(), Operator::Break.number()];
        let stopped = (0..1000).filter(|_| chances.ways.choose_among(&ways, &mut random) == ways[0]).count();
        assert!(stopped < 200, "{stopped}");
    }
}
