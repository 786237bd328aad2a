//! A part in place of another one, copied with its decisions.

use gramjet::choices::SpanKind;
use gramjet_compiler::ir::NodeId;
use gramjet_compiler::machine::offered;

use super::{Decision, Derivation, Deriver, Part, most_decisions};
use crate::tracer::Grammar;

impl Deriver {
    /// Derives a text with a part of another one in place of one of its own; both parts by their numbers. Both texts
    /// must have been derived under the limit of this deriver.
    ///
    /// The result is what [`Deriver::replay`] makes of the options, but the machine does not run: options are compared
    /// with the room that they have, and all else is copied. False if the symbols differ, if the part is a round, or if
    /// the text or its list of decisions is too long; then `derivation` is of no use.
    pub fn graft(
        &self,
        (whole, place): (&Derivation, usize),
        (other, number): (&Derivation, usize),
        derivation: &mut Derivation,
    ) -> bool {
        let (Some(&old), Some(&new)) = (whole.parts.get(place), other.parts.get(number)) else { return false };
        let len = whole.text.len() - old.len() + new.len();
        let decided = |part: &Part| (part.decisions.1 - part.decisions.0) as usize;
        let decisions = whole.decisions.len() - decided(&old) + decided(&new);
        let is_long =
            self.max_len.is_some_and(|most| len as u64 > most) || decisions as u64 > most_decisions(self.max_len);
        if old.symbol != new.symbol || old.kind == SpanKind::Round || is_long {
            return false;
        }
        derivation.clear();
        let (at, end) = (old.text.0 as usize, old.text.1 as usize);
        for text in [&whole.text[..at], other.text_of(&new), &whole.text[end..]] {
            derivation.text.extend_from_slice(text);
        }
        graft_parts((whole, place), (other, number), derivation);
        self.graft_decisions((whole, &old), (other, &new), derivation)
    }

    /// What is decided before a part does not depend on it; what follows has the room that it leaves.
    fn graft_decisions(
        &self,
        (whole, old): (&Derivation, &Part),
        (other, new): (&Derivation, &Part),
        derivation: &mut Derivation,
    ) -> bool {
        let range = |part: &Part| part.decisions.0 as usize..part.decisions.1 as usize;
        let (old_range, new_range) = (range(old), range(new));
        let room_at = |decisions: &[Decision], at: usize| decisions.get(at).map_or(0, |first| i64::from(first.room));
        let within = match room_at(&whole.decisions, old_range.start) {
            _ if new_range.is_empty() => 0,
            _ if old_range.is_empty() => return false,
            room => room - room_at(&other.decisions, new_range.start),
        };
        let after = old.len() as i64 - new.len() as i64;
        derivation.decisions.extend_from_slice(&whole.decisions[..old_range.start]);
        let by = |bytes: i64| self.max_len.map(|_| bytes);
        for (decisions, by) in
            [(&other.decisions[new_range], by(within)), (&whole.decisions[old_range.end..], by(after))]
        {
            for decision in decisions {
                let Some(moved) = decision.moved(by, &self.grammar) else { return false };
                derivation.decisions.push(moved);
            }
        }
        true
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

/// The parts of a text with those of another one in place of a part.
fn graft_parts((whole, place): (&Derivation, usize), (other, number): (&Derivation, usize), to: &mut Derivation) {
    let (old, new) = (whole.parts[place], other.parts[number]);
    // Differences of unsigned numbers, which may wrap.
    let from = |a: (u32, u32), b: (u32, u32)| (a.1 - a.0).wrapping_sub(b.1 - b.0);
    let (decided, text) = (from(new.decisions, old.decisions), from(new.text, old.text));
    let parts = from((number as u32, new.next), (place as u32, old.next));
    to.parts.extend(whole.parts[..place].iter().map(|part| {
        let mut part = *part;
        if part.next as usize > place {
            part.decisions.1 = part.decisions.1.wrapping_add(decided);
            part.text.1 = part.text.1.wrapping_add(text);
            part.next = part.next.wrapping_add(parts);
        }
        part
    }));
    let moved = |part: &Part, decided: u32, text: u32, parts: u32, deeper: u32| Part {
        depth: part.depth.wrapping_add(deeper),
        decisions: (part.decisions.0.wrapping_add(decided), part.decisions.1.wrapping_add(decided)),
        text: (part.text.0.wrapping_add(text), part.text.1.wrapping_add(text)),
        next: part.next.wrapping_add(parts),
        ..*part
    };
    let start = (old.decisions.0.wrapping_sub(new.decisions.0), old.text.0.wrapping_sub(new.text.0));
    let (first, deeper) = ((place as u32).wrapping_sub(number as u32), old.depth.wrapping_sub(new.depth));
    let inner = other.parts[number..new.next as usize].iter();
    to.parts.extend(inner.map(|part| moved(part, start.0, start.1, first, deeper)));
    let after = whole.parts[old.next as usize..].iter();
    to.parts.extend(after.map(|part| moved(part, decided, text, parts, 0)));
}
