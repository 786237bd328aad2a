//! Whether the order of a choice's alternatives changes what it matches. A text of a later alternative is lost if an earlier
//! one matches its beginning and not all of it: that one wins, and what is left over is not matched.
//!
//! Expressions are read as regular languages for this: what recurs or is not known may be any text.

use std::collections::{BTreeMap, BTreeSet};

use super::chars::Chars;
use super::parser::{Kind, Peg, Rule};
use crate::charset::{CharSet, Unit};
use crate::formats::pattern;
use crate::formats::pattern::terms::{ALL, EMPTY, Id, MAX_LETTERS, NEVER, Terms};

/// Rules are followed this deep, ...
const MAX_DEPTH: u32 = 16;
/// ... for a choice this many expressions are looked at, ...
const MAX_STEPS: usize = 1 << 14;
/// ... of at most this many different sets of characters, ...
const MAX_SETS: usize = 1 << 9;
/// ... and for all choices of a grammar this many terms are made. Beyond, order is taken to matter.
const MAX_TERMS: usize = 1 << 22;
/// Repetitions with greater bounds are read as any number of rounds.
const MAX_ROUNDS: u32 = 16;

/// Looks at the choices of a grammar.
pub(super) struct Order<'r> {
    rules: BTreeMap<&'r str, &'r Rule>,
    terms_left: usize,
}

/// One choice.
struct Choice<'o, 'r> {
    rules: &'o BTreeMap<&'r str, &'r Rule>,
    chars: &'o mut Chars<'r>,
    letters: Vec<CharSet>,
    terms: Terms,
    /// The rules that are being followed.
    open: BTreeSet<&'r str>,
    /// The terms of rules, with and without blanks between parts.
    known: BTreeMap<(&'r str, bool), Id>,
    steps: usize,
    /// What stands between parts, but for atomic rules.
    blank: Id,
}

impl<'r> Order<'r> {
    pub(super) fn new(rules: &BTreeMap<&'r str, &'r Rule>) -> Order<'r> {
        Order { rules: rules.clone(), terms_left: MAX_TERMS }
    }

    /// Whether a text of one of these alternatives is not matched because of one before it.
    pub(super) fn matters(&mut self, parts: &'r [Peg], is_atomic: bool, chars: &mut Chars<'r>) -> bool {
        let mut choice = Choice {
            rules: &self.rules,
            chars,
            letters: Vec::new(),
            terms: Terms::new(),
            open: BTreeSet::new(),
            known: BTreeMap::new(),
            steps: 0,
            blank: EMPTY,
        };
        let found = if self.terms_left == 0 { None } else { choice.matters(parts, is_atomic) };
        self.terms_left = self.terms_left.saturating_sub(choice.terms.len() + choice.steps);
        found.unwrap_or(true)
    }
}

