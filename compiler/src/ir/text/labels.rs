//! The text of labelled parts, and of what refers to them.

use std::fmt::Write;

use super::{ParseError, Reader};
use crate::coding::Coding;
use crate::derived::{Bits, Blank, Derived, Measure, NumberForm, Padding, Term, Value};
use crate::ir::{Codec, Count, Field, KindId, Known, LabelId, NodeId, Role, Scope, Uniques};
use crate::naming::Naming;

/// Writes bytes that follow from labelled parts.
pub(super) fn leaf(out: &mut String, derived: &Derived<Known>) {
    match derived {
        Derived::Copy(copied) => {
            out.push_str("(copy ");
            known(out, copied);
        }
        Derived::Number(number, form) => {
            let _ = write!(out, "(number {form}");
            let of_digest = number.digest().and(form.fixed_width().and_then(|width| u8::try_from(width).ok()));
            if let Some(width) = form.width_of_digits().or(of_digest) {
                let _ = write!(out, ":{width}");
            }
            out.push(' ');
            value(out, number);
        }
        Derived::Bits(bits) => {
            let _ = write!(out, "({}", bits.word());
            for (width, number) in &bits.fields {
                let _ = write!(out, " {width}:");
                value(out, number);
            }
        }
        Derived::Padding(padded, padding) => {
            let _ = write!(out, "({} ", padding.word());
            known(out, padded);
            let _ = write!(out, " {} {}", padding.to, padding.filler);
        }
    }
    out.push(')');
}

/// Writes the beginning of a scope.
pub(super) fn scope(out: &mut String, scope: &Scope) {
    out.push_str("(scope");
    for label in &scope.labels {
        let _ = write!(out, " {}", label.index());
    }
    for argument in &scope.arguments {
        out.push_str(" =");
        known(out, argument);
    }
    if scope.longer > 0 {
        let _ = write!(out, " +{}", scope.longer);
    }
    for Field { value: number, greatest } in &scope.fields {
        out.push(' ');
        value(out, number);
        let _ = write!(out, "<={greatest}");
    }
    let _ = match scope.role {
        Role::Plain => Ok(()),
        Role::Round(label) => write!(out, " round:{}", label.index()),
        Role::Mirror(label) => write!(out, " mirror:{}", label.index()),
    };
}

/// Writes what a part does with names.
pub(super) fn naming(out: &mut String, naming: &Naming<KindId>) {
    let word = if naming.scoped().is_empty() { naming.word() } else { "names" };
    let _ = write!(out, "({word}");
    naming.kinds().iter().for_each(|kind| out.push_str(&format!(" {}", kind.index())));
}

/// Writes the numbers of unique names of a rule.
pub(super) fn uniques(out: &mut String, uniques: &Uniques) {
    for (kind, number) in uniques.iter() {
        let _ = write!(out, " unique={}:{number}", kind.index());
    }
}

/// Writes the parameters of a rule.
pub(super) fn parameters(out: &mut String, parameters: &[LabelId]) {
    parameters.iter().for_each(|label| out.push_str(&format!(" parameter={}", label.index())));
}

/// Writes what is known of the rounds of a labelled part.
pub(super) fn count(out: &mut String, count: Count) {
    let _ = match count {
        Count::Unused => Ok(()),
        Count::Counted => write!(out, " x*"),
        Count::Fixed(rounds) => write!(out, " x{rounds}"),
    };
}

/// Writes a number.
pub(super) fn value(out: &mut String, value: &Value<Known>) {
    out.push('{');
    for Term { times, measure, label } in &value.terms {
        let _ = write!(out, "{times}*{}(", measure.name());
        known(out, label);
        out.push_str(")+");
    }
    let _ = write!(out, "{}", value.plus);
    if value.divisor != 1 {
        let _ = write!(out, "/{}", value.divisor);
    }
    if let Some(Blank { part, byte }) = &value.blank {
        let _ = write!(out, "~{byte}");
        if let Some(part) = part {
            out.push(':');
            known(out, part);
        }
    }
    out.push('}');
}

