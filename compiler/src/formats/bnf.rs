//! BNF as people write it: `<name> ::= ...` or `name -> ...`, literals in quotes or bare.
//!
//! The reference is `docs/formats.md`.

use super::{Format, glance};
use crate::ast::Grammar;
use crate::diagnostics::{Diagnostics, SourceFile};

mod lexer;
mod parser;

/// The `bnf` format.
pub struct Bnf;

impl Format for Bnf {
    fn name(&self) -> &'static str {
        "bnf"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["bnf"]
    }

    /// Looks for a line that begins with a name in angle brackets and a mark of definition.
    fn looks_like(&self, text: &str) -> bool {
        let defines = |line: &str| {
            let Some((name, rest)) = line.strip_prefix('<').and_then(|line| line.split_once('>')) else {
                return false;
            };
            !name.is_empty()
                && !name.contains(['<', '"', '\''])
                && lexer::DEFINITIONS.iter().any(|mark| rest.trim_start().starts_with(mark))
        };
        glance::lines(text).any(defines) && !super::w3c::is_marked(text)
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
