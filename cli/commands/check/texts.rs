//! The number of texts of each length.

use std::fmt;

use gramjet_compiler::Compiled;
use gramjet_session::suite::counts::Counts;
use gramjet_session::suite::unique::{Known, Novelty};
use serde::Serialize;

use crate::failure::Failure;
use crate::units::plural;

/// Texts of a length are compared with each other if they have at most this many derivations.
const MOST_COMPARED: u64 = 100_000;

/// The numbers of texts up to a length, without lengths that no text has.
#[derive(Debug)]
pub struct Texts {
    /// The numbers, by length.
    pub lengths: Vec<OfLength>,
    /// The greatest length that was asked for.
    most: u64,
}

/// The number of texts of a length.
#[derive(Debug, Serialize)]
pub struct OfLength {
    /// The length in bytes.
    length: u64,
    /// The number of derivations, in decimal digits.
    derivations: String,
    /// The number of different texts, if they were compared.
    texts: Option<u64>,
}

impl Texts {
    /// Counts the texts of a grammar.
    pub fn new(compiled: &Compiled, most: u64) -> Result<Texts, Failure> {
        let refused = |error| Failure::Usage(format!("`--lengths` is not possible: {error}"));
        let mut counts = Counts::new(compiled).map_err(refused)?;
        let last = most.min(counts.longest().unwrap_or(u64::MAX));
        let mut lengths = Vec::new();
        for length in compiled.min_len()..=last {
            let count = counts.of(length).map_err(refused)?;
            if count.is_zero() {
                continue;
            }
            let (derivations, all) = (count.to_string(), count.saturated());
            let texts = (all <= MOST_COMPARED).then(|| different(&counts, length, all));
            lengths.push(OfLength { length, derivations, texts });
        }
        Ok(Texts { lengths, most })
    }
}

/// Returns the number of different texts of a length.
fn different(counts: &Counts<'_>, length: u64, all: u64) -> u64 {
    let (mut known, mut text) = (Known::new(Known::MOST), Vec::new());
    let mut is_new = |number| {
        counts.text(length, number, &mut text);
        known.add(&text) == Novelty::New
    };
    (0..all).filter(|&number| is_new(number)).count() as u64
}

impl fmt::Display for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.lengths.is_empty() {
            return writeln!(f, "texts      none of up to {}", plural(self.most, "byte"));
        }
        for (number, of) in self.lengths.iter().enumerate() {
            let name = if number == 0 { "texts" } else { "" };
            let length = plural(of.length, "byte");
            let told = match of.texts {
                Some(texts) if texts.to_string() == of.derivations => texts.to_string(),
                Some(texts) => format!("{texts} (with {} derivations)", of.derivations),
                None => format!("{} derivations (texts may have several)", of.derivations),
            };
            writeln!(f, "{name:10} {length}: {told}")?;
        }
        Ok(())
    }
}
