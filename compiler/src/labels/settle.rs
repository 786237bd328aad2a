//! Fills in the bytes that follow from parts which stand later or were not final.
//!
//! First come the lengths of all that follows, so that each part has its place; then the bytes, those first that others
//! follow from.

use std::ops::Range;

use super::{Labels, State};
use crate::derived::{Amount, Bits, Derived, Measure, Term, Value};
use crate::ir::{Ir, Known, NodeId};

/// Returns by how much a length is greater than another one; saturates.
pub(super) fn difference(len: u64, other: u64) -> i64 {
    let greater = i64::try_from(len.saturating_sub(other)).unwrap_or(i64::MAX);
    greater.saturating_sub(i64::try_from(other.saturating_sub(len)).unwrap_or(i64::MAX))
}

/// A complete labelled part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// Beginning and end among the emitted bytes.
    pub raw: (u64, u64),
    /// The length in bytes, with all that is filled in.
    pub len: u64,
    /// The number of rounds, if it is a repetition.
    pub rounds: u64,
    /// Beginning and end of its marks.
    pub marks: (u32, u32),
    /// The number of its text among those that were coded, if it is the whole of one.
    pub kept: Option<u32>,
}

impl Span {
    /// Returns true if some of its bytes are not final.
    pub fn has_marks(&self) -> bool {
        self.marks.0 < self.marks.1
    }

    /// Returns by how much it is longer than the least, in bytes and in rounds.
    pub fn longer(&self, known: &Known) -> (i64, u64) {
        (difference(self.len, known.len), self.rounds.saturating_sub(known.rounds))
    }

    /// Returns true if a property of it is final.
    pub fn is_final(&self, measure: Measure) -> bool {
        // Places move until the end.
        !measure.is_of_place() && (!measure.is_of_content() || !self.has_marks())
    }

    /// Returns a property that does not depend on its bytes, given the place of a part.
    fn measured(&self, measure: Measure, place: impl Fn(&Span) -> u64) -> u64 {
        match measure {
            Measure::Len => self.len,
            Measure::Count => self.rounds,
            Measure::Offset | Measure::Base => place(self),
            Measure::Sum(_) | Measure::Digest(_) => 0,
        }
    }

    /// Returns its bytes, given the texts that were coded, and those that are emitted.
    pub fn bytes<'b>(&self, kept: &'b [Vec<u8>], emitted: &'b [u8]) -> &'b [u8] {
        match self.kept {
            Some(text) => &kept[text as usize],
            None => &emitted[self.raw.0 as usize..self.raw.1 as usize],
        }
    }
}

/// Bytes that are filled in at the end.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    /// The leaf.
    pub node: NodeId,
    /// Place among the emitted bytes.
    pub at: u64,
    /// The number of bytes emitted in its place.
    pub raw: u64,
    /// The length in bytes.
    pub width: u64,
    /// The parts that it follows from, in order.
    pub spans: Vec<Span>,
}

/// Places of a text before and after bytes were filled in that need more room than they had, or less.
#[derive(Clone, Debug, Default)]
pub struct Moves {
    /// The places that have another length now, in ascending order.
    grown: Vec<Grown>,
    /// A part that was coded: its beginning, its length before and after.
    coded: Option<(u64, u64, u64)>,
}

/// Bytes that have another length since they were filled in.
#[derive(Clone, Copy, Debug)]
struct Grown {
    /// The end before that.
    end: u64,
    /// The number of marks up to it.
    marks: u32,
    /// Number of bytes by which all places up to it grew.
    by: i64,
}

/// The end of an output that is settled.
pub(super) struct Piece<'k> {
    /// The beginning of the whole text in the output, and that of the piece in the whole text.
    pub base: usize,
    pub from: u64,
    /// The number of its first mark.
    pub first_mark: u32,
    /// The texts of parts that were coded.
    pub kept: &'k [Vec<u8>],
}

impl Moves {
    /// Returns the place after the bytes were filled in.
    pub fn of(&self, place: u64) -> u64 {
        let place = self.grown_by(self.grown.partition_point(|grown| grown.end <= place), place);
        match self.coded {
            // A byte of a coded part has no place of its own: the places keep their order.
            Some((from, len, coded)) if place > from => {
                let within = u128::from(place - from) * u128::from(coded) / u128::from(len.max(1));
                from + u64::try_from(within).unwrap_or(coded).min(coded)
            }
            _ => place,
        }
    }

    /// Returns the place after the bytes were filled in, and before the part was coded, given the number of marks
    /// before it: some have no bytes until they are filled in.
    pub fn settled(&self, place: u64, marks: u32) -> u64 {
        self.grown_by(self.grown.partition_point(|grown| grown.marks <= marks), place)
    }

    /// Returns a place that has moved by the growth of the first ones.
    fn grown_by(&self, first: usize, place: u64) -> u64 {
        place.saturating_add_signed(first.checked_sub(1).map_or(0, |last| self.grown[last].by))
    }

