//! Parts in place of others, copied with their decisions.

use gramjet::choices::SpanKind;
use gramjet_compiler::ir::NodeId;
use gramjet_compiler::machine::offered;

use super::{Decision, Derivation, Deriver, Part, most_decisions};
use crate::tracer::Grammar;

/// A part of a text by its number, and the part of a text that replaces it; none if it is left out.
pub type Edit<'d> = (usize, Option<(&'d Derivation, usize)>);

impl Deriver {
    /// Derives a text with a part of another one in place of one of its own; see [`Deriver::graft_all`].
    pub fn graft(
        &self,
        (whole, place): (&Derivation, usize),
        (other, number): (&Derivation, usize),
        derivation: &mut Derivation,
    ) -> bool {
        self.graft_all(whole, std::iter::once((place, Some((other, number)))), derivation)
    }

    /// Derives a text with other parts in place of some of its own, which must be apart from each other and in ascending
    /// order. A round of a repetition without a greatest number can be left out. All texts must have been derived under the limit of this deriver.
    ///
    /// The result is what [`Deriver::replay`] makes of the options, but the machine does not run: options are compared
    /// with the room that they have, and all else is copied. False if the symbols of two parts differ, if a round is
    /// replaced, if another part is left out, or if the text or its list of decisions is too long; then `derivation` is
    /// of no use.
    pub fn graft_all<'d>(
        &self,
        whole: &Derivation,
        edits: impl Iterator<Item = Edit<'d>> + Clone,
        derivation: &mut Derivation,
    ) -> bool {
        let mut grown = Shift::default();
        for (place, by) in edits.clone() {
            let can_be = match (whole.parts.get(place), by) {
                (Some(old), Some((other, number))) => {
                    let is_same = |new: &Part| new.symbol == old.symbol;
                    old.kind != SpanKind::Round && other.parts.get(number).is_some_and(is_same)
                }
                (Some(old), None) => old.kind == SpanKind::Round && whole.is_of_any_number(place),
                (None, _) => false,
            };
            if !can_be {
                return false;
            }
            grown.add(Shift::of(whole, place, by));
        }
        let len = (whole.text.len() as u32).wrapping_add(grown.text);
        let decisions = (whole.decisions.len() as u32).wrapping_add(grown.decisions);
        if self.max_len.is_some_and(|most| u64::from(len) > most) || u64::from(decisions) > most_decisions(self.max_len)
        {
            return false;
        }
        derivation.clear();
        graft_text(whole, edits.clone(), derivation);
        graft_parts(whole, edits.clone(), derivation);
        self.graft_decisions(whole, edits, derivation)
    }

    /// What is decided before a part does not depend on it; what follows has the room that it leaves.
    fn graft_decisions<'d>(
        &self,
        whole: &Derivation,
        edits: impl Iterator<Item = Edit<'d>>,
        derivation: &mut Derivation,
    ) -> bool {
        let room_at = |decisions: &[Decision], at: usize| decisions.get(at).map_or(0, |first| i64::from(first.room));
        let (mut at, mut after) = (0, 0);
        for (place, by) in edits {
            let old = &whole.parts[place];
            let (begin, end) = (old.decisions.0 as usize, old.decisions.1 as usize);
            if !self.copy(&whole.decisions[at..begin], after, derivation) {
                return false;
            }
            if let Some((other, number)) = by {
                let new = &other.parts[number];
                let range = new.decisions.0 as usize..new.decisions.1 as usize;
                let within = match room_at(&whole.decisions, begin) {
                    _ if range.is_empty() => 0,
                    _ if begin == end => return false,
                    room => after + room - room_at(&other.decisions, range.start),
                };
                if !self.copy(&other.decisions[range], within, derivation) {
                    return false;
                }
                after -= new.len() as i64;
            }
            after += old.len() as i64;
            at = end;
        }
        self.copy(&whole.decisions[at..], after, derivation)
    }

    /// Copies decisions that have this many bytes more room; whether all of them can be taken then.
    fn copy(&self, decisions: &[Decision], by: i64, derivation: &mut Derivation) -> bool {
        if by == 0 && self.max_len.is_some() {
            derivation.decisions.extend_from_slice(decisions);
            return true;
        }
        let by = self.max_len.map(|_| by);
        let before = derivation.decisions.len();
        derivation.decisions.extend(decisions.iter().map_while(|decision| decision.moved(by, &self.grammar)));
        derivation.decisions.len() - before == decisions.len()
    }
}

impl Derivation {
    /// Whether the repetition of a round has no greatest number of rounds.
    fn is_of_any_number(&self, round: usize) -> bool {
        let is_around =
            |outer: &&Part| outer.next as usize > round && matches!(outer.kind, SpanKind::Repetition { .. });
        let repetition = self.parts[..round].iter().rfind(is_around);
        repetition.is_some_and(|repetition| repetition.kind == SpanKind::Repetition { room: u32::MAX })
    }
}

