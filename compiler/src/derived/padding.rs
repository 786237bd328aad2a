//! Filler bytes after a part: up to a multiple of a number of bytes, or up to a number of bytes.

/// Filler bytes after a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Padding {
    /// The length in bytes of the part with its padding, or a divisor of this length.
    pub to: u32,
    /// Whether the length is `to` itself, so that the part is bounded, and not a multiple of it.
    pub is_exact: bool,
    /// The byte that fills.
    pub filler: u8,
}

impl Padding {
    /// The greatest length that a part is padded to, or to a multiple of.
    pub const MAX: u32 = 1 << 20;

    /// The words that grammars write for the two kinds of padding.
    pub const WORDS: [&str; 2] = ["pad", "fill"];

    /// Returns the padding that a grammar calls by this word, with zeros.
    pub fn by_word(word: &str, to: u32) -> Option<Padding> {
        Self::WORDS.contains(&word).then_some(Padding { to, is_exact: word == Self::WORDS[1], filler: 0 })
    }

    /// Returns the word that a grammar writes.
    pub fn word(self) -> &'static str {
        Self::WORDS[usize::from(self.is_exact)]
    }

    /// Returns the greatest length of a part that it can pad.
    pub fn greatest(self) -> u64 {
        if self.is_exact { self.to.into() } else { u64::MAX }
    }

    /// Returns the number of filler bytes after a part of this length.
    pub fn width(self, len: u64) -> u64 {
        let to = u64::from(self.to.max(1));
        if self.is_exact { to.saturating_sub(len) } else { (to - len % to) % to }
    }

    /// Returns the most filler bytes after a part.
    pub fn most(self) -> u64 {
        u64::from(self.to) - u64::from(!self.is_exact)
    }

    /// Appends the filler bytes after a part of this length.
    pub fn write(self, len: u64, output: &mut Vec<u8>) {
        output.resize(output.len() + self.width(len) as usize, self.filler);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filler_bytes_complete_a_length() {
        let widths = |word: &str| [0, 1, 3, 4, 5, 8].map(|len| Padding::by_word(word, 4).expect("a word").width(len));
        assert_eq!(widths("pad"), [0, 3, 1, 0, 3, 0]);
        assert_eq!(widths("fill"), [4, 3, 1, 0, 0, 0]);
        assert_eq!(Padding::by_word("filler", 4), None);
    }
}
