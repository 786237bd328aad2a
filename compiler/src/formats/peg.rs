//! Parsing expression grammars in the notation of Ford's paper, `name <- term / term`, and of the parser generators
//! that follow it. Code is left out.

use super::packrat::parser::Dialect;
use super::{Format, glance, packrat};
use crate::ast::Grammar;
use crate::diagnostics::{Diagnostics, SourceFile};

/// The `peg` format.
pub struct Peg;

const DIALECT: Dialect = Dialect {
    defines: &["<-", "\u{2190}", "\u{27F5}", "="],
    comments: &["#", "//"],
    has_empty: true,
    has_captures: true,
    has_octal: true,
    last: char::MAX,
    form: "name <- term term / term",
};

impl Format for Peg {
    fn name(&self) -> &'static str {
        "peg"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["peg"]
    }

    /// Looks for a line that begins with a name and an arrow to the left.
    fn looks_like(&self, text: &str) -> bool {
        let is_rule = |line: &str| {
            let arrow = ["<-", "\u{2190}", "\u{27F5}"].into_iter().find_map(|arrow| line.split_once(arrow));
            arrow.is_some_and(|(name, _)| glance::is_word(name))
        };
        glance::lines(text).any(is_rule)
    }

    fn parse(&self, file: &SourceFile, diagnostics: &mut Diagnostics) -> Grammar {
        packrat::read(file, &DIALECT, diagnostics)
    }
}

#[cfg(test)]
mod tests;
