//! The derivations of texts that were seen before.

use std::collections::{HashMap, VecDeque};

use gramjet_compiler::fnv::fnv1a;

/// Recent choice bytes by the hash of the text that they produce; never iterated. Callers must check the result against
/// the text.
#[derive(Clone, Debug)]
pub(crate) struct Trees {
    /// `None` stands for a text that does not conform.
    known: HashMap<u64, Option<Box<[u8]>>>,
    /// In the order in which they came.
    order: VecDeque<u64>,
    bytes: usize,
    max_bytes: usize,
}

/// The memory that an entry takes in addition to its choice bytes.
const ENTRY_BYTES: usize = 96;

impl Trees {
    /// Returns a store of choice bytes that take at most about `max_bytes` of memory.
    pub fn new(max_bytes: usize) -> Trees {
        Trees { known: HashMap::new(), order: VecDeque::new(), bytes: 0, max_bytes }
    }

    /// Returns the derivation of a text, if it is known: its choice bytes, or `None` for a text that does not conform.
    pub fn get(&self, text: u64) -> Option<&Option<Box<[u8]>>> {
        self.known.get(&text)
    }

    /// Keeps the choice bytes of a text, or the fact that it has none.
    pub fn keep(&mut self, text: u64, choices: Option<&[u8]>) {
        let size = |choices: &Option<Box<[u8]>>| ENTRY_BYTES + choices.as_ref().map_or(0, |choices| choices.len());
        let choices: Option<Box<[u8]>> = choices.map(Into::into);
        self.bytes += size(&choices);
        match self.known.insert(text, choices) {
            Some(before) => self.bytes -= size(&before),
            None => self.order.push_back(text),
        }
        while self.bytes > self.max_bytes
            && let Some(oldest) = self.order.pop_front()
        {
            let choices = self.known.remove(&oldest).unwrap_or_default();
            self.bytes -= size(&choices);
        }
    }
}

/// Returns the hash of a text that trees are kept under, the same everywhere and for ever.
pub fn hash(text: &[u8]) -> u64 {
    fnv1a(text)
}
