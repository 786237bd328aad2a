//! Sets of texts that patterns, lengths and listed texts describe, as expressions.

use regex_syntax::hir::{Hir, HirKind, Look, Repetition};

use super::facts::Count;
use super::make::Make;
use crate::ast::{Alternative, Expr, Rounds};
use crate::charset::{CharSet, Unit};
use crate::diagnostics::Span;
use crate::formats::pattern::terms::{ALL, EMPTY, Id, MAX_LETTERS, NEVER, Terms};
use crate::formats::pattern::{self, MarkKind};
use crate::ordered::Set;

/// The greatest number of rounds that are written out for an automaton.
const MAX_ROUNDS: u32 = 128;
/// The greatest number of steps to an automaton.
const MAX_STEPS: usize = 1 << 18;

/// Any character.
pub(super) const ANY: (u32, u32) = (0, 0x10_FFFF);
/// The characters that are drawn where any may stand.
pub(super) const PRINTABLE: (u32, u32) = (0x20, 0x7E);

/// A condition on texts.
#[derive(Clone)]
pub(super) enum Part<'p> {
    /// Texts in which the pattern is found, or those in which it is not.
    Found(&'p Hir, bool),
    /// All texts but these.
    Except(Vec<String>),
    /// Texts of these lengths.
    Length(Count),
    /// Texts whose length leaves this rest when it is divided by a number.
    Rest(u32, u32),
}

/// An expression of some texts.
pub(super) enum Texts {
    Some(Expr),
    /// No text fulfils the conditions.
    None,
    /// The conditions are too large.
    Unknown,
}

/// Returns the texts in which a pattern is found, if it needs no automaton.
pub(super) fn found(hir: &Hir, span: Span) -> Option<Expr> {
    let make = Make(span);
    match hir.kind() {
        HirKind::Capture(capture) if pattern::look_of(capture).is_none() => found(&capture.sub, span),
        HirKind::Alternation(parts) => {
            Some(make.any(parts.iter().map(|part| found(part, span)).collect::<Option<Vec<Expr>>>()?))
        }
        HirKind::Concat(parts) => within(parts, span),
        _ => within(std::slice::from_ref(hir), span),
    }
}

fn within(mut parts: &[Hir], span: Span) -> Option<Expr> {
    let make = Make(span);
    let (mut is_at_start, mut is_at_end) = (false, false);
    while let [first, rest @ ..] = parts
        && is_look(first, Look::Start)
    {
        (parts, is_at_start) = (rest, true);
    }
    while let [rest @ .., last] = parts
        && is_look(last, Look::End)
    {
        (parts, is_at_end) = (rest, true);
    }
    if let [only] = parts
        && !is_at_start
        && !is_at_end
        && matches!(only.kind(), HirKind::Capture(_) | HirKind::Alternation(_))
    {
        return found(only, span);
    }
    let around = |is_there: bool| if is_there { make.empty() } else { make.many(make.class(&[ANY]), 0, None) };
    let inner: Option<Vec<Expr>> = parts.iter().map(|part| plain(part, span)).collect();
    Some(make.seq([around(is_at_start)].into_iter().chain(inner?).chain([around(is_at_end)])))
}

fn is_look(hir: &Hir, look: Look) -> bool {
    matches!(hir.kind(), HirKind::Look(own) if *own == look)
}

