//! Texts on which a matcher that goes back may take long: those that repeat what a repetition of its regular expression
//! takes, and then fail.
//!
//! Nothing is proved of them. They are what people try who attack an expression by hand: enough before the repetition
//! to get there, a round of it many times, and then a character with which no round begins.

use std::cell::Cell;
use std::cmp::Reverse;

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use super::{Flags, look_of, read, set};
use crate::charset::{CharSet, Unit};
use crate::ordered::Set;

/// A text that repeats a round of a repetition of a regular expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pump {
    /// Text that leads to the repetition.
    pub before: Vec<u8>,
    /// Text of a round, to be written many times.
    pub each: Vec<u8>,
    /// Text behind, with which the expression fails.
    pub after: Vec<u8>,
    /// Rank by what is expected of it.
    pub promise: Promise,
}

/// Reasons why a matcher may take long, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Promise {
    /// Rounds can be read in several ways: the time may double with each.
    Ambiguous,
    /// Another repetition takes the same characters: the time may grow with a power of the rounds.
    Shared,
    /// The expression may begin at each round: the time may grow with the square of the rounds.
    Plain,
}

/// A repetition with fewer rounds is none.
const ROUNDS: u32 = 8;
/// The most pumps of an expression, texts of a round, and bytes of a text.
const MOST: usize = 64;
const MOST_ROUNDS: usize = 6;
const LONGEST: usize = 64;
/// The most classes that are told apart, as bits of a number, and looks at parts of an expression.
const CLASSES: usize = 64;
const STEPS: usize = 1 << 14;
/// Characters to fail with, those that are rarest in expressions first.
const FAILING: [char; 10] = ['\u{1}', '!', '\n', '\\', '"', '<', ';', 'X', ' ', '0'];
/// Characters that stand for those of a class: the ones that other classes have, too, come first.
const MEMBERS: &str = "a0 A_-.\t,;:=/\"'<>()[]{}!#%&*+@\\|~^`?$\n";

/// Returns texts on which a matcher of a regular expression of Python or JavaScript may take long, with its flags by
/// letters; the most promising ones first, none for an expression that is not understood. The flag `b` is that of an
/// expression of bytes, which are written as Latin-1.
pub fn pumps(pattern: &str, flags: &str) -> Vec<Pump> {
    let mut known = Flags { plain_classes: true, ..Flags::default() };
    for letter in flags.chars() {
        // What is not known makes no difference here.
        let _ = known.add(letter);
    }
    let Some(hir) = read(&without_references(pattern), known) else { return Vec::new() };
    let (mut repeated, mut taken) = (Vec::new(), Vec::new());
    classes(&hir, false, &mut repeated, &mut taken);
    let mut finder =
        Finder { members: members_with_classes(&repeated), taken, found: Vec::new(), left: Cell::new(STEPS) };
    finder.walk(&hir, &mut Vec::new());
    finder.found.sort_by_key(|pump| pump.promise);
    let mut known = Set::new();
    finder.found.retain(|pump| known.insert((pump.before.clone(), pump.each.clone())));
    finder.found.truncate(MOST);
    if flags.contains('b') {
        let texts = finder.found.iter_mut().flat_map(|pump| [&mut pump.before, &mut pump.each, &mut pump.after]);
        texts.for_each(|text| *text = latin(text));
    }
    finder.found
}

/// Returns the bytes that a text of Latin-1 stands for.
fn latin(text: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(text).chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect()
}

/// Returns the characters that stand for others, and for each the classes of repetitions that have it, as bits.
fn members_with_classes(repeated: &[CharSet]) -> Vec<(char, u64)> {
    let classes = |c: char| {
        repeated.iter().enumerate().filter(|(_, set)| set.contains(c.into())).fold(0, |bits, (at, _)| bits | 1 << at)
    };
    MEMBERS.chars().map(|c| (c, classes(c))).collect()
}

