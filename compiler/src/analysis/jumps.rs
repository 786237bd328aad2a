//! Which instances are jumped back to.

use crate::ir::{Ir, Node, NodeId, RuleId};

/// Whether the body of an instance of `rule` jumps back to it.
pub fn jumps_to(ir: &Ir, node: NodeId, rule: RuleId) -> bool {
    match ir.node(node) {
        Node::Again(target) => *target == rule,
        // An instance of the same rule inside catches the jumps.
        Node::Inline { rule: inner, .. } if *inner == rule => false,
        // Jumps stand in tail position only.
        Node::Seq(items) => items.last().is_some_and(|&last| jumps_to(ir, last, rule)),
        Node::Repeat { .. } => false,
        _ => ir.children(node).iter().any(|&child| jumps_to(ir, child, rule)),
    }
}
