//! Turns tail references to an enclosing instance of the same rule into jumps back to it. So right recursion needs no
//! stack and no longer counts as recursion.
//!
//! Law: a jump back is an instance one level deeper, like the reference that it replaces.

use crate::ir::{Ir, NodeId, RuleId};

pub fn tail_loops(mut ir: Ir) -> Ir {
    for rule in ir.rule_ids() {
        if let Some(body) = ir.body(rule)
            && let Some(body) = tail(&mut ir, body, &mut vec![rule])
        {
            ir.set_body(rule, body);
        }
    }
    ir
}

/// Returns the node with its tail references to `scopes` replaced. `None` if there are none.
fn tail(ir: &mut Ir, node: NodeId, scopes: &mut Vec<RuleId>) -> Option<NodeId> {
    if let Some(rule) = ir.node(node).reference() {
        return scopes.contains(&rule).then(|| ir.again(rule));
    }
    let depth = scopes.len();
    scopes.extend(ir.node(node).in_place().map(|(rule, _)| rule));
    let tails = ir.tails(node).to_vec();
    let replaced: Vec<Option<NodeId>> = tails.iter().map(|&child| tail(ir, child, scopes)).collect();
    scopes.truncate(depth);
    if replaced.iter().all(Option::is_none) {
        return None;
    }
    let mut children = ir.children(node).to_vec();
    children.truncate(children.len() - tails.len());
    children.extend(replaced.iter().zip(&tails).map(|(new, &old)| new.unwrap_or(old)));
    Some(ir.with_children(node, children))
}
