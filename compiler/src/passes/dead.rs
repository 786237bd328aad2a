//! Removes the bodies of rules that the start rule does not reach, and nodes that no body uses.
//!
//! Law: language and choice map depend only on the parts that the start rule reaches, and these stay.

use super::rewrite_some;
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
    rewrite_some(ir, |rule| reached[rule.index()], |new, node, children| new.rebuild(ir, node, children))
}
