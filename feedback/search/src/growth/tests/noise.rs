//! Numbers at random.

/// A xorshift generator.
pub(super) struct Noise(pub(super) u64);

impl Noise {
    /// Returns a number from 0 to 1.
    pub(super) fn share(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
