//! Arbitrary bytes as HTML: all that a reader could not see is spelled out, and spans are marked.

use std::fmt::Write as _;
use std::ops::Range;

use super::markup::escape;

/// A mark on a part of a text.
pub(super) struct Mark {
    /// The bytes that are marked.
    pub(super) bytes: Range<usize>,
    /// The number of its class, from 0, which decides the colour.
    pub(super) series: usize,
    /// The number that the legend has for it, from 1.
    pub(super) number: usize,
    /// Title that the reader sees who points at it.
    pub(super) title: String,
}

/// Something in a text that is shown as a whole.
struct Token {
    start: usize,
    html: String,
}

/// Returns a text in one line.
pub(super) fn line(text: &str) -> String {
    tokens(text.as_bytes(), false).into_iter().map(|token| token.html).collect()
}

/// Returns a text of which at most a number of bytes are shown, in one line.
pub(super) fn start_of(text: &[u8], bytes: usize) -> String {
    let shown: String = tokens(&text[..text.len().min(bytes)], false).into_iter().map(|token| token.html).collect();
    if text.len() > bytes { format!("{shown}<span class=cut>…</span>") } else { shown }
}

/// Returns a text of several lines. Their ends are line breaks, not shown as characters.
pub(super) fn lines(text: &str) -> String {
    text.lines().map(|line| code(line) + "\n").collect()
}

/// Returns a line of source, in which tabs are spaces.
pub(super) fn code(text: &str) -> String {
    line(&text.replace('\t', "    "))
}

/// Returns a text with its line breaks and marks. The innermost of several marks decides the colour.
pub(super) fn block(text: &[u8], marks: &[Mark]) -> String {
    let mut html = String::new();
    let mut open: Option<&Mark> = None;
    let mut numbered = vec![false; marks.len()];
    for token in tokens(text, true) {
        let over = innermost(marks, token.start);
        if !same(over, open) {
            html.push_str(if open.is_some() { "</mark>" } else { "" });
            if let Some(mark) = over {
                html.push_str(&opening(mark, marks, token.start, &mut numbered));
            }
            open = over;
        }
        html.push_str(&token.html);
    }
    html.push_str(if open.is_some() { "</mark>" } else { "" });
    html
}

/// Returns true if two are the same mark, or both none.
fn same(one: Option<&Mark>, other: Option<&Mark>) -> bool {
    one.map(std::ptr::from_ref) == other.map(std::ptr::from_ref)
}

/// Returns the shortest mark on a byte.
fn innermost(marks: &[Mark], byte: usize) -> Option<&Mark> {
    marks.iter().filter(|mark| mark.bytes.contains(&byte)).min_by_key(|mark| mark.bytes.len())
}

/// Returns the start tag of a mark. The title says what all marks on the byte say; the number is shown once a mark.
fn opening(mark: &Mark, marks: &[Mark], byte: usize, numbered: &mut [bool]) -> String {
    let mut over: Vec<&Mark> = marks.iter().filter(|mark| mark.bytes.contains(&byte)).collect();
    over.sort_by_key(|mark| mark.bytes.len());
    let title = over.iter().map(|mark| mark.title.as_str()).collect::<Vec<_>>().join("\n");
    let mut tag = format!("<mark class=series-{} title=\"{}\"", mark.series, escape(&title));
    if let Some(index) = marks.iter().position(|other| std::ptr::eq(other, mark))
        && !std::mem::replace(&mut numbered[index], true)
    {
        let _ = write!(tag, " data-number={}", mark.number);
    }
    tag + ">"
}

/// Returns the tokens that a text consists of. Line breaks stay if `breaks` is set, after a sign for each.
fn tokens(text: &[u8], breaks: bool) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut start = 0;
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            tokens.push(Token { start, html: shown(character, breaks) });
            start += character.len_utf8();
        }
        for byte in chunk.invalid() {
            tokens.push(Token { start, html: format!("<i class=invalid title=\"not UTF-8\">\\x{byte:02x}</i>") });
            start += 1;
        }
    }
    tokens
}

/// Returns a character, or its escape if it cannot be seen.
fn shown(character: char, breaks: bool) -> String {
    match character {
        '\n' if breaks => "<i>↵</i>\n".to_string(),
        '\n' => "<i>\\n</i>".to_string(),
        '\t' => "<i>\\t</i>".to_string(),
        '\r' => "<i>\\r</i>".to_string(),
        '\0'..='\x7f' if character.is_control() => format!("<i>\\x{:02x}</i>", u32::from(character)),
        _ if is_hidden(character) => format!("<i>\\u{{{:x}}}</i>", u32::from(character)),
        _ => escape(character.encode_utf8(&mut [0; 4])),
    }
}

/// Returns true if a character is not seen, or changes the order in which others are.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || (character.is_whitespace() && character != ' ')
        || matches!(character, '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}')
        || matches!(character, '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}')
        || matches!(character, '\u{E000}'..='\u{F8FF}' | '\u{E0000}'..='\u{10FFFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(bytes: Range<usize>, series: usize) -> Mark {
        Mark { bytes, series, number: series + 1, title: format!("line \"{series}\"") }
    }

    #[test]
    fn what_cannot_be_seen_is_spelled_out() {
        assert_eq!(line("<a href='x'>&\n\0"), "&lt;a href=&#39;x&#39;&gt;&amp;<i>\\n</i><i>\\x00</i>");
        assert_eq!(line("ä\u{202e}\u{a0}\u{7f}\u{85}"), "ä<i>\\u{202e}</i><i>\\u{a0}</i><i>\\x7f</i><i>\\u{85}</i>");
        let invalid = "a<i class=invalid title=\"not UTF-8\">\\xff</i><i>↵</i>\nb";
        assert_eq!(block(b"a\xff\nb", &[]), invalid);
        assert_eq!(start_of(b"abc", 2), "ab<span class=cut>…</span>");
        assert_eq!(start_of(b"abc", 3), "abc");
    }

    #[test]
    fn the_innermost_mark_decides() {
        let html = block(b"abcd", &[mark(0..4, 0), mark(1..3, 1)]);
        let outer = "<mark class=series-0 title=\"line &quot;0&quot;\"";
        let inner = "<mark class=series-1 title=\"line &quot;1&quot;\nline &quot;0&quot;\" data-number=2>bc</mark>";
        assert_eq!(html, format!("{outer} data-number=1>a</mark>{inner}{outer}>d</mark>"));
    }

    #[test]
    fn any_mark_can_be_drawn() {
        assert_eq!(block(b"ab", &[mark(5..9, 0), mark(1..1, 0)]), "ab");
        // A mark that begins within a character begins after it.
        assert!(block("äb".as_bytes(), &[mark(1..3, 0)]).starts_with("ä<mark"));
    }
}
