//! Operators: ways to make a text of one or two others, exactly and within the limit on length.

use gramjet_session::SpanKind;
use gramjet_session::decisions::{Change, Derivation, Fit, OpenSite, Part};

use super::archive::Archive;
use super::habits::Habits;
use crate::pump::{Copies, spots};
use crate::random::Random;
use crate::strategy::{Desk, Evenly};

/// A way to make a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// A text at random.
    Fresh,
    /// A part is drawn anew.
    Redraw,
    /// The same with the habits of the texts that cost most.
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
    part: Derivation,
    other: Derivation,
    between: Derivation,
    shorter: Derivation,
    /// While the parts of a text are looked at: those around the current one.
    open: Vec<u32>,
}

/// At most this many operators make one text.
const MOST: usize = 4;
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
        if operator == Operator::Next {
            return self.next(desk, archive, number, child);
        }
        let archive = &*archive;
        let whole = &archive.entry(number).derivation;
        if operator != Operator::Several {
            return self.one(operator, desk, archive, whole, habits, child);
        }
        let mut between = std::mem::take(&mut self.between);
        between.clone_from(whole);
        let times = 2 + desk.random.below(MOST - 1);
        let mut is_changed = false;
        for _ in 0..times {
            let operator = [Operator::Redraw, Operator::Habit, Operator::Splice, Operator::Copy, Operator::Change]
                [desk.random.below(5)];
            if self.one(operator, desk, archive, &between, habits, child) {
                std::mem::swap(&mut between, child);
                is_changed = true;
            }
        }
        std::mem::swap(&mut between, child);
        self.between = between;
        is_changed
    }

    fn one(
        &mut self,
        operator: Operator,
        desk: &mut Desk,
        archive: &Archive,
        whole: &Derivation,
        habits: &Habits,
        child: &mut Derivation,
    ) -> bool {
        match operator {
            Operator::Fresh => {
                desk.draw_whole(child);
                true
            }
            Operator::Redraw => self.redraw(desk, whole, None, child),
            Operator::Habit => self.redraw(desk, whole, Some(habits), child),
            Operator::Splice => {
                let other = archive.draw_other(&mut desk.random);
                other.is_some_and(|other| self.splice(desk, whole, &archive.entry(other).derivation, child))
            }
            Operator::Copy => self.splice(desk, whole, whole, child),
            Operator::Swap => self.swap(desk, whole, child),
            Operator::Change => self.change_any(desk, whole, child),
            Operator::Repeat => self.repeat(desk, whole, child),
            Operator::Shift => self.shift(desk, whole, child),
            Operator::Rename => self.rename(desk, whole, child),
            Operator::Next | Operator::Several => false,
        }
    }

    /// Derives the text with the part that was drawn in place of one of its own.
    fn put(&self, desk: &Desk, whole: &Derivation, place: usize, child: &mut Derivation) -> bool {
        desk.deriver.graft((whole, place), (&self.part, 0), child) && child.text != whole.text
    }

    /// Derives the text without a round.
    fn drop_round(&mut self, desk: &mut Desk, whole: &Derivation, place: usize, child: &mut Derivation) -> bool {
        if desk.deriver.graft_all(whole, std::iter::once((place, Change::Out)), child) {
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
            let (symbol, depth, bytes) = (place.symbol, place.depth, room as u64);
            match habits {
                Some(habits) => {
                    let mut chooser = |site: &OpenSite<'_>| habits.choose(site, random);
                    deriver.draw(symbol, depth, bytes, &mut chooser, &mut self.other)
                }
                None => deriver.draw(symbol, depth, bytes, &mut Evenly(random), &mut self.other),
            };
            if draw == 0 || self.other.text.len() > self.part.text.len() {
                std::mem::swap(&mut self.part, &mut self.other);
            }
        }
    }

    fn splice(&self, desk: &mut Desk, whole: &Derivation, other: &Derivation, child: &mut Derivation) -> bool {
        let Some(number) = pick_part(desk, whole) else { return false };
        let place = &whole.parts[number];
        let room = place.len() + desk.max_len - whole.text.len();
        let text = whole.text_of(place);
        let fits = |(_, part): &(usize, &Part)| {
            part.symbol == place.symbol
                && part.kind != SpanKind::Round
                && part.len() <= room
                && other.text_of(part) != text
        };
        let fitting = pick_of(&mut desk.random, other.parts.iter().enumerate().filter(fits));
        let Some((part, _)) = fitting else { return false };
        desk.deriver.graft((whole, number), (other, part), child) && child.text != whole.text
    }

    fn swap(&self, desk: &mut Desk, whole: &Derivation, child: &mut Derivation) -> bool {
        let Some(number) = pick_part(desk, whole) else { return false };
        let one = &whole.parts[number];
        let is_apart = |other: &Part| other.decisions.1 <= one.decisions.0 || one.decisions.1 <= other.decisions.0;
        let fits = |(_, other): &(usize, &Part)| {
            other.symbol == one.symbol
                && other.kind != SpanKind::Round
                && is_apart(other)
                && whole.text_of(other) != whole.text_of(one)
        };
        let fitting = pick_of(&mut desk.random, whole.parts.iter().enumerate().filter(fits));
        let Some((other, _)) = fitting else { return false };
        let (a, b) = (number.min(other), number.max(other));
        desk.deriver.graft_all(whole, [(a, Change::By(whole, b)), (b, Change::By(whole, a))].into_iter(), child)
    }

    fn change_any(&mut self, desk: &mut Desk, whole: &Derivation, child: &mut Derivation) -> bool {
        let open = whole.decisions.iter().enumerate().filter(|(_, decision)| decision.offered > 1);
        let Some((at, decision)) = pick_of(&mut desk.random, open) else { return false };
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
            let place = (part.symbol, part.depth);
            let fit =
                desk.deriver.draw_after(&self.options, place, room as u64, &mut |_: &OpenSite<'_>| 0, &mut self.part);
            return fit == Some(Fit::Exact) && self.put(desk, whole, number, child);
        };
        let part = &whole.parts[number];
        let room = part.len() + desk.max_len - whole.text.len();
        self.options.clear();
        self.options.extend(whole.decisions[part.decisions.0 as usize..at].iter().map(|decision| decision.option));
        self.options.push(option);
        let Desk { deriver, random, .. } = desk;
        let place = (part.symbol, part.depth);
        let fit = deriver.draw_after(&self.options, place, room as u64, &mut Evenly(random), &mut self.part);
        fit.is_some_and(|fit| fit != Fit::Changed) && self.put(desk, whole, number, child)
    }

    /// The next change of one decision that was not tried yet.
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
            let whole = &archive.entry(number).derivation;
            let Some(decision) = whole.decisions.get(at) else { return false };
            if round + 1 >= decision.offered {
                continue;
            }
            // Of many options, some that lie far apart.
            let stride = (decision.offered / OPTIONS).max(1);
            let option = (decision.option + (round + 1) * stride) % decision.offered;
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
        let fits = spots(whole, &desk.deriver, room, &mut self.open);
        let Some(spot) = pick_of(&mut desk.random, fits) else { return false };
        let copies = if desk.random.below(2) == 0 { Copies::Equal } else { Copies::Distinct };
        let times = 1 + desk.random.below(room / spot.len()) as u32;
        let Desk { deriver, max_len, .. } = desk;
        let repetition = spot.copies_alone(whole, deriver, (copies, times), &mut self.options);
        let Some((symbol, depth, least)) = repetition else {
            let options = spot.pump().copied(copies).options(whole, deriver, times);
            return deriver.replay(&options, child) == Fit::Exact;
        };
        let bytes = (*max_len as u64).saturating_add(u64::from(least) * spot.len() as u64);
        let fit = deriver.draw_after(&self.options, (symbol, depth), bytes, &mut |_: &OpenSite<'_>| 0, &mut self.part);
        let edit = (spot.number(), Change::Rounds(&self.part));
        fit == Some(Fit::Exact) && deriver.graft_all(whole, std::iter::once(edit), child)
    }

    /// Makes a part shorter; then another one is drawn anew with the room.
    fn shift(&mut self, desk: &mut Desk, whole: &Derivation, child: &mut Derivation) -> bool {
        let Desk { deriver, random, .. } = &mut *desk;
        let parts = || whole.parts.iter().enumerate();
        let can_shrink = |(_, part): &(usize, &Part)| {
            part.kind != SpanKind::Round && part.len() as u64 > deriver.min_len_of(part.symbol)
        };
        let rounds = parts().filter(|(_, part)| part.kind == SpanKind::Round && !part.is_empty());
        let fits = parts().skip(1).filter(can_shrink).chain(rounds);
        let Some((place, part)) = pick_of(random, fits) else { return false };
        let mut shorter = std::mem::take(&mut self.shorter);
        let is_shorter = if part.kind == SpanKind::Round {
            self.drop_round(desk, whole, place, &mut shorter)
        } else {
            let bytes = desk.deriver.min_len_of(part.symbol);
            // At random among the shortest.
            desk.draw_part(part.symbol, part.depth, bytes as usize, &mut self.part);
            self.put(desk, whole, place, &mut shorter)
        };
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
        let fits =
            |(_, other): &(usize, &Part)| other.symbol == symbol && other.len() <= room && whole.text_of(other) != text;
        let parts = whole.parts.iter().enumerate();
        let taken = if is_taken { pick_of(&mut desk.random, parts.filter(fits)) } else { None };
        if taken.is_none() {
            desk.draw_part(symbol, part.depth, room, &mut self.part);
        }
        let by = taken.map_or(Change::By(&self.part, 0), |(number, _)| Change::By(whole, number));
        // Those within another one are left as they are in it.
        let mut end = 0;
        same.retain(|&place| {
            let is_apart = place >= end;
            end = if is_apart { whole.parts[place].next as usize } else { end };
            is_apart
        });
        let edits = same.iter().map(|&place| (place, by));
        let is_made = desk.deriver.graft_all(whole, edits, child) && child.text != whole.text;
        self.places = same;
        is_made
    }
}

