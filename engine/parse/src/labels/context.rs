//! The environments of threads: labelled parts of the rule, numbers read before what they measure, rounds done, and a
//! bound on the position. Equal environments have one number.

use std::borrow::Cow;
use std::rc::Rc;

use gramjet_compiler::derived::{Amount, Measure, Term, Value};
use rustc_hash::FxHashMap;

use super::kept::Kept;
use super::names::Names;
use super::texts::Texts;
use crate::program::operations::{Number, Operations, Place};

/// A place, length or number that is not known.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// Bytes of an environment that are copied in the time of a step, and bytes of a new one that are kept.
const BYTES_COPIED: usize = 64;
const BYTES_KEPT: usize = 4;

/// The environment of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Context {
    /// The position that nothing goes beyond.
    pub bound: u32,
    /// The labelled parts of the open scopes.
    pub parts: Vec<Part>,
    /// The open repetitions, inner ones last.
    pub rounds: Vec<Rounds>,
    /// The numbers that were read and not compared yet.
    pub waiting: Vec<Waiting>,
    /// The names that are seen.
    pub names: u32,
    /// The names that are seen outside the open scopes.
    pub outside: Vec<u32>,
    /// The parts that are given to the rule that is called next: a list of [`Kept`] with one round.
    pub given: u32,
}

/// A labelled part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Part {
    /// The beginning.
    pub from: u32,
    /// The end; while the part is open, the bound outside it.
    pub to: u32,
    /// Whether it is complete.
    pub is_known: bool,
    /// The rounds done, if something depends on them.
    pub rounds: u32,
    /// The length and the rounds that a number before the part says.
    pub len: u32,
    pub count: u32,
    /// The rounds that mirrors see: a number of [`Kept`].
    pub kept: u32,
}

/// An open repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Rounds {
    /// The number of rounds done, or that are to come.
    pub number: u32,
    /// The beginning of the round, if it may be empty.
    pub from: u32,
}

/// A number that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Waiting {
    /// The number in the program.
    pub number: u32,
    /// Beginning and end of its bytes.
    pub from: u32,
    pub to: u32,
    /// The number of places whose labels are still seen, and the sum of the terms of the others. A checksum of a part
    /// around it has beginning and end of what counts as other bytes instead: environments are many.
    pub seen: u32,
    pub unseen: i64,
}

/// Result of looking at a number that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Looked {
    /// Not all parts are known, and the number says nothing of those that are not.
    Nothing,
    /// The number says what the only unknown part is, which is noted.
    Solved,
    /// No part is such that the number fits.
    Impossible,
    /// All parts are known: these are the bytes that should be there.
    Expected(Vec<u8>),
}

impl Part {
    /// A part that has not begun.
    pub const LATER: Part =
        Part { from: UNKNOWN, to: UNKNOWN, is_known: false, rounds: 0, len: UNKNOWN, count: UNKNOWN, kept: Kept::NONE };

    /// Returns its length, if it is complete.
    pub fn length(&self) -> u32 {
        self.to - self.from
    }
}

impl Waiting {
    /// Returns a number that was read between two places, where this number of labels is seen.
    pub fn new(index: u32, number: &Number, (from, to): (u32, u32), seen: u32) -> Waiting {
        let unseen = if number.value.blank.is_some() { Waiting::of_blank((from, to)) } else { 0 };
        Waiting { number: index, from, to, seen, unseen }
    }

    /// Returns beginning and end of what counts as other bytes, as one number.
    fn of_blank((from, to): (u32, u32)) -> i64 {
        (u64::from(from) << 32 | u64::from(to)).cast_signed()
    }

    /// Returns the sum of the terms that are not seen any more.
    fn of_unseen(&self, number: &Number) -> i64 {
        if number.value.blank.is_some() { 0 } else { self.unseen }
    }

    /// Returns the bytes of a part as they count in the number.
    fn bytes<'t>(&self, number: &Number, part: Part, texts: Texts<'t>) -> Cow<'t, [u8]> {
        let bytes = texts.part(part.from, part.to);
        let Some(blank) = &number.value.blank else { return Cow::Borrowed(bytes) };
        let at = |place: u32| (place.clamp(part.from, part.to) - part.from) as usize;
        let mut bytes = bytes.to_vec();
        let (from, to) = ((self.unseen >> 32) as u32, self.unseen as u32);
        bytes[at(from)..at(to)].fill(blank.byte);
        Cow::Owned(bytes)
    }
}

