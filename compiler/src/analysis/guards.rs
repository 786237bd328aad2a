//! Where native recursion looks whether there is stack left.

use crate::analysis::recursion::{recursion, references};
use crate::ir::Ir;

/// Chains of calls from one look to the next have at most so many functions in between.
pub const MAX_UNGUARDED: usize = 8;

/// The most rules that are entered one from within the other where no rule derives itself.
pub fn most_calls(ir: &Ir) -> usize {
    let references = references(ir);
    let mut calls = vec![0; ir.rules().len()];
    for &rule in recursion(ir).bottom_up() {
        let below = references[rule.index()].iter().map(|callee| calls[callee.index()]).max();
        calls[rule.index()] = below.unwrap_or(0) + 1;
    }
    calls[ir.start().index()]
}

/// The rules whose functions look whether there is stack left: recursive ones, and one in every few of a chain of calls.
pub fn guarded(ir: &Ir) -> Vec<bool> {
    let recursion = recursion(ir);
    let references = references(ir);
    let mut guarded = vec![false; ir.rules().len()];
    // The longest chain of calls from a rule on up to the next guard.
    let mut calls = vec![0; ir.rules().len()];
    for &rule in recursion.bottom_up() {
        let below = references[rule.index()].iter().map(|callee| calls[callee.index()]).max().unwrap_or(0);
        guarded[rule.index()] = recursion.is_recursive(rule) || below >= MAX_UNGUARDED;
        calls[rule.index()] = if guarded[rule.index()] { 0 } else { below + 1 };
    }
    guarded
}
