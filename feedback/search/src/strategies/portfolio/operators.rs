//! Operators: ways to make a text of one or two others, exactly and within the limit on length.

use gramjet_session::SpanKind;
use gramjet_session::decisions::{Change, Chooser, Derivation, Extent, Fit, OpenSite, Part};

use super::archive::Archive;
use super::habits::Habits;
use crate::pump::{Copies, Open, Spot, spots};
use crate::random::Random;
use crate::strategy::{Desk, Evenly};

/// A way to make a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// A text at random.
    Fresh,
    /// A part is drawn anew.
    Redraw,
    /// A part is drawn anew with the habits of the texts that cost most.
    Habit,
    /// A part of another text replaces one.
    Splice,
    /// A part of the same text replaces one.
    Copy,
    /// Two parts change places.
    Swap,
    /// A site takes another option.
    Change,
    /// The next of all changes of one decision.
    Next,
    /// A round of a repetition, or the part between two instances of a rule, is repeated.
    Repeat,
    /// A part gets shorter, and another one gets its room.
    Shift,
    /// All parts with the same text get another one.
    Rename,
    /// Several of the others.
    Several,
}

impl Operator {
    pub(super) const ALL: [Operator; 12] = [
        Operator::Fresh,
        Operator::Redraw,
        Operator::Habit,
        Operator::Splice,
        Operator::Copy,
        Operator::Swap,
        Operator::Change,
        Operator::Next,
        Operator::Repeat,
        Operator::Shift,
        Operator::Rename,
        Operator::Several,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Operator::Fresh => "fresh",
            Operator::Redraw => "redraw",
            Operator::Habit => "habit",
            Operator::Splice => "splice",
            Operator::Copy => "copy",
            Operator::Swap => "swap",
            Operator::Change => "change",
            Operator::Next => "next",
            Operator::Repeat => "repeat",
            Operator::Shift => "shift",
            Operator::Rename => "rename",
            Operator::Several => "several",
        }
    }
}

/// The operators with the memory that they reuse.
#[derive(Clone, Debug, Default)]
pub(super) struct Workshop {
    options: Vec<u32>,
    places: Vec<usize>,
    /// Parts among which one is picked.
    fitting: Vec<usize>,
    spots: Vec<Spot>,
    part: Derivation,
    other: Derivation,
    between: Derivation,
    shorter: Derivation,
    open: Open,
    /// Extent to which the next text is wanted.
    extent: Extent,
}

/// At most this many operators make one text.
const MOST: usize = 4;
/// At most this many numbers are drawn before all are looked at.
const DRAWS: usize = 12;
/// At most this many copies are grafted in turn; more are derived at once, as each graft takes a whole text.
const GRAFTS: u32 = 16;
/// At most this many options of a site are tried in turn.
const OPTIONS: u32 = 16;

impl Workshop {
    /// Writes a text to `child`; says whether that was possible. `number` is that of the text that is varied.
    pub(super) fn make(
        &mut self,
        operator: Operator,
        desk: &mut Desk,
        (archive, number): (&mut Archive, usize),
        habits: &Habits,
        child: &mut Derivation,
    ) -> bool {
        // Only texts that others are made of need their parts at once.
        self.extent = if operator == Operator::Several { Extent::Whole } else { Extent::NoParts };
        if operator == Operator::Fresh {
            desk.draw_text(child);
            return true;
        }
        if operator == Operator::Next {
            return self.next(desk, archive, number, child);
        }
        if operator != Operator::Several {
            return self.one(operator, desk, (archive, number), None, habits, child);
        }
        let mut between = std::mem::take(&mut self.between);
        let times = 2 + desk.random.below(MOST - 1);
        let mut is_changed = false;
        for _ in 0..times {
            let operator = [Operator::Redraw, Operator::Habit, Operator::Splice, Operator::Copy, Operator::Change]
                [desk.random.below(5)];
            let from = is_changed.then_some(&between);
            if self.one(operator, desk, (archive, number), from, habits, child) {
                std::mem::swap(&mut between, child);
                is_changed = true;
            }
        }
        std::mem::swap(&mut between, child);
        self.between = between;
        is_changed
    }

