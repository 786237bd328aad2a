//! Parsing texts of grammars with labels by the automaton: it reads a [relaxed](Program::relaxed) program, and what
//! follows from parts is compared afterwards.
//!
//! The text has one derivation at most by the relaxed program, or the automaton's one is not used. Each derivation that
//! threads can find is one of the relaxed program, too, so what is found here is what they would find.

mod names;
mod room;
mod walk;

use gramjet_compiler::ir::Ir;

use crate::automaton::Placed;
use crate::program::Program;
use room::Room;
use walk::Walk;

/// A grammar with labels in the form that the automaton reads.
#[derive(Debug)]
pub(crate) struct Relaxed {
    pub program: Program,
    room: Room,
}

/// The result of comparing what follows from parts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Compared {
    /// The choice bytes of the text.
    Same(Vec<u8>),
    /// The text does not conform.
    Other,
    /// The text may have other derivations, or options may not be offered as it is near the limit on length.
    Unclear,
}

impl Relaxed {
    /// Returns the form of all texts, or of those without options that are only read. `None` if there is none.
    pub fn new(ir: &Ir, only_generated: bool) -> Option<Relaxed> {
        let program = if only_generated { Program::relaxed_of_generated(ir) } else { Program::relaxed(ir) }?;
        Some(Relaxed { program, room: Room::new(ir)? })
    }

    /// Compares the marks of a derivation. Returns its choice bytes, given those of the relaxed program. Takes at most
    /// about so much memory in bytes, besides them.
    pub fn compare(&self, text: &[u8], choices: &[u8], marks: &[Placed], max_memory: usize) -> Compared {
        let mut walk = Walk::new(&self.program, text, choices, max_memory);
        match walk.all(marks) {
            Ok(()) if self.room.is_ample(text.len() as u64, walk.longest()) => Compared::Same(walk.into_choices()),
            Ok(()) => Compared::Unclear,
            Err(difference) => difference,
        }
    }
}
