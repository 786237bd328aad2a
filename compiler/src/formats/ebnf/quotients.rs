//! Quotients in numbers, rounded up: `ceil(len(part) / 8)`, `ceil((2 * len(part) + 1) / 4) + 1`.

use super::labels::{MAX_CONSTANT, MAX_FACTOR};
use super::lexer::{Kind, Token};
use super::parser::{Parser, Reported};
use crate::ast::Name;
use crate::derived::{Term, Value};
use crate::diagnostics::Span;

const HELP: &str = "a quotient is written `ceil(len(part) / 8)` or `ceil((len(part) + 4) / 8)`; it is rounded up";

impl Parser<'_, '_> {
    /// Returns true if a quotient comes next.
    pub(super) fn begins_quotient(&mut self) -> bool {
        self.peek(0).kind == Kind::Name("ceil") && self.peek(1).kind == Kind::Open
    }

    /// Parses a quotient. A number has one.
    pub(super) fn quotient(&mut self, is_negative: bool, found: &mut Option<Value<Name>>) -> Result<(), Reported> {
        let begin = self.take().span;
        self.take();
        if is_negative {
            let help = "numbers grow with the parts that they follow from; only constants can be subtracted";
            return Err(self.error(begin, "a quotient cannot be subtracted", help));
        }
        let mut dividend = self.dividend()?;
        if !self.take_if(&Kind::Slash) {
            let place = self.peek(0).span;
            return Err(self.error(place, "expected `/` and a number", HELP));
        }
        dividend.divisor = self.divisor()?;
        // The slash is one before a closing parenthesis.
        self.take_if(&Kind::Close);
        if found.is_some() {
            let help = "add up what is divided, if it is divided by the same number";
            return Err(self.error(begin.to(self.last_span), "a number has one quotient", help));
        }
        *found = Some(dividend);
        Ok(())
    }

    /// Parses a property of a part, or a sum in parentheses.
    fn dividend(&mut self) -> Result<Value<Name>, Reported> {
        if self.begins_quotient() {
            let place = self.peek(0).span;
            return Err(self.error(place, "a quotient cannot be divided", "multiply both divisors"));
        }
        if !self.take_if(&Kind::Open) {
            let mut value = Value::sum(Vec::new(), 0);
            self.term(false, &mut value)?;
            return Ok(value);
        }
        let value = self.value()?;
        let place = self.peek(0).span;
        if !self.take_if(&Kind::Close) {
            return Err(self.error(place, "this sum is not closed", HELP));
        }
        if value.divisor != 1 {
            let help = "add to the quotient, or to what it divides";
            return Err(self.error(place, "a quotient cannot be divided", help));
        }
        Ok(value)
    }

    fn divisor(&mut self) -> Result<u32, Reported> {
        let Token { kind, span, .. } = self.take();
        let divisor = match kind {
            Kind::Number(digits) => digits.parse().ok().filter(|divisor| (1..=MAX_FACTOR).contains(divisor)),
            _ => None,
        };
        match divisor {
            Some(divisor) => Ok(divisor),
            None => Err(self.error(span, "this is not a divisor", format!("it is a number from 1 to {MAX_FACTOR}"))),
        }
    }

    /// Returns the sum of a number and a quotient, as one quotient.
    pub(super) fn with_quotient(
        &mut self,
        added: Value<Name>,
        quotient: Value<Name>,
        span: Span,
    ) -> Result<Value<Name>, Reported> {
        let divisor = quotient.divisor;
        let plus = i128::from(added.plus) * i128::from(divisor) + i128::from(quotient.plus);
        let plus = i64::try_from(plus).ok().filter(|plus| plus.unsigned_abs() <= MAX_CONSTANT.unsigned_abs());
        let times = |term: &Term<Name>| term.times.checked_mul(divisor).filter(|&times| times <= MAX_FACTOR);
        let scaled = |term: Term<Name>| Some(Term { times: times(&term)?, ..term });
        let added: Option<Vec<Term<Name>>> = added.terms.into_iter().map(scaled).collect();
        let (Some(plus), Some(added)) = (plus, added) else {
            let help =
                format!("what is added, times the divisor, is at most {MAX_FACTOR} for parts and {MAX_CONSTANT}");
            return Err(self.error(span, "what is added to this quotient is too much", help));
        };
        Ok(Value { divisor, ..Value::sum(quotient.terms.into_iter().chain(added).collect(), plus) })
    }
}
