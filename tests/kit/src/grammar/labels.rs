//! Labelled parts in random grammars, and what follows from them.

use gramjet_compiler::ast::{Expr, ExprKind, Grammar, Name};
use gramjet_compiler::coding::Coding;
use gramjet_compiler::derived::{
    Bits, Blank, Derived, Digest, Measure, NumberForm, Order, Padding, Radix, Sum, Term, Value,
};
use gramjet_compiler::diagnostics::Span;

use super::{Maker, expr, seq};

/// A sequence with labels that is being made.
pub(super) struct Scope {
    labels: Vec<Label>,
    /// The number of the item that is being made.
    item: usize,
    /// The number of sequences up to this one.
    level: usize,
}

#[derive(Clone)]
pub(super) struct Label {
    name: String,
    item: usize,
    is_repetition: bool,
    /// The labels of a round.
    round: Vec<Label>,
}

impl Label {
    pub(super) fn name(&self) -> Name {
        Name { text: self.name.clone(), span: Span::default() }
    }
}

impl Scope {
    /// Returns a scope of parts that are complete.
    pub(super) fn of_parameters(labels: Vec<Label>) -> Scope {
        Scope { labels, item: 1, level: 1 }
    }

    /// Notes the labels of a round of an item that is a repetition.
    fn add_round(&mut self, item: usize, round: &Expr) {
        for label in self.labels.iter_mut().filter(|label| label.item == item) {
            label.round = labels_of(round);
        }
    }

    /// Notes the labels of the group that an item is.
    fn add_group(&mut self, item: usize, group: &Expr) {
        if group.as_seq().is_some() {
            self.labels.extend(labels_of(group).into_iter().map(|label| Label { item, ..label }));
        }
    }
}

/// Returns the labels of a sequence.
fn labels_of(sequence: &Expr) -> Vec<Label> {
    let items = sequence.sequence().iter().enumerate();
    let layers = items.flat_map(|(item, expr)| expr.layers().map(move |layer| (item, layer)));
    let labels = layers.flat_map(|(item, layer)| layer.labels().map(move |(label, part)| (item, label, part)));
    let label = |(item, label, part): (usize, &Name, &Expr)| {
        let (name, is_repetition) = (label.text.clone(), part.round().is_some());
        Label { name, item, is_repetition, round: Vec::new() }
    };
    let groups = sequence.sequence().iter().enumerate().filter(|(_, expr)| expr.unlabelled().as_seq().is_some());
    let of_groups = groups
        .flat_map(|(item, expr)| labels_of(expr.unlabelled()).into_iter().map(move |label| Label { item, ..label }));
    labels.map(label).chain(of_groups).collect()
}

