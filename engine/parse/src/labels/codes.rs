//! Coded parts: what they stand for is decoded, and read by threads of its own.

use super::Threads;
use super::context::{Context, Part, UNKNOWN};
use super::decode::{Decoded, decode};
use super::encode::{OPTION, encode, numbers};
use super::faults::{Fault, Right};
use super::kept::Kept;
use super::queue::Queue;
use super::texts::Texts;
use crate::Budget;
use crate::arena::{EMPTY, Thread};
use crate::error::{self, Attempt, Expected, ParseError};
use crate::program::Program;
use crate::program::operations::{Operation, Place};

/// At most this many coded texts are read within each other.
const MOST_NESTED: u32 = 64;

/// At most this many times a coded part is read within itself if that changes nothing: as with rules that derive
/// themselves, there would be no end.
const MOST_SAME: usize = 4;

/// A reading of a coded text.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// The lengths at which it may end. Empty for a text that is not coded.
    ends: Vec<u32>,
    /// The ends that were reached, in the order in which they were.
    reached: Vec<Reached>,
    /// The number of coded texts around it.
    nesting: u32,
    /// The coded parts around it that are all of an equal text.
    same: Vec<u32>,
    /// Whether coded parts are read in the form alone in which they are written.
    pub is_usual: bool,
}

/// An end of a coded text that its grammar allows.
#[derive(Debug)]
struct Reached {
    len: u32,
    decisions: Vec<u8>,
    /// The parts that are all of the text, in the order of their labels. Only those have bytes from which something
    /// follows.
    parts: Vec<Whole>,
}

/// A part that is all of a coded text, or of what it stands for.
#[derive(Debug)]
struct Whole {
    len: u32,
    rounds: u32,
    bytes: Vec<u8>,
}

