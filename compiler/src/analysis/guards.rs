//! The places where native recursion checks that there is stack left.

use crate::analysis::recursion::{recursion, references};
use crate::ir::Ir;

/// The most functions in a chain of calls between two checks of the stack.
pub const MAX_UNGUARDED: usize = 8;

/// Returns the depth of the longest chain of calls, in a grammar without recursive rules.
pub fn most_calls(ir: &Ir) -> usize {
    let references = references(ir);
    let mut calls = vec![0; ir.rules().len()];
    for &rule in recursion(ir).bottom_up() {
        let below = references[rule.index()].iter().map(|callee| calls[callee.index()]).max();
        calls[rule.index()] = below.unwrap_or(0) + 1;
    }
    calls[ir.start().index()]
}

/// Returns the rules whose functions check that there is stack left: recursive rules, and one in every few rules of a
/// chain of calls.
pub fn guarded(ir: &Ir) -> Vec<bool> {
    let recursion = recursion(ir);
    let references = references(ir);
    let mut guarded = vec![false; ir.rules().len()];
    // The longest chain of calls from a rule to the next guard.
    let mut calls = vec![0; ir.rules().len()];
    for &rule in recursion.bottom_up() {
        let below = references[rule.index()].iter().map(|callee| calls[callee.index()]).max().unwrap_or(0);
        guarded[rule.index()] = recursion.is_recursive(rule) || below >= MAX_UNGUARDED;
        calls[rule.index()] = if guarded[rule.index()] { 0 } else { below + 1 };
    }
    guarded
}
