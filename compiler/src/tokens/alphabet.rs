//! Characters: those that are good to read, and the classes of characters that a lexer does not tell apart.

use std::collections::BTreeMap;

use crate::charset::{CharSet, Unit};

/// What sets that are written as complements draw from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alphabet {
    /// Printable ASCII, and one character in ten from elsewhere.
    #[default]
    Readable,
    /// Printable ASCII.
    Ascii,
    /// All characters.
    Unicode,
    /// The characters whose numbers are those of bytes.
    Bytes,
}

impl Alphabet {
    /// The alphabets and their names.
    pub const ALL: &'static [(&'static str, Alphabet)] = &[
        ("readable", Alphabet::Readable),
        ("ascii", Alphabet::Ascii),
        ("unicode", Alphabet::Unicode),
        ("bytes", Alphabet::Bytes),
    ];

    /// The alphabet called `name`.
    pub fn by_name(name: &str) -> Option<Alphabet> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|&(_, alphabet)| alphabet)
    }

    /// Its members.
    fn members(self) -> CharSet {
        let ranges: &[(u32, u32)] = match self {
            // Two, three and four bytes of UTF-8; small and capital letters, ideographs, symbols.
            Alphabet::Readable => &[
                (0x20, 0x7E),
                (0xC4, 0xC4),
                (0xE9, 0xEA),
                (0x3B1, 0x3B2),
                (0x416, 0x416),
                (0x20AC, 0x20AC),
                (0x4E2D, 0x4E2D),
                (0x1F600, 0x1F601),
            ],
            Alphabet::Ascii => &[(0x20, 0x7E)],
            Alphabet::Unicode => &[(0, 0x10_FFFF)],
            Alphabet::Bytes => &[(0, 0xFF)],
        };
        CharSet::new(Unit::Char, ranges.iter().copied())
    }

    /// The members of `set` that are in the alphabet; all members where that is none.
    pub(super) fn restrict(self, set: &CharSet) -> CharSet {
        let within = intersection(set, &self.members());
        if within.is_empty() { set.clone() } else { within }
    }
}

/// Sets with more members are drawn from by the alphabet even if they are listed.
pub(super) const MAX_LISTED: u32 = 256;

/// The members of both.
pub(super) fn intersection(a: &CharSet, b: &CharSet) -> CharSet {
    a.difference(&a.difference(b))
}

/// A partition of all characters into classes whose members are in the same sets.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    /// The bounds of ranges, ascending, each with the class of the characters up to the next bound.
    bounds: Vec<(u32, u32)>,
    /// The members of each class.
    members: Vec<CharSet>,
}

impl Classes {
    /// The coarsest partition that none of the `sets` divides.
    pub(super) fn new(sets: &[CharSet]) -> Classes {
        // Each bound toggles the membership in one set.
        let mut toggles: Vec<(u32, usize)> = vec![(0, usize::MAX), (0xE000, usize::MAX)];
        for (number, set) in sets.iter().enumerate() {
            for &(low, high) in set.ranges() {
                toggles.push((low, number));
                toggles.push((high + 1, number));
            }
        }
        toggles.sort_unstable();
        let mut current = super::bits::Bits::new(sets.len());
        let mut ids: BTreeMap<super::bits::Bits, u32> = BTreeMap::new();
        let mut ranges: Vec<Vec<(u32, u32)>> = Vec::new();
        let mut bounds: Vec<(u32, u32)> = Vec::new();
        let mut index = 0;
        while index < toggles.len() {
            let low = toggles[index].0;
            while index < toggles.len() && toggles[index].0 == low {
                let number = toggles[index].1;
                if number != usize::MAX {
                    current.toggle(number);
                }
                index += 1;
            }
            let high = toggles.get(index).map_or(0x10_FFFF, |&(next, _)| next - 1);
            if low > 0x10_FFFF {
                break;
            }
            let class = *ids.entry(current.clone()).or_insert_with(|| {
                ranges.push(Vec::new());
                ranges.len() as u32 - 1
            });
            ranges[class as usize].push((low, high));
            bounds.push((low, class));
        }
        let members = ranges.into_iter().map(|ranges| CharSet::new(Unit::Char, ranges)).collect();
        Classes { bounds, members }
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// The members of a class.
    pub(super) fn members(&self, class: usize) -> &CharSet {
        &self.members[class]
    }

    /// The class of a character.
    pub(super) fn of(&self, character: char) -> usize {
        let behind = self.bounds.partition_point(|&(low, _)| low <= u32::from(character));
        self.bounds[behind - 1].1 as usize
    }

    /// The classes whose members are in `set`, one of the sets that the partition was made of.
    pub(super) fn within(&self, set: &CharSet) -> Vec<u32> {
        (0..self.len() as u32)
            .filter(|&class| self.members[class as usize].nth(0).is_some_and(|member| set.contains(member)))
            .collect()
    }
}
