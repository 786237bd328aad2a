//! Grammars of Lark. A separator from what `%ignore` names goes between tokens that would run together.

use super::{Format, glance};
use crate::ast::Grammar;
use crate::diagnostics::{Diagnostics, SourceFile};

mod common;
mod parser;
mod translate;

/// The `lark` format.
pub struct Lark;

impl Format for Lark {
    fn name(&self) -> &'static str {
        "lark"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["lark"]
    }

    /// A line that begins with a rule for `start`, or a directive of Lark.
    fn looks_like(&self, text: &str) -> bool {
        let lark = |line: &str| {
            ["%import ", "%ignore ", "%declare ", "%override ", "%extend "].iter().any(|mark| line.starts_with(mark))
                || line
                    .trim_start_matches(['?', '!'])
                    .strip_prefix("start")
                    .is_some_and(|rest| rest.trim_start().starts_with(':'))
        };
        !glance::defines(text, "::=") && glance::lines(text).any(lark)
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

#[cfg(test)]
mod tests;