fn known(out: &mut String, known: &Known) {
    let _ = write!(out, "{}:{}:{}", known.label.index(), known.len, known.rounds);
}

impl Reader<'_> {
    /// Reads a reference.
    pub(super) fn known(&mut self) -> Result<Known, ParseError> {
        let label = LabelId::new(self.number(10)? as u32);
        self.word(":")?;
        let len = self.number(10)?;
        self.word(":")?;
        Ok(Known { label, len, rounds: self.number(10)? })
    }

    /// Reads what is known of the rounds of a labelled part.
    pub(super) fn count(&mut self) -> Result<Count, ParseError> {
        if !self.rest().starts_with('x') {
            return Ok(Count::Unused);
        }
        self.word("x")?;
        if self.rest().starts_with('*') {
            self.word("*")?;
            return Ok(Count::Counted);
        }
        Ok(Count::Fixed(self.number(10)? as u32))
    }

    /// Reads numbers of some bits each.
    pub(super) fn bits(&mut self, word: &str) -> Result<Derived<Known>, ParseError> {
        let mut fields = Vec::new();
        let mut all = 0;
        while self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            let width = self.number(10)?;
            self.word(":")?;
            all += width.min(65);
            fields.push((width.min(64) as u8, self.value()?));
        }
        match Bits::<Known>::order(word) {
            Some(order) if (8..=64).contains(&all) && all % 8 == 0 => Ok(Derived::Bits(Bits { fields, order })),
            _ => self.error("expected fields of whole bytes, at most 8"),
        }
    }

    /// Reads filler bytes after a part.
    pub(super) fn padding(&mut self, word: &str) -> Result<Derived<Known>, ParseError> {
        let padded = self.known()?;
        let (to, filler) = (self.number(10)?, self.number(10)?);
        let to = u32::try_from(to).ok().filter(|to| (1..=Padding::MAX).contains(to));
        match (to.and_then(|to| Padding::by_word(word, to)), u8::try_from(filler)) {
            (Some(padding), Ok(filler)) => Ok(Derived::Padding(padded, Padding { filler, ..padding })),
            _ => self.error("expected a length and a byte"),
        }
    }

    /// Reads the form of a number.
    pub(super) fn form(&mut self) -> Result<NumberForm, ParseError> {
        let name = self.letters();
        let Some(form) = NumberForm::by_name(name) else { return self.error("expected the form of a number") };
        if !self.rest().starts_with(':') {
            return Ok(form);
        }
        self.word(":")?;
        let width = self.number(10)? as u8;
        match form {
            NumberForm::Text(radix, _) => Ok(NumberForm::Text(radix, Some(width))),
            NumberForm::Raw(_) => Ok(NumberForm::Raw(width)),
            NumberForm::Integer(..) | NumberForm::Signed(..) | NumberForm::Leb128 => {
                self.error("only digits have a width")
            }
        }
    }

    /// Reads a number.
    pub(super) fn value(&mut self) -> Result<Value<Known>, ParseError> {
        self.word("{")?;
        let mut terms = Vec::new();
        loop {
            let is_negative = self.rest().starts_with('-');
            if is_negative {
                self.word("-")?;
            }
            let number = self.number(10)?;
            if !self.rest().starts_with('*') {
                let (divisor, blank) = (self.divisor()?, self.blank()?);
                self.word("}")?;
                let plus = number.cast_signed();
                let plus = if is_negative { plus.wrapping_neg() } else { plus };
                return Ok(Value { terms, plus, divisor, blank });
            }
            self.word("*")?;
            let name = self.letters();
            let base = (name == Measure::Base.name()).then_some(Measure::Base);
            let Some(measure) = base.or(Measure::by_name(name)) else {
                return self.error("expected a property of a part");
            };
            self.word("(")?;
            let label = self.known()?;
            self.word(")+")?;
            terms.push(Term { times: number as u32, measure, label });
        }
    }

    /// Reads the divisor of a number, if it has one.
    fn divisor(&mut self) -> Result<u32, ParseError> {
        if !self.rest().starts_with('/') {
            return Ok(1);
        }
        self.word("/")?;
        match u32::try_from(self.number(10)?) {
            Ok(divisor @ 1..) => Ok(divisor),
            _ => self.error("expected a divisor"),
        }
    }

    /// Reads the bytes that count as others in a checksum, if there are some.
    fn blank(&mut self) -> Result<Option<Blank<Known>>, ParseError> {
        if !self.rest().starts_with('~') {
            return Ok(None);
        }
        self.word("~")?;
        let Ok(byte) = u8::try_from(self.number(10)?) else { return self.error("expected a byte") };
        let mut part = None;
        if self.rest().starts_with(':') {
            self.word(":")?;
            part = Some(self.known()?);
        }
        Ok(Some(Blank { part, byte }))
    }

    /// Reads a scope with this part, but the part.
    pub(super) fn scope(&mut self, body: NodeId) -> Result<Scope, ParseError> {
        let (mut labels, mut fields) = (Vec::new(), Vec::new());
        while self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            labels.push(LabelId::new(self.number(10)? as u32));
        }
        let mut arguments = Vec::new();
        while self.rest().starts_with('=') {
            self.word("=")?;
            arguments.push(self.known()?);
        }
        let mut longer = 0;
        if self.rest().starts_with('+') {
            self.word("+")?;
            longer = self.number(10)?;
        }
        while self.rest().starts_with('{') {
            let value = self.value()?;
            self.word("<=")?;
            fields.push(Field { value, greatest: self.number(10)? });
        }
        let mut role = Role::Plain;
        for (word, of) in [("round:", Role::Round as fn(LabelId) -> Role), ("mirror:", Role::Mirror)] {
            if self.rest().starts_with(word) {
                self.word(word)?;
                role = of(LabelId::new(self.number(10)? as u32));
            }
        }
        Ok(Scope { labels: labels.into(), arguments: arguments.into(), longer, fields: fields.into(), role, body })
    }

    /// Reads the line of the kinds of names, if there is one.
    pub(super) fn kinds(&mut self) -> Vec<String> {
        let Some(line) = self.rest().strip_prefix("kinds ").and_then(|rest| rest.lines().next()) else {
            return Vec::new();
        };
        self.offset += "kinds ".len() + line.len();
        line.split_whitespace().map(str::to_string).collect()
    }

    /// Reads the numbers of unique names of a rule.
    pub(super) fn uniques(&mut self) -> Result<Uniques, ParseError> {
        let mut numbers = Vec::new();
        // The end of the line stays unread: the next rule is found by it.
        while self.text[self.offset..].trim_start().starts_with("unique=") {
            let kind = KindId::new(self.fact("unique=")? as u32);
            numbers.push((kind, self.fact(":")?));
        }
        Ok(Uniques::new(numbers))
    }

    /// Reads the parameters of a rule.
    pub(super) fn parameters(&mut self) -> Result<Box<[LabelId]>, ParseError> {
        let mut parameters = Vec::new();
        while self.text[self.offset..].trim_start().starts_with("parameter=") {
            parameters.push(LabelId::new(self.fact("parameter=")? as u32));
        }
        Ok(parameters.into())
    }

    /// Reads the kinds of names.
    pub(super) fn naming(&mut self, word: &str) -> Result<Naming<KindId>, ParseError> {
        let mut kinds = Vec::new();
        while self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            kinds.push(KindId::new(self.number(10)? as u32));
        }
        Naming::by_word(word, kinds).map_or_else(|| self.error("expected a kind of names"), Ok)
    }

    /// Reads a coding.
    pub(super) fn codec(&mut self) -> Result<Codec, ParseError> {
        let Some(coding) = Coding::by_name(self.letters()) else { return self.error("expected a coding") };
        self.word(":")?;
        Ok(Codec { coding, growth: self.number(10)? as u8 })
    }

    fn letters(&mut self) -> &str {
        let rest = self.rest();
        let len = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        self.offset += len;
        &rest[..len]
    }
}
