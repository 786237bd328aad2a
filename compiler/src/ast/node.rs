//! The kinds of expressions, and everything that depends on the kind alone.
//!
//! A new kind is added here first. Code that needs no more than children, walks and the accessors need not know the
//! kinds.

use super::Name;
use crate::charset::CharSet;
use crate::coding::Coding;
use crate::derived::{Derived, Measure, Term, Value};
use crate::diagnostics::Span;
use crate::naming::Naming;

/// An expression with its place.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The kind of expression.
    pub kind: ExprKind,
    /// Its place.
    pub span: Span,
}

/// The kinds of expressions. Formats translate their own notations (negated classes, differences, escapes) to these.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Literal bytes, which may be empty. Text is UTF-8.
    Bytes(Vec<u8>),
    /// One member of a set of bytes or of characters. If it is empty, the format has reported that already.
    Class(CharSet),
    /// A reference to a rule by name.
    Rule(String),
    /// Expressions one after the other. The empty sequence derives the empty string.
    Seq(Vec<Expr>),
    /// One of several alternatives.
    Choice(Vec<Alternative>),
    /// `item` at least `min` and, if given, at most `max` times.
    Repeat {
        /// The repeated expression.
        item: Box<Expr>,
        /// The least number of rounds.
        min: u32,
        /// The greatest number of rounds. `None` means no bound.
        max: Option<u32>,
    },
    /// `item` as many times as a number says that follows from labelled parts.
    Times {
        /// The repeated expression.
        item: Box<Expr>,
        /// The number of rounds.
        rounds: Value<Name>,
        /// Whether each round sees the labels of one round of the repetition whose rounds are counted.
        is_mirror: bool,
    },
    /// A part with a label, which others refer to that stand in the same sequence or within it.
    Label {
        /// The label.
        label: Name,
        /// The part.
        item: Box<Expr>,
    },
    /// Bytes that follow from labelled parts.
    Derived(Derived<Name>),
    /// A part whose text is written in a coding.
    Coded {
        /// The coding.
        coding: Coding,
        /// The part.
        item: Box<Expr>,
    },
    /// A part that gives or takes a name, or bounds where names are seen.
    Naming {
        /// The use that the part makes of names.
        naming: Naming<Name>,
        /// The part.
        item: Box<Expr>,
    },
    /// A reference to a rule with parameters, which stand for labelled parts in it.
    Call {
        /// The labels of the parts, one for each parameter.
        arguments: Vec<Name>,
        /// The reference.
        item: Box<Expr>,
    },
}

/// One alternative of a choice.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// The expression of the alternative.
    pub expr: Expr,
    /// Its weight if written; alternatives without one count as 1. Finite and not negative (the format checks).
    pub weight: Option<Weight>,
}

impl Alternative {
    /// Returns true if it belongs to the language: weight 0 switches it off.
    pub fn is_live(&self) -> bool {
        self.weight.is_none_or(|weight| weight.value > 0.0)
    }

    /// Returns true if inputs are meant to have it: it is live, and not only because texts may have it.
    pub fn is_generated(&self) -> bool {
        self.weight.is_none_or(|weight| weight.value > Weight::ONLY_READ)
    }
}

/// A weight with its place.
#[derive(Clone, Copy, Debug)]
pub struct Weight {
    /// Relative probability; 0 switches the alternative off.
    pub value: f64,
    /// Its place.
    pub span: Span,
}

impl Weight {
    /// The value of an alternative that texts may have and generated inputs do not.
    pub const ONLY_READ: f64 = f64::MIN_POSITIVE;
}

/// A repetition: `item` at least `min` and, if given, at most `max` times.
#[derive(Clone, Copy, Debug)]
pub struct Rounds<'e> {
    /// The repeated expression.
    pub item: &'e Expr,
    /// The least number of rounds.
    pub min: u32,
    /// The greatest number of rounds.
    pub max: Option<u32>,
}

impl Expr {
    /// The word for a part that is derived once for each round of a repetition, before a label and the part.
    pub const MIRROR: &str = "each";

    /// The word for a reference to a rule with parameters, before the rule and the labels that stand for them.
    pub const CALL: &str = "call";

    /// Returns literal bytes.
    pub fn bytes(bytes: impl Into<Vec<u8>>, span: Span) -> Expr {
        Expr { kind: ExprKind::Bytes(bytes.into()), span }
    }