/// Returns a pattern without its references to groups, which take a text that was there before.
fn without_references(pattern: &str) -> String {
    let (mut without, mut rest, mut is_class) = (String::new(), pattern, false);
    while let Some(first) = rest.chars().next() {
        if !is_class && let Some(len) = reference(rest) {
            without.push_str("(?:)");
            rest = &rest[len..];
            continue;
        }
        is_class = match first {
            '[' => true,
            ']' => false,
            _ => is_class,
        };
        let escaped = rest[first.len_utf8()..].chars().next().filter(|_| first == '\\').map_or(0, char::len_utf8);
        let (taken, after) = rest.split_at(first.len_utf8() + escaped);
        without.push_str(taken);
        rest = after;
    }
    without
}

/// Returns the length of the reference that a text begins with.
fn reference(text: &str) -> Option<usize> {
    if let Some(number) = text.strip_prefix('\\').filter(|number| number.starts_with(|c| matches!(c, '1'..='9'))) {
        return Some(1 + number.bytes().take_while(u8::is_ascii_digit).count());
    }
    let (name, end) =
        [("(?P=", ')'), ("\\k<", '>')].iter().find_map(|&(begin, end)| Some((text.strip_prefix(begin)?, end)))?;
    name.find(end).map(|len| text.len() - name.len() + len + 1)
}

/// Adds the classes of repetitions, and all classes, with literals as classes of one character. Of each there are a
/// few, each once.
fn classes(hir: &Hir, is_repeated: bool, repeated: &mut Vec<CharSet>, taken: &mut Vec<CharSet>) {
    let mut add = |set: CharSet| {
        if is_repeated && repeated.len() < CLASSES && !repeated.contains(&set) {
            repeated.push(set.clone());
        }
        if taken.len() < CLASSES && !taken.contains(&set) {
            taken.push(set);
        }
    };
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => String::from_utf8_lossy(&literal.0).chars().for_each(|c| add(set_of(c))),
        HirKind::Class(class) => add(set(class)),
        HirKind::Repetition(repetition) => {
            classes(&repetition.sub, is_repeated || is_long(repetition), repeated, taken);
        }
        HirKind::Capture(capture) => classes(&capture.sub, is_repeated, repeated, taken),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().for_each(|part| classes(part, is_repeated, repeated, taken));
        }
    }
}

fn set_of(c: char) -> CharSet {
    CharSet::single(Unit::Char, c.into())
}

fn is_long(repetition: &Repetition) -> bool {
    repetition.max.is_none_or(|max| max >= ROUNDS)
}

/// Looks for repetitions.
struct Finder {
    /// Characters, and the classes of repetitions that have them.
    members: Vec<(char, u64)>,
    /// All classes.
    taken: Vec<CharSet>,
    found: Vec<Pump>,
    /// Number of parts that may still be looked at: a program chooses its expressions.
    left: Cell<usize>,
}

