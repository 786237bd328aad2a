//! The EBNF of ISO/IEC 14977: `,` concatenates, `;` ends a rule, `{}` repeats, `[]` is optional, `-` excepts.

use super::{Format, glance};
use crate::ast::Grammar;
use crate::diagnostics::{Diagnostics, SourceFile};

mod lexer;
mod parser;

/// The `iso-ebnf` format.
pub struct Iso;

impl Format for Iso {
    fn name(&self) -> &'static str {
        "iso-ebnf"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["iso", "ebnf"]
    }

    /// Looks for a line that begins with a name and `=`, and for a rule that ends with `;` or `.`.
    fn looks_like(&self, text: &str) -> bool {
        let is_name = |name: &str| {
            name.starts_with(char::is_alphabetic)
                && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' '))
        };
        let defines = |line: &str| line.split_once('=').is_some_and(|(name, _)| is_name(name.trim()));
        !glance::defines(text, "::=")
            && glance::lines(text).any(defines)
            && glance::lines(text).any(|line| line.ends_with([';', '.']))
    }

    fn parse(&self, file: &SourceFile, diagnostics: &mut Diagnostics) -> Grammar {
        if super::refuse_huge_file(file, diagnostics) {
            return Grammar::default();
        }
        parser::parse(file.text(), diagnostics)
    }
}

#[cfg(test)]
mod tests;
