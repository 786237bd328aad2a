//! Parts of choice bytes, to be put in place of others with the same symbol.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::ops::RangeInclusive;

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::choices::TracedInput;
use crate::choices::mutate::below;

/// Choice bytes of a part, and the length of what they derive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The choice bytes.
    pub choices: Box<[u8]>,
    /// The length of their output in bytes, where they were found.
    pub output_len: u32,
}

/// A store of chunks by symbol, each kept once. It is bounded: where a symbol has its number of chunks, a new one takes the
/// place of an old one.
#[derive(Clone, Debug)]
pub struct Store {
    /// For each symbol its chunks, ascending by the length of the output.
    chunks: BTreeMap<u32, Vec<Chunk>>,
    /// Hashes of what is there or was. Never iterated.
    known: HashSet<u64, BuildHasherDefault<DefaultHasher>>,
    max_per_symbol: usize,
    max_chunk: usize,
    len: usize,
}

impl Default for Store {
    fn default() -> Store {
        Store::new(512, 4096)
    }
}

impl Store {
    /// A store of at most `max_per_symbol` chunks for each symbol, of at most `max_chunk` choice bytes each.
    pub fn new(max_per_symbol: usize, max_chunk: usize) -> Store {
        let known = HashSet::default();
        Store { chunks: BTreeMap::new(), known, max_per_symbol: max_per_symbol.max(1), max_chunk, len: 0 }
    }

    /// The number of chunks.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds the parts of an input that are not there yet; returns how many.
    pub fn add(&mut self, input: &TracedInput) -> usize {
        let mut added = 0;
        for &part in &input.parts {
            let span = input.span(part);
            let (choices, output_len) = (input.bytes(span), span.output.1 - span.output.0);
            if choices.len() <= self.max_chunk {
                added += usize::from(self.add_chunk(span.symbol, choices, output_len));
            }
        }
        added
    }

    fn add_chunk(&mut self, symbol: u32, choices: &[u8], output_len: u32) -> bool {
        let hash = self.known.hasher().hash_one((symbol, choices));
        // The memory of what was there is bounded, too.
        if self.known.len() >= 16 * self.max_per_symbol * (self.chunks.len() + 1) {
            self.known.clear();
        }
        if !self.known.insert(hash) {
            return false;
        }
        let chunks = self.chunks.entry(symbol).or_default();
        if chunks.len() >= self.max_per_symbol {
            chunks.remove(hash as usize % chunks.len());
            self.len -= 1;
        }
        let at = chunks.partition_point(|chunk| chunk.output_len <= output_len);
        chunks.insert(at, Chunk { choices: choices.into(), output_len });
        self.len += 1;
        true
    }

    /// The chunks of a symbol, ascending by the length of their output.
    pub fn chunks(&self, symbol: u32) -> &[Chunk] {
        self.chunks.get(&symbol).map_or(&[], Vec::as_slice)
    }

    /// A random chunk of a symbol, of those whose output has a length in `lengths`.
    pub fn draw(&self, symbol: u32, lengths: RangeInclusive<u32>, random: &mut Xoshiro256PlusPlus) -> Option<&Chunk> {
        let chunks = self.chunks(symbol);
        let from = chunks.partition_point(|chunk| chunk.output_len < *lengths.start());
        let to = chunks.partition_point(|chunk| chunk.output_len <= *lengths.end());
        let fitting = chunks.get(from..to).filter(|fitting| !fitting.is_empty())?;
        Some(&fitting[below(random, fitting.len())])
    }
}
