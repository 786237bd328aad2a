//! Makes texts one after the other: fresh ones and variants of kept ones.

use std::cmp::Reverse;
use std::collections::VecDeque;

use gramjet_session::{Language, Session};
use rustc_hash::FxHashSet;

use crate::breaker::{Breaker, Whole};
use crate::corpus::Corpus;
use crate::digest::digest;
use crate::random::{Random, Seed};
use crate::strategies::Kind;

mod chances;
mod drawing;
#[cfg(test)]
mod tests;
mod trimming;
mod words;

use chances::Chances;
use drawing::Drawing;
use trimming::{Texts, Trimmer};
use words::Putter;

/// The goal of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// Texts that make the subject do something new.
    #[default]
    New,
    /// Costly texts: the best ones are kept.
    Cost,
}

/// The work of a subject that a limit has stopped: it costs as much as any text can.
pub const STOPPED: u64 = u64::MAX;

/// The subject's reaction to a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observation<'f> {
    /// Whether it did something that no text before has made it do.
    pub is_new: bool,
    /// The cost of the text, in a unit of the caller's.
    pub cost: u64,
    /// Features of what it did, such as edges and how often they were executed, by numbers of the caller's; empty if
    /// that is not known. They need to be there if the text is new, or if [`Fuzzer::compares`].
    pub features: &'f [u64],
    /// Work of the subject on the text, such as the number of edges that it has executed, in a unit of the caller's; 0
    /// if that is not known, and [`STOPPED`]. Ways of making texts are compared by what they bring for it.
    pub work: u64,
}

/// Ways of making a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// At random.
    Fresh,
    /// A change to the derivation of a kept text.
    Mutate,
    /// A part of a kept text, in another one.
    Splice,
    /// A change to the bytes of a kept text.
    Break,
    /// A word that the subject may know, in place of a part of a kept text.
    Word,
    /// Drawn by the probabilities that the kept texts have.
    Common,
    /// Drawn by probabilities that evolve.
    Evolve,
    /// A shorter text, in place of a kept one if it makes the subject do the same.
    Trim,
}

impl Operator {
    /// All of them.
    pub const ALL: [Operator; 8] = [
        Operator::Fresh,
        Operator::Mutate,
        Operator::Splice,
        Operator::Break,
        Operator::Word,
        Operator::Common,
        Operator::Evolve,
        Operator::Trim,
    ];

    /// Returns a short name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Operator::Fresh => "fresh",
            Operator::Mutate => "mutate",
            Operator::Splice => "splice",
            Operator::Break => "break",
            Operator::Word => "word",
            Operator::Common => "common",
            Operator::Evolve => "evolve",
            Operator::Trim => "trim",
        }
    }

    fn number(self) -> usize {
        self as usize
    }
}

/// The number of texts that are tried before a text is proposed again.
const TRIES: usize = 16;
/// The number of variants that are made of a text in turn, and of texts with parts of another one: the session has to
/// find the derivation of a text before the first, which takes longer than a variant. Bugs that need several changes of
/// one text were found in a third of the time that 16 in turn took.
const IN_TURN: u32 = 64;
const PARTS_IN_TURN: u32 = 8;
/// The number of seeds that are varied before anything else, as they are: they show what is usual.
const FIRST: usize = 16;
/// The ways between which gains decide: the first operators.
const WAYS: usize = 7;
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
    /// Breaks texts, if that is wanted.
    breaker: Option<Breaker>,
    /// Puts words into texts, if there are some.
    putter: Option<Putter>,
    /// Draws texts by other probabilities than the grammar's, if that is wanted.
    drawings: [Option<Drawing>; 2],
    chances: Chances,
    random: Random,
    proposed: FxHashSet<u64>,
    /// Symbols that texts have had, and the binary logarithm of how often.
    derived: FxHashSet<(u32, u32)>,
    text: Vec<u8>,
    operator: Operator,
    parent: Option<Whole>,
    trimmer: Trimmer,
    /// The texts that are varied in turn, and that parts are taken from, and how often each still is.
    varied: Turn,
    other: Turn,
    broken: Turn<Whole>,
    /// Seeds that are varied before anything else, by their numbers, and how often each still is.
    first: VecDeque<(usize, u32)>,
    yields: [(u64, u64); Operator::ALL.len()],
}

