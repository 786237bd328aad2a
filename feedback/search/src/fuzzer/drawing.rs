//! Fresh texts by probabilities that a strategy has learned from the kept texts, beside those of the grammar.

use std::ops::Range;

use gramjet_session::Language;
use rustc_hash::FxHashMap;

use crate::corpus::Corpus;
use crate::random::Seed;
use crate::search::Search;
use crate::strategies::Kind;
use crate::strategy::{Ending, Measured};

/// The number of kept texts from which probabilities are learned: the last ones.
const LEARNED: usize = 1000;
/// The number of them that are learned from before one text is drawn: it takes long to find derivations.
const AT_ONCE: usize = 16;
/// A text that is longer teaches nothing, as its derivation takes long to find.
const LONGEST: usize = 1 << 14;

/// Draws texts by the probabilities of a strategy.
pub(super) struct Drawing {
    kind: &'static Kind,
    /// Whether the strategy learns from its own texts. Another one begins anew each time that there are twice as many
    /// kept texts.
    evolves: bool,
    seed: Seed,
    /// The number of times that it has begun.
    begun: u64,
    max_len: usize,
    /// `None` before its first text, and if every text is too long.
    search: Option<Search>,
    /// Number of kept texts that it has learned from, and of those that there were when it began.
    learned: usize,
    first: usize,
    /// Numbers of features, as edges.
    numbers: FxHashMap<u64, u32>,
    measured: Measured,
}

impl std::fmt::Debug for Drawing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Drawing").field("kind", &self.kind).field("learned", &self.learned).finish_non_exhaustive()
    }
}

impl Drawing {
    /// Returns a drawing by the probabilities of this strategy, for texts of at most `max_len` bytes.
    pub(super) fn new(kind: &'static Kind, evolves: bool, max_len: usize, seed: Seed) -> Drawing {
        let (begun, search, learned, first, numbers, measured) = Default::default();
        Drawing { kind, evolves, seed, begun, max_len, search, learned, first, numbers, measured }
    }

    /// Writes a text. Returns false if every text is too long.
    pub(super) fn draw(&mut self, language: &Language, corpus: &Corpus, text: &mut Vec<u8>) -> bool {
        let kept = corpus.entries().len();
        if self.search.is_none() || !self.evolves && kept >= 2 * self.first {
            let seed = self.seed.of_drawing(self.evolves, self.begun);
            self.search = Search::new(language, self.kind.make(false), self.max_len, seed);
            self.begun += 1;
            (self.learned, self.first) = (0, kept);
        }
        if self.search.is_none() {
            return false;
        }
        let end = if self.evolves { kept } else { self.first.min(kept) };
        let first = self.learned.max(end.saturating_sub(LEARNED));
        self.learn(language, corpus, first..end.min(first + AT_ONCE));
        let Some(search) = &mut self.search else { return false };
        text.clone_from(&search.propose().text);
        true
    }

    /// Learns from these kept texts.
    fn learn(&mut self, language: &Language, corpus: &Corpus, range: Range<usize>) {
        self.learned = self.learned.max(range.end);
        for number in range {
            let text = &corpus.entries()[number].text;
            self.measure(corpus.features(number));
            let Some(search) = &mut self.search else { return };
            if text.len() > LONGEST {
                continue;
            }
            let deriver = &mut search.desk().deriver;
            let Some(free) = language.derivation(text, deriver) else { continue };
            let limited = if text.len() > self.max_len { None } else { deriver.limited(&free) };
            match limited {
                Some(limited) => drop(search.adopt(&limited, &self.measured)),
                None => search.learn(&free, &self.measured),
            }
        }
    }

    /// Learns what the subject did on the last text.
    pub(super) fn observe(&mut self, features: &[u64]) {
        self.measure(features);
        if let Some(search) = &mut self.search {
            search.observe(&self.measured);
        }
    }

    fn measure(&mut self, features: &[u64]) {
        let Drawing { numbers, measured, .. } = self;
        measured.edges.clear();
        for &feature in features {
            let next = numbers.len() as u32;
            measured.edges.push((*numbers.entry(feature).or_insert(next), 1));
        }
        measured.edges.sort_unstable();
        measured.ending = Ending::Done;
    }
}