/// Returns the texts of a pattern without conditions on what stands beside.
fn plain(hir: &Hir, span: Span) -> Option<Expr> {
    let make = Make(span);
    let all = |parts: &[Hir]| parts.iter().map(|part| plain(part, span)).collect::<Option<Vec<Expr>>>();
    Some(match hir.kind() {
        HirKind::Empty => make.empty(),
        HirKind::Literal(literal) => make.text(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(class) => make.set(Some(pattern::set(class)).filter(|set| set.unit() == Unit::Char)?),
        HirKind::Look(_) => return None,
        HirKind::Repetition(Repetition { min, max, sub, .. }) => make.many(plain(sub, span)?, *min, *max),
        HirKind::Capture(capture) if pattern::look_of(capture).is_some() => return None,
        HirKind::Capture(capture) => plain(&capture.sub, span)?,
        HirKind::Concat(parts) => make.seq(all(parts)?),
        HirKind::Alternation(parts) => make.any(all(parts)?),
    })
}

/// Returns the texts that fulfil all conditions.
pub(super) fn texts(parts: &[Part<'_>], span: Span) -> Texts {
    let Some((language, term)) = Language::of(parts) else { return Texts::Unknown };
    let Language { mut terms, letters } = language;
    let Some(automaton) = terms.automaton(term, letters.len() as u32) else { return Texts::Unknown };
    let Some(automaton) = automaton.smallest() else { return Texts::None };
    pattern::eliminated(&automaton, letters, span).map_or(Texts::Unknown, Texts::Some)
}

/// Returns true if a pattern is found in a text. `None` if the pattern is too large.
pub(super) fn fits(hir: &Hir, text: &str) -> Option<bool> {
    let (Language { mut terms, letters }, term) = Language::of(&[Part::Found(hir, true)])?;
    let automaton = terms.automaton(term, letters.len() as u32)?;
    let end = text.chars().try_fold(0, |state, c| {
        let letter = letters.iter().position(|letter| letter.contains(c.into()))?;
        automaton.next[state][letter]
    });
    Some(end.is_some_and(|state| automaton.is_end[state]))
}

struct Language {
    terms: Terms,
    letters: Vec<CharSet>,
}

impl Language {
    fn of(parts: &[Part<'_>]) -> Option<(Language, Id)> {
        let mut sets = Set::from([vec![ANY], vec![PRINTABLE]]);
        for part in parts {
            match part {
                Part::Found(hir, _) => collect(hir, &mut sets)?,
                Part::Except(texts) => {
                    sets.extend(texts.iter().flat_map(|text| text.chars()).map(|c| vec![(c.into(), c.into())]));
                }
                Part::Length(_) | Part::Rest(..) => {}
            }
            if sets.len() > 2 * MAX_LETTERS {
                return None;
            }
        }
        let letters: Vec<CharSet> = pattern::letters(&sets).into_iter().filter(|letter| !letter.is_empty()).collect();
        if letters.len() > MAX_LETTERS {
            return None;
        }
        let mut language = Language { terms: Terms::within(MAX_STEPS), letters };
        let all: Option<Vec<Id>> = parts.iter().map(|part| language.part(part)).collect();
        let term = language.terms.and(all?);
        Some((language, term))
    }

    fn part(&mut self, part: &Part<'_>) -> Option<Id> {
        Some(match part {
            Part::Found(hir, holds) => {
                let at_start = self.term(hir, ALL, true)?;
                let later = self.term(hir, ALL, false)?;
                let any = self.set(&CharSet::new(Unit::Char, [ANY]));
                let before = self.terms.seq(any, ALL);
                let later = self.terms.seq(before, later);
                let whole = self.terms.or([at_start, later]);
                if *holds { whole } else { self.terms.not(whole) }
            }
            Part::Except(texts) => {
                let texts: Vec<Id> = texts.iter().map(|text| self.text(text, EMPTY)).collect();
                let listed = self.terms.or(texts);
                self.terms.not(listed)
            }
            Part::Length(count) => {
                let any = self.set(&CharSet::new(Unit::Char, [ANY]));
                self.rounds(any, count.min, count.max)?
            }
            Part::Rest(rest, of) => {
                let any = self.set(&CharSet::new(Unit::Char, [ANY]));
                let round = self.rounds(any, *of, Some(*of))?;
                let all = self.terms.star(round);
                let last = self.rounds(any, *rest, Some(*rest))?;
                self.terms.seq(all, last)
            }
        })
    }

    fn set(&mut self, set: &CharSet) -> Id {
        let places = self.letters.iter().enumerate();
        let within = places.filter(|(_, letter)| letter.ranges().first().is_some_and(|&(low, _)| set.contains(low)));
        let letters = within.fold(0, |letters, (place, _)| letters | 1 << place);
        self.terms.one(letters)
    }

    fn text(&mut self, text: &str, then: Id) -> Id {
        text.chars().rev().fold(then, |rest, c| {
            let one = self.set(&CharSet::single(Unit::Char, c.into()));
            self.terms.seq(one, rest)
        })
    }

    /// Returns `item` this many times.
    fn rounds(&mut self, item: Id, min: u32, max: Option<u32>) -> Option<Id> {
        if min > MAX_ROUNDS || max.is_some_and(|max| max > MAX_ROUNDS) {
            return None;
        }
        let mut rest = if max.is_none() { self.terms.star(item) } else { EMPTY };
        for _ in min..max.unwrap_or(min) {
            let round = self.terms.seq(item, rest);
            rest = self.terms.or([EMPTY, round]);
        }
        Some((0..min).fold(rest, |rest, _| self.terms.seq(item, rest)))
    }

    /// Returns the texts that begin with one of the pattern, and go on with one of `then`.
    fn term(&mut self, hir: &Hir, then: Id, is_start: bool) -> Option<Id> {
        Some(match hir.kind() {
            HirKind::Empty => then,
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).ok()?.to_string();
                self.text(&text, then)
            }
            HirKind::Class(class) => {
                let set = Some(pattern::set(class)).filter(|set| set.unit() == Unit::Char)?;
                let one = self.set(&set);
                self.terms.seq(one, then)
            }
            HirKind::Look(Look::Start) => {
                if is_start {
                    then
                } else {
                    NEVER
                }
            }
            HirKind::Look(Look::End) => self.terms.and([then, EMPTY]),
            HirKind::Look(_) => return None,
            HirKind::Repetition(repetition) => self.repetition(repetition, then, is_start)?,
            HirKind::Capture(capture) => match pattern::look_of(capture) {
                None => self.term(&capture.sub, then, is_start)?,
                Some(kind) => {
                    let ahead = self.term(&capture.sub, ALL, is_start)?;
                    match kind {
                        MarkKind::Ahead => self.terms.and([ahead, then]),
                        MarkKind::NotAhead => {
                            let not = self.terms.not(ahead);
                            self.terms.and([not, then])
                        }
                        _ => return None,
                    }
                }
            },
            HirKind::Concat(parts) => {
                let mut rest = then;
                for (number, part) in parts.iter().enumerate().rev() {
                    let is_first = is_start && parts[..number].iter().all(is_empty);
                    rest = self.term(part, rest, is_first)?;
                }
                rest
            }
            HirKind::Alternation(parts) => {
                let parts: Option<Vec<Id>> = parts.iter().map(|part| self.term(part, then, is_start)).collect();
                self.terms.or(parts?)
            }
        })
    }

    fn repetition(&mut self, repetition: &Repetition, then: Id, is_start: bool) -> Option<Id> {
        let Repetition { min, max, sub, .. } = repetition;
        if !asks(sub) {
            let item = self.term(sub, EMPTY, false)?;
            let rounds = self.rounds(item, *min, *max)?;
            return Some(self.terms.seq(rounds, then));
        }
        // Rounds that ask what follows are written out.
        let max = max.filter(|max| *max <= 8)?;
        let mut rest = then;
        for round in (0..max).rev() {
            let more = self.term(sub, rest, is_start && round == 0)?;
            rest = if round < *min { more } else { self.terms.or([then, more]) };
        }
        Some(rest)
    }
}

/// Returns true if a pattern derives nothing, whatever it asks.
fn is_empty(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Capture(capture) => pattern::look_of(capture).is_some() || is_empty(&capture.sub),
        _ => false,
    }
}

