//! A search for costly texts: a strategy with what is known of all texts.

use gramjet_session::decisions::Derivation;
use gramjet_session::{Language, hash};
use rustc_hash::FxHashMap;

use crate::maxima::{Maxima, Novelty};
use crate::random::Random;
use crate::strategy::{Desk, Ending, Measured, Repeats, Strategy};

/// The best text so far.
#[derive(Clone, Debug, Default)]
pub struct Best {
    /// The text with its derivation; strategies that change bytes give a text only.
    pub derivation: Derivation,
    /// Its cost.
    pub cost: u64,
    /// The number of the run that found it, from 1 on.
    pub run: u64,
}

/// What a run has added to a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gain {
    /// The text costs more than all before that ended by themselves, or as much and is shorter.
    pub is_best: bool,
    /// New coverage and new maxima of edges.
    pub novelty: Novelty,
}

/// Remembered measurements of a text.
#[derive(Clone, Copy, Debug)]
struct Known {
    cost: u64,
    hottest: u64,
    ending: Ending,
}

/// Number of texts whose costs are remembered; when it is reached, all are forgotten. A table of twice the memory
/// would begin here.
const REMEMBERED: usize = 7 << 19;
/// If this many texts in a row were run before, the last one is run again.
const REPEATS: usize = 1000;

/// A search for costly texts. It proposes texts, and the caller runs them.
///
/// The same seed and measurements give the same texts.
pub struct Search {
    desk: Desk,
    strategy: Box<dyn Strategy>,
    candidate: Derivation,
    known: FxHashMap<u64, Known>,
    maxima: Maxima,
    best: Option<Best>,
    runs: u64,
    repeats: u64,
}

impl Search {
    /// A search among the texts of a language of at most `max_len` bytes; none if all texts are longer.
    pub fn new(language: &Language, strategy: Box<dyn Strategy>, max_len: usize, seed: u64) -> Option<Search> {
        let deriver = language.deriver(Some(max_len as u64));
        (deriver.min_len() <= max_len as u64).then(|| Search {
            desk: Desk { deriver, max_len, random: Random::new(seed), empty_cost: 0 },
            strategy,
            candidate: Derivation::default(),
            known: FxHashMap::default(),
            maxima: Maxima::new(),
            best: None,
            runs: 0,
            repeats: 0,
        })
    }

    /// Tells the search the cost of the empty text. Runs that cost less are not counted by `treeline`.
    pub fn set_empty_cost(&mut self, cost: u64) {
        self.desk.empty_cost = cost;
    }

    /// The strategy.
    pub fn strategy(&self) -> &dyn Strategy {
        &*self.strategy
    }

    /// What strategies work with.
    pub fn desk(&mut self) -> &mut Desk {
        &mut self.desk
    }

    /// The best text that ended by itself.
    pub fn best(&self) -> Option<&Best> {
        self.best.as_ref()
    }

    /// The greatest counts of all edges.
    pub fn maxima(&self) -> &Maxima {
        &self.maxima
    }

    /// How many texts were run.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// How many proposed texts had been run before.
    pub fn repeats(&self) -> u64 {
        self.repeats
    }

    /// The text to run next.
    pub fn propose(&mut self) -> &Derivation {
        for _ in 0..REPEATS {
            self.strategy.propose(&mut self.desk, &mut self.candidate);
            if self.strategy.repeats() == Repeats::Run {
                break;
            }
            let Some(&known) = self.known.get(&hash(&self.candidate.text)) else { break };
            self.repeats += 1;
            let Known { cost, hottest, ending } = known;
            let measured = Measured { cost, hottest, ending, is_repeat: true, ..Measured::default() };
            self.strategy.observe(&mut self.desk, &self.candidate, &measured);
        }
        &self.candidate
    }

    /// Learns from the run of the text that was proposed last.
    pub fn observe(&mut self, measured: &Measured<'_>) -> Gain {
        let candidate = std::mem::take(&mut self.candidate);
        let gain = self.record(&candidate, measured);
        self.strategy.observe(&mut self.desk, &candidate, measured);
        self.candidate = candidate;
        gain
    }

    /// Learns from the run of a text from elsewhere. Texts that are too long are left out.
    pub fn adopt(&mut self, derivation: &Derivation, measured: &Measured<'_>) -> Gain {
        if derivation.text.len() > self.desk.max_len {
            return Gain::default();
        }
        let gain = self.record(derivation, measured);
        self.strategy.adopt(&mut self.desk, derivation, measured);
        gain
    }

    /// Learns what a sample uses. It may be of any length: the search does not run it again.
    pub fn learn(&mut self, sample: &Derivation, measured: &Measured<'_>) {
        self.strategy.adopt(&mut self.desk, sample, measured);
    }

    fn record(&mut self, derivation: &Derivation, measured: &Measured<'_>) -> Gain {
        self.runs += 1;
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        let &Measured { cost, hottest, ending, .. } = measured;
        self.known.insert(hash(&derivation.text), Known { cost, hottest, ending });
        let novelty = self.maxima.add(measured.edges);
        let shorter = |best: &Best| best.cost == cost && derivation.text.len() < best.derivation.text.len();
        let is_best = ending == Ending::Done && self.best.as_ref().is_none_or(|best| best.cost < cost || shorter(best));
        if is_best {
            self.best = Some(Best { derivation: derivation.clone(), cost, run: self.runs });
        }
        Gain { is_best, novelty }
    }
}
