//! Grammars of Lark. A separator from the `%ignore` directives goes between tokens that would run together.

use super::builder::Builder;
use super::given::Given;
use super::{Format, Surroundings, glance};
use crate::ast::Grammar;
use crate::diagnostics::{Diagnostics, SourceFile};

mod common;
mod imports;
mod parser;
mod tokens;
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

    fn has_layout(&self) -> bool {
        true
    }

    /// Looks for a line that begins with a rule for `start`, or with a directive of Lark.
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

    fn parse_within(
        &self,
        file: &SourceFile,
        surroundings: &Surroundings<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Grammar {
        let Some(given) = Given::read(file, surroundings, diagnostics) else { return Grammar::default() };
        let mut builder = Builder::new(diagnostics);
        let mut file = parser::parse(file.text(), &mut builder);
        imports::resolve(&mut file, surroundings.loader, &mut builder);
        translate::translate(&file, surroundings, &given, &mut builder)
    }
}

#[cfg(test)]
mod tests;
