//! Edits in other notations than our EBNF: the alternatives of a rule that were edited are written anew, and all else
//! stays.
//!
//! What a notation has beyond the grammar, such as labels, actions and templates, is no part of the grammar. An
//! alternative that has any of it is not written anew. The text is read again, and must be the wanted grammar.

use std::ops::Range;

use gramjet_compiler::ast::{Alternative, Expr, ExprKind, Grammar, Rule};
use gramjet_compiler::charset::{CharSet, Unit};
use gramjet_compiler::diagnostics::Diagnostics;
use gramjet_compiler::print;

use crate::refine::place::{class, seq};
use crate::refine::source::{Level, common, written};

mod text;

use text::{Seen, body, comment, has_comment, scan, split};

/// A notation other than our EBNF in which edits can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// ABNF (RFC 5234).
    Abnf,
    /// ANTLR 4.
    Antlr,
    /// Lark.
    Lark,
}

impl Notation {
    /// Returns the notation with this name of a format.
    pub fn by_name(format: &str) -> Option<Notation> {
        match format {
            "abnf" => Some(Notation::Abnf),
            "g4" => Some(Notation::Antlr),
            "lark" => Some(Notation::Lark),
            _ => None,
        }
    }

    /// Returns what stands between alternatives.
    fn bar(self) -> char {
        match self {
            Notation::Abnf => '/',
            Notation::Antlr | Notation::Lark => '|',
        }
    }

    /// Returns true if the text of an alternative says more than the grammar, such as a label, an action or a comment.
    fn is_more_than_grammar(self, text: &str) -> bool {
        let (mut outside, mut has_more) = (String::new(), false);
        scan(text, self, &mut |_, seen| match seen {
            Seen::Character(c) => outside.push(c),
            Seen::Comment | Seen::Prose => has_more = true,
        });
        let marks: &[&str] = match self {
            Notation::Abnf => &[],
            Notation::Antlr => &["#", "{", "=", "->", "<"],
            Notation::Lark => &["->", "{", ".."],
        };
        has_more || marks.iter().any(|mark| outside.contains(mark))
    }
}

