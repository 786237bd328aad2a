//! Traced inputs by their choice bytes, in bounded memory: to trace an input costs as much as dozens of mutants of it.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use crate::choices::{TracedInput, Tracer};

/// Distinguishes choice bytes by their hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key(u64);

impl Key {
    pub(super) fn of(choices: &[u8]) -> Key {
        Key(BuildHasherDefault::<DefaultHasher>::default().hash_one(choices))
    }
}

/// Never iterated.
type Inputs = HashMap<Key, TracedInput, BuildHasherDefault<DefaultHasher>>;

/// Keeps recently used inputs in two generations; the older one is dropped as a whole when the younger one is full.
#[derive(Clone, Debug, Default)]
pub(super) struct Recall {
    young: Inputs,
    old: Inputs,
    young_memory: usize,
}

impl Recall {
    /// The memory of a generation, in bytes, about.
    const MAX_MEMORY: usize = 1 << 26;

    /// Returns the traced input, if it is kept.
    pub(super) fn get(&self, key: Key) -> Option<&TracedInput> {
        self.young.get(&key)
    }

    /// Returns true if the input is not kept, or only with fewer choice bytes than it could have: see
    /// [`TracedInput::new`]. An input that is kept moves to the younger generation.
    pub(super) fn wants(&mut self, key: Key, most: usize) -> bool {
        if !self.young.contains_key(&key)
            && let Some(input) = self.old.remove(&key)
        {
            self.keep(key, input);
        }
        self.get(key).is_none_or(|input| input.choices().len() < most && !input.is_whole())
    }

    /// Traces and keeps an input.
    pub(super) fn trace(&mut self, key: Key, tracer: &mut (impl Tracer + ?Sized), choices: &[u8], most: usize) {
        let mut input = TracedInput::new(tracer, choices, most);
        input.drop_sites();
        if let Some(before) = self.young.remove(&key) {
            self.young_memory -= before.memory();
        }
        self.keep(key, input);
    }

    fn keep(&mut self, key: Key, input: TracedInput) {
        let memory = input.memory();
        if self.young_memory + memory > Recall::MAX_MEMORY {
            self.old = std::mem::take(&mut self.young);
            self.young_memory = 0;
        }
        self.young_memory += memory;
        self.young.insert(key, input);
    }
}
