//! The automata that a parser keeps from text to text.

use std::sync::Arc;

use super::symbols::Symbols;
use super::{Automaton, Purpose};
use crate::program::Program;

/// The automata between texts: as many as there were texts parsed at a time.
#[derive(Debug, Default)]
pub(crate) struct AutomatonCache {
    purpose: Purpose,
    /// Symbols, once they were made; `None` within if there are too many.
    symbols: Option<Option<Arc<Symbols>>>,
    automata: Vec<Automaton>,
    /// Number of texts in succession that were given up.
    failures: u32,
    /// Number of texts that are to be parsed without an automaton.
    pause: u32,
}

impl AutomatonCache {
    /// Returns a cache of automata that only check texts.
    pub fn of_checks() -> AutomatonCache {
        AutomatonCache { purpose: Purpose::Check, ..AutomatonCache::default() }
    }

    /// Returns an automaton; `None` if the next text is to be parsed without one.
    pub fn take(&mut self, program: &Program) -> Option<Automaton> {
        if self.pause > 0 {
            self.pause -= 1;
            return None;
        }
        self.automata.pop().or_else(|| self.make(program))
    }

    /// Returns a new automaton; `None` if the grammar has too many symbols.
    pub fn make(&mut self, program: &Program) -> Option<Automaton> {
        let symbols = self.symbols.get_or_insert_with(|| Symbols::new(program).map(Arc::new)).clone()?;
        Some(Automaton::new(program, symbols, self.purpose))
    }

    /// Keeps an automaton for the next text, if all have at most `most` bytes. After texts that were given up,
    /// automata are tried ever more rarely, and kept if they leave the memory to the machine.
    pub fn give_back(&mut self, automaton: Automaton, most: usize, has_parsed: bool) {
        self.failures = if has_parsed { 0 } else { (self.failures + 1).min(10) };
        self.pause = (1 << self.failures) - 1;
        let size: usize = self.automata.iter().chain([&automaton]).map(|automaton| automaton.size()).sum();
        if size <= if has_parsed { most } else { most / 8 } {
            self.automata.push(automaton);
        }
    }
}