    /// Returns one member of a set.
    pub fn class(set: CharSet, span: Span) -> Expr {
        Expr { kind: ExprKind::Class(set), span }
    }

    /// Returns a reference to a rule.
    pub fn rule(name: impl Into<String>, span: Span) -> Expr {
        Expr { kind: ExprKind::Rule(name.into()), span }
    }

    /// Returns expressions one after the other.
    pub fn seq(items: Vec<Expr>, span: Span) -> Expr {
        Expr { kind: ExprKind::Seq(items), span }
    }

    /// Returns the empty sequence.
    pub fn empty(span: Span) -> Expr {
        Expr::seq(Vec::new(), span)
    }

    /// Returns expressions one after the other, with the items of sequences in their place. A single one stands for
    /// itself.
    pub fn joined(parts: impl IntoIterator<Item = Expr>, span: Span) -> Expr {
        let mut items = Vec::new();
        for mut part in parts {
            match part.as_seq_mut() {
                Some(more) => items.append(more),
                None => items.push(part),
            }
        }
        if items.len() == 1 { items.remove(0) } else { Expr::seq(items, span) }
    }

    /// Returns one of several alternatives.
    pub fn choice(alternatives: Vec<Alternative>, span: Span) -> Expr {
        Expr { kind: ExprKind::Choice(alternatives), span }
    }

    /// Returns an expression at least `min` and at most `max` times.
    pub fn repeat(item: Expr, min: u32, max: Option<u32>, span: Span) -> Expr {
        Expr { kind: ExprKind::Repeat { item: Box::new(item), min, max }, span }
    }

    /// Returns an expression as many times as a number says.
    pub fn times(item: Expr, rounds: Value<Name>, span: Span) -> Expr {
        Expr { kind: ExprKind::Times { item: Box::new(item), rounds, is_mirror: false }, span }
    }

    /// Returns an expression once for each round of a labelled repetition, which sees the labels of that round.
    pub fn mirror(label: Name, item: Expr, span: Span) -> Expr {
        let rounds = Value::sum(vec![Term { times: 1, measure: Measure::Count, label }], 0);
        Expr { kind: ExprKind::Times { item: Box::new(item), rounds, is_mirror: true }, span }
    }

    /// Returns a part with a label.
    pub fn label(label: Name, item: Expr, span: Span) -> Expr {
        Expr { kind: ExprKind::Label { label, item: Box::new(item) }, span }
    }

    /// Returns bytes that follow from labelled parts.
    pub fn derived(derived: Derived<Name>, span: Span) -> Expr {
        Expr { kind: ExprKind::Derived(derived), span }
    }

    /// Returns a part that gives or takes a name, or bounds where names are seen.
    pub fn naming(naming: Naming<Name>, item: Expr, span: Span) -> Expr {
        Expr { kind: ExprKind::Naming { naming, item: Box::new(item) }, span }
    }

    /// Returns a reference to a rule whose parameters stand for the parts with these labels.
    pub fn call(rule: Expr, arguments: Vec<Name>, span: Span) -> Expr {
        Expr { kind: ExprKind::Call { arguments, item: Box::new(rule) }, span }
    }

    /// Returns a part whose text is written in a coding.
    pub fn coded(coding: Coding, item: Expr, span: Span) -> Expr {
        Expr { kind: ExprKind::Coded { coding, item: Box::new(item) }, span }
    }

    /// Returns the children, in order.
    pub fn children(&self) -> impl DoubleEndedIterator<Item = &Expr> {
        self.children_if(|_| true)
    }

    /// Returns the children, in order, without the alternatives that do not count.
    pub fn children_if(&self, counts: impl Fn(&Alternative) -> bool) -> impl DoubleEndedIterator<Item = &Expr> {
        let (items, alternatives): (&[Expr], &[Alternative]) = match &self.kind {
            ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Rule(_) | ExprKind::Derived(_) => (&[], &[]),
            ExprKind::Seq(items) => (items, &[]),
            ExprKind::Choice(alternatives) => (&[], alternatives),
            ExprKind::Repeat { item, .. } | ExprKind::Times { item, .. } => (std::slice::from_ref(item), &[]),
            ExprKind::Label { item, .. } | ExprKind::Naming { item, .. } | ExprKind::Coded { item, .. } => {
                (std::slice::from_ref(item), &[])
            }
            ExprKind::Call { item, .. } => (std::slice::from_ref(item), &[]),
        };
        items.iter().chain(alternatives.iter().filter(move |one| counts(one)).map(|one| &one.expr))
    }

