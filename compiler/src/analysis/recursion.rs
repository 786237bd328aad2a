//! Search for recursive rules: strongly connected components of the rule graph, without native recursion.

use crate::ir::{Ir, NodeId, RuleId};

/// The components of the rule graph.
#[derive(Clone, Debug)]
pub struct Recursion {
    component: Vec<u32>,
    recursive: Vec<bool>,
    bottom_up: Vec<RuleId>,
}

impl Recursion {
    /// Returns true if the rule derives itself.
    pub fn is_recursive(&self, rule: RuleId) -> bool {
        self.recursive[rule.index()]
    }

    /// Returns true if two rules derive each other (or are the same).
    pub fn same_component(&self, a: RuleId, b: RuleId) -> bool {
        self.component[a.index()] == self.component[b.index()]
    }

    /// Returns the number of the rule's component, ascending with [`Recursion::bottom_up`].
    pub fn component(&self, rule: RuleId) -> u32 {
        self.component[rule.index()]
    }

    /// Returns the rules with a body. Each stands after all rules of other components that it refers to.
    pub fn bottom_up(&self) -> &[RuleId] {
        &self.bottom_up
    }
}

/// The references between rules, by the index of the rule that refers.
#[derive(Clone, Debug)]
pub struct References {
    all: Vec<RuleId>,
    /// The index of each rule's first reference, and at the end the number of all references.
    starts: Vec<u32>,
}

impl References {
    /// Returns the references of each rule, from one list per rule.
    pub fn of_lists<L: IntoIterator<Item = RuleId>>(lists: impl IntoIterator<Item = L>) -> References {
        let mut references = References { all: Vec::new(), starts: vec![0] };
        for list in lists {
            references.all.extend(list);
            references.starts.push(references.all.len() as u32);
        }
        references
    }

    /// Returns the number of references.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns true if there are no references.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the number of references to each rule.
    pub fn uses(&self) -> Vec<u32> {
        let mut uses = vec![0; self.starts.len() - 1];
        for rule in &self.all {
            uses[rule.index()] += 1;
        }
        uses
    }
}

impl std::ops::Index<usize> for References {
    type Output = [RuleId];

    fn index(&self, rule: usize) -> &[RuleId] {
        &self.all[self.starts[rule] as usize..self.starts[rule + 1] as usize]
    }
}

/// Returns the rules that each rule refers to, in order of occurrence, with repetitions. An inlined instance counts
/// only with the references in its body.
pub fn references(ir: &Ir) -> References {
    let mut references = References { all: Vec::new(), starts: vec![0] };
    for rule in ir.rule_ids() {
        if let Some(body) = ir.body(rule) {
            collect(ir, body, &mut references.all);
        }
        references.starts.push(references.all.len() as u32);
    }
    references
}

fn collect(ir: &Ir, node: NodeId, found: &mut Vec<RuleId>) {
    found.extend(ir.node(node).reference());
    for &child in ir.children(node) {
        collect(ir, child, found);
    }
}

/// Returns the components of the rules of `ir`.
pub fn recursion(ir: &Ir) -> Recursion {
    components(&references(ir), ir.bodies().map(|(rule, _)| rule))
}

/// Returns the components of the rules that `roots` reach, by Tarjan's algorithm (1972) with an explicit stack.
pub fn components(references: &References, roots: impl IntoIterator<Item = RuleId>) -> Recursion {
    const UNSEEN: u32 = u32::MAX;
    let count = references.starts.len() - 1;
    let mut order = vec![UNSEEN; count];
    let mut low = vec![0u32; count];
    let mut component = vec![UNSEEN; count];
    let mut recursive = vec![false; count];
    let mut bottom_up = Vec::with_capacity(count);
    let mut open: Vec<u32> = Vec::new();
    let (mut next_order, mut next_component) = (0, 0);
    let mut stack: Vec<(u32, usize)> = Vec::new();
    for root in roots {
        if order[root.index()] != UNSEEN {
            continue;
        }
        stack.push((root.index() as u32, 0));
        while let Some((rule, position)) = stack.pop() {
            let index = rule as usize;
            if position == 0 {
                order[index] = next_order;
                low[index] = next_order;
                next_order += 1;
                open.push(rule);
            } else {
                let visited = references[index][position - 1].index();
                if component[visited] == UNSEEN {
                    low[index] = low[index].min(low[visited]);
                }
            }
            if let Some(&target) = references[index].get(position) {
                stack.push((rule, position + 1));
                recursive[index] |= target.index() == index;
                if order[target.index()] == UNSEEN {
                    stack.push((target.index() as u32, 0));
                } else if component[target.index()] == UNSEEN {
                    low[index] = low[index].min(order[target.index()]);
                }
                continue;
            }
            if low[index] == order[index] {
                let first = open.iter().rposition(|&other| other == rule).unwrap_or(0);
                let members = open.split_off(first);
                for &member in &members {
                    component[member as usize] = next_component;
                    recursive[member as usize] |= members.len() > 1;
                }
                bottom_up.extend(members.iter().rev().map(|&member| RuleId::new(member as usize)));
                next_component += 1;
            }
        }
    }
    Recursion { component, recursive, bottom_up }
}