    /// Returns the beginning of the part that was coded, if one was.
    pub fn coded(&self) -> Option<u64> {
        self.coded.map(|(from, ..)| from)
    }

    /// Returns the place before which nothing has moved.
    pub fn first(&self) -> u64 {
        self.coded.map_or(0, |(from, ..)| from)
    }

    /// Returns where a part stands after the bytes were filled in, given its beginning and its end. A part of a coded
    /// text stands in all of it.
    pub fn of_part(&self, part: (u64, u64)) -> (u64, u64) {
        match self.coded {
            Some((from, _, coded)) if part.0 >= from && part.0 < part.1 => (from, from + coded),
            _ => (self.of(part.0), self.of(part.1)),
        }
    }

    /// Notes that the end of the text from this place on was coded.
    pub(super) fn code(&mut self, from: u64, len: u64, coded: u64) {
        self.coded = Some((from, len, coded));
    }
}

impl Labels {
    /// Prepares for a further text, after one that is settled. Keeps memory.
    pub fn restart(&mut self) {
        let Labels { are_used: _, parts, outside, scopes, open, marks, waiting, inserted, .. } = self;
        // Each scope has forgotten its parts, and the rounds of its mirrors.
        debug_assert!(parts.iter().all(|part| matches!(part, State::Unknown)));
        debug_assert!(outside.is_empty() && scopes.is_empty() && open.is_empty());
        marks.clear();
        waiting.clear();
        *inserted = 0;
        self.names.restart();
        self.codes.restart();
    }

    /// Returns true if no bytes are left to be filled in.
    #[inline]
    pub fn is_settled(&self) -> bool {
        self.marks.is_empty()
    }
}

/// Returns a number that follows from lengths and rounds of parts.
pub(super) fn number(value: &Value<Known>, spans: &[Span]) -> u64 {
    match amount(value, spans, |_| 0, |_| &[]) {
        Amount::Number(number) => number,
        Amount::Digest(_) => 0,
    }
}

/// Returns a number or a digest that follows from parts, given the place and the bytes of a part.
pub(super) fn amount<'b>(
    value: &Value<Known>,
    spans: &[Span],
    place: impl Fn(&Span) -> u64,
    bytes: impl Fn(&Span) -> &'b [u8],
) -> Amount {
    let mut measured = spans.iter();
    let of_term = |term: &Term<Known>| {
        let Some(span) = measured.next() else { return 0 };
        match term.measure {
            Measure::Sum(sum) => sum.of(bytes(span)),
            measure => span.measured(measure, &place),
        }
    };
    value.amount(of_term, |_| spans.first().map_or(&[][..], &bytes))
}

/// Appends numbers of some bits each, given the place of a part.
pub(super) fn write_bits(bits: &Bits<Known>, spans: &[Span], place: impl Fn(&Span) -> u64, output: &mut Vec<u8>) {
    let mut measured = spans.iter();
    let of_term = |term: &Term<Known>| measured.next().map_or(0, |span| span.measured(term.measure, &place));
    bits.write(of_term, output);
}

/// Fills in all marks of a piece. Returns where its places are then.
pub(super) fn settle(ir: &Ir, marks: &[Mark], piece: &Piece<'_>, output: &mut Vec<u8>) -> Moves {
    let moves = make_room(marks, piece, output);
    let mut open = OpenMarks { first: piece.first_mark, next: (0..=marks.len() as u32).collect() };
    let mut stack: Vec<usize> = Vec::new();
    let mut filled = Vec::new();
    for first in 0..marks.len() {
        if !open.take(first) {
            continue;
        }
        stack.push(first);
        while let Some(&mark) = stack.last() {
            // What it follows from comes first.
            if let Some(within) = contents(ir, &marks[mark], piece.first_mark + mark as u32)
                .into_iter()
                .find_map(|range| open.first_within(range))
            {
                open.take(within);
                stack.push(within);
                continue;
            }
            stack.pop();
            fill(ir, &marks[mark], &moves, (piece, output), &mut filled);
        }
    }
    moves
}

/// Returns the ranges of marks whose bytes a mark with this number follows from.
fn contents(ir: &Ir, mark: &Mark, number: u32) -> Vec<(u32, u32)> {
    match ir.node(mark.node).leaf().map(|leaf| &leaf.derived) {
        Some(Derived::Copy(_)) => mark.spans.iter().map(|span| span.marks).collect(),
        Some(Derived::Number(value, _)) => {
            let of_content = value.terms.iter().zip(&mark.spans).filter(|(term, _)| term.measure.is_of_content());
            let ranges = of_content.map(|(_, span)| span.marks);
            match &value.blank {
                Some(blank) => {
                    // Of what counts as other bytes nothing follows.
                    let own = (number, number + 1);
                    let without = blank.part.and(mark.spans.last()).map_or(own, |span| span.marks);
                    ranges.flat_map(|(first, end)| [(first, without.0), (without.1, end)]).collect()
                }
                None => ranges.collect(),
            }
        }
        // Lengths are known before bytes are filled in.
        Some(Derived::Bits(_) | Derived::Padding(..)) | None => Vec::new(),
    }
}

