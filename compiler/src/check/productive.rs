//! Finds the rules that derive a finite string: the least fixed point over an and-or graph, in linear time.
//!
//! Every expression is a node that counts the parts it still waits for (Dowling and Gallier, "Linear-time algorithms
//! for testing the satisfiability of propositional Horn formulae", 1984).

use super::Index;
use crate::ast::{Alternative, Expr, Grammar};

/// No node.
const NONE: u32 = u32::MAX;

/// Returns for each rule whether it is productive. Undefined names count as productive, so that each is reported once.
pub(crate) fn productive_rules(grammar: &Grammar, index: &Index<'_>) -> Vec<bool> {
    let mut graph = Graph { index, nodes: Vec::new(), first_use: vec![NONE; grammar.rules.len()], ready: Vec::new() };
    // The nodes with the lowest numbers are the bodies of the rules.
    graph.nodes.resize_with(grammar.rules.len(), || Node { parent: NONE, next_use: NONE, missing: 1 });
    for (number, rule) in grammar.rules.iter().enumerate() {
        graph.add(&rule.body, number as u32);
    }
    let mut productive = vec![false; grammar.rules.len()];
    while let Some(node) = graph.ready.pop() {
        if let Some(productive) = productive.get_mut(node as usize) {
            *productive = true;
            let mut user = graph.first_use[node as usize];
            while user != NONE {
                graph.ready.push(user);
                user = graph.nodes[user as usize].next_use;
            }
        } else {
            graph.part_is_productive(graph.nodes[node as usize].parent);
        }
    }
    productive
}

struct Node {
    /// The node that waits for this one.
    parent: u32,
    /// For a reference, the next one to the same rule.
    next_use: u32,
    /// The number of parts that are not known to be productive yet.
    missing: u32,
}

struct Graph<'a> {
    index: &'a Index<'a>,
    nodes: Vec<Node>,
    /// The first reference to each rule.
    first_use: Vec<u32>,
    /// Productive nodes whose parents have not been updated yet.
    ready: Vec<u32>,
}

impl Graph<'_> {
    /// Adds the nodes of `expr`, for which `parent` waits.
    fn add(&mut self, expr: &Expr, parent: u32) {
        let node = self.nodes.len() as u32;
        self.nodes.push(Node { parent, next_use: NONE, missing: 0 });
        // A choice in which all weights are zero has been reported.
        let mut missing = 0;
        for part in expr.children_if(Alternative::is_live) {
            self.add(part, node);
            missing += 1;
        }
        if expr.as_choice().is_some() {
            missing = missing.min(1);
        }
        if expr.as_repeat().is_some_and(|rounds| rounds.min == 0) {
            missing = 0;
        }
        if let Some(&rule) = expr.as_rule().and_then(|name| self.index.get(name)) {
            self.nodes[node as usize].next_use = std::mem::replace(&mut self.first_use[rule], node);
            missing = 1;
        }
        self.nodes[node as usize].missing = missing;
        if missing == 0 {
            self.ready.push(node);
        }
    }

    fn part_is_productive(&mut self, node: u32) {
        let missing = &mut self.nodes[node as usize].missing;
        // A choice waits only for the first of its parts.
        if *missing > 0 {
            *missing -= 1;
            if *missing == 0 {
                self.ready.push(node);
            }
        }
    }
}
