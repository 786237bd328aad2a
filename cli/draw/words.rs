//! Texts of a drawing: names, literals and classes as people read them, broken into lines, and escaped.

use gramjet_compiler::ast::Expr;
use gramjet_compiler::charset::{CharSet, Unit};
use unicode_width::UnicodeWidthChar as _;

/// Returns a text for an attribute or an element, with what XML and HTML have a meaning for escaped.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Returns a name in characters that can be seen. Others, such as marks that turn the direction of a text, become
/// escapes.
pub fn name(name: &str) -> String {
    let mut shown = String::new();
    name.chars().for_each(|character| push(character, &mut shown));
    if shown.is_empty() { "\"\"".to_string() } else { shown }
}

/// Appends a character, or its escape if it cannot be seen.
pub fn push(character: char, text: &mut String) {
    match character {
        '"' | '\'' => text.push(character),
        ' ' | '\\' | '\t' | '\r' | '\n' => text.extend(character.escape_default()),
        '\0'..='\x1F' | '\x7F' => text.push_str(&format!("\\x{:02X}", u32::from(character))),
        _ => text.extend(character.escape_debug()),
    }
}

/// Returns a literal in double quotes. Bytes that are not UTF-8 become `\xNN`.
pub fn literal(bytes: &[u8]) -> String {
    let mut shown = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' => shown.push_str("\\\""),
                ' ' => shown.push(' '),
                _ => push(character, &mut shown),
            }
        }
        chunk.invalid().iter().for_each(|byte| shown.push_str(&format!("\\x{byte:02X}")));
    }
    shown + "\""
}

/// The most ranges of a class that are written.
const MOST_RANGES: usize = 300;

/// Returns a class: its ranges with spaces between, or those that it lacks if these are fewer.
pub fn class(set: &CharSet) -> String {
    let lacking = complement(set);
    let reaches_end = set.ranges().last().is_some_and(|&(_, high)| high == set.unit().max());
    if reaches_end && lacking.len() < set.ranges().len() {
        return if lacking.is_empty() { any(set.unit()).to_string() } else { format!("[^ {}]", ranges(set, &lacking)) };
    }
    format!("[{}]", ranges(set, set.ranges()))
}

fn any(unit: Unit) -> &'static str {
    match unit {
        Unit::Byte => "any byte",
        Unit::Char => "any character",
    }
}

/// Returns the ranges that a set lacks. Surrogates are no characters.
fn complement(set: &CharSet) -> Vec<(u32, u32)> {
    let (mut next, mut lacking) = (0, Vec::new());
    for &(low, high) in set.ranges() {
        let is_gap_of_surrogates = set.unit() == Unit::Char && (next, low) == (0xD800, 0xE000);
        if low > next && !is_gap_of_surrogates {
            lacking.push((next, low - 1));
        }
        next = high + 1;
    }
    lacking
}

