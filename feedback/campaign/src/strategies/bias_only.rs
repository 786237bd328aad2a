//! BiasOnly: random texts, biased to pairs of choices that paid (Alsaeed & Young, *Finding Short Slow Inputs Faster
//! with Grammar-Based Search*, ISSTA 2023).
//!
//! Each text is derived anew by the weights of `bias.rs`. If it costs more than all before, or has new coverage or a
//! new maximum of an edge, its choices are rewarded, else penalised.
//!
//! Differences from the published program, without its constants: weights have a floor, and texts that were run before
//! are not run again. In both cases the choices of earlier texts are left alone; see `bias.rs`.

use gramjet_session::decisions::Derivation;

use super::bias::{Bias, Rollout};
use super::signals::Signals;
use gramjet_search::{Desk, Measured, Repeats, Strategy};

/// Random texts by learned weights.
#[derive(Debug)]
pub(super) struct BiasOnly {
    paper: bool,
    bias: Option<Bias>,
    signals: Signals,
}

impl BiasOnly {
    /// Returns the strategy before anything is known.
    pub(super) fn new(paper: bool) -> BiasOnly {
        BiasOnly { paper, bias: None, signals: Signals::default() }
    }

    fn bias(&mut self, desk: &Desk) -> &mut Bias {
        self.bias.get_or_insert_with(|| Bias::new(desk.deriver.clone(), self.paper))
    }
}

impl Strategy for BiasOnly {
    fn name(&self) -> &'static str {
        "bias-only"
    }

    fn propose(&mut self, desk: &mut Desk, candidate: &mut Derivation) {
        let bias = self.bias(desk);
        let mut rollout = Rollout { bias, random: &mut desk.random, prior: None };
        desk.deriver.derive(&[], &mut rollout, candidate);
    }

    fn observe(&mut self, desk: &mut Desk, candidate: &Derivation, measured: &Measured) {
        let is_good = self.signals.add(measured).is_good();
        self.bias(desk).learn(None, &candidate.decisions, is_good);
    }

    /// Rewards a text from elsewhere that is good; others say nothing of the weights here.
    fn adopt(&mut self, desk: &mut Desk, derivation: &Derivation, measured: &Measured) {
        if self.signals.add(measured).is_good() {
            self.bias(desk).learn(None, &derivation.decisions, true);
        }
    }

    fn repeats(&self) -> Repeats {
        if self.paper { Repeats::Run } else { Repeats::Remember }
    }
}

#[cfg(test)]
mod tests {
    use crate::strategies::kit::{best_of_five, count_of, run, search, strategy};

    /// With the published constants it is no better than chance here: most runs of so short texts repeat earlier ones,
    /// and each penalises what it uses, so rounds that go on become rare.
    #[test]
    fn letters_that_pay_become_frequent() {
        let best = |name| best_of_five((name, false), "s ::= [a-d]*", 300, count_of(b'a'));
        let (biased, random) = (best("bias-only"), best("random"));
        assert!(biased >= 40 && random <= 30, "{biased} {random}");
    }

    #[test]
    fn only_as_published_are_texts_run_again() {
        for (paper, has_repeats) in [(true, false), (false, true)] {
            let mut search = search("s ::= [a-d]*", strategy("bias-only", paper), 30, 1);
            run(&mut search, 200, count_of(b'a'));
            assert_eq!(search.repeats() > 0, has_repeats);
        }
    }
}
