//! Sources of the decisions in random grammars: a seed, or the bytes of a property-testing library.

use arbitrary::Unstructured;

/// A source of decisions.
pub trait Draw {
    /// Returns a number below `bound`, which must not be 0. A source that is exhausted answers 0.
    fn below(&mut self, bound: usize) -> usize;

    /// Returns true if something happens that has this probability in percent. An exhausted source answers yes only to
    /// 100.
    fn percent(&mut self, percent: usize) -> bool {
        self.below(100) >= 100 - percent
    }

    /// Returns a number from `low` to `high`, both included.
    fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }
}

impl Draw for Unstructured<'_> {
    fn below(&mut self, bound: usize) -> usize {
        self.int_in_range(0..=bound - 1).unwrap_or(0)
    }
}

/// A generator of pseudo-random numbers, the same on every machine and in every version: SplitMix64.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// Returns the generator of a seed.
    pub fn new(seed: u64) -> Rng {
        Rng { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x6A09_E667_F3BC_C908 }
    }

    /// Returns the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Makes `count` bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next_u64() as u8).collect()
    }

    /// Returns a choice string of up to `most` bytes: uniform, or of extreme bytes, which lead to the first and last
    /// options.
    pub fn choice_string(&mut self, most: usize) -> Vec<u8> {
        let len = self.between(0, most);
        let mut bytes = self.bytes(len);
        match self.below(4) {
            0 => bytes.iter_mut().for_each(|byte| *byte = if *byte < 128 { 0 } else { 255 }),
            1 => bytes.iter_mut().for_each(|byte| *byte |= 0xC0),
            _ => {}
        }
        bytes
    }
}

impl Draw for Rng {
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }
}
