//! ANTLR 4: the grammar as a single token, so that the lexer cannot cut the text differently. Lexer rules may refer to
//! each other in cycles, but must not begin with themselves.

use super::beginnings::{left_recursive, nullable_rules};
use super::{HELP_FOR_WEIGHTS, Names, Printer, has_weights, refuse, relaxed, report_directives, start_first};
use crate::ast::{Expr, ExprKind, Grammar};
use crate::charset::{CharSet, Unit};
use crate::diagnostics::Diagnostics;
use crate::formats::MAX_EXPRESSIONS;

/// The `g4` notation.
pub(super) struct G4;

impl Printer for G4 {
    fn name(&self) -> &'static str {
        "g4"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["g4"]
    }

    fn print(&self, grammar: &Grammar, diagnostics: &mut Diagnostics) -> Option<String> {
        report_directives(grammar, "ANTLR", diagnostics);
        let grammar = &relaxed(grammar, "ANTLR", diagnostics);
        let mut names = Names::new(grammar, allowed, str::to_string, &["EOF"]);
        let rules = start_first(grammar);
        let start = rules.first()?;
        let nullable = nullable_rules(&rules);
        let token = names.get(&start.name.text).to_string();
        let mut writer = Writer {
            names: &mut names,
            sound: true,
            text: String::new(),
            groups: 0,
            inner: Vec::new(),
            aside: 0,
            diagnostics,
        };
        for name in left_recursive(&rules, &nullable) {
            writer.sound = false;
            let help = "write the recursion with `*`, or let the rule begin with something else";
            let message = format!("rule `{}` begins with itself, which a token of ANTLR cannot", name.name.text);
            refuse(name.name.span, message, help, writer.diagnostics);
        }
        let optional = if nullable.get(start.name.text.as_str()) == Some(&true) { "?" } else { "" };
        writer.text = format!("grammar Converted;\n\nstart : {token}{optional} EOF ;\n\n");
        for (number, rule) in rules.iter().enumerate() {
            writer.text += if number == 0 { "" } else { "fragment " };
            writer.text += writer.names.get(&rule.name.text);
            writer.text += " : ";
            writer.expr(&rule.body, Place::Rule);
            writer.text += " ;\n";
        }
        for (name, body) in std::mem::take(&mut writer.inner) {
            writer.text += &format!("fragment {name} : {body} ;\n");
        }
        writer.sound.then_some(writer.text)
    }
}

/// Returns the name of a lexer rule: a capital letter, then letters, digits and `_`.
fn allowed(name: &str) -> String {
    let mut new = String::new();
    for character in name.chars() {
        match character {
            c if new.is_empty() && c.is_ascii_alphabetic() => new.push(c.to_ascii_uppercase()),
            c if c.is_ascii_alphanumeric() => new.extend(new.is_empty().then_some('R').into_iter().chain([c])),
            _ if new.is_empty() => new += "R_",
            _ => new.push('_'),
        }
    }
    if new.is_empty() { "R".to_string() } else { new }
}

/// The place of an expression. An expression that binds looser than its place needs parentheses.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Place {
    Rule,
    Alternative,
    Item,
}

/// The most rounds of a bounded repetition that are written out.
const MAX_ROUNDS: u32 = 1000;
/// The greatest length of the text with repetitions written out, in bytes. Our reader takes at most this many elements,
/// and each has more than one byte.
const MAX_TEXT: usize = MAX_EXPRESSIONS;
/// If a repetition has more optional rounds, these stand one after the other instead of nested.
const NESTED_ROUNDS: usize = 4;
/// Readers limit the nesting of blocks. Expressions nested deeper become rules of their own.
const MOST_GROUPS: usize = 40;

struct Writer<'n, 'd> {
    names: &'n mut Names,
    sound: bool,
    text: String,
    /// The number of open groups.
    groups: usize,
    /// Rules for expressions that are nested too deep.
    inner: Vec<(String, String)>,
    /// The number of bytes outside `text`: in those rules, and in the texts that they interrupt.
    aside: usize,
    diagnostics: &'d mut Diagnostics,
}

impl Writer<'_, '_> {
    fn refuse(&mut self, expr: &Expr, message: &str, help: &str) {
        self.sound = false;
        refuse(expr.span, message, help, self.diagnostics);
    }

