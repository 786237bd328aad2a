//! `gramjet weights`: finds the weights of a shape, and writes them to a file.

use crate::args::WeightsArgs;
use crate::engines;
use crate::failure::{Failure, say};
use crate::grammar;
use crate::report;
use crate::texts::write_output;

/// Writes the weights.
pub fn run(args: &WeightsArgs) -> Result<(), Failure> {
    let source = grammar::load(&args.grammar)?;
    let how = &args.grammar.how;
    if how.shape.shape.is_none() && how.shape.weights.is_none() {
        return Err(Failure::Usage("which weights? Give a shape, such as `--shape balanced`".to_string()));
    }
    let (examined, diagnostics) = engines::examine(&source, &args.grammar)?;
    report::print(&source.file, &diagnostics);
    let examined = examined.ok_or_else(|| engines::does_not_compile(&source, &diagnostics))?;
    say!("gramjet: {}", crate::check::describe_growth(&examined.growth));
    write_output(args.output.as_deref(), examined.weights.as_bytes())
}
