//! Sets of bytes.

/// A set of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes([u64; 4]);

impl Bytes {
    /// No bytes.
    pub const NONE: Bytes = Bytes([0; 4]);

    /// All bytes.
    pub const ALL: Bytes = Bytes([u64::MAX; 4]);

    /// Returns the set of these bytes.
    pub fn of(bytes: &[u8]) -> Bytes {
        bytes.iter().copied().collect()
    }

    /// Returns true if a byte is in the set.
    pub fn has(self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    /// Returns the bytes of both sets.
    #[must_use]
    pub fn with(self, other: Bytes) -> Bytes {
        Bytes(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    /// Returns the bytes that are in both sets.
    #[must_use]
    pub fn and(self, other: Bytes) -> Bytes {
        Bytes(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    /// Returns the bytes in ascending order.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..=255).filter(move |&byte| self.has(byte))
    }
}

impl FromIterator<u8> for Bytes {
    fn from_iter<T: IntoIterator<Item = u8>>(bytes: T) -> Bytes {
        let mut set = Bytes::NONE;
        bytes.into_iter().for_each(|byte| set.0[usize::from(byte >> 6)] |= 1 << (byte & 63));
        set
    }
}
