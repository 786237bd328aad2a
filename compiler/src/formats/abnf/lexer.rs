//! Tokens of ABNF.

use crate::diagnostics::Span;
use crate::formats::builder::Builder;
use crate::formats::scanner::Scanner;

/// A token and its place.
#[derive(Clone, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind<'t>,
    pub(super) span: Span,
    /// Whether only blanks and comments stand before it on its line.
    pub(super) starts_line: bool,
    /// Whether it follows the token before directly.
    pub(super) sticks: bool,
}

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind<'t> {
    Name(&'t str),
    /// A string, and whether case matters.
    Text(&'t str, bool),
    /// `%x41.42.43`.
    Values(Vec<u32>),
    /// `%x41-5A`.
    Range(u32, u32),
    /// `<...>`, without the brackets.
    Prose(&'t str),
    Number(&'t str),
    Defines,
    Extends,
    Open,
    Close,
    OpenBracket,
    CloseBracket,
    Slash,
    Star,
    Hash,
    /// An error that has been reported already.
    Error,
    End,
}

/// Reads tokens on demand.
pub(super) struct Lexer<'t> {
    pub(super) scan: Scanner<'t>,
    starts_line: bool,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Lexer<'t> {
        Lexer { scan: Scanner::new(text), starts_line: true }
    }

    /// Returns the next token. At the end, always [`Kind::End`].
    pub(super) fn token(&mut self, builder: &mut Builder<'_>) -> Token<'t> {
        let before = self.scan.position;
        loop {
            match self.scan.peek() {
                Some('\n') => self.starts_line = true,
                Some(blank) if blank.is_whitespace() => {}
                Some(';') => {
                    self.scan.take_line();
                    continue;
                }
                _ => break,
            }
            self.scan.next();
        }
        let start = self.scan.position;
        let starts_line = std::mem::replace(&mut self.starts_line, false);
        let kind = self.kind(builder);
        Token { kind, span: self.scan.span_from(start), starts_line, sticks: start == before }
    }

    fn kind(&mut self, builder: &mut Builder<'_>) -> Kind<'t> {
        let start = self.scan.position;
        let Some(first) = self.scan.next() else { return Kind::End };
        match first {
            '"' => self.text(start, false, builder),
            '%' => self.value(start, builder),
            '<' => self.prose(start, builder),
            '=' if self.scan.eat("/") => Kind::Extends,
            // `:=` and `::=` are not ABNF, but their meaning is clear.
            '=' => Kind::Defines,
            '(' => Kind::Open,
            ')' => Kind::Close,
            '[' => Kind::OpenBracket,
            ']' => Kind::CloseBracket,
            '/' => Kind::Slash,
            '*' => Kind::Star,
            '#' => Kind::Hash,
            '0'..='9' => {
                self.scan.take_while(|c| c.is_ascii_digit());
                Kind::Number(&self.scan.text[start..self.scan.position])
            }
            _ if first.is_ascii_alphabetic() => {
                self.scan.take_while(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
                Kind::Name(&self.scan.text[start..self.scan.position])
            }
            _ => {
                self.scan.position = start;
                let span = Span::new(start, start + first.len_utf8());
                let help = match first {
                    '|' => "alternatives are separated by `/`",
                    ':' => "a rule is written `name = elements`",
                    '\'' => "strings stand in double quotes",
                    '{' | '}' => "a repetition is `*item`, `1*item` or `2*5item`",
                    '?' | '+' => "an optional item is `[item]`, a repetition `*item` or `1*item`",
                    '_' => "names begin with a letter",
                    '\0' => "a grammar is UTF-8 text; this looks like a binary file or like UTF-16",
                    _ => "text stands in double quotes, other characters are numbers such as `%x7C`",
                };
                builder.error_of(span, || (format!("unexpected character {}", self.scan.found()), help));
                self.scan.next();
                Kind::Error
            }
        }
    }

    /// Returns a string whose opening quote has been read.
    fn text(&mut self, start: usize, cased: bool, builder: &mut Builder<'_>) -> Kind<'t> {
        let text = self.scan.take_while(|c| !matches!(c, '"' | '\n' | '\r'));
        if self.scan.eat("\"") {
            return Kind::Text(text, cased);
        }
        let help = "close it with `\"` on the same line; a quotation mark is `%x22` or `DQUOTE`";
        builder.error(self.scan.span_from(start), "this string is not closed", help);
        Kind::Text(text, cased)
    }

    fn prose(&mut self, start: usize, builder: &mut Builder<'_>) -> Kind<'t> {
        // RFCs break prose over lines.
        let text = self.scan.take_while(|c| c != '>' && c != '<');
        if self.scan.eat(">") {
            return Kind::Prose(text);
        }
        self.scan.position = start + 1;
        builder.error(self.scan.span_from(start), "this prose is not closed", "prose is `<...>`; text is `\"<\"`");
        Kind::Error
    }

    /// Returns the token that a `%` at `start` begins.
    fn value(&mut self, start: usize, builder: &mut Builder<'_>) -> Kind<'t> {
        let (radix, digits) = match self.scan.next() {
            Some('s' | 'S') if self.scan.eat("\"") => return self.text(start, true, builder),
            Some('i' | 'I') if self.scan.eat("\"") => return self.text(start, false, builder),
            Some('x' | 'X') => (16, "hexadecimal"),
            Some('d' | 'D') => (10, "decimal"),
            Some('b' | 'B') => (2, "binary"),
            other => {
                self.scan.position -= other.map_or(0, char::len_utf8);
                let help = "a number is `%x41`, `%d65` or `%b1000001`; a string is `%s\"A\"` or `%i\"A\"`";
                builder.error(self.scan.span_from(start), "this is not a value", help);
                return Kind::Error;
            }
        };
        let mut values = Vec::new();
        loop {
            let Some(value) = self.number(start, radix, digits, builder) else { return Kind::Error };
            values.push(value);
            if values.len() == 1 && self.scan.eat("-") {
                let Some(high) = self.number(start, radix, digits, builder) else { return Kind::Error };
                return Kind::Range(value, high);
            }
            if !self.scan.eat(".") {
                return Kind::Values(values);
            }
        }
    }

    /// Returns a number of the value that begins at `start`. `digits` names the digits of the radix in messages. Errors
    /// are reported.
    fn number(&mut self, start: usize, radix: u32, digits: &str, builder: &mut Builder<'_>) -> Option<u32> {
        let number = self.scan.take_while(|c| c.is_digit(radix));
        let value = number
            .chars()
            .filter_map(|c| c.to_digit(radix))
            .fold(0u32, |value, digit| value.saturating_mul(radix).saturating_add(digit));
        let span = self.scan.span_from(start);
        if number.is_empty() {
            let help = "such as `%x41`, `%x41-5A` or `%x41.42`";
            builder.error(span, format!("a {digits} number is missing here"), help);
            return None;
        }
        if value > 0x10_FFFF {
            let help = "values are bytes (0 to FF) or Unicode code points (up to 10FFFF)";
            builder.error(span, "this is more than a code point", help);
            return None;
        }
        Some(value)
    }
}
