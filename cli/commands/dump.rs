//! `gramjet dump`: what a stage of the compiler makes of a grammar.

use clap::Args;

use crate::arguments::grammar::GrammarArgs;
use crate::arguments::limits::LimitArgs;
use crate::arguments::values;
use crate::failure::Failure;
use crate::output::whole::write_output;
use crate::prepared::Prepared;
use crate::report;

/// Print what a stage of the compiler makes of a grammar.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The stage.
    #[arg(value_name = "STAGE", value_parser = values::stage_names())]
    stage: String,

    #[command(flatten)]
    grammar: GrammarArgs,

    /// The depth limit that is unfolded, in place of the grammar file's (`unfold` only).
    #[arg(long, value_name = "DEPTH")]
    max_depth: Option<u32>,
}

/// Prints the stage, also if a later one finds out why the grammar does not compile.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    let prepared = Prepared::load(&args.grammar, &LimitArgs::at(args.max_depth, None))?;
    let file = &prepared.source.file;
    let (text, diagnostics) = gramjet_compiler::dump(file, &prepared.options, &args.stage);
    let result = match (&text, diagnostics.has_errors()) {
        (_, true) => Err(prepared.refuse(&diagnostics)),
        (Some(_), false) => {
            report::print(file, &diagnostics);
            Ok(())
        }
        // The names were checked against the list of stages.
        (None, false) => Err(Failure::Internal(format!("the compiler did not come by the stage {}", args.stage))),
    };
    write_output(None, text.unwrap_or_default().as_bytes())?;
    result
}
