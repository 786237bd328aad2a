//! Printers: write a grammar in a notation that a format reads back. A construct that a notation lacks is an error.
//!
//! A new printer is one file here plus a line in [`ALL`].

use crate::ast::{Expr, Grammar, Rule};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};

mod abnf;
mod beginnings;
mod ebnf;
mod g4;
mod gbnf;
mod json;
mod names;
mod relaxed;

use names::Names;
use relaxed::relaxed;

/// Writes grammars in one notation.
pub trait Printer: Sync {
    /// Returns the name of the format that reads this notation.
    fn name(&self) -> &'static str;

    /// Returns the file extensions (without the dot) of this notation.
    fn extensions(&self) -> &'static [&'static str];

    /// Returns the grammar as text. If the notation cannot express it, errors go into `diagnostics` and the result is
    /// `None`.
    fn print(&self, grammar: &Grammar, diagnostics: &mut Diagnostics) -> Option<String>;
}

/// Advice for weights that a notation lacks.
const HELP_FOR_WEIGHTS: &str =
    "write EBNF or JSON (`--to ebnf`, `--to fuzzingbook`), or leave the weights out with `--drop-weights`";

/// Every printer.
pub const ALL: &[&dyn Printer] = &[&ebnf::Ebnf, &json::Json, &abnf::Abnf, &g4::G4, &gbnf::Gbnf];

/// Returns the printer of the format called `name`.
pub fn by_name(name: &str) -> Option<&'static dyn Printer> {
    ALL.iter().copied().find(|printer| printer.name() == name)
}

/// Returns the printer for a file name, by its extension.
pub fn by_file_name(name: &str) -> Option<&'static dyn Printer> {
    let (_, extension) = name.rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    ALL.iter().copied().find(|printer| printer.extensions().contains(&extension.as_str()))
}

/// Returns the rules with the start rule first.
fn start_first(grammar: &Grammar) -> Vec<&Rule> {
    let name = grammar.start.as_ref().map(|start| start.text.as_str());
    let start = name.and_then(|name| grammar.rules.iter().position(|rule| rule.name.text == name)).unwrap_or(0);
    let first = grammar.rules.get(start).into_iter();
    first.chain(grammar.rules.iter().enumerate().filter(|&(number, _)| number != start).map(|(_, rule)| rule)).collect()
}

/// Warns of directives that the notation lacks.
fn report_directives(grammar: &Grammar, notation: &str, diagnostics: &mut Diagnostics) {
    for (name, is_there) in [("%max-depth", grammar.max_depth.is_some()), ("%max-len", grammar.max_len.is_some())] {
        if is_there {
            let message = format!("{notation} has no `{name}`: it is left out");
            let diagnostic = Diagnostic::warning(Code::NotExpressible, None, message);
            diagnostics.push(diagnostic.help("give the limit on the command line instead"));
        }
    }
}

/// Reports a construct that the notation lacks.
fn refuse(span: Span, message: impl Into<String>, help: &str, diagnostics: &mut Diagnostics) {
    diagnostics.push(Diagnostic::error(Code::NotExpressible, span, message).help(help));
}

/// Returns true if a choice has unequal weights. Equal ones need not be written.
fn has_weights(expr: &Expr) -> bool {
    let Some(alternatives) = expr.as_choice() else { return false };
    let weight = |number: usize| alternatives.get(number).and_then(|a| a.weight).map_or(1.0, |weight| weight.value);
    (1..alternatives.len()).any(|number| weight(number) != weight(0))
}
