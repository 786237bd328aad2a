//! From an automaton to an expression.

use super::MAX_PARTS;
use super::alphabet::Alphabet;
use crate::ast::{Alternative, Expr, ExprKind, MAX_NESTING};
use crate::charset::{CharSet, Unit};
use crate::diagnostics::Span;
use crate::formats::pattern::terms::Automaton;
use crate::ordered::{Map, Set};

/// Automata with more states are not written as expressions.
const MAX_STATES: usize = 96;

/// Turns an automaton into an expression: states are removed one by one, and paths through them become edges.
pub(super) struct Elimination {
    edges: Map<(usize, usize), Expr>,
    span: Span,
}

impl Elimination {
    pub(super) fn of(automaton: &Automaton, alphabet: &Alphabet, span: Span) -> Option<Expr> {
        let states = automaton.next.len();
        if states > MAX_STATES {
            return None;
        }
        let mut elimination = Elimination { edges: Map::new(), span };
        let (start, end) = (states, states + 1);
        elimination.edges.insert((start, 0), elimination.expr(ExprKind::Seq(Vec::new())));
        for (state, row) in automaton.next.iter().enumerate() {
            let mut by_target: Map<usize, CharSet> = Map::new();
            for (letter, next) in row.iter().enumerate() {
                if let Some(next) = next {
                    let set = by_target.entry(*next).or_insert_with(|| CharSet::empty(Unit::Char));
                    *set = set.union(&alphabet.letters[letter]);
                }
            }
            for (next, set) in by_target {
                elimination.edges.insert((state, next), elimination.expr(ExprKind::Class(set)));
            }
            if automaton.is_end[state] {
                elimination.edges.insert((state, end), elimination.expr(ExprKind::Seq(Vec::new())));
            }
        }
        let mut left: Set<usize> = (0..states).collect();
        while !left.is_empty() {
            let weight = |state: usize| {
                let count = |towards: bool| {
                    let is_beside =
                        |&&(from, to): &&(usize, usize)| from != to && state == if towards { to } else { from };
                    elimination.edges.keys().filter(is_beside).count()
                };
                (count(true) * count(false), state)
            };
            let state = left.iter().copied().min_by_key(|&state| weight(state))?;
            left.remove(&state);
            elimination.take_out(state);
            if elimination.edges.values().map(Expr::size).sum::<usize>() > MAX_PARTS {
                return None;
            }
        }
        let whole = elimination.edges.remove(&(start, end))?;
        (whole.height() < MAX_NESTING / 2).then_some(whole)
    }

    fn expr(&self, kind: ExprKind) -> Expr {
        Expr { kind, span: self.span }
    }

    fn take_out(&mut self, state: usize) {
        let round = self.edges.remove(&(state, state));
        let round = round.map(|item| self.expr(ExprKind::Repeat { item: Box::new(item), min: 0, max: None }));
        let (beside, edges): (Map<_, _>, Map<_, _>) =
            std::mem::take(&mut self.edges).into_iter().partition(|&((from, to), _)| from == state || to == state);
        self.edges = edges;
        let before = || beside.iter().filter(|((_, to), _)| *to == state);
        for (&(from, _), first) in before() {
            for (&(_, to), last) in beside.iter().filter(|((from, _), _)| *from == state) {
                let parts = [Some(first), round.as_ref(), Some(last)];
                let way = self.seq(parts.into_iter().flatten().cloned());
                let all = match self.edges.remove(&(from, to)) {
                    Some(other) => self.either(other, way),
                    None => way,
                };
                self.edges.insert((from, to), all);
            }
        }
    }

    fn seq(&self, parts: impl Iterator<Item = Expr>) -> Expr {
        Expr::joined(parts, self.span)
    }

    fn either(&self, first: Expr, second: Expr) -> Expr {
        let mut options: Vec<Alternative> = Vec::new();
        for mut part in [first, second] {
            match part.as_choice_mut() {
                Some(more) => options.append(more),
                None => options.push(Alternative { expr: part, weight: None }),
            }
        }
        self.expr(ExprKind::Choice(options))
    }
}
