//! The lexemes at the beginnings and ends of the parser's rules. Takes time linear in the rules, apart from the sizes
//! of the sets.

use super::bits::Bits;
use super::flat::{Flat, FlatGrammar};

/// The lexemes that rules begin and end with.
pub(super) struct Edges {
    pub(super) nullable: Vec<bool>,
    pub(super) first: Vec<Bits>,
    pub(super) last: Vec<Bits>,
}

/// A side of an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    First,
    Last,
}

impl Edges {
    pub(super) fn new(flat: &FlatGrammar) -> Edges {
        let nullable = deriving(flat, &|_| false);
        let mut edges = Edges { nullable, first: Vec::new(), last: Vec::new() };
        edges.first = edges.closure(flat, Side::First);
        edges.last = edges.closure(flat, Side::Last);
        edges
    }

    /// Adds the lexemes that an expression begins with. Returns whether it derives the empty text.
    pub(super) fn add_first(&self, expr: &Flat, first: &mut Bits) -> bool {
        self.walk(expr, Side::First, &mut |edge| match edge {
            Edge::Lexeme(lexeme) => {
                first.insert(lexeme);
            }
            Edge::Rule(rule) => {
                first.extend(&self.first[rule]);
            }
        })
    }

    /// Adds the lexemes that an expression ends with. Returns whether it derives the empty text.
    pub(super) fn add_last(&self, expr: &Flat, last: &mut Bits) -> bool {
        self.walk(expr, Side::Last, &mut |edge| match edge {
            Edge::Lexeme(lexeme) => {
                last.insert(lexeme);
            }
            Edge::Rule(rule) => {
                last.extend(&self.last[rule]);
            }
        })
    }

    /// Visits the lexemes and rules at one side of an expression. Returns whether it derives the empty text.
    fn walk(&self, expr: &Flat, side: Side, visit: &mut dyn FnMut(Edge)) -> bool {
        match expr {
            Flat::Lexeme(lexeme) => {
                visit(Edge::Lexeme(*lexeme));
                false
            }
            Flat::Rule(rule) => {
                visit(Edge::Rule(*rule));
                self.nullable[*rule]
            }
            Flat::Seq(items) => match side {
                Side::First => items.iter().all(|item| self.walk(item, side, visit)),
                Side::Last => items.iter().rev().all(|item| self.walk(item, side, visit)),
            },
            Flat::Choice(options) => {
                // All options are visited, even if the first one derives the empty text.
                let mut nullable = false;
                for option in options {
                    nullable |= self.walk(option, side, visit);
                }
                nullable
            }
            Flat::Repeat { max: Some(0), .. } => true,
            Flat::Repeat { item, min, .. } => self.walk(item, side, visit) || *min == 0,
        }
    }

    /// Returns the lexemes at one side of each rule. Rules that begin (or end) with each other share the computation.
    fn closure(&self, flat: &FlatGrammar, side: Side) -> Vec<Bits> {
        let count = flat.rules.len();
        let mut sets: Vec<Bits> = Vec::with_capacity(count);
        let mut targets: Vec<Vec<usize>> = Vec::with_capacity(count);
        for rule in &flat.rules {
            let (mut set, mut rules) = (Bits::new(flat.lexemes.len()), Vec::new());
            self.walk(&rule.body, side, &mut |edge| match edge {
                Edge::Lexeme(lexeme) => {
                    set.insert(lexeme);
                }
                Edge::Rule(rule) => rules.push(rule),
            });
            rules.sort_unstable();
            rules.dedup();
            sets.push(set);
            targets.push(rules);
        }
        for members in components(&targets) {
            let mut set = Bits::new(flat.lexemes.len());
            for &member in &members {
                set.extend(&sets[member]);
                // The sets of other members are empty so far, or these members add their own.
                for &target in &targets[member] {
                    set.extend(&sets[target]);
                }
            }
            members.into_iter().for_each(|member| sets[member] = set.clone());
        }
        sets
    }
}

/// An element at a side of an expression.
enum Edge {
    Lexeme(usize),
    Rule(usize),
}

