//! ABNF as in RFCs (RFC 5234, with the strings of RFC 7405 and the lists of RFC 9110, section 5.6.1).
//!
//! Rule names are compared without regard to case, and spelled as in their definition. Core rules that the file uses
//! and does not define are added.

use super::{Format, glance};
use crate::ast::Grammar;
use crate::diagnostics::{Diagnostics, SourceFile};

mod core;
mod lexer;
mod parser;

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
        !glance::defines(text, "::=") && glance::lines(text).any(defines)
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
