//! Edits of classes: the program is asked which other characters it accepts in place of one.

use gramjet_compiler::ast::{ExprKind, Grammar};
use gramjet_compiler::charset::{CharSet, Unit};

use crate::candidate::{Candidate, shown};
use crate::holes::Lack;
use crate::mutants::spliced;
use crate::place::{Place, class};
use crate::widen::rank;

/// Characters beyond ASCII that stand for all: control characters, letters, marks, and what needs four bytes.
const BEYOND: [u32; 8] = [0x80, 0xA0, 0xE9, 0x3B1, 0x20AC, 0x4E2D, 0xFFFD, 0x1F600];

/// What the program is asked.
pub(crate) type Ask<'a> = dyn FnMut(&[u8]) -> Option<bool> + 'a;

/// Members that are tried, each with the members for which it stands.
fn tried(unit: Unit) -> Vec<(u32, (u32, u32))> {
    let one = |member| (member, (member, member));
    match unit {
        Unit::Byte => (0..=0x7F).chain([0x80, 0xBF, 0xFF]).map(one).collect(),
        Unit::Char => (0..=0x7F).map(one).collect(),
    }
}

/// The members that the program accepts in a range of a text; `None` if there are no more answers. Characters beyond
/// ASCII are accepted together if all that stand for them are.
fn accepted(text: &[u8], range: &std::ops::Range<usize>, unit: Unit, ask: &mut Ask<'_>) -> Option<CharSet> {
    let with = |member: u32| spliced(text, range.clone(), CharSet::empty(unit).encode(member).as_ref());
    let mut ranges = Vec::new();
    for (member, stands_for) in tried(unit) {
        if ask(&with(member))? {
            ranges.push(stands_for);
        }
    }
    if unit == Unit::Char {
        let mut are_all = true;
        for member in BEYOND {
            if are_all {
                are_all = ask(&with(member))?;
            }
        }
        if are_all {
            ranges.push((0x80, unit.max()));
        }
    }
    Some(CharSet::new(unit, ranges))
}

/// Edits that widen the class at a place, which lacks single characters. `None` if there are no more answers.
pub(crate) fn widened(grammar: &Grammar, place: &Place, lacks: &[Lack], ask: &mut Ask<'_>) -> Option<Vec<Candidate>> {
    let Some(ExprKind::Class(old)) = place.get(grammar).map(|expr| &expr.kind) else { return Some(Vec::new()) };
    let unit = old.unit();
    let mut found: Vec<CharSet> = Vec::new();
    let mut seen = CharSet::empty(unit);
    for lack in lacks {
        let Some(member) = single(lack.bytes(), unit).filter(|&member| !seen.contains(member)) else { continue };
        let lacking = CharSet::single(unit, member);
        let all = accepted(&lack.text, &lack.range, unit, ask)?.union(&lacking);
        seen = seen.union(&all);
        found.push(all);
        found.push(lacking);
        if found.len() >= 6 {
            break;
        }
    }
    let mut candidates = Vec::new();
    for more in found.iter().chain([&seen]) {
        let (all, new) = (old.union(more), more.difference(old));
        if new.is_empty() {
            continue;
        }
        let what = format!("the class `{}` gets `{}`", shown(&class(old.clone())), shown(&class(new.clone())));
        candidates.push(Candidate::new(place, class(all), class(new), what, rank::CLASS));
    }
    Some(candidates)
}

/// The character that the bytes are, if they are one.
fn single(bytes: &[u8], unit: Unit) -> Option<u32> {
    match unit {
        Unit::Byte => (bytes.len() == 1).then(|| u32::from(bytes[0])),
        Unit::Char => {
            let mut characters = std::str::from_utf8(bytes).ok()?.chars();
            characters.next().filter(|_| characters.next().is_none()).map(u32::from)
        }
    }
}

/// The class at a place without the members that the program rejects in place of `member`, which begins at `at` in a
/// text. `None` if there are no more answers.
pub(crate) fn narrowed(
    grammar: &Grammar,
    place: &Place,
    (text, member, at): (&[u8], u32, usize),
    ask: &mut Ask<'_>,
) -> Option<Vec<Candidate>> {
    let Some(ExprKind::Class(old)) = place.get(grammar).map(|expr| &expr.kind) else { return Some(Vec::new()) };
    let range = at..at + old.encode(member).as_ref().len();
    if text.get(range.clone()).is_none() {
        return Some(Vec::new());
    }
    let good = accepted(text, &range, old.unit(), ask)?;
    let kept = CharSet::new(old.unit(), overlap(old, &good));
    let gone = old.difference(&kept);
    if gone.is_empty() || kept.is_empty() {
        return Some(Vec::new());
    }
    let what = format!("the class `{}` loses `{}`", shown(&class(old.clone())), shown(&class(gone.clone())));
    Some(vec![Candidate::new(place, class(kept), class(gone), what, 0)])
}

/// The members of both sets.
fn overlap(one: &CharSet, other: &CharSet) -> Vec<(u32, u32)> {
    one.difference(&one.difference(other)).ranges().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::grammar;

    #[test]
    fn a_class_gets_and_loses_what_the_program_says() {
        let grammar = grammar("word ::= '<' [a-fA-Z!?] '>'\n");
        let place = Place { rule: 0, path: vec![1] };
        let is_letter = |text: &[u8]| text.len() == 3 && text[1].is_ascii_lowercase() || text == "<é>".as_bytes();
        let lacks = [Lack { text: b"<x>".to_vec(), range: 1..2 }];
        let found = widened(&grammar, &place, &lacks, &mut |text| Some(is_letter(text))).expect("answers");
        let what: Vec<&str> = found.iter().map(|candidate| candidate.what.as_str()).collect();
        assert_eq!(what[..2], ["the class `[!?A-Za-f]` gets `[g-z]`", "the class `[!?A-Za-f]` gets `[x]`"]);
        let found = narrowed(&grammar, &place, (b"<!>", u32::from('!'), 1), &mut |text| Some(is_letter(text)));
        assert_eq!(found.expect("answers")[0].what, "the class `[!?A-Za-f]` loses `[!?A-Z]`");
        assert!(narrowed(&grammar, &place, (b"<!>", u32::from('!'), 1), &mut |_| None).is_none());
    }
}
