//! Supercompilation (F1, section 7.2): drives the start rule through all rule expansions and folds on rules seen
//! before. Residual bodies remain only where recursion folds back, and where a body is too large to copy.
//!
//! Law: an expansion is an inlined instance, so language and choice map stay. The size is bounded: each reference is
//! replaced by at most [`Budget::copied_nodes`] nodes, except a rule's only reference.

use super::dead::remove_dead;
use super::inline::inline;
use crate::analysis::recursion::{References, references};
use crate::ir::{Ir, NodeId, RuleId};

/// Limits on the code that supercompilation makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// A rule that is used more than once is expanded in place if its body has at most this many nodes.
    pub copied_nodes: u32,
    /// A rule that is used once is expanded in place if its body has at most this many nodes.
    pub moved_nodes: u32,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { copied_nodes: 16, moved_nodes: 600 }
    }
}

pub fn supercompile(ir: Ir, budget: &Budget) -> Ir {
    let references = references(&ir);
    let (folds, order) = drive(&ir, &references);
    let uses = references.uses();
    drop(references);
    let expanded = inline(&ir, &order, |new, rule, body| {
        let most = if uses[rule.index()] == 1 { budget.moved_nodes } else { budget.copied_nodes };
        !folds[rule.index()] && rule != ir.start() && code_size(new, body, most) <= most
    });
    drop(ir);
    remove_dead(&expanded)
}

/// Returns the number of nodes. A choice among a few literals counts as one, because engines turn it into data. Stops
/// counting beyond `most`.
fn code_size(ir: &Ir, node: NodeId, most: u32) -> u32 {
    if let Some(literals) = ir.literals(node) {
        return 1 + literals.len() as u32 / 16;
    }
    let bytes = ir.node(node).literal().map_or(0, <[u8]>::len) as u32;
    let ranges = ir.node(node).class().map_or(0, |set| set.ranges().len()) as u32;
    let mut size = 1 + bytes / 32 + ranges / 16;
    for &child in ir.children(node) {
        if size > most {
            break;
        }
        size += code_size(ir, child, most - size.min(most));
    }
    size
}

/// Drives depth-first from the start. Marks each rule that is met again while its expansion is open (every cycle has
/// one). Lists all rules in the order in which their expansions close: callees first.
fn drive(ir: &Ir, references: &References) -> (Vec<bool>, Vec<RuleId>) {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        Unseen,
        Open,
        Done,
    }
    let mut states = vec![State::Unseen; ir.rules().len()];
    let mut folds = vec![false; ir.rules().len()];
    let mut order = Vec::new();
    let mut stack = vec![(ir.start(), 0)];
    states[ir.start().index()] = State::Open;
    while let Some((rule, position)) = stack.pop() {
        match references[rule.index()].get(position) {
            None => {
                states[rule.index()] = State::Done;
                order.push(rule);
            }
            Some(&target) => {
                stack.push((rule, position + 1));
                match states[target.index()] {
                    State::Unseen => {
                        states[target.index()] = State::Open;
                        stack.push((target, 0));
                    }
                    State::Open => folds[target.index()] = true,
                    State::Done => {}
                }
            }
        }
    }
    (folds, order)
}
