//! `gramjet weights`: finds the weights of a shape, and writes them to a file.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::arguments::grammar::GrammarArgs;
use crate::arguments::limits::LimitArgs;
use crate::failure::{Failure, say};
use crate::output::whole::write_output;
use crate::prepared::Prepared;
use crate::report;
use crate::source::Source;

/// Find weights that give inputs a shape, and write them to a file.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgs,

    /// Write to this file.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    #[command(flatten)]
    limits: LimitArgs,
}

/// Writes the weights.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    let source = Source::load(&args.grammar)?;
    let how = &args.grammar.how;
    if how.shape.shape.is_none() && how.shape.weights.is_none() {
        return Err(Failure::Usage("which weights? Give a shape, such as `--shape balanced`".to_string()));
    }
    let prepared = Prepared::new(source, &args.grammar, &args.limits)?;
    let file = &prepared.source.file;
    let (examined, diagnostics) = prepared.examine();
    report::print(file, &diagnostics);
    let examined = examined.ok_or_else(|| report::does_not_compile(file, &diagnostics))?;
    say!("gramjet: {}", report::growth(&examined.growth));
    write_output(args.output.as_deref(), examined.weights.as_bytes())
}
