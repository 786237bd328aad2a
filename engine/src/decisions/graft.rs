//! Replaces parts of a text by copies of other parts, with their decisions.

use gramjet::choices::SpanKind;

use super::{Decision, Derivation, Deriver, Fit, Offers, OpenSite, Outline, Part, Weights, most_decisions};
use crate::tracer::Grammar;

/// There is room for this many parts around a change before memory is asked for again.
const OPEN: usize = 64;

/// A part of a text by its number, and what is changed there.
pub type Edit<'d> = (usize, Change<'d>);

/// A change of a text at one of its parts.
#[derive(Clone, Copy, Debug)]
pub enum Change<'d> {
    /// The part with this number of a text replaces it. Both have the same symbol, and are no rounds.
    By(&'d Derivation, usize),
    /// The part, which is a round, is left out.
    Out,
    /// The rounds of a repetition that was derived by itself come after the part, which is a round of the same
    /// repetition, or at the end of it, which is that repetition. Rounds that have to be do not count.
    Rounds(&'d Derivation),
}

/// Amount of a derivation that is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// All of its derivation.
    #[default]
    Whole,
    /// All but its parts, which [`Deriver::complete`] adds. To write them takes as long as all else. What is drawn as a
    /// part lists itself, but not what is within it: it can be put in place of a part of a text. Of a round, the
    /// first part within it is listed: a round is not put into a text by itself.
    NoParts,
}

/// A stretch of a text: of its parts, decisions and bytes.
#[derive(Clone, Copy)]
struct Stretch {
    parts: (u32, u32),
    decisions: (u32, u32),
    text: (u32, u32),
}

impl Stretch {
    /// Returns a part with all that is in it.
    fn of(whole: &Derivation, number: usize) -> Option<Stretch> {
        let part = whole.parts.get(number)?;
        Some(Stretch { parts: (number as u32, part.next), decisions: part.decisions, text: part.text })
    }

    /// Returns the rounds of the repetition that a derivation is.
    fn of_rounds(whole: &Derivation) -> Option<Stretch> {
        let first = whole.within(0).position(|part| part.kind == SpanKind::Round)?;
        let round = whole.within(0).nth(first)?;
        let number = whole.within(0).take(first).last().map_or(1, |before| before.next);
        let repetition = whole.parts.first().filter(|part| is_free(part))?;
        Some(Stretch {
            parts: (number, repetition.next),
            // The last site decides against another round.
            decisions: (round.decisions.0, repetition.decisions.1 - 1),
            text: (round.text.0, repetition.text.1),
        })
    }

    /// Returns the empty stretch before its end.
    fn at_end(self, has_site: bool) -> Stretch {
        let at = |(_, end): (u32, u32), back: u32| (end - back, end - back);
        Stretch { parts: at(self.parts, 0), decisions: at(self.decisions, has_site.into()), text: at(self.text, 0) }
    }

    fn parts_of(self, whole: &Derivation) -> &[Part] {
        &whole.parts[self.parts.0 as usize..self.parts.1 as usize]
    }

    fn outline_of(self, whole: &Derivation, weights: &Weights) -> Outline {
        let has_all = (self.decisions, self.text) == ((0, whole.decisions.len() as u32), (0, whole.text.len() as u32));
        if self.parts.0 == 0 && has_all {
            // Its parts may not be listed.
            return whole.outline;
        }
        let mut outline = Outline::default();
        self.parts_of(whole).iter().for_each(|part| outline.add(weights.of(part.symbol)));
        outline
    }

    fn texts(self, whole: &Derivation) -> &[u8] {
        &whole.text[self.text.0 as usize..self.text.1 as usize]
    }
}

/// Stretch of a text that is replaced, and the stretch of another one that takes its place, with how much deeper it is
/// then.
#[derive(Clone, Copy)]
struct Exchange<'d> {
    old: Stretch,
    new: Option<(&'d Derivation, Stretch, u32)>,
}

