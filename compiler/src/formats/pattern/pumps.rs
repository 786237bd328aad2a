//! Texts on which a matcher that goes back may take long: those that repeat what a repetition of its regular expression
//! takes, and then fail.
//!
//! Nothing is proved of them. They are what people try who attack an expression by hand: enough before the repetition
//! to get there, a round of it many times, and a character behind that no part of the expression takes.

use std::cmp::Reverse;
use std::collections::HashSet;

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use super::{Flags, look_of, read, set};
use crate::charset::CharSet;

/// A text that repeats a round of a repetition of a regular expression.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// What may make a matcher take long, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
/// The most pumps of an expression, rounds of a repetition, and bytes of a text.
const MOST: usize = 64;
const MOST_ROUNDS: usize = 6;
const LONGEST: usize = 64;
/// Characters to fail with, those that are rarest in expressions first.
const FAILING: [char; 10] = ['\u{1}', '!', '\n', '\\', '"', '<', ';', 'X', ' ', '0'];
/// Characters that stand for those of a class: the ones that other classes have, too, come first.
const MEMBERS: &str = "a0 A_-.\t,;:=/\"'<>()[]{}!#%&*+@\\|~^`?$\n";

/// Returns texts on which a matcher of a regular expression of Python or JavaScript may take long, with its flags by
/// letters; the most promising ones first, none for an expression that is not understood.
pub fn pumps(pattern: &str, flags: &str) -> Vec<Pump> {
    let mut known = Flags { plain_classes: true, ..Flags::default() };
    // What is not known makes no difference here.
    for letter in flags.chars() {
        let _ = known.add(letter);
    }
    let Some(hir) = read(&without_references(pattern), known) else { return Vec::new() };
    let (mut repeated, mut taken) = (Vec::new(), Vec::new());
    classes(&hir, false, &mut repeated, &mut taken);
    let mut finder = Finder { repeated, taken, found: Vec::new() };
    finder.walk(&hir, &mut Vec::new());
    finder.found.sort_by_key(|pump| pump.promise);
    let mut known = HashSet::new();
    finder.found.retain(|pump| known.insert((pump.before.clone(), pump.each.clone())));
    finder.found.truncate(MOST);
    finder.found
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

/// Adds the classes of repetitions, and all classes, with literals as classes of one character.
fn classes(hir: &Hir, is_repeated: bool, repeated: &mut Vec<CharSet>, taken: &mut Vec<CharSet>) {
    let mut add = |set: CharSet| {
        if is_repeated && !repeated.contains(&set) {
            repeated.push(set.clone());
        }
        taken.push(set);
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
    CharSet::single(crate::charset::Unit::Char, c.into())
}

fn is_long(repetition: &Repetition) -> bool {
    repetition.max.is_none_or(|max| max >= ROUNDS)
}

/// Looks for repetitions.
struct Finder {
    /// Classes in repetitions, each once.
    repeated: Vec<CharSet>,
    /// All classes.
    taken: Vec<CharSet>,
    found: Vec<Pump>,
}

impl Finder {
    /// Adds the repetitions of a part, and its shortest text to what is before them.
    fn walk(&mut self, hir: &Hir, before: &mut Vec<u8>) {
        if self.found.len() >= MOST * MOST || before.len() > LONGEST {
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

    /// Returns a character that no round has, and few other parts.
    fn failing(&self, round: &Hir) -> Vec<u8> {
        let mut own = Vec::new();
        classes(round, true, &mut Vec::new(), &mut own);
        let count = |sets: &[CharSet], c: char| sets.iter().filter(|set| set.contains(c.into())).count();
        let best = FAILING.into_iter().min_by_key(|&c| (count(&own, c), count(&self.taken, c)));
        best.map_or_else(Vec::new, |c| c.to_string().into_bytes())
    }

    /// Returns true if one text may be several rounds, or rounds in several ways, as far as its classes say.
    fn is_ambiguous(&self, round: &Hir) -> bool {
        match round.kind() {
            HirKind::Empty | HirKind::Look(_) | HirKind::Literal(_) | HirKind::Class(_) => false,
            HirKind::Repetition(repetition) => is_long(repetition) || self.is_ambiguous(&repetition.sub),
            HirKind::Capture(capture) => look_of(capture).is_none() && self.is_ambiguous(&capture.sub),
            HirKind::Concat(parts) => parts.iter().any(|part| self.is_ambiguous(part)),
            HirKind::Alternation(parts) => {
                let begin: Vec<Vec<u8>> = parts.iter().flat_map(|part| self.members(part)).collect();
                let is_twice = |one: &Vec<u8>| begin.iter().filter(|other| *other == one).count() > 1;
                begin.iter().any(is_twice) || parts.iter().any(|part| self.is_ambiguous(part))
            }
        }
    }

    /// Returns texts of a round, and in how many classes of repetitions the character is if it is one.
    fn rounds(&self, round: &Hir) -> Vec<(Vec<u8>, usize)> {
        let mut rounds: Vec<(Vec<u8>, usize)> = match round.kind() {
            HirKind::Class(class) => self.members_of(&set(class)),
            HirKind::Capture(capture) if look_of(capture).is_none() => return self.rounds(&capture.sub),
            HirKind::Repetition(repetition) => self.rounds(&repetition.sub),
            HirKind::Alternation(parts) => parts.iter().flat_map(|part| self.rounds(part)).collect(),
            HirKind::Concat(_) | HirKind::Empty | HirKind::Look(_) | HirKind::Literal(_) | HirKind::Capture(_) => {
                vec![(self.shortest(round), 0)]
            }
        };
        rounds.sort_by_key(|&(_, classes)| Reverse(classes));
        rounds.truncate(MOST_ROUNDS);
        rounds.iter_mut().for_each(|(text, classes)| *classes = (*classes).max(self.classes_with(text)));
        rounds
    }

    /// Returns the number of classes of repetitions that have the only character of a text.
    fn classes_with(&self, text: &[u8]) -> usize {
        let mut characters = std::str::from_utf8(text).unwrap_or_default().chars();
        match (characters.next(), characters.next()) {
            (Some(c), None) => self.repeated.iter().filter(|set| set.contains(c.into())).count(),
            _ => 0,
        }
    }

    /// Returns one character for each set of classes of repetitions that have members of this class, and their number.
    fn members_of(&self, class: &CharSet) -> Vec<(Vec<u8>, usize)> {
        let mut known: Vec<Vec<bool>> = Vec::new();
        let mut members = Vec::new();
        for c in MEMBERS.chars().filter(|&c| class.contains(c.into())) {
            let classes: Vec<bool> = self.repeated.iter().map(|set| set.contains(c.into())).collect();
            if !known.contains(&classes) {
                members.push((c.to_string().into_bytes(), classes.iter().filter(|&&has| has).count()));
                known.push(classes);
            }
        }
        if members.is_empty() {
            members.extend(class.iter().next().map(|member| (class.encode(member).as_ref().to_vec(), 1)));
        }
        members
    }

    /// Returns the characters that a part may begin with.
    fn members(&self, hir: &Hir) -> Vec<Vec<u8>> {
        match hir.kind() {
            HirKind::Class(class) => self.members_of(&set(class)).into_iter().map(|(text, _)| text).collect(),
            HirKind::Literal(literal) => {
                String::from_utf8_lossy(&literal.0).chars().take(1).map(|c| c.to_string().into_bytes()).collect()
            }
            HirKind::Repetition(repetition) => self.members(&repetition.sub),
            HirKind::Capture(capture) => self.members(&capture.sub),
            HirKind::Concat(parts) => parts.first().map_or_else(Vec::new, |first| self.members(first)),
            HirKind::Alternation(parts) => parts.iter().flat_map(|part| self.members(part)).collect(),
            HirKind::Empty | HirKind::Look(_) => Vec::new(),
        }
    }

    fn member(&self, class: &Class) -> Vec<u8> {
        self.members_of(&set(class)).into_iter().next().map_or_else(Vec::new, |(text, _)| text)
    }

    /// Returns a shortest text of a part; lookarounds have none.
    fn shortest(&self, hir: &Hir) -> Vec<u8> {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Vec::new(),
            HirKind::Literal(literal) => literal.0.to_vec(),
            HirKind::Class(class) => self.member(class),
            HirKind::Repetition(repetition) => {
                let rounds = (repetition.min as usize).min(LONGEST);
                let round = if rounds == 0 { Vec::new() } else { self.shortest(&repetition.sub) };
                round.repeat(rounds.min(LONGEST / round.len().max(1) + 1))
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
        let wide: String = (0..2000).map(|number| format!("(a{number}+|")).collect::<String>() + &")".repeat(2000);
        let many: String = (0..5000).map(|number| format!("a{number}+")).collect();
        let long = format!("{}+x*", "a{60}".repeat(1000));
        for pattern in [wide, many, long, "(((((((a*)*)*)*)*)*)*)*".into(), "(?:a{1000}){1000}b*".into()] {
            let found = pumps(&pattern, "");
            assert!(found.len() <= MOST);
            assert!(found.iter().all(|pump| pump.each.len() <= LONGEST && pump.before.len() <= 4 * LONGEST));
        }
    }
}
