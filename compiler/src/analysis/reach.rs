//! Finds what can be reached from the nodes of an IR, through the rules that they refer to.

use crate::ir::{Ir, NodeId};

/// Returns for each node whether one with a property is in it, or in a rule that it leads to.
pub fn reaching(ir: &Ir, has_property: impl Fn(NodeId) -> bool) -> Vec<bool> {
    let homes = ir.homes();
    let mut found: Vec<bool> = Vec::with_capacity(ir.node_count());
    let mut parents: Vec<Vec<NodeId>> = vec![Vec::new(); ir.node_count()];
    for node in (0..ir.node_count()).map(NodeId::new) {
        let home = ir.node(node).instance().and_then(|rule| homes[rule.index()]);
        for child in ir.children(node).iter().copied().chain(home) {
            parents[child.index()].push(node);
        }
        found.push(has_property(node));
    }
    let mut open: Vec<NodeId> = (0..ir.node_count()).map(NodeId::new).filter(|node| found[node.index()]).collect();
    while let Some(node) = open.pop() {
        for &parent in &parents[node.index()] {
            if !std::mem::replace(&mut found[parent.index()], true) {
                open.push(parent);
            }
        }
    }
    found
}
