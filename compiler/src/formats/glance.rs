//! Quick checks that tell formats apart: a text's lines without comments, the names that it defines, the keys of its
//! objects. Comments and strings don't count.

/// The number of lines that are checked.
const MAX_LINES: usize = 1 << 16;

/// Returns the first lines of a text, trimmed. Lines within comments and lines that begin with a comment mark are left
/// out.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    // The mark that closes the current comment.
    let mut open: Option<&str> = None;
    text.trim_start_matches('\u{FEFF}').lines().take(MAX_LINES).filter_map(move |line| {
        let mut line = line.trim();
        if let Some(close) = open {
            let (_, behind) = line.split_once(close)?;
            open = None;
            line = behind.trim_start();
        }
        while let Some(close) = closing(line) {
            let inside = &line[close.len().min(2)..];
            match inside.split_once(close) {
                Some((_, behind)) => line = behind.trim_start(),
                None => {
                    open = Some(close);
                    return None;
                }
            }
        }
        // A semicolon by itself ends a rule.
        let is_comment = ["//", "#", ";", "--"].iter().any(|mark| line.starts_with(mark)) && line != ";";
        if is_comment {
            return None;
        }
        // A comment may also begin later in the line.
        if let Some(at) = comment(line) {
            open = Some("*/");
            line = line[..at].trim_end();
        }
        Some(line)
    })
}

/// Returns the mark that closes the comment at the beginning of a line.
fn closing(line: &str) -> Option<&'static str> {
    const MARKS: [(&str, &str); 5] =
        [("/*", "*/"), ("(*", "*)"), ("<!--", "-->"), ("\"\"\"", "\"\"\""), ("'''", "'''")];
    MARKS.iter().find_map(|(begin, close)| line.starts_with(begin).then_some(*close))
}

/// Returns the position of a `/*` in a line, outside quotes, if the line does not close it.
fn comment(line: &str) -> Option<usize> {
    if !line.contains("/*") {
        return None;
    }
    let is_mark = |byte: &u8| matches!(byte, b'"' | b'\'' | b'/');
    let mut at = 0;
    while let Some(length) = line.as_bytes()[at..].iter().position(is_mark) {
        let rest = &line[at + length..];
        let quote = &rest[..1];
        at += length + 1;
        if quote != "/" {
            // An apostrophe without a partner is not a quote.
            at += rest[1..].find(quote).map_or(0, |length| length + 1);
        } else if let Some(inside) = rest.strip_prefix("/*") {
            match inside.find("*/") {
                Some(length) => at += length + 3,
                None => return Some(at - 1),
            }
        }
    }
    None
}

/// Returns true if a line begins with a name and `mark` follows, perhaps on the next line. The name may be in angle
/// brackets, and a number in brackets may stand before it.
pub(super) fn defines(text: &str, mark: &str) -> bool {
    let mut is_name_before = false;
    lines(text).any(|line| {
        if line.is_empty() {
            return false;
        }
        if std::mem::take(&mut is_name_before) && line.starts_with(mark) {
            return true;
        }
        let Some(behind) = behind_name(line) else { return false };
        is_name_before = behind.is_empty();
        behind.starts_with(mark)
    })
}

/// Returns true if the text is one word.
pub(super) fn is_word(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(|c: char| c == '_' || c.is_alphabetic()) && text.chars().all(|c| c == '_' || c.is_alphanumeric())
}

/// Returns the rest of a line after the name at its beginning.
fn behind_name(line: &str) -> Option<&str> {
    // The productions in specifications are numbered.
    let numbered = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let line = numbered
        .filter(|(number, _)| !number.is_empty() && number.chars().all(|c| c.is_ascii_alphanumeric()))
        .map_or(line, |(_, rest)| rest.trim_start());
    if let Some(rest) = line.strip_prefix('<') {
        let (name, behind) = rest.split_once('>')?;
        return (!name.is_empty() && !name.contains(['<', '"', '\''])).then(|| behind.trim_start());
    }
    if !line.starts_with(|c: char| c == '_' || c.is_alphabetic()) {
        return None;
    }
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    Some(line.trim_start_matches(is_part).trim_start())
}

/// Returns true if an object of JSON has the key `key`.
pub(super) fn has_key(text: &str, key: &str) -> bool {
    let quoted = format!("\"{key}\"");
    text.match_indices(&quoted).take(1000).any(|(at, _)| text[at + quoted.len()..].trim_start().starts_with(':'))
}

/// Returns the keys of the object of JSON that the text is, as they are written, each with the text behind its colon.
/// `None` if it is no object. Keys behind a mistake are not found.
pub(super) fn outer_keys(text: &str) -> Option<Vec<(&str, &str)>> {
    const MAX_KEYS: usize = 1000;
    let inside = text.trim_start_matches('\u{FEFF}').trim_start().strip_prefix('{')?;
    let (mut keys, mut depth, mut last, mut open) = (Vec::new(), 0u32, "", None);
    let bytes = inside.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match (open, byte) {
            (Some(_), b'\\') => at += 1,
            (Some(start), b'"') => {
                last = inside.get(start..at).unwrap_or("");
                open = None;
            }
            (Some(_), _) => {}
            (None, b'"') => open = Some(at + 1),
            (None, b':') if depth == 0 => keys.push((last, inside.get(at + 1..).unwrap_or("").trim_start())),
            (None, b'{' | b'[') => depth += 1,
            (None, b'}' | b']') if depth == 0 => break,
            (None, b'}' | b']') => depth -= 1,
            _ => {}
        }
        if keys.len() >= MAX_KEYS {
            break;
        }
        at += 1;
    }
    Some(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_define_nothing() {
        let texts = [
            "/* a ::= b */ c = 'x';",
            "/* text\na ::= b\n*/\nc = d",
            "c = d /* and\na ::= b */",
            "# a ::= b",
            "// a ::= b\n; a ::= b\n-- a ::= b",
            "(* a ::= b *)",
            "c = \"a ::= b\"",
            "\"a ::= b\" c",
            "\"\"\"\na ::= b\n\"\"\"\nc",
            "a b ::= c",
        ];
        for text in texts {
            assert!(!defines(text, "::="), "{text}");
        }
    }

    #[test]
    fn names_are_defined() {
        for text in
            ["a ::= b", "  <a b>::=c", "/* x */ a::=b", "a\n  ::= b", "[12] a ::= b", "x '/*'\na ::= b", "é-b.c ::= d"]
        {
            assert!(defines(text, "::="), "{text}");
        }
    }

    #[test]
    fn keys_are_no_values() {
        assert!(has_key("{\"pda\" : {}}", "pda"));
        assert!(!has_key("[\"pda\"]", "pda"));
    }
}
