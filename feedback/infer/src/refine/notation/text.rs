//! The text of rules: where a body is, and its parts.

use std::ops::Range;

use gramjet_compiler::ast::{Grammar, Rule};

use super::Notation;

/// Returns the range of the body of a rule in the text: from what defines it to the last mark of its last expression.
pub(super) fn body(text: &str, notation: Notation, grammar: &Grammar, rule: &Rule) -> Option<Range<usize>> {
    let name = rule.name.span;
    let (first, last) = (name.start as usize, name.end as usize);
    if text.get(first..last)? != grammar.told(&rule.name.text) {
        return None;
    }
    let define = match notation {
        Notation::Abnf => "=",
        Notation::Antlr | Notation::Lark => ":",
    };
    let rest = text[last..].trim_start();
    // A priority of Lark stays.
    let rest = match notation {
        Notation::Lark => rest.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit()).trim_start(),
        Notation::Abnf | Notation::Antlr => rest,
    };
    let start = text.len() - rest.strip_prefix(define)?.trim_start().len();
    if notation == Notation::Antlr {
        let end = start + semicolon(&text[start..])?;
        return Some(start..start + text[start..end].trim_end().len());
    }
    let mut end = start;
    rule.body.each(&mut |expr| end = end.max(expr.span.end as usize));
    // Groups and repetitions that end with the last expression, also on lines of their own, and a label of Lark.
    let after = text.get(end..)?;
    let mut closed = 0;
    for (at, c) in after.char_indices() {
        match c {
            ')' | ']' | '?' | '*' | '+' => closed = at + 1,
            _ if c.is_whitespace() && (c == ' ' || after[at..].trim_start().starts_with([')', ']'])) => {}
            _ => break,
        }
    }
    let label =
        after[closed..].trim_start_matches([' ', '\t']).strip_prefix("->").filter(|_| notation == Notation::Lark);
    if let Some(label) = label.map(str::trim_start) {
        let rest = label.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        closed = after.len() - rest.len();
    }
    Some(start..end + closed)
}

/// Returns the place of the first semicolon of ANTLR that ends a rule; `None` if there is an action before it, whose
/// code is not known.
fn semicolon(text: &str) -> Option<usize> {
    let mut found = None;
    scan(text, Notation::Antlr, &mut |at, seen| {
        if let Seen::Character(c @ (';' | '{')) = seen {
            found = found.or(Some((at, c)));
        }
    });
    found.filter(|&(_, c)| c == ';').map(|(at, _)| at)
}

/// Returns how long a comment is that begins on this line, with the blanks before it; 0 without one.
pub(super) fn comment(text: &str, notation: Notation) -> usize {
    let line = text.lines().next().unwrap_or_default();
    let begin = line.trim_start_matches([' ', '\t']);
    let is_comment = notation != Notation::Antlr && has_comment(begin, notation) && begin.starts_with(['/', ';']);
    if is_comment { line.len() } else { 0 }
}

/// Returns true if a text has a comment.
pub(super) fn has_comment(text: &str, notation: Notation) -> bool {
    let mut found = false;
    scan(text, notation, &mut |_, seen| found |= matches!(seen, Seen::Comment));
    found
}

/// Returns a body's text at the bars that are outside of groups, actions, comments and what is quoted.
pub(super) fn split(body: &str, notation: Notation) -> Vec<&str> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0);
    scan(body, notation, &mut |at, seen| match seen {
        Seen::Character('(' | '{' | '[') => depth += 1,
        Seen::Character(')' | '}' | ']') => depth -= 1,
        Seen::Character(c) if c == notation.bar() && depth == 0 => {
            parts.push(&body[from..at]);
            from = at + 1;
        }
        _ => {}
    });
    parts.push(&body[from..]);
    parts
}

/// Parts of a text outside of quotation marks, classes of ANTLR and regular expressions of Lark.
pub(super) enum Seen {
    Character(char),
    Comment,
    /// Prose in angle brackets, as ABNF has it.
    Prose,
}

/// Calls `visit` for each of these, with its place.
pub(super) fn scan(text: &str, notation: Notation, visit: &mut dyn FnMut(usize, Seen)) {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let quoted = |close: char| {
            let mut chars = rest.char_indices().skip(1);
            while let Some((end, c)) = chars.next() {
                match c {
                    '\\' if notation != Notation::Abnf => drop(chars.next()),
                    _ if c == close => return end + c.len_utf8(),
                    _ => {}
                }
            }
            rest.len()
        };
        let comment = match (c, notation) {
            (';', Notation::Abnf) => rest.find('\n'),
            ('/', Notation::Antlr | Notation::Lark) if rest.starts_with("//") => rest.find('\n'),
            ('/', Notation::Antlr) if rest.starts_with("/*") => rest[2..].find("*/").map(|end| end + 4),
            _ => Some(0),
        };
        if comment != Some(0) {
            visit(at, Seen::Comment);
            at += comment.unwrap_or(rest.len());
            continue;
        }
        let skipped = match (c, notation) {
            ('/', Notation::Lark) => quoted('/'),
            ('"', _) => quoted('"'),
            ('\'', Notation::Antlr) => quoted('\''),
            ('[', Notation::Antlr) => quoted(']'),
            ('<', Notation::Abnf) => {
                visit(at, Seen::Prose);
                quoted('>')
            }
            _ => 0,
        };
        if skipped == 0 {
            visit(at, Seen::Character(c));
        }
        at += skipped.max(c.len_utf8());
    }
}
