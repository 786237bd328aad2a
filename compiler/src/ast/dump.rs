//! The textual form of a grammar: our EBNF with every class written out, which the `ebnf` format reads back.
//!
//! Names that other formats allow and the EBNF does not (`[STRING_OR_URI]-1`) are printed as they are.

use std::fmt::{self, Display, Formatter, Write};

use super::{Alternative, Expr, ExprKind, Grammar, Name, Weight};
use crate::charset::{CharSet, Unit};
use crate::derived::{Blank, Derived, Measure, Term, Value};

/// Returns the grammar as text: directives first, then one line per rule.
pub fn dump(grammar: &Grammar) -> String {
    let mut text = String::new();
    if let Some(start) = &grammar.start {
        text += &format!("%start {}\n", start.text);
    }
    if let Some(depth) = grammar.max_depth {
        text += &format!("%max-depth {depth}\n");
    }
    if let Some(len) = grammar.max_len {
        text += &format!("%max-len {len}\n");
    }
    for rule in &grammar.rules {
        let body = Printed { expr: &rule.body, place: Place::Rule };
        let parameters: Vec<&str> = rule.parameters.iter().map(|name| name.text.as_str()).collect();
        let parameters = if parameters.is_empty() { String::new() } else { format!("({})", parameters.join(", ")) };
        text += &format!("{}{parameters} ::= {body}\n", rule.name.text);
    }
    text
}

/// Returns an expression as text, in the notation of [`dump`].
pub fn text(expr: &Expr) -> String {
    Printed { expr, place: Place::Rule }.to_string()
}

/// The place of an expression. An expression that binds looser than its place needs parentheses.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Place {
    Rule,
    Alternative,
    Labelled,
    Item,
}

struct Printed<'a> {
    expr: &'a Expr,
    place: Place,
}

impl Display for Printed<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let own_place = match &self.expr.kind {
            ExprKind::Choice(_) => Place::Rule,
            ExprKind::Seq(_) => Place::Alternative,
            ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Rule(_) => Place::Item,
            ExprKind::Derived(_) | ExprKind::Naming { .. } | ExprKind::Coded { .. } | ExprKind::Call { .. } => {
                Place::Item
            }
            // A repetition mark after a labelled part would belong to the part.
            ExprKind::Label { .. } => Place::Labelled,
            ExprKind::Repeat { .. } | ExprKind::Times { .. } => Place::Item,
        };
        let grouped = self.place > own_place;
        f.write_str(if grouped { "(" } else { "" })?;
        match &self.expr.kind {
            ExprKind::Bytes(bytes) => literal(bytes, f)?,
            ExprKind::Class(set) => class(set, f)?,
            ExprKind::Rule(name) => f.write_str(name)?,
            // Parentheses make the empty alternative visible between two bars.
            ExprKind::Seq(items) if items.is_empty() && !grouped => f.write_str("()")?,
            ExprKind::Seq(items) => {
                // A single item would be read back without the sequence.
                let place = if items.len() == 1 { Place::Rule } else { Place::Labelled };
                for (number, expr) in items.iter().enumerate() {
                    f.write_str(if number == 0 { "" } else { " " })?;
                    Printed { expr, place }.fmt(f)?;
                }
            }
            ExprKind::Choice(alternatives) => {
                for (number, Alternative { expr, weight }) in alternatives.iter().enumerate() {
                    f.write_str(if number == 0 { "" } else { " | " })?;
                    Printed { expr, place: Place::Alternative }.fmt(f)?;
                    if let Some(weight) = weight {
                        let value = if weight.value > Weight::ONLY_READ { weight.value } else { 0.0 };
                        write!(f, " @ {value}")?;
                    }
                }
            }
            ExprKind::Repeat { item, min, max } => {
                Printed { expr: item, place: Place::Item }.fmt(f)?;
                match (min, max) {
                    (0, Some(1)) => f.write_str("?")?,
                    (0, None) => f.write_str("*")?,
                    (1, None) => f.write_str("+")?,
                    (min, None) => write!(f, "{{{min},}}")?,
                    (min, Some(max)) if min == max => write!(f, "{{{min}}}")?,
                    (min, Some(max)) => write!(f, "{{{min},{max}}}")?,
                }
            }
            ExprKind::Times { item, rounds, is_mirror: true } => {
                rounds.labels().try_for_each(|label| write!(f, "${}({}, ", Expr::MIRROR, label.text))?;
                Printed { expr: item, place: Place::Rule }.fmt(f)?;
                f.write_str(")")?;
            }
            ExprKind::Times { item, rounds, is_mirror: false } => {
                Printed { expr: item, place: Place::Item }.fmt(f)?;
                write!(f, "{{{}}}", value_text(rounds))?;
            }
            ExprKind::Label { label, item } => {
                write!(f, "{}:", label.text)?;
                Printed { expr: item, place: Place::Labelled }.fmt(f)?;
            }
            ExprKind::Derived(derived) => write!(f, "${}", derived_text(derived))?,
            ExprKind::Coded { coding, item } => {
                write!(f, "${}(", coding.name())?;
                Printed { expr: item, place: Place::Rule }.fmt(f)?;
                f.write_str(")")?;
            }
            ExprKind::Call { arguments, item } => {
                write!(f, "${}(", Expr::CALL)?;
                Printed { expr: item, place: Place::Item }.fmt(f)?;
                arguments.iter().try_for_each(|label| write!(f, ", {}", label.text))?;
                f.write_str(")")?;
            }
            ExprKind::Naming { naming, item } => {
                write!(f, "${}(", naming.word())?;
                naming.kinds().iter().try_for_each(|kind| write!(f, "{}, ", kind.text))?;
                Printed { expr: item, place: Place::Rule }.fmt(f)?;
                f.write_str(")")?;
            }
        }
        f.write_str(if grouped { ")" } else { "" })
    }
}

