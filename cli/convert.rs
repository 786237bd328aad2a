//! `gramjet convert`: a grammar in another notation.

use std::path::Path;

use crate::args::ConvertArgs;
use crate::engines;
use crate::failure::Failure;
use crate::grammar;
use crate::texts::write_output;

/// Converts a grammar.
pub fn run(args: &ConvertArgs) -> Result<(), Failure> {
    let source = grammar::load(&args.grammar)?;
    let text = engines::convert(&source, args)?;
    write_output(Some(Path::new(&args.output)), text.as_bytes())
}
