//! Constant tables of generated producers: strings of a site, large classes of characters.

/// The strings of a site, in canonical order: ascending in length.
#[derive(Debug)]
pub struct Strings {
    /// All strings one after the other, followed by [`Strings::PADDING`] bytes.
    data: &'static [u8],
    /// Beginning of each string, and end of the last one.
    starts: &'static [u32],
    /// Emitted where no string fits the length: the shortest string of the rule, if it is shorter than all strings
    /// here.
    shortest: Option<&'static [u8]>,
    /// Length in bytes of the shortest string that could stand here.
    min_len: u64,
    max_len: usize,
}

impl Strings {
    /// Bytes that must follow the strings, so that they can be copied in blocks of this size.
    pub const PADDING: usize = 64;

    /// Returns a table of `starts.len() - 1` strings.
    ///
    /// # Panics
    ///
    /// If there is no string, the lengths do not ascend, or the padding is missing. Called in constants,
    /// so this shows at compile time.
    pub const fn new(data: &'static [u8], starts: &'static [u32], shortest: Option<&'static [u8]>) -> Strings {
        let table = Strings::unordered(data, starts);
        let mut index = 2;
        while index < starts.len() {
            assert!(starts[index] - starts[index - 1] >= starts[index - 1] - starts[index - 2]);
            index += 1;
        }
        let min_len = match shortest {
            Some(shortest) => shortest.len() as u64,
            None => table.min_len,
        };
        Strings { shortest, min_len, ..table }
    }

    /// Returns a table of `starts.len() - 1` strings whose lengths need not ascend: for where there is no length limit,
    /// which alone asks for costs.
    ///
    /// # Panics
    ///
    /// If there is no string, or the padding is missing. Called in constants, so this shows at compile time.
    pub const fn unordered(data: &'static [u8], starts: &'static [u32]) -> Strings {
        assert!(starts.len() >= 2 && starts[0] == 0);
        let mut max_len = 0;
        let mut index = 1;
        while index < starts.len() {
            assert!(starts[index] >= starts[index - 1]);
            let len = (starts[index] - starts[index - 1]) as usize;
            max_len = if len > max_len { len } else { max_len };
            index += 1;
        }
        assert!(data.len() >= starts[starts.len() - 1] as usize + Strings::PADDING);
        let min_len = (starts[1] - starts[0]) as u64;
        Strings { data, starts, shortest: None, min_len, max_len }
    }

    /// Returns the number of strings.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the length in bytes of the longest string.
    #[inline(always)]
    pub fn max_len(&self) -> usize {
        self.max_len
    }