/// Returns true if a pattern asks what stands beside.
fn asks(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Look(_) => true,
        HirKind::Capture(capture) => pattern::look_of(capture).is_some() || asks(&capture.sub),
        HirKind::Repetition(repetition) => asks(&repetition.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(asks),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) => false,
    }
}

/// Adds the sets of characters of a pattern.
fn collect(hir: &Hir, sets: &mut Set<Vec<(u32, u32)>>) -> Option<()> {
    match hir.kind() {
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            sets.extend(text.chars().map(|c| vec![(c.into(), c.into())]));
        }
        HirKind::Class(class) => {
            let set = Some(pattern::set(class)).filter(|set| set.unit() == Unit::Char)?;
            sets.insert(set.ranges().to_vec());
        }
        HirKind::Capture(capture) => collect(&capture.sub, sets)?,
        HirKind::Repetition(repetition) => collect(&repetition.sub, sets)?,
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().try_for_each(|part| collect(part, sets))?;
        }
        HirKind::Empty | HirKind::Look(_) => {}
    }
    Some(())
}

/// Returns the least and the greatest number of characters. `None` is no bound.
pub(super) fn lengths(expr: &Expr) -> (u32, Option<u32>) {
    if let Some(bytes) = expr.as_bytes() {
        let length = String::from_utf8_lossy(bytes).chars().count() as u32;
        return (length, Some(length));
    }
    if expr.as_class().is_some() {
        return (1, Some(1));
    }
    if let Some(options) = expr.as_choice() {
        let all: Vec<_> = options.iter().map(|option| lengths(&option.expr)).collect();
        let min = all.iter().map(|(min, _)| *min).min().unwrap_or(0);
        let max = all.iter().map(|(_, max)| *max).reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b)));
        return (min, max.unwrap_or(Some(0)));
    }
    if let Some(Rounds { item, min, max }) = expr.as_repeat() {
        let (least, most) = lengths(item);
        let most = if most == Some(0) { Some(0) } else { most.zip(max).map(|(most, max)| most.saturating_mul(max)) };
        return (least.saturating_mul(min), most);
    }
    expr.children().map(lengths).fold((0u32, Some(0u32)), |(min, max), (least, most)| {
        (min.saturating_add(least), max.zip(most).map(|(max, most)| max.saturating_add(most)))
    })
}

