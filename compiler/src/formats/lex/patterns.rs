//! The regular expressions of lex and flex.

use super::classes::{class, escape, in_both_cases};
use super::file::Text;
use crate::charset::{CharSet, Unit};
use crate::diagnostics::Span;
use crate::formats::builder::{Builder, Reported};
use crate::formats::scanner::number;
use crate::ordered::Map;
use crate::tokens::Pattern;

/// The deepest nesting of parentheses.
const MAX_NESTING: usize = 100;
/// The most repetitions of a repetition that are not written as one.
const MAX_REPEATS: usize = 4;

/// The texts that a rule matches, and where.
pub(super) struct Matched {
    pub(super) pattern: Pattern,
    /// Whether it matches only at the beginning of a line.
    pub(super) at_line_start: bool,
    /// The pattern that must follow it.
    pub(super) trailing: Option<Pattern>,
}

/// Returns the length of the pattern that the text begins with: up to a blank outside of quotes and classes.
pub(super) fn end_of_pattern(text: &str) -> usize {
    let mut at = 0;
    // A class that is not closed has no bracket after it that closes another one.
    let mut has_classes = true;
    while let Some(c) = text[at..].chars().next() {
        at += match c {
            ' ' | '\t' | '\n' | '\r' => return at,
            '\\' => 1 + text[at + 1..].chars().next().filter(|&c| c != '\n').map_or(0, char::len_utf8),
            '"' => quoted(&text[at..]).map_or(1, |inside| inside.len() + 2),
            '[' if has_classes => class(&text[at..]).map_or_else(
                || {
                    has_classes = false;
                    1
                },
                |class| class.length,
            ),
            _ => c.len_utf8(),
        };
    }
    at
}

/// Returns the text within the quotes that `text` begins with. `None` if they are not closed on the line.
fn quoted(text: &str) -> Option<&str> {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Some(&text[1..at]),
            '\\' if characters.next().is_some_and(|(_, c)| c == '\n') => return None,
            '\n' => return None,
            _ => {}
        }
    }
    None
}

/// Facts about the file that its patterns need.
pub(super) struct Context<'c> {
    /// The numbers of the definitions.
    pub(super) definitions: &'c Map<&'c str, usize>,
    pub(super) ignores_case: bool,
}

/// Reads the pattern of a rule, or of a definition.
pub(super) fn rule(text: Text<'_>, context: &Context<'_>, builder: &mut Builder<'_>) -> Result<Matched, Reported> {
    let mut reading = Reading::new(text, context, builder);
    let at_line_start = reading.eat("^");
    let pattern = reading.choice(0)?;
    let trailing = match () {
        () if reading.eat("/") => Some(reading.choice(0)?),
        () if reading.rest() == "$" && reading.eat("$") => Some(Pattern::text("\n")),
        () => None,
    };
    reading.end()?;
    Ok(Matched { pattern, at_line_start, trailing })
}

struct Reading<'r, 'd> {
    text: &'r str,
    at: usize,
    /// The place of the text in the file.
    start: usize,
    context: &'r Context<'r>,
    ignores_case: bool,
    /// Whether `.` matches a line feed.
    dot_is_all: bool,
    builder: &'r mut Builder<'d>,
}

impl<'r, 'd> Reading<'r, 'd> {
    fn new(text: Text<'r>, context: &'r Context<'r>, builder: &'r mut Builder<'d>) -> Reading<'r, 'd> {
        let ignores_case = context.ignores_case;
        Reading { text: text.text, at: 0, start: text.start, context, ignores_case, dot_is_all: false, builder }
    }

