//! Least derivations: minimum length, height and depth of every rule, as a least fixpoint over superior functions.
//!
//! Knuth, *A generalization of Dijkstra's algorithm* (1977): nodes of an and-or graph become final in ascending order
//! of their cost. So each is computed once, including cycles through nullable rules.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::ast::{Expr, ExprKind, Grammar};
use crate::ir::{Facts, Ir, NodeId, Rounds};

/// The cost of a derivation: length in bytes, then height; or the height alone.
type Cost = (u64, u32);

/// An and-or graph: its nodes are numbered from 0.
#[derive(Default)]
pub struct System {
    kinds: Vec<Kind>,
    /// Pairs of a child and the parent that waits for it, until solved.
    edges: Vec<(u32, u32)>,
}

#[derive(Clone, Copy)]
enum Kind {
    /// A node that costs this many bytes.
    Literal(u64),
    /// All children; this many of them are not final yet.
    All(u32),
    /// The cheapest child.
    Any,
    /// The child this many times.
    Times(u32),
    /// Child, one level deeper.
    Deeper,
    /// Child as it is, which is given later.
    Same,
}

impl System {
    fn add(&mut self, kind: Kind, children: &[u32]) -> u32 {
        let id = self.kinds.len() as u32;
        self.kinds.push(kind);
        self.edges.extend(children.iter().map(|&child| (child, id)));
        id
    }

    /// Returns the least cost of each node. Lengths are counted, or (`by_depth`) only heights. `None` where no finite
    /// derivation exists.
    fn solve(&self, by_depth: bool) -> Vec<Option<Cost>> {
        let count = self.kinds.len();
        let mut first_parent = vec![0u32; count + 1];
        for &(child, _) in &self.edges {
            first_parent[child as usize + 1] += 1;
        }
        for index in 0..count {
            first_parent[index + 1] += first_parent[index];
        }
        let mut parents = vec![0u32; self.edges.len()];
        let mut next = first_parent.clone();
        for &(child, parent) in &self.edges {
            parents[next[child as usize] as usize] = parent;
            next[child as usize] += 1;
        }
        let mut waiting: Vec<(u32, Cost)> = Vec::with_capacity(count);
        let mut queue = BinaryHeap::new();
        for (id, &kind) in self.kinds.iter().enumerate() {
            match kind {
                Kind::Literal(len) => queue.push(Reverse(((if by_depth { 0 } else { len }, 0), id as u32))),
                Kind::All(0) => queue.push(Reverse(((0, 0), id as u32))),
                _ => {}
            }
            waiting.push((if let Kind::All(children) = kind { children } else { 0 }, (0, 0)));
        }
        let mut costs: Vec<Option<Cost>> = vec![None; count];
        while let Some(Reverse((cost, id))) = queue.pop() {
            if costs[id as usize].is_some() {
                continue;
            }
            costs[id as usize] = Some(cost);
            let range = first_parent[id as usize] as usize..first_parent[id as usize + 1] as usize;
            for &parent in &parents[range] {
                if costs[parent as usize].is_some() {
                    continue;
                }
                let (len, height) = cost;
                let offer = match self.kinds[parent as usize] {
                    Kind::Literal(_) => continue,
                    Kind::Any | Kind::Same => cost,
                    Kind::Times(times) => (len.saturating_mul(u64::from(times)), height),
                    Kind::Deeper => (len, height.saturating_add(1)),
                    Kind::All(_) => {
                        let (missing, sum) = &mut waiting[parent as usize];
                        *sum = (sum.0.saturating_add(len), sum.1.max(height));
                        *missing -= 1;
                        if *missing > 0 {
                            continue;
                        }
                        *sum
                    }
                };
                queue.push(Reverse((offer, parent)));
            }
        }
        costs
    }
}

/// Returns the facts of each rule of a grammar as written (only alternatives with positive weight count); `None` for
/// rules that derive no finite string. `resolve` gives the rule of a name.
pub fn of_grammar(grammar: &Grammar, resolve: &dyn Fn(&str) -> Option<usize>) -> Vec<Option<Facts>> {
    let mut system = System::default();
    // The first nodes stand for the rules.
    for _ in &grammar.rules {
        system.add(Kind::Same, &[]);
    }
    for (index, rule) in grammar.rules.iter().enumerate() {
        let body = ast_node(&mut system, &rule.body, resolve);
        system.edges.push((body, index as u32));
    }
    facts_of_first(&system, grammar.rules.len())
}

