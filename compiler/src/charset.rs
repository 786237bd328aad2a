//! Sets of bytes and sets of characters (Unicode scalar values) as sorted, disjoint, non-adjacent ranges.

/// The kind of members of a [`CharSet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// Bytes, 0x00 to 0xFF, emitted as they are.
    Byte,
    /// Unicode scalar values, emitted as UTF-8.
    Char,
}

impl Unit {
    /// Returns the greatest value.
    pub fn max(self) -> u32 {
        match self {
            Unit::Byte => 0xFF,
            Unit::Char => 0x10_FFFF,
        }
    }
}

/// The surrogates, which are not characters.
const SURROGATES: (u32, u32) = (0xD800, 0xDFFF);

/// Collects ranges in the order of a text. A class of a hundred million characters repeats some of them, so ranges that
/// overlap or touch are merged during collection. The list stays about as long as the set has ranges.
#[derive(Debug, Default)]
pub(crate) struct RangeList {
    ranges: Vec<(u32, u32)>,
    /// The number of ranges after the last merge.
    merged: usize,
}

impl RangeList {
    /// Adds an inclusive range; a reversed one has no members.
    pub(crate) fn push(&mut self, low: u32, high: u32) {
        if low > high {
            return;
        }
        if self.ranges.len() >= 2 * self.merged + 4096 {
            self.merge();
        }
        self.ranges.push((low, high));
    }

    fn merge(&mut self) {
        self.ranges.sort_unstable();
        self.ranges.dedup_by(|next, last| {
            let joins = next.0 <= last.1.saturating_add(1);
            if joins {
                last.1 = last.1.max(next.1);
            }
            joins
        });
        self.merged = self.ranges.len();
    }

    /// Returns the ranges in ascending order, neither overlapping nor adjacent.
    pub(crate) fn into_merged(mut self) -> Vec<(u32, u32)> {
        self.merge();
        self.ranges.shrink_to_fit();
        self.ranges
    }
}

impl Extend<(u32, u32)> for RangeList {
    fn extend<T: IntoIterator<Item = (u32, u32)>>(&mut self, ranges: T) {
        ranges.into_iter().for_each(|(low, high)| self.push(low, high));
    }
}

/// A set of bytes or of characters. Members stand in ascending order, which for characters is also ascending in the
/// length of their UTF-8 form: the canonical order of a class site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CharSet {
    unit: Unit,
    /// Inclusive ranges, ascending, neither overlapping nor adjacent. Without surrogates, if the members are
    /// characters.
    ranges: Vec<(u32, u32)>,
    /// The number of members.
    len: u32,
}

impl CharSet {
    /// Returns the set of all members of the inclusive `ranges`, in any order. Values out of the unit's bounds,
    /// surrogates and reversed ranges are left out.
    pub fn new(unit: Unit, ranges: impl IntoIterator<Item = (u32, u32)>) -> CharSet {
        let mut list = RangeList::default();
        for (low, high) in ranges {
            let high = high.min(unit.max());
            if low > high {
                continue;
            }
            if unit == Unit::Char && low <= SURROGATES.1 && high >= SURROGATES.0 {
                if low < SURROGATES.0 {
                    list.push(low, SURROGATES.0 - 1);
                }
                if high > SURROGATES.1 {
                    list.push(SURROGATES.1 + 1, high);
                }
            } else {
                list.push(low, high);
            }
        }
        let ranges = list.into_merged();
        let len = ranges.iter().map(|&(low, high)| high - low + 1).sum();
        CharSet { unit, ranges, len }
    }

    /// Returns the empty set.
    pub fn empty(unit: Unit) -> CharSet {
        CharSet { unit, ranges: Vec::new(), len: 0 }
    }

    /// Returns the set of a single member.
    pub fn single(unit: Unit, member: u32) -> CharSet {
        CharSet::new(unit, [(member, member)])
    }

    /// Returns the kind of the members.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Returns the inclusive ranges, ascending.
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    /// Returns true if the set has no members.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns the number of members.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Returns true if `member` is in the set.
    pub fn contains(&self, member: u32) -> bool {
        let behind = self.ranges.partition_point(|&(low, _)| low <= member);
        behind > 0 && member <= self.ranges[behind - 1].1
    }

    /// Returns the members of both sets together. Both must have the same unit.
    pub fn union(&self, other: &CharSet) -> CharSet {
        debug_assert_eq!(self.unit, other.unit);
        CharSet::new(self.unit, self.ranges.iter().chain(&other.ranges).copied())
    }

    /// Returns the members that are in both sets. Both must have the same unit.
    pub fn intersection(&self, other: &CharSet) -> CharSet {
        self.difference(&self.difference(other))
    }

    /// Returns the members of this set that are not in `other`; both must have the same unit.
    pub fn difference(&self, other: &CharSet) -> CharSet {
        debug_assert_eq!(self.unit, other.unit);
        let mut kept = Vec::new();
        let mut others = other.ranges.iter().peekable();
        for &(mut low, high) in &self.ranges {
            while let Some(&&(other_low, other_high)) = others.peek() {
                if other_high < low {
                    others.next();
                    continue;
                }
                if other_low > high {
                    break;
                }
                if other_low > low {
                    kept.push((low, other_low - 1));
                }
                low = other_high + 1;
                if low > high {
                    break;
                }
                others.next();
            }
            if low <= high {
                kept.push((low, high));
            }
        }
        CharSet::new(self.unit, kept)
    }

