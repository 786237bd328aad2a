//! A strict JSON reader (RFC 8259). It keeps the place of every value and all members of an object, including
//! duplicates.

use super::MAX_EXPRESSIONS;
use crate::ast::MAX_NESTING;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct Json {
    pub(super) kind: JsonKind,
    pub(super) span: Span,
}

/// The kinds of values.
#[derive(Clone, Debug)]
pub(super) enum JsonKind {
    Null,
    Bool(bool),
    /// Infinite if the number is too large.
    Number(f64),
    String(String),
    Array(Vec<Json>),
    /// The members in source order.
    Object(Vec<(JsonKey, Json)>),
}

impl JsonKind {
    /// Returns the kind of value, with an article.
    pub(super) fn description(&self) -> &'static str {
        match self {
            JsonKind::Null => "null",
            JsonKind::Bool(_) => "a truth value",
            JsonKind::Number(_) => "a number",
            JsonKind::String(_) => "a string",
            JsonKind::Array(_) => "a list",
            JsonKind::Object(_) => "an object",
        }
    }
}

/// The name of a member of an object.
#[derive(Clone, Debug)]
pub(super) struct JsonKey {
    pub(super) text: String,
    pub(super) span: Span,
}

/// The greatest number of values in a text. An expression of a grammar takes a few: with its keys, a tree-sitter node
/// takes six.
const MAX_VALUES: usize = 4 * MAX_EXPRESSIONS;

/// Reads the whole text as one value. Errors are reported.
pub(super) fn read(text: &str, diagnostics: &mut Diagnostics) -> Option<Json> {
    let position = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
    let mut reader = Reader { text, position, depth: 0, values: 0, diagnostics };
    let value = reader.value().ok()?;
    reader.skip_blanks();
    if reader.position < text.len() {
        reader.error("there is more after the end of the JSON value", "a grammar is one object, `{...}`");
        return None;
    }
    Some(value)
}

/// The error has been reported. JSON has no place to recover at.
struct Reported;

struct Reader<'t, 'd> {
    text: &'t str,
    position: usize,
    depth: u32,
    /// The number of values and keys so far, against [`MAX_VALUES`].
    values: usize,
    diagnostics: &'d mut Diagnostics,
}

