//! Options that are alike: what can share the code of a branch.

use crate::ir::{Ir, Node, NodeId};

/// The items that an option is a sequence of.
pub fn items(ir: &Ir, option: NodeId) -> Vec<NodeId> {
    match ir.node(option) {
        Node::Seq(items) => items.to_vec(),
        Node::Bytes(bytes) if bytes.is_empty() => Vec::new(),
        _ => vec![option],
    }
}

/// Whether all options have the same item at a position.
pub fn is_shared(ir: &Ir, options: &[Vec<NodeId>], position: usize) -> bool {
    let Some(&item) = options[0].get(position) else { return false };
    options.iter().all(|items| items.get(position).is_some_and(|&other| ir.is_written_like(item, other)))
}

/// Choices with more options than this are not searched for options that are alike.
const MAX_GROUPED: usize = 256;

/// The options in groups that differ, behind the first `shared` items, in literals of at most `max_literal` bytes only.
pub fn groups(ir: &Ir, options: &[Vec<NodeId>], shared: usize, max_literal: usize) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (option, items) in options.iter().enumerate() {
        let group = match options.len() <= MAX_GROUPED {
            true => groups
                .iter_mut()
                .find(|group| are_alike(ir, &options[group[0]][shared..], &items[shared..], max_literal)),
            false => None,
        };
        match group {
            Some(group) => group.push(option),
            None => groups.push(vec![option]),
        }
    }
    groups
}

fn are_alike(ir: &Ir, a: &[NodeId], b: &[NodeId], max_literal: usize) -> bool {
    let short = |node: NodeId| matches!(ir.node(node), Node::Bytes(bytes) if bytes.len() <= max_literal);
    a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| (short(a) && short(b)) || ir.is_written_like(a, b))
}
