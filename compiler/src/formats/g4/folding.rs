//! `caseInsensitive`: a letter stands for both cases.

use crate::charset::{CharSet, Unit};

/// Returns the members of `set`, with the same letters in the other case.
pub(super) fn folded(set: &CharSet) -> CharSet {
    let mut ranges = set.ranges().to_vec();
    for character in set.iter().filter_map(char::from_u32) {
        // Ideographs and later characters have no case. A few late scripts do, but they are rare in keywords.
        if character > '\u{2FFF}' {
            break;
        }
        for other in [single(character.to_lowercase()), single(character.to_uppercase())].into_iter().flatten() {
            ranges.push((u32::from(other), u32::from(other)));
        }
    }
    CharSet::new(Unit::Char, ranges)
}

/// Returns the result of a case mapping, if it is a single character.
fn single(mut mapped: impl Iterator<Item = char>) -> Option<char> {
    let first = mapped.next()?;
    mapped.next().is_none().then_some(first)
}
