//! Inlines instances of rules: the general function, and the pass for rules that are trivial or used once.
//!
//! Law: an inlined instance keeps its scope ([`Node::Inline`](crate::ir::Node::Inline)), so depth and pool are those of
//! the reference.

use super::dead::remove_dead;
use super::rewrite_node;
use crate::analysis::recursion::{recursion, references};
use crate::ir::{Ir, NodeId, RuleId};

/// Bodies nested deeper are not inlined, so that the recursion over nodes stays bounded.
pub const MAX_INLINED_NESTING: u32 = 60;

/// Longer literals, and classes with more ranges, are not copied to every use.
const MAX_COPIED_BYTES: usize = 64;
const MAX_COPIED_RANGES: usize = 32;

/// Inlines rules that are not recursive and derive a literal, a class or another rule, or are used only once.
pub fn inline_trivial(ir: Ir) -> Ir {
    let uses = references(&ir).uses();
    let recursion = recursion(&ir);
    let start = ir.start();
    let inlined = |new: &Ir, rule: RuleId, body: NodeId| {
        if recursion.is_recursive(rule) || rule == start {
            return false;
        }
        let body = new.node(body);
        let is_trivial = body.literal().is_some_and(|bytes| bytes.len() <= MAX_COPIED_BYTES)
            || body.class().is_some_and(|set| set.ranges().len() <= MAX_COPIED_RANGES)
            || body.reference().is_some();
        is_trivial || uses[rule.index()] == 1
    };
    let expanded = inline(&ir, recursion.bottom_up(), inlined);
    drop(ir);
    remove_dead(&expanded)
}

/// Replaces instances of the rules that `inlined` picks by their bodies. `order` lists callees first. `inlined` gets
/// the new IR, the rule and its new body, in which everything else is inlined already. The picked rules must not form a
/// cycle.
pub fn inline(old: &Ir, order: &[RuleId], mut inlined: impl FnMut(&Ir, RuleId, NodeId) -> bool) -> Ir {
    let mut new = old.same_rules();
    let mut picked: Vec<Option<NodeId>> = vec![None; old.rules().len()];
    let mut done: Vec<Option<NodeId>> = vec![None; old.node_count()];
    for &rule in order {
        let Some(body) = old.body(rule) else { continue };
        let body = rewrite_node(old, body, &mut new, &mut done, &mut |new, node, children| {
            let picked = |callee: RuleId| Some((callee, picked[callee.index()]?));
            match old.node(node).reference().and_then(picked) {
                Some((callee, body)) => new.inline(callee, body),
                None => new.rebuild(old, node, children),
            }
        });
        new.set_body(rule, body);
        if new.shape(body).nesting <= MAX_INLINED_NESTING && inlined(&new, rule, body) {
            picked[rule.index()] = Some(body);
        }
    }
    new
}