impl Context {
    /// Tells the numbers that were read where the part is that counts as other bytes in them.
    pub fn place_blanks(&mut self, place: Place, range: (u32, u32), operations: &Operations) {
        for waiting in &mut self.waiting {
            let blank = operations.numbers[waiting.number as usize].value.blank.and_then(|blank| blank.part);
            if blank.is_some_and(|part| part.label == place.label) {
                waiting.unseen = Waiting::of_blank(range);
            }
        }
    }

    pub fn part(&mut self, place: Place) -> Option<&mut Part> {
        self.parts.get_mut(place.place as usize)
    }

    /// Returns the part, if it is complete.
    pub fn known(&self, place: Place) -> Option<Part> {
        self.parts.get(place.place as usize).copied().filter(|part| part.is_known)
    }

    /// Returns the position that nothing of the rule goes beyond: open parts keep the bound outside them.
    pub fn outermost_bound(&self) -> u32 {
        let open = self.parts.iter().filter(|part| part.from != UNKNOWN && !part.is_known);
        open.map(|part| part.to).fold(self.bound, u32::max)
    }

    /// Returns the part of a term, if the term follows from what is known of it.
    pub fn part_of(&self, term: &Term<Place>) -> Option<Part> {
        if term.measure.is_of_place() {
            let part = self.parts.get(term.label.place as usize).copied();
            return part.filter(|part| part.from != UNKNOWN);
        }
        self.known(term.label)
    }

    /// Returns a number whose parts are all known.
    pub fn value(&self, value: &Value<Place>, texts: Texts<'_>) -> Option<u64> {
        if !value.terms.iter().all(|term| self.part_of(term).is_some()) {
            return None;
        }
        Some(value.of(|term| self.term(term, texts)).max(0).unsigned_abs())
    }

