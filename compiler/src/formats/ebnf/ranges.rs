//! Ranges of numbers: `$u8(1..255)`, `$dec(-10..10)`, `$hex(0..255, 2)`. A range is a choice of sequences of classes.

use super::lexer::{Kind, Token};
use super::parser::{Parser, Reported};
use crate::ast::{Alternative, Expr, Weight};
use crate::charset::CharSet;
use crate::derived::NumberForm;
use crate::diagnostics::Span;

const HELP: &str = "a range of numbers is written `$u8(1..255)`, `$dec(-10..10)` or `$dec(1..366, 3)`";

impl Parser<'_, '_> {
    /// Returns true if a range in parentheses comes next.
    pub(super) fn begins_range(&mut self) -> bool {
        let sign = usize::from(self.peek(1).kind == Kind::Minus);
        self.peek(0).kind == Kind::Open
            && matches!(self.peek(1 + sign).kind, Kind::Number(_))
            && self.peek(2 + sign).kind == Kind::Dots
    }

    /// Parses a range in parentheses after the name of its form, whose place is `begin`.
    pub(super) fn range(&mut self, form: NumberForm, begin: Span) -> Result<Expr, Reported> {
        self.take();
        let (first, first_span) = self.end_of_range()?;
        self.take();
        let (last, last_span) = self.end_of_range()?;
        let form = if self.take_if(&Kind::Comma) { self.width(form)? } else { form };
        if !self.take_if(&Kind::Close) {
            let end = self.peek(0).span;
            return Err(self.error(end, "this range is not closed", HELP));
        }
        if let NumberForm::Raw(_) = form {
            let help = "`raw` writes the bytes of a digest; numbers have other forms";
            return Err(self.error(begin, "`raw` writes no numbers", help));
        }
        if first > last {
            let help = "the smaller number comes first";
            return Err(self.error(first_span.to(last_span), "there are no numbers in this range", help));
        }
        self.check_end(form, first, first_span)?;
        self.check_end(form, last, last_span)?;
        Ok(of_lists(&form.range(first, last), begin.to(self.last_span)))
    }

    /// Parses the first or the last number of a range.
    fn end_of_range(&mut self) -> Result<(i128, Span), Reported> {
        let begin = self.peek(0).span;
        let is_negative = self.take_if(&Kind::Minus);
        let Token { kind, span, .. } = self.peek(0);
        let span = begin.to(*span);
        let number = match kind {
            Kind::Number(digits) => digits.parse::<u64>().ok(),
            _ => None,
        };
        let Some(number) = number else {
            return Err(self.error(span, "this is not a whole number", HELP));
        };
        self.take();
        let number = i128::from(number);
        Ok((if is_negative { -number } else { number }, span))
    }

    /// Checks that an end of a range can be written.
    fn check_end(&mut self, form: NumberForm, end: i128, span: Span) -> Result<(), Reported> {
        let (least, greatest) = (form.least(), form.greatest());
        let shown = form.width_of_digits().map_or(format!("`{form}`"), |width| format!("{width} places of `{form}`"));
        if end < 0 && least == 0 {
            let help = "`dec` and the forms that begin with `i`, such as `i16be`, write negative numbers";
            return Err(self.error(span, format!("{shown} cannot be negative"), help));
        }
        if end < least || end > i128::from(greatest) {
            let wider = if form.width_of_digits().is_some() { "width" } else { "form" };
            let help = format!("use a greater {wider}, or numbers from {least} to {greatest}");
            return Err(self.error(span, format!("{end} does not fit into {shown}"), help));
        }
        Ok(())
    }
}

/// Returns a choice of lists of sets, in which each text is equally probable.
pub(super) fn of_lists(lists: &[Vec<CharSet>], span: Span) -> Expr {
    let texts = |list: &Vec<CharSet>| list.iter().map(|set| u128::from(set.len())).product::<u128>();
    let common = lists.iter().map(texts).fold(0, greatest_common_divisor);
    let is_even = lists.iter().all(|list| texts(list) == common);
    let alternatives = lists.iter().map(|list| {
        let weight = (!is_even).then(|| Weight { value: (texts(list) / common) as f64, span });
        Alternative { expr: of_list(list, span), weight }
    });
    let mut alternatives: Vec<Alternative> = alternatives.collect();
    match alternatives.pop_if(|_| lists.len() == 1) {
        Some(only) => only.expr,
        None => Expr::choice(alternatives, span),
    }
}

/// Returns a sequence of members of sets. Members of one set are a literal, and equal sets a repetition.
fn of_list(list: &[CharSet], span: Span) -> Expr {
    let mut items: Vec<Expr> = Vec::new();
    for sets in list.chunk_by(|a, b| a == b || a.len() == 1 && b.len() == 1) {
        let set = &sets[0];
        items.push(if set.len() == 1 {
            let bytes = sets.iter().flat_map(|set| set.iter().map(|member| set.encode(member)));
            Expr::bytes(bytes.flat_map(|bytes| bytes.as_ref().to_vec()).collect::<Vec<u8>>(), span)
        } else if sets.len() == 1 {
            Expr::class(set.clone(), span)
        } else {
            let rounds = sets.len() as u32;
            Expr::repeat(Expr::class(set.clone(), span), rounds, Some(rounds), span)
        });
    }
    Expr::joined(items, span)
}

fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
