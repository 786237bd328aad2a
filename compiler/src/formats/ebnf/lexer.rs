//! Tokens of the EBNF. Literals and classes are decoded here, in [`super::text`]. Errors inside them are reported at
//! once and the token is still returned, so that one run finds several errors.

use crate::charset::{CharSet, Unit};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::levels::Chaining;

/// A token and its place.
#[derive(Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind<'t>,
    pub(super) span: Span,
    /// Whether only blanks and comments stand before it on its line.
    pub(super) starts_line: bool,
}

/// The kinds of tokens.
#[derive(Debug, PartialEq)]
pub(super) enum Kind<'t> {
    Name(&'t str),
    /// A literal, `#xNN` or `#bNN`.
    Bytes(Vec<u8>),
    Class(CharSet),
    /// `/pattern/flags`: the pattern and the flags.
    Pattern(&'t str, &'t str),
    Number(&'t str),
    /// `%name`. Its value is the next token.
    Directive(&'t str),
    /// `%left`, `%right` or `%nonassoc` within a line.
    Level(Chaining),
    Defines,
    Open,
    Close,
    OpenBrace,
    CloseBrace,
    Comma,
    Bar,
    Question,
    Star,
    Plus,
    Minus,
    /// `/` before a number and a closing parenthesis, which begin no regular expression.
    Slash,
    At,
    Semicolon,
    Colon,
    /// `..`.
    Dots,
    /// `$name`.
    Dollar(&'t str),
    /// An error that has been reported already.
    Error,
    End,
}

/// The set that `[^...]` takes the complement in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alphabet {
    Char,
    Ascii,
    Unicode,
    Bytes,
}

impl Alphabet {
    /// Returns the alphabet that `%alphabet` calls `name`.
    pub(super) fn by_name(name: &str) -> Option<Alphabet> {
        Some(match name {
            "char" => Alphabet::Char,
            "ascii" => Alphabet::Ascii,
            "unicode" => Alphabet::Unicode,
            "bytes" => Alphabet::Bytes,
            _ => return None,
        })
    }

    /// Returns all members of the alphabet.
    pub(super) fn members(self) -> CharSet {
        let blanks = [(0x09, 0x0A), (0x0D, 0x0D)];
        match self {
            // XML 1.0, production 2.
            Alphabet::Char => CharSet::new(
                Unit::Char,
                blanks.into_iter().chain([(0x20, 0xD7FF), (0xE000, 0xFFFD), (0x1_0000, 0x10_FFFF)]),
            ),
            Alphabet::Ascii => CharSet::new(Unit::Char, blanks.into_iter().chain([(0x20, 0x7E)])),
            Alphabet::Unicode => CharSet::new(Unit::Char, [(0, 0x10_FFFF)]),
            Alphabet::Bytes => CharSet::new(Unit::Byte, [(0, 0xFF)]),
        }
    }
}

/// Reads tokens on demand. Only the position is kept.
pub(super) struct Lexer<'t, 'd> {
    pub(super) text: &'t str,
    /// Byte offset of the next character.
    pub(super) position: usize,
    pub(super) alphabet: Alphabet,
    /// Set while the parser looks for the next rule. Findings are dropped then, because they would be noise.
    pub(super) quiet: bool,
    starts_line: bool,
    diagnostics: &'d mut Diagnostics,
    errors: usize,
}

impl<'t, 'd> Lexer<'t, 'd> {
    pub(super) fn new(text: &'t str, diagnostics: &'d mut Diagnostics) -> Lexer<'t, 'd> {
        let position = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
        Lexer { text, position, alphabet: Alphabet::Char, quiet: false, starts_line: true, diagnostics, errors: 0 }
    }

    /// Adds a finding.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        if !self.quiet {
            self.errors += 1;
            self.diagnostics.push(diagnostic);
        }
    }

    /// Returns true if the limit on errors is reached, so that the parser can stop.
    pub(super) fn gives_up(&self) -> bool {
        self.errors >= Diagnostics::MAX
    }

    /// Returns the next character.
    pub(super) fn peek(&self) -> Option<char> {
        self.text[self.position..].chars().next()
    }

    /// Returns the rest of the text.
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.position..]
    }

    /// Returns the next token. At the end, always [`Kind::End`].
    pub(super) fn token(&mut self) -> Token<'t> {
        if let Some(unclosed) = self.skip_blanks() {
            self.position = self.text.len();
            self.report(
                Diagnostic::error(Code::Syntax, unclosed, "this comment is not closed").help("close it with `*/`"),
            );
        }
        let start = self.position;
        let starts_line = std::mem::replace(&mut self.starts_line, false);
        let kind = self.kind(start, starts_line);
        Token { kind, span: Span::new(start, self.position), starts_line }
    }

    /// Skips blanks and comments. Returns the opening mark of a comment without an end.
    fn skip_blanks(&mut self) -> Option<Span> {
        loop {
            match self.peek() {
                Some('\n') => {
                    self.starts_line = true;
                    self.position += 1;
                }
                // Text copied from a browser often contains U+00A0.
                Some(blank) if blank.is_whitespace() => self.position += blank.len_utf8(),
                Some('/') if self.rest().starts_with("/*") => match self.rest()[2..].find("*/") {
                    Some(length) => {
                        self.starts_line |= self.rest()[..2 + length].contains('\n');
                        self.position += length + 4;
                    }
                    None => return Some(Span::new(self.position, self.position + 2)),
                },
                Some('-') if self.rest().starts_with("--") => {
                    self.position += self.rest().find('\n').unwrap_or(self.rest().len());
                }
                _ => return None,
            }
        }
    }

    /// Reads a token that begins at `start`, the current position.
    fn kind(&mut self, start: usize, starts_line: bool) -> Kind<'t> {
        let Some(first) = self.peek() else { return Kind::End };
        self.position += first.len_utf8();
        match first {
            '\'' | '"' => self.literal(start, first),
            '[' => self.class(start),
            '#' => self.numbered_item(start),
            '/' if self.begins_divisor() => Kind::Slash,
            '/' => self.pattern(start),
            '%' => self.directive(start, starts_line),
            ':' if self.rest().starts_with(":=") => {
                self.position += 2;
                Kind::Defines
            }
            ':' => Kind::Colon,
            '.' if self.rest().starts_with('.') => {
                self.position += 1;
                Kind::Dots
            }
            '$' if self.peek().is_some_and(|next| next == '_' || next.is_alphabetic()) => match self.name(start + 1) {
                Kind::Name(name) => Kind::Dollar(name),
                other => other,
            },
            '(' => Kind::Open,
            ')' => Kind::Close,
            '{' => Kind::OpenBrace,
            '}' => Kind::CloseBrace,
            ',' => Kind::Comma,
            '|' => Kind::Bar,
            '?' => Kind::Question,
            '*' => Kind::Star,
            '+' => Kind::Plus,
            '-' => Kind::Minus,
            '@' => Kind::At,
            ';' => Kind::Semicolon,
            '0'..='9' => self.number(start),
            _ if first == '_' || first.is_alphabetic() => self.name(start),
            _ => self.unexpected(start, first),
        }
    }

    fn name(&mut self, start: usize) -> Kind<'t> {
        let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
        let length = self.text[start..].find(|c| !in_name(c)).unwrap_or(self.text.len() - start);
        // `Char- 'a'` is a difference and `Char-- text` has a comment: no name ends in a minus.
        let name = self.text[start..start + length].trim_end_matches('-');
        self.position = start + name.len();
        Kind::Name(name)
    }

    /// Returns a number with the characters directly after it. The parser checks its form.
    fn number(&mut self, start: usize) -> Kind<'t> {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.position) {
            let exponent_sign = matches!(byte, b'+' | b'-')
                && matches!(bytes[self.position - 1], b'e' | b'E')
                && bytes.get(self.position + 1).is_some_and(u8::is_ascii_digit);
            let is_dot = byte == b'.' && !self.rest().starts_with("..");
            if !(byte.is_ascii_alphanumeric() || is_dot || exponent_sign) {
                break;
            }
            self.position += 1;
        }
        Kind::Number(&self.text[start..self.position])
    }

    fn directive(&mut self, start: usize, starts_line: bool) -> Kind<'t> {
        let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let length = self.rest().find(|c| !in_name(c)).unwrap_or(self.rest().len());
        let name = &self.rest()[..length];
        self.position += length;
        if starts_line {
            return Kind::Directive(name);
        }
        match name {
            "left" => return Kind::Level(Chaining::Left),
            "right" => return Kind::Level(Chaining::Right),
            "nonassoc" => return Kind::Level(Chaining::Never),
            _ if self.quiet => return Kind::Error,
            _ => {}
        }
        self.report(
            Diagnostic::error(Code::Syntax, Span::new(start, self.position), "unexpected `%` inside a line")
                .help("a directive such as `%start` stands at the beginning of its line; a percent sign is `'%'`"),
        );
        Kind::Error
    }

    /// Returns a regular expression whose opening slash at `start` has been read.
    fn pattern(&mut self, start: usize) -> Kind<'t> {
        let mut in_class = false;
        loop {
            let next = self.peek().filter(|c| !matches!(c, '\n' | '\r'));
            self.position += next.map_or(0, char::len_utf8);
            match next {
                None => {
                    if !self.quiet {
                        let help = "close it with `/` on the same line, a slash in it is `\\/`; comments are `/* ... */`, \
                                    text that the rule should produce stands in quotes";
                        let span = Span::new(start, self.position);
                        self.report(
                            Diagnostic::error(Code::Syntax, span, "this regular expression is not closed").help(help),
                        );
                    }
                    return Kind::Error;
                }
                Some('\\') => {
                    let escaped = self.peek().filter(|c| !matches!(c, '\n' | '\r'));
                    self.position += escaped.map_or(0, char::len_utf8);
                }
                Some('[') => in_class = true,
                Some(']') => in_class = false,
                Some('/') if !in_class => break,
                _ => {}
            }
        }
        let pattern = &self.text[start + 1..self.position - 1];
        let flags = self.position;
        while self.peek().is_some_and(|c| c.is_ascii_alphabetic()) {
            self.position += 1;
        }
        Kind::Pattern(pattern, &self.text[flags..self.position])
    }

    /// Returns true if a number and a closing parenthesis come next.
    fn begins_divisor(&self) -> bool {
        let blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r');
        let number = self.rest().trim_start_matches(blank);
        let after = number.trim_start_matches(|c: char| c.is_ascii_digit());
        after.len() < number.len() && after.trim_start_matches(blank).starts_with(')')
    }

    fn unexpected(&mut self, start: usize, character: char) -> Kind<'t> {
        // A binary file may cause one such error per byte.
        if self.quiet {
            return Kind::Error;
        }
        let shown = if character.is_control() || !character.is_ascii() {
            format!("U+{:04X}", u32::from(character))
        } else {
            format!("`{character}`")
        };
        let help = match character {
            '\0' => "a grammar is UTF-8 text; this looks like a binary file or like UTF-16",
            '=' | '<' | '>' => "a rule is written `name ::= expression`",
            '`' | '\u{2018}'..='\u{201F}' => "literals stand in straight quotes: `'...'` or `\"...\"`",
            _ => "text that the rule should produce stands in quotes: `'...'` or `\"...\"`",
        };
        let span = Span::new(start, self.position);
        self.report(Diagnostic::error(Code::Syntax, span, format!("unexpected character {shown}")).help(help));
        Kind::Error
    }
}
