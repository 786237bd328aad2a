//! The text at the beginning of a line: expressions without layout that derive some text, and without the parts before
//! it that are left out there.

use super::Writer;
use crate::ast::{Alternative, Expr, ExprKind};

impl Writer<'_> {
    /// Returns the part of an expression without layout that derives text, without gaps at its beginning. `None` if
    /// there is none.
    pub(super) fn head(&mut self, expr: &Expr) -> Option<Expr> {
        self.work += 1;
        if self.is_too_much() {
            return None;
        }
        let span = expr.span;
        let fact = self.facts.expr(expr);
        if !fact.nullable && !fact.gap_first {
            self.work += expr.size();
            return Some(expr.clone());
        }
        if !fact.some {
            return None;
        }
        let kind = match &expr.kind {
            ExprKind::Bytes(_) | ExprKind::Class(_) => return None,
            // No grammar with a layout has labels.
            ExprKind::Times { .. }
            | ExprKind::Label { .. }
            | ExprKind::Derived(_)
            | ExprKind::Naming { .. }
            | ExprKind::Coded { .. }
            | ExprKind::Call { .. } => {
                return None;
            }
            ExprKind::Rule(name) if self.layout.gaps.contains(name) => return None,
            ExprKind::Rule(name) => ExprKind::Rule(self.head_rule(name)?),
            ExprKind::Seq(items) => return self.head_of_seq(items, expr),
            ExprKind::Choice(options) => {
                let options: Vec<Alternative> = options
                    .iter()
                    .filter_map(|option| Some(Alternative { expr: self.head(&option.expr)?, weight: option.weight }))
                    .collect();
                return chosen(options, expr);
            }
            ExprKind::Repeat { max: Some(0), .. } => return None,
            ExprKind::Repeat { item, min, max } => {
                let first = self.head(item)?;
                self.work += item.size();
                let (min, max) = (min.saturating_sub(1), max.map(|max| max - 1));
                let rest = Expr { kind: ExprKind::Repeat { item: item.clone(), min, max }, span };
                if max == Some(0) {
                    return Some(first);
                }
                ExprKind::Seq(vec![first, rest])
            }
        };
        Some(Expr { kind, span })
    }

    /// Returns the first item with text, one alternative for each possible item.
    fn head_of_seq(&mut self, items: &[Expr], expr: &Expr) -> Option<Expr> {
        let mut options = Vec::new();
        for (number, item) in items.iter().enumerate() {
            if let Some(first) = self.head(item) {
                let rest = &items[number + 1..];
                self.work += rest.iter().map(Expr::size).sum::<usize>();
                let parts = [first].into_iter().chain(rest.iter().cloned()).collect();
                options.push(Alternative { expr: Expr::seq(parts, expr.span), weight: None });
            }
            if !self.facts.expr(item).nullable {
                break;
            }
        }
        chosen(options, expr)
    }

    /// Returns the name of the rule for the heads of a rule.
    fn head_rule(&mut self, name: &str) -> Option<String> {
        let number = self.facts.number(name)?;
        if let Some(known) = self.heads.get(&number) {
            return known.clone();
        }
        let fresh = self.names.fresh(&format!("{name}.head"));
        self.heads.insert(number, Some(fresh.clone()));
        self.heads_to_build.push((number, fresh.clone()));
        Some(fresh)
    }
}

/// Returns a choice in place of `expr`, if there are options.
fn chosen(mut options: Vec<Alternative>, expr: &Expr) -> Option<Expr> {
    if options.len() < 2 {
        return options.pop().map(|option| option.expr);
    }
    Some(Expr::choice(options, expr.span))
}