    /// Makes a text of the one with this number, or of `from`, which was made of it.
    fn one(
        &mut self,
        operator: Operator,
        desk: &mut Desk,
        (archive, number): (&mut Archive, usize),
        from: Option<&Derivation>,
        habits: &Habits,
        child: &mut Derivation,
    ) -> bool {
        let other = if operator == Operator::Splice { archive.draw_other(&mut desk.random) } else { None };
        for number in other.iter().copied().chain([number]) {
            archive.complete(number, &mut desk.deriver);
        }
        let archive = &*archive;
        let whole = from.unwrap_or_else(|| &archive.entry(number).derivation);
        match operator {
            Operator::Redraw => self.redraw(desk, whole, None, child),
            Operator::Habit => self.redraw(desk, whole, Some(habits), child),
            Operator::Splice => {
                other.is_some_and(|other| self.splice(desk, whole, &archive.entry(other).derivation, child))
            }
            Operator::Copy => self.splice(desk, whole, whole, child),
            Operator::Swap => self.swap(desk, whole, child),
            Operator::Change => self.change_any(desk, whole, child),
            Operator::Repeat => self.repeat(desk, whole, child),
            Operator::Shift => self.shift(desk, whole, child),
            Operator::Rename => self.rename(desk, whole, child),
            Operator::Fresh | Operator::Next | Operator::Several => false,
        }
    }

    /// Derives the text with the part that was drawn in place of one of its own.
    fn put(&self, desk: &Desk, whole: &Derivation, place: usize, child: &mut Derivation) -> bool {
        desk.deriver.graft((whole, place), (&self.part, 0), self.extent, child) && child.text != whole.text
    }

    /// Derives the text without a round.
    fn drop_round(&mut self, desk: &mut Desk, whole: &Derivation, place: usize, child: &mut Derivation) -> bool {
        if desk.deriver.graft_all(whole, std::iter::once((place, Change::Out)), self.extent, child) {
            return child.text != whole.text;
        }
        // The number of rounds is limited.
        whole.replaced(&whole.parts[place], std::iter::empty(), &mut self.options);
        desk.deriver.replay(&self.options, child) == Fit::Exact && child.text != whole.text
    }

    fn redraw(&mut self, desk: &mut Desk, whole: &Derivation, habits: Option<&Habits>, child: &mut Derivation) -> bool {
        let Some(place) = pick_part(desk, whole) else { return false };
        let part = &whole.parts[place];
        let room = part.len() + desk.max_len - whole.text.len();
        self.draw(desk, part, room, habits);
        self.put(desk, whole, place, child)
    }

