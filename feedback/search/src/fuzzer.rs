//! Makes texts one after the other: fresh ones and variants of kept ones.

use std::cmp::Reverse;

use gramjet_session::{Language, Session, hash};
use rustc_hash::FxHashSet;

use crate::bandit::Bandit;
use crate::corpus::Corpus;
use crate::random::Random;

/// The goal of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// Texts that make the subject do something new.
    #[default]
    New,
    /// Costly texts: the best ones are kept.
    Cost,
}

/// The subject's reaction to a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// Whether it did something that no text before has made it do.
    pub is_new: bool,
    /// The cost of the text, in a unit of the caller's.
    pub cost: u64,
}

/// How a text was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// At random.
    Fresh,
    /// A change to the derivation of a kept text.
    Mutate,
    /// A part of a kept text, in another one.
    Splice,
}

impl Operator {
    /// All of them.
    pub const ALL: [Operator; 3] = [Operator::Fresh, Operator::Mutate, Operator::Splice];

    /// A short name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Operator::Fresh => "fresh",
            Operator::Mutate => "mutate",
            Operator::Splice => "splice",
        }
    }
}

/// The number of texts that are tried before a text is proposed again.
const TRIES: usize = 16;
/// The number of variants that are made of a text in turn, and of texts with parts of another one: the session has to
/// find the derivation of a text before the first, which takes longer than a variant.
const IN_TURN: u32 = 16;
const PARTS_IN_TURN: u32 = 8;
/// The number of proposed texts that are remembered; then all are forgotten.
const REMEMBERED: usize = 1 << 22;
/// The number of texts that are kept for their cost.
const BEST: usize = 64;

/// Proposes texts and learns from the subject's reactions. The same seed and observations give the same texts.
#[derive(Debug)]
pub struct Fuzzer {
    session: Session,
    goal: Goal,
    max_len: usize,
    corpus: Corpus,
    ways: Bandit<3>,
    random: Random,
    proposed: FxHashSet<u64>,
    /// Symbols that texts have had, and the binary logarithm of how often.
    derived: FxHashSet<(u32, u32)>,
    text: Vec<u8>,
    way: usize,
    parent: Option<usize>,
    /// The texts that are varied in turn, and that parts are taken from, and how often each still is.
    varied: Turn,
    other: Turn,
    yields: [(u64, u64); 3],
}

impl Fuzzer {
    /// A search among the texts of a language, of at most `max_len` bytes.
    pub fn new(language: &Language, goal: Goal, max_len: usize, seed: u64) -> Fuzzer {
        Fuzzer {
            session: Session::new(language, seed),
            goal,
            max_len,
            corpus: Corpus::default(),
            ways: Bandit::new(),
            random: Random::new(seed),
            proposed: FxHashSet::default(),
            derived: FxHashSet::default(),
            text: Vec::new(),
            way: 0,
            parent: None,
            varied: Turn::default(),
            other: Turn::default(),
            yields: [(0, 0); 3],
        }
    }

    /// The texts that were kept.
    pub fn corpus(&self) -> &Corpus {
        &self.corpus
    }

    /// For each operator how many texts it has made, and how many of them were kept.
    pub fn yields(&self) -> impl Iterator<Item = (Operator, u64, u64)> {
        Operator::ALL.into_iter().zip(self.yields).map(|(operator, (made, kept))| (operator, made, kept))
    }

    /// The session that makes and parses the texts.
    pub fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// The next text to run; none if every text of the language is longer than `max_len`.
    pub fn propose(&mut self) -> Option<&[u8]> {
        for _ in 0..TRIES {
            self.make()?;
            if self.proposed.len() >= REMEMBERED {
                self.proposed.clear();
            }
            if self.proposed.insert(hash(&self.text)) {
                break;
            }
        }
        Some(&self.text)
    }