impl<'r> Choice<'_, 'r> {
    /// `None` if that takes too long to tell.
    fn matters(&mut self, parts: &'r [Peg], is_atomic: bool) -> Option<bool> {
        let mut sets = BTreeSet::new();
        for part in parts {
            self.collect(part, MAX_DEPTH, &mut sets)?;
        }
        for name in ["WHITESPACE", "COMMENT"] {
            if let Some(rule) = self.rules.get(name).copied() {
                self.collect(&rule.body, MAX_DEPTH, &mut sets)?;
            }
        }
        if sets.len() > MAX_SETS {
            return None;
        }
        self.open.clear();
        self.letters = pattern::letters(&sets);
        if self.letters.len() > MAX_LETTERS {
            return None;
        }
        let any = self.terms.one(u128::MAX >> (MAX_LETTERS - self.letters.len()));
        let any_more = self.terms.star(any);
        let more = self.terms.seq(any, any_more);
        self.blank = self.blanks()?;
        self.known.clear();
        let mut earlier = NEVER;
        for part in parts {
            let texts = self.term(part, is_atomic, MAX_DEPTH)?;
            let begun = self.terms.seq(earlier, more);
            let whole = self.terms.not(earlier);
            let lost = self.terms.and([texts, begun, whole]);
            let letters = u32::try_from(self.letters.len()).ok()?;
            if self.terms.automaton(lost, letters)?.smallest().is_some() {
                return Some(true);
            }
            earlier = self.terms.or([earlier, texts]);
        }
        Some(false)
    }

    fn blanks(&mut self) -> Option<Id> {
        let mut options = Vec::new();
        for name in ["WHITESPACE", "COMMENT"] {
            if let Some(rule) = self.rules.get(name).copied() {
                options.push(self.term(&rule.body, true, MAX_DEPTH)?);
            }
        }
        let one = self.terms.or(options);
        Some(self.terms.star(one))
    }

    fn step(&mut self) -> Option<()> {
        self.steps += 1;
        (self.steps <= MAX_STEPS).then_some(())
    }

    /// The characters of a text without case, where that is free.
    fn characters(text: &str, free: bool) -> impl Iterator<Item = CharSet> {
        text.chars().map(move |c| {
            let both = [c, c.to_ascii_lowercase(), c.to_ascii_uppercase()];
            CharSet::new(Unit::Char, both[..if free { 3 } else { 1 }].iter().map(|&c| (c.into(), c.into())))
        })
    }

    /// Collects the sets of characters of an expression.
    fn collect(&mut self, peg: &'r Peg, depth: u32, sets: &mut BTreeSet<Vec<(u32, u32)>>) -> Option<()> {
        self.step()?;
        let mut add = |set: &CharSet| {
            sets.insert(set.ranges().to_vec());
        };
        match &peg.kind {
            Kind::Text(text, free) => Self::characters(text, *free).for_each(|set| add(&set)),
            Kind::Range(low, high) => add(&CharSet::new(Unit::Char, [(u32::from(*low), u32::from(*high))])),
            Kind::Name(name) => match self.rules.get_key_value(name.as_str()) {
                Some((&name, rule)) => {
                    let body = &rule.body;
                    if depth > 0 && self.open.insert(name) {
                        self.collect(body, depth - 1, sets)?;
                    }
                }
                None if name == "NEWLINE" => {
                    ['\n', '\r'].into_iter().for_each(|c| add(&CharSet::single(Unit::Char, c.into())));
                }
                None => self.chars.builtin(name).iter().for_each(add),
            },
            Kind::Seq(parts) | Kind::Choice(parts) => {
                parts.iter().try_for_each(|part| self.collect(part, depth, sets))?;
            }
            Kind::Repeat(inside, ..) | Kind::Not(inside) | Kind::And(inside) | Kind::Push(inside) => {
                self.collect(inside, depth, sets)?;
            }
            Kind::Pushed => {}
        }
        Some(())
    }

    fn one(&mut self, set: &CharSet) -> Id {
        let within = |letter: &CharSet| letter.ranges().first().is_some_and(|&(low, _)| set.contains(low));
        let places = self.letters.iter().enumerate().filter(|(_, letter)| within(letter));
        let letters = places.fold(0, |letters, (place, _)| letters | 1 << place);
        self.terms.one(letters)
    }

    fn term(&mut self, peg: &'r Peg, is_atomic: bool, depth: u32) -> Option<Id> {
        self.step()?;
        let blank = if is_atomic { EMPTY } else { self.blank };
        Some(match &peg.kind {
            Kind::Text(text, free) => {
                let items: Vec<Id> = Self::characters(text, *free).map(|set| self.one(&set)).collect();
                self.terms.all_of(&items)
            }
            Kind::Range(low, high) => self.one(&CharSet::new(Unit::Char, [(u32::from(*low), u32::from(*high))])),
            Kind::Name(name) => match self.rules.get_key_value(name.as_str()) {
                Some((&name, &rule)) => {
                    let is_atomic = match rule.modifier {
                        Some('@' | '$') => true,
                        Some('!') => false,
                        _ => is_atomic || matches!(name, "WHITESPACE" | "COMMENT"),
                    };
                    if let Some(&known) = self.known.get(&(name, is_atomic)) {
                        return Some(known);
                    }
                    if depth == 0 || !self.open.insert(name) {
                        return Some(ALL);
                    }
                    let term = self.term(&rule.body, is_atomic, depth - 1)?;
                    self.open.remove(name);
                    self.known.insert((name, is_atomic), term);
                    term
                }
                None if name == "SOI" || name == "EOI" => EMPTY,
                None if name == "NEWLINE" => {
                    let [feed, back] = ['\n', '\r'].map(|c| self.one(&CharSet::single(Unit::Char, c.into())));
                    let both = self.terms.seq(back, feed);
                    self.terms.or([feed, back, both])
                }
                None => match self.chars.builtin(name) {
                    Some(set) => self.one(&set),
                    None => ALL,
                },
            },
            Kind::Seq(parts) => {
                let mut whole = EMPTY;
                for (number, part) in parts.iter().enumerate().rev() {
                    let gap = if number + 1 == parts.len() { EMPTY } else { blank };
                    let behind = self.terms.seq(gap, whole);
                    whole = match &part.kind {
                        Kind::Not(inside) => match self.exact(inside, is_atomic, depth)? {
                            Some(inside) => {
                                let begun = self.terms.seq(inside, ALL);
                                let others = self.terms.not(begun);
                                self.terms.and([behind, others])
                            }
                            None => behind,
                        },
                        Kind::And(_) => behind,
                        _ => {
                            let part = self.term(part, is_atomic, depth)?;
                            self.terms.seq(part, behind)
                        }
                    };
                }
                whole
            }
            Kind::Choice(parts) => {
                let parts: Option<Vec<Id>> = parts.iter().map(|part| self.term(part, is_atomic, depth)).collect();
                self.terms.or(parts?)
            }
            Kind::Repeat(inside, min, max) => {
                let round = self.term(inside, is_atomic, depth)?;
                let next = self.terms.seq(blank, round);
                let least = (*min).min(MAX_ROUNDS);
                let mut rest = match max.filter(|max| *max <= MAX_ROUNDS) {
                    None => self.terms.star(next),
                    Some(max) => (least.max(1)..max).fold(EMPTY, |rest, _| {
                        let more = self.terms.seq(next, rest);
                        self.terms.or([EMPTY, more])
                    }),
                };
                if *max == Some(0) {
                    return Some(EMPTY);
                }
                for _ in 1..least {
                    rest = self.terms.seq(next, rest);
                }
                let all = self.terms.seq(round, rest);
                if *min == 0 { self.terms.or([EMPTY, all]) } else { all }
            }
            Kind::Push(inside) => self.term(inside, is_atomic, depth)?,
            Kind::Not(_) | Kind::And(_) => EMPTY,
            Kind::Pushed => ALL,
        })
    }

    /// The term of what a predicate excludes, `None` within if it is not known exactly.
    fn exact(&mut self, peg: &'r Peg, is_atomic: bool, depth: u32) -> Option<Option<Id>> {
        Some(if self.is_exact(peg, depth)? { Some(self.term(peg, is_atomic, depth)?) } else { None })
    }

    /// Whether an expression refers to nothing that recurs, is not known or looks ahead itself.
    fn is_exact(&mut self, peg: &'r Peg, depth: u32) -> Option<bool> {
        self.step()?;
        Some(match &peg.kind {
            Kind::Text(..) | Kind::Range(..) => true,
            Kind::Name(name) => match self.rules.get_key_value(name.as_str()) {
                Some((&name, &rule)) => {
                    if depth == 0 || !self.open.insert(name) {
                        return Some(false);
                    }
                    let exact = self.is_exact(&rule.body, depth - 1);
                    self.open.remove(name);
                    exact?
                }
                // The end of the text is no text.
                None => name == "NEWLINE" || self.chars.builtin(name).is_some(),
            },
            Kind::Seq(parts) | Kind::Choice(parts) => {
                for part in parts {
                    if !self.is_exact(part, depth)? {
                        return Some(false);
                    }
                }
                true
            }
            Kind::Repeat(inside, _, max) => max.is_none_or(|max| max <= MAX_ROUNDS) && self.is_exact(inside, depth)?,
            Kind::Push(inside) => self.is_exact(inside, depth)?,
            Kind::Not(_) | Kind::And(_) | Kind::Pushed => false,
        })
    }
}
