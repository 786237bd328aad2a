//! Edits that widen a grammar: Offutt's operators on its elements, repetitions, and what a place lacks.

use gramjet_compiler::ast::{Alternative, Expr, ExprKind, Grammar, Rounds};

use crate::refine::candidate::{Candidate, shown};
use crate::refine::generalise::Rules;
use crate::refine::holes::{Lack, Put, lacks};
use crate::refine::place::{ExprPath, choice, empty, new, reference, repeat, seq};

/// The kinds of edits, in the order in which they are preferred where they do as much.
pub(crate) mod rank {
    pub(crate) const CLASS: usize = 0;
    pub(crate) const ROUNDS: usize = 1;
    pub(crate) const ALTERNATIVE: usize = 2;
    pub(crate) const INSERT: usize = 3;
}

/// The longest part of a sequence that is repeated or left out together.
const LONGEST_PART: usize = 4;

/// Edits that allow other numbers of rounds at a place: `X+`, `X*`, `X?`, also of some items of a sequence together.
pub(crate) fn rounds(grammar: &Grammar, place: &ExprPath) -> Vec<Candidate> {
    let Some(expr) = place.get(grammar) else { return Vec::new() };
    let mut found = Vec::new();
    if let Some(Rounds { item, min, max }) = expr.as_repeat() {
        if min > 0 {
            let part = repeat(item.clone(), 0, Some(min - 1));
            found.push(of_rounds(place, expr, repeat(item.clone(), 0, max), part));
        }
        if let Some(max) = max {
            let part = repeat(item.clone(), max.saturating_add(1), None);
            found.push(of_rounds(place, expr, repeat(item.clone(), min, None), part));
        }
    } else if !expr.is_empty() {
        found.extend(repeated(expr).into_iter().map(|(all, part)| of_rounds(place, expr, all, part)));
    }
    if let Some(items) = expr.as_seq() {
        for len in 2..=LONGEST_PART.min(items.len().saturating_sub(1)) {
            for at in 0..=items.len() - len {
                let inner = new(ExprKind::Seq(items[at..at + len].to_vec()));
                let with = |expr: Expr| {
                    let mut items = items.to_vec();
                    items.splice(at..at + len, [expr]);
                    Expr::seq(items, expr_span(place, grammar))
                };
                for (all, part) in repeated(&inner) {
                    let what = format!("`{}` becomes `{}`", shown(&inner), shown(&all));
                    found.push(Candidate::new(place, with(all), with(part), what, rank::ROUNDS));
                }
            }
        }
    }
    found
}

fn expr_span(place: &ExprPath, grammar: &Grammar) -> gramjet_compiler::diagnostics::Span {
    place.get(grammar).map_or(crate::refine::place::NEW, |expr| expr.span)
}

/// Returns `X+`, `X?` and `X*`, each with what is new in it.
fn repeated(expr: &Expr) -> [(Expr, Expr); 3] {
    let times = |min, max| repeat(expr.clone(), min, max);
    [
        (times(1, None), times(2, None)),
        (times(0, Some(1)), empty()),
        (times(0, None), choice(vec![empty(), times(2, None)])),
    ]
}

fn of_rounds(place: &ExprPath, from: &Expr, to: Expr, part: Expr) -> Candidate {
    let what = format!("`{}` becomes `{}`", shown(from), shown(&to));
    Candidate::new(place, to, part, what, rank::ROUNDS)
}

/// Edits by which the last round of the repetition at a place may end early: what ends a round may only separate them.
pub(crate) fn last_rounds(grammar: &Grammar, place: &ExprPath) -> Vec<Candidate> {
    let rounds = place.get(grammar).and_then(Expr::as_repeat);
    let Some(Rounds { item, min, max }) = rounds else { return Vec::new() };
    let Some(items) = item.as_seq() else { return Vec::new() };
    let times = |less: u32| repeat(item.clone(), min.saturating_sub(less), max.map(|max| max.saturating_sub(less)));
    (1..items.len())
        .filter(|_| max != Some(0))
        .map(|len| {
            let (kept, end) = items.split_at(len);
            let with = |end: Vec<Expr>| {
                let items = kept.iter().cloned().chain(end).collect();
                seq(vec![times(1), seq(items)])
            };
            let part = with(Vec::new());
            let all = with(vec![repeat(seq(end.to_vec()), 0, Some(1))]);
            let all = if min > 0 { all } else { repeat(all, 0, Some(1)) };
            let what = format!("the last round of `{}` may lack `{}`", shown(&times(0)), shown(&seq(end.to_vec())));
            Candidate::new(place, all, part, what, rank::ROUNDS)
        })
        .collect()
}

/// Returns a duplicate of an element, with what follows from it: Offutt's operator where more rounds are too many.
pub(crate) fn duplicate(grammar: &Grammar, place: &ExprPath) -> Option<Candidate> {
    let expr = place.get(grammar)?;
    let is_single = expr.as_bytes().is_some() || expr.as_class().is_some() || expr.as_rule().is_some();
    let to = repeat(expr.clone(), 1, Some(2));
    is_single.then(|| {
        let what = format!("`{}` may come twice", shown(expr));
        Candidate::new(place, to, repeat(expr.clone(), 2, Some(2)), what, rank::INSERT)
    })
}

