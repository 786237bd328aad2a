//! Sets of characters.

use std::fmt::{self, Write as _};

/// A set of ASCII characters, with all other characters or without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Set {
    ascii: u128,
    /// Whether all characters beyond ASCII are members.
    pub others: bool,
}

impl Set {
    pub fn of(members: impl IntoIterator<Item = u8>) -> Set {
        let mut set = Set::default();
        members.into_iter().for_each(|byte| set.insert(byte));
        set
    }

    /// Adds an ASCII character.
    pub fn insert(&mut self, byte: u8) {
        debug_assert!(byte.is_ascii());
        self.ascii |= 1 << (byte & 127);
    }

    pub fn remove(&mut self, byte: u8) {
        self.ascii &= !(1 << (byte & 127));
    }

    pub fn has(&self, byte: u8) -> bool {
        if byte.is_ascii() { self.ascii >> byte & 1 == 1 } else { self.others }
    }

    /// Returns true if all characters of the text are members.
    pub fn has_all(&self, text: &[u8]) -> bool {
        std::str::from_utf8(text).is_ok() && text.iter().all(|&byte| self.has(byte))
    }

    pub fn is_empty(&self) -> bool {
        self.ascii == 0 && !self.others
    }

    /// Returns the only member, if there is one only.
    pub fn single(&self) -> Option<u8> {
        let is_single = !self.others && self.ascii.count_ones() == 1;
        self.ascii().next().filter(|_| is_single)
    }

    /// Returns the letters, the digits and the underscore among the members.
    pub fn of_words(&self) -> Set {
        Set::of(self.ascii().filter(|byte| byte.is_ascii_alphanumeric() || *byte == b'_'))
    }

    pub fn union(self, other: Set) -> Set {
        Set { ascii: self.ascii | other.ascii, others: self.others || other.others }
    }

    /// Returns the ASCII members, in order.
    pub fn ascii(&self) -> impl Iterator<Item = u8> + use<> {
        let ascii = self.ascii;
        (0..128_u8).filter(move |byte| ascii >> byte & 1 == 1)
    }
}

impl fmt::Display for Set {
    /// Writes the set as a class of the notation.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::from("[");
        let mut left = self.ascii().peekable();
        while let Some(low) = left.next() {
            let mut high = low;
            while left.peek() == Some(&(high + 1)) {
                high += 1;
                left.next();
            }
            push(&mut text, low);
            if high > low + 1 {
                text.push('-');
            }
            if high > low {
                push(&mut text, high);
            }
        }
        if self.others {
            text.push_str("\\u{80}-\\u{D7FF}\\u{E000}-\\u{10FFFF}");
        }
        write!(f, "{text}]")
    }
}

fn push(text: &mut String, byte: u8) {
    match byte {
        b'\n' => text.push_str("\\n"),
        b'\t' => text.push_str("\\t"),
        b'\r' => text.push_str("\\r"),
        b'[' | b']' | b'-' | b'^' | b'\\' => text.extend(['\\', byte as char]),
        b'#' | 0..0x20 | 0x7F => {
            // A `String` takes all that is written.
            let _ = write!(text, "\\x{byte:02X}");
        }
        _ => text.push(byte as char),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_written_as_classes() {
        let set = Set::of(*b"abcxy-]#\n");
        assert_eq!(set.to_string(), r"[\n\x23\-\]a-cxy]");
        assert!(Set { others: true, ..set }.has_all("aé".as_bytes()));
        assert!(!set.has_all("é".as_bytes()));
    }
}
