//! A grammar that is a single regular expression: the whole file without its last line end. The syntax is that of
//! Rust's `regex`; `pattern.rs` says what is drawn.

use super::Format;
use super::builder::Builder;
use super::pattern::{self, Flags};
use crate::ast::{Grammar, Name, Rule};
use crate::diagnostics::{Diagnostics, SourceFile, Span};

/// The `regex` format.
pub struct Regex;

impl Format for Regex {
    fn name(&self) -> &'static str {
        "regex"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["regex"]
    }

    /// Returns false: any text is a regular expression.
    fn looks_like(&self, _text: &str) -> bool {
        false
    }

    fn parse(&self, file: &SourceFile, diagnostics: &mut Diagnostics) -> Grammar {
        if super::refuse_huge_file(file, diagnostics) {
            return Grammar::default();
        }
        let text = file.text().strip_suffix('\n').unwrap_or(file.text());
        let text = text.strip_suffix('\r').unwrap_or(text);
        let span = Span::new(0, text.len());
        let mut builder = Builder::new(diagnostics);
        let Ok(part) = pattern::part(text, Flags::default(), span, &mut builder) else { return Grammar::default() };
        let name = Name { text: "regex".to_string(), span };
        Grammar { rules: vec![Rule::new(name, part.expr)], ..Grammar::default() }
    }
}
