//! The source text of an edited grammar: only what was edited changes, by the spans of the expressions, so comments and
//! layout stay.

use std::collections::BTreeMap;
use std::ops::Range;

use gramjet_compiler::ast::{Alternative, Expr, ExprKind, Grammar, Name, Rounds, Rule};
use gramjet_compiler::charset::CharSet;
use gramjet_compiler::diagnostics::{Diagnostics, SourceFile, Span};
use gramjet_compiler::{formats, print};

use crate::refine::place::NEW;

/// Returns an expression in our EBNF.
pub(crate) fn written(expr: &Expr) -> String {
    let rule = Rule::new(Name { text: "x".to_string(), span: NEW }, expr.clone());
    let text = whole(&Grammar { rules: vec![rule], ..Grammar::default() });
    text.trim_end().strip_prefix("x ::= ").unwrap_or_default().to_string()
}

/// Returns a grammar in our EBNF, without comments.
pub(crate) fn whole(grammar: &Grammar) -> String {
    let printer = print::by_name("ebnf").and_then(|printer| printer.print(grammar, &mut Diagnostics::default()));
    printer.unwrap_or_default()
}

/// Returns the text with the edits that make `old`, which it is, into `new`; `None` if the result would not be that.
pub(crate) fn edited(text: &str, old: &Grammar, new: &Grammar) -> Option<String> {
    let mut spans = BTreeMap::new();
    for rule in &old.rules {
        // Outer expressions come first, and stay.
        rule.body.each(&mut |expr| {
            spans.entry(expr.span).or_insert(expr);
        });
    }
    let mut editor = Editor { text, spans, edits: Vec::new() };
    for (old, new) in old.rules.iter().zip(&new.rules) {
        editor.change(&old.body, &new.body, Level::Rule);
    }
    let edited = editor.apply()?;
    reads_back(&edited, new).then_some(edited)
}

/// Returns true if the text is this grammar.
fn reads_back(text: &str, grammar: &Grammar) -> bool {
    let mut diagnostics = Diagnostics::default();
    let Some(format) = formats::by_name("ebnf") else { return false };
    let read = format.parse(&SourceFile::new("grammar", text), &mut diagnostics);
    let mut rules = read.rules.iter().zip(&grammar.rules);
    !diagnostics.has_errors()
        && read.rules.len() == grammar.rules.len()
        && rules.all(|(one, other)| one.name.text == other.name.text && written(&one.body) == written(&other.body))
}

/// Levels at which an expression must bind to stand at a place without parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Rule,
    Alternative,
    Item,
    Repeated,
}

struct Editor<'s> {
    text: &'s str,
    /// The expressions that the text has, by their spans.
    spans: BTreeMap<Span, &'s Expr>,
    /// Ranges and what replaces them.
    edits: Vec<(Range<usize>, String)>,
}

