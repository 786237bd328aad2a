//! `gramjet grammars`: the grammars that ship with gramjet.

use std::fmt::Write as _;

use clap::Args;
use gramjet_grammars::SHIPPED;

use crate::failure::Failure;
use crate::output::whole::write_output;

/// List the grammars that ship with gramjet.
#[derive(Debug, Args)]
pub struct Arguments {}

/// Lists the shipped grammars.
pub fn run(_: &Arguments) -> Result<(), Failure> {
    let width = SHIPPED.iter().map(|grammar| grammar.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for grammar in SHIPPED {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:width$}  {}", grammar.name, grammar.description);
        let _ = writeln!(text, "{:width$}  source: {}", "", grammar.source);
    }
    write_output(None, text.as_bytes())
}