    fn expr(&mut self, expr: &Expr, place: Place) {
        match &expr.kind {
            ExprKind::Bytes(bytes) if bytes.is_empty() => self.text += "()",
            ExprKind::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => {
                    self.text.push('\'');
                    text.chars().for_each(|c| self.character(c, "'"));
                    self.text.push('\'');
                }
                Err(_) => self.refuse(
                    expr,
                    "ANTLR cannot say these bytes",
                    "its characters are code points; convert to the EBNF",
                ),
            },
            ExprKind::Class(set) => self.class(set, expr),
            ExprKind::Rule(name) => self.text += self.names.get(name),
            // The grammar is without these.
            ExprKind::Times { .. } | ExprKind::Derived(_) => {}
            ExprKind::Label { item, .. }
            | ExprKind::Naming { item, .. }
            | ExprKind::Coded { item, .. }
            | ExprKind::Call { item, .. } => self.expr(item, place),
            ExprKind::Seq(items) if items.is_empty() => self.text += "()",
            ExprKind::Seq(items) if items.len() == 1 => self.expr(&items[0], place),
            ExprKind::Seq(items) => self.grouped(place > Place::Alternative, |writer| {
                for (number, item) in items.iter().enumerate() {
                    writer.text += if number == 0 { "" } else { " " };
                    writer.expr(item, Place::Item);
                }
            }),
            ExprKind::Choice(alternatives) => {
                if has_weights(expr) {
                    self.refuse(expr, "ANTLR has no weights", HELP_FOR_WEIGHTS);
                }
                if let [alternative] = &**alternatives {
                    return self.expr(&alternative.expr, place);
                }
                self.grouped(place > Place::Rule, |writer| {
                    for (number, alternative) in alternatives.iter().enumerate() {
                        writer.text += if number == 0 { "" } else { " | " };
                        writer.expr(&alternative.expr, Place::Alternative);
                    }
                });
            }
            ExprKind::Repeat { item, min, max } => self.repeat(item, *min, *max, expr, place),
        }
    }

    fn repeat(&mut self, item: &Expr, min: u32, max: Option<u32>, expr: &Expr, place: Place) {
        let sign = match (min, max) {
            (0, Some(1)) => "?",
            (0, None) => "*",
            (1, None) => "+",
            (0, Some(0)) => {
                self.text += "()";
                return;
            }
            _ => return self.rounds(item, min, max, expr, place),
        };
        // A repetition of a repetition becomes one of the same kind, or an unbounded one.
        let inner = item.as_repeat();
        if let Some(inner) = inner.filter(|inner| matches!((inner.min, inner.max), (0, Some(1)) | (0 | 1, None))) {
            let both = if (inner.min, inner.max) == (min, max) { (min, max) } else { (0, None) };
            return self.repeat(inner.item, both.0, both.1, expr, place);
        }
        let nested = inner.is_some();
        self.grouped(nested, |writer| writer.expr(item, if nested { Place::Rule } else { Place::Item }));
        self.text += sign;
    }

    /// Writes out a counted repetition. Errors in its item are reported once.
    fn rounds(&mut self, item: &Expr, min: u32, max: Option<u32>, expr: &Expr, place: Place) {
        let begin = self.text.len();
        self.groups += NESTED_ROUNDS + 1;
        self.expr(item, Place::Item);
        self.groups -= NESTED_ROUNDS + 1;
        let round = self.text.split_off(begin);
        let count = max.unwrap_or(min) as usize;
        let is_large = count > MAX_ROUNDS as usize || self.aside + begin + (round.len() + 4) * count > MAX_TEXT;
        if min > MAX_ROUNDS || is_large {
            let help = "ANTLR has no counted repetitions; make the bounds smaller";
            return self.refuse(expr, "written out, this repetition is too large", help);
        }
        self.grouped(place > Place::Alternative, |writer| {
            let mut rounds = vec![round.as_str(); min as usize].join(" ");
            match max {
                None if item.as_repeat().is_some() => rounds += &format!(" ({round})*"),
                None => rounds += &format!(" {round}*"),
                Some(max) => {
                    let more = (max - min) as usize;
                    rounds += if min > 0 && more > 0 { " " } else { "" };
                    // Nested rounds have only one parse for each number of rounds. But readers limit the nesting.
                    if more <= NESTED_ROUNDS {
                        rounds += &(vec![format!("({round}"); more].join(" ") + &")?".repeat(more))
                    } else {
                        rounds += &vec![format!("({round})?"); more].join(" ")
                    }
                }
            }
            writer.text += &rounds;
        });
    }

    fn grouped(&mut self, grouped: bool, write: impl FnOnce(&mut Self)) {
        if !grouped {
            return write(self);
        }
        if self.groups >= MOST_GROUPS {
            let (outer, groups) = (std::mem::take(&mut self.text), std::mem::take(&mut self.groups));
            self.aside += outer.len();
            write(self);
            self.aside += self.text.len();
            self.aside -= outer.len();
            let body = std::mem::replace(&mut self.text, outer);
            self.groups = groups;
            let name = self.names.fresh("Inner_");
            self.text += &name;
            self.inner.push((name, body));
            return;
        }
        self.groups += 1;
        self.text.push('(');
        write(self);
        self.text.push(')');
        self.groups -= 1;
    }

    fn character(&mut self, character: char, special: &str) {
        match character {
            '\\' => self.text += "\\\\",
            '\n' => self.text += "\\n",
            '\r' => self.text += "\\r",
            '\t' => self.text += "\\t",
            c if special.contains(c) => self.text.extend(['\\', c]),
            c if c.is_ascii_graphic() || c == ' ' => self.text.push(c),
            c if u32::from(c) <= 0xFFFF => self.text += &format!("\\u{:04X}", u32::from(c)),
            c => self.text += &format!("\\u{{{:X}}}", u32::from(c)),
        }
    }

    fn class(&mut self, set: &CharSet, expr: &Expr) {
        let is_ascii = set.ranges().last().is_none_or(|&(_, high)| high <= 0x7F);
        if set.unit() == Unit::Byte && !is_ascii {
            return self.refuse(
                expr,
                "ANTLR cannot say these bytes",
                "its characters are code points; convert to the EBNF",
            );
        }
        self.text.push('[');
        for &(low, high) in set.ranges() {
            for (number, end) in [low, high].into_iter().enumerate().take(if low == high { 1 } else { 2 }) {
                self.text += if number == 1 && high > low + 1 { "-" } else { "" };
                self.character(char::from_u32(end).unwrap_or('\u{FFFD}'), "]-");
            }
        }
        self.text.push(']');
    }
}