/// The number of the innermost part with a site that can be replaced.
fn around(whole: &Derivation, at: u32) -> Option<usize> {
    let begun = whole.parts.partition_point(|part| part.decisions.0 <= at);
    whole.parts[..begun].iter().rposition(|part| part.kind != SpanKind::Round && part.decisions.1 > at)
}

/// The number of the choice or repetition that a site decides; none for a class.
fn decided_by(whole: &Derivation, at: u32) -> Option<usize> {
    let begins = |part: &Part| part.decisions.0 == at && part.decisions.1 > at;
    let (number, part) = whole.parts.iter().enumerate().find(|(_, part)| match part.kind {
        SpanKind::Choice | SpanKind::Round => begins(part),
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

/// The number of a part that can be replaced: not a round, and not one without decisions.
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

/// One of several, all equally probable.
fn pick_of<T>(random: &mut Random, from: impl Iterator<Item = T>) -> Option<T> {
    let mut picked = None;
    for (number, one) in from.enumerate() {
        if random.below(number + 1) == 0 {
            picked = Some(one);
        }
    }
    picked
}

#[cfg(test)]
mod tests {
    use gramjet_compiler::SourceFile;
    use gramjet_session::{Language, Settings, Shape};

    use super::super::archive::Merits;
    use super::*;
    use crate::random::Random;

    const GRAMMAR: &str = "
list ::= '[' (item (',' item)*)? ']'
item ::= word | list | number{2,4}
word ::= [a-z]+
number ::= [0-9]
";
    const MAX_LEN: usize = 24;

    fn desk() -> Desk {
        let settings = Settings { shape: Some(Shape::Uniform), ..Settings::default() };
        let language = Language::compile(&SourceFile::new("g.ebnf", GRAMMAR), &settings).expect("a grammar");
        let deriver = language.deriver(Some(MAX_LEN as u64));
        Desk { deriver, max_len: MAX_LEN, random: Random::new(5), empty_cost: 0, explores: false }
    }

    /// An archive of texts as long as they may be.
    fn archive(desk: &mut Desk) -> Archive {
        let mut archive = Archive::new();
        let mut drawn = Derivation::default();
        for number in 0..3000 {
            desk.draw_whole(&mut drawn);
            if drawn.text.len() > 12 {
                archive.keep(&drawn, Merits { cost: number, ..Merits::default() });
            }
        }
        archive
    }

    #[test]
    fn every_operator_makes_texts_within_the_limit_that_differ() {
        let mut desk = desk();
        let mut archive = archive(&mut desk);
        let mut habits = Habits::default();
        habits.learn(archive.top().map(|entry| &entry.derivation));
        let mut workshop = Workshop::default();
        let (mut child, mut again) = (Derivation::default(), Derivation::default());
        for operator in Operator::ALL {
            let (mut made, mut changed) = (0, 0);
            for _ in 0..400 {
                let parent = archive.pick(&mut desk.random).expect("a text");
                if !workshop.make(operator, &mut desk, (&mut archive, parent), &habits, &mut child) {
                    continue;
                }
                made += 1;
                changed += u32::from(child.text != archive.entry(parent).derivation.text);
                assert!(child.text.len() <= MAX_LEN, "{operator:?}");
                let options: Vec<u32> = child.options().collect();
                assert_eq!(desk.deriver.replay(&options, &mut again), Fit::Exact, "{operator:?}");
                assert_eq!(again, child, "{operator:?}");
            }
            assert!(made > 80 && 4 * changed > 3 * made, "{operator:?}: {changed} of {made}");
        }
    }

    #[test]
    fn a_decision_on_rounds_changes_the_repetition() {
        let mut desk = desk();
        let mut whole = Derivation::default();
        let options = |desk: &mut Desk, whole: &Derivation, at: usize, option: u32| {
            let mut child = Derivation::default();
            let changed = Workshop::default().change(desk, whole, at, option, &mut child);
            (changed, child.text)
        };
        // The text `[a,b,c]`: the decisions on the rounds stop or go on.
        desk.deriver.replay(&[1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 2, 0, 0], &mut whole);
        let rounds: Vec<usize> = whole
            .decisions
            .iter()
            .enumerate()
            .filter(|(at, decision)| {
                decision.offered == 2
                    && decided_by(&whole, *at as u32).is_some_and(|part| whole.parts[part].kind != SpanKind::Choice)
            })
            .map(|(at, _)| at)
            .collect();
        assert!(rounds.len() > 2, "{:?}", String::from_utf8_lossy(&whole.text));
        for at in rounds {
            let (changed, text) = options(&mut desk, &whole, at, 1 - whole.decisions[at].option);
            assert!(changed && text != whole.text, "{at}");
        }
    }
}
