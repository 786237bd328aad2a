//! The words and signs of C, as far as actions are read.

use crate::ordered::Set;

/// A word, a sign, or a literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Word(&'t str),
    Number(&'t str),
    Text(String),
    Char(String),
    Sign(char),
}

impl Token<'_> {
    /// Returns true if this is the word `word`.
    pub(super) fn is(&self, word: &str) -> bool {
        matches!(self, Token::Word(own) if *own == word)
    }
}

/// Returns the length of an action: to the end of its line, or of the line on which its last brace is closed.
pub(super) fn end_of_action(text: &str) -> usize {
    let mut depth = 0i32;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        match c {
            '\n' if depth <= 0 => return at,
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        at += skipped(&text[at..]).unwrap_or(c.len_utf8());
    }
    at
}

/// Returns the length of the comment or literal that the text begins with, if it does.
fn skipped(text: &str) -> Option<usize> {
    if let Some(inside) = text.strip_prefix("/*") {
        return Some(inside.find("*/").map_or(text.len(), |length| length + 4));
    }
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut characters = text.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => drop(characters.next()),
            // An apostrophe in a comment's text, or a literal that is not closed.
            '\n' => return Some(1),
            _ if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    Some(1)
}

/// Returns the names that `#define` defines.
pub(super) fn defined<'t>(code: &[&'t str]) -> Set<&'t str> {
    let lines = code.iter().flat_map(|code| code.lines());
    let names = lines.filter_map(|line| line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define"));
    names.filter_map(|rest| rest.split(|c: char| !is_word(c)).find(|word| !word.is_empty())).collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the tokens of code without what the preprocessor leaves out, if these names are defined.
pub(super) fn tokens<'t>(code: &'t str, defined: &Set<&str>) -> Vec<Token<'t>> {
    let mut found = Vec::new();
    // For each open condition: whether its part is read, and whether one was.
    let mut conditions: Vec<(bool, bool)> = Vec::new();
    let mut at = 0;
    while let Some(c) = code[at..].chars().next() {
        let rest = &code[at..];
        if c == '#' && code[..at].rsplit('\n').next().is_some_and(|before| before.trim().is_empty()) {
            let length = end_of_directive(rest);
            direct(&rest[1..length], defined, &mut conditions);
            at += length;
            continue;
        }
        let is_read = conditions.iter().all(|&(is_read, _)| is_read);
        let (token, length) = token(rest, c);
        found.extend(token.filter(|_| is_read));
        at += length;
    }
    found
}

/// Returns the length of a line of the preprocessor, which a backslash continues.
fn end_of_directive(text: &str) -> usize {
    let ends = text.match_indices('\n').map(|(at, _)| at);
    ends.into_iter().find(|&at| !text[..at].trim_end_matches('\r').ends_with('\\')).unwrap_or(text.len())
}

/// Follows a line of the preprocessor.
fn direct(line: &str, defined: &Set<&str>, conditions: &mut Vec<(bool, bool)>) {
    let line = line.trim_start();
    let word: &str = &line[..line.find(|c: char| !is_word(c)).unwrap_or(line.len())];
    let holds = || {
        let words = line[word.len()..].split(|c: char| !is_word(c)).filter(|name| !matches!(*name, "" | "defined"));
        words.into_iter().any(|name| defined.contains(name) || name == "1")
    };
    match word {
        "if" | "ifdef" => conditions.push((holds(), holds())),
        "ifndef" => conditions.push((!holds(), !holds())),
        "elif" | "else" => {
            if let Some((is_read, was_read)) = conditions.last_mut() {
                *is_read = !*was_read && (word == "else" || holds());
                *was_read |= *is_read;
            }
        }
        "endif" => drop(conditions.pop()),
        _ => {}
    }
}

/// Returns the token that the text begins with, and its length. Blanks and comments are none.
fn token(text: &str, first: char) -> (Option<Token<'_>>, usize) {
    if let Some(length) = skipped(text) {
        let inside = text.get(1..length.saturating_sub(1));
        let token = match (first, inside) {
            ('"', Some(inside)) => Some(Token::Text(unescaped(inside))),
            ('\'', Some(inside)) => Some(Token::Char(unescaped(inside))),
            _ => None,
        };
        return (token, length);
    }
    if is_word(first) {
        let word = &text[..text.find(|c: char| !is_word(c)).unwrap_or(text.len())];
        let token = if first.is_ascii_digit() { Token::Number(word) } else { Token::Word(word) };
        return (Some(token), word.len());
    }
    (Some(Token::Sign(first)).filter(|_| !first.is_whitespace()), first.len_utf8())
}

/// Returns a literal of C without its escapes.
fn unescaped(inside: &str) -> String {
    let mut text = String::new();
    let mut rest = inside;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c != '\\' {
            text.push(c);
            continue;
        }
        let (character, length) = super::classes::escape(rest);
        text.extend(char::from_u32(character));
        rest = &rest[length..];
    }
    text
}
