//! A change that may make a text shorter, and the text that it makes.

use super::need::{Need, Range};
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
}

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
    /// The same, in order.
    InOrder,
    /// All parts that find a place.
    All,
}

/// The bytes that a text lacks: those in `replaced` but not in `kept`, at each distance of `shifts`.
#[derive(Clone, Debug)]
pub(super) struct Missing {
    pub replaced: Range,
    pub kept: Range,
    pub shifts: Box<[u32]>,
}

/// The distance of each place of a change from the first place, beginning with 0.
fn shifts(change: &Change) -> impl Iterator<Item = u32> {
    let places = match change {
        Change::Text(places) => &places[..],
        _ => &[],
    };
    let first = places.first().copied().unwrap_or(0);
    std::iter::once(0).chain(places.iter().skip(1).map(move |&place| place - first))
}

impl Candidate {
    /// Whether the text of the change is known only after it was made.
    pub(super) fn is_blind(&self) -> bool {
        matches!(self.change, Change::Choices { .. } | Change::Refit { .. })
    }

    /// The bytes that its text lacks, if it changes nothing else.
    pub(super) fn missing(&self) -> Option<Missing> {
        let shifts = match &self.change {
            Change::Shorten(spans) if spans.len() > 1 => return None,
            Change::Move { .. } | Change::Double(_) => return None,
            change => shifts(change).collect(),
        };
        Some(Missing { replaced: self.replaced, kept: self.kept, shifts })
    }

    /// The rate at which the missing bytes are needed.
    pub(super) fn rate(&self, need: &Need) -> f64 {
        let (replaced, kept) = (self.replaced, self.kept);
        let of = |shift| need.rate_without((replaced.0 + shift, replaced.1 + shift), (kept.0 + shift, kept.1 + shift));
        shifts(&self.change).map(of).sum()
    }

    /// The least probability that no missing byte is needed for a test to be made. If each of several equal parts is
    /// needed alone, this says little about all of them together; the same is true of two in place of one.
    pub(super) fn least_probability(&self) -> f64 {
        match &self.change {
            _ if self.takes_all => 0.0,
            Change::Double(_) => 0.0,
            Change::Shorten(spans) if spans.len() > 1 => 0.0,
            Change::Refit { .. } | Change::Move { .. } => 0.01,
            _ => 0.03,
        }
    }

    /// Whether the change needs a parse.
    pub(super) fn is_parsed(&self) -> bool {
        matches!(self.change, Change::Text(_) | Change::Move { .. } | Change::Double(_))
    }

    /// Whether the result should consist of old text, except for a shortest part. New text rarely passes the test.
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
                let mut end = 0;
                for &number in spans {
                    let span = input.span(number);
                    let mut part = Vec::new();
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
                if let (Some(&first), Some(&last)) = (kept.first(), kept.last()) {
                    let (first, last) = (input.span(numbers[first]), input.span(numbers[last]));
                    self.kept = (first.output.0, last.output.1.max(first.output.0));
                }
                choices.extend_from_slice(&old[whole.choices().end..]);
            }
        }
        true
    }
}