    /// Returns a string.
    #[inline(always)]
    pub fn get(&self, index: usize) -> &'static [u8] {
        &self.data[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// Returns a string's first byte and length without a check of the index.
    ///
    /// # Safety
    ///
    /// `index` must be below [`Strings::count`]. After the string [`Strings::PADDING`] bytes may be read.
    #[inline(always)]
    pub(crate) unsafe fn get_unchecked(&self, index: usize) -> (*const u8, usize) {
        // SAFETY: `new` checked that there are count + 1 starts, ascending, all within the data.
        unsafe {
            let start = *self.starts.get_unchecked(index) as usize;
            let end = *self.starts.get_unchecked(index + 1) as usize;
            (self.data.as_ptr().add(start), end - start)
        }
    }

    /// Returns how many bytes a string is longer than the shortest that could stand here.
    #[inline(always)]
    pub(crate) fn cost(&self, index: usize) -> u64 {
        u64::from(self.starts[index + 1] - self.starts[index]) - self.min_len
    }

    /// Returns how many strings cost at most `slack`.
    pub(crate) fn offered(&self, slack: u64) -> usize {
        let mut low = 0;
        let mut high = self.count();
        while low < high {
            let middle = low + (high - low) / 2;
            if self.cost(middle) <= slack { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Returns the string that is emitted where no string is offered.
    pub(crate) fn shortest(&self) -> &'static [u8] {
        self.shortest.unwrap_or(self.get(0))
    }
}

/// Right recursion over single bytes: `rule ::= "" | item rule` or `rule ::= item | item rule`, where the item is one
/// byte from one choice byte.
#[derive(Debug)]
pub struct Star {
    /// The item that each choice byte emits.
    pub table: [u8; 256],
    /// The item that each choice byte emits in the last instance within the depth limit. It differs if the item is a
    /// rule's, which is beyond the limit there.
    pub last: [u8; 256],
    /// The byte that each choice byte emits in place of an instance beyond the limit, if there is one; see
    /// [`crate::rt::raw::Machine::even_star`].
    pub behind: [u8; 256],
    /// The strings that replace the rule beyond the depth limit.
    pub pool: &'static Strings,
}

/// A class of characters as ranges of code points, in ascending order.
#[derive(Debug)]
pub struct CharClass {
    /// The first member of each range and the number of members before it.
    ranges: &'static [(u32, u32)],
    /// The number of members of at most 1, 2, 3 and 4 bytes.
    within: [u32; 4],
    min_len: u32,
}

impl CharClass {
    /// Returns a class from the (first member, members before) of its ranges and its counts of members of at most 1 to
    /// 4 bytes.
    ///
    /// # Panics
    ///
    /// If the class is empty, the ranges do not ascend or their members are no characters, or the counts do not match
    /// the ranges. Called in constants, so this shows at compile time.
    pub const fn new(ranges: &'static [(u32, u32)], within: [u32; 4]) -> CharClass {
        assert!(!ranges.is_empty() && ranges[0].1 == 0 && within[3] > 0);
        // The first code point that is longer than 1, 2, 3 and 4 bytes.
        const LONGER: [u32; 4] = [0x80, 0x800, 0x1_0000, 0x11_0000];
        let mut counts = [0; 4];
        let mut index = 0;
        while index < ranges.len() {
            let (first, before) = ranges[index];
            let behind = if index + 1 < ranges.len() { ranges[index + 1].1 } else { within[3] };
            assert!(behind > before);
            let last = first + (behind - before - 1);
            // No range holds or spans surrogates.
            assert!(
                char::from_u32(first).is_some()
                    && char::from_u32(last).is_some()
                    && (first < 0xD800) == (last < 0xD800)
            );
            assert!(index + 1 == ranges.len() || last < ranges[index + 1].0);
            let mut len = 0;
            while len < 4 {
                if first < LONGER[len] {
                    counts[len] += if last < LONGER[len] { last - first + 1 } else { LONGER[len] - first };
                }
                len += 1;
            }
            index += 1;
        }
        let mut len = 0;
        while len < 4 {
            assert!(counts[len] == within[len]);
            len += 1;
        }
        let mut min_len = 1;
        while within[min_len as usize - 1] == 0 {
            min_len += 1;
        }
        CharClass { ranges, within, min_len }
    }

    /// Returns the number of members.
    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.within[3]
    }

    /// Returns how many members cost at most `slack` bytes more than the shortest.
    pub(crate) fn offered(&self, slack: u64) -> u32 {
        self.within[(slack.saturating_add(u64::from(self.min_len)).min(4) - 1) as usize]
    }

    /// Returns how many bytes a member of `len` bytes is longer than the shortest.
    #[inline(always)]
    pub(crate) fn cost(&self, len: usize) -> u64 {
        len as u64 - u64::from(self.min_len)
    }

    /// Returns the `index`-th member as UTF-8, and its length.
    #[inline]
    pub(crate) fn encoded(&self, index: u32) -> ([u8; 4], usize) {
        let behind = self.ranges.partition_point(|&(_, before)| before <= index);
        let (first, before) = self.ranges[behind - 1];
        let mut bytes = [0; 4];
        // Ranges hold scalar values only.
        let len = char::from_u32(first + (index - before)).unwrap_or('\u{FFFD}').encode_utf8(&mut bytes).len();
        (bytes, len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranges and counts of a class.
    type Table = (&'static [(u32, u32)], [u32; 4]);

    const RANGES: &[(u32, u32)] = &[(0x7E, 0), (0xD7FF, 4), (0xE000, 5), (0x10_FFFF, 7)];
    const WITHIN: [u32; 4] = [2, 4, 7, 8];

    #[test]
    fn classes_that_hold_together() {
        let class = CharClass::new(RANGES, WITHIN);
        let members: Vec<char> = (0..class.count())
            .map(|index| {
                let (bytes, len) = class.encoded(index);
                std::str::from_utf8(&bytes[..len]).unwrap().chars().next().unwrap()
            })
            .collect();
        assert_eq!(members, ['~', '\u{7F}', '\u{80}', '\u{81}', '\u{D7FF}', '\u{E000}', '\u{E001}', '\u{10FFFF}']);
    }

    #[test]
    fn classes_that_do_not() {
        let wrong: [Table; 9] = [
            (&[], [0, 0, 0, 0]),
            (&[(0x61, 0)], [0, 0, 0, 0]),
            (&[(0x61, 1)], [2, 2, 2, 2]),
            (&[(0x61, 0)], [1, 2, 2, 2]),
            (&[(0x62, 0), (0x61, 1)], [2, 2, 2, 2]),
            (&[(0x61, 0), (0x62, 2)], [3, 3, 3, 3]),
            (&[(0x61, 0), (0x70, 0)], [3, 3, 3, 3]),
            (&[(0xD7FF, 0)], [0, 0, 2, 2]),
            (&[(0x10_FFFF, 0)], [0, 0, 0, 2]),
        ];
        for (ranges, within) in wrong {
            assert!(std::panic::catch_unwind(|| CharClass::new(ranges, within)).is_err(), "{ranges:x?}");
        }
        assert!(std::panic::catch_unwind(|| CharClass::new(RANGES, [2, 4, 6, 8])).is_err());
    }
}
