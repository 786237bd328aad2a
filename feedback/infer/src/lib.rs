//! Infers a context-free grammar from example texts and an oracle that accepts or rejects texts.
//!
//! ```
//! use gramjet_infer::{Options, infer};
//!
//! let mut oracle = |text: &[u8]| matches!(text, [b'(', inner @ .., b')'] if inner.iter().all(u8::is_ascii_digit));
//! let inferred = infer(&[b"(12)".to_vec(), b"()".to_vec()], &mut oracle, &Options::default()).unwrap();
//! assert_eq!(inferred.grammar, "start ::= group\n\ngroup ::= '(' digits? ')'\n\ndigits ::= [0-9]+\n");
//! ```
//!
//! Samples become trees by their brackets (TreeVada: Arefin, Shetiya, Wang, Csallner 2024). Nodes that can stand for
//! each other become one nonterminal, and so do sequences of siblings (Arvada: Kulkarni, Lemieux, Sen 2021). What
//! repeats and what can be left out is found by repeating and removing parts (GLADE: Bastani, Sharma, Aiken, Liang
//! 2017). At last the oracle is asked about texts of the grammar, and generalisations that prove wrong are undone.
//!
//! Automata are learned beside this, for what stands between brackets (Angluin 1987; Kearns, Vazirani 1994). Of both
//! grammars, the one is chosen that is more precise and derives more of what both derive and the oracle accepts.
//!
//! The grammar derives all samples. Each step only adds to what the trees of the samples derive.
//!
//! A grammar that is there already is repaired by [`refine`].

#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

mod absorb;
mod asked;
mod bubbles;
mod check;
mod choice;
mod expr;
mod gaps;
mod generate;
mod lex;
mod lexical;
mod names;
mod nested;
mod places;
mod print;
mod probes;
pub mod refine;
mod repeats;
mod set;
mod tree;
mod without_blanks;
mod write;

use absorb::Absorber;
use asked::Asked;
pub use asked::Exhausted;
use bubbles::Bubbles;
use choice::Candidate;
use gaps::Gaps;
use places::Classes;
use tree::Forest;
use without_blanks::Lean;

/// Shares of the questions, in per cent of those that are left: for trees, and then for automata.
const READERS: (u64, u64) = (25, 92);

/// Answers whether a text belongs to the language.
pub trait Oracle {
    /// Returns true if it accepts the text; `None` if it answers no more. The same text must get the same answer.
    fn accepts(&mut self, text: &[u8]) -> Option<bool>;
}

impl<F: FnMut(&[u8]) -> bool> Oracle for F {
    fn accepts(&mut self, text: &[u8]) -> Option<bool> {
        Some(self(text))
    }
}

/// The bounds of an inference.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The most texts that the oracle is asked about.
    pub max_calls: u64,
    /// The longest time. When it is over, what is not known yet is not generalised.
    pub time: Option<Duration>,
    /// Samples with more bytes are left out.
    pub max_sample: usize,
    /// Greatest number of bytes of all samples together: beyond it, the longest ones are left out.
    pub max_samples: usize,
    /// The number that random checks depend on.
    pub seed: u64,
}

impl Default for Options {
    /// Returns options with 100 000 texts, no bound on time, samples of up to 4 KiB and together up to 64 KiB, seed 0.
    fn default() -> Options {
        Options { max_calls: 100_000, time: None, max_sample: 4 << 10, max_samples: 64 << 10, seed: 0 }
    }
}

/// A grammar.
#[derive(Clone, Debug)]
pub struct Inferred {
    /// The grammar, as EBNF.
    pub grammar: String,
    /// The number of rules.
    pub rules: usize,
    /// The texts that the oracle was asked about.
    pub calls: u64,
    /// The bound that ended the questions, so that the grammar may be less general than it could be.
    pub exhausted: Option<Exhausted>,
    /// The samples that are too long, by their numbers.
    pub left_out: Vec<usize>,
    /// The number of samples that are in the grammar as they are, as its rules would not derive them.
    pub verbatim: usize,
}

/// Reasons why nothing can be inferred.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// There is no sample that is not empty.
    #[error("there is no sample that is not empty")]
    NoSamples,
    /// All samples are too long.
    #[error("all samples are longer than the limit")]
    TooLong,
    /// The oracle rejects the sample of this number, from 0 on.
    #[error("sample {} is rejected", .0 + 1)]
    Rejected(usize),
    /// The oracle accepts texts that no language of samples has: random bytes, and samples cut at odd places.
    #[error("every text is accepted, so there is nothing to infer")]
    AcceptsEverything,
    /// The oracle has not answered about all samples.
    #[error("the questions ended before all samples were asked about")]
    Unanswered,
    /// The grammar cannot be made: a defect of this library.
    #[error("{0}")]
    Defect(String),
}

