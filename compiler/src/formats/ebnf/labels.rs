//! Labels, and what refers to them: `name:item`, `$name`, `$u16be(len(name) + 2)`, `item{count(name)}`.

use super::lexer::{Kind, Token};
use super::parser::{Parser, Reported, Sized};
use crate::ast::{Expr, ExprKind, Name};
use crate::check::closest;
use crate::coding::Coding;
use crate::derived::{Bits, Blank, Derived, Digest, Measure, NumberForm, Padding, Radix, Sum, Term, Value};
use crate::diagnostics::{Diagnostics, Span};
use crate::naming::Naming;

/// The greatest factor of a term.
pub(super) const MAX_FACTOR: u32 = 1 << 20;

/// The greatest factor of a term in a number of rounds.
const MAX_ROUNDS: u32 = 256;

/// The greatest constant of a number.
pub(super) const MAX_CONSTANT: i64 = 1 << 48;

/// The words for what follows from parts and is no number.
const WORDS: [[&str; 2]; 2] = [Bits::<Name>::WORDS, Padding::WORDS];

/// The word for the number itself in its checksum.
const SELF: &str = "self";

/// The greatest width of digits.
const MAX_WIDTH: u8 = 64;

/// Reads a number, such as `u16be(len(part))` or `u8(1..255)`. All diagnostics have the place `span`.
pub(in crate::formats) fn number(text: &str, span: Span, diagnostics: &mut Diagnostics) -> Option<Expr> {
    let mut found = read_alone(text, span, diagnostics, |parser| {
        let token = parser.take();
        match token.kind {
            Kind::Name(name) if parser.begins_derived(name) => parser.derived_item(name, token.span),
            _ => {
                let known = NumberForm::names().chain(WORDS.concat()).collect::<Vec<_>>().join(", ");
                Err(parser.error(token.span, "this is not a number", format!("it begins with its form: {known}")))
            }
        }
    })?
    .expr;
    found.each_mut(&mut |expr| {
        expr.span = span;
        expr.as_choice_mut()
            .into_iter()
            .flatten()
            .filter_map(|one| one.weight.as_mut())
            .for_each(|weight| weight.span = span);
        if let Some(derived) = expr.as_derived_mut() {
            *derived = derived.map(&mut |label| Name { text: label.text.clone(), span });
        }
    });
    Some(found)
}

/// Reads a number of rounds, such as `count(part)`. All diagnostics have the place `span`.
pub(in crate::formats) fn rounds(text: &str, span: Span, diagnostics: &mut Diagnostics) -> Option<Value<Name>> {
    read_alone(text, span, diagnostics, |parser| parser.rounds())
        .map(|rounds| rounds.map(&mut |label| Name { text: label.text.clone(), span }))
}

/// Reads all of a text that stands in a file of another format.
fn read_alone<T>(
    text: &str,
    span: Span,
    diagnostics: &mut Diagnostics,
    read: impl FnOnce(&mut Parser<'_, '_>) -> Result<T, Reported>,
) -> Option<T> {
    let mut own = Diagnostics::default();
    let mut parser = Parser::new(text, &mut own);
    let result = read(&mut parser).and_then(|found| match parser.peek(0).kind {
        Kind::End => Ok(found),
        _ => Err(parser.unexpected("the end of the number")),
    });
    for diagnostic in own.iter() {
        let mut diagnostic = diagnostic.clone();
        (diagnostic.span, diagnostic.related) = (Some(span), Vec::new());
        diagnostics.push(diagnostic);
    }
    result.ok().filter(|_| !own.has_errors())
}

/// Returns what a dollar sign and this name begin, if a label cannot have the name.
pub(in crate::formats) fn reserved(name: &str) -> Option<&'static str> {
    let is_word = || Naming::WORDS.contains(&name).then_some("what is said of names");
    let is_coding = || Coding::by_name(name).map(|_| "a coded part");
    let is_padding = || Padding::WORDS.contains(&name).then_some("padding");
    let is_bits = || Bits::<Name>::WORDS.contains(&name).then_some("bit fields");
    if name == SELF {
        return Some("what counts as other bytes in a checksum");
    }
    let is_mirror = || (name == Expr::MIRROR).then_some("a mirror");
    let is_call = || (name == Expr::CALL).then_some("a reference to a rule with parameters");
    let is_other =
        || is_padding().or_else(is_bits).or_else(is_word).or_else(is_coding).or_else(is_mirror).or_else(is_call);
    NumberForm::by_name(name).map(|_| "a number").or_else(is_other)
}

