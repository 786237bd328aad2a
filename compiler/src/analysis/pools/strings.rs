//! Lists of strings in one piece of memory, as most of what is joined for pools is soon forgotten.

use std::cmp::Ordering;

/// A list of strings.
#[derive(Clone, Debug, Default)]
pub(super) struct Strings {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Strings {
    /// A list of one string.
    pub fn one(string: &[u8]) -> Strings {
        Strings { bytes: string.to_vec(), ends: vec![string.len()] }
    }

    /// An empty list with room for so many strings.
    pub fn with_capacity(count: usize) -> Strings {
        Strings { bytes: Vec::new(), ends: Vec::with_capacity(count) }
    }

    /// Adds the concatenation of two strings.
    pub fn push(&mut self, left: &[u8], right: &[u8]) {
        self.bytes.extend_from_slice(left);
        self.bytes.extend_from_slice(right);
        self.ends.push(self.bytes.len());
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many bytes they have together.
    pub fn total(&self) -> usize {
        self.bytes.len()
    }

    /// The string with this number.
    pub fn get(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.bytes[start..self.ends[number]]
    }

    /// The strings in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|number| self.get(number))
    }

    /// The string, if there is just one.
    pub fn only(&self) -> Option<&[u8]> {
        (self.len() == 1).then_some(&self.bytes)
    }

    /// Whether they ascend by length, then bytes, and each is there once.
    pub fn ascend(&self) -> bool {
        (1..self.len()).all(|number| order(self.get(number - 1), self.get(number)).is_lt())
    }
}

impl<'s> FromIterator<&'s [u8]> for Strings {
    fn from_iter<I: IntoIterator<Item = &'s [u8]>>(strings: I) -> Strings {
        let mut list = Strings::default();
        strings.into_iter().for_each(|string| list.push(string, &[]));
        list
    }
}

/// Ascending by length, then bytes.
fn order(a: &[u8], b: &[u8]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// The strings in ascending order by length, then bytes, each once.
///
/// Strings that are joined have much in common at their beginning; eight bytes behind that decide most comparisons.
pub(super) fn ascending<'s>(strings: &[&'s [u8]]) -> Vec<&'s [u8]> {
    let Some((first, rest)) = strings.split_first() else { return Vec::new() };
    let common = |string: &&[u8]| first.iter().zip(*string).take_while(|(a, b)| a == b).count();
    let shared = rest.iter().map(common).min().unwrap_or(0);
    let keyed = strings.iter().map(|&string| {
        let behind = &string[shared..];
        let mut key = [0; 8];
        let length = behind.len().min(8);
        key[..length].copy_from_slice(&behind[..length]);
        (string.len(), u64::from_be_bytes(key), string)
    });
    let mut keyed: Vec<(usize, u64, &[u8])> = keyed.collect();
    // Tuples compare by length, then by these bytes, then by all.
    keyed.sort_unstable();
    keyed.dedup();
    keyed.into_iter().map(|(_, _, string)| string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
