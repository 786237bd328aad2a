//! The automaton that a parser keeps from text to text.

use super::Automaton;
use crate::program::Program;

/// The automaton between texts.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    automaton: Option<Box<Automaton>>,
    /// How many texts in succession it has given up.
    failures: u32,
    /// How many texts are to be parsed without it.
    pause: u32,
}

impl Kept {
    /// The automaton; `None` if the next text is to be parsed without it. While another thread has it, this one makes
    /// its own.
    pub fn take(&mut self, program: &Program) -> Option<Box<Automaton>> {
        if self.pause > 0 {
            self.pause -= 1;
            return None;
        }
        Some(self.automaton.take().unwrap_or_else(|| Box::new(Automaton::new(program))))
    }

    /// Keeps an automaton for the next text, if it has at most `most` bytes. After texts that it gave up, it is tried
    /// ever more rarely, and kept if it leaves the memory to the machine.
    pub fn give_back(&mut self, automaton: Box<Automaton>, most: usize, has_parsed: bool) {
        self.failures = if has_parsed { 0 } else { (self.failures + 1).min(10) };
        self.pause = (1 << self.failures) - 1;
        let is_larger = self.automaton.as_ref().is_none_or(|known| known.size() < automaton.size());
        if is_larger && automaton.size() <= if has_parsed { most } else { most / 8 } {
            self.automaton = Some(automaton);
        }
    }
}
