//! Infers a context-free grammar from example texts and an oracle that accepts or rejects texts.
//!
//! ```
//! use gramjet_infer::{Options, infer};
//!
//! let mut oracle = |text: &[u8]| matches!(text, [b'(', inner @ .., b')'] if inner.iter().all(u8::is_ascii_digit));
//! let inferred = infer(&[b"(12)".to_vec(), b"()".to_vec()], &mut oracle, &Options::default()).unwrap();
//! assert_eq!(inferred.grammar, "start ::= group\n\ngroup ::= '(' (digits)? ')'\n\ndigits ::= [0-9]+\n");
//! ```
//!
//! Samples become trees by their brackets (TreeVada: Arefin, Shetiya, Wang, Csallner 2024). Nodes that can stand for each
//! other become one nonterminal, and so do sequences of siblings (Arvada: Kulkarni, Lemieux, Sen 2021). What repeats and
//! what can be left out is found by repeating and removing parts (GLADE: Bastani, Sharma, Aiken, Liang 2017).

#![forbid(unsafe_code)]

use std::fmt;
use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

mod asked;
mod classes;
mod repeats;
mod tokens;
mod tree;
mod write;

use asked::Asked;
use classes::Classes;
use tree::{Forest, without_blanks};

/// Answers whether a text belongs to the language.
pub trait Oracle {
    /// Whether it accepts the text. The same text must get the same answer.
    fn accepts(&mut self, text: &[u8]) -> bool;
}

impl<F: FnMut(&[u8]) -> bool> Oracle for F {
    fn accepts(&mut self, text: &[u8]) -> bool {
        self(text)
    }
}

/// The bounds of an inference.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The most texts that the oracle is asked about.
    pub max_calls: u64,
    /// The longest time. When it is over, what is not known yet is not generalised.
    pub time: Option<Duration>,
    /// The number that random checks depend on.
    pub seed: u64,
}

impl Default for Options {
    /// 100 000 texts, no bound on time, seed 0.
    fn default() -> Options {
        Options { max_calls: 100_000, time: None, seed: 0 }
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
    /// Whether a bound ended the questions, so that the grammar may be less general than it could be.
    pub is_exhausted: bool,
}

/// Why nothing can be inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// There is no sample that is not empty.
    NoSamples,
    /// The oracle rejects the sample of this number, from 0 on.
    Rejected(usize),
    /// The oracle accepts texts that no language of samples has: random bytes, and samples cut at odd places.
    AcceptsEverything,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unusable::NoSamples => f.write_str("there is no sample that is not empty"),
            Unusable::Rejected(number) => write!(f, "sample {} is rejected", number + 1),
            Unusable::AcceptsEverything => f.write_str("every text is accepted, so there is nothing to infer"),
        }
    }
}

impl std::error::Error for Unusable {}

/// Infers a grammar. The result depends on samples, answers and seed only, unless time runs out.
///
/// # Errors
///
/// If the oracle rejects a sample, or accepts everything.
pub fn infer(samples: &[Vec<u8>], oracle: &mut dyn Oracle, options: &Options) -> Result<Inferred, Unusable> {
    let deadline = options.time.and_then(|time| Instant::now().checked_add(time));
    let mut asked = Asked::new(oracle, options.max_calls.max(samples.len() as u64 + 16), deadline);
    if samples.iter().all(Vec::is_empty) {
        return Err(Unusable::NoSamples);
    }
    if let Some(number) = samples.iter().position(|sample| !asked.accepts(sample)) {
        return Err(Unusable::Rejected(number));
    }
    if accepts_everything(samples, &mut asked) {
        return Err(Unusable::AcceptsEverything);
    }
    let texts = samples.iter().filter(|sample| !sample.is_empty()).map(|sample| without_blanks(sample, &mut asked));
    let mut texts: Vec<Vec<u8>> = texts.filter(|text| !text.is_empty()).collect();
    texts.sort_by_key(|text| (text.len(), text.clone()));
    texts.dedup();
    if texts.is_empty() {
        return Err(Unusable::NoSamples);
    }
    let mut forest = Forest::new(texts);
    let classes = Classes::find(&mut forest, &mut asked);
    let random = Xoshiro256PlusPlus::seed_from_u64(options.seed);
    let rules = write::write(&forest, &classes, &mut asked, random);
    let text: Vec<String> = rules.iter().map(|(name, body)| format!("{name} ::= {body}\n")).collect();
    let (calls, is_exhausted) = (asked.calls, asked.is_exhausted);
    Ok(Inferred { grammar: text.join("\n"), rules: rules.len(), calls, is_exhausted })
}

/// Whether texts are accepted that are made of noise.
fn accepts_everything(samples: &[Vec<u8>], asked: &mut Asked<'_>) -> bool {
    let longest = samples.iter().max_by_key(|sample| sample.len()).map_or(&[][..], Vec::as_slice);
    let noise: [&[u8]; 4] = [b"\x01\xFF\x02\xFE", b")]}\"'>{[(<\\", b";:,|&^%$#@!~`", b"\0"];
    let mut texts: Vec<Vec<u8>> = noise.iter().map(|noise| noise.to_vec()).collect();
    texts.extend(noise.iter().map(|noise| [noise, longest, noise].concat()));
    asked.accepts_all(texts)
}
