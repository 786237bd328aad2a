//! How often emitted code looks whether there are choice bytes to read and room to write: a credit that `ensure` fills up
//! and that the code between two calls of it uses up.
//!
//! The emitter walks the code in the order in which it runs and counts what was used at most since the last `ensure`, on
//! any path. It emits a new one only where the credit might not suffice: at the entry of most functions, at the head of
//! loops, and hardly ever in between, because what a function leaves used at its end is known to its callers.
//!
//! Architecture invariant: a loop or a recursion cannot run through without an `ensure`, or an access that may be repeated
//! would be counted once.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::Emitter;
use crate::ir::{Ir, NodeId, RuleId};

/// What was used of the credit at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// Choice bytes.
    pub choices: usize,
    /// Output bytes.
    pub output: usize,
}

/// The credit as the runtime gives it: a constant of the emitted module holds it against the runtime's.
pub const CREDIT: Used = Used { choices: 128, output: 1024 };

/// What a run of rounds of single bytes uses, as the runtime says.
pub const RUN: Used = Used { choices: 18, output: 13 };

/// Longer literals and pool strings get a reservation of their own.
pub const MAX_LITERAL: usize = 256;

/// What functions that call each other leave used at their end at most.
const RECURSIVE_EXIT: Used = Used { choices: 32, output: 512 };

/// What may be used at the head of any loop, so that rounds that end in a call need no `ensure`.
const LOOP_HEAD: Used = Used { choices: 32, output: 128 };

/// A loop that is reached with more used begins with an `ensure`.
const MAX_LOOP_HEAD: Used = Used { choices: 64, output: 512 };

impl Used {
    /// Right behind an `ensure`.
    pub const NOTHING: Used = Used { choices: 0, output: 0 };
    /// Nothing is known to be left.
    pub const ALL: Used = CREDIT;

    /// On either path.
    pub fn or(self, other: Used) -> Used {
        Used { choices: self.choices.max(other.choices), output: self.output.max(other.output) }
    }

    /// This and more.
    pub fn and(self, more: Used) -> Used {
        Used { choices: self.choices + more.choices, output: self.output + more.output }
    }

    fn is_within(self, bound: Used) -> bool {
        self.choices <= bound.choices && self.output <= bound.output
    }
}

impl Emitter<'_> {
    /// Takes choice bytes and output bytes from the credit; the statement that fills it up if need be.
    pub(super) fn take(&mut self, choices: usize, output: usize) -> TokenStream {
        let more = Used { choices, output };
        // Unsafe code relies on it.
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

    /// Where the function of a rule is entered, with any credit: fills it up, unless a call comes first, which does that on
    /// its own. It goes on by a call at the end of the function, for which nothing has to be kept in registers that the
    /// function would have to save first.
    pub(super) fn enter(&mut self, function: &Ident, node: NodeId) -> TokenStream {
        if begins_with_call(self.ir, node) {
            self.used = Used::ALL;
            return quote!();
        }
        self.used = Used::NOTHING;
        quote!(if cx.is_low(s) { return cx.begin(s, depth, #function::<DEPTH, LEN>); })
    }

    /// The head of a loop: what may be used there in any round, and the statement before the loop that keeps it so for the
    /// first one.
    pub(super) fn begin_loop(&mut self) -> (TokenStream, Used) {
        let head = self.used.or(LOOP_HEAD);
        let ensure = match head.is_within(MAX_LOOP_HEAD) {
            true => quote!(),
            false => self.ensure(),
        };
        self.used = self.used.or(LOOP_HEAD);
        (ensure, self.used)
    }

    /// The way back to the head of a loop.
    pub(super) fn next_round(&mut self, head: Used) -> TokenStream {
        match self.used.is_within(head) {
            true => quote!(),
            false => self.ensure(),
        }
    }

    /// Makes room for more output than the credit covers; the credit is used up behind it.
    pub(super) fn reserve_output(&mut self, output: usize) -> TokenStream {
        self.used = Used::ALL;
        let output = proc_macro2::Literal::usize_unsuffixed(output);
        quote!(s = cx.reserve(s, 4, #output);)
    }

    /// What is used behind a call of `rule`.
    pub(super) fn exit_of(&self, rule: RuleId) -> Used {
        self.exits[rule.index()].unwrap_or(RECURSIVE_EXIT)
    }

    /// At an end of the function of `rule`: keeps what its callers may have been told.
    pub(super) fn leave(&mut self, rule: RuleId) -> TokenStream {
        match self.recursion.is_recursive(rule) && !self.used.is_within(RECURSIVE_EXIT) {
            true => self.ensure(),
            false => quote!(),
        }
    }

    /// Emits the code of alternative paths, each from the credit that there is now.
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
