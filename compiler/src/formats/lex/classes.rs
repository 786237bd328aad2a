//! Classes of lex, such as `[a-z_]` and `[[:alpha:]]`, and the escapes of C.

use crate::charset::{CharSet, Unit};

/// Returns the character that an escape stands for, given the text after the backslash, and the length of that text. At
/// the end of the text it is the backslash itself.
pub(super) fn escape(text: &str) -> (u32, usize) {
    let Some(first) = text.chars().next() else { return ('\\'.into(), 0) };
    let number = |digits: &str, radix| u32::from_str_radix(digits, radix).unwrap_or(0) & 0xFF;
    let digits = |text: &str, most, radix| {
        text.chars().take(most).take_while(|c| c.is_digit(radix)).map(char::len_utf8).sum::<usize>()
    };
    match first {
        '0'..='7' => {
            let length = digits(text, 3, 8);
            (number(&text[..length], 8), length)
        }
        'x' | 'X' if digits(&text[1..], 2, 16) > 0 => {
            let length = digits(&text[1..], 2, 16);
            (number(&text[1..1 + length], 16), 1 + length)
        }
        'n' => (0x0A, 1),
        't' => (0x09, 1),
        'r' => (0x0D, 1),
        'f' => (0x0C, 1),
        'v' => (0x0B, 1),
        'b' => (0x08, 1),
        'a' => (0x07, 1),
        _ => (first.into(), first.len_utf8()),
    }
}

/// Returns the members of a POSIX class, such as `alpha`.
fn posix(name: &str) -> Option<&'static [(u32, u32)]> {
    Some(match name {
        "alnum" => &[(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)],
        "alpha" => &[(0x41, 0x5A), (0x61, 0x7A)],
        "blank" => &[(0x09, 0x09), (0x20, 0x20)],
        "cntrl" => &[(0x00, 0x1F), (0x7F, 0x7F)],
        "digit" => &[(0x30, 0x39)],
        "graph" => &[(0x21, 0x7E)],
        "lower" => &[(0x61, 0x7A)],
        "print" => &[(0x20, 0x7E)],
        "punct" => &[(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)],
        "space" => &[(0x09, 0x0D), (0x20, 0x20)],
        "upper" => &[(0x41, 0x5A)],
        "xdigit" => &[(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)],
        _ => return None,
    })
}

/// A class in brackets.
pub(super) struct Class {
    /// The characters between the brackets.
    pub(super) set: CharSet,
    /// Whether the class matches the other characters.
    pub(super) is_negated: bool,
    pub(super) length: usize,
}

/// Reads the class that the text begins with. `None` if it is not closed.
pub(super) fn class(text: &str) -> Option<Class> {
    let mut at = 1;
    let is_negated = text[at..].starts_with('^');
    at += usize::from(is_negated);
    let first = at;
    let mut ranges = Vec::new();
    while at == first || !text[at..].starts_with(']') {
        if let Some((named, length)) = named(&text[at..]) {
            ranges.extend(named.ranges());
            at += length;
            continue;
        }
        let (low, length) = member(&text[at..])?;
        at += length;
        let is_range = text[at..].starts_with('-') && !text[at + 1..].starts_with(']');
        let (high, length) = if is_range { member(&text[at + 1..])? } else { (low, 0) };
        at += length + usize::from(is_range);
        ranges.push((low, high));
    }
    Some(Class { set: CharSet::new(Unit::Char, ranges), is_negated, length: at + 1 })
}

/// Returns a character of a class, and its length in the text. `None` at the end of the line.
fn member(text: &str) -> Option<(u32, usize)> {
    match text.chars().next()? {
        '\n' => None,
        '\\' if text[1..].starts_with('\n') => None,
        '\\' => {
            let (character, length) = escape(&text[1..]);
            Some((character, 1 + length))
        }
        c => Some((c.into(), c.len_utf8())),
    }
}

/// Returns the members of `[:alpha:]` or `[:^alpha:]`, if the text begins so, and its length.
fn named(text: &str) -> Option<(CharSet, usize)> {
    const LONGEST: usize = "[:^xdigit".len();
    let end = text.bytes().take(LONGEST).skip(2).take_while(|c| *c == b'^' || c.is_ascii_alphabetic()).count() + 2;
    let name = text.get(..end)?.strip_prefix("[:").filter(|_| text[end..].starts_with(":]"))?;
    let bare = name.strip_prefix('^').unwrap_or(name);
    let set = CharSet::new(Unit::Char, posix(bare)?.iter().copied());
    let set = if bare == name { set } else { CharSet::new(Unit::Char, [(0, 0x7F)]).difference(&set) };
    Some((set, name.len() + 4))
}

/// Returns a set with the letters of ASCII in both cases.
pub(super) fn in_both_cases(set: &CharSet) -> CharSet {
    let letters = CharSet::new(Unit::Char, [(0x41, 0x5A), (0x61, 0x7A)]);
    let other = set.intersection(&letters).iter().map(|c| (c ^ 0x20, c ^ 0x20)).collect::<Vec<_>>();
    CharSet::new(Unit::Char, set.ranges().iter().copied().chain(other))
}
