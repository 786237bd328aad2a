//! The automaton that a parser keeps from text to text.

use super::Automaton;
use super::run::GaveUp;
use crate::program::Program;

/// An automaton that has become larger than this number of bytes is not kept.
const MOST: usize = 64 << 20;

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
    /// The automaton. While another thread has it, this one makes its own.
    pub fn take(&mut self, program: &Program) -> Result<Box<Automaton>, GaveUp> {
        if self.pause > 0 {
            self.pause -= 1;
            return Err(GaveUp);
        }
        Ok(self.automaton.take().unwrap_or_else(|| Box::new(Automaton::new(program))))
    }

    pub fn stats(&self) -> String {
        self.automaton.as_ref().map_or("none".into(), |a| {
            format!("failures {} symbols {} configurations {} transitions {} merges {} size {} effort {}", self.failures, a.symbols.len(), a.configurations.len(), a.transitions.len(), a.merges.len(), a.size(), a.effort)
        })
    }

    /// Keeps an automaton for the next text. After texts that it gave up, it is tried ever more rarely.
    pub fn give_back(&mut self, automaton: Box<Automaton>, has_parsed: bool) {
        self.failures = if has_parsed { 0 } else { (self.failures + 1).min(10) };
        self.pause = (1 << self.failures) - 1;
        let is_larger = self.automaton.as_ref().is_none_or(|known| known.size() < automaton.size());
        if is_larger && automaton.size() <= MOST {
            self.automaton = Some(automaton);
        }
    }
}
