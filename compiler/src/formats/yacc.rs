//! Grammars of yacc and bison. Actions are left out. A token derives the text that its declaration gives (`%token NUM "1"`),
//! or what a rule of its name in a file beside the grammar derives.

use super::{Format, Surroundings, glance};
use crate::ast::Grammar;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, SourceFile};

mod lexer;
mod parser;

/// The `yacc` format.
pub struct Yacc;

impl Format for Yacc {
    fn name(&self) -> &'static str {
        "yacc"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["y", "yy", "ypp", "yacc"]
    }

    /// A line `%%` and a declaration of a token or a rule behind it.
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

    fn parse(&self, file: &SourceFile, diagnostics: &mut Diagnostics) -> Grammar {
        self.parse_with_tokens(file, None, diagnostics)
    }

    /// A file of tokens may be in any format; it is read as its name and text say.
    fn parse_within(
        &self,
        file: &SourceFile,
        surroundings: &Surroundings<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Grammar {
        let Some(name) = surroundings.tokens else { return self.parse(file, diagnostics) };
        let tokens = match surroundings.loader.load(name) {
            Ok(tokens) => tokens,
            Err(problem) => {
                let message = format!("the file of tokens `{name}` cannot be read: {problem}");
                diagnostics.push(Diagnostic::error(Code::MissingFile, None, message));
                return Grammar::default();
            }
        };
        let mut found = Diagnostics::default();
        let grammar = super::detect(&tokens).parse(&tokens, &mut found);
        // Places in that file are said in the message.
        for diagnostic in found.iter() {
            let place = diagnostic.span.map_or(String::new(), |span| {
                let (line, column) = tokens.line_column(span.start);
                format!("{line}:{column}: ")
            });
            let message = format!("{}:{place}{}", tokens.name(), diagnostic.message);
            diagnostics.push(Diagnostic { message, span: None, related: Vec::new(), ..diagnostic.clone() });
        }
        if found.has_errors() {
            return Grammar::default();
        }
        self.parse_with_tokens(file, Some(&grammar), diagnostics)
    }
}

impl Yacc {
    /// Parses the file with the rules of `tokens`, which say what tokens without a text derive.
    pub fn parse_with_tokens(
        &self,
        file: &SourceFile,
        tokens: Option<&Grammar>,
        diagnostics: &mut Diagnostics,
    ) -> Grammar {
        if super::refuse_huge_file(file, diagnostics) {
            return Grammar::default();
        }
        parser::parse(file.text(), tokens, diagnostics)
    }
}

#[cfg(test)]
mod tests;
