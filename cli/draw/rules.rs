//! The rules of a grammar and how they refer to each other: what the start rule reaches, what is recursive, what uses
//! what.

use std::collections::{BTreeMap, VecDeque};

use gramjet_compiler::analysis::recursion::{Recursion, References, components};
use gramjet_compiler::ast::Grammar;
use gramjet_compiler::ir::RuleId;

/// Rules, by their numbers in the grammar.
pub struct Rules<'g> {
    /// The grammar.
    pub grammar: &'g Grammar,
    /// The start rule.
    pub start: usize,
    /// The rules that each rule refers to, each once, in order.
    pub uses: Vec<Vec<usize>>,
    /// The rules that refer to each rule.
    pub used_by: Vec<Vec<usize>>,
    /// Fewest references from the start rule to each rule, if it is reached.
    pub distances: Vec<Option<usize>>,
    recursion: Recursion,
    numbers: BTreeMap<&'g str, usize>,
}

impl<'g> Rules<'g> {
    /// Returns the rules of a grammar that has been checked. Of two rules with one name the first counts.
    pub fn new(grammar: &'g Grammar) -> Rules<'g> {
        let mut numbers = BTreeMap::new();
        for (number, rule) in grammar.rules.iter().enumerate() {
            numbers.entry(rule.name.text.as_str()).or_insert(number);
        }
        let start = grammar.start.as_ref().and_then(|name| numbers.get(name.text.as_str()).copied()).unwrap_or(0);
        let uses: Vec<Vec<usize>> = grammar
            .rules
            .iter()
            .map(|rule| {
                let (mut found, mut known) = (Vec::new(), std::collections::BTreeSet::new());
                rule.body.each_reference(&mut |name| {
                    found.extend(numbers.get(name).copied().filter(|&number| known.insert(number)));
                });
                found
            })
            .collect();
        let mut used_by = vec![Vec::new(); uses.len()];
        for (number, used) in uses.iter().enumerate() {
            used.iter().for_each(|&used| used_by[used].push(number));
        }
        let references = References::of_lists(uses.iter().map(|used| used.iter().map(|&rule| RuleId::new(rule))));
        let recursion = components(&references, (0..uses.len()).map(RuleId::new));
        let distances = distances(&uses, &[start]);
        Rules { grammar, start, uses, used_by, distances, recursion, numbers }
    }

    /// Returns the number of a rule.
    pub fn number(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// Returns the name of a rule.
    pub fn name(&self, rule: usize) -> &'g str {
        &self.grammar.rules[rule].name.text
    }

    /// Returns the number of rules.
    pub fn count(&self) -> usize {
        self.uses.len()
    }

    /// Returns true if a rule can derive itself.
    pub fn is_recursive(&self, rule: usize) -> bool {
        self.recursion.is_recursive(RuleId::new(rule))
    }

    /// Returns true if two rules derive each other.
    pub fn are_recursive(&self, one: usize, other: usize) -> bool {
        self.is_recursive(one) && self.recursion.same_component(RuleId::new(one), RuleId::new(other))
    }

    /// Returns true if the start rule reaches a rule, or a class of the grammar is made with it.
    pub fn is_reached(&self, rule: usize) -> bool {
        self.distances[rule].is_some() || self.grammar.class_rules.contains(self.name(rule))
    }

    /// Returns the rules that some rules reach, themselves included, in the order of the grammar.
    pub fn reached_from(&self, rules: &[usize]) -> Vec<usize> {
        let reached = distances(&self.uses, rules);
        (0..self.count()).filter(|&rule| reached[rule].is_some()).collect()
    }

    /// Returns the names of the rules, ascending.
    pub fn names(&self) -> impl Iterator<Item = &'g str> {
        self.numbers.keys().copied()
    }
}

/// Returns the fewest references from some rules to each rule.
fn distances(uses: &[Vec<usize>], from: &[usize]) -> Vec<Option<usize>> {
    let mut distances = vec![None; uses.len()];
    let mut queue = VecDeque::new();
    for &rule in from {
        if rule < uses.len() {
            distances[rule] = Some(0);
            queue.push_back((rule, 0));
        }
    }
    while let Some((rule, distance)) = queue.pop_front() {
        for &used in &uses[rule] {
            if distances[used].is_none() {
                distances[used] = Some(distance + 1);
                queue.push_back((used, distance + 1));
            }
        }
    }
    distances
}