impl Threads<'_, '_> {
    /// Returns all texts in which parts stand.
    pub(super) fn texts(&self) -> Texts<'_> {
        Texts { text: self.text, more: &self.contexts.more }
    }

    /// Reads a coded part: goes on after each of its ends.
    pub(super) fn coded(&mut self, thread: Thread, index: u32, next: u32) -> Result<(), ParseError> {
        let program = self.program;
        if self.found.reading.nesting >= MOST_NESTED {
            return Ok(());
        }
        let coded = &program.operations.coded[index as usize];
        let (position, bound) = (self.position, self.bound(thread));
        let room = (self.room() / 8).min(1 << 26);
        let Decoded { mut bytes, mut ends, is_cut } = decode(coded.coding, &self.text[position..bound], room);
        self.count_steps(bytes.len() as u64 / 8 + ends.last().map_or(0, |&(_, read)| u64::from(read) / 8))?;
        let most = ends.last().map_or(0, |&(_, read)| read as usize);
        ends.retain(|&(_, read)| self.may_go_on(thread, next, position + read as usize));
        let Some(&(longest, _)) = ends.last() else {
            if is_cut {
                return Err(ParseError::Memory { offset: position, limit: self.bounds.max_memory });
            }
            if self.records() {
                let expected = Expected::coded_to(coded.coding, most);
                self.record(Attempt::derived(expected, 0, self.arena.frames[thread.frame as usize]));
            }
            return Ok(());
        };
        bytes.truncate(longest as usize);
        let is_same = position == 0 && bytes == self.text;
        if is_same && self.found.reading.same.iter().filter(|&&read| read == index).count() >= MOST_SAME {
            return Ok(());
        }
        let mut inner = self.inner((&bytes, &ends), (index, is_same), thread);
        let result = inner.follow();
        let (steps, furthest) = (inner.steps, inner.found.furthest);
        let (reached, faults) = (std::mem::take(&mut inner.found.reading.reached), std::mem::take(&mut inner.faults));
        drop(inner);
        self.count_steps(steps)?;
        if let Err(error) = result {
            return Err(at(error, position));
        }
        if reached.is_empty() && self.records() {
            let mut inner = self.inner((&bytes, &ends), (index, is_same), thread);
            inner.found.recorded = Some((furthest, Vec::new()));
            let attempts = inner.follow().ok().and(inner.found.recorded.take());
            let attempts = attempts.map_or_else(Vec::new, |(_, attempts)| attempts);
            let mismatch = error::mismatch(program, &bytes, furthest, &attempts);
            let expected = Expected::coded(coded.coding, &mismatch);
            self.record(Attempt::derived(expected, 0, self.arena.frames[thread.frame as usize]));
        }
        for reached in reached {
            // A coded text may have several ends at which it stands for as many bytes.
            for &(_, read) in ends.iter().filter(|&&(len, _)| len == reached.len) {
                self.go_on((&reached, read), (&bytes, &faults), (index, next), thread)?;
            }
        }
        Ok(())
    }

    /// Goes on after a coded part that ends after this number of bytes, if it is written in a form that is read.
    fn go_on(
        &mut self,
        (reached, read): (&Reached, u32),
        (bytes, faults): (&[u8], &[Fault]),
        (index, next): (u32, u32),
        thread: Thread,
    ) -> Result<(), ParseError> {
        let program = self.program;
        let coded = &program.operations.coded[index as usize];
        let (position, end) = (self.position, self.position + read as usize);
        let Reached { len, decisions, parts } = reached;
        if self.found.reading.is_usual {
            let mut usual = Vec::new();
            coded.coding.encode(&bytes[..*len as usize], &mut usual);
            self.count_steps(u64::from(*len) / 8)?;
            if usual != self.text[position..end] {
                return Ok(());
            }
        }
        let mut list = thread.list;
        for number in numbers(decisions) {
            let value = (number >> 1) as u32;
            if number & 1 == 0 {
                list = self.arena.append(list, OPTION, value);
            } else if let Some(fault) = faults.get(value as usize) {
                let right = Right::Within(coded.coding, fault.mismatch(program, bytes));
                let (found, within) = ((position as u32, end as u32), self.arena.frames[thread.frame as usize]);
                list = self.fault(list, Fault { found, right, within });
            }
        }
        self.count_steps(decisions.len() as u64 / 8)?;
        let mut context = Context::clone(self.contexts.get(thread.count));
        let named = coded.labels.iter().copied().zip(parts);
        let Some(list) = self.name_coded(&mut context, named, Thread { list, ..thread })? else { return Ok(()) };
        let count = self.contexts.number(context);
        self.read(read as usize, next, Thread { count, list, ..thread });
        Ok(())
    }

    /// Returns true if a thread may go on at a place, from a state on.
    fn may_go_on(&self, thread: Thread, state: u32, place: usize) -> bool {
        match self.program.operation_at(state) {
            // Where a part ends is mostly known.
            Some(Operation::Leave(part)) => {
                let part = self.contexts.get(thread.count).parts.get(part.place as usize);
                let len = part.filter(|part| part.len != UNKNOWN).map(|part| (part.from + part.len) as usize);
                len.is_none_or(|end| end == place)
            }
            Some(Operation::EndCode(_)) => self.found.reading.ends.binary_search(&(place as u32)).is_ok(),
            _ => {
                let next = self.text.get(place).copied();
                self.program.lookahead.allows(state, next) || !self.found.reading.ends.is_empty()
            }
        }
    }

    /// Returns threads through what a coded part stands for.
    fn inner<'d>(
        &self,
        (bytes, ends): (&'d [u8], &[(u32, u32)]),
        (index, is_same): (u32, bool),
        thread: Thread,
    ) -> Threads<'_, 'd> {
        let coded = &self.program.operations.coded[index as usize];
        let budget = Budget {
            max_memory: self.room().saturating_sub(self.memory()),
            max_steps: Some(self.bounds.max_steps.saturating_sub(self.steps)),
        };
        let mut inner = Threads::of_callee(self.program, bytes, budget, self.mode, coded.callee);
        inner.found.reading.nesting = self.found.reading.nesting + 1;
        inner.found.reading.ends = ends.iter().map(|&(len, _)| len).collect();
        inner.found.reading.is_usual = self.found.reading.is_usual;
        if is_same {
            inner.found.reading.same = [&self.found.reading.same[..], &[index]].concat();
        }
        let outer = self.contexts.get(thread.count);
        let parts: Vec<Part> = outer.parts.iter().map(|&part| self.part_within(part, &mut inner)).collect();
        let context = Context { bound: bytes.len() as u32, parts, ..Context::default() };
        let count = inner.contexts.number(context);
        let state = self.program.callees[coded.callee as usize].entry;
        inner.queue = Queue::new(Thread { state, count, frame: crate::arena::ROOT, list: EMPTY });
        inner
    }

    /// Returns a part outside a coded text for threads within it, with the rounds of it that mirrors see.
    fn part_within(&self, part: Part, inner: &mut Threads<'_, '_>) -> Part {
        if !part.is_known {
            return Part { len: part.len, count: part.count, ..Part::LATER };
        }
        let mut own = part;
        if part.to as usize <= self.text.len() + self.contexts.more.len() {
            // Its bytes may be asked for, unless it has no place: then any will do.
            own.from = (inner.text.len() + inner.contexts.more.len()) as u32;
            own.to = own.from + part.length();
            inner.contexts.more.extend_from_slice(self.texts().part(part.from, part.to));
        }
        own.kept = self.contexts.kept.rounds(part.kept).into_iter().fold(Kept::NONE, |list, round| {
            let round: Vec<Part> = round.iter().map(|&part| self.part_within(part, inner)).collect();
            inner.steps += 1;
            inner.contexts.kept.add(list, &round)
        });
        own
    }

    /// Notes which parts are all of a coded text. Returns the decisions with the faults that were found; `None` if the
    /// thread ends.
    fn name_coded<'w>(
        &mut self,
        context: &mut Context,
        parts: impl Iterator<Item = (Place, &'w Whole)>,
        mut thread: Thread,
    ) -> Result<Option<u32>, ParseError> {
        for (place, &Whole { len, rounds, ref bytes }) in parts {
            let from = if bytes.is_empty() { 0 } else { (self.text.len() + self.contexts.more.len()) as u32 };
            self.contexts.more.extend_from_slice(bytes);
            let Some(part) = context.part(place) else { return Ok(None) };
            *part = Part { from, to: from + len, is_known: true, rounds, ..Part::LATER };
            let Some(list) = self.compare(context, place, thread)? else { return Ok(None) };
            thread.list = list;
        }
        Ok(Some(thread.list))
    }

    /// Ends a coded text at this position, if it may end here.
    pub(super) fn end_code(&mut self, thread: Thread, index: u32) -> Result<(), ParseError> {
        let len = self.position as u32;
        if self.records() {
            let frame = self.arena.frames[thread.frame as usize];
            self.record(Attempt::end(frame));
        }
        if self.found.reading.ends.binary_search(&len).is_err() {
            return Ok(());
        }
        let program = self.program;
        let context = self.contexts.get(thread.count);
        let whole = |place: &Place| {
            let part = context.known(*place).unwrap_or(Part { from: 0, to: len, ..Part::LATER });
            let is_placed = program.operations.labels[place.label.index()].is_placed;
            let bytes = if is_placed { self.texts().part(part.from, part.to) } else { &[] };
            Whole { len: part.length(), rounds: part.rounds, bytes: bytes.to_vec() }
        };
        let parts: Vec<Whole> = program.operations.coded[index as usize].labels.iter().map(whole).collect();
        // Others than the first do not matter, unless parts have other rounds.
        self.count_steps(self.found.reading.reached.len() as u64 / 16)?;
        let is_known = |reached: &Reached| {
            let mut pairs = reached.parts.iter().zip(&parts);
            reached.len == len && pairs.all(|(one, other)| (one.len, one.rounds) == (other.len, other.rounds))
        };
        if self.found.reading.reached.iter().any(is_known) {
            return Ok(());
        }
        let mut decisions = self.decisions.clone();
        if !self.arena.write(&[thread.list], self.bounds.max_memory / 4, &mut decisions, encode) {
            return Err(ParseError::Memory { offset: self.position, limit: self.bounds.max_memory });
        }
        let work = decisions.len() + parts.iter().map(|part| part.bytes.len()).sum::<usize>();
        self.found.reading.reached.push(Reached { len, decisions, parts });
        self.count_steps(work as u64 / 16)
    }
}

impl Reading {
    /// Returns the memory that it takes in bytes, about.
    pub fn size(&self) -> usize {
        let decisions: usize = self.reached.iter().map(|reached| reached.decisions.capacity()).sum();
        decisions + self.ends.capacity() * size_of::<u32>()
    }
}

/// Returns an error within a coded part as one at the place where it begins.
fn at(error: ParseError, offset: usize) -> ParseError {
    match error {
        ParseError::Steps { steps, .. } => ParseError::Steps { offset, steps },
        ParseError::Memory { limit, .. } => ParseError::Memory { offset, limit },
        other => other,
    }
}

impl Program {
    /// Returns true if texts of the grammar can be written in other ways than their choice bytes write them.
    pub fn has_codes(&self) -> bool {
        !self.operations.coded.is_empty()
    }
}