fn ranges(set: &CharSet, ranges: &[(u32, u32)]) -> String {
    let member = |value| member(set.unit(), value);
    let shown = ranges.iter().take(MOST_RANGES).map(|&(low, high)| match high - low {
        0 => member(low),
        1 => format!("{} {}", member(low), member(high)),
        _ => format!("{}-{}", member(low), member(high)),
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn member(unit: Unit, value: u32) -> String {
    let Some(character) = char::from_u32(value).filter(|_| unit == Unit::Char) else {
        return format!("0x{value:02X}");
    };
    let mut shown = String::new();
    push(character, &mut shown);
    match character {
        ' ' => "' '".to_string(),
        '-' | '^' | '[' | ']' => format!("\\{character}"),
        _ if shown.starts_with("\\u") || shown.starts_with("\\x") => format!("U+{value:04X}"),
        _ => shown,
    }
}

/// Returns the letter of a class of one letter in both cases.
fn either_case(expr: &Expr) -> Option<char> {
    let set = expr.as_class().filter(|set| set.unit() == Unit::Char)?;
    let letters: Vec<u32> = set.ranges().iter().flat_map(|&(low, high)| [low, high]).take(5).collect();
    match letters[..] {
        [upper, same_upper, lower, same_lower] if upper == same_upper && lower == same_lower => {
            char::from_u32(lower).filter(|letter| letter.is_ascii_lowercase() && lower == upper + 32)
        }
        _ => None,
    }
}

/// Returns the literal whose letters may have either case that the sequence begins with, and the number of items that
/// it is made of.
pub fn in_any_case(items: &[&Expr]) -> Option<(String, usize)> {
    let (mut text, mut letters, mut count) = (Vec::new(), 0, 0);
    for item in items {
        match (either_case(item), item.as_bytes()) {
            (Some(letter), _) => {
                text.push(letter as u8);
                letters += 1;
            }
            (None, Some(bytes)) if letters > 0 && !bytes.iter().any(u8::is_ascii_alphabetic) => text.extend(bytes),
            _ => break,
        }
        count += 1;
    }
    (letters > 1).then(|| (format!("{} any case", literal(&text)), count))
}

/// Returns the columns that a character takes.
fn columns_of(character: char) -> usize {
    character.width().unwrap_or(0)
}

/// Returns the columns that a text takes.
pub fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// Text in the lines of a box.
pub struct Lines {
    /// The lines.
    pub lines: Vec<String>,
    /// Whether some of the text is left out.
    pub is_cut: bool,
}

/// Breaks a text into at most `most` lines of at most `width` columns, at spaces where there are some, else between the
/// words of a name.
pub fn broken(text: &str, width: usize, most: usize) -> Lines {
    let (mut lines, mut rest): (Vec<String>, &str) = (Vec::new(), text);
    while !rest.is_empty() {
        if lines.len() == most {
            if let Some(last) = lines.last_mut() {
                *last = format!("{} \u{2026}", fitting(last, width.saturating_sub(2)).trim_end());
            }
            return Lines { lines, is_cut: true };
        }
        let mut line = fitting(rest, width.max(2));
        if line.len() < rest.len() {
            line = &line[..end_of_word(line).unwrap_or(line.len())];
        }
        lines.push(line.to_string());
        rest = &rest[line.len()..];
    }
    Lines { lines, is_cut: false }
}

/// Returns where the last word of a line begins, if that is in its second half: after a space, or else in a name.
fn end_of_word(line: &str) -> Option<usize> {
    let is_late = |at: &usize| at * 2 > line.len();
    let space = line.rfind(' ').map(|at| at + 1).filter(is_late);
    let in_name = || {
        let pairs = line.char_indices().zip(line.chars().skip(1));
        let ends = pairs.filter(|&((_, one), next)| {
            let is_hump = one.is_lowercase() && next.is_uppercase();
            is_hump || matches!(one, '_' | '.') && next.is_alphanumeric()
        });
        ends.map(|((at, one), _)| at + one.len_utf8()).filter(is_late).last()
    };
    space.or_else(in_name)
}

/// Returns the beginning of a text that fits into some columns; at least one character.
pub fn fitting(text: &str, width: usize) -> &str {
    let mut taken = 0;
    for (at, character) in text.char_indices() {
        taken += columns_of(character);
        if taken > width && at > 0 {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ranges: &[(u32, u32)]) -> CharSet {
        CharSet::new(Unit::Char, ranges.iter().copied())
    }

    #[test]
    fn what_cannot_be_seen_is_escaped() {
        assert_eq!(literal(b"a\n\x00\xFF\"\\ <"), "\"a\\n\\x00\\xFF\\\"\\\\ <\"");
        assert_eq!(literal("\u{202E}\u{200B}é→".as_bytes()), "\"\\u{202e}\\u{200b}é→\"");
        assert_eq!(name("a\u{2066}b"), "a\\u{2066}b");
        assert_eq!(escape("<script>\"'&"), "&lt;script&gt;&quot;&#39;&amp;");
    }

    #[test]
    fn classes_are_ranges_or_what_they_lack() {
        assert_eq!(class(&set(&[(97, 122), (48, 57), (95, 95), (32, 32), (45, 45)])), "[' ' \\- 0-9 _ a-z]");
        assert_eq!(class(&set(&[(0, 33), (35, 0x10_FFFF)])), "[^ \"]");
        assert_eq!(class(&set(&[(0, 0x10_FFFF)])), "any character");
        assert_eq!(class(&set(&[(0xA0, 0x24F), (9, 10)])), "[\\t \\n U+00A0-ɏ]");
        assert_eq!(class(&CharSet::new(Unit::Byte, [(0x80, 0xFF)])), "[0x80-0xFF]");
        assert_eq!(class(&CharSet::new(Unit::Byte, [(0, 0xFF)])), "any byte");
        assert_eq!(class(&set(&[(91, 94)])), "[\\[-\\^]");
        assert_eq!(class(&set(&[(0, 0x1F)])), "[U+0000-U+001F]");
        assert_eq!(class(&CharSet::new(Unit::Byte, [(0, 0x64)])), "[0x00-0x64]");
        assert_eq!(class(&set(&[])), "[]");
    }

    #[test]
    fn long_texts_are_broken() {
        let lines = |text, width, most| broken(text, width, most).lines.join("|");
        assert_eq!(lines("abcdef", 4, 3), "abcd|ef");
        assert_eq!(lines("ab cd ef", 6, 3), "ab cd |ef");
        assert_eq!(lines("abcdefgh", 4, 1), "ab \u{2026}");
        assert_eq!(lines("create_index_statement", 20, 3), "create_index_|statement");
        assert_eq!(lines("createIndexStatement", 18, 3), "createIndex|Statement");
        assert_eq!(lines("a_bcdefgh", 6, 3), "a_bcde|fgh");
        assert_eq!(lines("日本語", 4, 3), "日本|語");
    }
}