    /// Returns the children, in order, to change them.
    pub fn children_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let (items, alternatives): (&mut [Expr], &mut [Alternative]) = match &mut self.kind {
            ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Rule(_) | ExprKind::Derived(_) => (&mut [], &mut []),
            ExprKind::Seq(items) => (items, &mut []),
            ExprKind::Choice(alternatives) => (&mut [], alternatives),
            ExprKind::Repeat { item, .. } | ExprKind::Times { item, .. } => (std::slice::from_mut(item), &mut []),
            ExprKind::Label { item, .. } | ExprKind::Naming { item, .. } | ExprKind::Coded { item, .. } => {
                (std::slice::from_mut(item), &mut [])
            }
            ExprKind::Call { item, .. } => (std::slice::from_mut(item), &mut []),
        };
        items.iter_mut().chain(alternatives.iter_mut().map(|one| &mut one.expr))
    }

    /// Calls `visit` for each expression in this one, outer ones first.
    pub fn each<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        visit(self);
        self.children().for_each(|child| child.each(visit));
    }

    /// Calls `visit` for each expression in this one, outer ones first, to change it. The children of the changed
    /// expression follow.
    pub fn each_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        visit(self);
        self.children_mut().for_each(|child| child.each_mut(visit));
    }

    /// Calls `visit` with the name of each rule that is referred to, in order.
    pub fn each_reference<'e>(&'e self, visit: &mut dyn FnMut(&'e str)) {
        self.each(&mut |expr| expr.as_rule().into_iter().for_each(&mut *visit));
    }

    /// Returns the number of expressions in this one.
    pub fn size(&self) -> usize {
        1 + self.children().map(Expr::size).sum::<usize>()
    }

    /// Returns the levels of expressions in this one.
    pub fn height(&self) -> u32 {
        1 + self.children().map(Expr::height).max().unwrap_or(0)
    }

    /// Returns what the expression is, for messages.
    pub fn description(&self) -> &'static str {
        match &self.kind {
            ExprKind::Bytes(_) => "a string",
            ExprKind::Class(_) => "a class",
            ExprKind::Rule(_) | ExprKind::Call { .. } => "a rule",
            ExprKind::Seq(items) if items.is_empty() => "the empty string",
            ExprKind::Seq(_) => "a sequence",
            ExprKind::Choice(_) => "a choice",
            ExprKind::Times { is_mirror: true, .. } => "a mirror",
            ExprKind::Repeat { .. } | ExprKind::Times { .. } => "a repetition",
            ExprKind::Label { .. } => "a labelled part",
            ExprKind::Derived(Derived::Copy(_)) => "a copy",
            ExprKind::Derived(Derived::Number(..)) => "a number",
            ExprKind::Derived(Derived::Bits(_)) => "bit fields",
            ExprKind::Derived(Derived::Padding(..)) => "padding",
            ExprKind::Naming { naming: Naming::Scope(_), .. } => "a scope",
            ExprKind::Naming { .. } => "a name",
            ExprKind::Coded { .. } => "a coded part",
        }
    }

    /// Returns true if the expression is the empty sequence or an empty literal.
    pub fn is_empty(&self) -> bool {
        self.as_seq().is_some_and(<[Expr]>::is_empty) || self.as_bytes().is_some_and(<[u8]>::is_empty)
    }

    /// Returns true if two expressions are written alike, whatever their places.
    pub fn is_same(&self, other: &Expr) -> bool {
        let weight = |one: &Alternative| one.weight.map(|weight| weight.value.to_bits());
        let mut text = |label: &Name| label.text.clone();
        let is_alike = match (&self.kind, &other.kind) {
            (ExprKind::Bytes(one), ExprKind::Bytes(other)) => one == other,
            (ExprKind::Class(one), ExprKind::Class(other)) => one == other,
            (ExprKind::Rule(one), ExprKind::Rule(other)) => one == other,
            (ExprKind::Seq(one), ExprKind::Seq(other)) => one.len() == other.len(),
            (ExprKind::Choice(one), ExprKind::Choice(other)) => one.iter().map(weight).eq(other.iter().map(weight)),
            (ExprKind::Repeat { min, max, .. }, ExprKind::Repeat { min: least, max: most, .. }) => {
                (min, max) == (least, most)
            }
            (ExprKind::Times { rounds: one, is_mirror: own, .. }, ExprKind::Times { rounds: other, is_mirror, .. }) => {
                own == is_mirror && one.map(&mut text) == other.map(&mut text)
            }
            (ExprKind::Label { label: one, .. }, ExprKind::Label { label: other, .. }) => one.text == other.text,
            (ExprKind::Derived(one), ExprKind::Derived(other)) => one.map(&mut text) == other.map(&mut text),
            (ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Rule(_) | ExprKind::Derived(_), _) => false,
            (ExprKind::Seq(_) | ExprKind::Choice(_) | ExprKind::Repeat { .. }, _) => false,
            (ExprKind::Coded { coding: one, .. }, ExprKind::Coded { coding: other, .. }) => one == other,
            (ExprKind::Naming { naming: one, .. }, ExprKind::Naming { naming: other, .. }) => {
                one.map(&mut text) == other.map(&mut text)
            }
            (ExprKind::Call { arguments: one, .. }, ExprKind::Call { arguments: other, .. }) => {
                one.iter().map(&mut text).eq(other.iter().map(|label| label.text.clone()))
            }
            (ExprKind::Times { .. } | ExprKind::Label { .. } | ExprKind::Naming { .. } | ExprKind::Coded { .. }, _) => {
                false
            }
            (ExprKind::Call { .. }, _) => false,
        };
        is_alike && self.children().zip(other.children()).all(|(one, other)| one.is_same(other))
    }

    /// Returns the bytes of a literal.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        let ExprKind::Bytes(bytes) = &self.kind else { return None };
        Some(bytes)
    }

    /// Returns the set of a class.
    pub fn as_class(&self) -> Option<&CharSet> {
        let ExprKind::Class(set) = &self.kind else { return None };
        Some(set)
    }

    /// Returns the name of the rule that is referred to.
    pub fn as_rule(&self) -> Option<&str> {
        let ExprKind::Rule(name) = &self.kind else { return None };
        Some(name)
    }

    /// Returns the name of the rule that is referred to, to change it.
    pub fn as_rule_mut(&mut self) -> Option<&mut String> {
        let ExprKind::Rule(name) = &mut self.kind else { return None };
        Some(name)
    }

    /// Returns the items of a sequence.
    pub fn as_seq(&self) -> Option<&[Expr]> {
        let ExprKind::Seq(items) = &self.kind else { return None };
        Some(items)
    }

    /// Returns the items of a sequence, to change them.
    pub fn as_seq_mut(&mut self) -> Option<&mut Vec<Expr>> {
        let ExprKind::Seq(items) = &mut self.kind else { return None };
        Some(items)
    }

    /// Returns the alternatives of a choice.
    pub fn as_choice(&self) -> Option<&[Alternative]> {
        let ExprKind::Choice(alternatives) = &self.kind else { return None };
        Some(alternatives)
    }

    /// Returns the alternatives of a choice, to change them.
    pub fn as_choice_mut(&mut self) -> Option<&mut Vec<Alternative>> {
        let ExprKind::Choice(alternatives) = &mut self.kind else { return None };
        Some(alternatives)
    }

    /// Returns the bytes that follow from labelled parts, if the expression is such.
    pub fn as_derived(&self) -> Option<&Derived<Name>> {
        let ExprKind::Derived(derived) = &self.kind else { return None };
        Some(derived)
    }

    /// Returns the bytes that follow from labelled parts, to change them.
    pub fn as_derived_mut(&mut self) -> Option<&mut Derived<Name>> {
        let ExprKind::Derived(derived) = &mut self.kind else { return None };
        Some(derived)
    }

    /// Returns the label and the part that has it, if the expression is such a part.
    pub fn as_label(&self) -> Option<(&Name, &Expr)> {
        let ExprKind::Label { label, item } = &self.kind else { return None };
        Some((label, item))
    }

    /// Returns what the expression does with names, and its part, if it does something with them.
    pub fn as_naming(&self) -> Option<(&Naming<Name>, &Expr)> {
        let ExprKind::Naming { naming, item } = &self.kind else { return None };
        Some((naming, item))
    }

    /// Returns the labels of the parts for which the parameters of a rule stand, and the reference to the rule, if the
    /// expression is such a reference.
    pub fn as_call(&self) -> Option<(&[Name], &Expr)> {
        let ExprKind::Call { arguments, item } = &self.kind else { return None };
        Some((arguments, item))
    }

    /// Returns the coding and the part, if the expression is a part whose text is written in a coding.
    pub fn as_coded(&self) -> Option<(Coding, &Expr)> {
        let ExprKind::Coded { coding, item } = &self.kind else { return None };
        Some((*coding, item))
    }

    /// Returns the item and the number of rounds, if the expression is a repetition whose number of rounds follows from
    /// labelled parts.
    pub fn as_times(&self) -> Option<(&Expr, &Value<Name>)> {
        let ExprKind::Times { item, rounds, .. } = &self.kind else { return None };
        Some((item, rounds))
    }

    /// Returns the label of the repetition whose rounds a mirror sees, and its item.
    pub fn as_mirror(&self) -> Option<(&Name, &Expr)> {
        let ExprKind::Times { item, rounds, is_mirror: true } = &self.kind else { return None };
        Some((&rounds.terms.first()?.label, item))
    }

    /// Returns the repeated expression of a repetition, with labels or without, whatever the number of rounds.
    pub fn round(&self) -> Option<&Expr> {
        let part = self.unlabelled();
        part.as_repeat().map(|rounds| rounds.item).or(part.as_times().map(|(item, _)| item))
    }

    /// Returns the items of the sequence that the expression is; the expression itself if it is another one. Labels are
    /// seen in them and within them.
    pub fn sequence(&self) -> &[Expr] {
        self.as_seq().unwrap_or(std::slice::from_ref(self))
    }

    /// Returns an item of a sequence, and what is in its codings, outer ones first. The labels of each are those of the
    /// sequence.
    pub fn layers(&self) -> impl Iterator<Item = &Expr> {
        std::iter::successors(Some(self), |layer| layer.unlabelled().as_coded().map(|(_, item)| item))
    }

    /// Returns the labels of an item of a sequence, outer ones first, each with its part.
    pub fn labels(&self) -> impl Iterator<Item = (&Name, &Expr)> {
        std::iter::successors(self.as_label(), |(_, item)| item.as_label())
    }

    /// Returns the expression without its labels.
    pub fn unlabelled(&self) -> &Expr {
        self.labels().last().map_or(self, |(_, item)| item)
    }

    /// Calls `visit` with each label that something in the expression refers to, in order, and with the property of the
    /// part that it asks for; `None` for a copy.
    pub fn each_label_reference<'e>(&'e self, visit: &mut dyn FnMut(&'e Name, Option<Measure>)) {
        self.each(&mut |expr| expr.label_references(visit));
    }

    /// Calls `visit` with each label that the expression itself refers to, as [`Expr::each_label_reference`] does.
    pub(super) fn label_references<'e>(&'e self, visit: &mut dyn FnMut(&'e Name, Option<Measure>)) {
        let derived = self.as_derived();
        match derived {
            Some(Derived::Copy(label)) => return visit(label, None),
            Some(Derived::Padding(label, _)) => return visit(label, Some(Measure::Len)),
            Some(Derived::Number(..) | Derived::Bits(_)) | None => {}
        }
        let values = derived.into_iter().flat_map(|derived| derived.values()).map(|(value, _)| value);
        for value in values.chain(self.as_times().map(|(_, rounds)| rounds)) {
            value.terms.iter().for_each(|term| visit(&term.label, Some(term.measure)));
            let blank = value.blank.as_ref().and_then(|blank| blank.part.as_ref());
            blank.into_iter().for_each(|label| visit(label, Some(Measure::Len)));
        }
        // A rule may count the rounds of the part that its parameter stands for.
        for label in self.as_call().into_iter().flat_map(|(arguments, _)| arguments) {
            visit(label, Some(Measure::Count));
        }
    }

    /// Returns the number of labels in the expression.
    pub fn label_count(&self) -> usize {
        usize::from(self.as_label().is_some()) + self.children().map(Expr::label_count).sum::<usize>()
    }

    /// Returns true if the expression has labelled parts or names, or something follows from such parts in it.
    pub fn has_labels(&self) -> bool {
        self.as_label().is_some()
            || self.as_naming().is_some()
            || self.as_coded().is_some()
            || self.as_derived().is_some()
            || self.as_times().is_some()
            || self.as_call().is_some()
            || self.children().any(Expr::has_labels)
    }

    /// Returns the repetition, if the expression is one.
    pub fn as_repeat(&self) -> Option<Rounds<'_>> {
        let ExprKind::Repeat { item, min, max } = &self.kind else { return None };
        Some(Rounds { item, min: *min, max: *max })
    }
}
