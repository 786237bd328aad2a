//! Edits of classes: the program is asked which other characters it accepts in place of one.

use std::ops::Range;

use gramjet_compiler::ast::{Expr, Grammar};
use gramjet_compiler::charset::{CharSet, Unit};

use crate::refine::candidate::{Candidate, Lacking, shown};
use crate::refine::evidence::Ask;
use crate::refine::holes::Lack;
use crate::refine::place::{ExprPath, class, literal};
use crate::refine::widen::rank;

/// Characters beyond ASCII that stand for all: control characters, letters, marks, and what needs four bytes.
const BEYOND: [u32; 8] = [0x80, 0xA0, 0xE9, 0x3B1, 0x20AC, 0x4E2D, 0xFFFD, 0x1F600];

/// About as many ranges of a class are tried before all its members are.
const MOST_OTHERS: usize = 6;

/// Returns the members that are tried, each with the members for which it stands.
fn tried(unit: Unit) -> Vec<(u32, (u32, u32))> {
    let one = |member| (member, (member, member));
    match unit {
        Unit::Byte => (0..=0x7F).chain([0x80, 0xBF, 0xFF]).map(one).collect(),
        Unit::Char => (0..=0x7F).map(one).collect(),
    }
}

/// Returns the members that the program accepts between two texts, of those that `is_open`; `None` if there are no more
/// answers. Characters beyond ASCII are accepted together if all that stand for them and are open are.
fn accepted(around: &Around, unit: Unit, is_open: &dyn Fn(u32, &[u8]) -> bool, ask: &mut Ask<'_>) -> Option<CharSet> {
    // Whether the program takes the member, if that is open.
    let mut takes = |member: u32| {
        let text = around.with(CharSet::empty(unit).encode(member).as_ref());
        if is_open(member, &text) { ask(&text).map(Some) } else { Some(None) }
    };
    let mut ranges = Vec::new();
    for (member, stands_for) in tried(unit) {
        if takes(member)? == Some(true) {
            ranges.push(stands_for);
        }
    }
    if unit == Unit::Char {
        let (mut are_all, mut is_one) = (true, false);
        for member in BEYOND {
            if are_all && let Some(is_taken) = takes(member)? {
                (are_all, is_one) = (is_taken, true);
            }
        }
        if are_all && is_one {
            ranges.push((0x80, unit.max()));
        }
    }
    Some(CharSet::new(unit, ranges))
}

/// A text with a gap.
#[derive(Clone, Debug)]
pub(crate) struct Around {
    before: Vec<u8>,
    after: Vec<u8>,
}

/// Bytes that mark a gap. Hardly any grammar has it.
const GAP: &[u8] = b"\x01\x02gap\x02\x01";

impl Around {
    /// Returns the text around a range.
    fn new(text: &[u8], range: Range<usize>) -> Around {
        Around { before: text[..range.start].to_vec(), after: text[range.end..].to_vec() }
    }

    /// Returns what is in the place of the gap while texts with one are made.
    pub(crate) fn gap() -> Expr {
        literal(GAP)
    }

    /// Returns the text around a gap, if it has one and no more.
    pub(crate) fn of_gap(text: &[u8]) -> Option<Around> {
        let mut gaps = (0..text.len()).filter(|&at| text[at..].starts_with(GAP));
        let at = gaps.next().filter(|_| gaps.next().is_none())?;
        Some(Around::new(text, at..at + GAP.len()))
    }

    /// Returns the ends around and of these bytes in the gap: the byte before them, the first and the last of them, and
    /// the byte after them.
    pub(crate) fn ends(&self, bytes: &[u8]) -> [Option<u8>; 4] {
        [self.before.last(), bytes.first(), bytes.last(), self.after.first()].map(Option::<&u8>::copied)
    }

    /// Returns the text with these bytes in the gap.
    pub(crate) fn with(&self, bytes: &[u8]) -> Vec<u8> {
        [&self.before, bytes, &self.after].concat()
    }
}

/// At most this many members that a class lacks are looked at.
const MOST_LACKING: usize = 6;

/// Returns the edit that widens the class at a place, if it lacks single characters. Which others it gets is asked
/// later.
pub(crate) fn widened(grammar: &Grammar, place: &ExprPath, lacks: &[Lack]) -> Option<Candidate> {
    let old = place.get(grammar)?.as_class()?;
    let unit = old.unit();
    let mut members: Vec<u32> = lacks.iter().filter_map(|lack| single(lack.bytes(), unit)).collect();
    members.retain(|&member| !old.contains(member));
    members.sort_unstable();
    members.dedup();
    if members.is_empty() {
        return None;
    }
    let step = members.len().div_ceil(MOST_LACKING);
    let members = members.into_iter().step_by(step).collect();
    let all = CharSet::new(unit, [(0, unit.max())]);
    let new = all.difference(old);
    let candidate = getting(place, old, &all, &new);
    Some(Candidate { lacking: Some(Lacking { members }), ..candidate })
}

fn getting(place: &ExprPath, old: &CharSet, all: &CharSet, new: &CharSet) -> Candidate {
    let what = format!("the class `{}` gets `{}`", shown(&class(old.clone())), shown(&class(new.clone())));
    Candidate::new(place, class(all.clone()), class(new.clone()), what, rank::CLASS)
}

/// Function that returns true if the grammar reads a text.
type Reads<'r> = dyn Fn(&[u8]) -> bool + 'r;

