//! The difference of two texts, as `diff -u` writes it.

use std::ops::Range;

/// Lines around a change that are shown.
const AROUND: usize = 3;

/// The most cells of the table of common lines. Where more would be needed, all that differs is one change.
const MOST_CELLS: usize = 1 << 24;

/// Returns a unified diff; empty if the texts are equal.
pub fn unified(old: &str, new: &str, old_name: &str, new_name: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let changes = changes(&old, &new);
    if changes.is_empty() {
        return String::new();
    }
    let mut text = format!("--- {old_name}\n+++ {new_name}\n");
    let mut at = 0;
    while at < changes.len() {
        let mut until = at + 1;
        while until < changes.len() && changes[until].0.start <= changes[until - 1].0.end + 2 * AROUND {
            until += 1;
        }
        hunk(&old, &new, &changes[at..until], &mut text);
        at = until;
    }
    text
}

/// A range of lines of the old text, and that of the new text in its place.
type Change = (Range<usize>, Range<usize>);

fn hunk(old: &[&str], new: &[&str], changes: &[Change], text: &mut String) {
    let (first, last) = (&changes[0], &changes[changes.len() - 1]);
    let before = first.0.start.min(AROUND);
    let after = (old.len() - last.0.end).min(AROUND);
    let olds = first.0.start - before..last.0.end + after;
    let news = first.1.start - before..last.1.end + after;
    let shown = |range: &Range<usize>| {
        let start = if range.is_empty() { range.start } else { range.start + 1 };
        if range.len() == 1 { start.to_string() } else { format!("{start},{}", range.len()) }
    };
    *text += &format!("@@ -{} +{} @@\n", shown(&olds), shown(&news));
    let mut write = |mark: char, line: &str| {
        text.push(mark);
        *text += line;
        if !line.ends_with('\n') {
            *text += "\n\\ No newline at end of file\n";
        }
    };
    let mut at = olds.start;
    for (removed, added) in changes {
        old[at..removed.start].iter().for_each(|line| write(' ', line));
        old[removed.clone()].iter().for_each(|line| write('-', line));
        new[added.clone()].iter().for_each(|line| write('+', line));
        at = removed.end;
    }
    old[at..olds.end].iter().for_each(|line| write(' ', line));
}

fn changes(old: &[&str], new: &[&str]) -> Vec<Change> {
    let before = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - before;
    let after = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let (one, other) = (&old[before..old.len() - after], &new[before..new.len() - after]);
    if one.is_empty() && other.is_empty() {
        return Vec::new();
    }
    if (one.len() + 1).saturating_mul(other.len() + 1) > MOST_CELLS {
        return vec![(before..before + one.len(), before..before + other.len())];
    }
    let mut changes: Vec<Change> = Vec::new();
    let (mut at, mut to) = (0, 0);
    for (left, right) in matches(one, other).into_iter().chain([(one.len(), other.len())]) {
        if left > at || right > to {
            changes.push((before + at..before + left, before + to..before + right));
        }
        (at, to) = (left + 1, right + 1);
    }
    changes
}

/// Returns the pairs of a longest common subsequence.
fn matches(one: &[&str], other: &[&str]) -> Vec<(usize, usize)> {
    let width = other.len() + 1;
    let mut lengths = vec![0u32; (one.len() + 1) * width];
    for left in (0..one.len()).rev() {
        for right in (0..other.len()).rev() {
            lengths[left * width + right] = if one[left] == other[right] {
                lengths[(left + 1) * width + right + 1] + 1
            } else {
                lengths[(left + 1) * width + right].max(lengths[left * width + right + 1])
            };
        }
    }
    let (mut left, mut right, mut pairs) = (0, 0, Vec::new());
    while left < one.len() && right < other.len() {
        if one[left] == other[right] {
            pairs.push((left, right));
            (left, right) = (left + 1, right + 1);
        } else if lengths[(left + 1) * width + right] >= lengths[left * width + right + 1] {
            left += 1;
        } else {
            right += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_shown_with_their_surroundings() {
        let old: String = (1..=20).map(|number| format!("{number}\n")).collect();
        let new = old.replace("\n4\n", "\nfour\n").replace("\n16\n", "\n16\nmore\n");
        let expected = "--- a\n+++ b\n@@ -1,7 +1,7 @@\n 1\n 2\n 3\n-4\n+four\n 5\n 6\n 7\n@@ -14,6 +14,7 @@\n 14\n 15\n 16\n+more\n 17\n 18\n 19\n";
        assert_eq!(unified(&old, &new, "a", "b"), expected);
        assert_eq!(unified(&old, &old, "a", "b"), "");
    }

    #[test]
    fn a_missing_line_feed_at_the_end_is_shown() {
        let expected = "--- a\n+++ b\n@@ -1 +1,2 @@\n-x\n\\ No newline at end of file\n+x\n+y\n";
        assert_eq!(unified("x", "x\ny\n", "a", "b"), expected);
    }
}
