//! Finds out whether the order of a choice's alternatives changes the texts that it matches. A text of a later
//! alternative is lost
//!
//! - if an earlier one matches its beginning and not all of it: the earlier one wins, and the rest is not matched;
//! - if an earlier one matches all of it and the beginning of what follows the choice, which is then missing there.
//!
//! Expressions are read as regular languages for this. A recursive or unknown expression has two: all texts that it may
//! have, and the texts that it certainly has. In case of doubt, order is taken to matter.

use super::chars::Chars;
use super::follow::{Follow, Next};
use super::tree::{Kind, Peg, Rule};
use crate::charset::{CharSet, Unit};
use crate::formats::pattern;
use crate::formats::pattern::terms::{ALL, EMPTY, Id, Letters, MAX_LETTERS, NEVER, Terms};
use crate::ordered::{Map, Set};

/// The depth to which rules are followed.
const MAX_DEPTH: u32 = 16;
/// The depth to which the rules after a choice are followed.
const MAX_DEPTH_AFTER: u32 = 3;
/// The number of sequences and repetitions that are followed after a choice.
const MAX_AFTER: usize = 16;
/// The number of expressions that are examined for a choice.
const MAX_STEPS: usize = 1 << 14;
/// The number of different sets of characters in a choice.
const MAX_SETS: usize = 1 << 9;
/// The number of terms for all choices of a grammar, including comparisons of ranges. Beyond these limits, order is
/// taken to matter.
const MAX_TERMS: usize = 1 << 22;
/// The sets of characters after a choice make letters of their own only if there are at most this many sets in all.
const MAX_SETS_AFTER: usize = 32;
/// Repetitions with greater bounds are read as unbounded.
const MAX_ROUNDS: u32 = 16;
/// The first characters of alternatives are compared in choices of at most this many alternatives.
const MAX_BEGINNINGS: usize = 1 << 6;
/// The common beginnings of alternatives are compared in choices of at most this many alternatives.
const MAX_COMPARED: usize = 1 << 9;

/// Examines the choices of a grammar.
pub(in crate::formats) struct Order<'r> {
    rules: Map<&'r str, &'r Rule>,
    /// The names of the rules between parts.
    blanks: &'static [&'static str],
    follow: Follow<'r>,
    terms_left: usize,
}

/// Bounds on the texts of an expression: it has all texts of `least`, and only texts of `most`.
#[derive(Clone, Copy)]
struct Texts {
    most: Id,
    least: Id,
}

impl Texts {
    /// Returns bounds that are both the same language.
    fn exactly(id: Id) -> Texts {
        Texts { most: id, least: id }
    }
}

/// One choice.
struct Choice<'o, 'r> {
    rules: &'o Map<&'r str, &'r Rule>,
    blanks: &'static [&'static str],
    follow: &'o mut Follow<'r>,
    chars: &'o mut Chars<'r>,
    /// The sets of characters of the choice, and the classes of characters that are in the same sets.
    sets: Set<Vec<(u32, u32)>>,
    letters: Vec<CharSet>,
    terms: Terms,
    /// The rules that are being followed.
    open: Set<&'r str>,
    /// The texts of rules, with and without blanks between parts. Some were computed while another rule was not
    /// followed further. They can be used too, because both bounds still hold.
    known: Map<(&'r str, bool), Texts>,
    steps: usize,
    /// The work of comparing sets of characters so far, and its limit.
    work: usize,
    work_left: usize,
    /// The text between parts, except in atomic rules.
    blank: Texts,
}