impl<'d> Exchange<'d> {
    /// Returns the exchange for an edit. `None` if it is not possible.
    fn new(whole: &Derivation, (place, change): Edit<'d>) -> Option<Exchange<'d>> {
        let (part, old) = (whole.parts.get(place)?, Stretch::of(whole, place)?);
        let deeper = |new: &Part| part.depth.wrapping_sub(new.depth);
        let is_round = part.kind == SpanKind::Round;
        match change {
            Change::By(other, number) => {
                let new = other.parts.get(number).filter(|new| new.symbol == part.symbol && !is_round)?;
                Some(Exchange { old, new: Some((other, Stretch::of(other, number)?, deeper(new))) })
            }
            Change::Out => {
                repetition_of(whole, place).filter(|outer| is_round && is_free(outer))?;
                Some(Exchange { old, new: None })
            }
            Change::Rounds(other) => {
                let repetition = if is_round { repetition_of(whole, place)? } else { part };
                let new = other.parts.first().filter(|new| new.symbol == repetition.symbol && is_free(repetition))?;
                let rounds = Stretch::of_rounds(other)?;
                Some(Exchange { old: old.at_end(!is_round), new: Some((other, rounds, deeper(new))) })
            }
        }
    }

    /// Returns by how much the text gets longer.
    fn shift(&self) -> Shift {
        let size = |(from, to): (u32, u32)| to - from;
        let grown = |of: fn(&Stretch) -> (u32, u32)| {
            self.new.map_or(0, |(_, new, _)| size(of(&new))).wrapping_sub(size(of(&self.old)))
        };
        Shift {
            text: grown(|stretch| stretch.text),
            decisions: grown(|stretch| stretch.decisions),
            parts: grown(|stretch| stretch.parts),
        }
    }
}

impl Deriver {
    /// Derives a text with a part of another one in place of one of its own; see [`Deriver::graft_all`].
    pub fn graft(
        &self,
        (whole, place): (&Derivation, usize),
        (other, number): (&Derivation, usize),
        extent: Extent,
        derivation: &mut Derivation,
    ) -> bool {
        let exchange = Exchange::new(whole, (place, Change::By(other, number)));
        exchange.is_some_and(|exchange| self.exchange_all(whole, &[exchange], extent, derivation))
    }

    /// Derives a text with changes at some of its parts, which must be apart from each other and in ascending order.
    /// All texts must have been derived under the limit of this deriver, or as parts.
    ///
    /// The result is what [`Deriver::replay`] makes of the options; `extent` says how much of it is wanted. But the
    /// machine does not run: options are compared with the room that they have, and all else is copied. False if a
    /// change is not possible, if the repetition of a round has a greatest number of rounds, or if the text or its list
    /// of decisions is too long; then `derivation` is of no use.
    ///
    /// # Panics
    ///
    /// If a change is before the one that is given before it, or within it.
    pub fn graft_all<'d>(
        &self,
        whole: &Derivation,
        edits: impl Iterator<Item = Edit<'d>> + Clone,
        extent: Extent,
        derivation: &mut Derivation,
    ) -> bool {
        let mut exchanges = Vec::with_capacity(edits.size_hint().0);
        for edit in edits {
            let Some(exchange) = Exchange::new(whole, edit) else { return false };
            exchanges.push(exchange);
        }
        self.exchange_all(whole, &exchanges, extent, derivation)
    }

    /// Adds the parts that the derivation of a whole text may lack. It must have been made under the limit of this
    /// deriver.
    pub fn complete(&mut self, derivation: &mut Derivation) {
        if !derivation.parts.is_empty() || !derivation.is_of_language() {
            return;
        }
        let options: Vec<u32> = derivation.options().collect();
        let mut whole = std::mem::take(&mut self.whole);
        self.replay(&options, &mut whole);
        // Also if it was cut short.
        debug_assert!(whole.decisions == derivation.decisions && whole.text == derivation.text);
        debug_assert!(whole.outline == derivation.outline);
        derivation.parts.extend_from_slice(&whole.parts);
        self.whole = whole;
    }

