//! Levels of operators: `%left 2`, `%right 3` or `%nonassoc 1` behind an alternative of a rule.

use super::lexer::{Kind, Token};
use super::parser::{Parser, Reported};
use crate::ast::{Expr, Grammar, Name, Rule};
use crate::diagnostics::Span;
use crate::levels::{self, Binding, Body};
use crate::ordered::{Map, Set};

/// The bindings of the alternatives of a rule, as far as they are written. Empty if none is.
pub(super) type Levels = Vec<Option<Binding>>;

impl Body for Expr {
    type Rule = String;

    fn items(&self) -> Option<&[Expr]> {
        self.as_seq()
    }

    fn items_mut(&mut self) -> Option<&mut [Expr]> {
        self.as_seq_mut().map(Vec::as_mut_slice)
    }

    fn reference(&self) -> Option<String> {
        self.as_rule().map(str::to_string)
    }

    fn refer(&mut self, rule: &String) {
        if let Some(name) = self.as_rule_mut() {
            name.clone_from(rule);
        }
    }

    fn size(&self) -> usize {
        Expr::size(self)
    }
}

impl Parser<'_, '_> {
    /// Parses the level of the alternative before it, if there is one.
    pub(super) fn level(&mut self) -> Result<Option<Binding>, Reported> {
        let Kind::Level(chaining) = self.peek(0).kind else { return Ok(None) };
        let span = self.take().span;
        if self.is_in_group() {
            return Err(self.error(span, "a level within a group", "levels belong to the alternatives of a rule"));
        }
        let Token { kind, span: of_level, .. } = self.peek(0);
        let (of_level, level) = match kind {
            Kind::Number(digits) => (*of_level, digits.parse::<u32>().ok().filter(|&level| level <= MAX_LEVEL)),
            _ => (span, None),
        };
        let Some(level) = level else {
            let help =
                format!("a level is a whole number up to {MAX_LEVEL}, such as `%left 2`; higher ones bind tighter");
            return Err(self.error(of_level, "this is not a level", help));
        };
        self.take();
        // An operand without a level takes every operator, also one of level 0.
        Ok(Some(Binding::new(level + 1, chaining)))
    }
}

/// The highest level.
const MAX_LEVEL: u32 = 1000;

/// Gives the operators of rules their levels. `all` has those of each rule.
pub(super) fn give_levels(grammar: &mut Grammar, all: &[Levels]) {
    if all.iter().all(Vec::is_empty) {
        return;
    }
    let mut taken: Set<String> = grammar.rules.iter().map(|rule| rule.name.text.clone()).collect();
    let mut next: Map<String, u32> = Map::new();
    let fresh = |rule: &String| {
        let number = next.entry(rule.clone()).or_insert(1);
        loop {
            *number += 1;
            let name = format!("{rule}.{number}");
            if taken.insert(name.clone()) {
                return name;
            }
        }
    };
    let given: Vec<levels::Rule<Expr>> =
        grammar.rules.iter().zip(all).map(|(rule, own)| with_bindings(rule, own)).collect();
    let mut ladder = levels::ladder(&given, fresh);
    let mut rules = Vec::with_capacity(grammar.rules.len());
    for rule in grammar.rules.drain(..) {
        let Some(rungs) = ladder.remove(&rule.name.text) else {
            rules.push(rule);
            continue;
        };
        for rung in rungs {
            if rung.name != rule.name.text {
                grammar.origins.insert(rung.name.clone(), rule.name.text.clone());
                grammar.made.insert(rung.name.clone());
            }
            rules.push(rung_of(&rule, rung));
        }
    }
    grammar.rules = rules;
}

/// Returns the alternatives of an expression.
fn alternatives(expr: &Expr) -> impl Iterator<Item = &Expr> {
    let (all, only) = match expr.as_choice() {
        Some(alternatives) => (alternatives, None),
        None => (&[][..], Some(expr)),
    };
    all.iter().map(|one| &one.expr).chain(only)
}

/// Returns a rule with its bindings. One of which no level is written has no alternatives that could compete.
fn with_bindings(rule: &Rule, own: &Levels) -> levels::Rule<Expr> {
    let bodies = alternatives(&rule.body).zip(own);
    let alternatives = bodies
        .map(|(body, binding)| levels::Alternative { body: body.clone(), binding: binding.unwrap_or(Binding::GREEDY) });
    levels::Rule { name: rule.name.text.clone(), alternatives: alternatives.collect() }
}

/// Returns a rung as a rule. Its alternatives keep their weights.
fn rung_of(rule: &Rule, rung: levels::Rung<Expr>) -> Rule {
    let weight = |number: usize| rule.body.as_choice().and_then(|all| all.get(number)?.weight);
    let kept = rung.alternatives.into_iter().map(|(number, expr)| (expr, weight(number)));
    let mut kept: Vec<_> = kept.map(|(expr, weight)| crate::ast::Alternative { expr, weight }).collect();
    let span = kept.iter().map(|one| one.expr.span).reduce(Span::to).unwrap_or(rule.body.span);
    let body = if kept.len() == 1 { kept.remove(0).expr } else { Expr::choice(kept, span) };
    Rule { name: Name { text: rung.name, span: rule.name.span }, parameters: rule.parameters.clone(), body }
}