impl<'r> Order<'r> {
    pub(in crate::formats) fn new(rules: &Map<&'r str, &'r Rule>, blanks: &'static [&'static str]) -> Order<'r> {
        Order { rules: rules.clone(), blanks, follow: Follow::new(rules, blanks), terms_left: MAX_TERMS }
    }

    /// Returns true if a text of one of these alternatives is not matched because of an earlier alternative. In an
    /// atomic rule nothing stands between parts.
    pub(in crate::formats) fn matters(&mut self, parts: &'r [Peg], is_atomic: bool, chars: &mut Chars<'r>) -> bool {
        let mut choice = Choice {
            rules: &self.rules,
            blanks: self.blanks,
            follow: &mut self.follow,
            chars,
            sets: Set::new(),
            letters: Vec::new(),
            terms: Terms::new(),
            open: Set::new(),
            known: Map::new(),
            steps: 0,
            work: 0,
            work_left: self.terms_left,
            blank: Texts::exactly(EMPTY),
        };
        if choice.begin_apart(parts) {
            return false;
        }
        let found = if self.terms_left == 0 { None } else { choice.matters(parts, is_atomic) };
        self.terms_left = self.terms_left.saturating_sub(choice.terms.len() + choice.steps + choice.work);
        found.unwrap_or(true)
    }
}

/// Returns true if two expressions are written the same.
fn are_alike(one: &Peg, other: &Peg) -> bool {
    let all = |one: &[Peg], other: &[Peg]| {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| are_alike(one, other))
    };
    match (&one.kind, &other.kind) {
        (Kind::Text(one, free), Kind::Text(other, free_too)) => one == other && free == free_too,
        (Kind::Range(low, high), Kind::Range(low_too, high_too)) => low == low_too && high == high_too,
        (Kind::Class(one), Kind::Class(other)) => one == other,
        (Kind::Name(one), Kind::Name(other)) => one == other,
        (Kind::Pushed, Kind::Pushed) => true,
        (Kind::Seq(one), Kind::Seq(other)) | (Kind::Choice(one), Kind::Choice(other)) => all(one, other),
        (Kind::Repeat(one, min, max), Kind::Repeat(other, min_too, max_too)) => {
            min == min_too && max == max_too && are_alike(one, other)
        }
        (Kind::Push(one), Kind::Push(other))
        | (Kind::Not(one), Kind::Not(other))
        | (Kind::And(one), Kind::And(other)) => are_alike(one, other),
        _ => false,
    }
}

