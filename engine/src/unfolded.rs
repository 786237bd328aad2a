//! The programs that engines make for one depth limit, which is unfolded where that pays.
//!
//! With few levels most of an input is near the limit. There, recursive parts of the grammar become finite, and
//! therefore data; and no level is counted at run time.

use std::sync::{Arc, Mutex, PoisonError};

use gramjet::Limits;
use gramjet_compiler::Compiled;
use gramjet_compiler::analysis::pools::Pools;
use gramjet_compiler::ir::Ir;
use gramjet_compiler::passes::{MAX_UNFOLDED_DEPTH, MAX_UNFOLDED_NODES, optimise_unfolded};

/// The programs made of a grammar, by depth limit.
pub(crate) struct Unfolded<T> {
    /// The grammar to unfold; `None` for grammars that are too large anyway.
    grammar: Option<(Arc<Ir>, Pools)>,
    /// At most one for each depth limit that is unfolded; `None` if unfolding did not pay.
    made: Mutex<Vec<(u32, Option<Arc<T>>)>>,
}

impl<T> Unfolded<T> {
    pub fn new(compiled: &Compiled) -> Unfolded<T> {
        let Compiled { lowered, pools, .. } = compiled;
        let is_small = lowered.node_count() <= MAX_UNFOLDED_NODES as usize;
        Unfolded { grammar: is_small.then(|| (lowered.clone(), pools.clone())), made: Mutex::default() }
    }

    /// Returns a form that never makes anything.
    pub fn never() -> Unfolded<T> {
        Unfolded { grammar: None, made: Mutex::default() }
    }

    /// Returns the result of `make` for the residual form with the limit unfolded, made on first use; `None` if there
    /// is another limit or unfolding does not pay.
    pub fn get(&self, limits: Limits, make: impl FnOnce(&Ir) -> Option<T>) -> Option<Arc<T>> {
        let (Some(depth @ ..=MAX_UNFOLDED_DEPTH), None) = (limits.depth(), limits.length()) else { return None };
        let (lowered, pools) = self.grammar.as_ref()?;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, made)) = made.iter().find(|&&(other, _)| other == depth) {
            return made.clone();
        }
        let unfolded = optimise_unfolded(lowered, pools, depth, MAX_UNFOLDED_NODES);
        let new = unfolded.and_then(|unfolded| make(&unfolded)).map(Arc::new);
        made.push((depth, new.clone()));
        new
    }
}
