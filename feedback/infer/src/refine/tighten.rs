//! Edits that narrow a grammar: for what a rejected derivation uses, one without it.

use gramjet_compiler::ast::{Expr, Grammar, Rounds};

use crate::refine::candidate::{Candidate, shown};
use crate::refine::place::{ExprPath, repeat};
use crate::refine::reader::Used;

/// Edits that leave out an alternative, or numbers of rounds, that a derivation uses.
pub(crate) fn without(grammar: &Grammar, used: &Used) -> Vec<Candidate> {
    match used {
        Used::Alternative(place, number) => without_alternative(grammar, place, *number).into_iter().collect(),
        Used::Rounds(place, rounds) => other_rounds(grammar, place, *rounds),
        Used::Member(..) => Vec::new(),
    }
}

fn without_alternative(grammar: &Grammar, place: &ExprPath, number: usize) -> Option<Candidate> {
    let expr = place.get(grammar)?;
    let alternatives = expr.as_choice()?;
    let dropped = alternatives.get(number)?.expr.clone();
    let mut rest = alternatives.to_vec();
    rest.remove(number);
    if !rest.iter().any(|alternative| alternative.is_live()) {
        return None;
    }
    // An only alternative needs no weight.
    let expr = match rest.len() {
        1 => rest.pop()?.expr,
        _ => Expr::choice(rest, expr.span),
    };
    let what = format!("the alternative `{}` is dropped", shown(&dropped));
    Some(Candidate::new(place, expr, dropped, what, 0))
}

fn other_rounds(grammar: &Grammar, place: &ExprPath, rounds: u32) -> Vec<Candidate> {
    let Some(expr) = place.get(grammar) else { return Vec::new() };
    let Some(Rounds { item, min, max }) = expr.as_repeat() else { return Vec::new() };
    let times = |min, max| repeat(item.clone(), min, max);
    let (mut found, mut dropped) = (Vec::new(), None);
    let mut add = |to: Expr, part: Expr, rank: usize| {
        let what = format!("`{}` becomes `{}`", shown(expr), shown(&to));
        found.push(Candidate::new(place, to, part, what, rank));
    };
    if rounds > min {
        let most = rounds - 1;
        let part = times(rounds, max);
        let what = format!("`{}` is dropped", shown(expr));
        // What never comes is no part of the grammar.
        match Candidate::removal(grammar, place, part.clone(), what, 1).filter(|_| most == 0) {
            Some(candidate) => dropped = Some(candidate),
            None => add(times(min, Some(most)), part, 1),
        }
        if most > 1 && min <= 1 {
            add(times(min, Some(1)), times(2, max), 2);
        }
    }
    if max.is_none_or(|max| rounds < max) && rounds < 8 {
        add(times(rounds + 1, max), times(min, Some(rounds)), 1);
    }
    found.extend(dropped);
    found
}
