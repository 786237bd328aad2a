//! The levels of operators in grammars over tokens.

use super::{Rule, Syntax};
use crate::levels::{self, Alternative, Binding, Body};

impl Body for Syntax {
    type Rule = usize;

    fn items(&self) -> Option<&[Syntax]> {
        let Syntax::Seq(items) = self else { return None };
        Some(items)
    }

    fn items_mut(&mut self) -> Option<&mut [Syntax]> {
        let Syntax::Seq(items) = self else { return None };
        Some(items)
    }

    fn reference(&self) -> Option<usize> {
        let Syntax::Rule(rule) = self else { return None };
        Some(*rule)
    }

    fn refer(&mut self, rule: &usize) {
        *self = Syntax::Rule(*rule);
    }

    fn size(&self) -> usize {
        match self {
            Syntax::Token(_) | Syntax::NotTokens(_) | Syntax::End | Syntax::Expect(_) | Syntax::Rule(_) => 1,
            Syntax::Seq(items) | Syntax::Choice(items) => 1 + items.iter().map(Body::size).sum::<usize>(),
            Syntax::Repeat { item, .. } => 1 + item.size(),
        }
    }
}

impl Syntax {
    /// Returns the alternatives of a rule with this right-hand side.
    fn alternatives(&self) -> &[Syntax] {
        match self {
            Syntax::Choice(options) => options,
            _ => std::slice::from_ref(self),
        }
    }
}

/// Gives the operators of `rules` their levels. `bindings` says how tightly the alternatives of each rule bind. The
/// rules keep their places, and further ones have the names of those that they stand for.
pub(crate) fn give_levels(rules: &mut Vec<Rule>, bindings: &[Vec<Binding>]) {
    let alternatives = |(rule, bindings): (&Rule, &Vec<Binding>)| {
        let all = rule.body.alternatives().iter().zip(bindings);
        all.map(|(body, &binding)| Alternative { body: body.clone(), binding }).collect()
    };
    let given: Vec<levels::Rule<Syntax>> = rules
        .iter()
        .zip(bindings)
        .enumerate()
        .map(|(name, rule)| levels::Rule { name, alternatives: alternatives(rule) })
        .collect();
    let mut next = rules.len();
    let fresh = |_: &usize| {
        next += 1;
        next - 1
    };
    let mut added = Vec::new();
    for (rule, rungs) in levels::ladder(&given, fresh) {
        for rung in rungs {
            let mut options: Vec<Syntax> = rung.alternatives.into_iter().map(|(_, body)| body).collect();
            let body = if options.len() == 1 { options.remove(0) } else { Syntax::Choice(options) };
            match rung.name == rule {
                true => rules[rule].body = body,
                false => added.push((rung.name, Rule { body, ..rules[rule].clone() })),
            }
        }
    }
    crate::ordered::sort_by_key(&mut added, |&(name, _)| name);
    rules.extend(added.into_iter().map(|(_, rule)| rule));
}
