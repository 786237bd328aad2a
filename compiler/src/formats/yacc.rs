//! Grammars of yacc and bison. Actions are left out. A token derives the text of its declaration (`%token NUM "1"`), or
//! the rule with its name in a file beside the grammar, or what a file of lex says.

use std::cell::OnceCell;

use super::builder::Builder;
use super::given::{self, Given};
use super::{Format, Loader, Surroundings, glance, lex};
use crate::ast::Grammar;
use crate::diagnostics::{Diagnostics, SourceFile};

mod described;
mod levels;
mod lexed;
mod lexer;
mod parser;
mod plain;
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
        if let Some(name) = surroundings.tokens.filter(|name| lex::is_lexer(name, surroundings.loader)) {
            return match given::load(name, surroundings, diagnostics) {
                Some(lexer) => with_lexer(file, &lexer, surroundings, diagnostics),
                None => Grammar::default(),
            };
        }
        let Some(given) = Given::read(file, surroundings, diagnostics) else { return Grammar::default() };
        without_lexer(file, &given, &|| lexer_beside(file, surroundings), diagnostics)
    }

    fn has_lexer_with(&self, tokens: Option<&str>, loader: &dyn Loader) -> bool {
        tokens.is_some_and(|name| lex::is_lexer(name, loader))
    }
}

/// Reads a grammar whose tokens have texts or rules.
fn without_lexer(
    file: &SourceFile,
    given: &Given,
    lexer: &dyn Fn() -> Option<String>,
    diagnostics: &mut Diagnostics,
) -> Grammar {
    let mut builder = Builder::new(diagnostics);
    let parsed = parser::parse(file.text(), &mut builder);
    // Files are looked for once, and only if a message names one.
    let found = OnceCell::new();
    plain::grammar(&parsed, given, &|| found.get_or_init(lexer).clone(), &mut builder)
}

/// Reads a grammar whose tokens a file of lex describes.
fn with_lexer(
    file: &SourceFile,
    lexer: &SourceFile,
    surroundings: &Surroundings<'_>,
    diagnostics: &mut Diagnostics,
) -> Grammar {
    if super::refuse_huge_file(file, diagnostics) {
        return Grammar::default();
    }
    let parsed = parser::parse(file.text(), &mut Builder::new(diagnostics));
    if diagnostics.has_errors() {
        Grammar::default()
    } else {
        lexed::grammar(&parsed, lexer, surroundings, diagnostics)
    }
}

/// Returns the name of a file of lex that stands beside a grammar and has its name, with another extension.
fn lexer_beside(file: &SourceFile, surroundings: &Surroundings<'_>) -> Option<String> {
    let name = file.name().rsplit(['/', '\\']).next()?;
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let mut names = lex::EXTENSIONS.iter().map(|extension| format!("{stem}.{extension}"));
    names.find(|name| surroundings.loader.has(name))
}

#[cfg(test)]
mod tests;