impl Fuzzer {
    /// Returns a search among the texts of a language, of at most `max_len` bytes.
    pub fn new(language: &Language, goal: Goal, max_len: usize, seed: Seed) -> Fuzzer {
        Fuzzer {
            session: Session::new(language, seed.number()),
            goal,
            max_len,
            corpus: Corpus::default(),
            breaker: None,
            putter: None,
            drawings: [None, None],
            chances: Chances::new(),
            random: Random::new(seed.number()),
            proposed: FxHashSet::default(),
            derived: FxHashSet::default(),
            text: Vec::new(),
            operator: Operator::Fresh,
            parent: None,
            trimmer: Trimmer::default(),
            varied: Turn::default(),
            other: Turn::default(),
            broken: Turn::default(),
            first: VecDeque::new(),
            yields: Default::default(),
        }
    }

    /// Lets it also make texts that are broken in some bytes, most of which are not in the language. Tokens of the
    /// grammar and these words stand at wrong places.
    pub fn with_broken(mut self, words: &[Vec<u8>]) -> Fuzzer {
        let words = words.iter().map(|word| word.as_slice().into());
        let tokens: Vec<Box<[u8]>> = self.session.language().tokens().iter().cloned().chain(words).collect();
        self.breaker = Some(Breaker::new(&tokens));
        self
    }

    /// Lets it also put these words at places of texts that can hold them.
    pub fn with_words(mut self, words: &[Vec<u8>]) -> Fuzzer {
        self.putter = Putter::new(words);
        self
    }

    /// Lets it also draw texts by the probabilities of two strategies: one that learns from the kept texts alone, and
    /// one that learns from its own texts, too. They have limits on length only.
    pub fn with_drawings(mut self, common: &'static Kind, evolve: &'static Kind, seed: Seed) -> Fuzzer {
        let drawing = |kind, evolves| Some(Drawing::new(kind, evolves, self.max_len, seed));
        self.drawings = [drawing(common, false), drawing(evolve, true)];
        self
    }

    /// Returns the texts that were kept.
    pub fn corpus(&self) -> &Corpus {
        &self.corpus
    }

    /// Returns for each operator how many texts it has made, and how many of them were kept.
    pub fn yields(&self) -> impl Iterator<Item = (Operator, u64, u64)> {
        Operator::ALL.into_iter().zip(self.yields).map(|(operator, (made, kept))| (operator, made, kept))
    }

    /// Returns the session that makes and parses the texts.
    pub fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Returns the next text to run; `None` if every text of the language is longer than `max_len`.
    pub fn propose(&mut self) -> Option<&[u8]> {
        if self.trim() {
            return Some(&self.text);
        }
        for _ in 0..TRIES {
            self.make()?;
            if self.operator == Operator::Trim {
                break;
            }
            if self.proposed.len() >= REMEMBERED {
                self.proposed.clear();
            }
            if self.proposed.insert(digest(&self.text)) {
                break;
            }
        }
        Some(&self.text)
    }

    fn make(&mut self) -> Option<()> {
        if let Some((number, left)) = self.first.front_mut() {
            (self.operator, self.parent) = (Operator::Mutate, Some(Whole::Conforming(*number)));
            *left -= 1;
            if *left == 0 {
                self.first.pop_front();
            }
            return self.render();
        }
        let Fuzzer { breaker, putter, drawings, chances, random, .. } = self;
        let there =
            [true, true, true, breaker.is_some(), putter.is_some(), drawings[0].is_some(), drawings[1].is_some()];
        let mut ways = [0; WAYS];
        let mut count = 0;
        for way in (0..WAYS).filter(|&way| there[way]) {
            ways[count] = way;
            count += 1;
        }
        let is_first = self.corpus.entries().is_empty();
        let way = if is_first { 0 } else { chances.ways.choose_among(&ways[..count], random) };
        self.operator = Operator::ALL[way];
        self.parent = None;
        match self.operator {
            Operator::Break => return self.make_broken(),
            Operator::Common | Operator::Evolve => {
                let Fuzzer { session, corpus, drawings, text, operator, .. } = self;
                if let Some(drawing) = drawings[operator.number() - Operator::Common.number()].as_mut()
                    && drawing.draw(session.language(), corpus, text)
                {
                    return Some(());
                }
                self.operator = Operator::Fresh;
            }
            Operator::Fresh | Operator::Trim => {}
            Operator::Mutate | Operator::Splice | Operator::Word => {
                let Fuzzer { corpus, random, .. } = self;
                let is_picked = self.varied.is_over();
                let parent = self.varied.next(IN_TURN, || corpus.pick(random));
                if let Some(parent) = parent
                    && is_picked
                    && self.begin_trim(Whole::Conforming(parent))
                {
                    return Some(());
                }
                self.parent = parent.map(Whole::Conforming);
            }
        }
        self.render()
    }

