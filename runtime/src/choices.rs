//! Sources of choice bytes: pseudo-random blocks, a borrowed slice that is replayed, or any other source. For choice
//! bytes of a known structure there are further tools: [`Tracer`]s find the structure, a [`Mutator`] changes choice
//! bytes along it, [`minimise`] makes them simpler.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;

use crate::rt::random::{Generators, ROW};
use crate::rt::simd::Simd;

mod fuzz;
mod header;
mod input;
mod minimise;
mod mutate;
mod recall;
mod store;
mod trace;

pub use fuzz::FuzzMutator;
pub use header::{Header, HeaderError};
pub use input::TracedInput;
pub use minimise::{Minimised, Minimiser, minimise};
pub use mutate::{Mutator, Operation};
pub use store::{Chunk, Store};
pub use trace::{Part, Refit, Site, Span, SpanKind, Trace, Tracer};

/// Anything that hands out choice bytes in order.
pub trait ChoiceSource: Send {
    /// Writes the next bytes to the front of `buffer` and returns how many; 0 means that there are no more, for good.
    ///
    /// If it panics, no part of the requested input is left in the output.
    fn fill(&mut self, buffer: &mut [u8]) -> usize;
}

/// A buffered stream of choice bytes that producers read from.
///
/// One stream can feed any number of inputs, one after the other: each continues where the one before stopped reading.
pub struct Choices<'a> {
    source: Source<'a>,
    /// Bytes that were taken from the source; `position..filled` are unread. Unused when replaying a slice.
    buffer: Vec<u8>,
    position: usize,
    filled: usize,
    /// The source has reported its end.
    ended: bool,
}

enum Source<'a> {
    Random(Box<Generators>),
    Slice(&'a [u8]),
    Other(&'a mut dyn ChoiceSource),
}

/// Inputs with the same block number share one stream of random choice bytes; see [`Choices::of_block`].
pub const BLOCK_INPUTS: u64 = 256;

/// The first fill of a random stream; later ones double up to [`MAX_FILL`], so that a single short input costs little.
const MIN_FILL: usize = 256;
const MAX_FILL: usize = 1 << 11;

impl<'a> Choices<'a> {
    /// Returns the pseudo-random stream of `seed`: that of its block 0.
    pub fn random(seed: u64) -> Choices<'static> {
        Choices::of_block(seed, 0)
    }

    /// Returns the pseudo-random stream of a block of [`BLOCK_INPUTS`] inputs of the run with `seed`: words of eight
    /// generators in turn, xoshiro256++, little endian, seeded by SplitMix64 from the seed and the block number, so
    /// that any block can be made without the others.
    pub fn of_block(seed: u64, block: u64) -> Choices<'static> {
        Choices::over(Source::Random(Box::new(block_generators(seed, block))))
    }

    /// Replays `bytes`; after them the machine finishes.
    pub fn replay(bytes: &'a [u8]) -> Choices<'a> {
        Choices::over(Source::Slice(bytes))
    }

    /// Reads from any source, in blocks.
    pub fn from_source(source: &'a mut dyn ChoiceSource) -> Choices<'a> {
        Choices::over(Source::Other(source))
    }

    fn over(source: Source<'a>) -> Choices<'a> {
        Choices { source, buffer: Vec::new(), position: 0, filled: 0, ended: false }
    }

    /// Turns this stream into that of another block, keeping its buffer.
    pub fn restart(&mut self, seed: u64, block: u64) {
        let generators = block_generators(seed, block);
        match &mut self.source {
            Source::Random(source) => **source = generators,
            source => *source = Source::Random(Box::new(generators)),
        }
        (self.position, self.filled, self.ended) = (0, 0, false);
    }

    /// Takes the next choice byte; `None` when there are no more.
    pub fn next_byte(&mut self) -> Option<u8> {
        self.demand(1);
        let byte = *self.unread().first()?;
        self.advance(1);
        Some(byte)
    }

    /// Returns the bytes that are available without asking the source.
    #[inline]
    pub(crate) fn unread(&self) -> &[u8] {
        match self.source {
            Source::Slice(bytes) => &bytes[self.position..],
            _ => &self.buffer[self.position..self.filled],
        }
    }

    /// Marks the first `count` unread bytes as read.
    #[inline]
    pub(crate) fn advance(&mut self, count: usize) {
        self.position += count;
        debug_assert!(self.position <= if let Source::Slice(bytes) = self.source { bytes.len() } else { self.filled });
    }

    /// Asks the source until `count` bytes are unread or it has no more.
    pub(crate) fn demand(&mut self, count: usize) {
        if matches!(self.source, Source::Slice(_)) {
            return;
        }
        while self.filled - self.position < count && !self.ended {
            self.buffer.copy_within(self.position..self.filled, 0);
            self.filled -= self.position;
            self.position = 0;
            let fill = self.buffer.len().clamp(MIN_FILL, MAX_FILL).max(count);
            // Random streams are filled in whole rows, so that the bytes do not depend on the fill sizes.
            let behind = self.filled + fill.next_multiple_of(ROW);
            if self.buffer.len() < behind {
                self.buffer.resize(behind, 0);
            }
            match &mut self.source {
                Source::Random(generators) => {
                    let (rows, _) = self.buffer[self.filled..].as_chunks_mut::<ROW>();
                    generators.fill(rows, Simd::detect());
                    self.filled += rows.len() * ROW;
                }
                Source::Other(source) => {
                    let count = source.fill(&mut self.buffer[self.filled..]);
                    self.ended = count == 0;
                    self.filled += count.min(self.buffer.len() - self.filled);
                }
                Source::Slice(_) => {}
            }
        }
    }
}

impl std::fmt::Debug for Choices<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Choices").field("unread", &self.unread().len()).finish_non_exhaustive()
    }
}

fn block_generators(seed: u64, block: u64) -> Generators {
    Generators::seeded(&mut SplitMix64::seed_from_u64(split_mix(seed) ^ split_mix(block).rotate_left(32)))
}

/// Returns the value of SplitMix64's output function on the state after `value` (Steele, Lea & Flood 2014).
fn split_mix(value: u64) -> u64 {
    let mut mixed = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(choices: &mut Choices<'_>, count: usize) -> Vec<u8> {
        choices.demand(count);
        let bytes = choices.unread()[..count].to_vec();
        choices.advance(count);
        bytes
    }

    #[test]
    fn the_random_stream_does_not_depend_on_how_it_is_read() {
        let whole = take(&mut Choices::random(7), 100_000);
        let mut choices = Choices::random(7);
        let mut parts = Vec::new();
        let mut step = 1;
        while parts.len() < whole.len() {
            let count = step.min(whole.len() - parts.len());
            parts.extend(take(&mut choices, count));
            step = step * 3 % 4099;
        }
        assert!(parts == whole);
        assert_ne!(take(&mut Choices::of_block(7, 1), 32), whole[..32]);
        assert_ne!(take(&mut Choices::random(8), 32), whole[..32]);
    }

    #[test]
    fn the_stream_is_fixed_for_all_machines_and_versions() {
        let mut choices = Choices::of_block(1, 2);
        assert_eq!(take(&mut choices, 8), [8, 1, 11, 178, 74, 120, 33, 92]);
    }
}