impl<'t> Reader<'t, '_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.position += 1;
        }
    }

    fn error_at(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) -> Reported {
        self.diagnostics.push(Diagnostic::error(Code::Syntax, span, message).help(help));
        Reported
    }

    /// Reports an error at the next character.
    fn error(&mut self, message: impl Into<String>, help: impl Into<String>) -> Reported {
        let width = self.text[self.position..].chars().next().map_or(0, char::len_utf8);
        self.error_at(Span::new(self.position, self.position + width), message, help)
    }

    /// Returns the text at the position, for a message.
    fn found(&self) -> String {
        match self.text[self.position..].chars().next() {
            None => "the end of the file".to_string(),
            Some(c) if c.is_control() => format!("U+{:04X}", u32::from(c)),
            Some(c) => format!("`{c}`"),
        }
    }

    /// Counts a value or key that begins at the position.
    fn count(&mut self) -> Result<(), Reported> {
        self.values += 1;
        if self.values <= MAX_VALUES {
            return Ok(());
        }
        let span = Span::new(self.position, self.position + usize::from(self.peek().is_some_and(|b| b.is_ascii())));
        let message = format!("this is more than {MAX_VALUES} values");
        self.diagnostics.push(
            Diagnostic::error(Code::TooLarge, span, message)
                .help("a grammar of this size is generated; leave out what the start rule does not need"),
        );
        Err(Reported)
    }

    fn value(&mut self) -> Result<Json, Reported> {
        self.skip_blanks();
        self.count()?;
        let start = self.position;
        let kind = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::array)?,
            Some(b'"') => JsonKind::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b'a'..=b'z' | b'A'..=b'Z') => self.word()?,
            _ => {
                let message = format!("expected a JSON value, found {}", self.found());
                return Err(
                    self.error(message, "strings stand in double quotes; there is no comma after the last item")
                );
            }
        };
        Ok(Json { kind, span: Span::new(start, self.position) })
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<JsonKind, Reported>) -> Result<JsonKind, Reported> {
        if self.depth == MAX_NESTING {
            let span = Span::new(self.position, self.position + 1);
            let message = format!("this is nested more than {MAX_NESTING} levels deep");
            self.diagnostics.push(
                Diagnostic::error(Code::TooDeep, span, message).help("a grammar is an object of lists of alternatives"),
            );
            return Err(Reported);
        }
        self.depth += 1;
        self.position += 1;
        let kind = read(self)?;
        self.depth -= 1;
        Ok(kind)
    }

    /// Returns the rest of an array, after its bracket.
    fn array(&mut self) -> Result<JsonKind, Reported> {
        let mut items = Vec::new();
        self.skip_blanks();
        if self.peek() == Some(b']') {
            self.position += 1;
            return Ok(JsonKind::Array(items));
        }
        loop {
            items.push(self.value()?);
            if self.ends(b']')? {
                return Ok(JsonKind::Array(items));
            }
        }
    }

    /// Returns the rest of an object, after its brace.
    fn object(&mut self) -> Result<JsonKind, Reported> {
        let mut members = Vec::new();
        self.skip_blanks();
        if self.peek() == Some(b'}') {
            self.position += 1;
            return Ok(JsonKind::Object(members));
        }
        loop {
            self.skip_blanks();
            let start = self.position;
            if self.peek() != Some(b'"') {
                let message = format!("expected a key, found {}", self.found());
                return Err(self.error(message, "keys stand in double quotes; there is no comma after the last member"));
            }
            self.count()?;
            let text = self.string()?;
            let key = JsonKey { text, span: Span::new(start, self.position) };
            self.skip_blanks();
            if self.peek() != Some(b':') {
                let message = format!("expected `:`, found {}", self.found());
                return Err(self.error(message, "a member of an object is written `\"key\": value`"));
            }
            self.position += 1;
            members.push((key, self.value()?));
            if self.ends(b'}')? {
                return Ok(JsonKind::Object(members));
            }
        }
    }

    /// Reads a comma (false) or the closing mark (true).
    fn ends(&mut self, close: u8) -> Result<bool, Reported> {
        self.skip_blanks();
        let found = self.peek();
        if found == Some(close) || found == Some(b',') {
            self.position += 1;
            return Ok(found == Some(close));
        }
        let message = format!("expected `,` or `{}`, found {}", char::from(close), self.found());
        Err(self.error(message, "values are separated by commas"))
    }

    fn word(&mut self) -> Result<JsonKind, Reported> {
        let start = self.position;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric()) {
            self.position += 1;
        }
        match &self.text[start..self.position] {
            "null" => Ok(JsonKind::Null),
            word @ ("true" | "false") => Ok(JsonKind::Bool(word == "true")),
            _ => {
                let span = Span::new(start, self.position);
                Err(self.error_at(span, "this is no JSON value", "strings stand in double quotes"))
            }
        }
    }

    fn digits(&mut self) -> usize {
        let start = self.position;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.position += 1;
        }
        self.position - start
    }

    fn number(&mut self) -> Result<JsonKind, Reported> {
        let start = self.position;
        self.position += usize::from(self.peek() == Some(b'-'));
        let leading_zero = self.peek() == Some(b'0');
        let whole = self.digits();
        let mut valid = whole == 1 || whole > 1 && !leading_zero;
        if self.peek() == Some(b'.') {
            self.position += 1;
            valid &= self.digits() > 0;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.position += 1;
            self.position += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            valid &= self.digits() > 0;
        }
        match self.text[start..self.position].parse() {
            Ok(value) if valid => Ok(JsonKind::Number(value)),
            _ => {
                let span = Span::new(start, self.position);
                Err(self.error_at(span, "this is no JSON number", "numbers are written `3`, `0.25` or `1e-3`"))
            }
        }
    }

    /// Returns a string, at its opening quote.
    fn string(&mut self) -> Result<String, Reported> {
        let start = self.position;
        self.position += 1;
        let mut value = String::new();
        loop {
            // Quotes, backslashes and controls are ASCII, so the run between them is whole characters.
            let rest = &self.text.as_bytes()[self.position..];
            let run = rest.iter().position(|&b| b < 0x20 || b == b'"' || b == b'\\').unwrap_or(rest.len());
            value += &self.text[self.position..self.position + run];
            self.position += run;
            match self.peek() {
                Some(b'"') => {
                    self.position += 1;
                    return Ok(value);
                }
                Some(b'\\') => {
                    let (escape, length) = escape(&self.text[self.position..]);
                    let span = Span::new(self.position, self.position + length);
                    self.position += length;
                    match escape {
                        Escape::Char(character) => value.push(character),
                        Escape::LoneSurrogate => {
                            value.push('\u{FFFD}');
                            self.error_at(
                                span,
                                "this is half of a surrogate pair, which is no character",
                                "beyond U+FFFF a character is two escapes, such as `\\uD83D\\uDE00`",
                            );
                        }
                        Escape::Unknown => {
                            return Err(self.error_at(
                                span,
                                "unknown escape",
                                "JSON knows `\\\"`, `\\\\`, `\\/`, `\\b`, `\\f`, `\\n`, `\\r`, `\\t` and `\\u` with four digits",
                            ));
                        }
                    }
                }
                None | Some(b'\n' | b'\r') => {
                    let span = Span::new(start, self.position);
                    let help = "close it with `\"` on the same line; a line break is written `\\n`";
                    return Err(self.error_at(span, "this string is not closed", help));
                }
                Some(control) => {
                    let message = format!("a string cannot hold the control character U+{control:04X} as it is");
                    return Err(self.error(message, format!("write `\\u{control:04X}`")));
                }
            }
        }
    }
}