    /// Makes a text by the operator that was chosen.
    fn render(&mut self) -> Option<()> {
        let Fuzzer { session, corpus, putter, random, text, max_len, .. } = self;
        let texts = corpus.entries();
        if let (Operator::Word, Some(Whole::Conforming(parent)), Some(putter)) = (self.operator, self.parent, putter) {
            if putter.put(&texts[parent].text, *max_len, session, random, text) {
                return Some(());
            }
            // No word has a place in this text.
            self.operator = Operator::Mutate;
        }
        match (self.operator, self.parent) {
            (Operator::Mutate, Some(Whole::Conforming(parent))) => session.mutate(&texts[parent].text, *max_len, text),
            (Operator::Splice, Some(Whole::Conforming(parent))) => {
                let other =
                    self.other.next(PARTS_IN_TURN, || Some(self.random.below(texts.len()))).expect("there are some");
                session.splice(&texts[parent].text, &texts[other].text, *max_len, text)
            }
            _ => session.fresh(*max_len, text),
        }
        .map(drop)
    }

    fn make_broken(&mut self) -> Option<()> {
        let Fuzzer { breaker, corpus, random, .. } = self;
        let breaker = breaker.as_mut().expect("this way is taken only with it");
        let is_picked = self.broken.is_over();
        let whole = self.broken.next(IN_TURN, || breaker.pick(corpus, random)).expect("there are some");
        if is_picked && self.begin_trim(whole) {
            return Some(());
        }
        self.parent = Some(whole);
        let Fuzzer { breaker, corpus, random, text, max_len, .. } = self;
        breaker.as_ref()?.make(whole, corpus, *max_len, random, text);
        Some(())
    }

    /// Begins to make a kept text shorter. Returns true if there is a shorter text to try.
    fn begin_trim(&mut self, whole: Whole) -> bool {
        let Fuzzer { session, corpus, breaker, trimmer, chances, random, .. } = self;
        let choose = || chances.efforts.choose(random);
        trimmer.begin(whole, Texts { session, corpus, breaker: breaker.as_mut() }, choose);
        self.trim()
    }

    /// Makes the next text that is tried in place of a kept one, if there is one.
    fn trim(&mut self) -> bool {
        let Fuzzer { session, corpus, breaker, trimmer, text, .. } = self;
        let Some(whole) = trimmer.propose(Texts { session, corpus, breaker: breaker.as_mut() }, text) else {
            return false;
        };
        (self.operator, self.parent) = (Operator::Trim, Some(whole));
        true
    }

    /// Returns true if the last proposed text was made by changing bytes, so that it may not be in the language.
    pub fn breaks(&self) -> bool {
        match (self.operator, self.parent) {
            (Operator::Break, _) | (Operator::Trim, Some(Whole::Broken(_))) => true,
            (Operator::Trim, Some(Whole::Conforming(_)) | None) => false,
            (Operator::Fresh | Operator::Mutate | Operator::Splice | Operator::Word, _) => false,
            (Operator::Common | Operator::Evolve, _) => false,
        }
    }

    /// Returns true if the features of the last proposed text are compared with those of another one.
    pub fn compares(&self) -> bool {
        matches!(self.operator, Operator::Trim | Operator::Evolve)
    }

    /// Returns true if the derivation of the last proposed text has a symbol that no earlier text had, or a number of
    /// uses of a symbol whose binary logarithm, rounded down, is new. For subjects that report nothing of their own.
    pub fn has_new_derivation(&mut self) -> bool {
        let text = std::mem::take(&mut self.text);
        let is_new = self.is_new_derivation(&text);
        self.text = text;
        is_new
    }

    /// Returns true if the derivation of a text has a symbol that no earlier text had, or a number of uses of a symbol
    /// whose binary logarithm, rounded down, is new.
    pub fn is_new_derivation(&mut self, text: &[u8]) -> bool {
        let symbols = self.session.symbols(text).unwrap_or_default();
        let before = self.derived.len();
        self.derived.extend(symbols.into_iter().map(|(symbol, count)| (symbol, count.ilog2())));
        self.derived.len() > before
    }

