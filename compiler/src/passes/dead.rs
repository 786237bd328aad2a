//! Removes the bodies of rules that the start rule does not reach, and nodes that no body uses.
//!
//! Law: language and choice map are those of the start rule, which sees none of what is removed.

use super::rewrite;
use crate::analysis::recursion::references;
use crate::ir::Ir;

pub fn remove_dead(ir: &Ir) -> Ir {
    let references = references(ir);
    let mut reached = vec![false; ir.rules().len()];
    let mut open = vec![ir.start()];
    while let Some(rule) = open.pop() {
        if !std::mem::replace(&mut reached[rule.index()], true) {
            open.extend(&references[rule.index()]);
        }
    }
    let mut kept = ir.clone();
    for rule in ir.rule_ids() {
        if !reached[rule.index()] {
            kept.clear_body(rule);
        }
    }
    rewrite(&kept, |new, node, children| new.rebuild(&kept, node, children))
}
