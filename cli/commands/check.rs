//! `gramjet check`: problems of a grammar, its sizes, and the look of its inputs.

mod corpus;
mod found;
mod json;
mod sample;
mod structure;
mod texts;

use std::ffi::OsString;

use clap::{Args, ValueHint};
use gramjet_compiler::Diagnostics;
use gramjet_compiler::diagnostics::{Code, Diagnostic, Severity};

use crate::arguments::grammar::{GrammarArgs, HowArgs};
use crate::arguments::limits::LimitArgs;
use crate::arguments::values;
use crate::failure::Failure;
use crate::output::whole::write_output;
use crate::prepared::Prepared;
use crate::report;
use crate::source::Source;
use crate::units;
use corpus::CorpusArgs;
use found::Found;
use texts::Texts;

/// Say what is wrong with a grammar, and what its inputs will look like.
#[derive(Debug, Args)]
pub struct Arguments {
    /// A grammar file, `-` for standard input, or the name of a shipped grammar.
    #[arg(value_name = "GRAMMAR", value_hint = ValueHint::FilePath, required_unless_present = "explain")]
    grammar: Option<OsString>,

    #[command(flatten)]
    how: HowArgs,

    /// Print what a code of a diagnostic means, with an example and a remedy, and do nothing else.
    #[arg(long, value_name = "CODE", exclusive = true, value_parser = values::code_names())]
    explain: Option<String>,

    /// Print diagnostics and facts as JSON on standard output; docs/lints.md describes it.
    #[arg(long)]
    json: bool,

    /// Take warnings with this code for errors; `warnings` stands for all. The help of `--explain` lists the codes.
    #[arg(long, value_name = "CODE", hide_possible_values = true, value_parser = values::code_names_or_warnings())]
    deny: Vec<String>,

    /// Leave warnings with this code out; `warnings` stands for all that are not denied. The help of `--explain` lists
    /// the codes.
    #[arg(long, value_name = "CODE", hide_possible_values = true, value_parser = values::code_names_or_warnings())]
    allow: Vec<String>,

    /// Count the texts of each length up to this one, in bytes.
    ///
    /// Derivations are counted, exactly. Where they are few, equal texts among them are, too.
    #[arg(long, value_name = "LENGTH", value_parser = units::parse_size)]
    lengths: Option<u64>,

    #[command(flatten)]
    corpus: CorpusArgs,

    #[command(flatten)]
    limits: LimitArgs,
}

/// Checks a grammar, or explains a code.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    if let Some(name) = &args.explain {
        // The name is one of the codes: the arguments were checked.
        let page = Code::by_name(name).map_or("", Code::page);
        return write_output(None, format!("# {name}\n\n{page}").as_bytes());
    }
    // The arguments were checked for a grammar, too.
    let grammar = args.grammar.clone().unwrap_or_default();
    let arguments = GrammarArgs { grammar, how: args.how.clone() };
    if args.corpus.is_asked() {
        return corpus::run(&args.corpus, &arguments);
    }
    let source = told(args, None, Source::load(&arguments))?;
    let name = source.file.name().to_string();
    let prepared = told(args, Some(&name), Prepared::new(source, &arguments, &args.limits))?;
    let (examined, diagnostics) = prepared.examine();
    let mut diagnostics = Levels::new(args).apply(diagnostics);
    if !args.json {
        report::print(&prepared.source.file, &diagnostics);
    }
    let found = examined.as_ref().map(|examined| Found::new(examined, &prepared)).transpose();
    let (mut found, refusal) = match found {
        Ok(found) => (found, None),
        Err(refusal) => (None, Some(refusal)),
    };
    if let (Some(found), Some(most)) = (&mut found, args.lengths) {
        // Weights that a shape finds write repetitions in other ways.
        let counted = Prepared::new(Source::load(&arguments)?, &arguments, &args.limits)?.with_own_weights();
        found.texts = Some(Texts::new(counted.compiled()?, most)?);
    }
    if let Some(refusal) = &refusal {
        diagnostics.push(Diagnostic::error(Code::ImpossibleLimit, None, refusal.to_string()));
    }
    let text = match (&found, args.json) {
        (_, true) => json::text(&name, &prepared.source.file, &diagnostics, found.as_ref(), &args.how.shape),
        (Some(found), false) => found.to_string(),
        (None, false) => String::new(),
    };
    write_output(None, text.as_bytes())?;
    if let Some(refusal) = refusal {
        return Err(refusal);
    }
    match (examined, diagnostics.has_errors()) {
        (None, _) => Err(report::does_not_compile(&prepared.source.file, &diagnostics)),
        (Some(_), true) => {
            let summary = report::summary(&diagnostics);
            Err(Failure::Grammar(format!("{name} has warnings that are denied: {summary}")))
        }
        (Some(_), false) => Ok(()),
    }
}

/// Returns the result. With `--json`, a file that cannot be read is reported as an object on standard output, as the
/// only diagnostic of the grammar. `grammar` is the name of the grammar if it was read.
fn told<T>(args: &Arguments, grammar: Option<&str>, result: Result<T, Failure>) -> Result<T, Failure> {
    if let (true, Err(Failure::Unreadable(unreadable))) = (args.json, &result) {
        let grammar = grammar.unwrap_or(unreadable.source.name());
        let diagnostics = unreadable.diagnostics();
        let text = json::text(grammar, &unreadable.source, &diagnostics, None, &args.how.shape);
        write_output(None, text.as_bytes())?;
    }
    result
}

/// Levels of warnings: which are left out, and which are errors.
struct Levels<'a> {
    deny: &'a [String],
    allow: &'a [String],
}

impl<'a> Levels<'a> {
    fn new(args: &'a Arguments) -> Levels<'a> {
        Levels { deny: &args.deny, allow: &args.allow }
    }

    /// Leaves warnings out, or makes them errors. A named code takes precedence over `warnings`, and `deny` over
    /// `allow`. Errors stay errors.
    fn apply(&self, diagnostics: Diagnostics) -> Diagnostics {
        let has = |list: &[String], name: &str| list.iter().any(|one| one == name);
        diagnostics.filter_map(|mut diagnostic| {
            if diagnostic.severity == Severity::Warning {
                let name = diagnostic.code.name();
                if has(self.deny, name) {
                    diagnostic.severity = Severity::Error;
                } else if has(self.allow, name) {
                    return None;
                } else if has(self.deny, WARNINGS) {
                    diagnostic.severity = Severity::Error;
                } else if has(self.allow, WARNINGS) {
                    return None;
                }
            }
            Some(diagnostic)
        })
    }
}

/// Stands for all warnings.
const WARNINGS: &str = "warnings";
