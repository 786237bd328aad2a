//! Lists of strings in one allocation. Most of the strings that are joined for pools live only briefly.

/// A list of strings.
#[derive(Clone, Debug, Default)]
pub(super) struct Strings {
    bytes: Vec<u8>,
    /// The end of each string.
    ends: Vec<usize>,
}

impl Strings {
    /// Returns a list of one string.
    pub fn one(string: &[u8]) -> Strings {
        Strings { bytes: string.to_vec(), ends: vec![string.len()] }
    }

    /// Returns an empty list with room for `count` strings of `bytes` bytes in total.
    pub fn with_capacity(count: usize, bytes: usize) -> Strings {
        Strings { bytes: Vec::with_capacity(bytes), ends: Vec::with_capacity(count) }
    }

    /// Adds the concatenation of two strings.
    #[inline]
    pub fn push(&mut self, left: &[u8], right: &[u8]) {
        self.bytes.extend_from_slice(left);
        self.bytes.extend_from_slice(right);
        self.ends.push(self.bytes.len());
    }

    /// Returns the number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of bytes of all strings.
    pub fn total(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the string with this number.
    #[inline]
    pub fn get(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.bytes[start..self.ends[number]]
    }

    /// Returns the strings in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|number| self.get(number))
    }

    /// Returns the string of a list that has exactly one.
    pub fn only(&self) -> Option<&[u8]> {
        (self.len() == 1).then_some(&self.bytes)
    }

    /// Returns true if the strings ascend by length, then bytes, without duplicates.
    pub fn ascend(&self) -> bool {
        let (mut before, mut start): (&[u8], usize) = (&[], 0);
        for (number, &end) in self.ends.iter().enumerate() {
            let string = &self.bytes[start..end];
            if number > 0 && (string.len() < before.len() || string.len() == before.len() && string <= before) {
                return false;
            }
            (before, start) = (string, end);
        }
        true
    }

    /// Returns all strings in order.
    pub fn all(&self) -> Vec<&[u8]> {
        let mut all = Vec::with_capacity(self.len());
        let mut start = 0;
        for &end in &self.ends {
            all.push(&self.bytes[start..end]);
            start = end;
        }
        all
    }
}

impl<'s> FromIterator<&'s [u8]> for Strings {
    fn from_iter<I: IntoIterator<Item = &'s [u8]>>(strings: I) -> Strings {
        let strings = strings.into_iter();
        let mut list = Strings::with_capacity(strings.size_hint().0, 0);
        strings.for_each(|string| list.push(string, &[]));
        list
    }
}

/// Returns the strings in ascending order by length, then bytes, without duplicates.
///
/// Joined strings often share a long beginning. So one number is sorted for each string: its length, the bytes after
/// the shared beginning as far as they fit, and its place. Strings that are equal so far are then compared in full.
pub(super) fn ascending<'s>(strings: &[&'s [u8]]) -> Vec<&'s [u8]> {
    let Some((first, rest)) = strings.split_first() else { return Vec::new() };
    let (mut shortest, mut longest, mut shared) = (first.len(), first.len(), first.len());
    for string in rest {
        (shortest, longest) = (shortest.min(string.len()), longest.max(string.len()));
        if string.get(..shared) != Some(&first[..shared]) {
            shared = first.iter().zip(*string).take_while(|(a, b)| a == b).count();
        }
    }
    // Lengths and places are far below 2^26, so all fits into 64 bits.
    let length_bits = usize::BITS - (longest - shortest).leading_zeros();
    let place_bits = usize::BITS - rest.len().leading_zeros();
    let key_bits = u64::BITS - length_bits - place_bits;
    // Plain loops: closures take longer where little is inlined.
    let mut numbers: Vec<u64> = Vec::with_capacity(strings.len());
    for (place, string) in (0..).zip(strings) {
        let behind = &string[shared..];
        let key = match behind.first_chunk() {
            Some(eight) => u64::from_be_bytes(*eight),
            None => behind.iter().enumerate().fold(0, |key, (at, &byte)| key | u64::from(byte) << (56 - 8 * at)),
        };
        let length = ((string.len() - shortest) as u64).checked_shl(u64::BITS - length_bits).unwrap_or(0);
        let key = key.checked_shr(u64::BITS - key_bits).unwrap_or(0);
        numbers.push(length | key << place_bits | place);
    }
    numbers.sort_unstable();
    let mut sorted: Vec<&[u8]> = Vec::with_capacity(numbers.len());
    let place_of = |number: u64| (number & ((1 << place_bits) - 1)) as usize;
    let mut at = 0;
    while at < numbers.len() {
        let (first, begin) = (numbers[at] >> place_bits, sorted.len());
        while at < numbers.len() && numbers[at] >> place_bits == first {
            sorted.push(strings[place_of(numbers[at])]);
            at += 1;
        }
        if sorted.len() > begin + 1 {
            if sorted[begin].len() > shared + key_bits as usize / 8 {
                sorted[begin..].sort_unstable();
            }
            let mut kept = begin;
            for next in begin + 1..sorted.len() {
                if sorted[next] != sorted[kept] {
                    kept += 1;
                    sorted[kept] = sorted[next];
                }
            }
            sorted.truncate(kept + 1);
        }
    }
    sorted
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;

    /// Compares strings for an order that ascends by length, then bytes.
    fn order(a: &[u8], b: &[u8]) -> Ordering {
        a.len().cmp(&b.len()).then_with(|| a.cmp(b))
    }

    #[test]
    fn many_strings_ascend_as_few_do() {
        // All words of up to ten letters in scrambled order, and words that agree in more bytes than the sorted number
        // holds.
        let words = (1..2048u32).map(|number| number * 1027 % 2048);
        let words = words.map(|number| format!("<{number:b}>").replace('1', "yes, very long and alike"));
        let words: Vec<String> = words.chain([String::from("<"), "<<".repeat(40)]).collect();
        let strings: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        let mut expected = strings.clone();
        expected.sort_by(|a, b| order(a, b));
        expected.dedup();
        assert_eq!(ascending(&strings), expected);
    }

    #[test]
    fn strings_ascend_by_length_then_bytes() {
        let words = ["<a>x", "<a>", "<a>xxxxxxxxxb", "<a>xxxxxxxxxa", "<a>\u{0}", "<a>x", "<a>", "<a>yyyyyyyyyyyyyy"];
        for words in [&words[..], &words[..1], &[], &["", "b", "a", ""]] {
            let strings: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
            let mut expected = strings.clone();
            expected.sort_by(|a, b| order(a, b));
            expected.dedup();
            let found = ascending(&strings);
            assert_eq!(found, expected);
            assert!(found.into_iter().collect::<Strings>().ascend());
        }
        assert!(!["b", "a"].iter().map(|word| word.as_bytes()).collect::<Strings>().ascend());
        assert!(!["a", "a"].iter().map(|word| word.as_bytes()).collect::<Strings>().ascend());
    }
}
