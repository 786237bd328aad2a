//! Grammars without labels: what follows from labelled parts becomes any text of its form, so the language gets larger.

use crate::ast::{Alternative, Expr, ExprKind, Grammar};
use crate::charset::{CharSet, Unit};
use crate::derived::{Derived, Form, Radix};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};

/// Returns the grammar without labels, and warns of each rule that had some.
pub(super) fn relaxed(grammar: &Grammar, notation: &str, diagnostics: &mut Diagnostics) -> Grammar {
    let mut relaxed = grammar.clone();
    for rule in relaxed.rules.iter_mut().filter(|rule| rule.body.has_labels()) {
        let name = grammar.told(&rule.name.text);
        let message = format!("{notation} has no labels: what follows from parts of `{name}` is any text of its form");
        diagnostics.push(
            Diagnostic::warning(Code::NotExpressible, rule.name.span, message)
                .help("texts of the new grammar need not be texts of this one; EBNF and JSON keep labels"),
        );
        rule.body = without_labels(&rule.body, &mut Vec::new());
    }
    relaxed
}

/// Returns an expression without labels. `seen` has the labels that are seen, with their parts.
fn without_labels(expr: &Expr, seen: &mut Vec<(String, Expr)>) -> Expr {
    let span = expr.span;
    match &expr.kind {
        ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Rule(_) => expr.clone(),
        ExprKind::Seq(items) => {
            let before = seen.len();
            let items = items.iter().map(|item| item_without_labels(item, seen)).collect();
            seen.truncate(before);
            Expr::seq(items, span)
        }
        ExprKind::Label { .. } => {
            let before = seen.len();
            let item = item_without_labels(expr, seen);
            seen.truncate(before);
            item
        }
        ExprKind::Choice(alternatives) => {
            let one = |one: &Alternative| Alternative { expr: without_labels(&one.expr, seen), weight: one.weight };
            Expr::choice(alternatives.iter().map(one).collect(), span)
        }
        ExprKind::Repeat { item, min, max } => Expr::repeat(without_labels(item, seen), *min, *max, span),
        ExprKind::Times { item, .. } => Expr::repeat(without_labels(item, seen), 0, None, span),
        ExprKind::Derived(Derived::Copy(label)) => {
            let part = seen.iter().rev().find(|(name, _)| *name == label.text);
            part.map_or_else(|| Expr::empty(span), |(_, part)| part.clone())
        }
        ExprKind::Derived(Derived::Number(_, form)) => any_number(*form, expr),
    }
}

/// Returns an item of a sequence without its labels, which are seen from then on.
fn item_without_labels(expr: &Expr, seen: &mut Vec<(String, Expr)>) -> Expr {
    let part = without_labels(expr.unlabelled(), seen);
    seen.extend(expr.labels().map(|(label, _)| (label.text.clone(), part.clone())));
    part
}

/// Returns all texts that a number of a form can be, and some more.
fn any_number(form: Form, at: &Expr) -> Expr {
    let span = at.span;
    let class = |ranges: &[(u32, u32)]| Expr::class(CharSet::new(Unit::Byte, ranges.iter().copied()), span);
    let digits = |radix: Radix| match radix {
        Radix::Decimal => class(&[(0x30, 0x39)]),
        Radix::Hex => class(&[(0x30, 0x39), (0x61, 0x66)]),
        Radix::UpperHex => class(&[(0x30, 0x39), (0x41, 0x46)]),
        Radix::Octal => class(&[(0x30, 0x37)]),
    };
    match form {
        Form::Integer(bytes, _) => Expr::repeat(class(&[(0, 0xFF)]), bytes.into(), Some(bytes.into()), span),
        Form::Text(radix, Some(width)) => Expr::repeat(digits(radix), width.into(), Some(width.into()), span),
        Form::Text(radix, None) => Expr::repeat(digits(radix), 1, None, span),
        Form::Leb128 => {
            let more = Expr::repeat(class(&[(0x80, 0xFF)]), 0, Some(9), span);
            Expr::seq(vec![more, class(&[(0, 0x7F)])], span)
        }
    }
}
