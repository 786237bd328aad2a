//! The words and signs of C, as far as actions are read.

use crate::ordered::Map;

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

/// The end of an action.
pub(super) struct ActionEnd {
    pub(super) length: usize,
    /// The place of a brace that nothing closes.
    pub(super) unclosed: Option<usize>,
}

/// Returns the end of an action: that of its line, or of the line on which its last brace is closed.
pub(super) fn end_of_action(text: &str) -> ActionEnd {
    let mut depth = 0i32;
    let mut open = 0;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        match c {
            '\n' if depth <= 0 => return ActionEnd { length: at, unclosed: None },
            '{' => {
                open = if depth == 0 { at } else { open };
                depth += 1;
            }
            '}' => depth -= 1,
            _ => {}
        }
        at += skipped(&text[at..]).unwrap_or(c.len_utf8());
    }
    ActionEnd { length: at, unclosed: (depth > 0).then_some(open) }
}

/// Returns the length of the comment or literal that the text begins with, if it does. A backslash takes the next
/// character with it everywhere, so a quote that nothing closes has no further quote of its kind on its line.
fn skipped(text: &str) -> Option<usize> {
    if let Some(rest) = text.strip_prefix('\\') {
        return Some(1 + rest.chars().next().filter(|&c| c != '\n').map_or(0, char::len_utf8));
    }
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

/// Returns the macros that `#define` defines, each with what it stands for.
pub(super) fn macros<'t>(code: &[&'t str]) -> Map<&'t str, &'t str> {
    let mut found = Map::new();
    for &code in code {
        let mut at = 0;
        while at < code.len() {
            let line = &code[at..at + end_of_directive(&code[at..])];
            at += line.len() + 1;
            let Some(rest) = line.trim_start().strip_prefix('#') else { continue };
            let Some(rest) = rest.trim_start().strip_prefix("define") else { continue };
            let rest = rest.trim_start_matches(|c| !is_word(c));
            let name = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
            found.entry(name).or_insert(&rest[name.len()..]);
        }
    }
    found
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The parts of code that the preprocessor leaves out.
#[derive(Default)]
struct Conditions {
    /// For each open condition: whether its part is read, and whether one was.
    open: Vec<(bool, bool)>,
    /// The number of open conditions whose part is not read.
    unread: usize,
}

/// Returns the tokens of code without what the preprocessor leaves out, if these macros are defined.
pub(super) fn tokens<'t>(code: &'t str, defined: &Map<&str, &str>) -> Vec<Token<'t>> {
    let mut found = Vec::new();
    let mut conditions = Conditions::default();
    let mut begins_line = true;
    let mut at = 0;
    while let Some(c) = code[at..].chars().next() {
        let rest = &code[at..];
        if c == '#' && begins_line {
            let length = end_of_directive(rest);
            conditions.direct(&rest[1..length], defined);
            at += length;
            continue;
        }
        begins_line = c == '\n' || begins_line && c.is_whitespace();
        let (token, length) = token(rest, c);
        found.extend(token.filter(|_| conditions.unread == 0));
        at += length;
    }
    found
}

/// Returns the length of a line of the preprocessor, which a backslash continues.
fn end_of_directive(text: &str) -> usize {
    let ends = text.match_indices('\n').map(|(at, _)| at);
    ends.into_iter().find(|&at| !text[..at].trim_end_matches('\r').ends_with('\\')).unwrap_or(text.len())
}

impl Conditions {
    /// Follows a line of the preprocessor.
    fn direct(&mut self, line: &str, defined: &Map<&str, &str>) {
        let line = line.trim_start();
        let word: &str = &line[..line.find(|c: char| !is_word(c)).unwrap_or(line.len())];
        let holds = || {
            let words = line[word.len()..].split(|c: char| !is_word(c)).filter(|name| !matches!(*name, "" | "defined"));
            words.into_iter().any(|name| defined.contains_key(name) || name == "1")
        };
        match word {
            "if" | "ifdef" => self.begin(holds()),
            "ifndef" => self.begin(!holds()),
            "elif" | "else" => {
                if let Some((_, was_read)) = self.end() {
                    let is_read = !was_read && (word == "else" || holds());
                    self.begin(is_read);
                    self.open.last_mut().into_iter().for_each(|(_, was)| *was |= was_read);
                }
            }
            "endif" => drop(self.end()),
            _ => {}
        }
    }

    fn begin(&mut self, is_read: bool) {
        self.open.push((is_read, is_read));
        self.unread += usize::from(!is_read);
    }

    fn end(&mut self) -> Option<(bool, bool)> {
        let ended = self.open.pop()?;
        self.unread -= usize::from(!ended.0);
        Some(ended)
    }
}

/// Returns the token that the text begins with, and its length. Blanks and comments are none.
fn token(text: &str, first: char) -> (Option<Token<'_>>, usize) {
    if let Some(length) = skipped(text) {
        let inside = text.get(1..length.saturating_sub(1));
        let token = match (first, inside) {
            ('"', Some(inside)) => Some(Token::Text(unescaped(inside))),
            ('\'', Some(inside)) => Some(Token::Char(unescaped(inside))),
            ('\\', _) => Some(Token::Sign(first)),
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
