//! Grammars of pest, a PEG. They are read as context-free grammars: choices are not ordered, and predicates hold only
//! where they exclude characters. Both are reported where they matter.
//!
//! Between the parts of a non-atomic rule, `WHITESPACE` or `COMMENT` stands now and then, and a blank where the parts
//! would run together.

use super::{Format, glance};
use crate::ast::Grammar;
use crate::diagnostics::{Diagnostics, SourceFile};

mod parser;
mod translate;

/// The rules whose texts pest puts between the parts of other rules.
const BLANKS: &[&str] = &["WHITESPACE", "COMMENT"];

/// The `pest` format.
pub struct Pest;

impl Format for Pest {
    fn name(&self) -> &'static str {
        "pest"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["pest"]
    }

    /// Looks for a line that begins with a name, `=` and an opening brace, perhaps with a modifier.
    fn looks_like(&self, text: &str) -> bool {
        let defines = |line: &str| {
            let Some((name, body)) = line.split_once('=') else { return false };
            let name = name.trim();
            let body = body.trim_start();
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                && body.strip_prefix(['_', '@', '$', '!']).unwrap_or(body).trim_start().starts_with('{')
        };
        text.contains('~') && glance::lines(text).any(defines)
    }

    fn parse(&self, file: &SourceFile, diagnostics: &mut Diagnostics) -> Grammar {
        if super::refuse_huge_file(file, diagnostics) {
            return Grammar::default();
        }
        let mut builder = super::builder::Builder::new(diagnostics);
        let rules = parser::parse(file.text(), &mut builder);
        translate::translate(&rules, &mut builder)
    }
}

#[cfg(test)]
mod tests;