/// Returns texts of an expression that have these lengths: not all of them, but each has. `None` if that is not easy.
pub(super) fn of_length(expr: &Expr, count: Count) -> Option<Expr> {
    let (min, max) = lengths(expr);
    if min >= count.min && count.max.is_none_or(|most| max.is_some_and(|max| max <= most)) {
        return Some(expr.clone());
    }
    let make = Make(expr.span);
    if let Some(options) = expr.as_choice() {
        let of_option =
            |one: &Alternative| Some(Alternative { expr: of_length(&one.expr, count)?, weight: one.weight });
        let kept: Vec<Alternative> = options.iter().filter_map(of_option).collect();
        return (!kept.is_empty()).then(|| Expr::choice(kept, expr.span));
    }
    if expr.as_repeat().is_some() {
        return rounds(std::slice::from_ref(expr), 0, count).map(|mut parts| parts.remove(0));
    }
    let items = expr.as_seq()?;
    let places = (0..items.len()).filter(|&place| items[place].as_repeat().is_some());
    let found = places.rev().find_map(|place| rounds(items, place, count));
    found.map(|parts| make.seq(parts))
}

/// Returns the parts with another number of rounds at one place, so that the whole has these lengths.
fn rounds(parts: &[Expr], place: usize, count: Count) -> Option<Vec<Expr>> {
    const FEW: u32 = 8;
    let mut parts = parts.to_vec();
    for (other, part) in parts.iter_mut().enumerate() {
        let is_long = lengths(part).1.is_none() && other != place && count.max.is_some();
        if let Some(Rounds { item, min, .. }) = part.as_repeat().filter(|_| is_long) {
            let max = min.max(count.max.map_or(FEW, |most| FEW.min(most / 4)));
            *part = Expr::repeat(item.clone(), min, Some(max), part.span);
        }
    }
    let (mut least, mut most) = (0u32, Some(0u32));
    for (_, part) in parts.iter().enumerate().filter(|(other, _)| *other != place) {
        let (min, max) = lengths(part);
        least = least.saturating_add(min);
        most = most.zip(max).map(|(most, max)| most.saturating_add(max));
    }
    let Rounds { item, mut min, mut max } = parts[place].as_repeat()?;
    let (item_min, item_max) = lengths(item);
    if item_min == 0 {
        return None;
    }
    min = min.max(count.min.saturating_sub(least).div_ceil(item_min));
    if let Some(bound) = count.max {
        let room = bound.checked_sub(most?)? / item_max?;
        max = Some(max.map_or(room, |max| max.min(room)));
    }
    let part = Expr::repeat(item.clone(), min, max, parts[place].span);
    parts[place] = part;
    max.is_none_or(|max| max >= min).then_some(parts)
}
