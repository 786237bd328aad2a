//! A piece of the output: whole inputs with their separators, and where each ends.

use crate::tally::Tally;

/// A chunk is passed on when it has this many bytes or, if there are many workers, some less. It fits the second-level
/// cache, and is large enough for write(2).
pub const CHUNK_BYTES: usize = 256 << 10;
/// Or when it has this many inputs, so that where short inputs end takes less memory than the inputs.
pub const CHUNK_INPUTS: usize = 16 << 10;
/// A buffer that one very long input has made larger than this is given back.
const KEPT_CAPACITY: usize = 4 * CHUNK_BYTES;

/// Whole inputs in order, with their separators.
#[derive(Debug, Default)]
pub struct Chunk {
    /// The inputs and separators.
    pub bytes: Vec<u8>,
    /// Ends of the inputs in `bytes`, their separators included.
    pub ends: Vec<usize>,
    /// The position of the first input.
    pub first: u64,
    /// Number of the worker that makes it. It is filled by the same one each time, in whose processor's cache it still
    /// is.
    pub worker: usize,
}

impl Chunk {
    /// Empties the chunk for the inputs from position `first` on, keeping its memory.
    pub fn restart(&mut self, first: u64) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_CAPACITY);
        self.ends.clear();
        self.first = first;
    }

    /// Returns the memory held, in bytes.
    pub fn capacity(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<usize>()
    }

    /// Keeps the first `inputs` inputs.
    pub fn truncate(&mut self, inputs: usize) {
        self.ends.truncate(inputs);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// Returns how many of the inputs end within the first `bytes` bytes, and where the last of them ends.
    pub fn complete_within(&self, bytes: usize) -> Tally {
        let inputs = self.ends.partition_point(|&end| end <= bytes);
        let end = if inputs == 0 { 0 } else { self.ends[inputs - 1] };
        Tally { inputs: inputs as u64, bytes: end as u64 }
    }
}