/// Returns the strongly connected components of a graph. Each stands after those that it leads to (Tarjan 1972, with an
/// explicit stack).
pub(super) fn components(targets: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut order = vec![UNSEEN; targets.len()];
    let mut low = vec![0; targets.len()];
    let mut is_open = vec![false; targets.len()];
    let mut open = Vec::new();
    let mut found = Vec::new();
    let mut count = 0;
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for root in 0..targets.len() {
        if order[root] == UNSEEN {
            stack.push((root, 0));
        }
        while let Some((node, position)) = stack.pop() {
            if position == 0 {
                (order[node], low[node]) = (count, count);
                count += 1;
                is_open[node] = true;
                open.push(node);
            } else {
                let visited = targets[node][position - 1];
                if is_open[visited] {
                    low[node] = low[node].min(low[visited]);
                }
            }
            if let Some(&target) = targets[node].get(position) {
                stack.push((node, position + 1));
                if order[target] == UNSEEN {
                    stack.push((target, 0));
                } else if is_open[target] {
                    low[node] = low[node].min(order[target]);
                }
            } else if low[node] == order[node] {
                let first = open.iter().rposition(|&other| other == node).unwrap_or(0);
                let members = open.split_off(first);
                members.iter().for_each(|&member| is_open[member] = false);
                found.push(members);
            }
        }
    }
    found
}

/// No node.
const NONE: u32 = u32::MAX;

/// Returns for each rule whether it derives a text of only certain lexemes. The least fixpoint over an and-or graph, in
/// linear time, as for productive rules in [`crate::check::productive`].
pub(super) fn deriving(flat: &FlatGrammar, is_certain: &dyn Fn(usize) -> bool) -> Vec<bool> {
    let count = flat.rules.len();
    let mut graph = Graph { nodes: Vec::new(), first_use: vec![NONE; count], ready: Vec::new() };
    graph.nodes.resize_with(count, || Node { parent: NONE, next_use: NONE, missing: 1 });
    for (number, rule) in flat.rules.iter().enumerate() {
        graph.add(&rule.body, number as u32, is_certain);
    }
    let mut derives = vec![false; count];
    while let Some(node) = graph.ready.pop() {
        let node = node as usize;
        if node < count {
            derives[node] = true;
            let mut user = graph.first_use[node];
            while user != NONE {
                graph.ready.push(user);
                user = graph.nodes[user as usize].next_use;
            }
        } else {
            let parent = graph.nodes[node].parent;
            let missing = &mut graph.nodes[parent as usize].missing;
            if *missing > 0 {
                *missing -= 1;
                if *missing == 0 {
                    graph.ready.push(parent);
                }
            }
        }
    }
    derives
}

struct Node {
    parent: u32,
    /// For a reference, the next one to the same rule.
    next_use: u32,
    /// The number of parts that are not known to derive such a text yet.
    missing: u32,
}

struct Graph {
    nodes: Vec<Node>,
    /// The first reference to each rule.
    first_use: Vec<u32>,
    /// Nodes that derive such a text, whose parents have not been updated yet.
    ready: Vec<u32>,
}

impl Graph {
    fn add(&mut self, expr: &Flat, parent: u32, is_certain: &dyn Fn(usize) -> bool) {
        let node = self.nodes.len() as u32;
        self.nodes.push(Node { parent, next_use: NONE, missing: 0 });
        let missing = match expr {
            Flat::Lexeme(lexeme) => u32::from(!is_certain(*lexeme)),
            Flat::Rule(rule) => {
                self.nodes[node as usize].next_use = std::mem::replace(&mut self.first_use[*rule], node);
                1
            }
            Flat::Seq(items) => {
                items.iter().for_each(|item| self.add(item, node, is_certain));
                items.len() as u32
            }
            Flat::Choice(options) => {
                options.iter().for_each(|option| self.add(option, node, is_certain));
                1
            }
            Flat::Repeat { item, min, max } => {
                self.add(item, node, is_certain);
                u32::from(*min > 0 && *max != Some(0))
            }
        };
        self.nodes[node as usize].missing = missing;
        if missing == 0 {
            self.ready.push(node);
        }
    }
}
