//! Texts at random: the baseline of all others.

use gramjet_session::decisions::Derivation;

use crate::strategy::{Desk, Measured, Strategy};

/// Each option that is offered is equally probable.
#[derive(Debug)]
pub(crate) struct AtRandom;

impl Strategy for AtRandom {
    fn name(&self) -> &'static str {
        "random"
    }

    fn propose(&mut self, desk: &mut Desk, candidate: &mut Derivation) {
        desk.draw_text(candidate);
    }

    fn observe(&mut self, _desk: &mut Desk, _candidate: &Derivation, _measured: &Measured) {}

    fn proposes_ahead(&self) -> bool {
        true
    }
}
