//! Counts the credit, so that emitted code seldom checks for choice bytes to read and room to write. A call of `ensure`
//! fills the credit up. The code between two such calls uses it up.
//!
//! The emitter walks the code in the order of execution and counts the most that any path has used since the last
//! `ensure`. It emits another `ensure` only where the credit might not suffice: at the entry of most functions, at the
//! head of loops, and rarely elsewhere, because the callers of a function know how much is used at its end.
//!
//! Architecture invariant: every cycle of a loop or a recursion contains an `ensure`. Otherwise an access that is
//! repeated would be counted once.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::Emitter;
use crate::ir::{Ir, NodeId, RuleId};

/// The most that has been used of the credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// Choice bytes.
    pub choices: usize,
    /// Output bytes.
    pub output: usize,
}

/// The credit that the runtime grants. A constant assertion in the emitted module compares it with the runtime's.
pub const CREDIT: Used = Used { choices: 128, output: 1024 };

/// The most that a run of rounds of single bytes uses, as the runtime defines it.
pub const RUN: Used = Used { choices: 18, output: 13 };

/// Longer literals and pool strings get a reservation of their own.
pub const MAX_LITERAL: usize = 256;

/// The most that functions of a recursion may have used at their end.
const RECURSIVE_EXIT: Used = Used { choices: 32, output: 512 };

/// The credit that may be used at the head of any loop, so that rounds that end in a call need no `ensure`.
const LOOP_HEAD: Used = Used { choices: 32, output: 128 };

/// If more has been used before a loop, the loop begins with an `ensure`.
const MAX_LOOP_HEAD: Used = Used { choices: 64, output: 512 };

impl Used {
    /// The state right after an `ensure`.
    pub const NOTHING: Used = Used { choices: 0, output: 0 };
    /// All credit may be used up.
    pub const ALL: Used = CREDIT;

    /// Returns the maximum of both, for two alternative paths.
    pub fn or(self, other: Used) -> Used {
        Used { choices: self.choices.max(other.choices), output: self.output.max(other.output) }
    }

    /// Returns the sum of both.
    pub fn and(self, more: Used) -> Used {
        Used { choices: self.choices + more.choices, output: self.output + more.output }
    }

    fn is_within(self, bound: Used) -> bool {
        self.choices <= bound.choices && self.output <= bound.output
    }
}

impl Emitter<'_> {
    /// Takes choice bytes and output bytes from the credit. Returns the statement that fills it up, if that is
    /// necessary.
    pub(super) fn take(&mut self, choices: usize, output: usize) -> TokenStream {
        let more = Used { choices, output };
        // Unsafe code relies on this.
        assert!(more.is_within(CREDIT), "more than the credit at once");
        if more == Used::NOTHING {
            return quote!();
        }
        let sum = self.used.and(more);
        if sum.is_within(CREDIT) {
            self.used = sum;
            return quote!();
        }
        self.used = more;
        quote!(s = cx.ensure(s);)
    }

    /// Fills the credit up.
    pub(super) fn ensure(&mut self) -> TokenStream {
        self.used = Used::NOTHING;
        quote!(s = cx.ensure(s);)
    }

    /// Returns the entry of a rule's function, with any credit. It fills the credit up, unless the function begins with
    /// a call, whose callee does that. The statement is a tail call, so the function need not save registers for it.
    pub(super) fn enter(&mut self, function: &Ident, node: NodeId) -> TokenStream {
        if begins_with_call(self.ir, node) {
            self.used = Used::ALL;
            return quote!();
        }
        self.used = Used::NOTHING;
        quote!(if cx.is_low(s) { return cx.begin(s, depth, #function::<DEPTH, LEN>); })
    }

    /// Begins a loop. Returns the statement before the loop, and the credit that may be used at the head in every
    /// round.
    pub(super) fn begin_loop(&mut self) -> (TokenStream, Used) {
        let head = self.used.or(LOOP_HEAD);
        let ensure = if head.is_within(MAX_LOOP_HEAD) { quote!() } else { self.ensure() };
        self.used = self.used.or(LOOP_HEAD);
        (ensure, self.used)
    }

    /// Returns the way back to the head of a loop.
    pub(super) fn next_round(&mut self, head: Used) -> TokenStream {
        if self.used.is_within(head) { quote!() } else { self.ensure() }
    }

    /// Makes room for output that is longer than the credit. All credit counts as used after it.
    pub(super) fn reserve_output(&mut self, output: usize) -> TokenStream {
        self.used = Used::ALL;
        let output = proc_macro2::Literal::usize_unsuffixed(output);
        quote!(s = cx.reserve(s, 4, #output);)
    }

    /// Returns the credit that is used after a call of `rule`.
    pub(super) fn exit_of(&self, rule: RuleId) -> Used {
        self.exits[rule.index()].unwrap_or(RECURSIVE_EXIT)
    }

    /// Returns the end of the function of `rule`. In a recursion, keeps the bound that its callers may have assumed.
    pub(super) fn leave(&mut self, rule: RuleId) -> TokenStream {
        if self.recursion.is_recursive(rule) && !self.used.is_within(RECURSIVE_EXIT) { self.ensure() } else { quote!() }
    }

    /// Emits the code of alternative paths. Each begins with the current credit.
    pub(super) fn either<T>(&mut self, paths: impl IntoIterator<Item = T>, mut emit: impl FnMut(&mut Self, T)) {
        let before = self.used;
        let mut behind: Option<Used> = None;
        for path in paths {
            self.used = before;
            emit(self, path);
            behind = Some(behind.map_or(self.used, |behind| behind.or(self.used)));
        }
        self.used = behind.unwrap_or(before);
    }
}

fn begins_with_call(ir: &Ir, node: NodeId) -> bool {
    let first = ir.node(node).items().and_then(|items| items.first());
    ir.node(node).reference().is_some() || first.is_some_and(|&first| begins_with_call(ir, first))
}
