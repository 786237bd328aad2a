//! Filler bytes after a part: `$pad(part, 512)`, `$fill(part, 100, ' ')`.

use super::lexer::{Kind, Token};
use super::parser::{Parser, Reported, Sized};
use crate::ast::{ExprKind, Name};
use crate::derived::{Derived, Padding};
use crate::diagnostics::Span;

impl Parser<'_, '_> {
    /// Returns true if `$name`, which has been taken, begins filler bytes.
    pub(super) fn begins_padding(&mut self, name: &str) -> bool {
        Padding::WORDS.contains(&name) && self.peek(0).kind == Kind::Open
    }

    /// Parses the part, the length and the filler after `$pad` or `$fill`, which has been taken.
    pub(super) fn padding(&mut self, word: &str, span: Span) -> Result<Sized, Reported> {
        self.take();
        let example = format!("write `${word}(part, 512)` or `${word}(part, 512, ' ')`");
        let Token { kind, span: place, .. } = self.take();
        let Kind::Name(label) = kind else {
            let help = format!(
                "{example}; all of the text is the part of the start rule that has a label: `text:(...) $pad(text, 512)`"
            );
            return Err(self.error(place, "padding needs the label of a part", help));
        };
        let label = Name { text: label.to_string(), span: place };
        let to = if self.take_if(&Kind::Comma) { self.length() } else { None };
        let Some(mut padding) = to.and_then(|to| Padding::by_word(word, to)) else {
            let help = format!("{example}; the length is a number from 1 to {}", Padding::MAX);
            let place = if self.last_span.end > place.end { self.last_span } else { self.peek(0).span };
            return Err(self.error(place, "expected a length", help));
        };
        if self.take_if(&Kind::Comma) {
            padding.filler = self.filler()?;
        }
        if !self.take_if(&Kind::Close) {
            let end = self.peek(0).span;
            return Err(self.error(end, "this padding is not closed", example));
        }
        self.build(ExprKind::Derived(Derived::Padding(label, padding)), span.to(self.last_span), 0)
    }

    /// Parses a length; `None` if it is none.
    fn length(&mut self) -> Option<u32> {
        match self.take().kind {
            Kind::Number(digits) => digits.parse().ok().filter(|to| (1..=Padding::MAX).contains(to)),
            _ => None,
        }
    }

    /// Parses a byte, as text or by its number.
    pub(super) fn filler(&mut self) -> Result<u8, Reported> {
        let Token { kind, span, .. } = self.take();
        match kind {
            Kind::Bytes(bytes) if bytes.len() == 1 => Ok(bytes[0]),
            _ => Err(self.error(span, "this is not one byte", "a byte is written `' '`, `#x20` or `#bFF`")),
        }
    }
}
