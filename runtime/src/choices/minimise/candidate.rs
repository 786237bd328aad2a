//! A change that may make a text shorter, and the text that it makes.

use super::hash;
use super::need::{Need, Range};
use super::pool::FEW;
use super::yields::ChangeKind;
use crate::choices::mutate::{change_rounds, shorten};
use crate::choices::{Part, Refit, Span, SpanKind, TracedInput, Tracer};

/// A change of a text: a range is replaced by a part of itself, or by something else.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// The replaced range, and the part of it that stays.
    pub replaced: Range,
    pub kept: Range,
    /// About how many bytes shorter the text becomes.
    pub gain: u32,
    /// Whether it takes out all of several equal parts.
    pub takes_all: bool,
    pub change: Change,
    /// Ranges that the text lacks, where this is not all of the replaced range outside the kept one.
    pub lacks: Option<Box<[Range]>>,
    /// Number of failed tests that were compared with it, and whether one of them lacked nothing but what it lacks.
    pub compared: usize,
    pub has_failed: bool,
}

/// Equal parts: the hash of their text, and how many they are.
pub(super) type Group = (u64, usize);

#[derive(Clone, Debug)]
pub(super) enum Change {
    /// The parts become as short as they can be; all have the same text.
    Shorten(Box<[u32]>),
    /// A part stands in place of one with the same symbol around it.
    Hoist { outer: u32, inner: u32 },
    /// The rounds of a repetition from the first to the last are taken out.
    Rounds { first: u32, last: u32, repetition: u32 },
    /// The kept part takes the place of the whole, as text. The same happens at all places that begin here.
    Text(Box<[u32]>),
    /// These choice bytes are removed, whatever they derive; the one at `zero` before them is set to zero.
    Choices { from: u32, to: u32, zero: Option<u32> },
    /// A choice takes another option, with the contents of the old one from this span on.
    Refit { span: u32, option: u32, from: u32, keeps: Keeps },
    /// The hull of two parts becomes the target, with the other part inserted at a place; the text between them is
    /// removed.
    Move { hull: Range, target: Range, at: u32, part: Range },
    /// A part is replaced by two copies of a shorter one.
    Double(Range),
}

/// The parts to keep when a choice takes another option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeps {
    /// As many of the parts that are likely to be needed as possible.
    Needed,
    /// As many of the parts that are likely to be needed as possible, in order.
    InOrder,
    /// All parts that find a place.
    All,
}

/// Returns the distance of each place of a change from the first place, beginning with 0.
fn shifts(change: &Change) -> impl Iterator<Item = u32> {
    let places = match change {
        Change::Text(places) => &places[..],
        _ => &[],
    };
    let first = places.first().copied().unwrap_or(0);
    std::iter::once(0).chain(places.iter().skip(1).map(move |&place| place - first))
}

impl Candidate {
    /// Returns true if the text of the change is known only after it was made.
    pub(super) fn is_blind(&self) -> bool {
        matches!(self.change, Change::Choices { .. } | Change::Refit { .. })
    }

    /// Writes the bytes that its text lacks to `ranges`, as ascending ranges.
    pub(super) fn missing(&self, ranges: &mut Vec<Range>) {
        ranges.clear();
        let mut push = |from: u32, to: u32| match ranges.last_mut() {
            _ if from >= to => {}
            Some(last) if last.1 == from => last.1 = to,
            _ => ranges.push((from, to)),
        };
        match &self.lacks {
            Some(lacks) => lacks.iter().for_each(|&(from, to)| push(from, to)),
            None => shifts(&self.change).for_each(|shift| {
                push(self.replaced.0 + shift, self.kept.0 + shift);
                push(self.kept.1 + shift, self.replaced.1 + shift);
            }),
        }
    }

    /// Returns the group of a change of all of several equal parts: their text by its hash, and how many they are. It
    /// stays the same while the text around them changes.
    pub(super) fn group(&self, text: &[u8]) -> Option<Group> {
        match &self.change {
            Change::Text(places) if self.takes_all => {
                Some((hash(&text[self.replaced.0 as usize..self.replaced.1 as usize]), places.len()))
            }
            _ => None,
        }
    }

    /// Returns true if a test has failed that lacked nothing but the missing bytes.
    pub(super) fn has_failed(&mut self, missing: &[Range], need: &Need) -> bool {
        if !self.has_failed {
            self.has_failed = need.has_failed_without(missing, self.compared);
            self.compared = need.failures();
        }
        self.has_failed
    }

    /// Returns true if a failed test says that one of the missing bytes is needed.
    pub(super) fn teaches(&self) -> bool {
        match &self.change {
            Change::Shorten(spans) => spans.len() == 1,
            Change::Move { .. } | Change::Double(_) => false,
            _ => true,
        }
    }

    pub(super) fn kind(&self) -> ChangeKind {
        match &self.change {
            Change::Shorten(_) => ChangeKind::Shorter,
            Change::Hoist { .. } => ChangeKind::Hoisted,
            Change::Rounds { .. } => ChangeKind::Rounds,
            Change::Text(_) if self.kept.0 < self.kept.1 => ChangeKind::Inner,
            Change::Text(_) if self.replaced.1 - self.replaced.0 <= FEW as u32 => ChangeKind::Bytes,
            Change::Text(_) => ChangeKind::Range,
            Change::Choices { .. } => ChangeKind::Choices,
            Change::Refit { .. } | Change::Move { .. } | Change::Double(_) => ChangeKind::New,
        }
    }

