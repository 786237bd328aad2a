//! Shares equal tails: an item at the end of all options of a choice moves after the choice.
//!
//! Law: the site comes before the item, so the order of reading stays. The options' costs keep their differences.

use super::rewrite;
use crate::analysis::alike::items;
use crate::ir::{Choice, Ir, NodeId};

pub fn share_tails(ir: &Ir) -> Ir {
    rewrite(ir, |new, node, children| {
        let Some(Choice { slots, .. }) = ir.node(node).choice() else { return new.rebuild(ir, node, children) };
        let mut options: Vec<Vec<NodeId>> = children.iter().map(|&child| items(new, child)).collect();
        let mut tail = Vec::new();
        while let Some(shared) = shared_last(new, &options) {
            tail.push(shared);
            options.iter_mut().for_each(|items| {
                items.pop();
            });
        }
        if tail.is_empty() {
            return new.rebuild(ir, node, children);
        }
        let heads: Vec<NodeId> = options.into_iter().map(|items| new.seq(items)).collect();
        let mut items = vec![new.choice(heads, slots.clone())];
        items.extend(tail.into_iter().rev());
        new.seq(items)
    })
}

/// Returns the last item, if it is the same in all options.
fn shared_last(ir: &Ir, options: &[Vec<NodeId>]) -> Option<NodeId> {
    let first = *options.first()?.last()?;
    options[1..].iter().all(|items| items.last().is_some_and(|&last| ir.is_written_like(first, last))).then_some(first)
}
