//! `caseInsensitive`: a letter stands for both of its cases.

use crate::charset::{CharSet, Unit};

/// The members of `set` and what they are in the other case.
pub(super) fn folded(set: &CharSet) -> CharSet {
    let mut ranges = set.ranges().to_vec();
    for character in set.iter().filter_map(char::from_u32) {
        // Ideographs and all that is behind have no cases, but for a few scripts that nobody writes keywords in.
        if character > '\u{2FFF}' {
            break;
        }
        for other in [single(character.to_lowercase()), single(character.to_uppercase())].into_iter().flatten() {
            ranges.push((u32::from(other), u32::from(other)));
        }
    }
    CharSet::new(Unit::Char, ranges)
}

/// The only character of a case mapping.
fn single(mut mapped: impl Iterator<Item = char>) -> Option<char> {
    let first = mapped.next()?;
    mapped.next().is_none().then_some(first)
}
