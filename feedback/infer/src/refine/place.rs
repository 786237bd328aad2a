//! Places in a grammar: expressions by the way that leads to them. What is made anew has the span [`NEW`].

use gramjet_compiler::ast::{Alternative, Expr, ExprKind, Grammar};
use gramjet_compiler::charset::CharSet;
use gramjet_compiler::diagnostics::Span;

/// The span of expressions that no file has.
pub(crate) const NEW: Span = Span { start: u32::MAX, end: u32::MAX };

/// An expression of a rule: the numbers of the children that lead to it from the rule's body.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ExprPath {
    pub(crate) rule: usize,
    pub(crate) path: Vec<usize>,
}

impl ExprPath {
    /// Returns the body of a rule.
    pub(crate) fn body(rule: usize) -> ExprPath {
        ExprPath { rule, path: Vec::new() }
    }

    /// Returns a part of the expression.
    pub(crate) fn child(&self, number: usize) -> ExprPath {
        ExprPath { rule: self.rule, path: self.path.iter().copied().chain([number]).collect() }
    }

    /// Returns the expression.
    pub(crate) fn get<'g>(&self, grammar: &'g Grammar) -> Option<&'g Expr> {
        let mut expr = &grammar.rules.get(self.rule)?.body;
        for &number in &self.path {
            expr = expr.children().nth(number)?;
        }
        Some(expr)
    }

    /// Returns the expression around it, and its number there.
    pub(crate) fn around(&self) -> Option<(ExprPath, usize)> {
        let (&number, path) = self.path.split_last()?;
        Some((ExprPath { rule: self.rule, path: path.to_vec() }, number))
    }

    /// Returns the grammar with another expression here.
    pub(crate) fn with(&self, grammar: &Grammar, expr: Expr) -> Grammar {
        let mut changed = grammar.clone();
        if let Some(mut place) = changed.rules.get_mut(self.rule).map(|rule| &mut rule.body) {
            for &number in &self.path {
                match place.children_mut().nth(number) {
                    Some(child) => place = child,
                    None => return grammar.clone(),
                }
            }
            *place = expr;
        }
        changed
    }
}

pub(crate) fn new(kind: ExprKind) -> Expr {
    Expr { kind, span: NEW }
}

pub(crate) fn literal(bytes: &[u8]) -> Expr {
    new(ExprKind::Bytes(bytes.to_vec()))
}

pub(crate) fn class(set: CharSet) -> Expr {
    new(ExprKind::Class(set))
}

pub(crate) fn reference(name: &str) -> Expr {
    new(ExprKind::Rule(name.to_string()))
}

pub(crate) fn empty() -> Expr {
    new(ExprKind::Seq(Vec::new()))
}

/// Returns expressions one after the other; a single one stands for itself.
pub(crate) fn seq(mut items: Vec<Expr>) -> Expr {
    match (items.len(), items.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            items.extend(last);
            new(ExprKind::Seq(items))
        }
    }
}

/// Returns one of several expressions; a single one stands for itself.
pub(crate) fn choice(mut options: Vec<Expr>) -> Expr {
    match (options.len(), options.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            options.extend(last);
            new(ExprKind::Choice(options.into_iter().map(alternative).collect()))
        }
    }
}

pub(crate) fn alternative(expr: Expr) -> Alternative {
    Alternative { expr, weight: None }
}

/// Returns an expression `min` to `max` times.
pub(crate) fn repeat(item: Expr, min: u32, max: Option<u32>) -> Expr {
    match (min, max) {
        (_, Some(0)) => empty(),
        (1, Some(1)) => item,
        _ => new(ExprKind::Repeat { item: Box::new(item), min, max }),
    }
}
