//! The levels of operators in notations whose tokens are written in place.

use super::boundaries::Syntax;
use super::builder::{Builder, Part};
use crate::ast::{Expr, Grammar, Name};
use crate::levels::{self, Alternative, Binding, Body};
use crate::ordered::{Map, Set};

impl Body for Syntax {
    type Rule = String;

    fn items(&self) -> Option<&[Syntax]> {
        let Syntax::Seq(items) = self else { return None };
        Some(items)
    }

    fn items_mut(&mut self) -> Option<&mut [Syntax]> {
        let Syntax::Seq(items) = self else { return None };
        Some(items)
    }

    fn reference(&self) -> Option<String> {
        let Syntax::Rule(part) = self else { return None };
        part.expr.as_rule().map(str::to_string)
    }

    fn refer(&mut self, rule: &String) {
        let Syntax::Rule(part) = self else { return };
        *part = Part { expr: Expr::rule(rule.as_str(), part.span()), height: part.height };
    }

    fn size(&self) -> usize {
        match self {
            Syntax::Token(part) | Syntax::Immediate(part) | Syntax::Blank(part) => part.expr.size(),
            Syntax::Rule(_) => 1,
            Syntax::Seq(items) | Syntax::Choice(items) => 1 + items.iter().map(Body::size).sum::<usize>(),
            Syntax::Repeat(item, ..) => 1 + item.size(),
        }
    }
}

/// Adds the alternatives of an expression to `alternatives`; those of choices within choices one by one.
fn alternatives<'s>(syntax: &'s Syntax, found: &mut Vec<&'s Syntax>) {
    match syntax {
        Syntax::Choice(options) => options.iter().for_each(|option| alternatives(option, found)),
        Syntax::Token(_) | Syntax::Immediate(_) | Syntax::Blank(_) | Syntax::Rule(_) | Syntax::Seq(_) => {
            found.push(syntax);
        }
        Syntax::Repeat(..) => found.push(syntax),
    }
}

/// Gives the operators of `rules` their levels. `bindings` says how tightly the alternatives of each rule bind, those
/// of choices within choices one by one. Further rules follow those that they stand for. Returns the names of the
/// latter by those of the former.
pub(super) fn give_levels(
    rules: &mut Vec<(Name, Syntax)>,
    bindings: &[Vec<Binding>],
    is_taken: impl Fn(&str) -> bool,
    builder: &mut Builder<'_>,
) -> Map<String, String> {
    let given: Vec<levels::Rule<Syntax>> =
        rules.iter().zip(bindings).map(|((name, body), own)| given(name, body, own)).collect();
    let mut taken = Set::new();
    let mut next: Map<String, u32> = Map::new();
    let fresh = |rule: &String| {
        let number = next.entry(rule.clone()).or_insert(1);
        loop {
            *number += 1;
            let name = format!("{rule}.{number}");
            if !is_taken(&name) && taken.insert(name.clone()) {
                return name;
            }
        }
    };
    let mut ladder = levels::ladder(&given, fresh);
    let mut origins = Map::new();
    let mut all = Vec::with_capacity(rules.len());
    for (name, body) in rules.drain(..) {
        let Some(rungs) = ladder.remove(&name.text) else {
            all.push((name, body));
            continue;
        };
        for rung in rungs {
            let alternatives: Vec<Syntax> = rung.alternatives.into_iter().map(|(_, body)| body).collect();
            if rung.name != name.text {
                let nodes = alternatives.iter().map(Body::size).sum();
                if builder.count(nodes, name.span).is_err() {
                    break;
                }
                origins.insert(rung.name.clone(), name.text.clone());
            }
            all.push((Name { text: rung.name, span: name.span }, Syntax::Choice(alternatives)));
        }
    }
    *rules = all;
    origins
}

/// Returns a rule with its alternatives. One that is not known by its alternatives has none.
fn given(name: &Name, body: &Syntax, bindings: &[Binding]) -> levels::Rule<Syntax> {
    let mut found = Vec::new();
    alternatives(body, &mut found);
    if found.len() != bindings.len() {
        found.clear();
    }
    let alternatives = found.into_iter().zip(bindings);
    let alternatives = alternatives.map(|(body, &binding)| Alternative { body: body.clone(), binding }).collect();
    levels::Rule { name: name.text.clone(), alternatives }
}

/// Adds the rules that stand for others at certain levels to the names that a grammar has already.
pub(super) fn add_origins(grammar: &mut Grammar, origins: Map<String, String>) {
    for origin in grammar.origins.values_mut() {
        if let Some(first) = origins.get(origin) {
            origin.clone_from(first);
        }
    }
    let is_there: Set<&str> = grammar.rules.iter().map(|rule| rule.name.text.as_str()).collect();
    let more: Vec<_> = origins.into_iter().filter(|(name, _)| is_there.contains(name.as_str())).collect();
    for (name, origin) in more {
        grammar.made.insert(name.clone());
        grammar.origins.entry(name).or_insert(origin);
    }
}
