//! Sets of characters.

use std::fmt::{self, Write as _};

/// Characters beyond ASCII, from few to many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Others {
    #[default]
    None,
    /// Letters of Europe and of China: those that all versions of Unicode take for letters.
    Letters,
    /// All but controls and characters for private use.
    Shown,
    All,
}

impl Others {
    /// Each kind but the first, with some of its members that no smaller one has.
    pub const KINDS: [(Others, &[&str]); 3] = [
        (Others::Letters, &["é", "Ω", "漢"]),
        (Others::Shown, &["§", "—", "😀"]),
        (Others::All, &["\u{80}", "\u{E000}", "\u{FFFF}", "\u{10FFFF}"]),
    ];

    /// Returns the greatest kind of which a text is accepted that has some members that no smaller one has.
    pub fn find(mut fits: impl FnMut(&str) -> bool) -> Others {
        let kinds = Others::KINDS.iter().take_while(|(_, members)| fits(&members.concat()));
        kinds.last().map_or(Others::None, |kind| kind.0)
    }

    /// Returns the name of a rule that derives the members, and their class in the notation. `None` if there are none.
    pub fn class(self) -> Option<(&'static str, String)> {
        let name = match self {
            Others::None => return None,
            Others::Letters => "letter_beyond_ascii",
            Others::Shown => "shown_beyond_ascii",
            Others::All => "beyond_ascii",
        };
        let range = |&(low, high): &(char, char)| format!("\\u{{{:X}}}-\\u{{{:X}}}", u32::from(low), u32::from(high));
        Some((name, format!("[{}]", self.ranges().iter().map(range).collect::<String>())))
    }

    /// Returns some members.
    pub fn examples(self) -> Vec<&'static str> {
        let kinds = Others::KINDS.iter().filter(|kind| kind.0 <= self);
        kinds.flat_map(|kind| kind.1).copied().collect()
    }

    fn ranges(self) -> &'static [(char, char)] {
        match self {
            Others::None => &[],
            Others::Letters => &[
                ('\u{C0}', '\u{D6}'),
                ('\u{D8}', '\u{F6}'),
                ('\u{F8}', '\u{131}'),
                ('\u{391}', '\u{3A1}'),
                ('\u{3A3}', '\u{3C9}'),
                ('\u{410}', '\u{44F}'),
                ('\u{4E00}', '\u{9FA5}'),
            ],
            Others::Shown => &[
                ('\u{A0}', '\u{D7FF}'),
                ('\u{F900}', '\u{FDCF}'),
                ('\u{FDF0}', '\u{FFFD}'),
                ('\u{10000}', '\u{1FFFD}'),
            ],
            Others::All => &[('\u{80}', '\u{D7FF}'), ('\u{E000}', '\u{10FFFF}')],
        }
    }

    fn has(self, character: char) -> bool {
        self.ranges().iter().any(|&(low, high)| (low..=high).contains(&character))
    }
}

/// A set of characters: each ASCII character by itself, and the others by their kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Set {
    ascii: u128,
    /// The members beyond ASCII.
    pub others: Others,
}

impl Set {
    /// The number of ASCII characters that are drawn for each one beyond.
    pub const RARE: usize = 16;

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

    /// Returns true if an ASCII character is a member.
    pub fn has(&self, byte: u8) -> bool {
        byte.is_ascii() && self.ascii >> (byte & 127) & 1 == 1
    }

    /// Returns true if all characters of the text are members.
    pub fn has_all(&self, text: &[u8]) -> bool {
        let has = |character| {
            u8::try_from(character)
                .ok()
                .filter(u8::is_ascii)
                .map_or_else(|| self.others.has(character), |byte| self.has(byte))
        };
        std::str::from_utf8(text).is_ok_and(|text| text.chars().all(has))
    }

    pub fn has_ascii(&self) -> bool {
        self.ascii != 0
    }

    pub fn is_empty(&self) -> bool {
        self.ascii == 0 && self.others == Others::None
    }

    /// Returns the only member, if there is one only.
    pub fn single(&self) -> Option<u8> {
        let is_single = self.others == Others::None && self.ascii.count_ones() == 1;
        self.ascii().next().filter(|_| is_single)
    }

    /// Returns the letters, the digits and the underscore among the members.
    pub fn of_words(&self) -> Set {
        Set::of(self.ascii().filter(|byte| byte.is_ascii_alphanumeric() || *byte == b'_'))
    }

    pub fn union(self, other: Set) -> Set {
        Set { ascii: self.ascii | other.ascii, others: self.others.max(other.others) }
    }

    /// Returns the ASCII members, in order.
    pub fn ascii(&self) -> impl Iterator<Item = u8> + use<> {
        let ascii = self.ascii;
        (0..128_u8).filter(move |byte| ascii >> byte & 1 == 1)
    }
}

impl fmt::Display for Set {
    /// Writes the members that are ASCII characters as a class of the notation.
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
        assert!(Set { others: Others::Letters, ..set }.has_all("aé".as_bytes()));
        assert!(!set.has_all("é".as_bytes()));
        let named = Set { others: Others::Letters, ..set };
        assert!(!named.has_all("😀".as_bytes()) && Set { others: Others::Shown, ..set }.has_all("😀".as_bytes()));
    }

    #[test]
    fn kinds_of_others_hold_each_other() {
        let mut before = Others::None;
        for (kind, members) in Others::KINDS {
            assert!(before.ranges().iter().all(|&(low, high)| kind.has(low) && kind.has(high)));
            let is_new = |text: &&str| text.chars().all(|one| kind.has(one) && !before.has(one));
            assert!(members.iter().all(is_new), "{kind:?}");
            before = kind;
        }
    }
}