impl Editor<'_> {
    /// Returns the text after all edits; `None` if two of them overlap.
    fn apply(mut self) -> Option<String> {
        self.edits.sort_by_key(|(range, _)| (range.start, range.end));
        let (mut result, mut at) = (String::new(), 0);
        for (range, with) in &self.edits {
            result += self.text.get(at..range.start)?;
            result += with;
            at = range.end;
        }
        result += self.text.get(at..)?;
        Some(result)
    }

    fn replace(&mut self, range: Range<usize>, with: impl Into<String>) {
        self.edits.push((range, with.into()));
    }

    fn change(&mut self, old: &Expr, new: &Expr, level: Level) {
        if old.is_same(new) {
            return;
        }
        if is_opaque(old) || !self.change_parts(old, new) {
            let text = self.render(new, level);
            self.replace(range(old), text);
        }
    }

    /// Changes the parts of an expression; false if they differ too much.
    fn change_parts(&mut self, old: &Expr, new: &Expr) -> bool {
        if let Some(items) = old.as_seq() {
            return match new.as_seq() {
                Some(others) => self.items(items, &others.iter().collect::<Vec<_>>()),
                None => items.len() > 1 && self.items(items, &[new]),
            };
        }
        if let (Some(ones), Some(others)) = (old.as_choice(), new.as_choice()) {
            return self.alternatives(ones, others);
        }
        if let (Some(one), Some(Rounds { item, min, max })) = (old.as_repeat(), new.as_repeat()) {
            self.change(one.item, item, Level::Repeated);
            self.replace(end(one.item)..end(old), operator(min, max));
            return true;
        }
        let (set, other) = (old.as_class(), new.as_class());
        set.zip(other).is_some_and(|(set, other)| self.class(range(old), set, other))
    }

    /// Changes the items of a sequence; false if they differ too much.
    fn items(&mut self, old: &[Expr], new: &[&Expr]) -> bool {
        let (before, after) = common(old.len(), new.len(), |one, other| old[one].is_same(new[other]));
        let (removed, added) = (&old[before..old.len() - after], &new[before..new.len() - after]);
        if removed.len() == added.len() {
            removed.iter().zip(added).for_each(|(one, other)| self.change(one, other, Level::Item));
        } else if removed.is_empty() && !old.is_empty() {
            let texts: Vec<String> = added.iter().map(|item| self.render(item, Level::Item)).collect();
            let text = texts.join(" ");
            match before {
                0 => self.replace(start(&old[0])..start(&old[0]), text + " "),
                _ => self.replace(end(&old[before - 1])..end(&old[before - 1]), format!(" {text}")),
            }
        } else if added.is_empty() && removed.len() < old.len() {
            for item in removed {
                let range = self.with_blanks(range(item));
                self.replace(range, "");
            }
        } else {
            return false;
        }
        true
    }

    /// Returns the range and the blanks before it on its line; those after it at the beginning of a line.
    fn with_blanks(&self, range: Range<usize>) -> Range<usize> {
        let is_blank = |c: char| c == ' ' || c == '\t';
        let before = self.text[..range.start].trim_end_matches(is_blank);
        let is_first = before.is_empty() || before.ends_with(['\n', '(', '|', '=']);
        let rest = &self.text[range.end..];
        let blanks = rest.len() - rest.trim_start_matches(is_blank).len();
        if is_first { range.start..range.end + blanks } else { before.len()..range.end }
    }

    /// Changes alternatives; false if they differ too much.
    fn alternatives(&mut self, old: &[Alternative], new: &[Alternative]) -> bool {
        let alike = |one: &Alternative, other: &Alternative| {
            let weight = |one: &Alternative| one.weight.map(|weight| weight.value.to_bits());
            weight(one) == weight(other) && one.expr.is_same(&other.expr)
        };
        let (before, after) = common(old.len(), new.len(), |one, other| alike(&old[one], &new[other]));
        let (removed, added) = (&old[before..old.len() - after], &new[before..new.len() - after]);
        if removed.len() == added.len() {
            removed.iter().zip(added).for_each(|(one, other)| self.change(&one.expr, &other.expr, Level::Alternative));
        } else if removed.is_empty() && before > 0 {
            let (bar, at) = self.further(old, before);
            let texts = added.iter().map(|one| format!("{bar}{}", self.render(&one.expr, Level::Alternative)));
            let text: String = texts.collect();
            self.replace(at..at, text);
        } else if added.is_empty() && removed.len() < old.len() {
            return (before..before + removed.len()).all(|number| self.remove_alternative(old, number));
        } else {
            return false;
        }
        true
    }

    /// Returns what is written before a further alternative, and where: on a line of its own if the one before has one,
    /// after the comment there.
    fn further(&self, old: &[Alternative], before: usize) -> (String, usize) {
        let at = ends(&old[before - 1]);
        let last = before.checked_sub(2).map(|last| ends(&old[last])..start(&old[last + 1].expr));
        let text = last.and_then(|range| self.text.get(range)).unwrap_or_default();
        let line = text.rfind('\n').map(|line| &text[line..]).filter(|line| line.trim() == "|");
        let Some(line) = line else { return (" | ".to_string(), at) };
        let rest = self.text[at..].split('\n').next().unwrap_or_default();
        let comment = rest.trim();
        let is_comment =
            comment.starts_with("--") || comment.starts_with("/*") && comment.find("*/") == Some(comment.len() - 2);
        (line.to_string(), if is_comment { at + rest.trim_end().len() } else { at })
    }

    /// Removes an alternative with the bar before it, or after it if it is the first one.
    fn remove_alternative(&mut self, old: &[Alternative], number: usize) -> bool {
        let one = &old[number];
        let (own, end) = (start(&one.expr), ends(one));
        let (from, to) = match number {
            0 => (end, old.get(1).map_or(end, |next| start(&next.expr))),
            _ => (ends(&old[number - 1]), own),
        };
        let Some(bar) = self.bar(from..to) else { return false };
        if number == 0 {
            self.replace(own..end, "");
            let blanks = self.text[bar + 1..].len() - self.text[bar + 1..].trim_start_matches([' ', '\t']).len();
            let has_line = self.text[end..bar].contains('\n');
            self.replace(if has_line { bar..bar + 1 } else { bar..bar + 1 + blanks }, "");
            return true;
        }
        // A line that becomes empty goes, too. Comments between the bar and the alternative stay.
        let blanks = self.text[..bar].len() - self.text[..bar].trim_end_matches([' ', '\t']).len();
        let mut first = bar - blanks;
        let is_line =
            self.text[..first].ends_with('\n') && self.text[end..].trim_start_matches([' ', '\t']).starts_with('\n');
        first -= usize::from(is_line);
        if self.text[bar + 1..own].trim().is_empty() {
            self.replace(first..end, "");
        } else {
            self.replace(bar..bar + 1, "");
            self.replace(own..end, "");
        }
        true
    }

    /// Returns the bar in a range that has nothing else but blanks and comments.
    fn bar(&self, range: Range<usize>) -> Option<usize> {
        let mut at = range.start;
        while at < range.end {
            let rest = &self.text[at..range.end];
            if let Some(inner) = rest.strip_prefix("/*") {
                at += inner.find("*/")? + 4;
            } else if rest.starts_with("--") {
                at += rest.find('\n')?;
            } else if rest.starts_with('|') {
                return Some(at);
            } else {
                at += rest.chars().next()?.len_utf8();
            }
        }
        None
    }

    /// Changes a class: members are added to those that are written, if the class is written by its members.
    fn class(&mut self, range: Range<usize>, old: &CharSet, new: &CharSet) -> bool {
        let text = &self.text[range.clone()];
        let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or_default();
        let is_plain = !inside.is_empty() && !inside.starts_with(['-', '^']) && !inside.ends_with('-');
        let is_negated = inside.len() > 1 && inside.starts_with('^') && !inside.ends_with('-');
        if old.unit() != new.unit() || !(is_plain || is_negated) || inside.contains('[') && !inside.contains("\\[") {
            return false;
        }
        let (added, removed) = (new.difference(old), old.difference(new));
        let more = match (is_plain, added.is_empty(), removed.is_empty()) {
            (true, false, true) => added,
            (false, true, false) => removed,
            _ => return false,
        };
        let members = written(&crate::refine::place::class(more));
        // A single member is written as a literal or a code point.
        let Some(members) = members.strip_prefix('[').and_then(|text| text.strip_suffix(']')) else { return false };
        self.replace(range.end - 1..range.end - 1, members);
        true
    }

    /// Returns an expression as text: with the text that it has, where it has one.
    fn render(&self, expr: &Expr, level: Level) -> String {
        if let Some(own) = self.spans.get(&expr.span).filter(|own| own.is_same(expr))
            && let Some(text) = self.text.get(range(own))
        {
            let is_grouped =
                text.starts_with('(') && own.children().next().is_none_or(|child| child.span.start > own.span.start);
            let is_loose = tightness(own) < level && !is_grouped;
            let is_difference = own.as_class().is_some() && !is_primary(text);
            return if is_loose || (is_difference && level == Level::Repeated) {
                format!("({text})")
            } else {
                text.to_string()
            };
        }
        let text = match &expr.kind {
            ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Rule(_) => return written(expr),
            ExprKind::Times { .. }
            | ExprKind::Label { .. }
            | ExprKind::Derived(_)
            | ExprKind::Naming { .. }
            | ExprKind::Coded { .. }
            | ExprKind::Call { .. } => {
                return written(expr);
            }
            ExprKind::Seq(items) if items.is_empty() => return "()".to_string(),
            ExprKind::Seq(items) => {
                items.iter().map(|item| self.render(item, Level::Item)).collect::<Vec<_>>().join(" ")
            }
            ExprKind::Choice(alternatives) => {
                let one = |one: &Alternative| {
                    let weight = one.weight.map_or(String::new(), |weight| format!(" @ {}", weight.value));
                    self.render(&one.expr, Level::Alternative) + &weight
                };
                alternatives.iter().map(one).collect::<Vec<_>>().join(" | ")
            }
            ExprKind::Repeat { item, min, max } => self.render(item, Level::Repeated) + &operator(*min, *max),
        };
        if tightness(expr) < level { format!("({text})") } else { text }
    }
}

