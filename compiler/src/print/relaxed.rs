//! Grammars without labels: what follows from labelled parts becomes any text of its form, so the language gets larger.

use crate::ast::{Alternative, Expr, ExprKind, Grammar, Name, Rule};
use crate::charset::{CharSet, Unit};
use crate::coding::{Bytes, Coding};
use crate::derived::{Derived, NumberForm, Radix};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::formats::MAX_EXPRESSIONS;
use crate::naming::Naming;
use crate::ordered::{Map, Set};

/// Among more parts that give names of a kind than this, equal ones are not looked for.
const MAX_COMPARED: usize = 1000;

/// Returns the grammar without labels, and warns of each rule that had some.
pub(super) fn relaxed(grammar: &Grammar, notation: &str, diagnostics: &mut Diagnostics) -> Grammar {
    let mut relaxed = grammar.clone();
    let mut left = MAX_EXPRESSIONS;
    let names = rules_of_names(grammar, &given_names(grammar));
    for rule in relaxed.rules.iter_mut().filter(|rule| rule.body.has_labels()) {
        let name = grammar.told(&rule.name.text);
        let message = format!(
            "{notation} has no labels and no names: what follows from parts of `{name}` is any text of its form"
        );
        diagnostics.push(
            Diagnostic::warning(Code::NotExpressible, rule.name.span, message)
                .help("texts of the new grammar need not be texts of this one; EBNF and JSON keep labels"),
        );
        let mut relaxing = Relaxing { names: &names, seen: Vec::new(), rounds: Map::new(), parts: Map::new(), left };
        rule.body = relaxing.without_labels(&rule.body);
        rule.parameters.clear();
        left = relaxing.left;
        if left == 0 {
            let message = format!("copies of parts make rule `{name}` too large for {notation}");
            let help = format!("the grammar would have more than {MAX_EXPRESSIONS} expressions");
            diagnostics.push(Diagnostic::error(Code::TooLarge, rule.name.span, message).help(help));
            break;
        }
    }
    relaxed.rules.extend(names.into_values());
    relaxed
}

/// Returns the parts that give names, by their kinds. What is declared is the labelled part.
fn given_names(grammar: &Grammar) -> Map<String, Vec<Expr>> {
    let mut given = Map::<String, Vec<Expr>>::new();
    for rule in &grammar.rules {
        give(&rule.body, &mut Vec::new(), &mut given);
    }
    given
}

/// Adds the parts of an expression that give names, where these labels are seen.
fn give<'e>(expr: &'e Expr, seen: &mut Vec<(&'e str, &'e Expr)>, given: &mut Map<String, Vec<Expr>>) {
    let before = seen.len();
    let labels = expr.sequence().iter().flat_map(Expr::labels);
    seen.extend(labels.map(|(label, part)| (label.text.as_str(), part.unlabelled())));
    for item in expr.sequence() {
        let naming = item.unlabelled().as_naming();
        if let Some((kind, part)) = naming.and_then(|(naming, part)| Some((naming.given()?, part))) {
            let copied = |(label, _): &&(&str, &Expr)| part.as_derived().is_some_and(|copy| is_copy_of(copy, label));
            let part = seen.iter().rev().find(copied).map_or(part, |(_, part)| part);
            let items = given.entry(kind.text.clone()).or_default();
            if items.len() >= MAX_COMPARED || !items.iter().any(|known| known.is_same(part)) {
                items.push(part.clone());
            }
        }
        item.unlabelled().children().for_each(|child| give(child, seen, given));
    }
    seen.truncate(before);
}

fn is_copy_of(derived: &Derived<Name>, label: &str) -> bool {
    matches!(derived, Derived::Copy(copied) if copied.text == label)
}

