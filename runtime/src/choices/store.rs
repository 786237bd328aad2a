//! Parts of choice bytes that can replace others with the same symbol.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::choices::TracedInput;
use crate::choices::mutate::below;

/// Choice bytes of a part, and the length of their output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The choice bytes without a length limit.
    pub choices: Box<[u8]>,
    /// The length of their output in bytes, where they were found.
    pub output_len: u32,
    /// Distinguishes outputs of the same length.
    output_hash: u64,
}

/// A store of chunks by symbol; of several with the same output, one is kept. It is bounded: when a symbol has its
/// maximum number of chunks, or the store its maximum size, new chunks replace old ones.
#[derive(Clone, Debug)]
pub struct Store {
    /// For each symbol its chunks, ascending by the length of the output.
    chunks: BTreeMap<u32, Vec<Chunk>>,
    max_per_symbol: usize,
    max_chunk: usize,
    max_bytes: usize,
    len: usize,
    bytes: usize,
    /// Number of chunks that were replaced.
    replaced: u64,
}

impl Default for Store {
    fn default() -> Store {
        Store::new(512, 4096)
    }
}

impl Store {
    /// Returns a store of at most `max_per_symbol` chunks for each symbol, of at most `max_chunk` choice bytes each.
    pub fn new(max_per_symbol: usize, max_chunk: usize) -> Store {
        Store {
            chunks: BTreeMap::new(),
            max_per_symbol: max_per_symbol.max(1),
            max_chunk,
            max_bytes: Store::DEFAULT_MAX_BYTES,
            len: 0,
            bytes: 0,
            replaced: 0,
        }
    }

    /// The store takes at most this much memory, unless [`Store::max_bytes`] says otherwise: 64 MiB.
    pub const DEFAULT_MAX_BYTES: usize = 64 << 20;
    /// The memory of a chunk in addition to its choice bytes, with the overhead of the allocator and of lists with room
    /// to grow.
    const CHUNK_BYTES: usize = 2 * size_of::<Chunk>() + 16;

    /// Takes no more memory than about `bytes` in all.
    #[must_use]
    pub fn max_bytes(self, bytes: usize) -> Store {
        Store { max_bytes: bytes, ..self }
    }

    /// Returns about how much memory it takes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the number of chunks.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes all chunks out.
    pub fn clear(&mut self) {
        self.chunks.clear();
        (self.len, self.bytes) = (0, 0);
    }

    /// Adds the parts of an input that are not there yet; returns how many. Their choice bytes are those without a
    /// length limit. An input that is not made without the limit that was in force has none.
    pub fn add(&mut self, input: &TracedInput) -> usize {
        if !input.exists_without_max_len() {
            return 0;
        }
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
        let output_hash = hash(output);
        let chunks = self.chunks(symbol);
        let from = chunks.partition_point(|chunk| chunk.output_len < output_len);
        let alike = chunks[from..].iter().take_while(|chunk| chunk.output_len == output_len);
        if alike.into_iter().any(|chunk| chunk.output_hash == output_hash) {
            return false;
        }
        let bytes = choices.len() + Store::CHUNK_BYTES;
        if bytes > self.max_bytes {
            return false;
        }
        if chunks.len() >= self.max_per_symbol {
            self.take_out(symbol);
        }
        while self.bytes + bytes > self.max_bytes {
            self.take_out_any();
        }
        let chunks = self.chunks.entry(symbol).or_default();
        let at = chunks.partition_point(|chunk| chunk.output_len < output_len);
        chunks.insert(at, Chunk { choices: choices.into(), output_len, output_hash });
        self.len += 1;
        self.bytes += bytes;
        true
    }

    /// Returns a number below `bound`: any one, but the same on every machine.
    fn scattered(&mut self, bound: usize) -> usize {
        self.replaced += 1;
        let scattered = self.replaced.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        ((scattered * bound as u64) >> 32) as usize
    }

    /// Takes a chunk of a symbol out.
    fn take_out(&mut self, symbol: u32) {
        let old = self.scattered(self.chunks(symbol).len());
        let Some(chunks) = self.chunks.get_mut(&symbol) else { return };
        let chunk = chunks.remove(old);
        if chunks.is_empty() {
            self.chunks.remove(&symbol);
        }
        self.len -= 1;
        self.bytes -= chunk.choices.len() + Store::CHUNK_BYTES;
    }

    /// Takes a chunk out, of the symbol that has most of a few. There must be one.
    fn take_out_any(&mut self) {
        const LOOKED_AT: usize = 8;
        let last = self.chunks.last_key_value().map_or(0, |(&symbol, _)| symbol);
        let mut most = (0, last);
        for _ in 0..LOOKED_AT {
            let from = self.scattered(last as usize + 1) as u32;
            if let Some((&symbol, chunks)) = self.chunks.range(from..).next() {
                most = most.max((chunks.len(), symbol));
            }
        }
        self.take_out(most.1);
    }

    /// Returns the chunks of a symbol, ascending by the length of their output.
    pub fn chunks(&self, symbol: u32) -> &[Chunk] {
        self.chunks.get(&symbol).map_or(&[], Vec::as_slice)
    }

    /// Returns a random chunk of a symbol, of those whose output has a length in `lengths`.
    pub fn draw(&self, symbol: u32, lengths: RangeInclusive<u32>, random: &mut Xoshiro256PlusPlus) -> Option<&Chunk> {
        let chunks = self.chunks(symbol);
        let from = chunks.partition_point(|chunk| chunk.output_len < *lengths.start());
        let to = chunks.partition_point(|chunk| chunk.output_len <= *lengths.end());
        let fitting = chunks.get(from..to).filter(|fitting| !fitting.is_empty())?;
        Some(&fitting[below(random, fitting.len())])
    }
}

/// Returns a number for an output, eight bytes at a time: each part of an input is looked up by it. It is not kept
/// anywhere.
fn hash(output: &[u8]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |hash: u64, word: u64| {
        let product = u128::from(hash ^ word) * u128::from(ODD);
        product as u64 ^ (product >> 64) as u64
    };
    let mut words = output.chunks_exact(8);
    let all = words.by_ref().fold(ODD ^ output.len() as u64, |hash, word| {
        mix(hash, word.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)))
    });
    mix(all, words.remainder().iter().fold(0, |word, &byte| word << 8 | u64::from(byte)))
}
