//! Tokens of the `.g4` syntax. The meaning of `[` depends on the kind of rule, which the parser sets.

use super::escapes;
use crate::charset::CharSet;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};

/// The greatest length of a literal in bytes. Each of its characters becomes a state of the lexer.
const MAX_LITERAL: usize = 1 << 16;

/// A token with its place.
#[derive(Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind<'t>,
    pub(super) span: Span,
}

/// The kinds of tokens.
#[derive(Debug, PartialEq)]
pub(super) enum Kind<'t> {
    Name(&'t str),
    Number,
    Literal(Literal),
    /// `[...]` in a rule of the lexer.
    Set(CharSet),
    /// `[...]` elsewhere: arguments and declarations in another language.
    Arguments,
    /// `{...}`: code in another language.
    Action,
    Colon,
    ColonColon,
    Semicolon,
    Comma,
    Open,
    Close,
    CloseBrace,
    Arrow,
    Less,
    Greater,
    Equals,
    PlusEquals,
    Question,
    Star,
    Plus,
    Bar,
    Dot,
    Range,
    At,
    Pound,
    Tilde,
    /// An error that has been reported already.
    Error,
    End,
}

/// The text of `'...'`.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Literal {
    pub(super) text: String,
    /// Its value, if it is a single code point. May be a surrogate.
    pub(super) only: Option<u32>,
    /// Whether it contains half of a surrogate pair, which no text does.
    pub(super) is_broken: bool,
}

/// Reads tokens on demand.
pub(super) struct Lexer<'t, 'd> {
    pub(super) text: &'t str,
    /// Byte offset of the next character.
    pub(super) position: usize,
    /// Whether `[` begins a set.
    pub(super) in_lexer_rule: bool,
    /// Set while the parser looks for the next rule. Findings are dropped then, because they would be noise.
    pub(super) quiet: bool,
    diagnostics: &'d mut Diagnostics,
    errors: usize,
    properties: escapes::Properties,
    /// Whether the rest of the text is known to have no `*/`.
    no_comment_ends: bool,
}

impl<'t, 'd> Lexer<'t, 'd> {
    pub(super) fn new(text: &'t str, diagnostics: &'d mut Diagnostics) -> Lexer<'t, 'd> {
        let position = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
        Lexer {
            text,
            position,
            in_lexer_rule: false,
            quiet: false,
            diagnostics,
            errors: 0,
            properties: escapes::Properties::new(),
            no_comment_ends: false,
        }
    }