impl Maker<'_> {
    /// Returns the parameters of a rule: none, one or two, of which some stand for repetitions.
    pub(super) fn parameters(&self, rule: usize) -> Vec<Label> {
        let count = if self.shape.parameters && rule < self.rules { rule % 3 } else { 0 };
        let parameter = |number: usize| {
            let is_repetition = (rule + number).is_multiple_of(2);
            Label { name: format!("p{rule}x{number}"), item: 0, is_repetition, round: Vec::new() }
        };
        (0..count).map(parameter).collect()
    }

    /// Returns a reference to a rule, with a complete part for each of its parameters. `None` without such parts.
    pub(super) fn call(&mut self, rule: usize) -> Option<Expr> {
        let mut given = Vec::new();
        for parameter in self.parameters(rule) {
            let fits = |label: &Label, scope: &Scope| {
                label.item < scope.item && (label.is_repetition || !parameter.is_repetition)
            };
            given.push(self.label(&fits)?);
        }
        Some(super::called(rule, &given))
    }

    /// Returns a reference to a rule, after a part for each of its parameters.
    pub(super) fn call_with_parts(&mut self, rule: usize) -> Expr {
        let own = self.parameters(rule).into_iter();
        let labels: Vec<Label> = own.map(|label| Label { name: format!("x{}", label.name), ..label }).collect();
        let mut items = Vec::new();
        for label in &labels {
            let min = self.draw.below(3) as u32;
            let part = expr(ExprKind::Repeat { item: Box::new(self.class()), min, max: Some(min + 2) });
            items.push(expr(ExprKind::Label { label: label.name(), item: Box::new(part) }));
        }
        let call = super::called(rule, &labels);
        if items.is_empty() {
            return call;
        }
        items.push(call);
        seq(items)
    }

    /// Returns a sequence with labels, with items that follow from them.
    pub(super) fn labelled(&mut self, nesting: usize) -> Expr {
        let count = self.draw.between(2, 6);
        let mut labels: Vec<Label> = Vec::new();
        let seen: usize = self.scopes.iter().map(|scope| scope.labels.len()).sum();
        for item in 0..count {
            let names = if self.draw.percent(5) { 2 } else { usize::from(self.draw.percent(45)) };
            let is_repetition = self.draw.percent(60);
            for _ in 0..names {
                let name = format!("l{}", seen + labels.len());
                labels.push(Label { name, item, is_repetition, round: Vec::new() });
            }
        }
        let level = self.scopes.len() + 1;
        self.scopes.push(Scope { labels: labels.clone(), item: 0, level });
        let items = (0..count).map(|item| {
            self.scopes.last_mut().expect("a sequence is being made").item = item;
            let names: Vec<&Label> = labels.iter().filter(|label| label.item == item).collect();
            let made = match names.first() {
                Some(label) if label.is_repetition && self.shape.mirrors && nesting > 0 && self.draw.percent(60) => {
                    self.labelled_rounds(nesting - 1)
                }
                Some(label) if label.is_repetition => self.counted(nesting),
                None if self.shape.mirrors && self.draw.percent(40) => {
                    self.mirror(nesting).unwrap_or_else(|| self.item(nesting))
                }
                Some(_) if self.shape.groups && nesting > 0 && self.draw.percent(50) => self.labelled(nesting - 1),
                None if self.shape.groups && nesting > 0 && self.draw.percent(20) => self.labelled(nesting - 1),
                Some(_) if self.draw.percent(80) => self.part(nesting),
                Some(_) => self.following(true).unwrap_or_else(|| self.part(nesting)),
                None if self.draw.percent(75) => self.following(true).unwrap_or_else(|| self.item(nesting)),
                None => self.item(nesting),
            };
            if let Some(round) = made.round() {
                self.scopes.last_mut().expect("a sequence is being made").add_round(item, round);
            }
            if self.shape.groups {
                self.scopes.last_mut().expect("a sequence is being made").add_group(item, &made);
            }
            names.into_iter().rev().fold(made, |item, label| {
                let item = expr(ExprKind::Label { label: label.name(), item: Box::new(item) });
                if self.shape.codings && self.draw.percent(12) { self.coded(item) } else { item }
            })
        });
        let mut items = items.collect();
        self.pad(&mut items, &labels);
        let scope = self.scopes.pop().expect("a sequence is being made");
        let of_groups = &scope.labels[labels.len()..];
        if self.draw.percent(40)
            && let Some(label) = of_groups.get(self.draw.below(of_groups.len().max(1)))
        {
            let length = Term { times: 1, measure: Measure::Len, label: label.name() };
            let forms = [NumberForm::Integer(1, Order::Big), NumberForm::Text(Radix::Octal, Some(1))];
            let number = Derived::Number(Value::sum(vec![length], 0), forms[self.draw.below(2)]);
            items.insert(0, expr(ExprKind::Derived(number)));
        }
        seq(items)
    }

    /// Returns a part that is coded.
    pub(super) fn coded(&mut self, part: Expr) -> Expr {
        // Mostly codings that are short and have lengths of their own.
        const SHORT: [Coding; 7] = [
            Coding::Base16,
            Coding::Base64,
            Coding::Base64Url,
            Coding::Percent,
            Coding::CString,
            Coding::QuotedPrintable,
            Coding::Chunked,
        ];
        let coding = match self.draw.below(5) {
            0 => Coding::ALL[self.draw.below(Coding::ALL.len())],
            _ => SHORT[self.draw.below(SHORT.len())],
        };
        expr(ExprKind::Coded { coding, item: Box::new(part) })
    }

    /// Adds padding after some of the labelled parts of a sequence.
    fn pad(&mut self, items: &mut Vec<Expr>, labels: &[Label]) {
        let mut padded: Vec<&Label> = Vec::new();
        for label in labels {
            if padded.iter().any(|other| other.item == label.item) || !self.draw.percent(15) {
                continue;
            }
            padded.push(label);
        }
        // From the end on, so that items keep their numbers up to there.
        for label in padded.into_iter().rev() {
            let is_exact = self.draw.percent(35);
            let to = if is_exact { [1, 3, 5, 9][self.draw.below(4)] } else { [1, 2, 3, 4, 8][self.draw.below(5)] };
            let filler = if self.draw.percent(60) { 0 } else { b'a' + self.draw.below(3) as u8 };
            let padding = Derived::Padding(label.name(), Padding { to, is_exact, filler });
            let place = self.draw.between(label.item + 1, items.len());
            items.insert(place, expr(ExprKind::Derived(padding)));
        }
    }

    /// Returns a part that other parts can follow from.
    pub(super) fn part(&mut self, nesting: usize) -> Expr {
        match self.draw.below(6) {
            0 if nesting > 0 => self.labelled(nesting - 1),
            1 if nesting > 0 => self.alternatives(nesting - 1),
            2 | 3 => self.reference(),
            4 => self.class(),
            _ => self.counted(nesting),
        }
    }

    /// Returns a repetition.
    fn counted(&mut self, nesting: usize) -> Expr {
        if self.draw.percent(15)
            && let Some(times) = self.times(nesting)
        {
            return times;
        }
        if self.draw.percent(60) {
            let min = self.draw.below(3) as u32;
            let max = if self.shape.unbounded { None } else { Some(min + 2) };
            return expr(ExprKind::Repeat { item: Box::new(self.class()), min, max });
        }
        self.repetition(nesting)
    }

    /// Returns a repetition whose rounds have labels.
    fn labelled_rounds(&mut self, nesting: usize) -> Expr {
        let item = Box::new(self.labelled(nesting));
        if self.draw.percent(15)
            && let Some(mut rounds) = self.value(&|label, scope| label.item < scope.item)
        {
            rounds.terms.truncate(1);
            (rounds.terms[0].times, rounds.plus) = (1, rounds.plus.min(2));
            return expr(ExprKind::Times { item, rounds, is_mirror: false });
        }
        let min = self.draw.below(3) as u32;
        let max = match self.draw.below(3) {
            0 if self.shape.unbounded => None,
            1 => Some(min.max(1)),
            _ => Some(min + 2),
        };
        expr(ExprKind::Repeat { item, min, max })
    }

    /// Returns what is derived for each round of a repetition that is complete.
    fn mirror(&mut self, nesting: usize) -> Option<Expr> {
        if self.mirrored.is_some() {
            return None;
        }
        let label = self.label(&|label, scope| label.item < scope.item && !label.round.is_empty())?;
        let owner = self.scopes.iter().position(|scope| scope.labels.iter().any(|own| own.name == label.name))?;
        let is_seen =
            |own: &Label| self.scopes.iter().any(|scope| scope.labels.iter().any(|seen| seen.name == own.name));
        if label.round.iter().any(is_seen) {
            return None;
        }
        self.mirrored = Some((owner, label.item, self.scopes.len()));
        let level = self.scopes.len() + 1;
        self.scopes.push(Scope { labels: label.round.clone(), item: usize::MAX, level });
        let item = match self.draw.below(4) {
            0 if nesting > 0 => self.labelled(nesting - 1),
            _ => {
                let parts = self.draw.between(1, 4);
                seq((0..parts).map(|_| self.following(false).unwrap_or_else(|| self.class())).collect())
            }
        };
        self.scopes.pop();
        self.mirrored = None;
        Some(Expr::mirror(label.name(), item, Span::default()))
    }

    /// Returns an expression as many times as parts say that are complete.
    fn times(&mut self, nesting: usize) -> Option<Expr> {
        let mut rounds = self.value(&|label, scope| label.item < scope.item)?;
        // Rounds of rounds of rounds would be too many.
        rounds.terms.truncate(1);
        rounds.terms[0].times = 1;
        rounds.plus = rounds.plus.min(3);
        self.divide(&mut rounds, 40);
        let item = if nesting > 0 && self.draw.percent(60) { self.item(nesting - 1) } else { self.class() };
        Some(expr(ExprKind::Times { item: Box::new(item), rounds, is_mirror: false }))
    }

    /// Returns something that follows from parts: at an item of the innermost sequence, or within an item.
    pub(super) fn following(&mut self, is_item: bool) -> Option<Expr> {
        let derived = match self.draw.below(8) {
            0..=2 => Derived::Copy(self.label(&|label, scope| label.item < scope.item)?.name()),
            3 if self.shape.names && self.draw.percent(50) => {
                let label = self.label(&|label, scope| label.item < scope.item)?.name();
                return Some(self.declared(label));
            }
            3 if self.shape.mirrors && self.draw.percent(50) => return self.mirror(1),
            3 => return self.times(0),
            4 if self.draw.percent(30) => Derived::Number(self.offset()?, self.form_of_offset()),
            4 if self.draw.percent(40) => self.own_checksum()?,
            5 if self.draw.percent(45) => self.bits()?,
            4 if self.draw.percent(25) => {
                let label = self.label(&|label, scope| label.item != scope.item)?.name();
                let digest = Digest::ALL[self.draw.below(3)];
                let value = Value::sum(vec![Term { times: 1, measure: Measure::Digest(digest), label }], 0);
                let radix = [Radix::Hex, Radix::UpperHex][self.draw.below(2)];
                let is_raw = self.draw.percent(50);
                let digits = NumberForm::Text(radix, Some(2 * digest.width()));
                Derived::Number(value, if is_raw { NumberForm::Raw(digest.width()) } else { digits })
            }
            4 => {
                let sum = [Sum::Crc32, Sum::Adler32, Sum::Sum, Sum::Sum8, Sum::Xor8, Sum::Internet][self.draw.below(6)];
                let label = self.label(&|label, scope| label.item != scope.item)?.name();
                let value = Value::sum(vec![Term { times: 1, measure: Measure::Sum(sum), label }], 0);
                let forms = [
                    NumberForm::Integer(4, Order::Big),
                    NumberForm::Integer(8, Order::Little),
                    NumberForm::Text(Radix::Hex, Some(8)),
                ];
                let form = match sum {
                    Sum::Sum if self.draw.percent(50) => NumberForm::Text(Radix::Decimal, Some(2)),
                    Sum::Sum8 | Sum::Xor8 if self.draw.percent(50) => NumberForm::Integer(1, Order::Big),
                    _ => forms[self.draw.below(3)],
                };
                Derived::Number(value, form)
            }
            _ => {
                let form = match self.draw.below(16) {
                    0..=2 => NumberForm::Text(Radix::Decimal, None),
                    3 => NumberForm::Text([Radix::Hex, Radix::UpperHex][self.draw.below(2)], None),
                    4 => NumberForm::Text(Radix::Octal, None),
                    5 => NumberForm::Leb128,
                    6 => NumberForm::Text(Radix::Octal, Some(1)),
                    7 | 8 => NumberForm::Text(Radix::Decimal, Some(1 + self.draw.below(3) as u8)),
                    9 => NumberForm::Text(Radix::Hex, Some(1)),
                    10 | 11 => NumberForm::Integer(1, Order::Big),
                    12 => NumberForm::Integer(2, Order::Little),
                    13 => NumberForm::Signed(1, Order::Little),
                    14 => NumberForm::Signed(4, Order::Big),
                    _ => NumberForm::Integer(3, Order::Big),
                };
                // A number of free width stands before its part as an item of the same sequence only.
                let value = if form.fixed_width().is_some() {
                    self.value(&|label, scope| label.item != scope.item)?
                } else if is_item && self.draw.percent(60) {
                    let own = self.scopes.len();
                    self.value(&|label, scope| {
                        label.item < scope.item || label.item > scope.item && scope.level == own
                    })?
                } else {
                    self.value(&|label, scope| label.item < scope.item)?
                };
                Derived::Number(value, form)
            }
        };
        Some(expr(ExprKind::Derived(derived)))
    }

    /// Returns bit fields, of which some follow from parts.
    fn bits(&mut self) -> Option<Derived<Name>> {
        let mut rest = 8 * self.draw.between(1, 3) as u8;
        let order = [Order::Big, Order::Little][self.draw.below(2)];
        let mut fields = Vec::new();
        while rest > 0 {
            let width = rest.min(1 + self.draw.below(9) as u8);
            rest -= width;
            let value = match self.draw.below(10) {
                0..=2 => Value::sum(Vec::new(), self.draw.below(1 << width) as i64),
                3 => self.offset()?,
                _ => self.value(&|label, scope| label.item != scope.item)?,
            };
            fields.push((width, value));
        }
        Some(Derived::Bits(Bits { fields, order }))
    }

    /// Returns a checksum or a digest of a part that contains it.
    fn own_checksum(&mut self) -> Option<Derived<Name>> {
        let summed = self.label(&|label, scope| label.item == scope.item)?;
        let around: Vec<(usize, Label)> = self
            .scopes
            .iter()
            .flat_map(|scope| {
                scope.labels.iter().filter(|label| label.item == scope.item).map(|label| (scope.level, label))
            })
            .map(|(level, label)| (level, label.clone()))
            .collect();
        let level = around.iter().find(|(_, label)| label.name == summed.name)?.0;
        let fields: Vec<Label> =
            around.into_iter().filter(|(other, _)| *other > level).map(|(_, label)| label).collect();
        let field = fields.get(self.draw.below(fields.len() + 1)).map(Label::name);
        let byte = [0, b' ', b'a', 0xFF][self.draw.below(4)];
        let measures = [Measure::Sum(Sum::Sum), Measure::Sum(Sum::Internet), Measure::Sum(Sum::Crc32)];
        let is_digest = self.draw.percent(10);
        let measure = if is_digest { Measure::Digest(Digest::Md5) } else { measures[self.draw.below(3)] };
        let forms = [NumberForm::Integer(4, Order::Big), NumberForm::Text(Radix::Hex, Some(8))];
        let form = match measure {
            Measure::Digest(_) => NumberForm::Raw(16),
            Measure::Sum(Sum::Sum) => NumberForm::Text(Radix::Octal, Some(2 + self.draw.below(5) as u8)),
            _ => forms[self.draw.below(2)],
        };
        let value = Value::sum(vec![Term { times: 1, measure, label: summed.name() }], 0);
        Some(Derived::Number(Value { blank: Some(Blank { part: field, byte }), ..value }, form))
    }

    /// Returns an offset, mostly from the beginning of the text.
    fn offset(&mut self) -> Option<Value<Name>> {
        let times = if self.draw.percent(85) { 1 } else { 2 };
        let term = |measure, label: &Label| Term { times, measure, label: label.name() };
        let part = self.label(&|_, _| true)?;
        let mut terms = vec![term(Measure::Offset, &part)];
        if self.draw.percent(40) {
            let base = self.label(&|label, _| label.item <= part.item)?;
            terms.push(term(Measure::Base, &base));
        }
        if self.draw.percent(25) {
            let measured = self.label(&|label, scope| label.item != scope.item)?;
            terms.push(Term { times: 1, measure: Measure::Len, label: measured.name() });
        }
        let plus = [0, 0, 0, 1, 3, -2][self.draw.below(6)];
        let mut value = Value::sum(terms, plus);
        self.divide(&mut value, 15);
        Some(value)
    }

    fn form_of_offset(&mut self) -> NumberForm {
        match self.draw.below(6) {
            0 => NumberForm::Text(Radix::Decimal, Some(1)),
            1 => NumberForm::Text(Radix::Octal, Some(2)),
            2 => NumberForm::Text(Radix::Decimal, Some(2)),
            3 => NumberForm::Integer(1, Order::Big),
            4 => NumberForm::Signed(1, Order::Big),
            _ => NumberForm::Integer(4, Order::Little),
        }
    }

    /// Returns one of the labels that are seen, if they are admitted.
    fn label(&mut self, admits: &dyn Fn(&Label, &Scope) -> bool) -> Option<Label> {
        // A mirror gets no longer with what stands between the rounds and itself.
        let is_early = |number: usize, label: &Label| {
            self.mirrored.is_none_or(|(owner, item, round)| {
                number < owner || number >= round || number == owner && label.item < item
            })
        };
        let scopes = self.scopes.iter().enumerate();
        let labels = scopes.flat_map(|(number, scope)| scope.labels.iter().map(move |label| (number, scope, label)));
        let labels = labels.filter(|&(number, scope, label)| is_early(number, label) && admits(label, scope));
        let labels: Vec<Label> = labels.map(|(.., label)| label.clone()).collect();
        // Labels of inner sequences come last, and are taken more often.
        let number = self.draw.below(labels.len().max(1)).max(self.draw.below(labels.len().max(1)));
        labels.into_iter().nth(number)
    }

    /// Returns a number that follows from parts that are admitted, often one close to where its width or field ends.
    fn value(&mut self, admits: &dyn Fn(&Label, &Scope) -> bool) -> Option<Value<Name>> {
        let count = if self.draw.percent(25) { 2 } else { 1 };
        let mut terms = Vec::new();
        for _ in 0..count {
            let label = self.label(admits)?;
            let measure = if label.is_repetition && self.draw.percent(50) { Measure::Count } else { Measure::Len };
            let times = if self.draw.percent(80) { 1 } else { [2, 3, 7, 40][self.draw.below(4)] };
            terms.push(Term { times, measure, label: label.name() });
        }
        let plus = match self.draw.below(8) {
            0..=3 => 0,
            4 => -(self.draw.below(5) as i64),
            5 => [4, 6, 94, 96, 120, 124, 248, 252][self.draw.below(8)],
            _ => self.draw.below(9) as i64,
        };
        let mut value = Value::sum(terms, plus);
        self.divide(&mut value, 20);
        Some(value)
    }

    /// Divides a number in so many of a hundred cases.
    fn divide(&mut self, value: &mut Value<Name>, percent: usize) {
        if self.draw.percent(percent) {
            value.divisor = [2, 2, 3, 4, 8][self.draw.below(5)];
        }
    }
}

/// Gives each label and each reference to a rule with parameters a place of its own: the compiler tells them apart by
/// their places.
pub(super) fn place_labels(grammar: &mut Grammar) {
    let mut place = 0;
    for rule in &mut grammar.rules {
        rule.body.each_mut(&mut |expr| {
            place += 1;
            let span = Span { start: place, end: place };
            match &mut expr.kind {
                ExprKind::Label { label, .. } => label.span = span,
                ExprKind::Call { .. } => expr.span = span,
                _ => {}
            }
        });
    }
}
