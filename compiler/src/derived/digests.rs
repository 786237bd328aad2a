//! Digests. They are too long for numbers, and are written as bytes or as hexadecimal digits.

use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

/// A digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digest {
    /// MD5 (RFC 1321).
    Md5,
    /// SHA-1 (FIPS 180-4).
    Sha1,
    /// SHA-256 (FIPS 180-4).
    Sha256,
}

impl Digest {
    /// All digests.
    pub const ALL: [Digest; 3] = [Digest::Md5, Digest::Sha1, Digest::Sha256];

    /// Returns the name that a grammar calls it by.
    pub fn name(self) -> &'static str {
        match self {
            Digest::Md5 => "md5",
            Digest::Sha1 => "sha1",
            Digest::Sha256 => "sha256",
        }
    }

    /// Returns the digest with this name.
    pub fn by_name(name: &str) -> Option<Digest> {
        Digest::ALL.into_iter().find(|digest| digest.name() == name)
    }

    /// Returns the number of its bytes.
    pub fn width(self) -> u8 {
        match self {
            Digest::Md5 => 16,
            Digest::Sha1 => 20,
            Digest::Sha256 => 32,
        }
    }

    /// Returns the digest of some bytes.
    pub fn of(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Digest::Md5 => Md5::digest(bytes).to_vec(),
            Digest::Sha1 => Sha1::digest(bytes).to_vec(),
            Digest::Sha256 => Sha256::digest(bytes).to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vectors of RFC 1321, section A.5, and of the examples for FIPS 180-4.
    #[test]
    fn digests_of_known_texts() {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        for (digest, text, expected) in [
            (Digest::Md5, "", "d41d8cd98f00b204e9800998ecf8427e"),
            (Digest::Md5, "message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            (Digest::Sha1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (Digest::Sha1, two_blocks, "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
            (Digest::Sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (Digest::Sha256, two_blocks, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
        ] {
            let found = digest.of(text.as_bytes());
            assert_eq!(hex(&found), expected, "{} of {text}", digest.name());
            assert_eq!(found.len(), usize::from(digest.width()));
            assert_eq!(Digest::by_name(digest.name()), Some(digest));
        }
    }
}
