//! ABNF (RFC 5234, RFC 7405). Numbers are bytes. If one is larger than a byte, all of them are characters.

use super::{HELP_FOR_WEIGHTS, Names, Printer, has_weights, refuse, relaxed, report_directives, start_first};
use crate::ast::{Expr, ExprKind, Grammar};
use crate::charset::{CharSet, Unit};
use crate::diagnostics::Diagnostics;

/// The `abnf` notation.
pub(super) struct Abnf;

/// The core rules. Other rules must not have their names.
const CORE: &[&str] = &[
    "ALPHA", "BIT", "CHAR", "CR", "CRLF", "CTL", "DIGIT", "DQUOTE", "HEXDIG", "HTAB", "LF", "LWSP", "OCTET", "SP",
    "VCHAR", "WSP",
];

impl Printer for Abnf {
    fn name(&self) -> &'static str {
        "abnf"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["abnf"]
    }

    fn print(&self, grammar: &Grammar, diagnostics: &mut Diagnostics) -> Option<String> {
        report_directives(grammar, "ABNF", diagnostics);
        let grammar = &relaxed(grammar, "ABNF", diagnostics);
        // If the grammar itself defines a core rule, the rule keeps its name: its definition is printed too.
        let defined: Vec<&str> = grammar.rules.iter().map(|rule| rule.name.text.as_str()).collect();
        let reserved: Vec<&str> = CORE.iter().copied().filter(|core| !defined.contains(core)).collect();
        let names = Names::new(grammar, allowed, str::to_ascii_lowercase, &reserved);
        let wide = grammar.rules.iter().any(|rule| has_wide_class(&rule.body));
        let unit = if wide { Unit::Char } else { Unit::Byte };
        let mut writer = Writer { names: &names, unit, sound: true, text: String::new(), diagnostics };
        for rule in start_first(grammar) {
            writer.text += names.get(&rule.name.text);
            writer.text += " = ";
            writer.expr(&rule.body, Place::Rule);
            writer.text.push('\n');
        }
        writer.sound.then_some(writer.text)
    }
}

/// Returns the name with `-` in place of characters that ABNF does not allow.
fn allowed(name: &str) -> String {
    let mut new: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    if !new.starts_with(|c: char| c.is_ascii_alphabetic()) {
        new.insert_str(0, "r-");
    }
    new
}

/// Returns true if there is a class with characters beyond U+00FF, which needs numbers for characters.
fn has_wide_class(expr: &Expr) -> bool {
    let is_wide = |set: &CharSet| set.unit() == Unit::Char && set.ranges().last().is_some_and(|&(_, high)| high > 0xFF);
    expr.as_class().is_some_and(is_wide) || expr.children().any(has_wide_class)
}

/// The place of an expression. An expression that binds looser than its place needs parentheses.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Place {
    Rule,
    Alternative,
    Item,
}

struct Writer<'n, 'd> {
    names: &'n Names,
    unit: Unit,
    sound: bool,
    text: String,
    diagnostics: &'d mut Diagnostics,
}

impl Writer<'_, '_> {
    fn expr(&mut self, expr: &Expr, place: Place) {
        match &expr.kind {
            ExprKind::Bytes(bytes) => self.bytes(bytes, expr, place),
            ExprKind::Class(set) => self.class(set, expr, place),
            ExprKind::Rule(name) => self.text += self.names.get(name),
            // The grammar is without these.
            ExprKind::Times { .. } | ExprKind::Derived(_) => {}
            ExprKind::Label { item, .. }
            | ExprKind::Naming { item, .. }
            | ExprKind::Coded { item, .. }
            | ExprKind::Call { item, .. } => self.expr(item, place),
            ExprKind::Seq(items) if items.is_empty() => self.text += "\"\"",
            // A single item would be read back without the sequence.
            ExprKind::Seq(items) if items.len() == 1 => self.expr(&items[0], place),
            ExprKind::Seq(items) => self.grouped(place > Place::Alternative, |writer| {
                for (number, item) in items.iter().enumerate() {
                    writer.text += if number == 0 { "" } else { " " };
                    writer.expr(item, Place::Item);
                }
            }),
            ExprKind::Choice(alternatives) => {
                if has_weights(expr) {
                    self.sound = false;
                    refuse(expr.span, "ABNF has no weights", HELP_FOR_WEIGHTS, self.diagnostics);
                }
                if let [alternative] = &**alternatives {
                    return self.expr(&alternative.expr, place);
                }
                self.grouped(place > Place::Rule, |writer| {
                    for (number, alternative) in alternatives.iter().enumerate() {
                        writer.text += if number == 0 { "" } else { " / " };
                        writer.expr(&alternative.expr, Place::Alternative);
                    }
                });
            }
            ExprKind::Repeat { item, min: 0, max: Some(1) } => {
                self.text.push('[');
                self.expr(item, Place::Rule);
                self.text.push(']');
            }
            ExprKind::Repeat { item, min, max } => {
                self.text += &match (min, max) {
                    (0, None) => "*".to_string(),
                    (min, None) => format!("{min}*"),
                    (min, Some(max)) if min == max => min.to_string(),
                    (min, Some(max)) => format!("{min}*{max}"),
                };
                // A repetition of a repetition is written with a group.
                let nested = item.as_repeat().is_some_and(|inner| (inner.min, inner.max) != (0, Some(1)));
                self.grouped(nested, |writer| writer.expr(item, if nested { Place::Rule } else { Place::Item }));
            }
        }
    }