/// Returns rules of all names of each kind that is used, with their names.
fn rules_of_names(grammar: &Grammar, given: &Map<String, Vec<Expr>>) -> Map<String, Rule> {
    let mut used = Map::new();
    for rule in &grammar.rules {
        rule.body.each(&mut |expr| {
            if let Some((Naming::Use(kind), _)) = expr.as_naming() {
                used.entry(kind.text.clone()).or_insert(kind.span);
            }
        });
    }
    let mut taken: Set<String> = grammar.rules.iter().map(|rule| rule.name.text.clone()).collect();
    let rule = |(kind, span): (String, Span)| {
        let mut name = format!("any-{kind}");
        while !taken.insert(name.clone()) {
            name.push('x');
        }
        let items = given.get(&kind).map_or(&[][..], Vec::as_slice);
        let items = items.iter().map(|item| Alternative { expr: item.clone(), weight: None });
        let body = Expr::choice(items.collect(), span);
        (kind, Rule::new(Name { text: name, span }, body))
    };
    used.into_iter().map(rule).collect()
}

/// Takes labels and names away.
struct Relaxing<'g> {
    /// The rules of all names of each kind.
    names: &'g Map<String, Rule>,
    /// The labels that are seen, with their parts.
    seen: Vec<(String, Expr)>,
    /// The labels of the rounds of each labelled repetition of the rule, with their parts, and all labelled parts by
    /// their addresses.
    rounds: Map<String, Vec<(String, Expr)>>,
    parts: Map<usize, Expr>,
    /// The number of expressions that copies may still add.
    left: usize,
}

impl Relaxing<'_> {
    /// Returns an expression without labels.
    fn without_labels(&mut self, expr: &Expr) -> Expr {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Rule(_) => expr.clone(),
            ExprKind::Seq(items) => {
                let before = self.seen.len();
                let items = items.iter().map(|item| self.item(item)).collect();
                self.seen.truncate(before);
                Expr::seq(items, span)
            }
            ExprKind::Label { .. } => {
                let before = self.seen.len();
                let item = self.item(expr);
                self.seen.truncate(before);
                item
            }
            ExprKind::Choice(alternatives) => {
                let one = |one: &Alternative| Alternative { expr: self.without_labels(&one.expr), weight: one.weight };
                Expr::choice(alternatives.iter().map(one).collect(), span)
            }
            ExprKind::Repeat { item, min, max } => Expr::repeat(self.without_labels(item), *min, *max, span),
            ExprKind::Times { item, .. } => {
                let before = self.seen.len();
                let of_rounds = expr.as_mirror().and_then(|(label, _)| self.rounds.get(&label.text)).cloned();
                self.seen.extend(of_rounds.unwrap_or_default());
                let item = self.without_labels(item);
                self.seen.truncate(before);
                Expr::repeat(item, 0, None, span)
            }
            // A group around it may have the label.
            ExprKind::Derived(Derived::Copy(label)) if !self.is_seen(&label.text) => any_bytes(span),
            ExprKind::Derived(Derived::Copy(label)) => self.copy(&label.text).unwrap_or_else(|| Expr::empty(span)),
            ExprKind::Derived(Derived::Number(_, form)) => any_number(*form, expr),
            ExprKind::Derived(Derived::Bits(bits)) => any_number(bits.form(), expr),
            ExprKind::Derived(Derived::Padding(_, padding)) => {
                Expr::repeat(Expr::bytes(vec![padding.filler], span), 0, Some(padding.most() as u32), span)
            }
            ExprKind::Naming { naming, item } => self.any_name(naming, item, span),
            ExprKind::Coded { coding, .. } => any_coded(*coding, span),
            ExprKind::Call { item, .. } => (**item).clone(),
        }
    }

    /// Returns a part without its names. A name that is taken becomes any name of its kind.
    fn any_name(&mut self, naming: &Naming<Name>, item: &Expr, span: Span) -> Expr {
        let part = self.without_labels(item);
        match naming {
            Naming::Declare(_) => Expr::empty(span),
            Naming::Define(_) | Naming::Scope(_) => part,
            Naming::Unique(_) => {
                let digit = Expr::class(CharSet::new(Unit::Byte, [(0x30, 0x39)]), span);
                Expr::seq(vec![part, Expr::repeat(digit, 0, None, span)], span)
            }
            Naming::Use(kind) => {
                let any = self.names.get(&kind.text).map(|rule| Expr::rule(rule.name.text.clone(), span));
                let all = any.into_iter().chain([part]).map(|expr| Alternative { expr, weight: None });
                Expr::choice(all.collect(), span)
            }
        }
    }

    /// Returns an item of a sequence without its labels, which are seen from then on.
    fn item(&mut self, expr: &Expr) -> Expr {
        let part = self.without_labels(expr.unlabelled());
        self.seen.extend(expr.labels().map(|(label, _)| (label.text.clone(), part.clone())));
        if expr.as_label().is_some() {
            self.parts.insert(expr.unlabelled().address(), part.clone());
        }
        for (label, round) in expr.labels().filter_map(|(label, part)| Some((label, part.round()?))) {
            let parts = round.all_labels().into_iter().filter_map(|seen| {
                let part = self.parts.get(&seen.part.unlabelled().address())?;
                Some((seen.name.text.clone(), part.clone()))
            });
            let parts = parts.collect();
            self.rounds.insert(label.text.clone(), parts);
        }
        part
    }

    /// Returns true if a label is that of a sequence around, or of a round that a mirror sees.
    fn is_seen(&self, label: &str) -> bool {
        self.seen.iter().any(|(name, _)| name == label)
    }

    /// Returns a copy of the part with this label, if there is room for it.
    fn copy(&mut self, label: &str) -> Option<Expr> {
        let (_, part) = self.seen.iter().rev().find(|(name, _)| name == label)?;
        let size = part.size();
        if size >= self.left {
            self.left = 0;
            return None;
        }
        self.left -= size;
        Some(part.clone())
    }
}