impl Decision {
    /// The same decision with its room changed by this many bytes, or without a limit; none if the option is not
    /// offered then.
    fn moved(self, by: Option<i64>, grammar: &Grammar) -> Option<Decision> {
        let room = match by {
            Some(by) => u32::try_from(i64::from(self.room) + by).ok()?,
            None => u32::MAX,
        };
        if room == self.room {
            return Some(self);
        }
        let ample = grammar.ample.get(self.place as usize).copied().unwrap_or(u32::MAX);
        if self.room >= ample && room >= ample {
            return Some(Decision { room, ..self });
        }
        let offered = offered(&grammar.lowered, NodeId::new(self.place as usize), room.into());
        (self.option < offered).then_some(Decision { room, offered, ..self })
    }
}

/// By how much a text, and its lists of decisions and of parts, get longer: differences of unsigned numbers, which
/// wrap.
#[derive(Clone, Copy, Default)]
struct Shift {
    text: u32,
    decisions: u32,
    parts: u32,
}

impl Shift {
    /// By an edit.
    fn of(whole: &Derivation, place: usize, by: Option<(&Derivation, usize)>) -> Shift {
        let size = |number: usize, part: &Part| Shift {
            text: part.text.1 - part.text.0,
            decisions: part.decisions.1 - part.decisions.0,
            parts: part.next - number as u32,
        };
        let old = size(place, &whole.parts[place]);
        let new = by.map_or_else(Shift::default, |(other, number)| size(number, &other.parts[number]));
        Shift {
            text: new.text.wrapping_sub(old.text),
            decisions: new.decisions.wrapping_sub(old.decisions),
            parts: new.parts.wrapping_sub(old.parts),
        }
    }

    fn add(&mut self, by: Shift) {
        self.text = self.text.wrapping_add(by.text);
        self.decisions = self.decisions.wrapping_add(by.decisions);
        self.parts = self.parts.wrapping_add(by.parts);
    }

    fn moved(self, part: &Part, deeper: u32) -> Part {
        let Shift { text, decisions, parts } = self;
        Part {
            depth: part.depth.wrapping_add(deeper),
            decisions: (part.decisions.0.wrapping_add(decisions), part.decisions.1.wrapping_add(decisions)),
            text: (part.text.0.wrapping_add(text), part.text.1.wrapping_add(text)),
            next: part.next.wrapping_add(parts),
            ..*part
        }
    }
}

fn graft_text<'d>(whole: &Derivation, edits: impl Iterator<Item = Edit<'d>>, to: &mut Derivation) {
    let mut at = 0;
    for (place, by) in edits {
        let old = &whole.parts[place];
        to.text.extend_from_slice(&whole.text[at..old.text.0 as usize]);
        if let Some((other, number)) = by {
            to.text.extend_from_slice(other.text_of(&other.parts[number]));
        }
        at = old.text.1 as usize;
    }
    to.text.extend_from_slice(&whole.text[at..]);
}

/// The parts of a text with others in place of some of them.
fn graft_parts<'d>(whole: &Derivation, mut edits: impl Iterator<Item = Edit<'d>> + Clone, to: &mut Derivation) {
    let (mut at, mut grown) = (0, Shift::default());
    while let Some((place, by)) = edits.next() {
        let old = whole.parts[place];
        let shift = Shift::of(whole, place, by);
        // The parts around this one end later; how much later, also depends on further edits within them.
        let end = |part: &Part| {
            let mut end = grown;
            end.add(shift);
            let within = edits.clone().take_while(|further| further.0 < part.next as usize);
            within.for_each(|(place, by)| end.add(Shift::of(whole, place, by)));
            end
        };
        to.parts.extend(whole.parts[at..place].iter().map(|part| {
            let mut moved = grown.moved(part, 0);
            if part.next as usize > place {
                let end = end(part).moved(part, 0);
                (moved.decisions.1, moved.text.1, moved.next) = (end.decisions.1, end.text.1, end.next);
            }
            moved
        }));
        if let Some((other, number)) = by {
            let new = other.parts[number];
            let start = Shift {
                text: old.text.0.wrapping_add(grown.text).wrapping_sub(new.text.0),
                decisions: old.decisions.0.wrapping_add(grown.decisions).wrapping_sub(new.decisions.0),
                parts: (to.parts.len() as u32).wrapping_sub(number as u32),
            };
            let deeper = old.depth.wrapping_sub(new.depth);
            to.parts.extend(other.parts[number..new.next as usize].iter().map(|part| start.moved(part, deeper)));
        }
        grown.add(shift);
        at = old.next as usize;
    }
    to.parts.extend(whole.parts[at..].iter().map(|part| grown.moved(part, 0)));
}
