//! `--invalid`: texts that are not in the language, one change away from it.

use gramjet::Limits;
use gramjet_campaign::StopReason;
use gramjet_session::suite::invalid::{Invalid, invalid};

use super::cases;
use super::common::{self, Common};
use crate::commands::generate::destination::Destination;
use crate::failure::{Failure, say};
use crate::prepared::Prepared;
use crate::tally::Tally;
use crate::units::plural;

/// Makes the texts.
pub fn run(
    prepared: &Prepared,
    limits: Limits,
    count: u64,
    common: &Common<'_>,
    destination: &Destination<'_>,
) -> Result<(), Failure> {
    let compiled = prepared.compile()?;
    let parser = common::parser(prepared, common)?;
    let stop = crate::stop::on_signals();
    let made = invalid(compiled, &parser, common::bounds(limits), (count, common.seed), &|| stop.is_requested())
        .map_err(|error| Failure::Usage(error.to_string()))?;
    if let Some(StopReason::Signal(name, signal)) = stop.reason() {
        return Err(Failure::Interrupted { name, signal, written: Tally::default() });
    }
    cases::write(&made.cases, &[], common.output, destination)?;
    say!("gramjet: {}", summary(&made));
    match made.cases.len() as u64 {
        found if found < count => {
            Err(Failure::Ended(format!("no more than {} were found", plural(found, "invalid text"))))
        }
        _ => Ok(()),
    }
}

fn summary(made: &Invalid) -> String {
    let kinds: Vec<String> = made.by_kind.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    let left_out = match (made.valid, made.unclear) {
        (valid, 0) => format!("{valid} changed texts were valid"),
        (valid, unclear) => format!("{valid} changed texts were valid, and {unclear} took the parser too long"),
    };
    format!("{}: {}; {left_out}", plural(made.cases.len() as u64, "text"), kinds.join(", "))
}