/// Returns how tightly an expression binds.
fn tightness(expr: &Expr) -> Level {
    match &expr.kind {
        ExprKind::Choice(_) => Level::Rule,
        ExprKind::Seq(_) => Level::Alternative,
        ExprKind::Label { .. } => Level::Item,
        ExprKind::Times { .. } | ExprKind::Derived(_) | ExprKind::Naming { .. } => Level::Repeated,
        ExprKind::Coded { .. } | ExprKind::Call { .. } => Level::Repeated,
        ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Rule(_) | ExprKind::Repeat { .. } => Level::Repeated,
    }
}

/// Returns true if the text of a class is not a difference, or is one in parentheses.
fn is_primary(text: &str) -> bool {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    match inner {
        Some(inner) => !inner.replace("\\]", "").contains(']'),
        None => !text.contains('-') || is_wrapped(text),
    }
}

/// Returns true if the first parenthesis is closed by the last character.
fn is_wrapped(text: &str) -> bool {
    let mut depth = 0;
    let closes = text.char_indices().find(|&(_, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    });
    closes.is_some_and(|(at, c)| c == ')' && at + 1 == text.len())
}

/// Returns true if an expression is one token of the text, though it has parts.
fn is_opaque(expr: &Expr) -> bool {
    expr.children().any(|child| child.span == expr.span)
}

