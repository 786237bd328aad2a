//! `--cover`: texts that have every path of successive alternatives.

use gramjet::Limits;
use gramjet_session::suite::cover::{Cover, cover};

use super::cases::{self, Missing};
use super::common::{self, Common};
use crate::commands::generate::destination::Destination;
use crate::failure::{Failure, say};
use crate::prepared::Prepared;
use crate::units::plural;

/// At most this many paths that no text has are named on standard error.
const NAMED: usize = 8;

/// Makes the texts, and says which paths they have.
pub fn run(
    prepared: &Prepared,
    limits: Limits,
    longest: u32,
    common: &Common<'_>,
    destination: &Destination<'_>,
) -> Result<(), Failure> {
    let compiled = prepared.compile()?;
    let bounds = common::bounds(limits);
    let made =
        cover(compiled, longest as usize, bounds, common.seed).map_err(|error| Failure::Usage(error.to_string()))?;
    let beyond = made.beyond.iter().map(|path| Missing { missing: path, why: "beyond the limits" });
    let missing = made.missing.iter().map(|path| Missing { missing: path, why: "not found" });
    let missing: Vec<Missing<'_>> = beyond.chain(missing).collect();
    cases::write(&made.cases, &missing, common.output, destination)?;
    say!("gramjet: {}", summary(&made, longest));
    for Missing { missing, why } in missing.iter().take(NAMED) {
        say!("gramjet: {why}: {missing}");
    }
    let all = made.all - made.covered;
    if all > NAMED.min(missing.len()) {
        say!("gramjet: and {} more", all - NAMED.min(missing.len()));
    }
    Ok(())
}

fn summary(made: &Cover, longest: u32) -> String {
    let bytes = made.cases.iter().map(|case| case.text.len() as u64).sum();
    let (texts, bytes) = (plural(made.cases.len() as u64, "text"), plural(bytes, "byte"));
    let steps = if longest == 1 { "1 alternative".to_string() } else { format!("up to {longest} alternatives") };
    format!("{} of {} of {steps} in {texts} ({bytes})", made.covered, plural(made.all as u64, "path"))
}