/// Gives marks their lengths, where something of another length was emitted in their places.
fn make_room(marks: &[Mark], piece: &Piece<'_>, output: &mut Vec<u8>) -> Moves {
    let mut moves = Moves::default();
    let mut grown = 0;
    for (number, mark) in (piece.first_mark + 1..).zip(marks).filter(|(_, mark)| mark.width != mark.raw) {
        grown += difference(mark.width, mark.raw);
        moves.grown.push(Grown { end: mark.at + mark.raw, marks: number, by: grown });
    }
    if !moves.grown.is_empty() {
        let emitted = output.split_off(piece.base + piece.from as usize);
        let mut done = 0;
        for mark in marks.iter().filter(|mark| mark.width != mark.raw) {
            let at = (mark.at - piece.from) as usize;
            output.extend_from_slice(&emitted[done..at]);
            output.resize(output.len() + mark.width as usize, 0);
            done = at + mark.raw as usize;
        }
        output.extend_from_slice(&emitted[done..]);
    }
    moves
}

fn fill(ir: &Ir, mark: &Mark, moves: &Moves, (piece, output): (&Piece<'_>, &mut [u8]), filled: &mut Vec<u8>) {
    let Some(leaf) = ir.node(mark.node).leaf() else { return };
    let base = piece.base;
    let bytes = |span: &Span| match span.kept {
        Some(text) => piece.kept[text as usize].as_slice(),
        // Numbers in it may have grown since it was complete.
        None => &output[base + moves.of(span.raw.0) as usize..base + moves.of(span.raw.1) as usize],
    };
    let place = |span: &Span| moves.of(span.raw.0).saturating_sub(piece.from);
    filled.clear();
    // The place after the mark has moved by its own growth, too.
    let end = base + moves.of(mark.at + mark.raw) as usize;
    let from = end - mark.width as usize;
    match (&leaf.derived, mark.spans.first()) {
        (Derived::Copy(_), Some(span)) => filled.extend_from_slice(bytes(span)),
        // Padding is known when it is emitted.
        (Derived::Copy(_), None) | (Derived::Padding(..), _) => {}
        (Derived::Bits(bits), _) => write_bits(bits, &mark.spans, place, filled),
        (Derived::Number(value, form), Some(part)) if let Some(blank) = &value.blank => {
            let range = |span: &Span| base + moves.of(span.raw.0) as usize..base + moves.of(span.raw.1) as usize;
            let without = blank.part.and(mark.spans.last()).map_or(from..end, range);
            let bytes = blanked(output, range(part), without, blank.byte);
            form.write_amount(&amount(value, &mark.spans, |_| 0, |_| &bytes), filled);
        }
        (Derived::Number(value, form), _) => {
            let amount = amount(value, &mark.spans, place, bytes);
            form.write_amount(&amount, filled);
        }
    }
    debug_assert_eq!(filled.len(), mark.width as usize, "a part has another length than its place");
    if filled.len() == mark.width as usize {
        output[from..end].copy_from_slice(filled);
    }
}

/// Returns the bytes of a part, some of which count as another byte.
fn blanked(output: &[u8], part: Range<usize>, blank: Range<usize>, byte: u8) -> Vec<u8> {
    let mut bytes = output[part.clone()].to_vec();
    let within = blank.start.max(part.start)..blank.end.min(part.end);
    if let Some(bytes) = bytes.get_mut(within.start - part.start..within.end.max(within.start) - part.start) {
        bytes.fill(byte);
    }
    bytes
}

/// Marks that are not begun yet. The next one from a place on is found in nearly constant time.
struct OpenMarks {
    /// The number of the first mark.
    first: u32,
    /// For each mark the mark itself, or if it is begun a later one.
    next: Vec<u32>,
}

impl OpenMarks {
    /// Returns the first open mark from `place` on.
    fn find(&mut self, place: usize) -> usize {
        let mut root = place;
        while self.next[root] as usize != root {
            root = self.next[root] as usize;
        }
        let mut at = place;
        while at != root {
            at = std::mem::replace(&mut self.next[at], root as u32) as usize;
        }
        root
    }

    /// Begins a mark. Returns false if it was begun before.
    fn take(&mut self, mark: usize) -> bool {
        let is_open = self.next[mark] as usize == mark;
        if is_open {
            self.next[mark] = mark as u32 + 1;
        }
        is_open
    }

    fn first_within(&mut self, (first, end): (u32, u32)) -> Option<usize> {
        let number = |mark: u32| mark.saturating_sub(self.first) as usize;
        let (from, to) = (number(first), number(end));
        Some(self.find(from)).filter(|&mark| mark < to)
    }
}
