//! 64 bits of FNV-1a (RFC 9923): a hash that is the same on every machine and in every version.

/// A hash in the making.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fnv(u64);

impl Fnv {
    #[inline]
    pub fn new() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    #[inline]
    pub fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }

    pub fn number(&mut self, number: u64) {
        number.to_le_bytes().into_iter().for_each(|byte| self.byte(byte));
    }

    #[inline]
    pub fn finish(self) -> u64 {
        self.0
    }
}

/// Returns the hash of bytes.
#[inline]
pub fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash = Fnv::new();
    bytes.iter().for_each(|&byte| hash.byte(byte));
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vectors of RFC 9923, appendix C.
    #[test]
    fn hashes_are_those_of_the_rfc() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
