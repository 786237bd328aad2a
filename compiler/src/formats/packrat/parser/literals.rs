//! Texts, classes and their escapes.

use super::Parser;
use crate::charset::{CharSet, Unit};
use crate::diagnostics::Span;
use crate::formats::builder::Reported;
use crate::formats::packrat::tree::{Kind, Peg};
use crate::formats::pattern;

/// Returns the class of all characters up to the last one.
pub(super) fn up_to(last: char) -> CharSet {
    let halves = CharSet::new(Unit::Char, [(0xD800, 0xDFFF)]);
    CharSet::new(Unit::Char, [(0, u32::from(last))]).difference(&halves)
}

/// Returns the members of a class in both cases of ASCII letters.
fn in_both_cases(set: &CharSet) -> CharSet {
    let letters = [(u32::from('A'), u32::from('Z')), (u32::from('a'), u32::from('z'))];
    let letters = set.intersection(&CharSet::new(Unit::Char, letters));
    // The case of an ASCII letter is one bit.
    CharSet::new(Unit::Char, set.ranges().iter().copied().chain(letters.iter().map(|c| (c ^ 0x20, c ^ 0x20))))
}

impl Parser<'_, '_, '_> {
    /// Returns a text, at its opening quote, and whether its case is free.
    pub(super) fn text(&mut self) -> Result<(String, bool), Reported> {
        let start = self.scan.position;
        let quote = self.scan.next();
        let mut units: Vec<u16> = Vec::new();
        let mut push = |code: u32| match char::from_u32(code) {
            Some(c) => units.extend_from_slice(c.encode_utf16(&mut [0; 2])),
            None => units.extend(u16::try_from(code)),
        };
        loop {
            match self.scan.peek() {
                Some(c) if Some(c) == quote => break,
                Some('\\') => self.escape()?.into_iter().for_each(&mut push),
                Some(c) if c != '\n' => {
                    self.scan.next();
                    push(c.into());
                }
                Some(_) | None => {
                    let span = Span::new(start, start + 1);
                    let mark = quote.unwrap_or('"');
                    let help = format!("close it with `{mark}` on its line; a line end in it is `\\n`");
                    return Err(self.builder.error(span, "this literal is not closed", help));
                }
            }
        }
        self.scan.next();
        let Ok(text) = String::from_utf16(&units) else {
            let help = "no text has it by itself; write both halves, or the character";
            return Err(self.builder.error(self.scan.span_from(start), "this is half of a surrogate pair", help));
        };
        Ok((text, self.scan.eat("i")))
    }

    /// Returns a class, at its opening bracket.
    pub(super) fn class(&mut self) -> Result<CharSet, Reported> {
        let start = self.scan.position;
        self.scan.next();
        let is_inverted = self.scan.eat("^");
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        while !self.scan.eat("]") {
            let from = self.scan.position;
            let Some(low) = self.members(start, &mut ranges)? else { continue };
            let mut ahead = self.scan.clone();
            let is_range = ahead.eat("-") && !ahead.sees("]");
            if !is_range {
                ranges.push((low, low));
                continue;
            }
            self.scan = ahead;
            match self.members(start, &mut ranges)? {
                Some(high) if low <= high => ranges.push((low, high)),
                _ => {
                    let help = "the smaller end comes first; a minus that is a member is `\\-`";
                    return Err(self.builder.error(self.scan.span_from(from), "this is no range", help));
                }
            }
        }
        let mut set = CharSet::new(Unit::Char, ranges.iter().copied());
        self.halves = if set.is_empty() && !is_inverted { ranges } else { Vec::new() };
        // Such classes take whole characters.
        let written = &self.scan.text[start..self.scan.position];
        let mut is_whole = ["\\u{", "\\p", "\\P"].iter().any(|mark| written.contains(mark));
        while let Some(flag @ ('i' | 'u')) = self.scan.peek() {
            self.scan.next();
            is_whole |= flag == 'u';
            if flag == 'i' {
                set = in_both_cases(&set);
            }
        }
        let last = if is_whole { char::MAX } else { self.dialect.last };
        Ok(if is_inverted { up_to(last).difference(&set) } else { set })
    }

    /// Returns the characters of two classes in a row that hold the halves of surrogate pairs: those of `high`, and
    /// those of the last class, which is `term`.
    pub(super) fn pair(&mut self, high: &[(u32, u32)], term: &Peg) -> Option<CharSet> {
        let is_class = matches!(&term.kind, Kind::Class(set) if set.is_empty());
        let low = std::mem::take(&mut self.halves);
        let are_halves = |ranges: &[(u32, u32)], first: u32, last: u32| {
            !ranges.is_empty() && ranges.iter().all(|&(low, high)| first <= low && high <= last)
        };
        if !is_class || !are_halves(high, 0xD800, 0xDBFF) || !are_halves(&low, 0xDC00, 0xDFFF) {
            self.halves = low;
            return None;
        }
        let mut pairs = Vec::new();
        for high in high.iter().flat_map(|&(first, last)| first..=last).take(1 << 10) {
            let character = |low: u32| 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            pairs.extend(low.iter().take(1 << 6).map(|&(first, last)| (character(first), character(last))));
        }
        Some(CharSet::new(Unit::Char, pairs))
    }

    /// Takes one member of a class. `None` if it is a property or an escape without a character, whose members are
    /// added to `ranges`.
    fn members(&mut self, start: usize, ranges: &mut Vec<(u32, u32)>) -> Result<Option<u32>, Reported> {
        match self.scan.peek() {
            Some('\\') if self.scan.sees("\\p") || self.scan.sees("\\P") => {
                ranges.extend(self.property()?.ranges());
                Ok(None)
            }
            Some('\\') => self.escape(),
            Some(c) if c != '\n' => {
                self.scan.next();
                Ok(Some(u32::from(c)))
            }
            Some(_) | None => {
                let span = Span::new(start, start + 1);
                Err(self.builder.error(span, "this class is not closed", "close it with `]` on its line"))
            }
        }
    }

    /// Returns the characters of a property of Unicode, `\p{L}` or `\pL`.
    fn property(&mut self) -> Result<CharSet, Reported> {
        let start = self.scan.position;
        self.scan.next();
        let is_inverted = self.scan.next() == Some('P');
        let name = match self.scan.eat("{") {
            true => self.scan.take_past("}"),
            false => {
                let from = self.scan.position;
                self.scan.next();
                Some(&self.scan.text[from..self.scan.position])
            }
        };
        match name.filter(|name| name.len() < 64).and_then(pattern::property) {
            Some(set) if is_inverted => Ok(up_to(char::MAX).difference(&set)),
            Some(set) => Ok(set),
            None => {
                let span = Span::new(start, start + 2);
                let help = "a property is written `\\p{L}` or `\\p{Letter}`";
                Err(self.builder.error(span, "this property of Unicode is unknown", help))
            }
        }
    }

    /// Returns the code of an escape, at its backslash: a character or half of a surrogate pair. `None` for a line end,
    /// which is left out.
    fn escape(&mut self) -> Result<Option<u32>, Reported> {
        let start = self.scan.position;
        self.scan.next();
        let found = match self.scan.peek() {
            Some('0'..='7') if self.dialect.has_octal => self.octal(),
            Some('x') => self.hexadecimal(2),
            Some('u') => self.hexadecimal(4),
            Some('1'..='9') | None => None,
            Some(c) => {
                self.scan.next();
                if c == '\r' {
                    self.scan.eat("\n");
                }
                if matches!(c, '\r' | '\n') {
                    return Ok(None);
                }
                Some(u32::from(match c {
                    'a' if self.dialect.has_octal => '\x07',
                    'e' if self.dialect.has_octal => '\x1B',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    'b' => '\x08',
                    'f' => '\x0C',
                    'v' => '\x0B',
                    '0' => '\0',
                    _ => c,
                }))
            }
        };
        if found.is_some() {
            return Ok(found);
        }
        let help = "escapes are `\\n`, `\\r`, `\\t`, `\\0`, `\\x41`, `\\u0041`, `\\u{41}`, and signs such as `\\\\`";
        Err(self.builder.error(self.scan.span_from(start), "unknown escape", help))
    }

    /// Returns the code of up to three octal digits.
    fn octal(&mut self) -> Option<u32> {
        let digits = self.scan.rest().bytes().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
        let text = &self.scan.rest()[..digits];
        self.scan.position += digits;
        u32::from_str_radix(text, 8).ok()
    }

    /// Returns the code of an escape with this number of digits, or with any number in braces.
    fn hexadecimal(&mut self, digits: usize) -> Option<u32> {
        self.scan.next();
        let is_braced = self.scan.eat("{");
        let text = self.scan.rest();
        let count = text.bytes().take_while(u8::is_ascii_hexdigit).count();
        let count = if is_braced { count } else { count.min(digits) };
        self.scan.position += count;
        let is_whole = if is_braced { self.scan.eat("}") } else { count == digits };
        u32::from_str_radix(&text[..count], 16).ok().filter(|code| is_whole && *code <= u32::from(char::MAX))
    }
}