/// Edits by which the class at a place gets what it lacks, and what else the program takes there. `around` are texts of
/// the grammar with a gap there: so few questions show whether something is lacking there at all, and texts in which
/// the grammar reads a member in another way tell nothing. `None` if there are no more answers.
pub(crate) fn settled(
    grammar: &Grammar,
    place: &ExprPath,
    lacking: &Lacking,
    (around, reads): (&[Around], &Reads<'_>),
    ask: &mut Ask<'_>,
) -> Option<Vec<Candidate>> {
    let Some(old) = place.get(grammar).and_then(Expr::as_class) else { return Some(Vec::new()) };
    let unit = old.unit();
    for around in around {
        let mut some = CharSet::empty(unit);
        for &member in &lacking.members {
            let one = CharSet::single(unit, member);
            let text = around.with(one.encode(member).as_ref());
            if !reads(&text) && ask(&text)? {
                some = some.union(&one);
            }
        }
        if some.is_empty() {
            continue;
        }
        let others = accepted(around, unit, &|member, text| !old.contains(member) && !reads(text), ask)?;
        let found = [some.union(&others).difference(old), some];
        let count = if found[0].len() == found[1].len() { 1 } else { 2 };
        return Some(found[..count].iter().map(|new| getting(place, old, &old.union(new), new)).collect());
    }
    Some(Vec::new())
}

/// Returns the character that the bytes are, if they are one.
fn single(bytes: &[u8], unit: Unit) -> Option<u32> {
    match unit {
        Unit::Byte => (bytes.len() == 1).then(|| u32::from(bytes[0])),
        Unit::Char => {
            let mut characters = std::str::from_utf8(bytes).ok()?.chars();
            characters.next().filter(|_| characters.next().is_none()).map(u32::from)
        }
    }
}

/// Returns the class at a place without the members that the program rejects in place of `member`, which begins at `at`
/// in a text. `None` if there are no more answers.
pub(crate) fn narrowed(
    grammar: &Grammar,
    place: &ExprPath,
    (text, member, at): (&[u8], u32, usize),
    ask: &mut Ask<'_>,
) -> Option<Vec<Candidate>> {
    let Some(old) = place.get(grammar).and_then(Expr::as_class) else { return Some(Vec::new()) };
    let range = at..at + old.encode(member).as_ref().len();
    if text.get(range.clone()).is_none() {
        return Some(Vec::new());
    }
    let around = Around::new(text, range);
    if !takes_another(old, member, &around, ask)? {
        return Some(Vec::new());
    }
    let good = accepted(&around, old.unit(), &|_, _| true, ask)?;
    let kept = CharSet::new(old.unit(), overlap(old, &good));
    let gone = old.difference(&kept);
    if gone.is_empty() || kept.is_empty() {
        return Some(Vec::new());
    }
    let what = format!("the class `{}` loses `{}`", shown(&class(old.clone())), shown(&class(gone.clone())));
    Some(vec![Candidate::new(place, class(kept), class(gone), what, 0)])
}

/// Returns true if the program takes one of some other members in place of one: else this one is not to blame.
fn takes_another(class: &CharSet, member: u32, around: &Around, ask: &mut Ask<'_>) -> Option<bool> {
    let ranges = class.ranges();
    let step = ranges.len().div_ceil(MOST_OTHERS).max(1);
    let middles = ranges.iter().step_by(step).map(|&(low, high)| low + (high - low) / 2);
    let usual = [b'a', b'0', b'A', b' '].map(u32::from).into_iter().filter(|&usual| class.contains(usual));
    for other in usual.chain(middles).filter(|&other| other != member) {
        if ask(&around.with(class.encode(other).as_ref()))? {
            return Some(true);
        }
    }
    Some(false)
}

/// Returns the members of both sets.
fn overlap(one: &CharSet, other: &CharSet) -> Vec<(u32, u32)> {
    one.difference(&one.difference(other)).ranges().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refine::testing::grammar;

    #[test]
    fn a_class_gets_and_loses_what_the_program_says() {
        let grammar = grammar("word ::= '<' [a-fA-Z!?] '>'\n");
        let place = ExprPath { rule: 0, path: vec![1] };
        let is_letter = |text: &[u8]| text.len() == 3 && text[1].is_ascii_lowercase() || text == "<é>".as_bytes();
        let lacks = [Lack { text: b"<x>".to_vec(), range: 1..2 }];
        let open = widened(&grammar, &place, &lacks).expect("something is lacking");
        let lacking = open.lacking.expect("it is asked later");
        let around = [b"<<\x01\x02gap\x02\x01>>".as_slice(), b"<\x01\x02gap\x02\x01>"];
        let around = around.map(|text| Around::of_gap(text).expect("a gap"));
        let mut asked = 0;
        let mut program = |text: &[u8]| {
            asked += 1;
            Some(is_letter(text))
        };
        let by = |text: &[u8]| text == b"<z>";
        let found = settled(&grammar, &place, &lacking, (&around, &by), &mut program).expect("answers");
        let what: Vec<&str> = found.iter().map(|candidate| candidate.what.as_str()).collect();
        assert_eq!(what, ["the class `[!?A-Za-f]` gets `[g-y]`", "the class `[!?A-Za-f]` gets `[x]`"]);
        assert!(asked < 110, "{asked}");
        let found = narrowed(&grammar, &place, (b"<!>", u32::from('!'), 1), &mut |text| Some(is_letter(text)));
        assert_eq!(found.expect("answers")[0].what, "the class `[!?A-Za-f]` loses `[!?A-Z]`");
        assert!(narrowed(&grammar, &place, (b"<!>", u32::from('!'), 1), &mut |_| None).is_none());
        // What is wrong elsewhere takes few questions.
        let mut asked = 0;
        let mut program = |text: &[u8]| {
            asked += 1;
            Some(is_letter(text))
        };
        let found = narrowed(&grammar, &place, (b"<b>>", u32::from('b'), 1), &mut program).expect("answers");
        assert!(found.is_empty() && asked < 10, "{asked}");
    }
}
