//! Grammars of yacc and bison. Actions are left out. A token derives the text of its declaration (`%token NUM "1"`), or
//! the rule with its name in a file beside the grammar.

use super::given::Given;
use super::{Format, Surroundings, glance};
use crate::ast::Grammar;
use crate::diagnostics::{Diagnostics, SourceFile};

mod described;
mod levels;
mod lexer;
mod parser;
mod recovery;
mod symbols;

/// The `yacc` format.
pub struct Yacc;

impl Format for Yacc {
    fn name(&self) -> &'static str {
        "yacc"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["y", "yy", "ypp", "yacc"]
    }

    /// Looks for a line `%%`, and for a declaration of a token or a rule after it.
    fn looks_like(&self, text: &str) -> bool {
        let mut lines = glance::lines(text);
        let mut has_tokens = false;
        let is_divided = lines.any(|line| {
            has_tokens |= line.starts_with("%token");
            line.starts_with("%%")
        });
        let rules: Vec<&str> = lines.collect();
        let has = |mark: char| rules.iter().any(|line| line.contains(mark));
        is_divided && (has_tokens || has(':') && has(';'))
    }

    fn parse_within(
        &self,
        file: &SourceFile,
        surroundings: &Surroundings<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Grammar {
        match Given::read(file, surroundings, diagnostics) {
            Some(given) => parser::parse(file.text(), &given, diagnostics),
            None => Grammar::default(),
        }
    }
}

#[cfg(test)]
mod tests;