    /// Returns the checksum that a term is, if it is one, given the bytes of a part.
    fn content<'t>(&self, term: &Term<Place>, bytes: impl Fn(Part) -> Cow<'t, [u8]>) -> Option<u64> {
        let Measure::Sum(sum) = term.measure else { return None };
        Some(sum.of(&bytes(self.part_of(term)?)))
    }

    fn term(&self, term: &Term<Place>, texts: Texts<'_>) -> u64 {
        let Some(part) = self.part_of(term) else { return 0 };
        match term.measure {
            Measure::Len => part.length().into(),
            Measure::Count => part.rounds.into(),
            Measure::Offset | Measure::Base => part.from.into(),
            Measure::Sum(sum) => sum.of(texts.part(part.from, part.to)),
            Measure::Digest(_) => 0,
        }
    }

    /// Returns the bytes of a number whose parts are all complete; `None` if not all are, or the number is too great.
    pub fn expected(&self, number: &Number, texts: Texts<'_>) -> Option<Vec<u8>> {
        let bytes = |part: Part| Cow::Borrowed(texts.part(part.from, part.to));
        self.written(number, self.value(&number.value, texts)?, &[], bytes)
    }

    /// Returns the bytes of a number with this value, or those of the digest that it is, where `found` is; `None` if it
    /// is too great. `bytes` are those of a part.
    fn written<'t>(
        &self,
        number: &Number,
        value: u64,
        found: &[u8],
        bytes: impl Fn(Part) -> Cow<'t, [u8]>,
    ) -> Option<Vec<u8>> {
        if value > number.greatest() && !number.is_sum {
            return None;
        }
        let amount = match number.value.digest() {
            Some((digest, &place)) => {
                let part = self.known(place)?;
                Amount::Digest(digest.of(&bytes(part)))
            }
            None => Amount::Number(value),
        };
        Some(number.written(&amount, found))
    }

    /// Returns the number of bytes whose sum is computed to know a number.
    pub fn effort(&self, number: &Number) -> u64 {
        if !number.is_sum {
            return 0;
        }
        number.value.terms.iter().filter_map(|term| self.known(term.label)).map(|part| u64::from(part.length())).sum()
    }

    /// Looks at a number that was read. With `binds`, it says what a part is that is not known yet.
    pub fn look(&mut self, number: &Number, waiting: Waiting, texts: Texts<'_>, binds: bool) -> Looked {
        let is_seen = |term: &&Term<Place>| term.label.place < waiting.seen;
        let mut unknown = number.value.terms.iter().filter(is_seen).filter(|term| self.part_of(term).is_none());
        let of_term = |term: &Term<Place>| if is_seen(&term) { self.term(term, texts) } else { 0 };
        let Some(term) = unknown.next() else {
            let bytes = |part| waiting.bytes(number, part, texts);
            let of_content = |term: &Term<Place>| self.content(term, bytes).unwrap_or_else(|| of_term(term));
            let sum = number.value.undivided(of_content).saturating_add(waiting.of_unseen(number));
            let value = number.value.divided(sum).max(0).unsigned_abs();
            let found = texts.part(waiting.from, waiting.to);
            return self.written(number, value, found, bytes).map_or(Looked::Impossible, Looked::Expected);
        };
        let is_solved = matches!(term.measure, Measure::Len | Measure::Count);
        if !binds || unknown.next().is_some() || !is_solved {
            return Looked::Nothing;
        }
        let Some(read) = number.read(texts.part(waiting.from, waiting.to)) else {
            return Looked::Nothing;
        };
        let known = number.value.undivided(of_term).saturating_add(waiting.of_unseen(number));
        let least = if term.measure == Measure::Len { term.label.least.0 } else { term.label.least.1 };
        let (least, most) = solutions(number, read, known, term.times, least);
        if least < most {
            return Looked::Nothing;
        }
        let solved = u32::try_from(most).ok().filter(|&solved| least == most && solved != UNKNOWN);
        let (Some(solved), Some(part)) = (solved, self.part(term.label)) else { return Looked::Impossible };
        let noted = if term.measure == Measure::Len { &mut part.len } else { &mut part.count };
        if *noted != UNKNOWN && *noted != solved {
            return Looked::Impossible;
        }
        *noted = solved;
        Looked::Solved
    }

    /// Ends the scope of the last labels. Numbers that wait for other parts keep what follows from parts with these.
    pub fn leave_scope(&mut self, labels: usize, operations: &Operations) {
        let seen = self.parts.len().saturating_sub(labels);
        for index in 0..self.waiting.len() {
            let waiting = self.waiting[index];
            let value = &operations.numbers[waiting.number as usize].value;
            let ends = |term: &&Term<Place>| {
                (seen as u32..waiting.seen).contains(&term.label.place) && !term.measure.is_of_content()
            };
            let ending = value.terms.iter().filter(ends);
            let sum = ending.fold(waiting.unseen, |sum, term| term.add_to(sum, self.term(term, Texts::NONE)));
            self.waiting[index] = Waiting { seen: waiting.seen.min(seen as u32), unseen: sum, ..waiting };
        }
        self.parts.truncate(seen);
    }

    /// Forgets of a part what nothing follows from, so that environments are equal more often.
    pub fn forget(part: &mut Part, place: Place, operations: &Operations) {
        (part.len, part.count) = (UNKNOWN, UNKNOWN);
        if !operations.labels[place.label.index()].is_placed {
            (part.from, part.to) = (0, part.length());
        }
    }

    /// Returns the memory that it takes in bytes, about.
    fn size(&self) -> usize {
        size_of::<Context>()
            + self.parts.capacity() * size_of::<Part>()
            + self.rounds.capacity() * size_of::<Rounds>()
            + self.waiting.capacity() * size_of::<Waiting>()
            + self.outside.capacity() * size_of::<u32>()
            + 2 * size_of::<usize>()
    }
}

/// Returns the least and the greatest property of a part with which a number is the one that was read, given the sum
/// of its other terms, the factor of the property, and the least that it can be. If there is none, the least one is
/// the greater one.
fn solutions(number: &Number, read: u64, known: i64, times: u32, least: u64) -> (i128, i128) {
    let (known, times, least) = (i128::from(known), i128::from(times), i128::from(least));
    let most = (number.value.greatest_sum(read) - known).div_euclid(times);
    // Values below 0 are written as 0.
    let beyond = read.checked_sub(1).map(|below| number.value.greatest_sum(below) - known);
    let first = beyond.map_or(least, |beyond| beyond.div_euclid(times) + 1);
    // With one solution, the part itself is compared with it.
    (if first == most { first } else { first.max(least) }, most)
}

/// All that the environment of a callee follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Passed {
    /// The position that nothing goes beyond.
    pub bound: u32,
    /// The names that are seen.
    pub names: u32,
    /// The parts that its parameters stand for, as [`Context::given`] says.
    pub given: u32,
}

