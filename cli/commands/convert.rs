//! `gramjet convert`: a grammar in another notation.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use gramjet_compiler::Diagnostics;
use gramjet_compiler::print::{self, Printer};

use crate::arguments::grammar::GrammarArgs;
use crate::arguments::limits::LimitArgs;
use crate::arguments::values;
use crate::failure::{Failure, quoted};
use crate::output::whole::write_output;
use crate::prepared::Prepared;
use crate::report;
use crate::source::Source;

/// Write a grammar in another notation.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgs,

    /// The file to write, `-` for standard output; its extension says which notation (ebnf, json, abnf, g4, gbnf).
    #[arg(value_name = "OUT", value_hint = ValueHint::FilePath)]
    output: PathBuf,

    /// The notation to write, whatever the extension.
    #[arg(long, value_name = "FORMAT", value_parser = values::printer_names())]
    to: Option<String>,

    /// Leave the weights out, for notations that have none; alternatives of weight 0 are left out, too.
    #[arg(long)]
    drop_weights: bool,
}

/// Converts a grammar.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    let source = Source::load(&args.grammar)?;
    let printer = printer(args)?;
    let prepared = Prepared::new(source, &args.grammar, &LimitArgs::default())?;
    let mut diagnostics = Diagnostics::default();
    let mut grammar = prepared.read(&mut diagnostics);
    if args.drop_weights {
        grammar.drop_weights();
    }
    let text = if diagnostics.has_errors() { None } else { printer.print(&grammar, &mut diagnostics) };
    diagnostics.sort();
    let text = text.ok_or_else(|| prepared.refuse(&diagnostics))?;
    report::print(&prepared.source.file, &diagnostics);
    write_output(Some(&args.output), text.as_bytes())
}

/// Returns the notation that is asked for by name, or else by the extension of the output.
fn printer(args: &Arguments) -> Result<&'static dyn Printer, Failure> {
    let printer = match &args.to {
        Some(name) => print::by_name(name),
        None => print::by_file_name(&args.output.to_string_lossy()),
    };
    if args.grammar.how.shape.shape.is_some() || args.grammar.how.shape.weights.is_some() {
        return Err(Failure::Usage(
            "a grammar is converted with its own weights; `gramjet weights` writes those of a shape".to_string(),
        ));
    }
    printer.ok_or_else(|| {
        let extensions = print::ALL.iter().flat_map(|printer| printer.extensions());
        let known: Vec<String> = extensions.map(|extension| format!(".{extension}")).collect();
        Failure::Usage(format!(
            "the extension of {} names no notation (known: {}); ask for one with `--to`",
            quoted(&args.output),
            known.join(", ")
        ))
    })
}
