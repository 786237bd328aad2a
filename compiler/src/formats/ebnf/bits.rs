//! Bit fields: `$bits(4: 4, 4: len(part), 8: 0..63)`.
//!
//! Fields that end at a byte stand by themselves. Numbers that follow from parts stay together with the rest of their
//! bytes; all else is texts and sets, as ranges of numbers are.

use super::lexer::{Kind, Token};
use super::parser::{Parser, Reported, Sized};
use super::ranges::of_lists;
use crate::ast::{Alternative, Expr, Name};
use crate::derived::{Bits, Derived, NumberForm, Order, Value};
use crate::diagnostics::Span;

const HELP: &str = "bit fields are written `$bits(4: 5, 12: len(part), 8: 0..63)`: a number of bits, and a number, a \
                    range, or what follows from parts";

/// The most bits of a field, and of fields that share bytes.
const MAX_BITS: u32 = 64;

/// The most alternatives that ranges make which share bytes.
const MAX_ALTERNATIVES: u64 = 256;

/// A field.
#[derive(Clone)]
struct Field {
    width: u32,
    content: Content,
}

#[derive(Clone)]
enum Content {
    /// All numbers from the first to the last.
    Range(u64, u64),
    /// A number that follows from parts.
    Value(Value<Name>),
}

fn greatest(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

impl Field {
    /// Returns two fields, the first one of this number of bits; `None` if the field cannot be cut.
    fn cut(&self, first: u32, order: Order) -> Option<(Field, Field)> {
        let rest = self.width - first;
        let field = |width, first, last| Field { width, content: Content::Range(first, last) };
        let Content::Range(low, high) = self.content else { return None };
        if low == high {
            let (shift, other) = if order == Order::Big { (rest, 0) } else { (0, first) };
            let part = |width, shift: u32| field(width, low >> shift & greatest(width), low >> shift & greatest(width));
            return Some((part(first, shift), part(rest, other)));
        }
        let is_full = (low, high) == (0, greatest(self.width));
        is_full.then(|| (field(first, 0, greatest(first)), field(rest, 0, greatest(rest))))
    }
}

impl Parser<'_, '_> {
    /// Returns true if `$name`, which has been taken, begins bit fields.
    pub(super) fn begins_bits(&mut self, name: &str) -> bool {
        Bits::<Name>::order(name).is_some() && self.peek(0).kind == Kind::Open
    }

    /// Parses the fields after `$bits`, which has been taken.
    pub(super) fn bits(&mut self, word: &str, begin: Span) -> Result<Sized, Reported> {
        let order = Bits::<Name>::order(word).unwrap_or(Order::Big);
        self.take();
        let mut fields = vec![self.field()?];
        while self.take_if(&Kind::Comma) {
            fields.push(self.field()?);
        }
        if !self.take_if(&Kind::Close) {
            let end = self.peek(0).span;
            return Err(self.error(end, "these bit fields are not closed", HELP));
        }
        let span = begin.to(self.last_span);
        let bits: u32 = fields.iter().fold(0, |bits, field| bits.saturating_add(field.width));
        if !bits.is_multiple_of(8) {
            let message = format!("bit fields fill whole bytes, and these have {bits} bits");
            return Err(self.error(span, message, format!("add a field, such as `{}: 0`", 8 - bits % 8)));
        }
        let mut items = Vec::new();
        for group in groups(fields, order) {
            items.push(self.group_of_fields(&group, order, span)?);
        }
        self.made(Expr::joined(items, span))
    }

    /// Parses a field.
    fn field(&mut self) -> Result<Field, Reported> {
        let Token { kind, span, .. } = self.take();
        let width = match kind {
            Kind::Number(digits) => digits.parse().ok().filter(|width| (1..=MAX_BITS).contains(width)),
            _ => None,
        };
        let Some(width) = width else {
            return Err(self.error(span, format!("expected a number of bits, from 1 to {MAX_BITS}"), HELP));
        };
        if !self.take_if(&Kind::Colon) {
            let place = self.peek(0).span;
            return Err(self.error(place, "expected `:` after a number of bits", HELP));
        }
        let place = self.peek(0).span;
        let is_number = matches!(self.peek(0).kind, Kind::Number(_));
        if is_number && !matches!(self.peek(1).kind, Kind::Star | Kind::Plus | Kind::Minus) {
            let first = self.bound_of_field(width)?;
            let last = if self.take_if(&Kind::Dots) { self.bound_of_field(width)? } else { first };
            if first > last {
                let span = place.to(self.last_span);
                return Err(self.error(span, "there are no numbers in this range", "the smaller number comes first"));
            }
            return Ok(Field { width, content: Content::Range(first, last) });
        }
        let value = self.value()?;
        if let Some(term) = value.terms.iter().find(|term| term.measure.is_of_content()) {
            let message = format!("`{}` is no bit field", term.measure.name());
            let help = "a checksum or a digest stands alone in its number";
            return Err(self.error(place.to(self.last_span), message, help));
        }
        Ok(Field { width, content: Content::Value(value) })
    }

    /// Parses a number of a field of `width` bits.
    fn bound_of_field(&mut self, width: u32) -> Result<u64, Reported> {
        let Token { kind, span, .. } = self.take();
        let number = match kind {
            Kind::Number(digits) => digits.parse::<u64>().ok(),
            _ => None,
        };
        match number {
            Some(number) if number <= greatest(width) => Ok(number),
            Some(number) => {
                let help = format!("the greatest number of {width} bits is {}", greatest(width));
                Err(self.error(span, format!("{number} does not fit into {width} bits"), help))
            }
            None => Err(self.error(span, "this is not a whole number", HELP)),
        }
    }

    /// Returns the expression of fields that share bytes.
    fn group_of_fields(&mut self, group: &[Field], order: Order, span: Span) -> Result<Expr, Reported> {
        let bits: u32 = group.iter().map(|field| field.width).sum();
        if bits > MAX_BITS {
            let message = format!("these bit fields share {bits} bits");
            let help = format!("fields share at most {MAX_BITS} bits; let some of them end at a byte");
            return Err(self.error(span, message, help));
        }
        let follows = group.iter().any(|field| matches!(field.content, Content::Value(_)));
        let found = if follows { alternatives(group, order, span) } else { sets(group, order, span) };
        match found {
            Some(expr) => Ok(expr),
            None => {
                let message = format!("the ranges of these bit fields make more than {MAX_ALTERNATIVES} alternatives");
                let help = "let ranges end at bytes, or have all numbers of their bits: `3: 0..7`";
                Err(self.error(span, message, help))
            }
        }
    }
}

/// Returns the fields in groups, each of which fills the fewest bytes that it can.
fn groups(fields: Vec<Field>, order: Order) -> Vec<Vec<Field>> {
    let (mut groups, mut open, mut bits) = (Vec::new(), Vec::new(), 0);
    let mut rest: Vec<Field> = fields.into_iter().rev().collect();
    while let Some(mut field) = rest.pop() {
        let left = 8 - bits % 8;
        if field.width > left
            && let Some((first, second)) = field.cut(left, order)
        {
            rest.push(second);
            field = first;
        }
        bits += field.width;
        open.push(field);
        if bits.is_multiple_of(8) {
            groups.push(std::mem::take(&mut open));
        }
    }
    groups
}

/// Returns fields of which some follow from parts: an alternative for each choice of the others. `None` if there are
/// too many.
fn alternatives(group: &[Field], order: Order, span: Span) -> Option<Expr> {
    let mut found: Vec<Vec<(u8, Value<Name>)>> = vec![Vec::new()];
    for field in group {
        let values: Vec<Value<Name>> = match &field.content {
            Content::Value(value) => vec![value.clone()],
            Content::Range(first, last) if last - first >= MAX_ALTERNATIVES => return None,
            Content::Range(first, last) => {
                let constant = |number: u64| Some(Value::sum(Vec::new(), i64::try_from(number).ok()?));
                (*first..=*last).map(constant).collect::<Option<_>>()?
            }
        };
        if (found.len() * values.len()) as u64 > MAX_ALTERNATIVES {
            return None;
        }
        let with = |fields: Vec<(u8, Value<Name>)>| {
            let added = move |value: &Value<Name>| {
                let mut fields = fields.clone();
                fields.push((field.width as u8, value.clone()));
                fields
            };
            values.iter().map(added).collect::<Vec<_>>()
        };
        found = found.into_iter().flat_map(with).collect();
    }
    let expr = |fields| Expr::derived(Derived::Bits(Bits { fields, order }), span);
    if found.len() == 1 {
        return found.pop().map(expr);
    }
    Some(Expr::choice(found.into_iter().map(|fields| Alternative { expr: expr(fields), weight: None }).collect(), span))
}

/// Returns fields that are numbers and ranges, as a choice of texts and sets. `None` if there are too many.
fn sets(group: &[Field], order: Order, span: Span) -> Option<Expr> {
    let mut ranges: Vec<(u64, u64)> = vec![(0, 0)];
    let mut bits = 0;
    let from_highest: Vec<&Field> = match order {
        Order::Big => group.iter().collect(),
        Order::Little => group.iter().rev().collect(),
    };
    for field in from_highest {
        let Content::Range(first, last) = field.content else { return None };
        let is_full = (first, last) == (0, greatest(field.width));
        let shifted = |number: u64| number.checked_shl(field.width).unwrap_or(0);
        if is_full {
            ranges.iter_mut().for_each(|range| *range = (shifted(range.0), shifted(range.1) | last));
        } else {
            let count = ranges.iter().map(|range| u128::from(range.1 - range.0) + 1).sum::<u128>();
            if count > MAX_ALTERNATIVES.into() {
                return None;
            }
            let numbers = ranges.iter().flat_map(|&(low, high)| low..=high);
            ranges = numbers.map(|number| (shifted(number) | first, shifted(number) | last)).collect();
        }
        // Numbers that follow each other are one range.
        ranges.dedup_by(|next, range| {
            let is_next = range.1.checked_add(1) == Some(next.0);
            range.1 = if is_next { next.1 } else { range.1 };
            is_next
        });
        bits += field.width;
    }
    let ranges: Vec<(i128, i128)> = ranges.into_iter().map(|(first, last)| (first.into(), last.into())).collect();
    Some(of_lists(&NumberForm::Integer((bits / 8) as u8, order).ranges(&ranges), span))
}