    fn grouped(&mut self, grouped: bool, write: impl FnOnce(&mut Self)) {
        self.text += if grouped { "(" } else { "" };
        write(self);
        self.text += if grouped { ")" } else { "" };
    }

    /// Writes printable text as strings, other bytes or characters as numbers.
    fn bytes(&mut self, bytes: &[u8], expr: &Expr, place: Place) {
        let values: Vec<u32> = match (self.unit, std::str::from_utf8(bytes)) {
            (Unit::Char, Ok(text)) => text.chars().map(u32::from).collect(),
            (Unit::Char, Err(_)) => {
                self.mixed(expr);
                return;
            }
            (Unit::Byte, _) => bytes.iter().copied().map(u32::from).collect(),
        };
        let is_plain = |value: &u32| (0x20..0x7F).contains(value) && *value != 0x22;
        let runs: Vec<&[u32]> = values.chunk_by(|a, b| is_plain(a) == is_plain(b)).collect();
        if runs.is_empty() {
            self.text += "\"\"";
            return;
        }
        self.grouped(runs.len() > 1 && place > Place::Alternative, |writer| {
            for (number, run) in runs.iter().enumerate() {
                writer.text += if number == 0 { "" } else { " " };
                if is_plain(&run[0]) {
                    let text: String = run.iter().filter_map(|&value| char::from_u32(value)).collect();
                    // Without letters, case makes no difference.
                    let cased = text.contains(|c: char| c.is_ascii_alphabetic());
                    writer.text += &format!("{}\"{text}\"", if cased { "%s" } else { "" });
                } else {
                    let numbers: Vec<String> = run.iter().map(|value| format!("{value:02X}")).collect();
                    writer.text += &format!("%x{}", numbers.join("."));
                }
            }
        });
    }

    fn class(&mut self, set: &CharSet, expr: &Expr, place: Place) {
        let is_ascii = set.ranges().last().is_none_or(|&(_, high)| high <= 0x7F);
        if set.unit() != self.unit && !is_ascii {
            match self.unit {
                // A few characters of two bytes each become alternatives.
                Unit::Byte => self.grouped(place > Place::Rule, |writer| {
                    for (number, member) in set.iter().enumerate() {
                        writer.text += if number == 0 { "" } else { " / " };
                        writer.bytes(set.encode(member).as_ref(), expr, Place::Alternative);
                    }
                }),
                Unit::Char => self.mixed(expr),
            }
            return;
        }
        self.grouped(set.ranges().len() > 1 && place > Place::Rule, |writer| {
            for (number, (low, high)) in set.ranges().iter().enumerate() {
                writer.text += if number == 0 { "" } else { " / " };
                writer.text += &if low == high { format!("%x{low:02X}") } else { format!("%x{low:02X}-{high:02X}") };
            }
        });
    }

    fn mixed(&mut self, expr: &Expr) {
        self.sound = false;
        let help = "the numbers of an ABNF are all bytes or all characters; convert to the EBNF";
        refuse(expr.span, "ABNF cannot say these bytes beside characters beyond U+00FF", help, self.diagnostics);
    }
}
