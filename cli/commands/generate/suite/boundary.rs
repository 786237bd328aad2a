//! `--boundary`: texts at boundaries, and beyond.

use gramjet::Limits;
use gramjet_session::suite::boundary::boundary;

use super::cases;
use super::common::{self, Common};
use crate::commands::generate::destination::Destination;
use crate::failure::{Failure, say};
use crate::prepared::Prepared;
use crate::units::plural;

/// Makes the texts.
pub fn run(
    prepared: &Prepared,
    limits: Limits,
    common: &Common<'_>,
    destination: &Destination<'_>,
) -> Result<(), Failure> {
    let parser = common::parser(prepared, common)?;
    let made = boundary(prepared.compile()?, &parser, common::bounds(limits), common.seed)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    cases::write(&made.cases, &[], common.output, destination)?;
    let valid = made.cases.iter().filter(|case| case.is_valid).count();
    let beyond = made.cases.len() - valid;
    let is_written = if matches!(destination, Destination::Directory(_)) { "" } else { ", not written here" };
    let (valid, beyond) = (plural(valid as u64, "text"), plural(beyond as u64, "text"));
    say!(
        "gramjet: {valid} at boundaries, {beyond} beyond{is_written}; {} left out: there already, valid after all, or \
         outside the limits",
        made.left_out
    );
    Ok(())
}
