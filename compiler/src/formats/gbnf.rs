//! GBNF, the notation of llama.cpp for what a language model may write: `name ::= ...` on a line, in the manner of BNF
//! with the repetitions and classes of regular expressions. The start rule is `root`.

use super::{Format, glance};
use crate::ast::Grammar;
use crate::diagnostics::{Diagnostics, SourceFile};

mod lexer;
mod parser;

/// The name of the start rule.
const ROOT: &str = "root";

/// The `gbnf` format.
pub struct Gbnf;

impl Format for Gbnf {
    fn name(&self) -> &'static str {
        "gbnf"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["gbnf"]
    }

    /// Looks for a definition of `root` with `::=`, in a text without what only the EBNF has.
    fn looks_like(&self, text: &str) -> bool {
        let is_root = |line: &str| line.strip_prefix(ROOT).is_some_and(|rest| rest.trim_start().starts_with("::="));
        glance::lines(text).any(is_root) && !glance::lines(text).any(is_foreign)
    }

    fn parse(&self, file: &SourceFile, diagnostics: &mut Diagnostics) -> Grammar {
        if super::refuse_huge_file(file, diagnostics) {
            return Grammar::default();
        }
        parser::parse(file.text(), diagnostics)
    }
}

/// Returns true if a line has a sign, outside quotes and classes, that means nothing in GBNF.
fn is_foreign(line: &str) -> bool {
    let (mut quote, mut is_escaped) = (None, false);
    for c in line.chars() {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(end), c) if c == end => quote = None,
            (Some(_), _) => {}
            (None, '"') => quote = Some('"'),
            (None, '[') => quote = Some(']'),
            (None, '#') => return false,
            (None, '\'' | '@' | '/' | '$' | ';' | '%') => return true,
            (None, _) => {}
        }
    }
    false
}

#[cfg(test)]
mod tests;
