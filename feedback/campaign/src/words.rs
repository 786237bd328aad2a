//! Texts as people read them.

/// Returns a text on one line of at most `most` characters, with escapes.
pub fn one_line(text: &[u8], most: usize) -> String {
    let shown = match std::str::from_utf8(text) {
        Ok(text) => text.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'"),
        Err(_) => text.escape_ascii().to_string(),
    };
    match shown.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &shown[..end]),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_shown_on_one_line() {
        assert_eq!(one_line(b"a \"b\"\n'c'", 80), "a \"b\"\\n'c'");
        assert_eq!(one_line("äöü".as_bytes(), 2), "äö...");
        assert_eq!(one_line(b"\xFF\0", 80), "\\xff\\x00");
    }
}
