//! Readable rules: those that are used, with names that differ and say what the rules derive.

use std::collections::{BTreeMap, BTreeSet};

use crate::expr::{Expr, Undone};
use crate::write::{ITEM, OBJECT, Rule};

/// More rules than this are left as they are: to compare them takes too long.
const MANY: usize = 300;

/// Returns the rules with names, in the order in which they are first used. Rules that only rename others are left out.
pub(crate) fn named(rules: &[Rule], undone: &Undone) -> Vec<(String, Expr)> {
    let mut bodies: Vec<Expr> = rules.iter().map(|rule| rule.expr.resolved(undone)).collect();
    while let Some((rule, body)) = (1..bodies.len().min(MANY)).find_map(|rule| inlined(&bodies, rule)) {
        let with = |other: usize| if other == rule { body.clone() } else { Expr::Rule(other) };
        bodies = bodies.iter().map(|expr| expr.with_rules(&with).resolved(undone)).collect();
        bodies[rule] = Expr::never();
    }
    while let Some((rule, other)) = equal(&bodies) {
        let with = |one: usize| Expr::Rule(if one == rule { other } else { one });
        bodies = bodies.iter().map(|expr| expr.with_rules(&with).resolved(undone)).collect();
        bodies[rule] = Expr::never();
    }
    for (rule, body) in bodies.iter_mut().enumerate() {
        // A rule that can be itself derives nothing more by that.
        if let Expr::Alt(parts) = body {
            parts.retain(|part| *part != Expr::Rule(rule));
            *body = body.resolved(undone);
        }
    }
    let order = order(&bodies);
    let names = names(rules, &bodies, &order);
    let number: BTreeMap<usize, usize> = order.iter().enumerate().map(|(new, &old)| (old, new)).collect();
    let renumbered = |old: usize| Expr::Rule(number[&old]);
    order.iter().zip(names).map(|(&old, name)| (name, bodies[old].with_rules(&renumbered))).collect()
}

/// Returns what can stand in place of a rule: a rule or a literal that is all that it derives.
fn inlined(bodies: &[Expr], rule: usize) -> Option<(usize, Expr)> {
    let body = &bodies[rule];
    let is_used = bodies.iter().any(|other| refers(other, rule));
    let is_short = match body {
        Expr::Literal(_) => true,
        Expr::Rule(other) => *other != rule,
        Expr::Seq(parts) | Expr::Alt(parts) => parts.is_empty(),
        _ => false,
    };
    (is_used && is_short).then(|| (rule, body.clone()))
}

/// Returns two rules that derive the same, as they have the same alternatives if the first one is the second one.
fn equal(bodies: &[Expr]) -> Option<(usize, usize)> {
    let mut used = order(bodies);
    used.truncate(MANY);
    let pairs = (1..used.len()).flat_map(|at| (1..at).map(move |before| (at, before)));
    pairs.map(|(at, before)| (used[at], used[before])).find(|&(rule, other)| {
        let same = |expr: &Expr| {
            let one = expr.with_rules(&|one| Expr::Rule(if one == rule { other } else { one }));
            sorted(&one)
        };
        same(&bodies[rule]) == same(&bodies[other])
    })
}

/// Returns the expression with its alternatives in order.
fn sorted(expr: &Expr) -> Expr {
    match expr.resolved(&Undone::new()) {
        Expr::Alt(mut parts) => {
            parts.sort();
            Expr::Alt(parts)
        }
        other => other,
    }
}

fn refers(expr: &Expr, rule: usize) -> bool {
    let mut is_found = false;
    expr.rules(&mut |other| is_found |= other == rule);
    is_found
}

/// Returns the rules that the first one reaches, each before those that it refers to.
fn order(bodies: &[Expr]) -> Vec<usize> {
    let mut order = vec![0];
    let mut at = 0;
    while let Some(&rule) = order.get(at) {
        bodies[rule].rules(&mut |other| {
            if !order.contains(&other) {
                order.push(other);
            }
        });
        at += 1;
    }
    order
}

fn names(rules: &[Rule], bodies: &[Expr], order: &[usize]) -> Vec<String> {
    let base: Vec<&str> = order.iter().map(|&rule| base(rules, bodies, rule)).collect();
    let mut taken = BTreeSet::new();
    let mut unique = Vec::new();
    for name in base {
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let free = std::iter::once(name.to_string()).chain(numbered).find(|name| !taken.contains(name));
        let name = free.unwrap_or_default();
        taken.insert(name.clone());
        unique.push(name);
    }
    unique
}

/// Returns a name for a rule. Those of classes go by what they derive.
fn base<'r>(rules: &'r [Rule], bodies: &[Expr], rule: usize) -> &'r str {
    let body = &bodies[rule];
    let alternatives = if let Expr::Alt(parts) = body { parts.as_slice() } else { std::slice::from_ref(body) };
    match rules[rule].name {
        ITEM => {}
        // The name of brackets in arguments is another.
        OBJECT if !has_literal(body, b":") && !refers_to_pairs(bodies, body) => return "block",
        name => return name,
    }
    let starts_with_itself = |part: &Expr| matches!(part, Expr::Seq(parts) if parts.first() == Some(&Expr::Rule(rule)));
    let is_literal = |part: &Expr| matches!(part, Expr::Literal(_));
    if alternatives.iter().any(starts_with_itself) {
        "expression"
    } else if alternatives.len() > 1 && alternatives.iter().all(is_literal) {
        "keyword"
    } else if alternatives.len() > 1 && alternatives.iter().any(|part| matches!(part, Expr::Rule(_))) {
        "value"
    } else if alternatives.iter().all(|part| separates(part, b":")) {
        "pair"
    } else if alternatives.iter().all(|part| separates(part, b"=")) {
        "setting"
    } else if rules[0].expr != Expr::empty() && refers(&bodies[0], rule) {
        "line"
    } else {
        "item"
    }
}

/// Returns true if a mark stands between two parts.
fn separates(part: &Expr, mark: &[u8]) -> bool {
    let Expr::Seq(parts) = part else { return false };
    parts.iter().skip(1).any(|part| *part == Expr::literal(mark))
}

fn has_literal(expr: &Expr, mark: &[u8]) -> bool {
    match expr {
        Expr::Literal(text) => text == mark,
        Expr::Seq(parts) | Expr::Alt(parts) => parts.iter().any(|part| has_literal(part, mark)),
        Expr::Optional(part) | Expr::Star(part) | Expr::Plus(part) => has_literal(part, mark),
        Expr::Times(part, ..) | Expr::Named(part) => has_literal(part, mark),
        Expr::Set(_) | Expr::Rule(_) | Expr::Again | Expr::General(_) => false,
    }
}

fn refers_to_pairs(bodies: &[Expr], body: &Expr) -> bool {
    let mut is_found = false;
    body.rules(&mut |rule| is_found |= separates(&bodies[rule], b":") || separates(&bodies[rule], b"="));
    is_found
}