/// Returns all texts.
fn any_bytes(span: Span) -> Expr {
    Expr::repeat(Expr::class(CharSet::new(Unit::Byte, [(0, 0xFF)]), span), 0, None, span)
}

/// Returns all texts of the bytes that there are in a coding.
fn any_coded(coding: Coding, span: Span) -> Expr {
    let bytes = coding.alphabet(Bytes::ALL).iter().map(|byte| (byte.into(), byte.into()));
    Expr::repeat(Expr::class(CharSet::new(Unit::Byte, bytes), span), 0, None, span)
}

/// Returns all texts that a number of a form can be, and some more.
fn any_number(form: NumberForm, at: &Expr) -> Expr {
    let span = at.span;
    let class = |ranges: &[(u32, u32)]| Expr::class(CharSet::new(Unit::Byte, ranges.iter().copied()), span);
    let digits = |radix: Radix| match radix {
        Radix::Decimal => class(&[(0x30, 0x39)]),
        Radix::Hex => class(&[(0x30, 0x39), (0x61, 0x66)]),
        Radix::UpperHex => class(&[(0x30, 0x39), (0x41, 0x46)]),
        Radix::Octal => class(&[(0x30, 0x37)]),
    };
    match form {
        NumberForm::Integer(bytes, _) | NumberForm::Signed(bytes, _) | NumberForm::Raw(bytes) => {
            Expr::repeat(class(&[(0, 0xFF)]), bytes.into(), Some(bytes.into()), span)
        }
        NumberForm::Text(radix, Some(width)) => Expr::repeat(digits(radix), width.into(), Some(width.into()), span),
        NumberForm::Text(radix, None) => Expr::repeat(digits(radix), 1, None, span),
        NumberForm::Leb128 => {
            let more = Expr::repeat(class(&[(0x80, 0xFF)]), 0, Some(9), span);
            Expr::seq(vec![more, class(&[(0, 0x7F)])], span)
        }
    }
}