fn ast_node(system: &mut System, expr: &Expr, resolve: &dyn Fn(&str) -> Option<usize>) -> u32 {
    match &expr.kind {
        ExprKind::Bytes(bytes) => system.add(Kind::Literal(bytes.len() as u64), &[]),
        ExprKind::Class(set) if set.is_empty() => system.add(Kind::Any, &[]),
        ExprKind::Class(set) => system.add(Kind::Literal(set.min_len()), &[]),
        ExprKind::Rule(name) => match resolve(name) {
            Some(rule) => system.add(Kind::Deeper, &[rule as u32]),
            None => system.add(Kind::Any, &[]),
        },
        ExprKind::Seq(items) => {
            let children: Vec<u32> = items.iter().map(|item| ast_node(system, item, resolve)).collect();
            system.add(Kind::All(children.len() as u32), &children)
        }
        ExprKind::Choice(alternatives) => {
            let children: Vec<u32> = alternatives
                .iter()
                .filter(|alternative| alternative.is_live())
                .map(|alternative| ast_node(system, &alternative.expr, resolve))
                .collect();
            system.add(Kind::Any, &children)
        }
        ExprKind::Repeat { max: Some(0), .. } | ExprKind::Repeat { min: 0, .. } => system.add(Kind::Literal(0), &[]),
        ExprKind::Repeat { item, min, .. } => {
            let child = ast_node(system, item, resolve);
            system.add(Kind::Times(*min), &[child])
        }
    }
}

/// Returns the facts of each rule of an IR from its bodies; `None` for rules without a body or without a finite string.
pub fn of_ir(ir: &Ir) -> Vec<Option<Facts>> {
    let mut system = System::default();
    let rules = ir.rules().len();
    for _ in 0..rules {
        system.add(Kind::Same, &[]);
    }
    // Nodes are numbered after the rules; children come before their parents in the arena.
    let id = |node: NodeId| (rules + node.index()) as u32;
    // The body of an instance can be referenced from any place: by a rule or by an inlined instance.
    let homes = ir.homes();
    for index in 0..ir.node_count() {
        let node = NodeId::new(index);
        let children: Vec<u32> = ir.children(node).iter().map(|&child| id(child)).collect();
        let parts = ir.node(node);
        if let Some(rule) = parts.instance() {
            match children.first().copied().or(homes[rule.index()].map(id)) {
                Some(home) => system.add(Kind::Deeper, &[home]),
                None => system.add(Kind::Any, &[]),
            };
        } else if let Some(Rounds { min: min @ 1.., .. }) = parts.rounds() {
            system.add(Kind::Times(min), &children);
        } else if parts.choice().is_some() {
            system.add(Kind::Any, &children);
        } else if parts.items().is_some() {
            system.add(Kind::All(children.len() as u32), &children);
        } else {
            // What a leaf is itself counts, not the facts that are to be checked. A repetition that may have no rounds
            // adds nothing.
            let literal = parts.literal().map(|bytes| bytes.len() as u64);
            let class = parts.class().map(|set| set.min_len());
            let own = literal.or(class).or(parts.rounds().map(|_| 0));
            system.add(Kind::Literal(own.unwrap_or_else(|| ir.facts(node).min_len)), &[]);
        }
    }
    for (rule, body) in ir.bodies() {
        system.edges.push((id(body), rule.index() as u32));
    }
    facts_of_first(&system, rules)
}

fn facts_of_first(system: &System, count: usize) -> Vec<Option<Facts>> {
    let by_len = system.solve(false);
    let by_depth = system.solve(true);
    (0..count)
        .map(|rule| {
            let (min_len, height) = by_len[rule]?;
            let (_, min_depth) = by_depth[rule]?;
            Some(Facts { min_len, height, min_depth })
        })
        .collect()
}
