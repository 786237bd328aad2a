//! ANTLR 4: combined grammars, and lexer and parser grammars in separate files.
//!
//! `docs/g4.md` says which features are honoured and which are reported. Each file goes through `lexer` and `parser`.
//! Then `sources` brings the files of one grammar together, and `meaning` resolves the names to a grammar over tokens.
//! [`crate::tokens`] makes a grammar over characters of it.

use super::given::Given;
use super::{Format, Surroundings, glance};
use crate::ast::Grammar;
use crate::diagnostics::{Diagnostics, SourceFile};
use crate::tokens;

mod adaptor;
mod asked;
mod conditions;
mod escapes;
mod folding;
mod helpers;
mod layout;
mod levels;
mod lexer;
mod lexical;
mod meaning;
mod parser;
mod sources;
mod syntax;
mod token_names;

/// The `g4` format.
pub struct G4;

impl Format for G4 {
    fn name(&self) -> &'static str {
        "g4"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["g4"]
    }

    fn has_lexer(&self) -> bool {
        true
    }

    fn has_layout(&self) -> bool {
        true
    }

    fn looks_like(&self, text: &str) -> bool {
        // Looks for `grammar Name;` at the beginning of a line.
        glance::lines(text).any(|line| {
            let line = line.strip_prefix("lexer ").or_else(|| line.strip_prefix("parser ")).unwrap_or(line);
            let name = line.strip_prefix("grammar ").and_then(|rest| rest.split_once(';')).map(|(name, _)| name.trim());
            name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c == '_' || c.is_alphanumeric()))
        })
    }

    fn parse_within(
        &self,
        file: &SourceFile,
        surroundings: &Surroundings<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Grammar {
        let Some(given) = Given::read(file, surroundings, diagnostics) else { return Grammar::default() };
        let sources = sources::read(file, surroundings, diagnostics);
        if diagnostics.has_errors() {
            return Grammar::default();
        }
        let Some(grammar) = meaning::token_grammar(&sources, &given, surroundings, diagnostics) else {
            return Grammar::default();
        };
        let options =
            tokens::Options { separators: surroundings.options.separators, alphabet: surroundings.options.alphabet() };
        tokens::expand(&grammar, &options, diagnostics)
    }
}

#[cfg(test)]
mod tests;
