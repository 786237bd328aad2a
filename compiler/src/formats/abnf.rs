//! ABNF as in RFCs (RFC 5234, with the strings of RFC 7405 and the lists of RFC 9110, section 5.6.1).
//!
//! Rule names are compared without regard to case, and spelled as in their definition. Core rules that the file uses
//! and does not define are added. In the text of an RFC, the rules are found amid the prose.

use super::{Format, Surroundings, glance};
use crate::ast::Grammar;
use crate::diagnostics::{Diagnostics, SourceFile};

mod core;
mod lexer;
mod parser;
mod rfc;

/// The `abnf` format.
pub struct Abnf;

impl Format for Abnf {
    fn name(&self) -> &'static str {
        "abnf"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["abnf"]
    }

    /// Looks for a line that begins with a name and `=`, and for a mark that no other notation has.
    fn looks_like(&self, text: &str) -> bool {
        let is_name = |word: &str| {
            word.starts_with(|c: char| c.is_ascii_alphabetic())
                && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        };
        let defines = |line: &str| {
            let Some((name, body)) = line.split_once('=') else { return false };
            let own = ["%x", "%d", "%b", "%s\"", "%i\"", " / ", "1*", "*("].iter().any(|mark| body.contains(mark));
            is_name(name.trim()) && own && !body.trim_end().ends_with([';', '.'])
        };
        rfc::is_rfc(text) || !glance::defines(text, "::=") && glance::lines(text).any(defines)
    }

    fn is_surely(&self, text: &str) -> bool {
        rfc::is_rfc(text) && rfc::has_rules(text)
    }

    fn parse_within(
        &self,
        file: &SourceFile,
        surroundings: &Surroundings<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Grammar {
        super::refuse_tokens(self.name(), surroundings, diagnostics);
        if super::refuse_huge_file(file, diagnostics) {
            return Grammar::default();
        }
        if rfc::is_rfc(file.text()) {
            return rfc::parse(file.text(), surroundings.start, diagnostics);
        }
        parser::parse(file.text(), diagnostics)
    }
}

#[cfg(test)]
mod tests;
