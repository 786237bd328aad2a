//! Our EBNF: the notation of the XML specification (section 6), with weights, bounded repetition, bytes and directives.
//!
//! The reference is `docs/grammar-ebnf.md`. The text goes through `lexer` and `parser` once; differences of classes
//! may name rules that come later, so `difference` computes them at the end.

use super::Format;
use crate::ast::Grammar;
use crate::diagnostics::{Diagnostics, SourceFile};

pub(super) use labels::{number, reserved, rounds};

mod bits;
mod directives;
mod labels;
mod levels;
mod lexer;
mod padding;
mod parser;
mod quotients;
mod ranges;
mod text;

/// The `ebnf` format.
pub struct Ebnf;

impl Format for Ebnf {
    fn name(&self) -> &'static str {
        "ebnf"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["ebnf", "w3c"]
    }

    fn looks_like(&self, text: &str) -> bool {
        super::glance::defines(text, "::=") && !super::w3c::is_marked(text)
    }

    fn has_weights(&self) -> bool {
        true
    }

    fn parse(&self, file: &SourceFile, diagnostics: &mut Diagnostics) -> Grammar {
        if super::refuse_huge_file(file, diagnostics) {
            Grammar::default()
        } else {
            parser::parse(file.text(), diagnostics)
        }
    }
}

#[cfg(test)]
mod error_tests;

#[cfg(test)]
mod levels_tests;

#[cfg(test)]
mod hostile_tests;

#[cfg(test)]
mod tests;