    /// Returns how the last proposed text was made.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// Records the subject's reaction to the last proposed text. Returns whether the text is kept.
    pub fn observe(&mut self, observation: Observation<'_>) -> bool {
        let is_kept = match self.goal {
            Goal::New => observation.is_new,
            Goal::Cost => self.is_among_best(rank(observation.cost, &self.text)),
        };
        let Fuzzer { session, corpus, breaker, trimmer, chances, operator, parent, drawings, .. } = self;
        let texts = Texts { session, corpus, breaker: breaker.as_mut() };
        let effort = parent.and_then(|whole| texts.effort(whole));
        chances.learn(*operator, effort, is_kept, observation.work);
        match operator {
            Operator::Trim => trimmer.judge(&texts, observation.features),
            Operator::Common | Operator::Evolve => {
                let drawing = &mut drawings[operator.number() - Operator::Common.number()];
                drawing.iter_mut().for_each(|drawing| drawing.observe(observation.features));
            }
            Operator::Fresh | Operator::Mutate | Operator::Splice | Operator::Break | Operator::Word => {}
        }
        let (made, kept) = &mut self.yields[self.operator.number()];
        *made += 1;
        if is_kept {
            *kept += 1;
            match (self.parent, &mut self.breaker) {
                (Some(Whole::Conforming(parent)), _) => self.corpus.found(parent),
                (Some(Whole::Broken(parent)), Some(breaker)) => breaker.corpus.found(parent),
                (Some(Whole::Broken(_)), None) | (None, _) => {}
            }
            let text = std::mem::take(&mut self.text);
            self.take(&text, observation);
            self.text = text;
        }
        is_kept
    }

    /// Adds a text from elsewhere that is worth varying. Returns true if it conforms. A text that does not is only
    /// broken further.
    pub fn add(&mut self, text: &[u8], observation: Observation<'_>) -> bool {
        self.take(text, observation)
    }

    /// Adds a text as [`Fuzzer::add`] does; the first such texts are varied before anything else.
    pub fn add_seed(&mut self, text: &[u8], observation: Observation<'_>) -> bool {
        let conforms = self.take(text, observation);
        if conforms && self.goal == Goal::New && self.first.len() < FIRST {
            self.first.push_back((self.corpus.entries().len() - 1, IN_TURN));
        }
        conforms
    }

    fn take(&mut self, text: &[u8], observation: Observation<'_>) -> bool {
        let conforms = self.session.remember(text);
        if conforms {
            self.keep(text, observation);
        } else if let Some(breaker) = &mut self.breaker {
            breaker.corpus.keep(text, observation.cost, Vec::new(), observation.features.to_vec());
        }
        conforms
    }

    fn keep(&mut self, text: &[u8], observation: Observation<'_>) {
        // The session goes on with this text.
        (self.varied, self.other) = Default::default();
        let symbols = self.session.symbols(text).unwrap_or_default();
        let symbols = symbols.into_iter().map(|(symbol, _)| symbol).collect();
        self.corpus.keep(text, observation.cost, symbols, observation.features.to_vec());
        if self.goal == Goal::Cost && self.corpus.entries().len() > BEST {
            let costs = self.corpus.entries().iter().enumerate();
            let least = costs.min_by_key(|(_, entry)| rank(entry.cost, &entry.text)).map(|(number, _)| number);
            self.corpus.remove(least.expect("there are some"));
            // Numbers have changed.
            self.broken = Turn::default();
            (self.trimmer, self.parent) = (Trimmer::default(), None);
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
#[derive(Clone, Copy, Debug)]
struct Turn<T = usize> {
    text: Option<T>,
    left: u32,
}

impl<T> Default for Turn<T> {
    fn default() -> Turn<T> {
        Turn { text: None, left: 0 }
    }
}

impl<T: Copy> Turn<T> {
    /// Returns true if the next call chooses another text.
    fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Returns the same text for this many calls, then another one.
    fn next(&mut self, times: u32, another: impl FnOnce() -> Option<T>) -> Option<T> {
        if self.left == 0 {
            *self = Turn { text: another(), left: times };
        }
        self.left -= 1;
        self.text
    }
}

/// Rank of a text. Of two texts with the same cost the shorter one is better, as it has room for more.
type Rank = (u64, Reverse<usize>);

fn rank(cost: u64, text: &[u8]) -> Rank {
    (cost, Reverse(text.len()))
}
