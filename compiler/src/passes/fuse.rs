//! Fuses literals: flattens sequences inside sequences, joins neighbouring literals, drops empty ones.
//!
//! Law: the same bytes are emitted in the same order; no site is changed.

use super::rewrite;
use crate::ir::{Ir, NodeId};

/// The greatest length of a joined literal in bytes. Each copy of it copies all its parts.
const MAX_FUSED: usize = 1 << 12;

pub fn fuse_literals(ir: &Ir) -> Ir {
    rewrite(ir, |new, node, children| match ir.node(node).items() {
        Some(_) => fused(new, children),
        None => new.rebuild(ir, node, children),
    })
}

fn fused(new: &mut Ir, children: Vec<NodeId>) -> NodeId {
    let mut items: Vec<NodeId> = Vec::with_capacity(children.len());
    let mut literal: Vec<u8> = Vec::new();
    for child in children {
        let parts = new.node(child).items().map_or(vec![child], <[NodeId]>::to_vec);
        for part in parts {
            if let Some(bytes) = new.node(part).literal()
                && literal.len() + bytes.len() <= MAX_FUSED
            {
                literal.extend_from_slice(bytes);
            } else {
                flush(new, &mut literal, &mut items);
                if !new.node(part).is_empty() {
                    items.push(part);
                }
            }
        }
    }
    flush(new, &mut literal, &mut items);
    new.seq(items)
}

fn flush(new: &mut Ir, literal: &mut Vec<u8>, items: &mut Vec<NodeId>) {
    if !literal.is_empty() {
        items.push(new.bytes(std::mem::take(literal)));
    }
}