impl Finder {
    /// Counts a look at a part. Returns false if there were enough.
    fn may_look(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    /// Adds the repetitions of a part, and its shortest text to what is before them.
    fn walk(&mut self, hir: &Hir, before: &mut Vec<u8>) {
        if before.len() > LONGEST || !self.may_look() {
            return;
        }
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => before.extend(&*literal.0),
            HirKind::Class(class) => before.extend(self.member(class)),
            HirKind::Capture(capture) if look_of(capture).is_some() => self.walk(&capture.sub, &mut before.clone()),
            HirKind::Capture(capture) => self.walk(&capture.sub, before),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.walk(part, before)),
            HirKind::Alternation(parts) => {
                parts.iter().for_each(|part| self.walk(part, &mut before.clone()));
                before.extend(self.shortest(hir));
            }
            HirKind::Repetition(repetition) => {
                if is_long(repetition) {
                    self.add(repetition, before);
                }
                self.walk(&repetition.sub, &mut before.clone());
                before.extend(self.shortest(hir));
            }
        }
    }

    fn add(&mut self, repetition: &Repetition, before: &[u8]) {
        let is_ambiguous = self.is_ambiguous(&repetition.sub);
        let after = self.failing(&repetition.sub);
        for (each, classes) in self.rounds(&repetition.sub) {
            if each.is_empty() || each.len() > LONGEST {
                continue;
            }
            let promise = match () {
                () if is_ambiguous => Promise::Ambiguous,
                () if classes > 1 => Promise::Shared,
                () => Promise::Plain,
            };
            self.found.push(Pump { before: before.to_vec(), each, after: after.clone(), promise });
        }
    }

    /// Returns a character that no round begins with, and few other parts have.
    fn failing(&self, round: &Hir) -> Vec<u8> {
        let own = self.first(round).0;
        let count = |c: char| self.taken.iter().filter(|set| set.contains(c.into())).count();
        let best = FAILING.into_iter().min_by_key(|&c| (own.contains(c.into()), count(c)));
        best.map_or_else(Vec::new, |c| c.to_string().into_bytes())
    }

    /// Returns true if one text may be several rounds, or rounds in several ways, as far as the characters say with
    /// which parts begin.
    fn is_ambiguous(&self, round: &Hir) -> bool {
        if !self.may_look() {
            return false;
        }
        match round.kind() {
            HirKind::Empty | HirKind::Look(_) | HirKind::Literal(_) | HirKind::Class(_) => false,
            HirKind::Repetition(repetition) => is_long(repetition) || self.is_ambiguous(&repetition.sub),
            HirKind::Capture(capture) => look_of(capture).is_none() && self.is_ambiguous(&capture.sub),
            HirKind::Concat(parts) => self.goes_on_as_it_repeats(parts),
            HirKind::Alternation(parts) => {
                let mut known = CharSet::empty(Unit::Char);
                let mut is_twice = |part: &Hir| {
                    let first = self.first(part).0;
                    let is_known = !known.intersection(&first).is_empty();
                    known = known.union(&first);
                    is_known
                };
                parts.iter().any(&mut is_twice) || parts.iter().any(|part| self.is_ambiguous(part))
            }
        }
    }

    /// Returns true if a repetition among the parts of a round may be followed by what it takes itself.
    fn goes_on_as_it_repeats(&self, parts: &[Hir]) -> bool {
        parts.iter().enumerate().any(|(at, part)| {
            let (own, _) = self.first(part);
            let mut following = CharSet::empty(Unit::Char);
            for next in parts[at + 1..].iter().chain(&parts[..=at]) {
                let (first, may_be_empty) = self.first(next);
                following = following.union(&first);
                if !may_be_empty || !self.may_look() {
                    break;
                }
            }
            has_long(part) && !own.intersection(&following).is_empty()
        })
    }

    /// Returns texts of a round, and in how many classes of repetitions the character is if it is one.
    fn rounds(&self, round: &Hir) -> Vec<(Vec<u8>, u32)> {
        if !self.may_look() {
            return Vec::new();
        }
        let shortest = || vec![(self.shortest(round), 0)];
        let mut rounds: Vec<(Vec<u8>, u32)> = match round.kind() {
            HirKind::Class(class) => self.members_of(&set(class)),
            HirKind::Capture(capture) if look_of(capture).is_none() => self.rounds(&capture.sub),
            HirKind::Repetition(repetition) => self.rounds(&repetition.sub),
            HirKind::Alternation(parts) => parts.iter().flat_map(|part| self.rounds(part)).collect(),
            HirKind::Concat(parts) => {
                let found = shortest();
                // Where all parts may be left out, a round of each is one.
                if found[0].0.is_empty() { parts.iter().flat_map(|part| self.rounds(part)).collect() } else { found }
            }
            HirKind::Empty | HirKind::Look(_) | HirKind::Literal(_) | HirKind::Capture(_) => shortest(),
        };
        rounds.sort_by_key(|&(_, classes)| Reverse(classes));
        rounds.truncate(MOST_ROUNDS);
        rounds.iter_mut().for_each(|(text, classes)| *classes = (*classes).max(self.classes_with(text)));
        rounds
    }

    /// Returns the number of classes of repetitions that have the only character of a text.
    fn classes_with(&self, text: &[u8]) -> u32 {
        let mut characters = std::str::from_utf8(text).unwrap_or_default().chars();
        match (characters.next(), characters.next()) {
            (Some(only), None) => {
                self.members.iter().find(|&&(c, _)| c == only).map_or(0, |(_, classes)| classes.count_ones())
            }
            _ => 0,
        }
    }

    /// Returns one character for each set of classes of repetitions that have members of this class, and their number.
    fn members_of(&self, class: &CharSet) -> Vec<(Vec<u8>, u32)> {
        let mut known: Vec<u64> = Vec::new();
        let mut members = Vec::new();
        for &(c, classes) in self.members.iter().filter(|(c, _)| class.contains((*c).into())) {
            if !known.contains(&classes) {
                members.push((c.to_string().into_bytes(), classes.count_ones()));
                known.push(classes);
            }
        }
        if members.is_empty() {
            members.extend(class.iter().next().map(|member| (class.encode(member).as_ref().to_vec(), 1)));
        }
        members
    }

    /// Returns the characters that a part may begin with, and whether it may be empty.
    fn first(&self, hir: &Hir) -> (CharSet, bool) {
        let none = || CharSet::empty(Unit::Char);
        if !self.may_look() {
            return (none(), false);
        }
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => (none(), true),
            HirKind::Class(class) => {
                (Some(set(class)).filter(|set| set.unit() == Unit::Char).unwrap_or_else(none), false)
            }
            HirKind::Literal(literal) => {
                (String::from_utf8_lossy(&literal.0).chars().next().map_or_else(none, set_of), false)
            }
            HirKind::Repetition(repetition) => {
                let (first, may_be_empty) = self.first(&repetition.sub);
                (first, may_be_empty || repetition.min == 0)
            }
            HirKind::Capture(capture) if look_of(capture).is_some() => (none(), true),
            HirKind::Capture(capture) => self.first(&capture.sub),
            HirKind::Concat(parts) => {
                let mut all = none();
                for part in parts {
                    let (first, may_be_empty) = self.first(part);
                    all = all.union(&first);
                    if !may_be_empty {
                        return (all, false);
                    }
                }
                (all, true)
            }
            HirKind::Alternation(parts) => parts
                .iter()
                .map(|part| self.first(part))
                .fold((none(), false), |(all, is_empty), (first, may_be_empty)| {
                    (all.union(&first), is_empty || may_be_empty)
                }),
        }
    }

    fn member(&self, class: &Class) -> Vec<u8> {
        self.members_of(&set(class)).into_iter().next().map_or_else(Vec::new, |(text, _)| text)
    }

    /// Returns a shortest text of a part; lookarounds have none. Of a long text it is the beginning, which is longer
    /// than [`LONGEST`].
    fn shortest(&self, hir: &Hir) -> Vec<u8> {
        if !self.may_look() {
            return Vec::new();
        }
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Vec::new(),
            HirKind::Literal(literal) => literal.0.to_vec(),
            HirKind::Class(class) => self.member(class),
            HirKind::Repetition(Repetition { min: 0, .. }) => Vec::new(),
            HirKind::Repetition(repetition) => {
                let round = self.shortest(&repetition.sub);
                round.repeat((repetition.min as usize).min(LONGEST / round.len().max(1) + 1))
            }
            HirKind::Capture(capture) if look_of(capture).is_some() => Vec::new(),
            HirKind::Capture(capture) => self.shortest(&capture.sub),
            HirKind::Concat(parts) => {
                let mut text = Vec::new();
                for part in parts {
                    if text.len() > LONGEST {
                        break;
                    }
                    text.extend(self.shortest(part));
                }
                text
            }
            HirKind::Alternation(parts) => {
                parts.iter().map(|part| self.shortest(part)).min_by_key(Vec::len).unwrap_or_default()
            }
        }
    }
}