/// The environments, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Contexts {
    list: Vec<Rc<Context>>,
    /// For each environment one in which the same names are seen and all else is equal. Empty without names.
    alike: Vec<u32>,
    numbers: FxHashMap<Rc<Context>, u32>,
    size: usize,
    /// Number of the environment of the callee that was asked for last, with all that it follows from.
    callee: Option<(Passed, u32)>,
    /// The steps of work on them that are not counted yet.
    steps: u64,
    pub names: Names,
    /// The rounds that mirrors see.
    pub kept: Kept,
    /// The bytes of parts that stand in other texts.
    pub more: Vec<u8>,
}

impl Contexts {
    /// Returns no environments yet, of a grammar with these kinds of names, which are unique in a scope or not.
    pub fn new(are_unique: Vec<bool>) -> Contexts {
        Contexts { names: Names::new(are_unique), ..Contexts::default() }
    }

    pub fn get(&self, number: u32) -> &Context {
        &self.list[number as usize]
    }

    /// Returns a copy of an environment, to be changed.
    pub fn copy(&mut self, number: u32) -> Context {
        let context = Context::clone(&self.list[number as usize]);
        self.steps += (context.size() / BYTES_COPIED) as u64;
        context
    }

    /// Returns the steps of work on environments since the last call.
    pub fn take_steps(&mut self) -> u64 {
        std::mem::take(&mut self.steps) + self.names.take_steps() + self.kept.take_steps()
    }

    /// Returns the number of an environment.
    pub fn number(&mut self, context: Context) -> u32 {
        if let Some(&number) = self.numbers.get(&context) {
            return number;
        }
        let number = self.list.len() as u32;
        self.size += context.size();
        self.steps += (context.size() / BYTES_KEPT) as u64;
        self.add(Rc::new(context));
        number
    }

    /// Adds an environment.
    fn add(&mut self, context: Rc<Context>) {
        let number = self.list.len() as u32;
        self.list.push(Rc::clone(&context));
        self.numbers.insert(Rc::clone(&context), number);
        if self.names.has_kinds() {
            let names = self.names.alike(context.names);
            let outside: Vec<u32> = context.outside.iter().map(|&names| self.names.alike(names)).collect();
            let is_first = names == context.names && outside == context.outside;
            let first = Context { names, outside, ..Context::clone(&context) };
            self.alike.push(number);
            self.alike[number as usize] = if is_first { number } else { self.number(first) };
        }
    }

    /// Returns the number of an environment in which the same names are seen, however often they were given, and all
    /// else is equal.
    pub fn alike(&self, number: u32) -> u32 {
        self.alike.get(number as usize).copied().unwrap_or(number)
    }

    /// Returns the number of the environment of a callee.
    pub fn of_callee(&mut self, passed: Passed) -> u32 {
        if let Some((of, number)) = self.callee
            && of == passed
        {
            return number;
        }
        let Passed { bound, names, given } = passed;
        let parts = self.kept.parts(given, 0).map_or_else(Vec::new, <[Part]>::to_vec);
        let number = self.number(Context { bound, names, parts, ..Context::default() });
        self.callee = Some((passed, number));
        number
    }

    /// Returns the number of an environment where these names are seen.
    pub fn with_names(&mut self, number: u32, names: u32) -> u32 {
        if self.get(number).names == names {
            return number;
        }
        let context = Context { names, ..self.copy(number) };
        self.number(context)
    }

    /// Returns the memory that they take in bytes, about.
    pub fn size(&self) -> usize {
        self.size
            + self.names.size()
            + self.kept.size()
            + self.more.capacity()
            + self.list.capacity() * size_of::<Rc<Context>>()
            + self.numbers.capacity() * 2 * size_of::<(Rc<Context>, u32)>()
    }

    /// Drops all environments but those of these numbers, which get new ones.
    pub fn compact<'n>(&mut self, used: impl Iterator<Item = &'n mut u32>) {
        let old = std::mem::take(self);
        (self.steps, self.names, self.more, self.kept) = (old.steps, old.names, old.more, old.kept);
        let mut new = vec![UNKNOWN; old.list.len()];
        for number in used {
            let known = &mut new[*number as usize];
            if *known == UNKNOWN {
                *known = self.list.len() as u32;
                let context = &old.list[*number as usize];
                self.size += context.size();
                self.add(Rc::clone(context));
            }
            *number = *known;
        }
    }
}
