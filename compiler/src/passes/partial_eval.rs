//! Partial evaluation: performs the work that no choice decides. It unrolls repetitions with a fixed number of rounds.
//!
//! Law: such a repetition has no site, and its rounds read what the unrolled items read.

use super::rewrite;
use crate::ir::{Ir, Rounds};

/// The most nodes that unrolling a repetition may make.
const MAX_UNROLLED: u32 = 64;

pub fn partial_eval(ir: &Ir) -> Ir {
    rewrite(ir, |new, node, children| {
        if let Some(Rounds { min, max, .. }) = ir.node(node).rounds()
            && max == Some(min)
            && new.shape(children[0]).size.saturating_mul(min) <= MAX_UNROLLED
        {
            return new.seq(vec![children[0]; min as usize]);
        }
        new.rebuild(ir, node, children)
    })
}
