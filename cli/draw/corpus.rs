//! The parts of a grammar that a corpus uses.

use std::collections::{BTreeMap, BTreeSet};

use gramjet_compiler::Compiled;
use gramjet_compiler::ast::Expr;
use gramjet_compiler::shape::learn::Counts;

use super::rules::Rules;

/// Rules, alternatives and repetitions, by whether a corpus uses them. Those that are not choices of the compiled
/// grammar are unknown: they have one alternative, or are not reached.
#[derive(Debug, Default)]
pub struct Usage {
    /// By rule, place and alternative.
    alternatives: BTreeMap<(usize, u32, usize), bool>,
    /// By rule and place: whether a text has a round beyond the minimum.
    repetitions: BTreeMap<(usize, u32), bool>,
    /// The rules that are reached through what is used.
    rules: BTreeSet<usize>,
}

impl Usage {
    /// Returns what a corpus uses whose derivations have these counts.
    pub fn new(rules: &Rules<'_>, compiled: &Compiled, counts: &Counts) -> Usage {
        let mut usage = Usage::default();
        let number = |rule| rules.number(&compiled.lowered.rule(rule).name);
        for (node, source) in compiled.sources.iter() {
            let Some(rule) = number(source.rule) else { continue };
            for (&(alternative, _), &count) in source.alternatives.iter().zip(counts.of_choice(node)) {
                let is_used = usage.alternatives.entry((rule, source.place, alternative as usize)).or_default();
                *is_used |= count > 0;
            }
        }
        for (node, repetition) in compiled.sources.repetitions() {
            let Some(rule) = number(repetition.rule) else { continue };
            let is_used = usage.repetitions.entry((rule, repetition.place)).or_default();
            *is_used |= counts.of_repetition(node).iter().any(|&(rounds, _)| rounds > 0);
        }
        usage.find_rules(rules);
        usage
    }

    /// Finds the rules that the corpus uses, from the start rule on.
    fn find_rules(&mut self, rules: &Rules<'_>) {
        let mut open = vec![rules.start];
        while let Some(rule) = open.pop() {
            if let (true, Some(body)) = (self.rules.insert(rule), rules.grammar.rules.get(rule)) {
                let mut walk = Walk { usage: self, rule, place: 0, found: Vec::new() };
                walk.expr(&body.body, true);
                open.extend(walk.found.into_iter().filter_map(|name| rules.number(name)));
            }
        }
    }

    /// Returns true if the corpus uses a rule.
    pub fn rule(&self, rule: usize) -> bool {
        self.rules.contains(&rule)
    }

    /// Returns true if the corpus uses an alternative; `None` if that is unknown.
    pub fn alternative(&self, rule: usize, place: u32, alternative: usize) -> Option<bool> {
        self.alternatives.get(&(rule, place, alternative)).copied()
    }

    /// Returns true if the corpus has rounds of a repetition beyond the minimum; `None` if that is unknown.
    pub fn repetition(&self, rule: usize, place: u32) -> Option<bool> {
        self.repetitions.get(&(rule, place)).copied()
    }

    /// Returns the numbers of alternatives that the corpus uses, and of all.
    pub fn totals(&self) -> (usize, usize) {
        (self.alternatives.values().filter(|&&is_used| is_used).count(), self.alternatives.len())
    }
}

/// A walk through a rule that finds the references that a corpus uses.
struct Walk<'u, 'g> {
    usage: &'u Usage,
    rule: usize,
    /// The number of the next place.
    place: u32,
    found: Vec<&'g str>,
}

impl<'g> Walk<'_, 'g> {
    fn expr(&mut self, expr: &'g Expr, is_used: bool) {
        let place = self.place;
        self.place += u32::from(expr.as_choice().is_some() || expr.as_repeat().is_some());
        self.found.extend(expr.as_rule().filter(|_| is_used));
        let usage = self.usage;
        let is_taken = match expr.as_repeat() {
            Some(rounds) if rounds.min == 0 => usage.repetition(self.rule, place) != Some(false),
            _ => true,
        };
        for (number, child) in expr.children().enumerate() {
            let is_chosen = expr.as_choice().is_none() || usage.alternative(self.rule, place, number) != Some(false);
            self.expr(child, is_used && is_taken && is_chosen);
        }
    }
}