    /// Draws a part, the longest of one to four draws, as most draws are short.
    fn draw(&mut self, desk: &mut Desk, place: &Part, room: usize, habits: Option<&Habits>) {
        let draws = 1 + desk.random.below(4);
        for draw in 0..draws {
            let Desk { deriver, random, .. } = desk;
            let mut draw_by = |chooser: &mut dyn Chooser| {
                let place = (place.symbol, place.depth);
                deriver.draw_after(&[], place, room as u64, chooser, self.extent, &mut self.other);
            };
            match habits {
                Some(habits) => draw_by(&mut |site: &OpenSite<'_>| habits.choose(site, random)),
                None => draw_by(&mut Evenly(random)),
            }
            if draw == 0 || self.other.text.len() > self.part.text.len() {
                std::mem::swap(&mut self.part, &mut self.other);
            }
        }
    }

    /// Derives a part by the options at hand, to be put in this place. Says whether it takes exactly these.
    fn derive_part(&mut self, desk: &mut Desk, place: &Part, room: usize) -> bool {
        let mut first = |_: &OpenSite<'_>| 0;
        let (place, room) = ((place.symbol, place.depth), room as u64);
        let fit = desk.deriver.draw_after(&self.options, place, room, &mut first, self.extent, &mut self.part);
        fit == Some(Fit::Exact)
    }

    fn splice(&mut self, desk: &mut Desk, whole: &Derivation, other: &Derivation, child: &mut Derivation) -> bool {
        let Some(number) = pick_part(desk, whole) else { return false };
        let place = &whole.parts[number];
        let room = place.len() + desk.max_len - whole.text.len();
        let text = whole.text_of(place);
        let fits = |part: &Part| part.kind != SpanKind::Round && part.len() <= room && other.text_of(part) != text;
        let Some(part) = self.pick_alike(&mut desk.random, other, place.symbol, fits) else { return false };
        desk.deriver.graft((whole, number), (other, part), self.extent, child) && child.text != whole.text
    }

    fn swap(&mut self, desk: &mut Desk, whole: &Derivation, child: &mut Derivation) -> bool {
        let Some(number) = pick_part(desk, whole) else { return false };
        let one = &whole.parts[number];
        let is_apart = |other: &Part| other.decisions.1 <= one.decisions.0 || one.decisions.1 <= other.decisions.0;
        let text = whole.text_of(one);
        let fits = |other: &Part| other.kind != SpanKind::Round && is_apart(other) && whole.text_of(other) != text;
        let Some(other) = self.pick_alike(&mut desk.random, whole, one.symbol, fits) else { return false };
        let (a, b) = (number.min(other), number.max(other));
        let edits = [(a, Change::By(whole, b)), (b, Change::By(whole, a))];
        desk.deriver.graft_all(whole, edits.into_iter(), self.extent, child)
    }

    fn change_any(&mut self, desk: &mut Desk, whole: &Derivation, child: &mut Derivation) -> bool {
        let is_open = |at: usize| whole.decisions[at].offered > 1;
        let Some(at) = self.pick_below(&mut desk.random, whole.decisions.len(), is_open) else { return false };
        let decision = whole.decisions[at];
        let other = desk.random.below(decision.offered as usize - 1) as u32;
        let option = other + u32::from(other >= decision.option);
        self.change(desk, whole, at, option, child)
    }

    /// Lets one site take another option. A class changes alone; the choice or repetition that a site decides is
    /// derived anew from there on.
    fn change(&mut self, desk: &mut Desk, whole: &Derivation, at: usize, option: u32, child: &mut Derivation) -> bool {
        if desk.deriver.is_only_read(whole.decisions[at].place, option) {
            return false;
        }
        let Some(number) = decided_by(whole, at as u32) else {
            let Some(number) = around(whole, at as u32) else { return false };
            let part = &whole.parts[number];
            let room = part.len() + desk.max_len - whole.text.len();
            self.options.clear();
            self.options.extend(whole.options_of(part));
            self.options[at - part.decisions.0 as usize] = option;
            return self.derive_part(desk, part, room) && self.put(desk, whole, number, child);
        };
        let part = &whole.parts[number];
        let room = part.len() + desk.max_len - whole.text.len();
        self.options.clear();
        self.options.extend(whole.decisions[part.decisions.0 as usize..at].iter().map(|decision| decision.option));
        self.options.push(option);
        let Desk { deriver, random, .. } = desk;
        let place = (part.symbol, part.depth);
        let fit =
            deriver.draw_after(&self.options, place, room as u64, &mut Evenly(random), self.extent, &mut self.part);
        fit.is_some_and(|fit| fit != Fit::Changed) && self.put(desk, whole, number, child)
    }

    /// Makes the next change of one decision that was not tried yet.
    fn next(&mut self, desk: &mut Desk, archive: &mut Archive, number: usize, child: &mut Derivation) -> bool {
        for _ in 0..64 {
            let Some(entry) = archive.entry_mut(number) else { return false };
            // Decisions in turn, then further options of each.
            let len = entry.derivation.decisions.len().max(1);
            let (round, at) = ((entry.cursor / len) as u32, entry.cursor % len);
            if round + 1 >= OPTIONS {
                return false;
            }
            entry.cursor += 1;
            let Some(decision) = entry.derivation.decisions.get(at) else { return false };
            if round + 1 >= decision.offered {
                continue;
            }
            // Of many options, some that lie far apart.
            let stride = (decision.offered / OPTIONS).max(1);
            let option = (decision.option + (round + 1) * stride) % decision.offered;
            let whole = &archive.complete(number, &mut desk.deriver).derivation;
            if self.change(desk, whole, at, option, child) {
                return true;
            }
        }
        false
    }

    fn repeat(&mut self, desk: &mut Desk, whole: &Derivation, child: &mut Derivation) -> bool {
        let room = desk.max_len - whole.text.len();
        if room == 0 {
            return false;
        }
        let Some(spot) = self.pick_spot(desk, whole, room) else { return false };
        let copies = if desk.random.below(2) == 0 { Copies::Equal } else { Copies::Distinct };
        let times = 1 + desk.random.below(room / spot.len()) as u32;
        let Desk { deriver, max_len, .. } = desk;
        if let Some(outer) = spot.outer(whole) {
            return self.nest(desk, whole, (spot, outer), (copies, times), child);
        }
        let repetition = spot.copies_alone(whole, deriver, (copies, times), &mut self.options);
        let Some((symbol, depth, least)) = repetition else { return false };
        let bytes = (*max_len as u64).saturating_add(u64::from(least) * spot.len() as u64);
        let mut first = |_: &OpenSite<'_>| 0;
        let place = (symbol, depth);
        // The rounds are some of its parts.
        let fit = deriver.draw_after(&self.options, place, bytes, &mut first, Extent::Whole, &mut self.part);
        let edit = (spot.number(), Change::Rounds(&self.part));
        fit == Some(Fit::Exact) && deriver.graft_all(whole, std::iter::once(edit), self.extent, child)
    }

    /// Repeats what stands between two instances of a rule, of which `outer` is one.
    fn nest(
        &mut self,
        desk: &mut Desk,
        whole: &Derivation,
        (spot, outer): (Spot, usize),
        (copies, times): (Copies, u32),
        child: &mut Derivation,
    ) -> bool {
        let deriver = &mut desk.deriver;
        if times <= GRAFTS && (copies == Copies::Equal || !spot.can_differ(whole, deriver)) {
            // Each time the outer instance replaces the inner one, which then stands further in.
            let (inner, by) = (spot.number(), Change::By(whole, outer));
            for time in 0..times as usize {
                let from = if time == 0 { whole } else { &self.other };
                let edit = (inner + time * (inner - outer), by);
                let is_last = time + 1 == times as usize;
                let extent = if is_last { self.extent } else { Extent::Whole };
                if !deriver.graft_all(from, std::iter::once(edit), extent, child) {
                    return false;
                }
                if !is_last {
                    std::mem::swap(child, &mut self.other);
                }
            }
            return true;
        }
        let part = &whole.parts[outer];
        let (from, to) = part.decisions;
        let options = spot.pump().copied(copies).options(whole, deriver, times);
        self.options.clear();
        self.options.extend(&options[from as usize..options.len() - (whole.decisions.len() - to as usize)]);
        let room = part.len() + desk.max_len - whole.text.len();
        self.derive_part(desk, part, room) && desk.deriver.graft((whole, outer), (&self.part, 0), self.extent, child)
    }

    /// Makes a part shorter; then another one is drawn anew with the room.
    fn shift(&mut self, desk: &mut Desk, whole: &Derivation, child: &mut Derivation) -> bool {
        let Desk { deriver, random, .. } = &mut *desk;
        let can_shrink = |number: usize| {
            let part = &whole.parts[number];
            match part.kind {
                SpanKind::Round => !part.is_empty(),
                SpanKind::Rule | SpanKind::Choice | SpanKind::Repetition { .. } | SpanKind::Pool => {
                    number > 0 && part.len() as u64 > deriver.min_len_of(part.symbol)
                }
            }
        };
        let Some(place) = self.pick_below(random, whole.parts.len(), can_shrink) else { return false };
        let part = &whole.parts[place];
        let mut shorter = std::mem::take(&mut self.shorter);
        let extent = std::mem::replace(&mut self.extent, Extent::Whole);
        let is_shorter = if part.kind == SpanKind::Round {
            self.drop_round(desk, whole, place, &mut shorter)
        } else {
            let bytes = desk.deriver.min_len_of(part.symbol);
            // At random among the shortest.
            desk.draw_part((part.symbol, part.depth), bytes as usize, self.extent, &mut self.part);
            self.put(desk, whole, place, &mut shorter)
        };
        self.extent = extent;
        let is_grown = is_shorter
            && match desk.random.below(3) {
                0 => self.splice(desk, &shorter, whole, child),
                1 => self.repeat(desk, &shorter, child),
                _ => self.redraw(desk, &shorter, None, child),
            };
        if is_shorter && !is_grown {
            std::mem::swap(&mut shorter, child);
        }
        self.shorter = shorter;
        is_shorter
    }

    /// Returns one of the parts that can be repeated and of which a copy has at most `most` bytes, all equally
    /// probable.
    fn pick_spot(&mut self, desk: &mut Desk, whole: &Derivation, most: usize) -> Option<Spot> {
        let Desk { deriver, random, .. } = desk;
        for _ in 0..DRAWS.min(whole.parts.len()) {
            if let Some(spot) = Spot::at(whole, deriver, most, random.below(whole.parts.len())) {
                return Some(spot);
            }
        }
        pick_of(random, &mut self.spots, spots(whole, deriver, most, &mut self.open))
    }

    /// Returns the number of one of the parts with this symbol that fit, all equally probable.
    #[inline]
    fn pick_alike(
        &mut self,
        random: &mut Random,
        of: &Derivation,
        symbol: u32,
        fits: impl Fn(&Part) -> bool,
    ) -> Option<usize> {
        // This is compared first, as few parts have it.
        self.pick_below(random, of.parts.len(), |number| of.parts[number].symbol == symbol && fits(&of.parts[number]))
    }

    /// Returns a number below `many` that fits, all equally probable.
    #[inline]
    fn pick_below(&mut self, random: &mut Random, many: usize, fits: impl Fn(usize) -> bool) -> Option<usize> {
        // Mostly one of a few draws fits; else all are looked at.
        for _ in 0..DRAWS.min(many) {
            let number = random.below(many);
            if fits(number) {
                return Some(number);
            }
        }
        pick_of(random, &mut self.fitting, (0..many).filter(|&number| fits(number)))
    }

    /// Gives all parts with the same symbol and text another text.
    fn rename(&mut self, desk: &mut Desk, whole: &Derivation, child: &mut Derivation) -> bool {
        let Some(part) = pick_part(desk, whole) else { return false };
        let part = &whole.parts[part];
        let (symbol, text) = (part.symbol, whole.text_of(part));
        let is_same = |other: &Part| other.symbol == symbol && whole.text_of(other) == text;
        let mut same = std::mem::take(&mut self.places);
        same.clear();
        same.extend((0..).zip(&whole.parts).filter(|(_, other)| is_same(other)).map(|(number, _)| number));
        let room = part.len() + (desk.max_len - whole.text.len()) / same.len();
        let is_taken = desk.random.below(2) == 0;
        let fits = |other: &Part| other.len() <= room && whole.text_of(other) != text;
        let taken = if is_taken { self.pick_alike(&mut desk.random, whole, symbol, fits) } else { None };
        if taken.is_none() {
            desk.draw_part((symbol, part.depth), room, self.extent, &mut self.part);
        }
        let by = taken.map_or(Change::By(&self.part, 0), |number| Change::By(whole, number));
        // Those within another one are left as they are in it.
        let mut end = 0;
        same.retain(|&place| {
            let is_apart = place >= end;
            end = if is_apart { whole.parts[place].next as usize } else { end };
            is_apart
        });
        let edits = same.iter().map(|&place| (place, by));
        let is_made = desk.deriver.graft_all(whole, edits, self.extent, child) && child.text != whole.text;
        self.places = same;
        is_made
    }
}

/// Returns the parts in which a site is, the outer ones first, with their numbers.
fn all_around(whole: &Derivation, at: u32) -> impl Iterator<Item = (usize, &Part)> {
    let mut number = 0;
    std::iter::from_fn(move || {
        loop {
            let part = whole.parts.get(number)?;
            if part.decisions.0 <= at && at < part.decisions.1 {
                number += 1;
                return Some((number - 1, part));
            }
            // Those after the site are not looked at.
            number = if part.decisions.0 > at { whole.parts.len() } else { part.next as usize };
        }
    })
}

/// Returns the number of the innermost part with a site that can be replaced.
fn around(whole: &Derivation, at: u32) -> Option<usize> {
    all_around(whole, at).filter(|(_, part)| part.kind != SpanKind::Round).last().map(|(number, _)| number)
}

/// Returns the number of the choice or repetition that a site decides; `None` for a class.
fn decided_by(whole: &Derivation, at: u32) -> Option<usize> {
    let (number, part) = all_around(whole, at).find(|(_, part)| match part.kind {
        SpanKind::Choice | SpanKind::Round => part.decisions.0 == at,
        // Its last site ends it, unless it has all possible rounds.
        SpanKind::Repetition { room } => room > 0 && part.decisions.1 == at + 1,
        SpanKind::Rule | SpanKind::Pool => false,
    })?;
    if part.kind != SpanKind::Round {
        return Some(number);
    }
    let is_around = |outer: &Part| matches!(outer.kind, SpanKind::Repetition { .. }) && outer.next as usize > number;
    whole.parts[..number].iter().rposition(is_around)
}

/// Returns the number of a part that can be replaced: not a round, and not one without decisions.
fn pick_part(desk: &mut Desk, whole: &Derivation) -> Option<usize> {
    for _ in 0..16 {
        let number = desk.random.below(whole.parts.len().max(1));
        let part = whole.parts.get(number)?;
        if part.kind != SpanKind::Round && part.decisions.0 < part.decisions.1 {
            return Some(number);
        }
    }
    None
}

/// Returns one of several, all equally probable. Reuses the memory of `among`.
fn pick_of<T: Copy>(random: &mut Random, among: &mut Vec<T>, from: impl Iterator<Item = T>) -> Option<T> {
    among.clear();
    among.extend(from);
    one_of(random, among)
}

/// Returns one of these, all equally probable.
fn one_of<T: Copy>(random: &mut Random, among: &[T]) -> Option<T> {
    if among.is_empty() { None } else { Some(among[random.below(among.len())]) }
}

#[cfg(test)]
mod tests;
