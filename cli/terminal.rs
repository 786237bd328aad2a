//! Texts on their way to a terminal. What came from a program, an input, a name of a file, a grammar or the environment
//! may have control characters, which could move the cursor, change colours or titles, or hide lines.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, IsTerminal, Write};

/// Returns a text in which a terminal sees nothing but characters, line breaks and tabs: control characters and those
/// that change the direction of writing are escaped, such as `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_hidden(character) {
            visible.extend(character.escape_unicode());
        } else {
            visible.push(character);
        }
    }
    Cow::Owned(visible)
}

/// Returns true for characters that a terminal takes for commands, or that change how others are shown.
pub fn is_hidden(character: char) -> bool {
    let is_direction =
        matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() && character != '\n' && character != '\t' || is_direction
}

/// Returns a text as [`visible`] does, but each hidden character becomes one of as many bytes, so that places in the
/// text stay.
pub fn visible_in_place(text: &str) -> String {
    // The renderer of excerpts shows the control characters of ASCII.
    let of_one_length = |character: char| match character {
        character if character.is_ascii() || !is_hidden(character) => character,
        character if character.len_utf8() == 2 => '·',
        _ => '\u{fffd}',
    };
    text.chars().map(of_one_length).collect()
}

/// Returns JSON in which hidden characters are escaped, as JSON allows.
pub fn visible_json(value: &serde_json::Value) -> String {
    let mut visible = String::new();
    for character in value.to_string().chars() {
        if is_hidden(character) {
            visible += &format!("\\u{:04x}", u32::from(character));
        } else {
            visible.push(character);
        }
    }
    visible
}

/// Writes a line to standard error, all that is hidden escaped. A failure to do so is ignored, as there is no other
/// place to report it.
pub fn say(line: fmt::Arguments<'_>) {
    let line = format!("{line}\n");
    let _ = std::io::stderr().write_all(visible(&line).as_bytes());
}

/// Writes bytes of a program as they are, or escaped if they go to a terminal.
pub fn pass_on(to: &mut (impl Write + IsTerminal), bytes: &[u8]) -> io::Result<()> {
    match to.is_terminal() {
        true => to.write_all(visible(&String::from_utf8_lossy(bytes)).as_bytes()),
        false => to.write_all(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_stays_json() {
        let value = serde_json::json!({ "a": "\u{9b}2J\u{202e}\u{1b}" });
        let visible = visible_json(&value);
        assert_eq!(visible, "{\"a\":\"\\u009b2J\\u202e\\u001b\"}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&visible).expect("JSON"), value);
    }

    #[test]
    fn places_stay() {
        let text = "a\u{9b}b\u{202e}c\u{61c}";
        assert_eq!(visible_in_place(text), "a·b\u{fffd}c·");
        assert_eq!(visible_in_place(text).len(), text.len());
    }

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        assert_eq!(visible("a\tb\nä…"), "a\tb\nä…");
        assert_eq!(
            visible("\u{1b}[31m\r\u{7}\u{9b}2J\u{202e}\u{7f}"),
            "\\u{1b}[31m\\u{d}\\u{7}\\u{9b}2J\\u{202e}\\u{7f}"
        );
    }
}
