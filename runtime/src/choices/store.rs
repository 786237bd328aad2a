//! Parts of choice bytes, to be put in place of others with the same symbol.

use std::collections::BTreeMap;
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
    /// Tells the output from others of the same length.
    output_hash: u64,
}

/// A store of chunks by symbol; of several with the same output, one is kept. It is bounded: where a symbol has its number of chunks, a new one takes the
/// place of an old one.
#[derive(Clone, Debug)]
pub struct Store {
    /// For each symbol its chunks, ascending by the length of the output.
    chunks: BTreeMap<u32, Vec<Chunk>>,
    max_per_symbol: usize,
    max_chunk: usize,
    len: usize,
    /// How many chunks took the place of others.
    replaced: u64,
}

impl Default for Store {
    fn default() -> Store {
        Store::new(512, 4096)
    }
}

impl Store {
    /// A store of at most `max_per_symbol` chunks for each symbol, of at most `max_chunk` choice bytes each.
    pub fn new(max_per_symbol: usize, max_chunk: usize) -> Store {
        Store { chunks: BTreeMap::new(), max_per_symbol: max_per_symbol.max(1), max_chunk, len: 0, replaced: 0 }
    }

    /// The number of chunks.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes all chunks out.
    pub fn clear(&mut self) {
        self.chunks.clear();
        self.len = 0;
    }

    /// Adds the parts of an input that are not there yet; returns how many.
    pub fn add(&mut self, input: &TracedInput) -> usize {
        let mut added = 0;
        for &part in &input.parts {
            let span = input.span(part);
            if span.choices().len() <= self.max_chunk {
                added += usize::from(self.add_chunk(span.symbol, input.bytes(span), &input.output()[span.output()]));
            }
        }
        added
    }

    fn add_chunk(&mut self, symbol: u32, choices: &[u8], output: &[u8]) -> bool {
        let output_len = output.len() as u32;
        let output_hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(output);
        let chunks = self.chunks.entry(symbol).or_default();
        let mut at = chunks.partition_point(|chunk| chunk.output_len < output_len);
        let alike = chunks[at..].iter().take_while(|chunk| chunk.output_len == output_len);
        if alike.into_iter().any(|chunk| chunk.output_hash == output_hash) {
            return false;
        }
        if chunks.len() >= self.max_per_symbol {
            // Any one, but the same on every machine.
            self.replaced += 1;
            let scattered = self.replaced.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
            let old = ((scattered * chunks.len() as u64) >> 32) as usize;
            chunks.remove(old);
            self.len -= 1;
            at -= usize::from(old < at);
        }
        chunks.insert(at, Chunk { choices: choices.into(), output_len, output_hash });
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
