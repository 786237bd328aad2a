//! A position in a text, and the small steps that all front ends take.

use crate::diagnostics::Span;

/// A text and the byte offset of the next character.
#[derive(Clone)]
pub(super) struct Scanner<'t> {
    pub(super) text: &'t str,
    pub(super) position: usize,
}

impl<'t> Scanner<'t> {
    /// Returns a scanner at the beginning of `text`, after a byte order mark if there is one.
    pub(super) fn new(text: &'t str) -> Scanner<'t> {
        Scanner { text, position: if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 } }
    }

    /// Returns the rest of the text.
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.position..]
    }

    /// Returns the next character.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes the next character.
    pub(super) fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.position += character.len_utf8();
        Some(character)
    }

    /// Returns true if `text` comes next.
    pub(super) fn sees(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    /// Takes `text` if it comes next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.sees(text);
        if found {
            self.position += text.len();
        }
        found
    }

    /// Takes all characters up to the first for which `inside` does not hold.
    pub(super) fn take_while(&mut self, inside: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|c| !inside(c)).unwrap_or(rest.len())];
        self.position += taken.len();
        taken
    }

    /// Takes everything up to and including `mark`. Returns the text before the mark. Without a mark, takes nothing and
    /// returns `None`.
    pub(super) fn take_past(&mut self, mark: &str) -> Option<&'t str> {
        let rest = self.rest();
        let length = rest.find(mark)?;
        self.position += length + mark.len();
        Some(&rest[..length])
    }

    /// Takes the rest of the line without its end.
    pub(super) fn take_line(&mut self) -> &'t str {
        self.take_while(|c| c != '\n')
    }

    /// Returns the span from byte `start` up to here.
    pub(super) fn span_from(&self, start: usize) -> Span {
        Span::new(start, self.position)
    }

    /// Returns the next character's place.
    pub(super) fn here(&self) -> Span {
        Span::new(self.position, self.position + self.peek().map_or(0, char::len_utf8))
    }

    /// Returns the next character, for a message.
    pub(super) fn found(&self) -> String {
        match self.peek() {
            None => "the end of the file".to_string(),
            Some(c) if c.is_control() || !c.is_ascii() => format!("U+{:04X}", u32::from(c)),
            Some(c) if c.is_ascii_alphanumeric() => {
                let word: String = self.rest().chars().take(40).take_while(char::is_ascii_alphanumeric).collect();
                format!("`{word}`")
            }
            Some(c) => format!("`{c}`"),
        }
    }
}

/// Returns the number written in `digits`. `None` if it is invalid or too large.
pub(super) fn number(digits: &str) -> Option<u32> {
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}
