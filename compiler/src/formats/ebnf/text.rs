//! The contents of literals and classes: escapes, code points, bytes, ranges.

use super::lexer::{Alphabet, Kind, Lexer};
use crate::charset::{CharSet, RangeList, Unit};
use crate::diagnostics::{Code, Diagnostic, Span};

/// A member of a class as it is written.
struct Member {
    value: u32,
    /// Written `#bNN`.
    is_byte: bool,
    span: Span,
}

impl<'t> Lexer<'t, '_> {
    /// Returns a literal whose opening `quote` at `start` has been read.
    pub(super) fn literal(&mut self, start: usize, quote: char) -> Kind<'t> {
        let mut bytes = Vec::new();
        loop {
            match self.peek() {
                None | Some('\n' | '\r') => {
                    self.report_unclosed(start, "literal", quote);
                    break;
                }
                Some('\\') => {
                    let character = self.escape(false).unwrap_or('\u{FFFD}');
                    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Some(character) => {
                    self.position += character.len_utf8();
                    if character == quote {
                        break;
                    }
                    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
        }
        Kind::Bytes(bytes)
    }

    /// Reads `#xNN` or `#bNN` outside a class. The `#` has been read.
    pub(super) fn numbered_item(&mut self, start: usize) -> Kind<'t> {
        match self.numbered(start) {
            Some(Member { value, is_byte: true, .. }) => Kind::Bytes(vec![value as u8]),
            Some(Member { value, .. }) => {
                let character = char::from_u32(value).unwrap_or('\u{FFFD}');
                Kind::Bytes(character.to_string().into_bytes())
            }
            None => Kind::Error,
        }
    }

    /// Returns a class whose opening bracket at `start` has been read.
    pub(super) fn class(&mut self, start: usize) -> Kind<'t> {
        let negated = self.rest().starts_with('^');
        self.position += usize::from(negated);
        let mut ranges = RangeList::default();
        // The first member that makes it a class of bytes, and the first member that is larger than a byte.
        let (mut byte, mut wide) = (None, None);
        let mut broken = false;
        loop {
            match self.peek() {
                None | Some('\n' | '\r') => {
                    self.report_unclosed(start, "class", ']');
                    broken = true;
                    break;
                }
                Some(']') => {
                    self.position += 1;
                    break;
                }
                Some(_) => {}
            }
            let Some(low) = self.member() else {
                broken = true;
                continue;
            };
            let mut high = Member { ..low };
            let behind = self.rest();
            if behind.starts_with('-')
                && !behind.starts_with("-]")
                && !behind[1..].starts_with(['\n', '\r'])
                && behind != "-"
            {
                self.position += 1;
                match self.member() {
                    Some(member) => high = member,
                    None => broken = true,
                }
            }
            for member in [&low, &high] {
                if member.is_byte {
                    byte.get_or_insert(member.span);
                } else if member.value > 0x7F {
                    wide.get_or_insert(member.span);
                }
            }
            if low.value > high.value {
                broken = true;
                self.report(
                    Diagnostic::error(Code::Syntax, low.span.to(high.span), "this range is reversed")
                        .help("the smaller end comes first; a minus sign stands first, last, or as `\\-`"),
                );
            }
            ranges.push(low.value, high.value);
        }
        let span = Span::new(start, self.position);
        let of_bytes = byte.is_some() || negated && self.alphabet == Alphabet::Bytes;
        if of_bytes && let Some(wide) = wide {
            broken = true;
            let message = "a class of bytes cannot hold characters beyond ASCII";
            let diagnostic = Diagnostic::error(Code::Syntax, wide, message)
                .help("write the bytes (`#bNN`), or use an alternation of two classes");
            self.report(match byte {
                Some(byte) => diagnostic.related(byte, "this makes it a class of bytes"),
                None => diagnostic.related(span, "under `%alphabet bytes`, `[^...]` is a class of bytes"),
            });
        }
        let unit = if of_bytes { Unit::Byte } else { Unit::Char };
        let mut set = CharSet::new(unit, ranges.into_merged());
        if negated {
            let all = if of_bytes { Alphabet::Bytes } else { self.alphabet };
            set = all.members().difference(&set);
        }
        if set.is_empty() && !broken {
            let diagnostic = Diagnostic::error(Code::EmptyClass, span, "this class has no members");
            self.report(if negated {
                diagnostic.help("it excludes the whole alphabet (see `%alphabet`)")
            } else {
                diagnostic.help("the empty string is `''`; a bracket inside a class is `\\]`")
            });
        }
        Kind::Class(set)
    }

    /// Reads one member of a class. `None` if it is invalid, which has been reported. Reads at least one character.
    fn member(&mut self) -> Option<Member> {
        let start = self.position;
        let character = self.peek()?;
        if character == '\\' {
            let character = self.escape(true)?;
            return Some(Member { value: character.into(), is_byte: false, span: Span::new(start, self.position) });
        }
        self.position += character.len_utf8();
        // A `#` that begins no number stands for itself, as in XML's `PubidChar`.
        if character == '#' && self.rest().starts_with(['x', 'b']) {
            return self.numbered(start);
        }
        Some(Member { value: character.into(), is_byte: false, span: Span::new(start, self.position) })
    }

    /// Reads `xNN` or `bNN`, after a `#` at `start`.
    fn numbered(&mut self, start: usize) -> Option<Member> {
        let is_byte = match self.rest().as_bytes().first() {
            Some(b'x') => false,
            Some(b'b') => true,
            _ => {
                self.report(
                    Diagnostic::error(Code::Syntax, Span::new(start, self.position), "unexpected `#`")
                        .help("a code point is `#x41`, a byte is `#b41`, the sign itself is `'#'`"),
                );
                return None;
            }
        };
        self.position += 1;
        let digits = self.hex_digits();
        let span = Span::new(start, self.position);
        let letter = if is_byte { 'b' } else { 'x' };
        let complaint = match (digits, is_byte) {
            (None, _) => format!("`#{letter}` without a hexadecimal number"),
            (Some(value), true) if value > 0xFF => "this is more than a byte".to_string(),
            (Some(value), false) if char::from_u32(value).is_none() => "this is not a Unicode scalar value".to_string(),
            (Some(value), _) => return Some(Member { value, is_byte, span }),
        };
        self.report(Diagnostic::error(Code::Syntax, span, complaint).help(if is_byte {
            "bytes are `#b00` to `#bFF`; the sign `#` itself is `#x23`"
        } else {
            "code points are `#x0` to `#xD7FF` and `#xE000` to `#x10FFFF`; the sign `#` itself is `#x23`"
        }));
        None
    }

    /// Returns the value of all hexadecimal digits that follow, saturated; `None` if there is none.
    fn hex_digits(&mut self) -> Option<u32> {
        let mut value = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(16)) {
            value = Some(value.unwrap_or(0u32).saturating_mul(16).saturating_add(digit));
            self.position += 1;
        }
        value
    }

    /// Returns an escape, at its backslash. `None` if it is invalid, which has been reported.
    fn escape(&mut self, in_class: bool) -> Option<char> {
        let start = self.position;
        self.position += 1;
        let letter = self.peek().filter(|c| !matches!(c, '\n' | '\r'));
        self.position += letter.map_or(0, char::len_utf8);
        let simple = match letter {
            Some('n') => Some('\n'),
            Some('r') => Some('\r'),
            Some('t') => Some('\t'),
            Some('0') => Some('\0'),
            Some(same @ ('\\' | '\'' | '"')) => Some(same),
            Some(same @ (']' | '[' | '-' | '^')) if in_class => Some(same),
            _ => None,
        };
        if simple.is_some() {
            return simple;
        }
        let (message, help) = match letter {
            Some('x') => {
                let digits: String = self.rest().chars().take(2).take_while(char::is_ascii_hexdigit).collect();
                self.position += digits.len();
                match u8::from_str_radix(&digits, 16) {
                    Ok(value) if digits.len() == 2 && value.is_ascii() => return Some(char::from(value)),
                    Ok(value) if digits.len() == 2 => (
                        "`\\x` reaches only to 7F",
                        format!("the byte is written `#b{value:02X}`, the character `\\u{{{value:X}}}`"),
                    ),
                    _ => ("`\\x` needs two hexadecimal digits", "such as `\\x1B`".to_string()),
                }
            }
            Some('u') => {
                let help = "such as `\\u{E9}`; code points are 0 to D7FF and E000 to 10FFFF".to_string();
                if self.rest().starts_with('{') {
                    self.position += 1;
                    let value = self.hex_digits();
                    let closed = self.rest().starts_with('}');
                    self.position += usize::from(closed);
                    match value.and_then(char::from_u32) {
                        Some(character) if closed => return Some(character),
                        _ => ("this is not a Unicode scalar value in braces", help),
                    }
                } else {
                    ("`\\u` needs a hexadecimal number in braces", help)
                }
            }
            _ => ("unknown escape", "a backslash itself is written `\\\\`".to_string()),
        };
        self.report(Diagnostic::error(Code::Syntax, Span::new(start, self.position), message).help(help));
        None
    }

    /// Reports a literal or class that begins at `start` and is not closed on its line.
    fn report_unclosed(&mut self, start: usize, what: &str, end: char) {
        if self.quiet {
            return;
        }
        let inside = &self.text[start + 1..self.position];
        let help = if inside.contains(&format!("\\{end}")) {
            format!("`\\{end}` does not close it; a backslash itself is written `\\\\`")
        } else {
            format!("close it with `{end}` on the same line; a line break is written `\\n` or `#xA`")
        };
        let message = format!("this {what} is not closed");
        self.report(Diagnostic::error(Code::Syntax, Span::new(start, self.position), message).help(help));
    }
}
