//! Hidden matches that lead to other modes and back, such as comments that have a mode of their own.
//!
//! A level of the stack of modes begins with a mode and with moves that are still to be made there. It ends when it is
//! popped, again with moves that are still to be made, or when the mode that the excursion began in is back. So a level
//! is a rule for each such end, and a push is the rule of the new level, followed by the rest of the old one.

use std::collections::VecDeque;

use super::hidden::options_of;
use super::language::NEVER;
use super::patterns::Writer;
use super::{Move, Outcome};
use crate::ast::{self, Alternative, Expr, Name};
use crate::diagnostics::Span;
use crate::ordered::{Map, Set};

/// The most levels that are written. Excursions that need more are left out.
const MAX_LEVELS: usize = 1 << 10;

/// The ways in which a level ends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// The mode that the excursion began in is back.
    Back(usize),
    /// The level is popped, and these moves are still to be made.
    Popped(Vec<Move>),
}

/// A level that begins in a mode with these moves.
type Level = (usize, Vec<Move>, End);

/// Writes the levels of the excursions from one mode.
struct Levels<'w, 'a> {
    writer: &'w mut Writer<'a>,
    span: Span,
    names: Map<Level, String>,
    pending: VecDeque<Level>,
    /// The moves that may be left when a level is popped.
    remainders: Vec<Vec<Move>>,
}

/// Returns hidden matches that leave a mode, with what leads back to it. `None` if no hidden rule leaves it.
pub(super) fn from(writer: &mut Writer<'_>, mode: usize, span: Span) -> Option<Expr> {
    let remainders = remainders(writer);
    let mut levels = Levels { writer, span, names: Map::new(), pending: VecDeque::new(), remainders };
    let begins = levels.leaving(mode, &End::Back(mode));
    if begins.is_empty() {
        return None;
    }
    let mut rules = Vec::new();
    while let Some(level) = levels.pending.pop_front() {
        if levels.names.len() > MAX_LEVELS {
            return None;
        }
        let body = levels.body(&level);
        rules.push(ast::Rule::new(Name { text: levels.names[&level].clone(), span }, body));
    }
    writer.rules.extend(rules);
    Some(choice(begins, span))
}

/// Returns the moves that rules make behind a pop.
fn remainders(writer: &Writer<'_>) -> Vec<Vec<Move>> {
    let mut found: Set<Vec<Move>> = Set::new();
    for rule in writer.lexer.rules.iter().filter(|rule| !matches!(rule.outcome, Outcome::Token(_))) {
        let pops = rule.moves.iter().enumerate().filter(|(_, moved)| **moved == Move::Pop);
        found.extend(pops.map(|(at, _)| rule.moves[at + 1..].to_vec()));
    }
    found.into_iter().collect()
}

fn choice(mut options: Vec<Expr>, span: Span) -> Expr {
    if options.len() < 2 {
        return options.pop().unwrap_or_else(|| Expr::rule(NEVER, span));
    }
    Expr::choice(options.into_iter().map(|expr| Alternative { expr, weight: None }).collect(), span)
}

impl Levels<'_, '_> {
    /// Returns a reference to the rule of a level.
    fn level(&mut self, level: Level) -> Expr {
        let name = match self.names.get(&level) {
            Some(name) => name.clone(),
            None => {
                let name = self.writer.names.fresh("excursion");
                self.names.insert(level.clone(), name.clone());
                self.pending.push_back(level);
                name
            }
        };
        Expr::rule(name, self.span)
    }

    fn body(&mut self, level: &Level) -> Expr {
        let (mode, moves, end) = level;
        let span = self.span;
        let Some((first, rest)) = moves.split_first() else {
            if *end == End::Back(*mode) {
                return Expr::empty(span);
            }
            let leaving = choice(self.leaving(*mode, end), span);
            let staying = self.staying(*mode);
            return Expr::seq(staying.into_iter().chain([leaving]).collect(), span);
        };
        match first {
            Move::Switch(other) => self.level((*other, rest.to_vec(), end.clone())),
            Move::Pop if *end == End::Popped(rest.to_vec()) => Expr::empty(span),
            Move::Pop => choice(Vec::new(), span),
            Move::Push(other) => {
                let mut options = Vec::new();
                for left in self.remainders.clone() {
                    let inside = self.level((*other, rest.to_vec(), End::Popped(left.clone())));
                    let after = self.level((*mode, left, end.clone()));
                    options.push(Expr::seq(vec![inside, after], span));
                }
                choice(options, span)
            }
        }
    }

    /// Returns the hidden rules of a mode that move or do not.
    fn hidden(&self, mode: usize, moves: bool) -> Vec<usize> {
        let automata = self.writer.automata;
        let is_asked = |&rule: &usize| {
            let own = &self.writer.lexer.rules[rule];
            !matches!(own.outcome, Outcome::Token(_)) && own.moves.is_empty() != moves && automata.is_possible(rule)
        };
        automata.rules_of(mode).iter().copied().filter(is_asked).collect()
    }

    /// Returns any number of hidden matches that do not leave a mode.
    fn staying(&mut self, mode: usize) -> Option<Expr> {
        let rules = self.hidden(mode, false);
        let (blanks, others) = options_of(self.writer, &rules);
        let mut options: Vec<Expr> = Vec::new();
        options.extend((!blanks.is_empty()).then(|| self.writer.one_of(blanks, self.span)));
        for (rule, pattern) in others {
            options.push(match pattern {
                Some(pattern) => self.writer.pattern(pattern, self.span),
                None => self.writer.lexer_rule(rule),
            });
        }
        (!options.is_empty()).then(|| Expr::repeat(choice(options, self.span), 0, None, self.span))
    }

    /// Returns each hidden match that leaves a mode, with the rest of its level. The last match of an excursion is not
    /// one that a token goes on with.
    fn leaving(&mut self, mode: usize, end: &End) -> Vec<Expr> {
        let mut options = Vec::new();
        for rule in self.hidden(mode, true) {
            let own = &self.writer.lexer.rules[rule];
            let returns = |moved: &Move| {
                matches!(moved, Move::Pop) || matches!((moved, end), (Move::Switch(to), End::Back(back)) if to == back)
            };
            if own.outcome == Outcome::More && own.moves.iter().any(returns) {
                continue;
            }
            let moves = own.moves.clone();
            let text = self.writer.lexer_rule(rule);
            let rest = self.level((mode, moves, end.clone()));
            options.push(Expr::seq(vec![text, rest], self.span));
        }
        options
    }
}