enum Escape {
    Char(char),
    LoneSurrogate,
    Unknown,
}

/// Returns the escape at the beginning of `text` and its length in bytes.
fn escape(text: &str) -> (Escape, usize) {
    let simple = match text[1..].chars().next() {
        Some(same @ ('"' | '\\' | '/')) => same,
        Some('b') => '\u{8}',
        Some('f') => '\u{C}',
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('u') => {
            let unit = |from: usize| {
                let digits = text.get(from..from + 4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
                u32::from_str_radix(digits, 16).ok()
            };
            let Some(first) = unit(2) else { return (Escape::Unknown, 2) };
            if let Some(character) = char::from_u32(first) {
                return (Escape::Char(character), 6);
            }
            let second = if text[6..].starts_with("\\u") { unit(8) } else { None };
            return match second {
                Some(second @ 0xDC00..=0xDFFF) if first < 0xDC00 => {
                    let value = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                    (Escape::Char(char::from_u32(value).unwrap_or('\u{FFFD}')), 12)
                }
                _ => (Escape::LoneSurrogate, 6),
            };
        }
        Some('\n' | '\r') | None => return (Escape::Unknown, 1),
        Some(other) => return (Escape::Unknown, 1 + other.len_utf8()),
    };
    (Escape::Char(simple), 2)
}

/// Translates offsets in the value of a string to offsets in the file. The offsets must ascend.
pub(super) struct Locator<'t> {
    text: &'t str,
    in_file: usize,
    in_value: usize,
}

impl<'t> Locator<'t> {
    /// Returns a locator for the string at `span` of the file's `text`, quotes included.
    pub(super) fn new(text: &'t str, span: Span) -> Locator<'t> {
        Locator { text, in_file: span.start as usize + 1, in_value: 0 }
    }

    /// Returns the offset in the file of the byte at `offset` of the value.
    pub(super) fn locate(&mut self, offset: usize) -> usize {
        while self.in_value < offset && self.in_file < self.text.len() {
            if self.text.as_bytes()[self.in_file] == b'\\' {
                let (escape, length) = escape(&self.text[self.in_file..]);
                self.in_file += length;
                self.in_value += match escape {
                    Escape::Char(character) => character.len_utf8(),
                    _ => '\u{FFFD}'.len_utf8(),
                };
            } else {
                self.in_file += 1;
                self.in_value += 1;
            }
        }
        self.in_file
    }
}
