//! Characters: the alphabets that outputs draw from, and the classes of characters that a lexer does not distinguish.

use std::str::FromStr;

use super::bits::Bits;
use crate::ast::{Alternative, Expr, Weight};
use crate::charset::{CharSet, Unit};
use crate::diagnostics::Span;
use crate::ordered::{Map, Set};

/// The characters that sets written as complements draw from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alphabet {
    /// Printable ASCII, and for one character in ten another readable one.
    #[default]
    Readable,
    /// Printable ASCII.
    Ascii,
    /// All characters.
    Unicode,
    /// The characters U+0000 to U+00FF.
    Bytes,
    /// All characters, nine in ten of them printable ASCII.
    All,
}

impl FromStr for Alphabet {
    type Err = String;

    fn from_str(name: &str) -> Result<Alphabet, String> {
        Alphabet::by_name(name).ok_or_else(|| super::unknown("alphabet", name, Alphabet::ALL))
    }
}

impl Alphabet {
    /// The alphabets and their names.
    pub const ALL: &'static [(&'static str, Alphabet)] = &[
        ("readable", Alphabet::Readable),
        ("ascii", Alphabet::Ascii),
        ("unicode", Alphabet::Unicode),
        ("bytes", Alphabet::Bytes),
        ("all", Alphabet::All),
    ];

    /// Returns the alphabet called `name`.
    pub fn by_name(name: &str) -> Option<Alphabet> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|&(_, alphabet)| alphabet)
    }

    /// Returns the members of the alphabet.
    fn members(self) -> CharSet {
        let ranges: &[(u32, u32)] = match self {
            // Characters of two, three and four bytes in UTF-8: small and capital letters, ideographs, symbols.
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
            Alphabet::Unicode | Alphabet::All => &[(0, 0x10_FFFF)],
            Alphabet::Bytes => &[(0, 0xFF)],
        };
        CharSet::new(Unit::Char, ranges.iter().copied())
    }

    /// Returns the members of `set` that are in the alphabet. All members if none is.
    pub(super) fn restrict(self, set: &CharSet) -> CharSet {
        let within = set.intersection(&self.members());
        if within.is_empty() { set.clone() } else { within }
    }

    /// Returns an expression for one character of a restricted set.
    pub(super) fn one_of(self, set: CharSet, span: Span) -> Expr {
        let class = |set| Expr::class(set, span);
        let usual = match self {
            Alphabet::All if set.len() > MAX_LISTED => set.intersection(&Alphabet::Ascii.members()),
            _ => return class(set),
        };
        let others = set.difference(&usual);
        if usual.is_empty() || others.is_empty() {
            return class(set);
        }
        let weigh = |value| Some(Weight { value, span });
        let alternatives = vec![
            Alternative { expr: class(usual), weight: weigh(9.0) },
            Alternative { expr: class(others), weight: weigh(1.0) },
        ];
        Expr::choice(alternatives, span)
    }
}

/// The greatest listed set that is drawn from evenly. Larger ones are drawn from by the alphabet.
pub(super) const MAX_LISTED: u32 = 256;

/// The most memberships of classes in sets. With more there is no partition.
const MAX_MEMBERSHIPS: usize = 1 << 24;

/// A partition of all characters into classes whose members are in the same sets.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    /// The bounds of ranges, ascending, each with the class of the characters up to the next bound.
    bounds: Vec<(u32, u32)>,
    /// The members of each class.
    members: Vec<CharSet>,
    /// For each set, the classes in it, in ascending order.
    within: Vec<Vec<u32>>,
}

impl Classes {
    /// Returns the coarsest partition in which no class is divided by one of `sets`. `None` if it would be too large.
    pub(super) fn new(sets: &[CharSet]) -> Option<Classes> {
        // Each bound toggles the membership in one set.
        let mut toggles: Vec<(u32, u32)> = vec![(0, u32::MAX), (0xE000, u32::MAX)];
        for (number, set) in sets.iter().enumerate() {
            for &(low, high) in set.ranges() {
                toggles.push((low, number as u32));
                toggles.push((high + 1, number as u32));
            }
        }
        toggles.sort_unstable();
        let mut current: Set<u32> = Set::new();
        let mut ids: Map<Vec<u32>, u32> = Map::new();
        let mut ranges: Vec<Vec<(u32, u32)>> = Vec::new();
        let mut bounds: Vec<(u32, u32)> = Vec::new();
        let mut index = 0;
        let mut work = 0;
        while index < toggles.len() {
            let low = toggles[index].0;
            while index < toggles.len() && toggles[index].0 == low {
                let number = toggles[index].1;
                if number != u32::MAX && !current.remove(&number) {
                    current.insert(number);
                }
                index += 1;
            }
            let high = toggles.get(index).map_or(0x10_FFFF, |&(next, _)| next - 1);
            if low > 0x10_FFFF {
                break;
            }
            work += 1 + current.len();
            if work > MAX_MEMBERSHIPS {
                return None;
            }
            let class = *ids.entry(current.iter().copied().collect()).or_insert_with(|| {
                ranges.push(Vec::new());
                ranges.len() as u32 - 1
            });
            ranges[class as usize].push((low, high));
            bounds.push((low, class));
        }
        let mut within: Vec<Vec<u32>> = vec![Vec::new(); sets.len()];
        for (numbers, class) in ids {
            numbers.into_iter().for_each(|number| within[number as usize].push(class));
        }
        within.iter_mut().for_each(|classes| classes.sort_unstable());
        let members = ranges.into_iter().map(|ranges| CharSet::new(Unit::Char, ranges)).collect();
        Some(Classes { bounds, members, within })
    }

    /// Returns all characters as one class.
    pub(super) fn one() -> Classes {
        let members = vec![CharSet::new(Unit::Char, [(0, 0x10_FFFF)])];
        Classes { bounds: vec![(0, 0)], members, within: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns the members of a class.
    pub(super) fn members(&self, class: usize) -> &CharSet {
        &self.members[class]
    }

    /// Returns the class of a character.
    pub(super) fn of(&self, character: char) -> usize {
        let behind = self.bounds.partition_point(|&(low, _)| low <= u32::from(character));
        self.bounds[behind - 1].1 as usize
    }

    /// Returns for each set of the partition the classes in it.
    pub(super) fn within(&self) -> &[Vec<u32>] {
        &self.within
    }

    /// Returns the classes with a member in `set`, any set.
    pub(super) fn meeting(&self, set: &CharSet) -> Bits {
        let mut meeting = Bits::new(self.len());
        for &(low, high) in set.ranges() {
            let first = self.bounds.partition_point(|&(bound, _)| bound <= low) - 1;
            for &(_, class) in self.bounds[first..].iter().take_while(|&&(bound, _)| bound <= high) {
                meeting.insert(class as usize);
            }
        }
        meeting
    }
}
