//! `--pairs`: texts that have every pair of options of a rule.

use gramjet::Limits;
use gramjet_session::suite::pairs::pairs;

use super::cases::{self, Missing};
use super::common::{self, Common};
use crate::commands::generate::destination::Destination;
use crate::failure::{Failure, say};
use crate::prepared::Prepared;
use crate::units::plural;

/// At most this many pairs that no text has are named on standard error.
const NAMED: usize = 8;

/// Makes the texts.
pub fn run(
    prepared: &Prepared,
    limits: Limits,
    common: &Common<'_>,
    destination: &Destination<'_>,
) -> Result<(), Failure> {
    let made = pairs(prepared.compile()?, common::bounds(limits), common.seed)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let missing: Vec<Missing<'_>> =
        made.missing.iter().map(|pair| Missing { missing: pair, why: "not found within the limits" }).collect();
    cases::write(&made.cases, &missing, common.output, destination)?;
    let bytes = made.cases.iter().map(|case| case.text.len() as u64).sum();
    let (texts, bytes) = (plural(made.cases.len() as u64, "text"), plural(bytes, "byte"));
    say!("gramjet: {} of {} in {texts} ({bytes})", made.covered, plural(made.all as u64, "pair"));
    made.missing.iter().take(NAMED).for_each(|pair| say!("gramjet: not found within the limits: {pair}"));
    if made.missing.len() > NAMED {
        say!("gramjet: and {} more", made.missing.len() - NAMED);
    }
    Ok(())
}