/// Returns true if a part is a long repetition, or ends with one.
fn has_long(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Repetition(repetition) => is_long(repetition),
        HirKind::Capture(capture) => look_of(capture).is_none() && has_long(&capture.sub),
        HirKind::Empty
        | HirKind::Look(_)
        | HirKind::Literal(_)
        | HirKind::Class(_)
        | HirKind::Concat(_)
        | HirKind::Alternation(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pattern: &str, flags: &str) -> Vec<String> {
        let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
        let found = pumps(pattern, flags);
        let show = |pump: &Pump| {
            format!("{:?} {}({}){}", pump.promise, text(&pump.before), text(&pump.each), text(&pump.after))
        };
        found.iter().map(show).collect()
    }

    #[test]
    fn repetitions_are_reached_and_fail_behind() {
        assert_eq!(shown(r"x=\s+$", ""), ["Plain x=( )\\x01"]);
        assert_eq!(shown(r"^(?:a+)+$", ""), ["Ambiguous (a)\\x01"]);
        assert_eq!(shown(r"(a|b|ab)*c", "")[..2], ["Ambiguous (a)\\x01", "Ambiguous (b)\\x01"]);
        // What both repetitions take comes first.
        assert_eq!(shown(r"([0-9]*)([a-z0-9]*)$", "")[0], "Shared (0)\\x01");
        assert_eq!(shown(r#"url\(\s*(["']).*\1"#, "")[0], "Shared url(( )\\x01");
        assert_eq!(shown(" a  + # comment\n b", "x"), ["Plain (a)\\x01"]);
        // A separator makes rounds that are read in one way.
        assert_eq!(shown(r"(?:,\s*\d+)*$", "")[0], "Plain (,0)\\x01");
        assert_eq!(shown(r"(?:\s*\w*)*=", "")[0], "Ambiguous ( )\\x01");
        assert_eq!(shown("\u{ff}+$", "b"), ["Plain (\\xff)\\x01"]);
        // What is too far away is left out.
        assert_eq!(shown("a{100}b*", ""), ["Plain (a)\\x01"]);
        assert_eq!(shown(r"(?<=x)y{2,}(?!\d+z)", "")[..2], ["Plain (y)\\x01", "Plain yy(0)\\x01"]);
    }

    #[test]
    fn expressions_that_are_not_understood_have_none() {
        for pattern in ["(", "a{3", "[", "(?P<x", "", "abc", "a{1,3}"] {
            assert!(pumps(pattern, "").is_empty(), "{pattern}");
        }
    }

    #[test]
    fn what_is_found_is_bounded() {
        let wide: String = (0..40).map(|number| format!("(?:a{number}+|")).collect::<String>() + &")+".repeat(40);
        let classes: String =
            (0..500).map(|number| format!("[a{}]+|", char::from_u32(200 + number).unwrap())).collect();
        let nested = format!("{}{classes}a{}", "(?:".repeat(60), ")+".repeat(60));
        let letters = "\\pL+".repeat(800);
        let many: String = (0..5000).map(|number| format!("a{number}+")).collect();
        let long = format!("{}+x*", "a{60}".repeat(1000));
        for pattern in [wide, nested, letters, many, long, "(((((((a*)*)*)*)*)*)*)*".into()] {
            let found = pumps(&pattern, "i");
            assert!(!found.is_empty(), "{pattern}");
            assert!(found.len() <= MOST);
            assert!(found.iter().all(|pump| pump.each.len() <= LONGEST && pump.before.len() <= 4 * LONGEST));
        }
    }
}