fn operator(min: u32, max: Option<u32>) -> String {
    match (min, max) {
        (0, Some(1)) => "?".to_string(),
        (0, None) => "*".to_string(),
        (1, None) => "+".to_string(),
        (min, None) => format!("{{{min},}}"),
        (min, Some(max)) if min == max => format!("{{{min}}}"),
        (min, Some(max)) => format!("{{{min},{max}}}"),
    }
}

/// Returns how many elements two lists share at their beginnings, and then at their ends.
pub(crate) fn common(old: usize, new: usize, same: impl Fn(usize, usize) -> bool) -> (usize, usize) {
    let shorter = old.min(new);
    let before = (0..shorter).take_while(|&at| same(at, at)).count();
    let after = (0..shorter - before).take_while(|&at| same(old - 1 - at, new - 1 - at)).count();
    (before, after)
}

fn range(expr: &Expr) -> Range<usize> {
    expr.span.start as usize..expr.span.end as usize
}

fn start(expr: &Expr) -> usize {
    expr.span.start as usize
}

fn end(expr: &Expr) -> usize {
    expr.span.end as usize
}

/// Returns the end of an alternative, with its weight.
fn ends(alternative: &Alternative) -> usize {
    alternative.weight.map_or(alternative.expr.span, |weight| weight.span).end as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refine::place::{ExprPath, literal, repeat};
    use crate::refine::testing::grammar;

    const TEXT: &str = "-- lists\nlist ::= '[' (item (',' item)*)? ']' -- the whole\n\
        item ::= [0-9]+   /* numbers */\n  | list @ 2      -- nested\n  | 'null'\nname ::= [^\"\\\\] | ([a-z] - [x]) /a|b+/\n\
        Char ::= [a-z_]\n";

    /// Returns the text after an expression at a place was changed.
    fn edit(rule: usize, path: &[usize], change: impl Fn(Expr) -> Expr) -> String {
        let old = grammar(TEXT);
        let place = ExprPath { rule, path: path.to_vec() };
        let expr = place.get(&old).expect("a place").clone();
        edited(TEXT, &old, &place.with(&old, change(expr))).expect("a text")
    }

    fn check(rule: usize, path: &[usize], change: impl Fn(Expr) -> Expr, from: &str, to: &str) {
        assert_eq!(TEXT.matches(from).count(), 1, "{from}");
        assert_eq!(edit(rule, path, change), TEXT.replace(from, to));
    }

    fn plus(expr: Expr) -> Expr {
        repeat(expr, 1, None)
    }

    #[test]
    fn only_what_is_edited_changes() {
        check(0, &[1, 0, 0], plus, "(item (", "(item+ (");
        check(0, &[], plus, "'[' (item (',' item)*)? ']'", "('[' (item (',' item)*)? ']')+");
        check(0, &[1], |expr| expr.children().next().expect("a child").clone(), "*)? ']'", "*) ']'");
        check(
            0,
            &[1, 0, 1],
            |expr| match expr.kind {
                ExprKind::Repeat { item, .. } => repeat(*item, 0, Some(2)),
                _ => expr,
            },
            "item)*)",
            "item){0,2})",
        );
        check(2, &[1, 0], plus, "([a-z] - [x])", "([a-z] - [x])+");
    }

    #[test]
    fn items_and_alternatives_are_added_and_removed() {
        let add = |expr: Expr| match expr.kind {
            ExprKind::Choice(mut ones) => {
                ones.push(crate::refine::place::alternative(literal(b"x")));
                Expr { kind: ExprKind::Choice(ones), span: expr.span }
            }
            _ => expr,
        };
        check(1, &[], add, "'null'", "'null'\n  | \"x\"");
        let without = |number: usize| {
            move |expr: Expr| match expr.kind {
                ExprKind::Choice(mut ones) => {
                    ones.remove(number);
                    Expr { kind: ExprKind::Choice(ones), span: expr.span }
                }
                ExprKind::Seq(mut items) => {
                    items.remove(number);
                    crate::refine::place::seq(items)
                }
                _ => expr,
            }
        };
        check(1, &[], without(2), "\n  | 'null'", "");
        check(1, &[], without(1), "  | list @ 2      --", "      --");
        check(1, &[], without(0), "[0-9]+   /* numbers */\n  |", "   /* numbers */\n  ");
        check(0, &[], without(0), "'[' (item", "(item");
        check(0, &[], without(2), "*)? ']'", "*)?");
    }

    #[test]
    fn classes_keep_how_they_are_written() {
        let class = |ranges: &'static [(u32, u32)]| {
            move |expr: Expr| match expr.kind {
                ExprKind::Class(set) => crate::refine::place::class(CharSet::new(
                    set.unit(),
                    set.ranges().iter().copied().chain(ranges.iter().copied()),
                )),
                _ => expr,
            }
        };
        check(3, &[], class(&[(0x41, 0x5A)]), "[a-z_]", "[a-z_A-Z]");
        let narrowed = |expr: Expr| match expr.kind {
            ExprKind::Class(set) => {
                crate::refine::place::class(set.difference(&CharSet::new(set.unit(), [(0x30, 0x39)])))
            }
            _ => expr,
        };
        check(2, &[0], narrowed, "[^\"\\\\]", "[^\"\\\\0-9]");
    }
}
