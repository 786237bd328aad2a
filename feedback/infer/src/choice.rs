//! The better one of two grammars: by how many of its texts are accepted, and how many accepted texts of both it
//! derives.

use std::collections::BTreeSet;

use crate::Exhausted;
use crate::asked::Asked;
use crate::check;
use crate::expr::{Expr, Undone};
use crate::generate::Generator;
use crate::write::Rule;

/// A grammar that may be chosen.
pub(crate) struct Candidate {
    pub rules: Vec<Rule>,
    pub undone: Undone,
    /// The bound that ended its questions.
    pub exhausted: Option<Exhausted>,
}

/// A grammar that is chosen.
pub(crate) struct Choice {
    pub grammar: String,
    /// The number of rules.
    pub rules: usize,
    /// The number of samples that it has as they are.
    pub verbatim: usize,
    pub exhausted: Option<Exhausted>,
}

/// Texts of each grammar that are asked about.
const TEXTS: u64 = 200;
/// Longer texts are not compared.
const LONG: usize = 300;
/// The second grammar must be better by this.
const MARGIN: f64 = 0.02;

/// Returns the better one of two grammars; the first one, if they are about as good.
pub(crate) fn better(
    candidates: [Candidate; 2],
    samples: &[&[u8]],
    asked: &mut Asked<'_>,
    seed: u64,
) -> Result<Choice, String> {
    let [first, second] = &candidates;
    let (one, other) = (texts(first, asked, seed), texts(second, asked, seed));
    let all: Vec<&[u8]> = one.1.union(&other.1).map(Vec::as_slice).collect();
    let first_measure = measure(first, one.0, &all, samples)?;
    let second_measure = measure(second, other.0, &all, samples)?;
    let is_second = second_measure > first_measure + MARGIN;
    let [first, second] = candidates;
    let chosen = if is_second { second } else { first };
    let (grammar, rules, verbatim) = check::complete(&chosen.rules, &chosen.undone, samples)?;
    Ok(Choice { grammar, rules, verbatim, exhausted: chosen.exhausted })
}

/// Returns the share of texts that are accepted, and those that are.
fn texts(candidate: &Candidate, asked: &mut Asked<'_>, seed: u64) -> (f64, BTreeSet<Vec<u8>>) {
    let exprs: Vec<Expr> = candidate.rules.iter().map(|rule| rule.expr.clone()).collect();
    let mut generator = Generator::new(&exprs, &candidate.undone);
    let (mut count, mut accepted, mut all) = (0_u32, 0_u32, BTreeSet::new());
    for number in 0..TEXTS {
        generator.make(0, seed ^ (number << 32));
        if asked.is_over() {
            break;
        }
        count += 1;
        if asked.accepts(&generator.text) {
            accepted += 1;
            all.insert(std::mem::take(&mut generator.text));
        }
    }
    all.retain(|text| text.len() <= LONG);
    (f64::from(accepted) / f64::from(count.max(1)), all)
}

/// Returns the harmonic mean of the precision and the share of texts that a grammar derives.
fn measure(candidate: &Candidate, precision: f64, texts: &[&[u8]], samples: &[&[u8]]) -> Result<f64, String> {
    let (grammar, ..) = check::complete(&candidate.rules, &candidate.undone, samples)?;
    let missed = check::missed(&grammar, texts)?.len();
    let recall = 1.0 - missed as f64 / texts.len().max(1) as f64;
    Ok(2.0 * precision * recall / (precision + recall).max(f64::MIN_POSITIVE))
}
