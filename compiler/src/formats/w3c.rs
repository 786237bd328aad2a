//! EBNF as specifications of the W3C write it: the notation of XML (section 6) and what others have added to it, such
//! as blanks that are implied between tokens. Unlike in gramjet's EBNF, nothing is escaped in texts and classes.

use super::{Format, glance};
use crate::ast::Grammar;
use crate::diagnostics::{Diagnostics, SourceFile};

mod parser;
mod terms;
mod translate;

/// The `w3c` format.
pub struct W3c;

impl Format for W3c {
    fn name(&self) -> &'static str {
        "w3c"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["w3c", "ebnf", "bnf"]
    }

    /// Looks for rules with `::=` and for what only specifications have.
    fn looks_like(&self, text: &str) -> bool {
        is_marked(text) && glance::defines(text, "::=")
    }

    fn parse(&self, file: &SourceFile, diagnostics: &mut Diagnostics) -> Grammar {
        if super::refuse_huge_file(file, diagnostics) {
            return Grammar::default();
        }
        let mut builder = super::builder::Builder::new(diagnostics);
        let file = parser::parse(file.text(), &mut builder);
        translate::translate(&file, &mut builder)
    }
}

/// Returns true if a text has a mark that only the notation of specifications has: one for its terminals or for implied
/// blanks, or a constraint in brackets.
pub(super) fn is_marked(text: &str) -> bool {
    let begins = |mark: &str| glance::lines(text).any(|line| line.starts_with(mark));
    let has_constraint = || text.match_indices('[').take(1 << 16).any(|(at, _)| parser::is_constraint(&text[at..]));
    begins("@terminals")
        || begins("@pass")
        || begins("<?TOKENS?>")
        || text.contains("/* ws: explicit")
        || text.contains("/* ws:explicit")
        || has_constraint()
}

#[cfg(test)]
mod tests;