    /// Derives a text with changes that are prepared; see [`Deriver::graft_all`].
    fn exchange_all(
        &self,
        whole: &Derivation,
        exchanges: &[Exchange<'_>],
        extent: Extent,
        derivation: &mut Derivation,
    ) -> bool {
        let mut grown = Shift::default();
        exchanges.iter().for_each(|exchange| grown.add(exchange.shift()));
        let len = (whole.text.len() as u32).wrapping_add(grown.text);
        let decisions = (whole.decisions.len() as u32).wrapping_add(grown.decisions);
        if self.max_len.is_some_and(|most| u64::from(len) > most) || u64::from(decisions) > most_decisions(self.max_len)
        {
            return false;
        }
        derivation.clear();
        if self.ir().has_labels() {
            return self.exchange_options(whole, exchanges, extent, derivation);
        }
        // Only the decisions can fail, so they come first.
        if !self.graft_decisions(whole, exchanges, derivation) {
            return false;
        }
        graft_text(whole, exchanges, derivation);
        derivation.outline = exchanges.iter().fold(whole.outline, |outline, Exchange { old, new }| {
            let of = |stretch: Stretch, whole| stretch.outline_of(whole, &self.grammar.weights);
            outline.exchange(of(*old, whole), new.map_or(Outline::default(), |(other, new, _)| of(new, other)))
        });
        if extent == Extent::Whole {
            graft_parts(whole, exchanges, derivation);
            debug_assert!(derivation.outline == Outline::of(&derivation.parts), "instances of rules are missing");
        }
        true
    }

    /// Derives a text with changes anew: bytes outside a part can follow from what is inside.
    fn exchange_options(
        &self,
        whole: &Derivation,
        exchanges: &[Exchange<'_>],
        extent: Extent,
        derivation: &mut Derivation,
    ) -> bool {
        let stretch = |of: &Derivation, (from, to): (u32, u32)| -> Vec<u32> {
            of.options().skip(from as usize).take(to.wrapping_sub(from) as usize).collect()
        };
        let (mut options, mut at) = (Vec::new(), 0);
        for Exchange { old, new } in exchanges {
            options.extend(stretch(whole, (at, old.decisions.0)));
            options.extend(new.map(|(other, new, _)| stretch(other, new.decisions)).unwrap_or_default());
            at = old.decisions.1;
        }
        options.extend(stretch(whole, (at, whole.decisions.len() as u32)));
        let mut deriver = self.clone();
        let fit = deriver.derive_as(extent, &options, &mut |_: &OpenSite<'_>| 0, derivation);
        fit == Fit::Exact && self.max_len.is_none_or(|most| derivation.text.len() as u64 <= most)
    }

    /// Writes the decisions of a text with other parts. What is decided before a part does not depend on it; what
    /// follows has the room that it leaves.
    fn graft_decisions(&self, whole: &Derivation, exchanges: &[Exchange<'_>], derivation: &mut Derivation) -> bool {
        let room_at = |decisions: &[Decision], at: usize| decisions.get(at).map_or(0, |first| i64::from(first.room));
        let (mut at, mut after) = (0, 0);
        for &Exchange { old, new } in exchanges {
            let begin = old.decisions.0 as usize;
            if !self.copy(&whole.decisions[at..begin], after, derivation) {
                return false;
            }
            if let Some((other, new, _)) = new {
                let range = new.decisions.0 as usize..new.decisions.1 as usize;
                // The site at the place has the same room as the first one of what comes there.
                let within = match room_at(&whole.decisions, begin) {
                    _ if range.is_empty() => 0,
                    _ if begin == whole.decisions.len() => return false,
                    room => after + room - room_at(&other.decisions, range.start),
                };
                if !self.copy(&other.decisions[range], within, derivation) {
                    return false;
                }
                after -= i64::from(new.text.1 - new.text.0);
            }
            after += i64::from(old.text.1 - old.text.0);
            at = old.decisions.1 as usize;
        }
        self.copy(&whole.decisions[at..], after, derivation)
    }

    /// Copies decisions that have this many bytes more room; whether all of them can be taken then.
    fn copy(&self, decisions: &[Decision], by: i64, derivation: &mut Derivation) -> bool {
        if by == 0 && self.max_len.is_some() {
            derivation.decisions.extend_from_slice(decisions);
            return true;
        }
        let (by, grammar) = (self.max_len.map(|_| by), &*self.grammar);
        let offers = grammar.offers.get_or_init(|| Offers::new(grammar));
        let mut are_offered = true;
        derivation.decisions.extend(decisions.iter().map(|decision| {
            let (moved, is_offered) = decision.moved(by, offers, grammar);
            are_offered &= is_offered;
            moved
        }));
        are_offered
    }
}

/// Returns the repetition of a round.
fn repetition_of(whole: &Derivation, round: usize) -> Option<&Part> {
    let is_around = |outer: &&Part| outer.next as usize > round && matches!(outer.kind, SpanKind::Repetition { .. });
    whole.parts[..round].iter().rfind(is_around)
}

/// Returns true if it is a repetition without a greatest number of rounds.
fn is_free(part: &Part) -> bool {
    part.kind == SpanKind::Repetition { room: u32::MAX }
}

impl Decision {
    /// Returns the decision with this many bytes more room, or without a limit; and whether the option is offered then.
    #[inline]
    fn moved(self, by: Option<i64>, offers: &Offers, grammar: &Grammar) -> (Decision, bool) {
        let room = by.map_or(i64::from(u32::MAX), |by| i64::from(self.room) + by);
        if room == i64::from(self.room) {
            return (self, true);
        }
        let (room, has_room) = (room as u32, u32::try_from(room).is_ok());
        let offered = offers.of(self.place, room, grammar);
        (Decision { room, offered, ..self }, has_room && self.option < offered)
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
    fn add(&mut self, by: Shift) {
        self.text = self.text.wrapping_add(by.text);
        self.decisions = self.decisions.wrapping_add(by.decisions);
        self.parts = self.parts.wrapping_add(by.parts);
    }

    /// Adds copies of parts, with their places moved.
    fn copy(self, parts: &[Part], deeper: u32, to: &mut Vec<Part>) {
        let Shift { text, decisions, parts: next } = self;
        if text | decisions | next | deeper == 0 {
            return to.extend_from_slice(parts);
        }
        let moved = |range: (u32, u32), by: u32| (range.0.wrapping_add(by), range.1.wrapping_add(by));
        to.extend(parts.iter().map(|part| Part {
            kind: part.kind,
            symbol: part.symbol,
            depth: part.depth.wrapping_add(deeper),
            decisions: moved(part.decisions, decisions),
            text: moved(part.text, text),
            next: part.next.wrapping_add(next),
        }));
    }

    /// Lets a part end later, as what is within it has changed.
    fn move_end(self, of: &Part, part: &mut Part) {
        part.decisions.1 = of.decisions.1.wrapping_add(self.decisions);
        part.text.1 = of.text.1.wrapping_add(self.text);
        part.next = of.next.wrapping_add(self.parts);
    }
}

fn graft_text(whole: &Derivation, exchanges: &[Exchange<'_>], to: &mut Derivation) {
    let mut at = 0;
    for &Exchange { old, new } in exchanges {
        to.text.extend_from_slice(&whole.text[at..old.text.0 as usize]);
        if let Some((other, new, _)) = new {
            to.text.extend_from_slice(new.texts(other));
        }
        at = old.text.1 as usize;
    }
    to.text.extend_from_slice(&whole.text[at..]);
}

/// Writes the parts of a text with others in place of some of them.
fn graft_parts(whole: &Derivation, exchanges: &[Exchange<'_>], to: &mut Derivation) {
    let (mut at, mut grown) = (0, Shift::default());
    // Parts around the last change, by their numbers before and after: further ones may be within them.
    let mut open: Vec<(u32, u32)> = Vec::with_capacity(OPEN);
    let end = |parts: &mut [Part], (number, moved): (u32, u32), grown: Shift| {
        grown.move_end(&whole.parts[number as usize], &mut parts[moved as usize]);
    };
    for exchange in exchanges {
        let (old, begin) = (exchange.old, exchange.old.parts.0 as usize);
        // Where nothing is taken out, a part may end right there. The last site of a repetition comes after its rounds.
        let is_around = |part: &Part| {
            let next = part.next as usize;
            next > begin || next == begin && part.decisions.1 > old.decisions.1
        };
        while let Some(outer) = open.pop_if(|outer| !is_around(&whole.parts[outer.0 as usize])) {
            end(&mut to.parts, outer, grown);
        }
        grown.copy(&whole.parts[at..begin], 0, &mut to.parts);
        // What is within a part that ends before is not around the change either.
        while at < begin {
            let part = &whole.parts[at];
            if is_around(part) {
                open.push((at as u32, (at as u32).wrapping_add(grown.parts)));
                at += 1;
            } else {
                at = part.next as usize;
            }
        }
        if let Some((other, new, deeper)) = exchange.new {
            let start = Shift {
                text: old.text.0.wrapping_add(grown.text).wrapping_sub(new.text.0),
                decisions: old.decisions.0.wrapping_add(grown.decisions).wrapping_sub(new.decisions.0),
                parts: (to.parts.len() as u32).wrapping_sub(new.parts.0),
            };
            start.copy(new.parts_of(other), deeper, &mut to.parts);
        }
        grown.add(exchange.shift());
        at = old.parts.1 as usize;
    }
    grown.copy(&whole.parts[at..], 0, &mut to.parts);
    for outer in open {
        end(&mut to.parts, outer, grown);
    }
}