impl<'t> Parser<'t, '_> {
    /// Returns the name of the label that begins here, if one does.
    pub(super) fn label(&mut self) -> Option<Name> {
        let Kind::Name(name) = self.peek(0).kind else { return None };
        if self.peek(1).kind != Kind::Colon {
            return None;
        }
        let span = self.take().span;
        self.take();
        if let Some(meaning) = reserved(name) {
            let help = format!("this name begins {meaning}; give the part another label");
            self.error(span, format!("`{name}` is reserved and no label"), help);
        }
        Some(Name { text: name.to_string(), span })
    }

    /// Returns true if a name, which has been taken, begins a number, bit fields or padding.
    fn begins_derived(&mut self, name: &str) -> bool {
        NumberForm::by_name(name).is_some() || self.begins_padding(name) || self.begins_bits(name)
    }

    /// Returns what `$name`, which has been taken, begins: a copy, a number, bit fields or padding.
    pub(super) fn derived_item(&mut self, name: &str, span: Span) -> Result<Sized, Reported> {
        if self.begins_padding(name) {
            return self.padding(name, span);
        }
        if self.begins_bits(name) { self.bits(name, span) } else { self.number(name, span) }
    }

    /// Returns the expression that `$name` begins, which has been taken.
    fn number(&mut self, name: &str, span: Span) -> Result<Sized, Reported> {
        if let Some(form) = NumberForm::by_name(name).filter(|_| self.begins_range()) {
            let range = self.range(form, span)?;
            return self.made(range);
        }
        let derived = self.derived(name, span)?;
        self.build(ExprKind::Derived(derived), span.to(self.last_span), 0)
    }

    /// Parses what follows `$name`, which has been taken.
    fn derived(&mut self, name: &str, span: Span) -> Result<Derived<Name>, Reported> {
        let Some(form) = NumberForm::by_name(name) else {
            if self.peek(0).kind == Kind::Open && self.peek(0).span.start == span.end {
                return Err(self.unknown(
                    "form of a number",
                    name,
                    span,
                    NumberForm::names()
                        .chain(WORDS.concat())
                        .chain(Naming::WORDS)
                        .chain(Coding::names())
                        .chain([Expr::MIRROR, Expr::CALL]),
                ));
            }
            // The dollar sign is not part of the name.
            return Ok(Derived::Copy(Name { text: name.to_string(), span: Span { start: span.start + 1, ..span } }));
        };
        let help = "a number is written `$u16be(len(part))` or `$dec(len(part), 5)`";
        if !self.take_if(&Kind::Open) {
            return Err(self.error(span, format!("`${name}` needs a number in parentheses"), help));
        }
        let value = self.value()?;
        let form = if self.take_if(&Kind::Comma) { self.width(form)? } else { form };
        if !self.take_if(&Kind::Close) {
            let end = self.peek(0).span;
            return Err(self.error(end, "this number is not closed", help));
        }
        let form = self.form_of(&value, form, span.to(self.last_span))?;
        Ok(Derived::Number(value, form))
    }

    /// Returns true if `$name`, which has been taken, says something of names.
    pub(super) fn begins_naming(&mut self, name: &str) -> bool {
        Naming::WORDS.contains(&name) && self.peek(0).kind == Kind::Open
    }

    /// Parses the kinds of names and the part after `$define` and its like, which have been taken.
    pub(super) fn naming(&mut self, word: &str, span: Span) -> Result<Sized, Reported> {
        let open = self.take().span;
        let help = format!("write `${word}(kind, part)`");
        let mut kinds = Vec::new();
        while let Kind::Name(kind) = self.peek(0).kind {
            if self.peek(1).kind != Kind::Comma {
                break;
            }
            kinds.push(Name { text: kind.to_string(), span: self.take().span });
            self.take();
        }
        let place = kinds.get(1).map_or(open, |kind: &Name| kind.span);
        let is_one = kinds.len() == 1 || word == "scope";
        let Some(naming) = Naming::by_word(word, kinds).filter(|_| is_one) else {
            let message = format!("`${word}` needs {}", if word == "scope" { "a kind of names" } else { "one kind" });
            return Err(self.error(place, message, help));
        };
        let Sized { expr, height } = self.nested(open)?;
        if !self.take_if(&Kind::Close) {
            let end = self.peek(0).span;
            return Err(self.error(end, format!("`${word}` is not closed"), help));
        }
        let span = span.to(self.last_span);
        self.build(ExprKind::Naming { naming, item: Box::new(expr) }, span, height)
    }

    /// Parses the part after the name of a coding, which has been taken.
    pub(super) fn coded(&mut self, coding: Coding, span: Span) -> Result<Sized, Reported> {
        let open = self.take().span;
        let Sized { expr, height } = self.nested(open)?;
        if !self.take_if(&Kind::Close) {
            let (end, name) = (self.peek(0).span, coding.name());
            return Err(self.error(end, format!("`${name}` is not closed"), format!("write `${name}(part)`")));
        }
        let span = span.to(self.last_span);
        self.build(ExprKind::Coded { coding, item: Box::new(expr) }, span, height)
    }

    /// Returns true if `$name`, which has been taken, begins a mirror.
    pub(super) fn begins_mirror(&mut self, name: &str) -> bool {
        name == Expr::MIRROR && self.peek(0).kind == Kind::Open
    }

    /// Parses the label and the part after `$each`, which has been taken.
    pub(super) fn mirror(&mut self, span: Span) -> Result<Sized, Reported> {
        let open = self.take().span;
        let help = "write `$each(parts, item)`, where `parts` is the label of a repetition";
        let Token { kind: Kind::Name(label), span: place, .. } = self.take() else {
            return Err(self.error(self.last_span, "`$each` needs the label of a repetition", help));
        };
        let label = Name { text: label.to_string(), span: place };
        if !self.take_if(&Kind::Comma) {
            return Err(self.error(place, "`$each` needs a part after the label", help));
        }
        let Sized { expr, height } = self.nested(open)?;
        if !self.take_if(&Kind::Close) {
            let end = self.peek(0).span;
            return Err(self.error(end, "`$each` is not closed", help));
        }
        let span = span.to(self.last_span);
        self.build(Expr::mirror(label, expr, span).kind, span, height)
    }

    /// Parses the parameters of a rule, if it has some.
    pub(super) fn parameters(&mut self) -> Vec<Name> {
        let mut parameters = Vec::new();
        if !self.take_if(&Kind::Open) {
            return parameters;
        }
        while let Token { kind: Kind::Name(name), span, .. } = *self.peek(0) {
            self.take();
            if let Some(meaning) = reserved(name) {
                let help = format!("this name begins {meaning}; give the parameter another name");
                self.error(span, format!("`{name}` is reserved and no parameter"), help);
            }
            parameters.push(Name { text: name.to_string(), span });
            self.take_if(&Kind::Comma);
        }
        self.take_if(&Kind::Close);
        parameters
    }

    /// Returns true if `$name`, which has been taken, begins a reference to a rule with parameters.
    pub(super) fn begins_call(&mut self, name: &str) -> bool {
        name == Expr::CALL && self.peek(0).kind == Kind::Open
    }

    /// Parses the rule and the labels after `$call`, which has been taken.
    pub(super) fn call(&mut self, span: Span) -> Result<Sized, Reported> {
        self.take();
        let help = "write `$call(rule, part)`, where `part` is the label of a part";
        let Token { kind: Kind::Name(rule), span: place, .. } = self.take() else {
            return Err(self.error(self.last_span, "`$call` needs a rule", help));
        };
        let rule = Expr::rule(rule, place);
        let mut arguments = Vec::new();
        while self.take_if(&Kind::Comma) {
            let Token { kind: Kind::Name(label), span, .. } = self.take() else {
                return Err(self.error(self.last_span, "this is not a label", help));
            };
            arguments.push(Name { text: label.to_string(), span });
        }
        if !self.take_if(&Kind::Close) {
            let end = self.peek(0).span;
            return Err(self.error(end, "`$call` is not closed", help));
        }
        self.count(1, place)?;
        let span = span.to(self.last_span);
        self.build(ExprKind::Call { arguments, item: Box::new(rule) }, span, 1)
    }

    /// Parses the width of digits.
    pub(super) fn width(&mut self, form: NumberForm) -> Result<NumberForm, Reported> {
        let Token { kind, span, .. } = self.peek(0);
        let span = *span;
        let width = match kind {
            Kind::Number(digits) => digits.parse::<u8>().ok().filter(|width| (1..=MAX_WIDTH).contains(width)),
            _ => None,
        };
        let Some(width) = width else {
            let help = format!("it is a number from 1 to {MAX_WIDTH}");
            return Err(self.error(span, "this is not a width", help));
        };
        self.take();
        match form {
            NumberForm::Text(radix, _) => Ok(NumberForm::Text(radix, Some(width))),
            NumberForm::Integer(..) | NumberForm::Signed(..) | NumberForm::Leb128 | NumberForm::Raw(_) => {
                let help = "only `dec`, `hex`, `HEX` and `oct` have a width";
                Err(self.error(span, format!("`{form}` has no width of digits"), help))
            }
        }
    }

    /// Returns true if the next braces have a number of rounds that follows from labelled parts.
    pub(super) fn begins_times(&mut self) -> bool {
        self.peek(0).kind == Kind::OpenBrace
            && match self.peek(1).kind {
                Kind::Name(_) => true,
                Kind::Number(_) => self.peek(2).kind == Kind::Star,
                _ => false,
            }
    }

    /// Returns an item with a number of rounds that follows from labelled parts, `{count(part)}`.
    pub(super) fn times(&mut self, item: Sized) -> Result<Sized, Reported> {
        let open = self.take().span;
        let rounds = self.rounds()?;
        let close = self.peek(0).span;
        if !self.take_if(&Kind::CloseBrace) {
            return Err(self.error(open.to(close), "this repetition is not closed", "write `{count(part)}`"));
        }
        let Sized { expr, height } = item;
        let span = expr.span.to(close);
        self.build(ExprKind::Times { item: Box::new(expr), rounds, is_mirror: false }, span, height)
    }

    /// Parses a number of rounds.
    fn rounds(&mut self) -> Result<Value<Name>, Reported> {
        let rounds = self.value()?;
        let is_too_much =
            |term: &&Term<Name>| u64::from(term.times) > u64::from(MAX_ROUNDS) * u64::from(rounds.divisor);
        if let Some(term) = rounds.terms.iter().find(is_too_much) {
            let help = format!("rounds are at most {MAX_ROUNDS} times as many as those of another part");
            return Err(self.error(term.label.span, format!("{} is too much here", term.times), help));
        }
        let is_other = |measure: Measure| measure.is_of_content() || measure.is_of_place();
        if let Some(term) = rounds.terms.iter().find(|term| is_other(term.measure)) {
            let message = format!("`{}` is no number of rounds", term.measure.name());
            return Err(self.error(term.label.span, message, "rounds follow from `count` or `len`"));
        }
        Ok(rounds)
    }

    /// Parses a number that follows from labelled parts, such as `2 * len(part) + 4`.
    pub(super) fn value(&mut self) -> Result<Value<Name>, Reported> {
        let begin = self.peek(0).span;
        let mut value = Value::sum(Vec::new(), 0);
        let mut quotient = None;
        let mut is_negative = self.take_if(&Kind::Minus);
        loop {
            if self.begins_quotient() {
                self.quotient(is_negative, &mut quotient)?;
            } else {
                self.term(is_negative, &mut value)?;
            }
            is_negative = match self.peek(0).kind {
                Kind::Plus => false,
                Kind::Minus => true,
                _ => break,
            };
            self.take();
        }
        if let Some(quotient) = quotient {
            value = self.with_quotient(value, quotient, begin.to(self.last_span))?;
        }
        if value.terms.is_empty() {
            let help = "it names a labelled part, as in `len(part) + 4`; a constant number is written as text";
            return Err(self.error(begin.to(self.last_span), "this number follows from nothing", help));
        }
        Ok(value)
    }

    /// Parses a term of a number, and adds it.
    pub(super) fn term(&mut self, is_negative: bool, value: &mut Value<Name>) -> Result<(), Reported> {
        let Token { kind, span, .. } = self.take();
        let (mut measure, mut place, mut times) = (kind, span, 1);
        if let Kind::Number(digits) = measure {
            let help = format!("constants are whole numbers up to {MAX_CONSTANT}, factors up to {MAX_FACTOR}");
            let number = digits.parse::<i64>().ok().filter(|&number| number <= MAX_CONSTANT);
            let Some(number) = number else { return Err(self.error(span, "this is not a number", help)) };
            if !self.take_if(&Kind::Star) {
                let sum = value.plus + if is_negative { -number } else { number };
                if sum.unsigned_abs() > MAX_CONSTANT.unsigned_abs() {
                    return Err(self.error(span, "the constants of this number add up to too much", help));
                }
                value.plus = sum;
                return Ok(());
            }
            let factor = u32::try_from(number).ok().filter(|factor| (1..=MAX_FACTOR).contains(factor));
            let Some(factor) = factor else { return Err(self.error(span, "this is not a factor", help)) };
            times = factor;
            Token { kind: measure, span: place, .. } = self.take();
        }
        let help = "a number is a sum of constants and properties of labelled parts, such as `len(part) + 4`";
        let Kind::Name(name) = measure else { return Err(self.error(place, "expected a property of a part", help)) };
        let Some(measure) = Measure::by_name(name) else {
            return Err(self.unknown("property of a part", name, place, Measure::names()));
        };
        if is_negative {
            let help = "numbers grow with the parts that they follow from; only constants can be subtracted";
            return Err(self.error(place, format!("`{name}` cannot be subtracted"), help));
        }
        if !self.take_if(&Kind::Open) {
            return Err(self.error(place, format!("`{name}` needs a label in parentheses"), help));
        }
        let Token { kind: Kind::Name(label), span, .. } = self.take() else {
            return Err(self.error(self.last_span, format!("`{name}` needs a label"), help));
        };
        value.terms.push(Term { times, measure, label: Name { text: label.to_string(), span } });
        if measure == Measure::Offset && self.take_if(&Kind::Comma) {
            let Token { kind: Kind::Name(base), span, .. } = self.take() else {
                let help = "an offset from the beginning of another part is written `offset(part, base)`";
                return Err(self.error(self.last_span, "this is not a label", help));
            };
            value.terms.push(Term { times, measure: Measure::Base, label: Name { text: base.to_string(), span } });
        }
        if measure.is_of_content() && self.take_if(&Kind::Comma) {
            value.blank = Some(self.blank()?);
        }
        if !self.take_if(&Kind::Close) {
            let end = self.peek(0).span;
            return Err(self.error(end, "this property is not closed", "write `len(part)`"));
        }
        Ok(())
    }

    /// Parses what counts as other bytes in a checksum of a part that contains it: `self as ' '`, `field as #x00`.
    fn blank(&mut self) -> Result<Blank<Name>, Reported> {
        let help =
            "a checksum of a part that contains it is written `sum(part, self as ' ')` or `sum(part, field as ' ')`";
        let Token { kind: Kind::Name(label), span, .. } = self.take() else {
            return Err(self.error(self.last_span, "expected `self` or a label", help));
        };
        if !self.take_if(&Kind::Name("as")) {
            let place = self.peek(0).span;
            return Err(self.error(place, "expected `as` and a byte", help));
        }
        let part = (label != SELF).then(|| Name { text: label.to_string(), span });
        Ok(Blank { part, byte: self.filler()? })
    }

    /// Returns the form of a number. A checksum and a digest stand alone, in a form that is as wide as they need.
    fn form_of(&mut self, value: &Value<Name>, form: NumberForm, span: Span) -> Result<NumberForm, Reported> {
        let of_content = value.terms.iter().map(|term| term.measure).find(|measure| measure.is_of_content());
        if let Some(measure) = of_content
            && (value.terms.len() > 1 || value.plus != 0 || value.terms[0].times != 1 || value.divisor != 1)
        {
            let verb = if value.divisor == 1 { "nothing can be added to" } else { "nothing can divide" };
            let message = format!("{verb} `{}`", measure.name());
            return Err(self.error(span, message, "a checksum or a digest stands alone in its number"));
        }
        if value.is_of_places() {
            self.check_offset(value, form, span)?;
        }
        match (of_content, form) {
            (Some(Measure::Digest(digest)), _) => self.form_of_digest(digest, form, span),
            (_, NumberForm::Raw(_)) => {
                let known = Digest::ALL.map(Digest::name).join(", ");
                let help = format!("`raw` writes the bytes of a digest: {known}; numbers have other forms");
                Err(self.error(span, "this is not a digest", help))
            }
            (Some(Measure::Sum(sum)), _) => self.check_sum(sum, form, span).map(|()| form),
            (Some(Measure::Len | Measure::Count | Measure::Offset | Measure::Base) | None, _) => Ok(form),
        }
    }

    /// Checks that the form of an offset has a width, and that it is added to lengths alone: these are no greater than
    /// the text is long.
    fn check_offset(&mut self, value: &Value<Name>, form: NumberForm, span: Span) -> Result<(), Reported> {
        if form.fixed_width().is_none() {
            let help = "write an integer, or digits with a width: `$dec(offset(part), 8)`";
            return Err(self.error(span, "`offset` needs a form of fixed width", help));
        }
        if value.terms.iter().any(|term| term.measure == Measure::Count) {
            let help = "the length of the text bounds offsets and lengths; rounds can be empty";
            return Err(self.error(span, "`count` cannot be added to `offset`", help));
        }
        Ok(())
    }

    /// Checks that the form of a checksum has a width, and is as wide as all its values need.
    fn check_sum(&mut self, sum: Sum, form: NumberForm, span: Span) -> Result<(), Reported> {
        let name = sum.name();
        if form.fixed_width().is_none() {
            let message = format!("`{name}` needs a form of fixed width");
            return Err(self.error(
                span,
                message,
                format!("write an integer, or digits with a width: `$hex({name}(part), 8)`"),
            ));
        }
        if form.greatest() < sum.greatest() && sum != Sum::Sum {
            let message = format!("`{name}` does not fit: it can be {}", sum.greatest());
            let help = format!("the greatest that can be written here is {}; use a wider form", form.greatest());
            return Err(self.error(span, message, help));
        }
        Ok(())
    }

    /// Returns the form of a digest, with its width.
    fn form_of_digest(&mut self, digest: Digest, form: NumberForm, span: Span) -> Result<NumberForm, Reported> {
        let (name, digits) = (digest.name(), 2 * digest.width());
        match form {
            NumberForm::Raw(_) => Ok(NumberForm::Raw(digest.width())),
            NumberForm::Text(radix @ (Radix::Hex | Radix::UpperHex), width)
                if width.is_none_or(|width| width == digits) =>
            {
                Ok(NumberForm::Text(radix, Some(digits)))
            }
            NumberForm::Text(Radix::Hex | Radix::UpperHex, _) => {
                let message = format!("`{name}` has {digits} digits");
                Err(self.error(span, message, "leave the width out: a digest is always as wide"))
            }
            NumberForm::Integer(..) | NumberForm::Signed(..) | NumberForm::Text(..) | NumberForm::Leb128 => {
                let help =
                    format!("it is written as `$raw({name}(part))`, `$hex({name}(part))` or `$HEX({name}(part))`");
                Err(self.error(span, format!("`{name}` is a digest and no number"), help))
            }
        }
    }

    fn unknown(&mut self, what: &str, name: &str, span: Span, names: impl Iterator<Item = &'static str>) -> Reported {
        let known: Vec<&str> = names.collect();
        let similar = closest(name, known.iter().copied())
            .map_or_else(String::new, |similar| format!("did you mean `{similar}`? "));
        self.error(span, format!("unknown {what} `{name}`"), format!("{similar}Known: {}", known.join(", ")))
    }
}
