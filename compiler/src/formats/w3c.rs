//! EBNF as specifications of the W3C write it: the notation of XML (section 6) and what others have added to it, such
//! as blanks that are implied between tokens. Unlike in gramjet's EBNF, nothing is escaped in texts and classes.

use super::{Format, glance};
use crate::ast::Grammar;
use crate::diagnostics::{Diagnostics, SourceFile};

mod parser;
mod terms;
mod translate;

/// The `w3c` format.
pub struct W3c;

impl Format for W3c {
    fn name(&self) -> &'static str {
        "w3c"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["w3c", "ebnf", "bnf"]
    }

    /// Looks for rules with `::=` and for what only specifications have.
    fn looks_like(&self, text: &str) -> bool {
        is_marked(text) && glance::defines(text, "::=")
    }

    fn parse(&self, file: &SourceFile, diagnostics: &mut Diagnostics) -> Grammar {
        if super::refuse_huge_file(file, diagnostics) {
            return Grammar::default();
        }
        let mut builder = super::builder::Builder::new(diagnostics);
        let file = parser::parse(file.text(), &mut builder);
        translate::translate(&file, &mut builder)
    }
}

/// Returns true if a text has a mark that only the notation of specifications has: one for its terminals or for implied
/// blanks, or a constraint in brackets.
pub(super) fn is_marked(text: &str) -> bool {
    const MARKS: [&str; 3] = ["@terminals", "@pass", "<?TOKENS?>"];
    glance::lines(text).any(|line| MARKS.iter().any(|mark| line.starts_with(mark))) || has_note(text)
}

/// Returns true if a text has a constraint in brackets behind an item, or a comment about white space. Neither counts
/// in texts and classes.
fn has_note(text: &str) -> bool {
    let mut rest = text;
    let mut is_behind_item = false;
    while let Some(first) = rest.chars().next() {
        // Where what is open is closed on its line, and not far behind.
        let closed = |close: char| {
            let mut inside = rest[1..].char_indices().take(256);
            inside.find(|&(_, c)| c == close || c == '\n').filter(|&(_, c)| c == close).map(|(at, _)| at)
        };
        let mut len = first.len_utf8();
        match first {
            '/' if rest.starts_with("/*") => {
                let inside = rest[2..].split("*/").next().unwrap_or_default();
                if inside.trim_start().strip_prefix("ws:").is_some_and(|said| said.trim_start().starts_with("explicit"))
                {
                    return true;
                }
                len = (inside.len() + 4).min(rest.len());
            }
            '"' | '\'' => {
                len = closed(first).map_or(1, |inside| inside + 2);
                is_behind_item = true;
            }
            '[' => {
                let inside = closed(']');
                let behind = inside.and_then(|inside| rest[inside + 2..].chars().next());
                let is_repeated = matches!(behind, Some('*' | '+' | '?' | '{' | '-'));
                if is_behind_item && inside.is_some() && !is_repeated && parser::is_constraint(rest) {
                    return true;
                }
                len = inside.map_or(1, |inside| inside + 2);
                is_behind_item = true;
            }
            '=' | '|' | '(' => is_behind_item = false,
            _ if first.is_whitespace() => {}
            _ => is_behind_item = true,
        }
        rest = &rest[len..];
    }
    false
}

#[cfg(test)]
mod tests;