/// Returns the text with the edits that make `old`, which it is, into `new`; `None` if that cannot be written. `read`
/// reads a text of the notation.
pub(crate) fn rewritten(
    text: &str,
    notation: Notation,
    (old, new): (&Grammar, &Grammar),
    read: &dyn Fn(&str) -> Option<Grammar>,
) -> Option<String> {
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for (one, other) in old.rules.iter().zip(&new.rules) {
        if one.body.is_same(&other.body) {
            continue;
        }
        let mut range = body(text, notation, old, one)?;
        // A comment after the last alternative stays with it.
        if is_appended(&one.body, &other.body) {
            range.end += comment(&text[range.end..], notation);
        }
        let with = Writer { notation, grammar: new, rule: other }.body(&text[range.clone()], &one.body)?;
        match edits.iter().find(|(known, _)| *known == range) {
            // Copies of a rule are written at one place.
            Some((_, known)) if *known == with => {}
            Some(_) => return None,
            None => edits.push((range, with)),
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    let (mut result, mut at) = (String::new(), 0);
    for (range, with) in edits {
        result += text.get(at..range.start)?;
        result += &with;
        at = range.end;
    }
    result += &text[at..];
    let back = read(&result)?;
    is_like(&back, old, new).then_some(result)
}

/// Returns true if a grammar is the wanted one. The copies of a rule in which nothing was edited may have changed with
/// it.
fn is_like(back: &Grammar, old: &Grammar, new: &Grammar) -> bool {
    let text = |grammar: &Grammar, expr: &Expr| {
        let mut expr = expr.clone();
        plain(grammar, &mut expr);
        written(&expr)
    };
    let is_edited = |rule: usize| !old.rules[rule].body.is_same(&new.rules[rule].body);
    let has_edited_copy = |rule: usize| {
        let span = old.rules[rule].name.span;
        (0..new.rules.len()).any(|other| old.rules[other].name.span == span && is_edited(other))
    };
    back.rules.len() == new.rules.len()
        && back.rules.iter().zip(&new.rules).enumerate().all(|(number, (one, other))| {
            back.told(&one.name.text) == new.told(&other.name.text)
                && (text(back, &one.body) == text(new, &other.body) || !is_edited(number) && has_edited_copy(number))
        })
}

/// Gives the rules in an expression their names in the text, and joins literals that follow each other.
fn plain(grammar: &Grammar, expr: &mut Expr) {
    match &mut expr.kind {
        ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Derived(_) => {}
        ExprKind::Rule(rule) => *rule = grammar.told(rule).to_string(),
        ExprKind::Seq(items) => {
            let mut joined: Vec<Expr> = Vec::new();
            for mut item in std::mem::take(items) {
                plain(grammar, &mut item);
                let items = if let ExprKind::Seq(items) = item.kind { items } else { vec![item] };
                for item in items {
                    let last = joined.last_mut().map(|last| &mut last.kind);
                    if let (Some(ExprKind::Bytes(last)), ExprKind::Bytes(more)) = (last, &item.kind) {
                        last.extend(more);
                    } else {
                        joined.push(item);
                    }
                }
            }
            *expr = seq(joined);
        }
        ExprKind::Choice(alternatives) => {
            alternatives.iter_mut().for_each(|one| plain(grammar, &mut one.expr));
            let sets = alternatives.iter().filter(|one| one.weight.is_none()).map(|one| members(&one.expr));
            let sets: Option<Vec<CharSet>> = sets.collect();
            // ABNF writes a class as alternatives.
            if let Some(sets) = sets.filter(|sets| sets.len() == alternatives.len()) {
                let ranges = sets.iter().flat_map(|set| set.ranges().iter().copied());
                *expr = class(CharSet::new(sets[0].unit(), ranges));
            }
        }
        ExprKind::Repeat { item, .. }
        | ExprKind::Times { item, .. }
        | ExprKind::Label { item, .. }
        | ExprKind::Naming { item, .. }
        | ExprKind::Coded { item, .. }
        | ExprKind::Call { item, .. } => {
            plain(grammar, item);
        }
    }
}

/// Returns the characters that an expression takes, if it takes one of ASCII, or is a class.
fn members(expr: &Expr) -> Option<CharSet> {
    match &expr.kind {
        ExprKind::Class(set) => Some(set.clone()),
        ExprKind::Bytes(bytes) => match **bytes {
            [byte] if byte.is_ascii() => Some(CharSet::new(Unit::Char, [(u32::from(byte), u32::from(byte))])),
            _ => None,
        },
        ExprKind::Rule(_) | ExprKind::Seq(_) | ExprKind::Choice(_) | ExprKind::Repeat { .. } => None,
        ExprKind::Times { .. }
        | ExprKind::Label { .. }
        | ExprKind::Derived(_)
        | ExprKind::Naming { .. }
        | ExprKind::Coded { .. }
        | ExprKind::Call { .. } => None,
    }
}

/// Returns the alternatives of a body; itself if it is no choice.
fn alternatives_of(body: &Expr) -> Vec<&Expr> {
    let unweighted = body.as_choice().filter(|all| all.iter().all(|one| one.weight.is_none()));
    unweighted.map_or(vec![body], |all| all.iter().map(|one| &one.expr).collect())
}

/// Returns true if the last alternatives are new, after all that were there.
fn is_appended(old: &Expr, new: &Expr) -> bool {
    let (ones, others) = (alternatives_of(old), alternatives_of(new));
    others.len() > ones.len() && ones.iter().zip(&others).all(|(one, other)| one.is_same(other))
}

struct Writer<'g> {
    notation: Notation,
    grammar: &'g Grammar,
    rule: &'g Rule,
}

impl Writer<'_> {
    /// Returns the body of the rule. Alternatives that `old` has keep their text, and those that are new are written on
    /// lines of their own if the others are.
    fn body(&self, before: &str, old: &Expr) -> Option<String> {
        let bar = self.notation.bar();
        let (ones, others) = (alternatives_of(old), alternatives_of(&self.rule.body));
        let parts = split(before, self.notation);
        if parts.len() != ones.len() {
            return if self.notation.is_more_than_grammar(before) {
                None
            } else {
                self.expr(&self.rule.body, Level::Rule)
            };
        }
        let (first, last) = common(ones.len(), others.len(), |one, other| ones[one].is_same(others[other]));
        let (kept, edited) = (ones.len() - last, others.len() - last);
        if parts[first..kept].iter().any(|part| self.notation.is_more_than_grammar(part)) {
            return None;
        }
        let written = others[first..edited].iter().map(|expr| self.expr(expr, Level::Alternative));
        let written = written.collect::<Option<Vec<String>>>()?;
        let labels = self.labels(&parts, first..edited);
        let written = written.iter().zip(&labels).map(|(text, label)| format!("{text}{label}"));
        let kept_first = parts[..first].iter().map(|part| part.trim().to_string());
        let texts = kept_first.chain(written).chain(parts[kept..].iter().map(|part| part.trim().to_string()));
        let blanks = parts.first().filter(|_| parts.len() > 1).map(|part| &part[part.trim_end().len()..]);
        let blanks = blanks.filter(|blanks| blanks.contains('\n'));
        let mut result = String::new();
        for (number, text) in texts.enumerate() {
            if number > 0 {
                // What follows a comment is on a line of its own.
                let last = &result[result.rfind('\n').map_or(0, |line| line + 1)..];
                result += blanks.unwrap_or(if has_comment(last, self.notation) { "\n    " } else { " " });
                result.extend([bar, ' ']);
            }
            result += &text;
        }
        Some(result)
    }

    /// Returns labels for the alternatives that are new. ANTLR wants one for each alternative of a rule, or none.
    fn labels(&self, parts: &[&str], new: Range<usize>) -> Vec<String> {
        let is_labelled = |part: &&str| {
            let mut found = false;
            scan(part, self.notation, &mut |_, seen| found |= matches!(seen, Seen::Character('#')));
            found
        };
        if self.notation != Notation::Antlr || !parts.iter().any(is_labelled) {
            return vec![String::new(); new.len()];
        }
        let rule = self.grammar.told(&self.rule.name.text);
        let is_taken = |label: &str| parts.iter().any(|part| part.contains(label));
        let mut labels = (1..).map(|number| format!("{rule}Alternative{number}")).filter(|label| !is_taken(label));
        new.filter_map(|_| labels.next()).map(|label| format!(" # {label}")).collect()
    }

    fn alternatives(&self, alternatives: &[Alternative], between: &str) -> Option<String> {
        let one = |one: &Alternative| {
            let text = self.expr(&one.expr, Level::Alternative)?;
            one.weight.is_none().then_some(text)
        };
        Some(alternatives.iter().map(one).collect::<Option<Vec<String>>>()?.join(between))
    }

    fn expr(&self, expr: &Expr, level: Level) -> Option<String> {
        let (text, own) = match &expr.kind {
            ExprKind::Bytes(bytes) => (self.literal(bytes)?, Level::Repeated),
            // These notations have no labels.
            ExprKind::Times { .. }
            | ExprKind::Label { .. }
            | ExprKind::Derived(_)
            | ExprKind::Naming { .. }
            | ExprKind::Coded { .. }
            | ExprKind::Call { .. } => {
                return None;
            }
            ExprKind::Class(set) => (self.class(set)?, Level::Repeated),
            ExprKind::Rule(name) => (self.grammar.told(name).to_string(), Level::Repeated),
            ExprKind::Seq(items) if items.is_empty() => (self.nothing(level)?, Level::Repeated),
            ExprKind::Seq(items) => {
                let items = items.iter().map(|item| self.expr(item, Level::Item));
                (items.collect::<Option<Vec<String>>>()?.join(" "), Level::Alternative)
            }
            ExprKind::Choice(alternatives) => {
                (self.alternatives(alternatives, &format!(" {} ", self.notation.bar()))?, Level::Rule)
            }
            ExprKind::Repeat { item, min, max } => return self.repeat(item, *min, *max, level),
        };
        Some(if own < level { format!("({text})") } else { text })
    }

    /// Returns the empty text: no part of an alternative.
    fn nothing(&self, level: Level) -> Option<String> {
        match self.notation {
            Notation::Abnf => Some("\"\"".to_string()),
            Notation::Antlr | Notation::Lark => (level <= Level::Alternative).then(String::new),
        }
    }

    fn repeat(&self, item: &Expr, min: u32, max: Option<u32>, level: Level) -> Option<String> {
        if self.notation == Notation::Abnf {
            if (min, max) == (0, Some(1)) {
                return Some(format!("[ {} ]", self.expr(item, Level::Rule)?));
            }
            let count = match (min, max) {
                (0, None) => "*".to_string(),
                (min, None) => format!("{min}*"),
                (min, Some(max)) if min == max => min.to_string(),
                (min, Some(max)) => format!("{min}*{max}"),
            };
            let text = format!("{count}{}", self.expr(item, Level::Repeated)?);
            return Some(if level == Level::Repeated { format!("({text})") } else { text });
        }
        let inner = self.expr(item, Level::Repeated)?;
        // `a?*` would be read as a lazy repetition, or not at all.
        let inner = if item.as_repeat().is_some() { format!("({inner})") } else { inner };
        match (min, max, self.notation) {
            (0, Some(1), _) => Some(inner + "?"),
            (0, None, _) => Some(inner + "*"),
            (1, None, _) => Some(inner + "+"),
            (min, Some(max), Notation::Lark) if min == max => Some(format!("{inner}~{min}")),
            (min, Some(max), Notation::Lark) => Some(format!("{inner}~{min}..{max}")),
            _ => None,
        }
    }

    fn literal(&self, bytes: &[u8]) -> Option<String> {
        let text = std::str::from_utf8(bytes).ok()?;
        let quoted = |quote: char| {
            let mut result = String::from(quote);
            for c in text.chars() {
                self.character(c, &[quote], &mut result);
            }
            result.push(quote);
            result
        };
        match self.notation {
            Notation::Abnf => self.printed(ExprKind::Bytes(bytes.to_vec())),
            Notation::Antlr => Some(quoted('\'')),
            Notation::Lark => Some(quoted('"')),
        }
    }

    fn class(&self, set: &CharSet) -> Option<String> {
        let is_token = self.rule.name.text.starts_with(|c: char| c.is_uppercase());
        if self.notation == Notation::Abnf {
            // A string takes both cases.
            return match *set.ranges() {
                [(upper, one), (lower, other)] if upper == one && lower == other && lower == upper + 32 => {
                    let letter = char::from_u32(lower).filter(char::is_ascii_lowercase)?;
                    Some(format!("\"{letter}\""))
                }
                _ => self.printed(ExprKind::Class(set.clone())),
            };
        }
        if set.unit() != Unit::Char || self.notation == Notation::Antlr && !is_token {
            return None;
        }
        let mut members = String::new();
        for &(low, high) in set.ranges() {
            let special = ['[', ']', '-', '^', '/'];
            self.character(char::from_u32(low)?, &special, &mut members);
            if high > low {
                members.push('-');
                self.character(char::from_u32(high)?, &special, &mut members);
            }
        }
        Some(match self.notation {
            Notation::Lark => format!("/[{members}]/"),
            Notation::Abnf | Notation::Antlr => format!("[{members}]"),
        })
    }

    /// Writes a character of a literal or a class.
    fn character(&self, c: char, special: &[char], to: &mut String) {
        match c {
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\t' => to.push_str("\\t"),
            '\\' => to.push_str("\\\\"),
            // ANTLR knows no other escapes in a class.
            '[' | '^' | '/' if self.notation == Notation::Antlr => to.push(c),
            _ if special.contains(&c) => to.extend(['\\', c]),
            ' '..='~' => to.push(c),
            _ if (c as u32) < 0x1_0000 => to.push_str(&format!("\\u{:04X}", c as u32)),
            _ if self.notation == Notation::Antlr => to.push_str(&format!("\\u{{{:X}}}", c as u32)),
            _ => to.push_str(&format!("\\U{:08X}", c as u32)),
        }
    }

    /// Returns a leaf as the printer of the notation writes it.
    fn printed(&self, kind: ExprKind) -> Option<String> {
        let mut rule = self.rule.clone();
        rule.name.text = "x".to_string();
        rule.body = Expr { kind, span: rule.body.span };
        let grammar = Grammar { rules: vec![rule], ..Grammar::default() };
        let text = print::by_name("abnf")?.print(&grammar, &mut Diagnostics::default())?;
        let text = text.trim_end().strip_prefix("x = ")?;
        Some(if text.contains(' ') { format!("({text})") } else { text.to_string() })
    }
}

#[cfg(test)]
mod tests;
