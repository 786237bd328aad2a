//! Erases instances whose depth does not matter: where the pool, taken as a site, offers what the body offers.
//!
//! Law: within the limit the body is derived, beyond it a pool string is drawn; if both are one site with the same
//! strings in the same order (or no site and the same bytes), they read and emit the same.

use super::rewrite;
use crate::analysis::pools::Pools;
use crate::ir::{Ir, Node, NodeId};

pub fn erase_scopes(ir: &Ir, pools: &Pools) -> Ir {
    rewrite(ir, |new, node, children| match ir.node(node) {
        Node::Inline { rule, .. } => {
            let body = children[0];
            let equal = pools.get(*rule).is_some_and(|pool| is_site_of(new, body, &pool.strings));
            if equal { body } else { new.inline(*rule, body) }
        }
        _ => new.rebuild(ir, node, children),
    })
}

/// Erases all scopes, for an IR that is run without a depth limit.
pub fn erase_all_scopes(ir: &Ir) -> Ir {
    rewrite(ir, |new, node, children| match ir.node(node) {
        Node::Inline { .. } => children[0],
        _ => new.rebuild(ir, node, children),
    })
}

fn is_site_of(ir: &Ir, node: NodeId, pool: &[Box<[u8]>]) -> bool {
    match ir.node(node) {
        Node::Bytes(bytes) => pool.len() == 1 && pool[0] == *bytes,
        Node::Class(set) => {
            set.len() as usize == pool.len()
                && set.iter().zip(pool).all(|(member, string)| set.encode(member).as_ref() == &**string)
        }
        Node::Choice(choice) => {
            choice.slots.is_none()
                && choice.options.len() == pool.len()
                && choice.options.iter().zip(pool).all(|(&option, string)| match ir.node(option) {
                    Node::Bytes(bytes) => bytes == string,
                    _ => false,
                })
        }
        _ => false,
    }
}
