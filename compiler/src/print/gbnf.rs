//! GBNF, the notation of llama.cpp. Texts and classes are of characters, and the start rule is `root`.

use super::beginnings::{left_recursive, nullable_rules};
use super::{HELP_FOR_WEIGHTS, Names, Printer, has_weights, refuse, relaxed, report_directives, start_first};
use crate::ast::{Alternative, Expr, Grammar, Rounds};
use crate::charset::{CharSet, Unit};
use crate::diagnostics::Diagnostics;

/// The `gbnf` notation.
pub(super) struct Gbnf;

/// The name of the start rule.
const ROOT: &str = "root";

impl Printer for Gbnf {
    fn name(&self) -> &'static str {
        "gbnf"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["gbnf"]
    }

    fn print(&self, grammar: &Grammar, diagnostics: &mut Diagnostics) -> Option<String> {
        report_directives(grammar, "GBNF", diagnostics);
        let grammar = &relaxed(grammar, "GBNF", diagnostics);
        let rules = start_first(grammar);
        let start = rules.first()?.name.text.as_str();
        let reserved: &[&str] = if start == ROOT { &[] } else { &[ROOT] };
        let names = Names::new(grammar, allowed, str::to_string, reserved);
        let mut writer = Writer { names: &names, start, sound: true, text: String::new(), diagnostics };
        for rule in left_recursive(&rules, &nullable_rules(&rules)) {
            writer.sound = false;
            let help = "write the recursion with `*`, or let the rule begin with something else";
            let message = format!("rule `{}` begins with itself, which llama.cpp refuses", rule.name.text);
            refuse(rule.name.span, message, help, writer.diagnostics);
        }
        for rule in &rules {
            writer.name(&rule.name.text);
            writer.text += " ::= ";
            writer.expr(&rule.body, Place::Rule);
            writer.text.push('\n');
        }
        writer.sound.then_some(writer.text)
    }
}

/// Returns the name with `-` in place of characters that GBNF does not allow.
fn allowed(name: &str) -> String {
    let mut new: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    if !new.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        new.insert(0, 'r');
    }
    new
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
    /// The name of the start rule in the grammar.
    start: &'n str,
    sound: bool,
    text: String,
    diagnostics: &'d mut Diagnostics,
}

impl Writer<'_, '_> {
    fn name(&mut self, name: &str) {
        self.text += if name == self.start { ROOT } else { self.names.get(name) };
    }

    fn refuse(&mut self, expr: &Expr, message: &str, help: &str) {
        self.sound = false;
        refuse(expr.span, message, help, self.diagnostics);
    }

    fn expr(&mut self, expr: &Expr, place: Place) {
        if let Some(bytes) = expr.as_bytes() {
            match std::str::from_utf8(bytes) {
                Ok(text) => self.quoted(text),
                Err(_) => self.refuse_bytes(expr),
            }
        } else if let Some(set) = expr.as_class() {
            self.class(set, expr);
        } else if let Some(name) = expr.as_rule() {
            self.name(name);
        } else if let Some(items) = expr.as_seq() {
            self.sequence(items, place);
        } else if let Some(alternatives) = expr.as_choice() {
            self.choice(expr, alternatives, place);
        } else if let Some(rounds) = expr.as_repeat() {
            self.repetition(rounds);
        } else {
            // The grammar is without what follows from other parts.
            expr.children().for_each(|item| self.expr(item, place));
        }
    }

    fn sequence(&mut self, items: &[Expr], place: Place) {
        match items {
            [] => self.text += "\"\"",
            // A single item would be read back without the sequence.
            [only] => self.expr(only, place),
            _ => self.grouped(place > Place::Alternative, |writer| {
                for (number, item) in items.iter().enumerate() {
                    writer.text += if number == 0 { "" } else { " " };
                    writer.expr(item, Place::Item);
                }
            }),
        }
    }

    fn choice(&mut self, expr: &Expr, alternatives: &[Alternative], place: Place) {
        if has_weights(expr) {
            self.refuse(expr, "GBNF has no weights", HELP_FOR_WEIGHTS);
        }
        if let [alternative] = alternatives {
            return self.expr(&alternative.expr, place);
        }
        self.grouped(place > Place::Rule, |writer| {
            for (number, alternative) in alternatives.iter().enumerate() {
                writer.text += if number == 0 { "" } else { " | " };
                writer.expr(&alternative.expr, Place::Alternative);
            }
        });
    }

    fn repetition(&mut self, Rounds { item, min, max }: Rounds<'_>) {
        // A repetition of a repetition is written with a group.
        let is_nested = item.as_repeat().is_some();
        self.grouped(is_nested, |writer| writer.expr(item, if is_nested { Place::Rule } else { Place::Item }));
        self.text += &match (min, max) {
            (0, Some(1)) => "?".to_string(),
            (0, None) => "*".to_string(),
            (1, None) => "+".to_string(),
            (min, None) => format!("{{{min},}}"),
            (min, Some(max)) if min == max => format!("{{{min}}}"),
            (min, Some(max)) => format!("{{{min},{max}}}"),
        };
    }

    fn grouped(&mut self, grouped: bool, write: impl FnOnce(&mut Self)) {
        self.text += if grouped { "(" } else { "" };
        write(self);
        self.text += if grouped { ")" } else { "" };
    }

    fn quoted(&mut self, text: &str) {
        self.text.push('"');
        for c in text.chars() {
            match c {
                '"' => self.text += "\\\"",
                c => self.character(u32::from(c)),
            }
        }
        self.text.push('"');
    }

    /// Writes a character: printable ASCII as it is, others as an escape.
    fn character(&mut self, character: u32) {
        match char::from_u32(character) {
            Some('\\') => self.text += "\\\\",
            Some('\n') => self.text += "\\n",
            Some('\r') => self.text += "\\r",
            Some('\t') => self.text += "\\t",
            Some(c @ ' '..='~') => self.text.push(c),
            _ if character <= 0xFF => self.text += &format!("\\x{character:02X}"),
            _ if character <= 0xFFFF => self.text += &format!("\\u{character:04X}"),
            _ => self.text += &format!("\\U{character:08X}"),
        }
    }

    fn class(&mut self, set: &CharSet, expr: &Expr) {
        let is_ascii = set.ranges().last().is_none_or(|&(_, high)| high <= 0x7F);
        if set.unit() != Unit::Char && !is_ascii {
            return self.refuse_bytes(expr);
        }
        self.text.push('[');
        for &(low, high) in set.ranges() {
            self.member(low);
            if high > low {
                self.text.push('-');
                self.member(high);
            }
        }
        self.text.push(']');
    }

    /// Writes a member of a class. Signs that mean something in a class are escaped.
    fn member(&mut self, character: u32) {
        match char::from_u32(character) {
            Some(c @ ('[' | ']')) => self.text.extend(['\\', c]),
            Some(c @ ('-' | '^')) => self.text += &format!("\\x{:02X}", u32::from(c)),
            _ => self.character(character),
        }
    }

    fn refuse_bytes(&mut self, expr: &Expr) {
        let help = "GBNF has characters only; convert to the EBNF";
        self.refuse(expr, "GBNF cannot say bytes that are no characters", help);
    }
}
