//! Finds the rules of ABNF among the lines of an RFC, by their shape: a name, an equals sign, and lines that are
//! indented deeper.

use super::rows::{Kind, Row};
use crate::formats::abnf::parser;

/// Lines that look like a rule.
pub(super) struct Block {
    /// The number of the first line, from 0.
    pub(super) first: usize,
    /// The number of the line after the last. Equal to `first` if the lines are no rule that can be read.
    pub(super) end: usize,
}

/// Returns the lines that look like rules, in order.
pub(super) fn blocks(rows: &[Row<'_>]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut next = 0;
    while next < rows.len() {
        let first = next;
        next += 1;
        if !begins(rows, first) {
            continue;
        }
        let is_after_rule = blocks.last().is_some_and(|block| block.end == first && block.end > block.first);
        let end = if is_after_rule || !is_in_prose(rows, first) { end(rows, first) } else { None };
        let end = end.filter(|&end| !is_weak(rows, first, end));
        next = end.unwrap_or(next);
        blocks.push(Block { first, end: end.unwrap_or(first) });
    }
    blocks
}

/// Returns true if a rule may begin in this line: a name, then an equals sign, perhaps on the next line.
fn begins(rows: &[Row<'_>], number: usize) -> bool {
    let row = &rows[number];
    if row.kind != Kind::Text {
        return false;
    }
    let Some(after) = after_name(row.words()) else { return false };
    if !after.is_empty() {
        return defines(after);
    }
    let next = rows.get(number + 1).filter(|next| next.kind == Kind::Text && next.indent > row.indent);
    next.is_some_and(|next| defines(next.words()))
}

/// Returns the name of the rule that begins in a line, in lower case.
pub(super) fn name(row: &Row<'_>) -> String {
    let words = row.words();
    let after = after_name(words).map_or(0, str::len);
    words[..words.len() - after].trim_matches(['<', '>']).to_ascii_lowercase()
}

/// Returns the rest of a line after the name at its beginning.
fn after_name(words: &str) -> Option<&str> {
    if let Some(inside) = words.strip_prefix('<') {
        let (name, after) = inside.split_once('>')?;
        return after_name(name).is_some_and(str::is_empty).then_some(after);
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    words.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| words.trim_start_matches(is_part))
}

/// Returns true if an equals sign follows a name, with a blank on one of its sides or a sign of ABNF after it.
/// `charset=utf-8` in an example has none.
fn defines(after: &str) -> bool {
    let sign = after.trim_start();
    let Some(body) = sign.strip_prefix("=/").or_else(|| sign.strip_prefix('=')) else { return false };
    let has_blank = sign.len() < after.len() || body.starts_with(char::is_whitespace);
    (has_blank || has_own_sign(body)) && !body.starts_with(['=', '>', '<', '~'])
}

/// Returns true if the right side of a rule has a sign that neither examples nor addresses have.
fn has_own_sign(body: &str) -> bool {
    let is_number = |at: usize| {
        let mut rest = body[at + 1..].chars();
        rest.next().is_some_and(|c| matches!(c, 'x' | 'd' | 'b')) && rest.next().is_some_and(|c| c.is_ascii_hexdigit())
    };
    [" / ", "*(", "1*"].iter().any(|sign| body.contains(sign)) || body.match_indices('%').any(|(at, _)| is_number(at))
}

/// Returns true if the line goes on with a paragraph: it is as deep as the text directly above it.
fn is_in_prose(rows: &[Row<'_>], number: usize) -> bool {
    let above = number.checked_sub(1).map(|above| &rows[above]);
    above.is_some_and(|above| {
        above.kind == Kind::Text && above.indent == rows[number].indent && !begins(rows, number - 1)
    })
}

/// Returns true if a rule has no sign of ABNF, and a paragraph or code follows at its depth.
fn is_weak(rows: &[Row<'_>], first: usize, end: usize) -> bool {
    let below = rows.get(end).filter(|row| row.kind == Kind::Text && row.indent >= rows[first].indent);
    below.is_some() && !begins(rows, end) && !has_sign(&rows[first..end])
}

/// Returns true if lines have a sign of ABNF that hardly anything else has.
pub(super) fn is_surely_abnf(rows: &[Row<'_>]) -> bool {
    let has = |text: &str| text.contains(['"', '%']) || [" / ", "1*", "*("].iter().any(|sign| text.contains(sign));
    rows.iter().any(|row| has(row.text))
}

/// Returns true if lines have a sign that words of prose do not have.
fn has_sign(rows: &[Row<'_>]) -> bool {
    rows.iter().any(|row| row.text.contains(['"', '%', '/', '*', '[', '(', '<', '#']))
}

/// Returns the number of the line after a rule. `None` if the lines are no rule.
fn end(rows: &[Row<'_>], first: usize) -> Option<usize> {
    let mut open = Open::default();
    if !open.line(rows[first].words()) {
        return None;
    }
    let (mut end, mut before_gap, mut has_gap) = (first + 1, None, false);
    // The column at which the last line of elements begins, and whether a page has ended after it.
    let (mut column, mut has_page_end) = (column_of_body(&rows[first]), false);
    let mut has_signs = has_sign(&rows[first..end]);
    for (number, row) in rows.iter().enumerate().skip(first + 1) {
        match row.kind {
            Kind::Blank | Kind::Furniture => {
                has_gap = true;
                has_page_end |= row.kind == Kind::Furniture;
            }
            Kind::Comment => {}
            Kind::Text => {
                let words = row.words();
                // Some texts do not indent the lines that go on with a rule.
                // A line of several words may be prose.
                let is_word = !words.contains(char::is_whitespace);
                let goes_on = open.goes_on(words) || is_word || has_sign(std::slice::from_ref(row));
                let is_level = row.indent == rows[first].indent && !has_gap && has_signs && goes_on;
                let is_next_page = std::mem::take(&mut has_page_end) && column == Some(row.indent);
                let is_deeper = row.indent > rows[first].indent && (!has_gap || is_next_page || open.goes_on(words));
                if !(is_level || is_deeper) || begins(rows, number) || !open.line(words) {
                    break;
                }
                if std::mem::take(&mut has_gap) || is_level {
                    before_gap.get_or_insert(end);
                }
                end = number + 1;
                column = Some(row.indent);
                has_signs |= has_sign(&rows[number..end]);
            }
        }
    }
    let is_rule = |end: &usize| parser::is_rule(&text_of(&rows[first..*end]));
    Some(end).filter(is_rule).or_else(|| before_gap.filter(is_rule))
}

/// Returns the column of the first element after the equals sign of a rule. `None` if the line ends there.
fn column_of_body(row: &Row<'_>) -> Option<usize> {
    let (before, body) = row.words().split_once('=')?;
    let elements = body.trim_start_matches('/').trim_start();
    let skipped = before.len() + 1 + body.len() - elements.len();
    (!elements.is_empty()).then_some(row.indent + skipped)
}

/// Returns the text of a rule, without what stands between pages.
fn text_of(rows: &[Row<'_>]) -> String {
    let is_own = |row: &&Row<'_>| matches!(row.kind, Kind::Text | Kind::Comment);
    rows.iter().filter(is_own).flat_map(|row| [row.text, "\n"]).collect()
}

/// The parts of a rule that are open at the end of a line.
#[derive(Default)]
struct Open {
    brackets: u32,
    is_in_prose: bool,
    /// Whether an element has to follow.
    is_unfinished: bool,
}

impl Open {
    /// Returns true if a rule that is open here goes on with `words` after blank lines or on the next page.
    fn goes_on(&self, words: &str) -> bool {
        self.brackets > 0 || self.is_in_prose || self.is_unfinished || words.starts_with('/')
    }

    /// Reads a line. Returns false if it cannot be a part of a rule.
    fn line(&mut self, words: &str) -> bool {
        if !self.is_in_prose && self.brackets == 0 && !self.is_unfinished && is_sentence(words) {
            return false;
        }
        let mut rest = words.chars();
        while let Some(c) = rest.next() {
            if self.is_in_prose {
                self.is_in_prose = c != '>';
                continue;
            }
            match c {
                ';' => return true,
                '"' => {
                    if !rest.any(|c| c == '"') {
                        return false;
                    }
                    self.is_unfinished = false;
                }
                '(' | '[' => self.brackets += 1,
                ')' | ']' => self.brackets = self.brackets.saturating_sub(1),
                '<' => self.is_in_prose = true,
                '/' | '=' => self.is_unfinished = true,
                _ if c.is_whitespace() => continue,
                '%' | '*' | '#' | '.' | '-' | '_' => {}
                _ if c.is_ascii_alphanumeric() => {}
                _ => return false,
            }
            if !matches!(c, '/' | '=') {
                self.is_unfinished = false;
            }
        }
        true
    }
}

/// Returns true if a line has several words and no sign of ABNF.
fn is_sentence(words: &str) -> bool {
    const MOST_NAMES: usize = 3;
    let code = words.split(';').next().unwrap_or(words);
    let is_word = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase());
    !code.contains(['"', '%', '/', '*', '[', '(', '<', '#', '=', ')', ']', '>'])
        && code.split_whitespace().filter(|word| is_word(word)).count() > MOST_NAMES
}