    fn rest(&self) -> &'r str {
        &self.text[self.at..]
    }

    fn eat(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text);
        self.at += if is_next { text.len() } else { 0 };
        is_next
    }

    fn span(&self, from: usize) -> Span {
        Span::new(self.start + from, self.start + self.at.max(from + 1).min(self.text.len()))
    }

    fn end(&mut self) -> Result<(), Reported> {
        let Some(next) = self.rest().chars().next() else { return Ok(()) };
        let shown = next.escape_debug();
        let help = "a backslash or quotes make a sign stand for itself";
        Err(self.builder.error(self.span(self.at), format!("unexpected `{shown}` in a pattern"), help))
    }

    fn choice(&mut self, depth: usize) -> Result<Pattern, Reported> {
        let mut options = vec![self.sequence(depth)?];
        while self.eat("|") {
            options.push(self.sequence(depth)?);
        }
        Ok(if options.len() == 1 { options.remove(0) } else { Pattern::Choice(options) })
    }

    fn sequence(&mut self, depth: usize) -> Result<Pattern, Reported> {
        let mut items = Vec::new();
        while let Some(next) = self.rest().chars().next() {
            let is_end = matches!(next, '|' | '/') || next == ')' && depth > 0 || self.rest() == "$";
            if is_end {
                break;
            }
            let item = self.atom(next, depth)?;
            items.push(self.repeated(item)?);
        }
        Ok(if items.len() == 1 { items.remove(0) } else { Pattern::Seq(items) })
    }

    /// Returns a pattern with the repetitions after it.
    fn repeated(&mut self, mut item: Pattern) -> Result<Pattern, Reported> {
        let mut nesting = 0;
        loop {
            let start = self.at;
            if nesting > MAX_REPEATS {
                return Err(self.builder.too_deep(self.span(start)));
            }
            let (min, max) = match self.rest().bytes().next() {
                Some(b'*') => (0, None),
                Some(b'+') => (1, None),
                Some(b'?') => (0, Some(1)),
                Some(b'{') if self.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) => self.counts()?,
                _ => return Ok(item),
            };
            self.at += usize::from(self.at == start);
            self.builder.count(1, self.span(start))?;
            item = match item {
                Pattern::Repeat { item, min: least, max: most, .. } if are_simple([(min, max), (least, most)]) => {
                    let max = max.and(most);
                    Pattern::Repeat { item, min: min * least, max, lazy: false }
                }
                item => {
                    nesting += 1;
                    Pattern::Repeat { item: Box::new(item), min, max, lazy: false }
                }
            };
        }
    }

    /// Reads `{2}`, `{2,}` or `{2,5}`.
    fn counts(&mut self) -> Result<(u32, Option<u32>), Reported> {
        let start = self.at;
        let inside = self.rest().split('}').next().unwrap_or_default();
        self.at += inside.len() + 1;
        let counts = match inside[1..].split_once(',') {
            None => number(&inside[1..]).map(|count| (count, Some(count))),
            Some((min, "")) => number(min).map(|min| (min, None)),
            Some((min, max)) => number(min).zip(number(max)).map(|(min, max)| (min, Some(max))),
        };
        let is_whole = self.at <= self.text.len();
        self.at = self.at.min(self.text.len());
        let counts = counts.filter(|&(min, max)| is_whole && max.is_none_or(|max| min <= max));
        let help = "write `{2}`, `{2,}` or `{2,5}`";
        counts.ok_or_else(|| self.builder.error(self.span(start), "this is no number of times", help))
    }

    fn atom(&mut self, next: char, depth: usize) -> Result<Pattern, Reported> {
        let start = self.at;
        self.builder.count(1, self.span(start))?;
        match next {
            '(' => self.group(depth),
            '[' => self.classes(),
            '"' => {
                let Some(inside) = quoted(self.rest()) else {
                    return Err(self.builder.error(self.span(start), "this text is not closed", "close it with `\"`"));
                };
                self.at += inside.len() + 2;
                let text = characters(inside);
                self.builder.count(text.len(), self.span(start))?;
                let items: Vec<Pattern> =
                    text.into_iter().map(|(c, is_escaped)| self.character(c, is_escaped, start)).collect();
                Ok(if items.len() == 1 { items.into_iter().next().unwrap_or(NOTHING) } else { Pattern::Seq(items) })
            }
            '{' => self.definition(),
            '.' => {
                self.at += 1;
                let line_feed = CharSet::single(Unit::Char, 0x0A);
                let set = if self.dot_is_all { everything() } else { everything().difference(&line_feed) };
                Ok(Pattern::Set { set, listed: false })
            }
            '\\' => {
                let (character, length) = escape(&self.rest()[1..]);
                self.at += 1 + length;
                Ok(self.character(character, true, start))
            }
            '*' | '+' | '?' | ')' => Err(self.end().err().unwrap_or(Reported)),
            _ => {
                self.at += next.len_utf8();
                Ok(self.character(next.into(), false, start))
            }
        }
    }

    /// Returns a character of a text. Escapes may stand for bytes that are no characters.
    fn character(&mut self, character: u32, is_escaped: bool, start: usize) -> Pattern {
        if is_escaped && character > 0x7F {
            self.leave_out_bytes(start);
            return NOTHING;
        }
        let set = CharSet::single(Unit::Char, character);
        let set = if self.ignores_case { in_both_cases(&set) } else { set };
        Pattern::Set { set, listed: true }
    }

    fn leave_out_bytes(&mut self, start: usize) {
        let help = "they are parts of characters, which are read as wholes";
        self.builder.approximate(self.span(start), "bytes beyond ASCII in a pattern are left out", help);
    }

    /// Reads classes that are joined by `{+}` and `{-}`.
    fn classes(&mut self) -> Result<Pattern, Reported> {
        let (mut set, mut listed) = self.class()?;
        loop {
            let is_union = self.eat("{+}");
            if !is_union && !self.eat("{-}") {
                return Ok(Pattern::Set { set, listed });
            }
            let start = self.at;
            let (other, is_listed) = self.class()?;
            self.builder.count(set.ranges().len() / 16, self.span(start))?;
            set = if is_union { set.union(&other) } else { set.difference(&other) };
            listed &= is_listed || !is_union;
        }
    }

    /// Returns the set of a class, and whether it lists its members.
    fn class(&mut self) -> Result<(CharSet, bool), Reported> {
        let start = self.at;
        let Some(class) = self.rest().strip_prefix('[').and_then(|_| class(self.rest())) else {
            return Err(self.builder.error(self.span(start), "this class is not closed", "close it with `]`"));
        };
        self.at += class.length;
        let set = if self.ignores_case { in_both_cases(&class.set) } else { class.set };
        if class.is_negated {
            return Ok((everything().difference(&set), false));
        }
        let ascii = set.intersection(&CharSet::new(Unit::Char, [(0, 0x7F)]));
        if ascii.len() < set.len() {
            self.leave_out_bytes(start);
        }
        Ok((ascii, true))
    }

    /// Reads `{NAME}`.
    fn definition(&mut self) -> Result<Pattern, Reported> {
        let start = self.at;
        let name = self.rest()[1..].split('}').next().unwrap_or_default();
        self.at = (self.at + name.len() + 2).min(self.text.len());
        if let Some(&number) = self.context.definitions.get(name) {
            return Ok(Pattern::Fragment(number));
        }
        let shown: String = name.chars().take(40).collect::<String>().escape_debug().to_string();
        let message = format!("`{shown}` is not defined");
        Err(self.builder.error(self.span(start), message, "a definition is a line `NAME pattern` before `%%`"))
    }

    /// Reads a group, which may have flags as in `(?i:abc)`.
    fn group(&mut self, depth: usize) -> Result<Pattern, Reported> {
        let start = self.at;
        self.at += 1;
        if depth == MAX_NESTING {
            return Err(self.builder.too_deep(self.span(start)));
        }
        let (ignores_case, dot_is_all) = (self.ignores_case, self.dot_is_all);
        if self.eat("?#") {
            self.at += self.rest().find(')').map_or(self.rest().len(), |length| length + 1);
            return Ok(Pattern::Seq(Vec::new()));
        }
        if self.eat("?") {
            self.flags(start)?;
        }
        let pattern = self.choice(depth + 1)?;
        (self.ignores_case, self.dot_is_all) = (ignores_case, dot_is_all);
        if !self.eat(")") {
            return Err(self.builder.not_closed(self.span(start), self.span(self.at)));
        }
        Ok(pattern)
    }

    /// Reads flags up to their colon.
    fn flags(&mut self, start: usize) -> Result<(), Reported> {
        let flags = self.rest().split(':').next().unwrap_or_default();
        let mut holds = true;
        for flag in flags.chars() {
            match flag {
                '-' => holds = false,
                'i' => self.ignores_case = holds,
                's' => self.dot_is_all = holds,
                _ => {
                    let help = "the flags are `i` and `s`, as in `(?i:text)`";
                    return Err(self.builder.error(self.span(start), "this flag is not read", help));
                }
            }
        }
        self.at = (self.at + flags.len() + 1).min(self.text.len());
        Ok(())
    }
}

/// Returns true if all are those of `*`, `+` or `?`.
fn are_simple(counts: [(u32, Option<u32>); 2]) -> bool {
    counts.iter().all(|&(min, max)| min < 2 && max.is_none_or(|max| max == 1))
}

/// A pattern that matches no text.
const NOTHING: Pattern = Pattern::Choice(Vec::new());

fn everything() -> CharSet {
    CharSet::new(Unit::Char, [(0, 0x10_FFFF)])
}

/// Returns the characters of a text in quotes, each with whether an escape stands for it.
fn characters(inside: &str) -> Vec<(u32, bool)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = inside[at..].chars().next() {
        at += c.len_utf8();
        if c == '\\' {
            let (character, length) = escape(&inside[at..]);
            at += length;
            found.push((character, true));
        } else {
            found.push((c.into(), false));
        }
    }
    found
}