    fn make(&mut self) -> Option<()> {
        self.way = if self.corpus.entries().is_empty() { 0 } else { self.ways.choose(&mut self.random) };
        let Fuzzer { corpus, random, .. } = self;
        self.parent = if self.way == 0 { None } else { self.varied.next(IN_TURN, || corpus.pick(random)) };
        let Fuzzer { session, corpus, text, max_len, .. } = self;
        let texts = corpus.entries();
        match (Operator::ALL[self.way], self.parent) {
            (Operator::Mutate, Some(parent)) => session.mutate(&texts[parent].text, *max_len, text),
            (Operator::Splice, Some(parent)) => {
                let other =
                    self.other.next(PARTS_IN_TURN, || Some(self.random.below(texts.len()))).expect("there are some");
                session.splice(&texts[parent].text, &texts[other].text, *max_len, text)
            }
            _ => session.fresh(*max_len, text),
        }
        .map(drop)
    }

    /// Whether the derivation of the last proposed text has a symbol that no earlier text had, or a number of uses of a
    /// symbol whose binary logarithm, rounded down, is new. For subjects that report nothing of their own.
    pub fn has_new_derivation(&mut self) -> bool {
        let text = std::mem::take(&mut self.text);
        let is_new = self.is_new_derivation(&text);
        self.text = text;
        is_new
    }

    /// The same for any text.
    pub fn is_new_derivation(&mut self, text: &[u8]) -> bool {
        let symbols = self.session.symbols(text).unwrap_or_default();
        let before = self.derived.len();
        self.derived.extend(symbols.into_iter().map(|(symbol, count)| (symbol, count.ilog2())));
        self.derived.len() > before
    }

    /// How the last proposed text was made.
    pub fn operator(&self) -> Operator {
        Operator::ALL[self.way]
    }

    /// Records the subject's reaction to the last proposed text. Returns whether the text is kept.
    pub fn observe(&mut self, observation: Observation) -> bool {
        let is_kept = match self.goal {
            Goal::New => observation.is_new,
            Goal::Cost => self.is_among_best(rank(observation.cost, &self.text)),
        };
        self.ways.learn(self.way, f64::from(u8::from(is_kept)), 1.0);
        let (made, kept) = &mut self.yields[self.way];
        *made += 1;
        if is_kept {
            *kept += 1;
            if let Some(parent) = self.parent {
                self.corpus.found(parent);
            }
            let text = std::mem::take(&mut self.text);
            self.keep(&text, observation.cost);
            self.text = text;
        }
        is_kept
    }

    /// A text from elsewhere that is worth varying; whether it conforms.
    pub fn add(&mut self, text: &[u8], cost: u64) -> bool {
        let conforms = self.session.remember(text);
        if conforms {
            self.keep(text, cost);
        }
        conforms
    }

    fn keep(&mut self, text: &[u8], cost: u64) {
        // Numbers may change, and the session goes on with this text.
        (self.varied, self.other) = Default::default();
        let symbols = self.session.symbols(text).unwrap_or_default();
        self.corpus.keep(text, cost, symbols.into_iter().map(|(symbol, _)| symbol).collect());
        if self.goal == Goal::Cost && self.corpus.entries().len() > BEST {
            let costs = self.corpus.entries().iter().enumerate();
            let least = costs.min_by_key(|(_, entry)| rank(entry.cost, &entry.text)).map(|(number, _)| number);
            self.corpus.remove(least.expect("there are some"));
        }
    }

    fn is_among_best(&self, rank: Rank) -> bool {
        let entries = self.corpus.entries();
        if entries.iter().any(|entry| entry.text == self.text) {
            return false;
        }
        entries.len() < BEST || entries.iter().any(|entry| self::rank(entry.cost, &entry.text) < rank)
    }
}

/// A text by its number, and how often it is still used.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    text: Option<usize>,
    left: u32,
}

impl Turn {
    /// The same text for this many calls, then another one.
    fn next(&mut self, times: u32, another: impl FnOnce() -> Option<usize>) -> Option<usize> {
        if self.left == 0 {
            *self = Turn { text: another(), left: times };
        }
        self.left -= 1;
        self.text
    }
}

/// Of two texts with the same cost the shorter one is better, as it has room for more.
type Rank = (u64, Reverse<usize>);

fn rank(cost: u64, text: &[u8]) -> Rank {
    (cost, Reverse(text.len()))
}