impl<'r> Choice<'_, 'r> {
    /// Returns true if texts of different alternatives never begin with the same character, apart from common first
    /// parts. Then at most one alternative fits.
    fn begin_apart(&mut self, parts: &'r [Peg]) -> bool {
        if parts.len() > MAX_BEGINNINGS {
            return false;
        }
        (1..parts.len()).all(|number| {
            self.earlier(parts, number).into_iter().all(|(shared, places)| {
                let mut first = |part: &'r Peg| self.follow.of_parts(&part.parts()[shared..], self.chars);
                let (later, is_empty) = first(&parts[number]);
                !is_empty
                    && places.iter().all(|&place| {
                        let (earlier, is_empty) = first(&parts[place]);
                        !is_empty && earlier.intersection(&later).is_empty()
                    })
            })
        })
    }

    /// Says whether the order matters. `None` if the answer takes too long.
    fn matters(&mut self, parts: &'r [Peg], is_atomic: bool) -> Option<bool> {
        let mut sets = Set::new();
        for part in parts {
            self.collect(part, MAX_DEPTH, &mut sets)?;
        }
        for name in self.blanks {
            if let Some(rule) = self.rules.get(name).copied() {
                self.collect(&rule.body, MAX_DEPTH, &mut sets)?;
            }
        }
        if sets.len() > MAX_SETS {
            return None;
        }
        self.open.clear();
        self.work(2 * sets.iter().map(Vec::len).sum::<usize>() * sets.len())?;
        self.letters = pattern::letters(&sets);
        // The sets of the following text give a more exact answer, if they are few.
        let mut wide = sets.clone();
        self.collect_after(parts, &mut wide)?;
        self.open.clear();
        if wide.len() <= MAX_SETS_AFTER {
            self.work(2 * wide.iter().map(Vec::len).sum::<usize>() * wide.len())?;
            let letters = pattern::letters(&wide);
            if letters.len() + 2 <= MAX_LETTERS {
                (self.letters, sets) = (letters, wide);
            }
        }
        self.sets = sets;
        if self.letters.len() + 2 > MAX_LETTERS {
            return None;
        }
        self.blank = self.blanks()?;
        self.known.clear();
        let whole: Option<Vec<Texts>> = parts.iter().map(|part| self.texts(part, is_atomic, MAX_DEPTH)).collect();
        let whole = whole?;
        let (after, beyond) = self.after(parts, is_atomic)?;
        for (number, part) in parts.iter().enumerate().skip(1) {
            for (shared, places) in self.earlier(parts, number) {
                let (later, earlier) = if shared == 0 {
                    let most = self.terms.or(places.iter().map(|&place| whole[place].most));
                    // A text that another alternative matches as a whole is not lost.
                    let least = self.terms.or(whole[..number].iter().map(|texts| texts.least));
                    (whole[number], Texts { most, least })
                } else {
                    let later = self.rest(part, shared, is_atomic)?;
                    let earlier: Option<Vec<Texts>> =
                        places.iter().map(|&place| self.rest(&parts[place], shared, is_atomic)).collect();
                    (later, self.any_of(&earlier?))
                };
                if self.is_cut_short(later, earlier)? || self.takes_too_much(later, earlier, after, beyond)? {
                    return Some(true);
                }
            }
        }
        Some(false)
    }

    /// Collects the sets of characters of the text after the choice in its rule.
    fn collect_after(&mut self, parts: &'r [Peg], sets: &mut Set<Vec<(u32, u32)>>) -> Option<()> {
        for next in self.follow.after(parts, MAX_AFTER) {
            match next {
                Next::Parts(parts) => parts.iter().try_for_each(|part| self.collect(part, MAX_DEPTH_AFTER, sets))?,
                Next::Rounds(inside, _) => self.collect(inside, MAX_DEPTH_AFTER, sets)?,
                Next::End(_) => {}
            }
        }
        Some(())
    }

    /// Returns the numbers of the alternatives before this one, by the number of first parts that they have in common
    /// with it. Common parts match the same text, so only the parts after them are compared.
    fn earlier(&self, parts: &[Peg], number: usize) -> Map<usize, Vec<usize>> {
        let mut earlier: Map<usize, Vec<usize>> = Map::new();
        for place in 0..number {
            let pairs = parts[place].parts().iter().zip(parts[number].parts());
            let shared = match parts.len() <= MAX_COMPARED {
                true => pairs.take_while(|(one, other)| are_alike(one, other)).count(),
                false => 0,
            };
            earlier.entry(shared).or_default().push(place);
        }
        earlier
    }

    /// Returns the texts after the first `shared` parts of an alternative.
    fn rest(&mut self, peg: &'r Peg, shared: usize, is_atomic: bool) -> Option<Texts> {
        let rest = &peg.parts()[shared..];
        let texts = self.sequence(rest, is_atomic, MAX_DEPTH)?;
        let blank = if is_atomic || rest.is_empty() { Texts::exactly(EMPTY) } else { self.blank };
        Some(self.seq(blank, texts))
    }

    /// Returns the letter for the end of the choice, the letter for the end of its rule, and all other letters.
    fn marks(&self) -> (Letters, Letters, Letters) {
        let count = self.letters.len();
        (1 << count, 1 << (count + 1), Letters::MAX >> (MAX_LETTERS - count))
    }

    /// Returns `Some(true)` if this language of letters and marks has a text.
    fn exists(&mut self, language: Id) -> Option<bool> {
        if language == NEVER {
            return Some(false);
        }
        let letters = u32::try_from(self.letters.len() + 2).ok()?;
        Some(self.terms.automaton(language, letters)?.smallest().is_some())
    }

    /// Returns `Some(true)` if a text of the later alternative begins with a text of the earlier ones, without being
    /// one itself.
    fn is_cut_short(&mut self, later: Texts, earlier: Texts) -> Option<bool> {
        let (_, _, any) = self.marks();
        let any = self.terms.one(any);
        let any_more = self.terms.star(any);
        let more = self.terms.seq(any, any_more);
        let begun = self.terms.seq(earlier.most, more);
        let other = self.terms.not(earlier.least);
        let lost = self.terms.and([later.most, begun, other, any_more]);
        self.exists(lost)
    }

    /// Returns `Some(true)` if a text of an earlier alternative begins with a text of the later one and continues with
    /// a part of the text `after` the choice or `beyond` its rule, which is then missing there. It is not missing if
    /// the earlier alternative and the text after it match all the same.
    fn takes_too_much(&mut self, later: Texts, earlier: Texts, after: Texts, beyond: Id) -> Option<bool> {
        let (choice_ends, rule_ends, any) = self.marks();
        let either = self.terms.one(any | rule_ends);
        let [choice_end, rule_end, any] = [choice_ends, rule_ends, any].map(|letters| self.terms.one(letters));
        let any_more = self.terms.star(any);
        let either_more = self.terms.star(either);
        let marked = self.terms.all_of(&[any_more, choice_end, any_more, rule_end, any_more]);
        let wanted = self.terms.all_of(&[later.most, choice_end, after.most, rule_end, beyond]);
        // The earlier text continues after the end of the later one.
        let longer = self.terms.all_of(&[any_more, choice_end, either_more, any]);
        let taken = self.terms.with(earlier.most, choice_ends | rule_ends);
        let taken = self.terms.and([taken, longer]);
        let taken = self.terms.seq(taken, either_more);
        let matched = self.terms.seq(earlier.least, after.least);
        let matched = self.terms.with(matched, choice_ends);
        let matched = self.terms.all_of(&[matched, rule_end, any_more]);
        let missing = self.terms.not(matched);
        let lost = self.terms.and([marked, wanted, taken, missing]);
        self.exists(lost)
    }

    /// Returns the texts between a choice and the end of its rule, and the texts that may begin there.
    fn after(&mut self, parts: &'r [Peg], is_atomic: bool) -> Option<(Texts, Id)> {
        let blank = if is_atomic { Texts::exactly(EMPTY) } else { self.blank };
        let (mut after, mut beyond) = (Texts::exactly(EMPTY), ALL);
        for next in self.follow.after(parts, MAX_AFTER) {
            let texts = match next {
                Next::Parts(parts) => {
                    // The end of the text is at the same place for all alternatives.
                    let parts = match parts {
                        [parts @ .., Peg { kind: Kind::Name(name), .. }] if name == "EOI" => parts,
                        _ => parts,
                    };
                    let texts = self.sequence(parts, is_atomic, MAX_DEPTH_AFTER)?;
                    self.seq(blank, texts)
                }
                Next::Rounds(inside, any_number) => {
                    let round = self.texts(inside, is_atomic, MAX_DEPTH_AFTER)?;
                    let round = self.seq(blank, round);
                    let rounds = self.star(round);
                    Texts { least: if any_number { rounds.least } else { NEVER }, ..rounds }
                }
                Next::End(rule) => {
                    let set = self.follow.of_rule(rule, self.chars);
                    let first = self.one(&set)?.most;
                    let more = self.terms.seq(first, ALL);
                    let more = self.terms.or([EMPTY, more]);
                    beyond = self.terms.seq(self.blank.most, more);
                    break;
                }
            };
            after = self.seq(after, texts);
        }
        Some((after, beyond))
    }

    fn seq(&mut self, first: Texts, second: Texts) -> Texts {
        Texts { most: self.terms.seq(first.most, second.most), least: self.terms.seq(first.least, second.least) }
    }

    fn star(&mut self, inside: Texts) -> Texts {
        Texts { most: self.terms.star(inside.most), least: self.terms.star(inside.least) }
    }

    fn any_of(&mut self, texts: &[Texts]) -> Texts {
        Texts {
            most: self.terms.or(texts.iter().map(|texts| texts.most)),
            least: self.terms.or(texts.iter().map(|texts| texts.least)),
        }
    }

    fn blanks(&mut self) -> Option<Texts> {
        let mut options = Vec::new();
        for name in self.blanks {
            if let Some(rule) = self.rules.get(name).copied() {
                options.push(self.texts(&rule.body, true, MAX_DEPTH)?);
            }
        }
        let one = self.any_of(&options);
        Some(self.star(one))
    }

    /// Counts work on sets of characters. `None` if the limit is reached.
    fn work(&mut self, count: usize) -> Option<()> {
        self.work += count;
        (self.work <= self.work_left).then_some(())
    }

    fn step(&mut self) -> Option<()> {
        self.steps += 1;
        (self.steps <= MAX_STEPS).then_some(())
    }

    /// Returns the characters of a text, in both cases if `free`.
    fn characters(text: &str, free: bool) -> impl Iterator<Item = CharSet> {
        text.chars().map(move |c| {
            let both = [c, c.to_ascii_lowercase(), c.to_ascii_uppercase()];
            CharSet::new(Unit::Char, both[..if free { 3 } else { 1 }].iter().map(|&c| (c.into(), c.into())))
        })
    }

    /// Collects the sets of characters of an expression.
    fn collect(&mut self, peg: &'r Peg, depth: u32, sets: &mut Set<Vec<(u32, u32)>>) -> Option<()> {
        self.step()?;
        let mut ranges = 0;
        let mut add = |set: &CharSet| {
            ranges += set.ranges().len();
            sets.insert(set.ranges().to_vec());
        };
        match &peg.kind {
            Kind::Text(text, free) => Self::characters(text, *free).for_each(|set| add(&set)),
            Kind::Class(set) => add(set),
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
        self.work(ranges)
    }

    /// Returns the texts of one character of a set. Outside the choice, the letters may have more characters than the
    /// set.
    fn one(&mut self, set: &CharSet) -> Option<Texts> {
        let is_known = self.sets.contains(set.ranges());
        let (mut most, mut least, mut compared) = (0, 0, 0);
        for (place, letter) in self.letters.iter().enumerate() {
            let others = if is_known {
                let holds = letter.ranges().first().is_some_and(|&(low, _)| set.contains(low));
                if holds { 0 } else { letter.len() }
            } else {
                compared += set.ranges().len() + letter.ranges().len();
                letter.difference(set).len()
            };
            least |= Letters::from(others == 0) << place;
            most |= Letters::from(others < letter.len()) << place;
        }
        self.work(self.letters.len() + compared)?;
        Some(Texts { most: self.terms.one(most), least: self.terms.one(least) })
    }

    /// Returns the bounds for a rule that is not followed.
    fn cut(&mut self, name: &'r str) -> Option<Texts> {
        let first = self.follow.of_name(name, MAX_DEPTH, self.chars);
        let set = self.follow.with_blanks(&first, self.chars);
        let begun = self.one(&set)?.most;
        let begun = self.terms.seq(begun, ALL);
        let most = if first.may_be_empty { self.terms.or([EMPTY, begun]) } else { begun };
        Some(Texts { most, least: NEVER })
    }

    fn texts(&mut self, peg: &'r Peg, is_atomic: bool, depth: u32) -> Option<Texts> {
        self.step()?;
        let blank = if is_atomic { Texts::exactly(EMPTY) } else { self.blank };
        Some(match &peg.kind {
            Kind::Text(text, free) => {
                let mut whole = Texts::exactly(EMPTY);
                let items: Option<Vec<Texts>> = Self::characters(text, *free).map(|set| self.one(&set)).collect();
                for item in items?.into_iter().rev() {
                    whole = self.seq(item, whole);
                }
                whole
            }
            Kind::Class(set) => self.one(set)?,
            Kind::Range(low, high) => self.one(&CharSet::new(Unit::Char, [(u32::from(*low), u32::from(*high))]))?,
            Kind::Name(name) => match self.rules.get_key_value(name.as_str()) {
                Some((&name, &rule)) => {
                    let is_atomic = match rule.modifier {
                        Some('@' | '$') => true,
                        Some('!') => false,
                        _ => is_atomic || self.blanks.contains(&name),
                    };
                    if let Some(&known) = self.known.get(&(name, is_atomic)) {
                        return Some(known);
                    }
                    if depth == 0 || !self.open.insert(name) {
                        return self.cut(name);
                    }
                    let texts = self.texts(&rule.body, is_atomic, depth - 1)?;
                    self.open.remove(name);
                    self.known.insert((name, is_atomic), texts);
                    texts
                }
                // These do not match the empty text everywhere.
                None if name == "SOI" || name == "EOI" => Texts { most: EMPTY, least: NEVER },
                None if name == "NEWLINE" => {
                    let mut one = |c: char| self.one(&CharSet::single(Unit::Char, c.into()));
                    let (feed, back) = (one('\n')?, one('\r')?);
                    let both = self.seq(back, feed);
                    self.any_of(&[feed, back, both])
                }
                None => match self.chars.builtin(name) {
                    Some(set) => self.one(&set)?,
                    None => Texts { most: ALL, least: NEVER },
                },
            },
            Kind::Seq(parts) => self.sequence(parts, is_atomic, depth)?,
            Kind::Choice(parts) => {
                let parts: Option<Vec<Texts>> = parts.iter().map(|part| self.texts(part, is_atomic, depth)).collect();
                self.any_of(&parts?)
            }
            Kind::Repeat(inside, min, max) => {
                if *max == Some(0) {
                    return Some(Texts::exactly(EMPTY));
                }
                let round = self.texts(inside, is_atomic, depth)?;
                let next = self.seq(blank, round);
                let is_known = *min <= MAX_ROUNDS && max.is_none_or(|max| max <= MAX_ROUNDS);
                let least = (*min).min(MAX_ROUNDS);
                let mut rest = match max.filter(|max| *max <= MAX_ROUNDS) {
                    None => self.star(next),
                    Some(max) => {
                        let mut rest = Texts::exactly(EMPTY);
                        for _ in least.max(1)..max {
                            let more = self.seq(next, rest);
                            rest = self.any_of(&[Texts::exactly(EMPTY), more]);
                        }
                        rest
                    }
                };
                for _ in 1..least {
                    rest = self.seq(next, rest);
                }
                let mut all = self.seq(round, rest);
                if *min == 0 {
                    all = self.any_of(&[Texts::exactly(EMPTY), all]);
                }
                Texts { least: if is_known { all.least } else { NEVER }, ..all }
            }
            Kind::Push(inside) => self.texts(inside, is_atomic, depth)?,
            Kind::Not(_) | Kind::And(_) => Texts { most: EMPTY, least: NEVER },
            Kind::Pushed => Texts { most: ALL, least: NEVER },
        })
    }

    fn sequence(&mut self, parts: &'r [Peg], is_atomic: bool, depth: u32) -> Option<Texts> {
        let blank = if is_atomic { Texts::exactly(EMPTY) } else { self.blank };
        let mut whole = Texts::exactly(EMPTY);
        for (number, part) in parts.iter().enumerate().rev() {
            let gap = if number + 1 == parts.len() { Texts::exactly(EMPTY) } else { blank };
            let behind = self.seq(gap, whole);
            whole = match &part.kind {
                Kind::Not(inside) => {
                    let inside = self.texts(inside, is_atomic, depth)?;
                    let [for_certain, perhaps] = [inside.least, inside.most].map(|inside| {
                        let begun = self.terms.seq(inside, ALL);
                        self.terms.not(begun)
                    });
                    let most = self.terms.and([behind.most, for_certain]);
                    Texts { most, least: self.terms.and([behind.least, perhaps]) }
                }
                Kind::And(_) => Texts { least: NEVER, ..behind },
                _ => {
                    let part = self.texts(part, is_atomic, depth)?;
                    self.seq(part, behind)
                }
            };
        }
        Some(whole)
    }
}
