//! Erases instances whose depth does not matter, because the pool as a site offers the same as the body.
//!
//! Law: within the limit the body is derived, beyond it a pool string is drawn. If both are one site with the same
//! strings in the same order (or no site and the same bytes), they read and emit the same.

use super::rewrite;
use crate::analysis::pools::Pools;
use crate::ir::{Ir, NodeId};

pub fn erase_scopes(ir: &Ir, pools: &Pools) -> Ir {
    rewrite(ir, |new, node, children| {
        if let Some((rule, _)) = ir.node(node).in_place()
            && pools.get(rule).is_some_and(|pool| is_site_of(new, children[0], &pool.strings))
        {
            return children[0];
        }
        new.rebuild(ir, node, children)
    })
}

/// Erases all scopes, for an IR that runs without a depth limit.
pub fn erase_all_scopes(ir: &Ir) -> Ir {
    rewrite(ir, |new, node, children| {
        if ir.node(node).in_place().is_some() {
            return children[0];
        }
        new.rebuild(ir, node, children)
    })
}

fn is_site_of(ir: &Ir, node: NodeId, pool: &[Box<[u8]>]) -> bool {
    let node = ir.node(node);
    if let Some(bytes) = node.literal() {
        return pool.len() == 1 && *pool[0] == *bytes;
    }
    if let Some(set) = node.class() {
        let mut members = set.iter().zip(pool);
        return set.len() as usize == pool.len()
            && members.all(|(member, string)| set.encode(member).as_ref() == &**string);
    }
    node.choice().is_some_and(|choice| {
        let mut options = choice.options.iter().zip(pool);
        choice.slots.is_none()
            && choice.options.len() == pool.len()
            && options.all(|(&option, string)| ir.node(option).literal() == Some(&**string))
    })
}
