//! Finds the instances that have jumps back to them.

use crate::ir::{Ir, NodeId, RuleId};

/// Nodes of an IR that have jumps back in their tail positions.
#[derive(Clone, Debug)]
pub struct Jumps(Vec<bool>);

impl Jumps {
    /// Returns the jumps of `ir`.
    pub fn new(ir: &Ir) -> Jumps {
        let mut jumps = vec![false; ir.node_count()];
        // Children stand before their parents.
        for index in 0..jumps.len() {
            let node = NodeId::new(index);
            let has_one_inside = ir.tails(node).iter().any(|tail| jumps[tail.index()]);
            jumps[index] = has_one_inside || ir.node(node).jump_back().is_some();
        }
        Jumps(jumps)
    }

    /// Returns true if a jump in the tail positions of `node` leads back to the enclosing instance of `rule`.
    pub fn lead_back(&self, ir: &Ir, node: NodeId, rule: RuleId) -> bool {
        if let Some(target) = ir.node(node).jump_back() {
            return target == rule;
        }
        // An instance of the same rule inside catches the jumps.
        let is_caught = ir.node(node).in_place().is_some_and(|(inner, _)| inner == rule);
        self.0[node.index()] && !is_caught && ir.tails(node).iter().any(|&tail| self.lead_back(ir, tail, rule))
    }
}
