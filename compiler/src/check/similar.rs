//! "Did you mean": finds the rule whose name is nearest to an undefined one, with bounded effort. Without a near one,
//! lists the rules.

use super::shown;
use crate::ordered::{Map, sort_by};

/// The number of table cells that edit distances may still compute. It bounds the time for hostile grammars.
pub(crate) struct Budget(usize);

impl Default for Budget {
    fn default() -> Budget {
        Budget(10_000_000)
    }
}

/// Names longer than this are not compared.
const MAX_NAME: usize = 64;

/// Returns the candidate nearest to `name`, if one is near enough to be the intended one.
pub fn closest<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    nearest(name, candidates, &mut Budget::default())
}

/// Returns a hint that names the rule nearest to `name`, if one is near enough.
pub(crate) fn suggestion(name: &str, index: &Map<&str, usize>, budget: &mut Budget) -> Option<String> {
    nearest(name, index.keys().copied(), budget).map(|best| format!("did you mean `{}`?", shown(best)))
}

fn nearest<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>, budget: &mut Budget) -> Option<&'n str> {
    let name = folded(name)?;
    // One edit is allowed in a short name, a third of the letters in a long one.
    let mut bound = (name.len() / 3).max(1) + 1;
    let mut best = None;
    for candidate in candidates {
        // Each candidate costs something, even if its length excludes it.
        budget.0 = budget.0.checked_sub(4)?;
        if candidate.len() > 4 * MAX_NAME {
            continue;
        }
        let Some(letters) = folded(candidate).filter(|letters| letters.len().abs_diff(name.len()) < bound) else {
            continue;
        };
        budget.0 = budget.0.checked_sub(name.len() * letters.len())?;
        let distance = edit_distance(&name, &letters);
        // A name of one letter is one edit from every other letter.
        if distance < bound && distance < name.len().max(letters.len()) {
            bound = distance;
            best = Some(candidate);
        }
        if bound == 0 {
            break;
        }
    }
    best
}

/// Returns the names of the first rules in the order of the file, and the number of the remaining ones.
pub(crate) fn rules(index: &Map<&str, usize>) -> String {
    const SHOWN: usize = 12;
    let mut names: Vec<(usize, &str)> = index.iter().map(|(&name, &number)| (number, name)).collect();
    sort_by(&mut names, Ord::cmp);
    let first: Vec<String> = names.iter().take(SHOWN).map(|(_, name)| format!("`{}`", shown(name))).collect();
    match (names.len(), names.len().saturating_sub(SHOWN)) {
        (1, _) => format!("the only rule is {}", first.join("")),
        (_, 0) => format!("the rules are {}", first.join(", ")),
        (_, more) => format!("the rules are {} and {more} more", first.join(", ")),
    }
}

/// Returns the letters of a name for comparison, without case, `-` and `_`. `None` if it is too long.
fn folded(name: &str) -> Option<Vec<char>> {
    let letters: Vec<char> =
        name.chars().take(MAX_NAME + 1).map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect();
    (letters.len() <= MAX_NAME).then_some(letters)
}

/// Returns the Levenshtein distance with swaps of neighbours as one edit (optimal string alignment), three rows at a
/// time.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut rows = [vec![0; b.len() + 1], (0..=b.len()).collect::<Vec<usize>>(), vec![0; b.len() + 1]];
    for i in 1..=a.len() {
        let [before, last, row] = &mut rows;
        row[0] = i;
        for j in 1..=b.len() {
            let substituted = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = substituted.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        rows.rotate_left(1);
    }
    rows[1][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let distance = |a: &str, b: &str| edit_distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!(distance("", ""), 0);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("vlaue", "value"), 1);
        assert_eq!(distance("value", "value"), 0);
    }

    #[test]
    fn a_far_name_is_not_suggested() {
        let index = Map::from([("a", 0), ("object", 1), ("element-list", 2)]);
        let suggest = |name| suggestion(name, &index, &mut Budget::default());
        assert_eq!(suggest("b"), None);
        assert_eq!(suggest("objct").as_deref(), Some("did you mean `object`?"));
        assert_eq!(suggest("ElementList").as_deref(), Some("did you mean `element-list`?"));
        assert_eq!(suggest("number"), None);
    }
}