    /// Returns by how much less likely it is that the test holds if it has failed without a part of what is missing
    /// now. If each of several equal parts is needed alone, this says little about all of them together, and new text
    /// can stand for what is missing.
    pub(super) fn second_chance(&self) -> f64 {
        match &self.change {
            _ if self.takes_all => 1.0,
            Change::Refit { .. } | Change::Move { .. } | Change::Double(_) => 1.0,
            Change::Shorten(spans) if spans.len() > 1 => 1.0,
            Change::Shorten(_) => 0.15,
            Change::Hoist { .. } | Change::Rounds { .. } | Change::Text(_) | Change::Choices { .. } => 0.05,
        }
    }

    /// Returns true if the change needs a parse.
    pub(super) fn is_parsed(&self) -> bool {
        matches!(self.change, Change::Text(_) | Change::Move { .. } | Change::Double(_))
    }

    /// Returns true if the result should consist of old text, except for a shortest part. New text rarely passes the
    /// test.
    pub(super) fn only_removes(&self) -> bool {
        matches!(self.change, Change::Choices { .. } | Change::Hoist { .. })
    }

    /// Writes the resulting text, if it is known before its choice bytes.
    pub(super) fn text(&self, input: &TracedInput, text: &mut Vec<u8>) -> bool {
        let output = input.output();
        let of = |from: u32, to: u32| &output[from as usize..to as usize];
        let all = (0, output.len() as u32);
        match self.change {
            Change::Text(_) => {}
            Change::Move { hull, target, at, part } => {
                for (from, to) in [(all.0, hull.0), (target.0, at), part, (at, target.1), (hull.1, all.1)] {
                    text.extend_from_slice(of(from, to));
                }
                return true;
            }
            Change::Double(copied) => {
                for (from, to) in [(all.0, self.replaced.0), copied, copied, (self.replaced.1, all.1)] {
                    text.extend_from_slice(of(from, to));
                }
                return true;
            }
            _ => return false,
        }
        let mut end = 0;
        for shift in shifts(&self.change) {
            let at = |place: u32| (place + shift) as usize;
            text.extend_from_slice(&output[end..at(self.replaced.0)]);
            text.extend_from_slice(&output[at(self.kept.0)..at(self.kept.1)]);
            end = at(self.replaced.1);
        }
        text.extend_from_slice(&output[end..]);
        true
    }

    /// Writes the choice bytes of a change that needs no parse. Says whether that was possible.
    pub(super) fn choices(
        &mut self,
        input: &TracedInput,
        need: &Need,
        tracer: &mut (impl Tracer + ?Sized),
        choices: &mut Vec<u8>,
    ) -> bool {
        let old = input.choices();
        match self.change {
            Change::Shorten(ref spans) => {
                let (mut end, mut part) = (0, Vec::new());
                for &number in spans {
                    let span = input.span(number);
                    part.clear();
                    if shorten(input, span, tracer, &mut part).is_none() {
                        return false;
                    }
                    let (from, to) = (span.choices().start, part.len() - (old.len() - span.choices().end));
                    choices.extend_from_slice(&old[end..from]);
                    choices.extend_from_slice(&part[from..to]);
                    end = span.choices().end;
                }
                choices.extend_from_slice(&old[end..]);
            }
            Change::Hoist { outer, inner } => {
                let (outer, inner) = (input.span(outer).choices(), input.span(inner).choices());
                for part in [&old[..outer.start], &old[inner], &old[outer.end..]] {
                    choices.extend_from_slice(part);
                }
            }
            Change::Rounds { first, last, repetition } => {
                let mut span = *input.span(first);
                span.choices.1 = input.span(last).choices.1;
                change_rounds(input, &span, input.span(repetition), 0, choices);
            }
            Change::Text(_) | Change::Move { .. } | Change::Double(_) => return false,
            Change::Choices { from, to, zero } => {
                choices.extend_from_slice(&old[..from as usize]);
                choices.extend_from_slice(&old[to as usize..]);
                if let Some(zero) = zero {
                    choices[zero as usize] = 0;
                }
            }
            Change::Refit { span, option, from, keeps } => {
                let whole = input.span(span);
                choices.extend_from_slice(&old[..whole.choices().start]);
                // Parts that are not needed are dropped, unless all parts are kept.
                let least = u64::from(keeps == Keeps::All);
                let weight = |span: &Span| (need.rate(span.output) * 16.0) as u64 + least;
                let is_needed = |&part: &u32| {
                    let part = input.span(part);
                    part.kind != SpanKind::Round && part.output.0 < part.output.1 && weight(part) > 0
                };
                let numbers: Vec<u32> = (from..whole.next).filter(is_needed).collect();
                let parts: Vec<Part<'_>> = numbers
                    .iter()
                    .map(|&number| {
                        let span = input.span(number);
                        let next = numbers.partition_point(|&other| other < span.next);
                        Part { symbol: span.symbol, choices: input.bytes(span), next, weight: weight(span) }
                    })
                    .collect();
                let mut kept = Vec::new();
                let in_order = keeps == Keeps::InOrder;
                let anew = Refit { symbol: whole.symbol, option, depth: whole.depth, in_order };
                if !tracer.refit(anew, &parts, &mut kept, choices) {
                    return false;
                }
                choices.extend_from_slice(&old[whole.choices().end..]);
            }
        }
        true
    }
}