    /// Returns the members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.ranges.iter().flat_map(|&(low, high)| low..=high)
    }

    /// Returns the `index`-th member in ascending order. `None` if there are fewer members.
    #[inline]
    pub fn nth(&self, mut index: u32) -> Option<u32> {
        for &(low, high) in &self.ranges {
            let size = high - low + 1;
            if index < size {
                return Some(low + index);
            }
            index -= size;
        }
        None
    }

    /// Returns the number of members whose emitted form has at most `bytes` bytes. These come first in ascending order.
    #[inline]
    pub fn len_within(&self, bytes: u64) -> u32 {
        let bound = match (self.unit, bytes) {
            (_, 0) => return 0,
            (Unit::Byte, _) | (Unit::Char, 4..) => return self.len(),
            (Unit::Char, 1) => 0x7F,
            (Unit::Char, 2) => 0x7FF,
            (Unit::Char, _) => 0xFFFF,
        };
        self.ranges.iter().take_while(|&&(low, _)| low <= bound).map(|&(low, high)| high.min(bound) - low + 1).sum()
    }

    /// Returns the bytes of `member` in the output.
    #[inline]
    pub fn encode(&self, member: u32) -> Encoded {
        Encoded::new(self.unit, member)
    }

    /// Returns the length in bytes of the shortest member's emitted form; 0 for the empty set.
    #[inline]
    pub fn min_len(&self) -> u64 {
        self.ranges.first().map_or(0, |&(low, _)| self.encode(low).as_ref().len() as u64)
    }

    /// Returns the length in bytes of the longest member's emitted form; 0 for the empty set.
    #[inline]
    pub fn max_len(&self) -> u64 {
        self.ranges.last().map_or(0, |&(_, high)| self.encode(high).as_ref().len() as u64)
    }
}

/// The one to four bytes of a member.
#[derive(Clone, Copy, Debug)]
pub struct Encoded {
    bytes: [u8; 4],
    len: u8,
}

impl Encoded {
    #[inline]
    fn new(unit: Unit, member: u32) -> Encoded {
        let mut bytes = [0; 4];
        let len = match (unit, char::from_u32(member)) {
            (Unit::Char, Some(character)) => character.encode_utf8(&mut bytes).len(),
            _ => {
                bytes[0] = member as u8;
                1
            }
        };
        Encoded { bytes, len: len as u8 }
    }
}

impl AsRef<[u8]> for Encoded {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_normalised_and_surrogates_left_out() {
        let set = CharSet::new(Unit::Char, [(5, 9), (1, 3), (4, 4), (0xD000, 0xE000), (7, 6)]);
        assert_eq!(set.ranges(), [(1, 9), (0xD000, 0xD7FF), (0xE000, 0xE000)]);
        assert_eq!(set.len(), 9 + 0x800 + 1);
    }

    #[test]
    fn a_long_list_of_ranges_is_merged_on_the_way() {
        let mut list = RangeList::default();
        for i in 0..1_000_000u32 {
            // The even numbers below 6000, each many times, and a reversed range.
            list.push(i * 7 % 3000 * 2, i * 7 % 3000 * 2);
            list.push(9, 8);
            assert!(list.ranges.len() <= 3 * 4096, "{i}");
        }
        let expected: Vec<(u32, u32)> = (0..3000).map(|i| (2 * i, 2 * i)).collect();
        assert_eq!(list.into_merged(), expected);
    }

    #[test]
    fn set_operations_agree_with_membership() {
        let a = CharSet::new(Unit::Byte, [(10, 20), (30, 40), (50, 60)]);
        let b = CharSet::new(Unit::Byte, [(0, 12), (15, 16), (20, 35), (41, 49), (60, 255)]);
        for member in 0..=255 {
            assert_eq!(a.union(&b).contains(member), a.contains(member) || b.contains(member), "{member}");
            assert_eq!(a.difference(&b).contains(member), a.contains(member) && !b.contains(member), "{member}");
        }
        let members: Vec<u32> = a.iter().collect();
        for (index, &member) in members.iter().enumerate() {
            assert_eq!(a.nth(index as u32), Some(member));
        }
        assert_eq!(a.nth(members.len() as u32), None);
    }

    #[test]
    fn lengths_follow_utf8() {
        let set = CharSet::new(Unit::Char, [(0x70, 0x90), (0x7F0, 0x810), (0xFFF0, 0x10010)]);
        for bytes in 0..6 {
            let expected = set.iter().filter(|&m| set.encode(m).as_ref().len() as u64 <= bytes).count();
            assert_eq!(set.len_within(bytes) as usize, expected, "{bytes}");
        }
        assert_eq!((set.min_len(), set.max_len()), (1, 4));
    }
}
