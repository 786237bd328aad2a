//! Tokens from examples: which other digits, words and texts in quotation marks stand where one does.

use std::collections::BTreeSet;

/// Asks whether a token can stand in the places of another.
pub(crate) type Fits<'a> = dyn FnMut(&[u8]) -> bool + 'a;

/// The expression for numbers; none if no other number fits.
pub(crate) fn digits(fits: &mut Fits<'_>) -> Option<(&'static str, &'static str)> {
    let all = |fits: &mut Fits<'_>, texts: &[&str]| texts.iter().all(|text| fits(text.as_bytes()));
    if !all(fits, &["7", "3", "1"]) {
        return None;
    }
    let is_long = all(fits, &["42", "1789", "50361"]);
    Some(match (is_long, all(fits, &["0"]), all(fits, &["007", "00"])) {
        (true, true, true) => ("digits", "[0-9]+"),
        (true, true, false) => ("number", "'0' | [1-9] [0-9]*"),
        (true, false, _) => ("number", "[1-9] [0-9]*"),
        (false, true, _) => ("digit", "[0-9]"),
        (false, false, _) => ("digit", "[1-9]"),
    })
}

/// The expression for words; none if only some are known.
pub(crate) fn word(fits: &mut Fits<'_>) -> Option<String> {
    if !(fits(b"q") && fits(b"z")) {
        return None;
    }
    let mut first = String::from("a-z");
    if fits(b"Q") && fits(b"Z") {
        first.insert_str(0, "A-Z");
    }
    if !(fits(b"zq") && fits(b"qzjkv")) {
        return Some(format!("[{first}]"));
    }
    let mut rest = first.clone();
    if fits(b"_q") {
        first.push('_');
    }
    if fits(b"q7") && fits(b"zq42j") {
        rest.insert_str(0, "0-9");
    }
    if fits(b"q_") {
        rest.push('_');
    }
    Some(if first == rest { format!("[{first}]+") } else { format!("[{first}] [{rest}]*") })
}

/// The expression for texts in quotation marks; none if only some are known.
pub(crate) fn quoted(quote: u8, fits: &mut Fits<'_>) -> Option<String> {
    let mut holds = |content: &[u8]| fits(&[&[quote], content, &[quote]].concat());
    if !(holds(b"q") && holds(b"zq") && holds(b"qzjkv")) {
        return None;
    }
    let others = (0x20..0x7F_u8).filter(|&byte| byte != quote && byte != b'\\').collect::<Vec<u8>>();
    let mut plain: BTreeSet<u8> = if holds(&others) {
        others.into_iter().collect()
    } else {
        others.into_iter().filter(|&byte| holds(&[b'q', byte, b'q'])).collect()
    };
    plain.extend([b'\t', b'\n'].into_iter().filter(|&byte| holds(&[b'q', byte, b'q'])));
    // A backslash that stands for itself can stand before any character.
    let is_literal = holds(b"\\") || holds(b"\\ \\%");
    if is_literal {
        plain.insert(b'\\');
    }
    let mut parts = vec![class(&plain, ["é", "漢", "😀"].iter().all(|text| holds(text.as_bytes())))];
    if !is_literal {
        let escapes: BTreeSet<u8> = (0x21..0x7F_u8).filter(|&byte| holds(&[b'\\', byte])).collect();
        if !escapes.is_empty() {
            parts.push(format!("'\\\\' {}", class(&escapes, false)));
        }
        for (letter, len) in [(b'u', 4), (b'x', 2)] {
            let number = |digit: u8| [&[b'\\', letter][..], &vec![digit; len]].concat();
            if !escapes.contains(&letter) && holds(&number(b'3')) {
                let hexadecimal = if holds(&number(b'b')) { "[0-9A-Fa-f]" } else { "[0-9]" };
                parts.push(format!("'\\\\{}' {hexadecimal}{{{len}}}", letter as char));
            }
        }
    }
    let own = literal(&[quote]);
    if holds(&[b'q', quote, quote, b'q']) && !holds(&[b'q', quote, b'q']) {
        parts.push(literal(&[quote, quote]));
    }
    let rounds = if holds(b"") { '*' } else { '+' };
    let is_one = parts.len() == 1;
    let content = parts.join(" | ");
    Some(if is_one { format!("{own} {content}{rounds} {own}") } else { format!("{own} ({content}){rounds} {own}") })
}

/// A class of characters.
pub(crate) fn class(members: &BTreeSet<u8>, has_others: bool) -> String {
    let mut text = String::from("[");
    let mut left = members.iter().copied().peekable();
    while let Some(low) = left.next() {
        let mut high = low;
        while left.peek() == Some(&(high + 1)) {
            high += 1;
            left.next();
        }
        text.push_str(&member(low));
        if high > low {
            text.push_str(if high > low + 1 { "-" } else { "" });
            text.push_str(&member(high));
        }
    }
    text.push_str(if has_others { "\\u{80}-\\u{D7FF}\\u{E000}-\\u{10FFFF}]" } else { "]" });
    text
}

fn member(byte: u8) -> String {
    match byte {
        b'\n' => "\\n".to_string(),
        b'\t' => "\\t".to_string(),
        b'\r' => "\\r".to_string(),
        b'[' | b']' | b'-' | b'^' | b'\\' => format!("\\{}", byte as char),
        b'#' => "\\x23".to_string(),
        _ => (byte as char).to_string(),
    }
}

/// A literal.
pub(crate) fn literal(text: &[u8]) -> String {
    let Ok(shown) = std::str::from_utf8(text) else {
        return text.iter().map(|byte| format!("#b{byte:02X}")).collect::<Vec<_>>().join(" ");
    };
    let quote = if shown.contains('\'') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for character in shown.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if character == quote => out.extend(['\\', quote]),
            _ if character.is_control() => out.push_str(&format!("\\u{{{:X}}}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out.push(quote);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_not_begin_with_a_zero() {
        let mut fits = |text: &[u8]| text == b"0" || text[0] != b'0';
        assert_eq!(digits(&mut fits), Some(("number", "'0' | [1-9] [0-9]*")));
        assert_eq!(digits(&mut |text: &[u8]| text == b"12"), None);
    }

    #[test]
    fn words_have_the_characters_that_fit() {
        let mut fits = |text: &[u8]| !text[0].is_ascii_digit() && text.iter().all(u8::is_ascii_alphanumeric);
        assert_eq!(word(&mut fits).as_deref(), Some("[A-Za-z] [0-9A-Za-z]*"));
        assert_eq!(word(&mut |text: &[u8]| text == b"true"), None);
    }

    #[test]
    fn strings_have_the_escapes_that_fit() {
        let mut fits = |text: &[u8]| match &text[1..text.len() - 1] {
            [b'\\', escaped] => b"n\\".contains(escaped),
            inner => !inner.contains(&b'\\') && !inner.contains(&b'"') && !inner.contains(&b'\n'),
        };
        let found = quoted(b'"', &mut fits).unwrap();
        assert!(found.contains("| '\\\\' [\\\\n])* '\"'"), "{found}");
    }
}