/// Returns edits with other rules in place of a reference (Offutt: replace a nonterminal), next to it, or next to the
/// alternatives of a choice.
pub(crate) fn replacements(grammar: &Grammar, place: &ExprPath, others: &[usize]) -> Vec<Candidate> {
    let Some(expr) = place.get(grammar) else { return Vec::new() };
    let own: Vec<&str> = match expr.as_choice() {
        Some(alternatives) => alternatives.iter().filter_map(|one| one.expr.as_rule()).collect(),
        None if is_alternative(grammar, place) => return Vec::new(),
        None => expr.as_rule().into_iter().collect(),
    };
    let others = others.iter().map(|&rule| grammar.rules[rule].name.text.as_str()).filter(|name| !own.contains(name));
    if own.is_empty() {
        return Vec::new();
    }
    others.map(|name| alternative(place, expr, reference(name))).collect()
}

/// Returns true if a place is an alternative of a choice: what may stand instead is added to the choice.
fn is_alternative(grammar: &Grammar, place: &ExprPath) -> bool {
    let around = place.around().and_then(|(around, _)| around.get(grammar));
    around.is_some_and(|around| around.as_choice().is_some())
}

/// Returns an expression that may stand instead of the one at a place.
pub(crate) fn alternative(place: &ExprPath, at: &Expr, with: Expr) -> Candidate {
    let what = format!("`{}` may be `{}`", shown(at), shown(&with));
    let expr = match at.as_choice() {
        Some(alternatives) => {
            let added = Alternative { expr: with.clone(), weight: None };
            let all = alternatives.iter().cloned().chain([added]).collect();
            Expr::choice(all, at.span)
        }
        None => choice(vec![at.clone(), with.clone()]),
    };
    Candidate::new(place, expr, with.clone(), what, rank::ALTERNATIVE).adding(&with)
}

/// Returns an expression that may be inserted before the item with this number.
fn insertions(place: &ExprPath, at: &Expr, number: usize, with: &Expr, rules: &Rules<'_>) -> Vec<Candidate> {
    let Some(items) = at.as_seq() else { return Vec::new() };
    let inserted = |expr: Expr| {
        let mut items = items.to_vec();
        items.insert(number.min(items.len()), expr);
        Expr::seq(items, at.span)
    };
    let next = items.get(number).map_or("at the end".to_string(), |next| format!("before `{}`", shown(next)));
    let forms = [(0, Some(1), 1), (0, None, 1)];
    forms
        .into_iter()
        .map(|(min, max, least)| {
            let all = repeat(with.clone(), min, max);
            let what = format!("`{}` may come {next} in `{}`", shown(&all), shown(at));
            let part = inserted(repeat(with.clone(), least, max));
            let candidate = Candidate::new(place, inserted(all), part, what, rank::INSERT).adding(with);
            Candidate { is_lax: rules.is_lax(with), ..candidate }
        })
        .collect()
}

/// Results of the holes at a place.
pub(crate) struct Shown {
    pub(crate) lacks: Vec<Lack>,
    pub(crate) candidates: Vec<Candidate>,
}

/// Edits that let a place have what it lacks for some of the texts.
pub(crate) fn by_holes(grammar: &Grammar, place: &ExprPath, texts: &[Vec<u8>], rules: &Rules<'_>) -> Shown {
    let mut shown = Shown { lacks: Vec::new(), candidates: Vec::new() };
    let Some(expr) = place.get(grammar) else { return shown };
    if !is_alternative(grammar, place) && expr.as_repeat().is_none() {
        shown.lacks = lacks(grammar, place, &Put::Instead, texts);
        let bytes: Vec<&[u8]> = shown.lacks.iter().map(Lack::bytes).collect();
        shown.candidates.extend(rules.expressions(&bytes).into_iter().map(|with| {
            let is_lax = rules.is_lax(&with);
            Candidate { is_lax, ..alternative(place, expr, with) }
        }));
    }
    if let Some(items) = expr.as_seq() {
        for number in 0..=items.len() {
            let found = lacks(grammar, place, &Put::Before(number), texts);
            let bytes: Vec<&[u8]> = found.iter().map(Lack::bytes).collect();
            for with in rules.expressions(&bytes) {
                shown.candidates.extend(insertions(place, expr, number, &with, rules));
            }
        }
    } else if (place.path.is_empty() || is_alternative(grammar, place)) && expr.as_choice().is_none() {
        shown.candidates.extend(beside(grammar, place, expr, texts, rules));
    }
    shown
}

/// Makes insertions before and after a body or an alternative that is one item.
fn beside(grammar: &Grammar, place: &ExprPath, expr: &Expr, texts: &[Vec<u8>], rules: &Rules<'_>) -> Vec<Candidate> {
    let alone = new(ExprKind::Seq(vec![expr.clone()]));
    let as_sequence = place.with(grammar, alone.clone());
    let mut found = Vec::new();
    for number in 0..2 {
        let lacks = lacks(&as_sequence, place, &Put::Before(number), texts);
        let bytes: Vec<&[u8]> = lacks.iter().map(Lack::bytes).collect();
        for with in rules.expressions(&bytes) {
            found.extend(insertions(place, &alone, number, &with, rules).into_iter().map(|candidate| Candidate {
                expr: candidate.expr.as_seq().map_or(candidate.expr.clone(), |items| seq(items.to_vec())),
                ..candidate
            }));
        }
    }
    found
}