    /// Adds a finding.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        if !self.quiet {
            self.errors += usize::from(diagnostic.severity == crate::diagnostics::Severity::Error);
            self.diagnostics.push(diagnostic);
        }
    }

    /// Returns true if the limit on errors is reached, so that the parser can stop.
    pub(super) fn gives_up(&self) -> bool {
        self.errors >= Diagnostics::MAX
    }

    fn error(&mut self, start: usize, message: impl Into<String>, help: impl Into<String>) -> Kind<'t> {
        let span = Span::new(start, self.position);
        self.report(Diagnostic::error(Code::Syntax, span, message).help(help));
        Kind::Error
    }

    fn rest(&self) -> &'t str {
        &self.text[self.position..]
    }

    /// Takes `{` if it is next. For the brace after `options`, `tokens` and `channels`, which begins no action.
    pub(super) fn take_open_brace(&mut self) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with('{');
        self.position += usize::from(found);
        found
    }

    /// Returns the next token. At the end, always [`Kind::End`].
    pub(super) fn token(&mut self) -> Token<'t> {
        self.skip_blanks();
        let start = self.position;
        let kind = self.kind(start);
        Token { kind, span: Span::new(start, self.position) }
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let Some(first) = rest.chars().next() else { return };
            if first.is_whitespace() || first == '\u{FEFF}' {
                self.position += first.len_utf8();
            } else if rest.starts_with("//") {
                self.position += rest.find(['\n', '\r']).unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let start = self.position;
                match comment.find("*/") {
                    Some(length) => self.position += length + 4,
                    None => {
                        self.position = self.text.len();
                        let span = Span::new(start, start + 2);
                        let diagnostic = Diagnostic::error(Code::Syntax, span, "this comment is not closed");
                        self.report(diagnostic.help("close it with `*/`"));
                    }
                }
            } else {
                return;
            }
        }
    }

    fn kind(&mut self, start: usize) -> Kind<'t> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Kind::End };
        for (text, kind) in [
            ("->", Kind::Arrow),
            ("::", Kind::ColonColon),
            ("+=", Kind::PlusEquals),
            ("..", Kind::Range),
            (":", Kind::Colon),
            (";", Kind::Semicolon),
            (",", Kind::Comma),
            ("(", Kind::Open),
            (")", Kind::Close),
            ("}", Kind::CloseBrace),
            ("<", Kind::Less),
            (">", Kind::Greater),
            ("=", Kind::Equals),
            ("?", Kind::Question),
            ("*", Kind::Star),
            ("+", Kind::Plus),
            ("|", Kind::Bar),
            (".", Kind::Dot),
            ("@", Kind::At),
            ("#", Kind::Pound),
            ("~", Kind::Tilde),
        ] {
            if rest.starts_with(text) {
                self.position += text.len();
                return kind;
            }
        }
        match first {
            '\'' => self.literal(start),
            '[' if self.in_lexer_rule => self.set(start),
            '[' => self.arguments(start),
            '{' => self.action(start),
            '0'..='9' => {
                self.position += rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
                Kind::Number
            }
            _ if first == '_' || first.is_alphabetic() => {
                let length = rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len());
                self.position += length;
                Kind::Name(&rest[..length])
            }
            _ => {
                // The same character often follows, as in a binary file.
                self.position += rest.find(|c| c != first).unwrap_or(rest.len());
                if self.quiet {
                    return Kind::Error;
                }
                let shown = match first {
                    _ if first.is_control() || !first.is_ascii() => format!("U+{:04X}", u32::from(first)),
                    _ => format!("`{first}`"),
                };
                let help = match first {
                    '\0' => "a grammar is UTF-8 text; this looks like a binary file or like UTF-16",
                    '"' => "literals stand in single quotes: `'...'`",
                    _ => "text that the rule should match stands in single quotes",
                };
                let span = Span::new(start, start + first.len_utf8());
                let message = format!("unexpected character {shown}");
                self.report(Diagnostic::error(Code::Syntax, span, message).help(help));
                Kind::Error
            }
        }
    }

    /// Reads `'...'` with escapes. Two escapes for the halves of a surrogate pair are one character.
    fn literal(&mut self, start: usize) -> Kind<'t> {
        let mut text = String::new();
        let mut count = 0usize;
        let mut last = None;
        let mut pending: Option<u32> = None;
        let mut is_broken = false;
        self.position += 1;
        loop {
            let rest = self.rest();
            let value = match rest.chars().next() {
                Some('\'') => {
                    self.position += 1;
                    is_broken |= pending.is_some();
                    if count > MAX_LITERAL {
                        let message = format!("this literal has more than {MAX_LITERAL} characters");
                        return self.error(start, message, "divide it among several lexer rules");
                    }
                    return Kind::Literal(Literal { text, only: last.filter(|_| count == 1), is_broken });
                }
                Some('\\') => match escapes::code_point(rest) {
                    Ok((value, length)) => {
                        self.position += length;
                        value
                    }
                    Err(problem) => {
                        let at = self.position;
                        self.position += problem.length;
                        self.error(at, problem.message, "write `\\\\` for a backslash, `\\u{1F600}` for a code point");
                        continue;
                    }
                },
                Some('\n' | '\r') | None => {
                    return self.error(start, "this literal is not closed", "close it with `'` on the same line");
                }
                Some(character) => {
                    self.position += character.len_utf8();
                    u32::from(character)
                }
            };
            let high = pending.take();
            let value = match (high, value) {
                (Some(high), 0xDC00..=0xDFFF) => {
                    count -= 1;
                    0x1_0000 + ((high - 0xD800) << 10) + (value - 0xDC00)
                }
                (high, _) => {
                    is_broken |= high.is_some();
                    value
                }
            };
            count += 1;
            last = Some(value);
            match char::from_u32(value) {
                Some(character) => text.push(character),
                None if value < 0xDC00 => pending = Some(value),
                None => is_broken = true,
            }
        }
    }

    /// Reads `[...]`, a set of characters.
    fn set(&mut self, start: usize) -> Kind<'t> {
        let (result, length) = escapes::set(self.rest(), &mut self.properties);
        self.position += length;
        match result {
            Ok(set) => Kind::Set(set),
            Err(message) => {
                let help = "a set is written `[a-z_\\u00E0\\p{Lu}]`; `]`, `\\` and `-` have a backslash in it";
                self.error(start, message, help)
            }
        }
    }

    /// Reads `[...]` in another language: brackets nest, quotes hide them.
    fn arguments(&mut self, start: usize) -> Kind<'t> {
        match self.skip_nested('[', ']') {
            true => Kind::Arguments,
            false => self.error(start, "these arguments are not closed", "close them with `]`"),
        }
    }

    /// Reads `{...}` in another language: braces nest, quotes and comments hide them.
    fn action(&mut self, start: usize) -> Kind<'t> {
        match self.skip_nested('{', '}') {
            true => Kind::Action,
            false => {
                let span = Span::new(start, start + 1);
                self.report(
                    Diagnostic::error(Code::Syntax, span, "this action is not closed").help("close it with `}`"),
                );
                Kind::Error
            }
        }
    }

    /// Moves past the bracket that closes the one here, or to the end of the text if there is none.
    fn skip_nested(&mut self, open: char, close: char) -> bool {
        let mut depth = 0usize;
        while let Some(character) = self.rest().chars().next() {
            let rest = self.rest();
            self.position += character.len_utf8();
            if character == open {
                depth += 1;
            } else if character == close {
                depth -= 1;
                if depth == 0 {
                    return true;
                }
            } else if character == '\\' {
                self.position += self.rest().chars().next().map_or(0, char::len_utf8);
            } else if matches!(character, '"' | '\'' | '`') {
                // An apostrophe in a comment or a lifetime closes nothing. A quote without a partner on its line is an
                // ordinary character.
                if let Some(length) = quoted_length(rest, character) {
                    self.position += length - 1;
                }
            } else if open == '{' && rest.starts_with("/*") {
                let length = if self.no_comment_ends { None } else { rest[2..].find("*/") };
                self.no_comment_ends = length.is_none();
                self.position += length.map_or(1, |length| length + 3);
            } else if open == '{' && rest.starts_with("//") {
                self.position += rest[1..].find('\n').unwrap_or(0);
            }
        }
        false
    }
}

/// Returns the length of the quoted string at the beginning of `text`, if it ends on its line.
fn quoted_length(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (offset, character) in text.char_indices().skip(1) {
        match character {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return Some(offset + 1),
            _ => {}
        }
    }
    None
}