/// Returns the text of bytes that follow from labelled parts, without the dollar sign.
pub(crate) fn derived_text(derived: &Derived<Name>) -> String {
    match derived {
        Derived::Copy(label) => label.text.clone(),
        Derived::Number(value, form) => {
            let width = form.width_of_digits().map_or(String::new(), |width| format!(", {width}"));
            format!("{form}({}{width})", value_text(value))
        }
        Derived::Bits(bits) => {
            let field = |(width, value): &(u8, Value<Name>)| format!("{width}: {}", value_text(value));
            format!("{}({})", bits.word(), bits.fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        Derived::Padding(label, padding) => {
            let filler = if padding.filler == 0 { String::new() } else { format!(", #b{:02X}", padding.filler) };
            format!("{}({}, {}{filler})", padding.word(), label.text, padding.to)
        }
    }
}

/// Returns the text of a number that follows from labelled parts.
pub(crate) fn value_text(value: &Value<Name>) -> String {
    let of_term = |(number, Term { times, measure, label }): (usize, &Term<Name>)| {
        let factor = if *times == 1 { String::new() } else { format!("{times} * ") };
        let base = value.terms.get(number + 1).filter(|base| base.measure == Measure::Base);
        let base = base.map_or(String::new(), |base| format!(", {}", base.label.text));
        let blank = value.blank.as_ref().map_or(String::new(), |Blank { part, byte }| {
            format!(", {} as #b{byte:02X}", part.as_ref().map_or("self", |part| &part.text))
        });
        format!("{factor}{}({}{base}{blank})", measure.name(), label.text)
    };
    let terms = value.terms.iter().enumerate().filter(|(_, term)| term.measure != Measure::Base);
    let terms: Vec<String> = terms.map(of_term).collect();
    if terms.is_empty() {
        return value.plus.to_string();
    }
    let (is_one, sum) = (terms.len() == 1 && value.plus == 0, terms.join(" + "));
    let sum = match value.plus {
        0 => sum,
        plus @ 1.. => format!("{sum} + {plus}"),
        minus => format!("{sum} - {}", minus.unsigned_abs()),
    };
    match value.divisor {
        1 => sum,
        divisor if is_one => format!("ceil({sum} / {divisor})"),
        divisor => format!("ceil(({sum}) / {divisor})"),
    }
}

/// Writes a literal in double quotes. Bytes that are not UTF-8 appear as `#bNN` alone and as `\xNN` in a text.
fn literal(bytes: &[u8], f: &mut Formatter<'_>) -> fmt::Result {
    if let [byte @ 0x80..=0xFF] = bytes {
        return write!(f, "#b{byte:02X}");
    }
    f.write_char('"')?;
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' | '\\' => write!(f, "\\{character}")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                '\0' => f.write_str("\\0")?,
                _ if is_plain(character) => f.write_char(character)?,
                _ => write!(f, "\\u{{{:X}}}", u32::from(character))?,
            }
        }
        for byte in chunk.invalid() {
            write!(f, "\\x{byte:02X}")?;
        }
    }
    f.write_char('"')
}

/// Returns true if a character is printed as itself.
fn is_plain(character: char) -> bool {
    character.is_ascii_graphic() || character == ' ' || character.is_alphanumeric()
}

fn class(set: &CharSet, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_char('[')?;
    // Digits after a number would be read as part of it.
    let mut behind_number = false;
    for &(low, high) in set.ranges() {
        member(set.unit(), low, &mut behind_number, f)?;
        if low < high {
            if high > low + 1 {
                behind_number = false;
                f.write_char('-')?;
            }
            member(set.unit(), high, &mut behind_number, f)?;
        }
    }
    f.write_char(']')
}

fn member(unit: Unit, value: u32, behind_number: &mut bool, f: &mut Formatter<'_>) -> fmt::Result {
    let plain = char::from_u32(value).filter(|c| c.is_ascii_graphic() && unit == Unit::Char);
    match plain {
        Some(character) if !(*behind_number && character.is_ascii_hexdigit()) => {
            *behind_number = false;
            match character {
                ']' | '[' | '\\' | '^' | '-' => write!(f, "\\{character}"),
                '#' => {
                    *behind_number = true;
                    f.write_str("#x23")
                }
                _ => f.write_char(character),
            }
        }
        _ => {
            *behind_number = true;
            let letter = if unit == Unit::Byte { 'b' } else { 'x' };
            write!(f, "#{letter}{value:02X}")
        }
    }
}