/// Infers a grammar. The result depends on samples, answers and seed only, unless time runs out.
///
/// # Errors
///
/// If the oracle rejects a sample, or accepts everything.
pub fn infer(samples: &[Vec<u8>], oracle: &mut dyn Oracle, options: &Options) -> Result<Inferred, Unusable> {
    let deadline = options.time.and_then(|time| Instant::now().checked_add(time));
    let (used, left_out) = usable(samples, options)?;
    let mut asked = Asked::new(oracle, options.max_calls.max(used.len() as u64 + 16), deadline);
    if let Some(&number) = used.iter().find(|&&number| !asked.accepts(&samples[number])) {
        return Err(if asked.exhausted.is_some() { Unusable::Unanswered } else { Unusable::Rejected(number) });
    }
    let used: Vec<&[u8]> = used.into_iter().map(|number| samples[number].as_slice()).collect();
    if accepts_everything(&used, &mut asked) {
        return Err(Unusable::AcceptsEverything);
    }
    let total = asked.bound();
    asked.set_bound(asked.calls + (total - asked.calls) * READERS.0 / 100);
    let trees = by_trees(&used, &mut asked, options.seed);
    asked.set_bound(asked.calls + (total - asked.calls) * READERS.1 / 100);
    let automata = nested::candidate(&used, &mut asked, options.seed);
    asked.set_bound(total);
    let best = choice::better([trees, automata], &used, &mut asked, options.seed).map_err(Unusable::Defect)?;
    let choice::Choice { grammar, rules, verbatim, exhausted } = best;
    let exhausted = asked.exhausted.or(exhausted);
    Ok(Inferred { grammar, rules, calls: asked.calls, exhausted, left_out, verbatim })
}

/// Returns the grammar by trees whose nodes can stand for each other.
fn by_trees(samples: &[&[u8]], asked: &mut Asked<'_>, seed: u64) -> Candidate {
    let forest = structure(samples, asked);
    let (forest, classes) = classified(forest, asked);
    let gaps = Gaps::find(&forest, &classes, asked);
    let (rules, undone) =
        check::repair(seed, asked, &mut |undone, asked| write::rules(&forest, &classes, &gaps, asked, undone, seed));
    Candidate { rules, undone, exhausted: asked.exhausted }
}

/// Returns the samples that are used, the shortest first, and those that are too long.
fn usable(samples: &[Vec<u8>], options: &Options) -> Result<(Vec<usize>, Vec<usize>), Unusable> {
    let mut order: Vec<usize> = (0..samples.len()).filter(|&number| !samples[number].is_empty()).collect();
    if order.is_empty() {
        return Err(Unusable::NoSamples);
    }
    order.sort_by_key(|&number| (samples[number].len(), &samples[number], number));
    let mut sum = 0;
    let (used, mut left_out): (Vec<usize>, Vec<usize>) = order.into_iter().partition(|&number| {
        sum += samples[number].len();
        samples[number].len() <= options.max_sample && sum <= options.max_samples
    });
    left_out.sort_unstable();
    if used.is_empty() { Err(Unusable::TooLong) } else { Ok((used, left_out)) }
}

/// Returns true if texts are accepted that are made of noise.
fn accepts_everything(samples: &[&[u8]], asked: &mut Asked<'_>) -> bool {
    let longest = samples.last().copied().unwrap_or_default();
    let noise: [&[u8]; 4] = [b"\x01\xFF\x02\xFE", b")]}\"'>{[(<\\", b";:,|&^%$#@!~`", b"\0"];
    let mut texts: Vec<Vec<u8>> = noise.iter().map(|noise| noise.to_vec()).collect();
    texts.extend(noise.iter().map(|noise| [noise, longest, noise].concat()));
    asked.accepts_all(texts)
}

/// Returns the trees of the samples without needless white space, with texts of many characters as tokens.
fn structure(samples: &[&[u8]], asked: &mut Asked<'_>) -> Forest {
    let quotes = without_blanks::quotes(samples, asked);
    let lean = |is_free: bool, asked: &mut Asked<'_>| -> Vec<Lean> {
        samples.iter().map(|sample| Lean::new(sample, quotes, is_free, asked)).collect()
    };
    let mut leans = lean(false, asked);
    let mut is_free = false;
    for _ in 0..3 {
        let forest = Forest::new(leans.clone(), false);
        let classes = Classes::find(&forest, asked);
        let texts = absorb::texts(&forest, &classes, asked);
        if !is_free && texts.iter().any(|texts| texts.set.has(b' ')) {
            is_free = true;
            leans = lean(true, asked);
        }
        let mut absorber = Absorber { forest: &forest, classes: &classes, texts: &texts, asked };
        let mut is_changed = false;
        for lean in &mut leans {
            is_changed |= absorber.absorb(lean);
        }
        if !is_changed {
            break;
        }
    }
    Forest { is_free, quotes, ..Forest::new(leans, true) }
}

/// Returns the trees with bubbles, and the classes of their nodes.
fn classified(mut forest: Forest, asked: &mut Asked<'_>) -> (Forest, Classes) {
    let mut classes = Classes::find(&forest, asked);
    Bubbles::find(&mut forest, &mut classes, asked);
    (forest, classes)
}
