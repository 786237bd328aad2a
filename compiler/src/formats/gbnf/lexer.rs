//! Tokens of GBNF.

use crate::charset::{CharSet, Unit};
use crate::diagnostics::Span;
use crate::formats::builder::Builder;
use crate::formats::scanner::{Scanner, number};

/// A token and its place.
#[derive(Clone, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind<'t>,
    pub(super) span: Span,
    /// Whether a line ends before it.
    pub(super) begins_line: bool,
}

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind<'t> {
    Name(&'t str),
    /// `::=`.
    Defines,
    Text(String),
    Class(CharSet),
    /// `.`.
    Any,
    Open,
    Close,
    Bar,
    /// `*`, `+`, `?`, `{2,3}`.
    Rounds(u32, Option<u32>),
    /// `<name>`: a token of a model, by its text.
    Token(&'t str),
    Error,
    End,
}

/// Reads tokens on demand.
pub(super) struct Lexer<'t> {
    pub(super) scan: Scanner<'t>,
}

impl<'t> Lexer<'t> {
    /// Returns the next token. At the end, always [`Kind::End`].
    pub(super) fn token(&mut self, builder: &mut Builder<'_>) -> Token<'t> {
        let begins_line = self.skip_blanks();
        let start = self.scan.position;
        let kind = self.kind(start, builder);
        Token { kind, span: self.scan.span_from(start), begins_line }
    }

    /// Skips blanks and comments. Returns true if a line ends among them.
    fn skip_blanks(&mut self) -> bool {
        let mut ends_line = self.scan.position == 0;
        loop {
            ends_line |= self.scan.take_while(char::is_whitespace).contains(['\n', '\r']);
            if !self.scan.sees("#") {
                return ends_line;
            }
            self.scan.take_line();
        }
    }

    fn kind(&mut self, start: usize, builder: &mut Builder<'_>) -> Kind<'t> {
        let Some(first) = self.scan.peek() else { return Kind::End };
        if is_of_name(first) {
            return Kind::Name(self.scan.take_while(is_of_name));
        }
        if self.scan.eat("::=") {
            return Kind::Defines;
        }
        self.scan.next();
        match first {
            '"' => self.text(start, builder),
            '[' => self.class(start, builder),
            '{' => self.rounds(start, builder),
            '<' | '!' => self.model_token(start, first, builder),
            '(' => Kind::Open,
            ')' => Kind::Close,
            '|' => Kind::Bar,
            '.' => Kind::Any,
            '*' => Kind::Rounds(0, None),
            '+' => Kind::Rounds(1, None),
            '?' => Kind::Rounds(0, Some(1)),
            _ => {
                let help = "items are names, texts such as `\"a\"`, classes such as `[a-z]`, `.` and `( )`";
                builder.error_of(self.scan.span_from(start), || {
                    let found = Scanner { position: start, ..self.scan.clone() }.found();
                    (format!("unexpected {found}"), help)
                });
                Kind::Error
            }
        }
    }

    /// Returns a text behind its opening quote.
    fn text(&mut self, start: usize, builder: &mut Builder<'_>) -> Kind<'t> {
        let mut text = String::new();
        let mut is_sound = true;
        while !self.scan.eat("\"") {
            let at = self.scan.position;
            let Some(value) = self.character(builder) else { return self.unclosed(start, "text", '"', builder) };
            match value.and_then(char::from_u32) {
                Some(c) => text.push(c),
                None => {
                    is_sound = false;
                    if value.is_some() {
                        self.no_character(at, builder);
                    }
                }
            }
        }
        if is_sound { Kind::Text(text) } else { Kind::Error }
    }

    /// Returns a class behind its opening bracket.
    fn class(&mut self, start: usize, builder: &mut Builder<'_>) -> Kind<'t> {
        let negated = self.scan.eat("^");
        let mut ranges = Vec::new();
        let mut is_sound = true;
        while !self.scan.eat("]") {
            let at = self.scan.position;
            let Some(low) = self.character(builder) else { return self.unclosed(start, "class", ']', builder) };
            let mut high = low;
            if self.scan.sees("-") && !self.scan.sees("-]") {
                self.scan.next();
                let Some(end) = self.character(builder) else { return self.unclosed(start, "class", ']', builder) };
                high = end;
            }
            let (Some(low), Some(high)) = (low, high) else {
                is_sound = false;
                continue;
            };
            if low > high || high > Unit::Char.max() {
                is_sound = false;
                let help = "a range is two characters in ascending order, up to U+10FFFF";
                builder.error(self.scan.span_from(at), "this is no range", help);
            }
            ranges.push((low, high));
        }
        if !is_sound {
            return Kind::Error;
        }
        let listed = CharSet::new(Unit::Char, ranges);
        Kind::Class(if negated { any().difference(&listed) } else { listed })
    }

    /// Returns the number of the next character or escape. `Some(None)` after an error that is reported, `None` at the
    /// end of the file.
    fn character(&mut self, builder: &mut Builder<'_>) -> Option<Option<u32>> {
        let start = self.scan.position;
        let first = self.scan.next()?;
        if first != '\\' {
            return Some(Some(u32::from(first)));
        }
        let digits = match self.scan.next()? {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            't' => return Some(Some(u32::from('\t'))),
            'r' => return Some(Some(u32::from('\r'))),
            'n' => return Some(Some(u32::from('\n'))),
            // llama.cpp knows the first four of these, other readers of GBNF know more.
            c @ ('\\' | '"' | '[' | ']' | '-' | '^' | '/' | '\'') => return Some(Some(u32::from(c))),
            _ => {
                let help = "the escapes are `\\n`, `\\r`, `\\t`, `\\\\`, `\\\"`, `\\[`, `\\]`, `\\x41`, `\\u0041` and `\\U00000041`";
                builder.error(self.scan.span_from(start), "this escape is unknown", help);
                return Some(None);
            }
        };
        let rest = self.scan.rest();
        let value = rest.get(..digits).filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let Some(value) = value.and_then(|hex| u32::from_str_radix(hex, 16).ok()) else {
            let help =
                format!("`{}` is followed by {digits} hexadecimal digits", &self.scan.text[start..self.scan.position]);
            builder.error(self.scan.span_from(start), "this escape is not complete", help);
            return Some(None);
        };
        self.scan.position += digits;
        Some(Some(value))
    }

    /// Reports a number that no character has.
    fn no_character(&mut self, start: usize, builder: &mut Builder<'_>) {
        let help = "characters go up to U+10FFFF, without halves of surrogate pairs";
        builder.error(self.scan.span_from(start), "no character has this number", help);
    }

    fn unclosed(&mut self, start: usize, what: &str, close: char, builder: &mut Builder<'_>) -> Kind<'t> {
        builder.error(
            Span::new(start, start + 1),
            format!("this {what} is not closed"),
            format!("close it with `{close}`"),
        );
        Kind::Error
    }

    /// Returns the numbers of rounds behind their opening brace.
    fn rounds(&mut self, start: usize, builder: &mut Builder<'_>) -> Kind<'t> {
        let inside = self.scan.take_while(|c| c != '}' && c != '\n').trim();
        let is_closed = self.scan.eat("}");
        let rounds = match inside.split_once(',') {
            None => number(inside).map(|count| (count, Some(count))),
            Some((min, "")) => number(min.trim()).map(|min| (min, None)),
            Some((min, max)) => number(min.trim()).zip(number(max.trim())).map(|(min, max)| (min, Some(max))),
        };
        match rounds.filter(|&(min, max)| is_closed && max.is_none_or(|max| min <= max)) {
            Some((min, max)) => Kind::Rounds(min, max),
            None => {
                let help = format!("write `{{2}}`, `{{2,}}` or `{{2,5}}`, with numbers up to {}", u32::MAX);
                builder.error(self.scan.span_from(start), "this is no number of rounds", help);
                Kind::Error
            }
        }
    }

    /// Returns a token of a model, behind the first sign: `<name>`. The forms `<[7]>` and `!<name>` are refused.
    fn model_token(&mut self, start: usize, first: char, builder: &mut Builder<'_>) -> Kind<'t> {
        let is_excluded = first == '!';
        if is_excluded && !self.scan.eat("<") {
            builder.error(self.scan.span_from(start), "unexpected `!`", "`!` stands before a token, as in `!<name>`");
            return Kind::Error;
        }
        let name = self.scan.take_while(|c| c != '>' && !c.is_whitespace());
        if !self.scan.eat(">") {
            return self.unclosed(start, "token", '>', builder);
        }
        if !is_excluded && !name.starts_with('[') && !name.is_empty() {
            return Kind::Token(&self.scan.text[start..self.scan.position]);
        }
        let help = "what it stands for is known to a model alone: write the text";
        builder.error(self.scan.span_from(start), "this token says nothing that could be derived", help);
        Kind::Error
    }
}

/// Returns the set of all characters.
pub(super) fn any() -> CharSet {
    CharSet::new(Unit::Char, [(0, Unit::Char.max())])
}

/// Returns true if names may have this character. llama.cpp does not allow `_`, other readers of GBNF do.
fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}
