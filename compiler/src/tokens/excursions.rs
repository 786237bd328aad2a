//! Hidden matches that lead to other modes and back, such as comments that have a mode of their own.
//!
//! A level of the stack of modes begins with a mode and with moves that are still to be made there. It ends when it is
//! popped, again with moves that are still to be made, or when the mode that the excursion began in is back. So a level
//! is a rule for each such end, and a push is the rule of the new level, followed by the rest of the old one.

use std::collections::VecDeque;

use super::bits::Bits;
use super::language::{NEVER, Table};
use super::patterns::Writer;
use super::stays::{Exit, going_on};
use super::{Move, Outcome};
use crate::ast::{self, Alternative, Expr, Grammar, Name};
use crate::charset::CharSet;
use crate::check::Index;
use crate::check::productive::productive_rules;
use crate::diagnostics::Span;
use crate::ordered::{Map, Set};

/// The most levels that are written.
const MAX_LEVELS: usize = 1 << 10;
/// The most ways on from all levels of all modes together.
const MAX_WAYS: usize = 1 << 15;
/// The most sets of characters with which the texts of one rule may go on.
const MAX_GROUPS: usize = 16;

/// The ways in which a level ends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// The mode that the excursion began in is back.
    Back(usize),
    /// The level is popped, and these moves are still to be made.
    Popped(Vec<Move>),
}

/// A level that begins in a mode.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Level {
    mode: usize,
    /// The moves that are still to be made at its beginning.
    moves: Vec<Move>,
    end: End,
    /// The classes of characters that it does not begin with, as the match before it would go on.
    not_first: Bits,
}

/// Writes the levels of the excursions from one mode.
struct Levels<'w, 'a> {
    writer: &'w mut Writer<'a>,
    span: Span,
    names: Map<Level, String>,
    pending: VecDeque<Level>,
    /// The moves that may be left when a level is popped.
    remainders: Vec<Vec<Move>>,
    /// The texts within a mode up to a match that leaves it, by the mode and the classes that they do not begin with.
    inside: Map<(usize, Bits, Exit), Expr>,
    rules: Vec<ast::Rule>,
}

/// Returns hidden matches that leave a mode, with what leads back to it. `None` if none lead back. Too many ways are
/// left out, and the writer notes it.
pub(super) fn from(writer: &mut Writer<'_>, mode: usize, span: Span) -> Option<Expr> {
    let mut levels = Levels {
        writer,
        span,
        names: Map::new(),
        pending: VecDeque::new(),
        remainders: Vec::new(),
        inside: Map::new(),
        rules: Vec::new(),
    };
    let begins = levels.begins(mode);
    if begins.is_empty() {
        return None;
    }
    levels.remainders = remainders(levels.writer);
    while let Some(level) = levels.pending.pop_front() {
        if levels.names.len().max(levels.remainders.len()) > MAX_LEVELS || levels.writer.stays.ways > MAX_WAYS {
            levels.writer.has_long_ways = true;
            return None;
        }
        let body = levels.body(&level);
        let name = Name { text: levels.names[&level].clone(), span };
        levels.rules.push(ast::Rule::new(name, body));
    }
    let Levels { rules, writer, .. } = levels;
    let begins = productive(begins, &rules, span);
    if begins.is_empty() {
        return None;
    }
    writer.rules.extend(rules);
    Some(choice(begins, span))
}

/// Returns the expressions that derive something, given the rules that they refer to.
fn productive(exprs: Vec<Expr>, rules: &[ast::Rule], span: Span) -> Vec<Expr> {
    let rule = |name: &str, body: Expr| ast::Rule::new(Name { text: name.to_string(), span }, body);
    let nothing = rule(NEVER, Expr::rule(NEVER, span));
    let asked = exprs.iter().map(|expr| rule("", expr.clone()));
    let rules = rules.iter().cloned().chain([nothing]).chain(asked).collect();
    let grammar = Grammar { rules, ..Grammar::default() };
    let first = grammar.rules.len() - exprs.len();
    let names = grammar.rules[..first].iter().enumerate();
    let index: Index<'_> = names.map(|(number, rule)| (rule.name.text.as_str(), number)).collect();
    let able = productive_rules(&grammar, &index);
    exprs.into_iter().zip(&able[first..]).filter(|(_, able)| **able).map(|(expr, _)| expr).collect()
}

/// Returns the moves that rules make after a pop, up to one more than there may be levels.
fn remainders(writer: &Writer<'_>) -> Vec<Vec<Move>> {
    let mut found: Set<Vec<Move>> = Set::new();
    for rule in writer.lexer.rules.iter().filter(|rule| !matches!(rule.outcome, Outcome::Token(_))) {
        let pops = rule.moves.iter().enumerate().filter(|(_, moved)| **moved == Move::Pop);
        found.extend(pops.map(|(at, _)| rule.moves[at + 1..].to_vec()));
        if found.len() > MAX_LEVELS {
            break;
        }
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
        self.writer.stays.ways += 1;
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
        let Level { mode, moves, end, not_first } = level;
        let span = self.span;
        // What follows an excursion is not seen from here.
        let ends = || if not_first.is_empty() { Expr::empty(span) } else { choice(Vec::new(), span) };
        let Some((first, rest)) = moves.split_first() else {
            if *end == End::Back(*mode) {
                return ends();
            }
            let leaving = self.leaving(level);
            return choice(leaving, span);
        };
        match first {
            Move::Switch(other) => self.level(Level { mode: *other, moves: rest.to_vec(), ..level.clone() }),
            Move::Pop if *end == End::Popped(rest.to_vec()) => ends(),
            Move::Pop => choice(Vec::new(), span),
            Move::Push(other) => {
                let mut options = Vec::new();
                for left in self.remainders.clone() {
                    if self.writer.stays.ways > MAX_WAYS {
                        break;
                    }
                    let popped = End::Popped(left.clone());
                    let inside =
                        Level { mode: *other, moves: rest.to_vec(), end: popped, not_first: not_first.clone() };
                    let after = Level { mode: *mode, moves: left, end: end.clone(), not_first: self.no_classes() };
                    let (inside, after) = (self.level(inside), self.level(after));
                    options.push(Expr::seq(vec![inside, after], span));
                }
                choice(options, span)
            }
        }
    }

    fn no_classes(&self) -> Bits {
        Bits::new(self.writer.automata.classes.len())
    }

    /// Returns true if a match is the beginning of a token that the mode after an excursion goes on with.
    fn begins_token(&self, rule: usize, end: &End) -> bool {
        let own = &self.writer.lexer.rules[rule];
        let returns = |moved: &Move| {
            matches!(moved, Move::Pop) || matches!((moved, end), (Move::Switch(to), End::Back(back)) if to == back)
        };
        own.outcome == Outcome::More && own.moves.iter().any(returns)
    }

    /// Returns each hidden match that leaves a mode, with the rest of its level.
    fn begins(&mut self, mode: usize) -> Vec<Expr> {
        let (lexer, automata) = (self.writer.lexer, self.writer.automata);
        let end = End::Back(mode);
        let mut options = Vec::new();
        for &rule in automata.rules_of(mode) {
            let own = &lexer.rules[rule];
            let is_hidden = !matches!(own.outcome, Outcome::Token(_)) && !own.moves.is_empty();
            let (Some(dfa), Some(facts)) = (automata.of_rule(rule), automata.facts(rule)) else { continue };
            if !is_hidden || self.begins_token(rule, &end) || self.writer.stays.ways > MAX_WAYS {
                continue;
            }
            let mut groups: Map<Bits, Vec<u32>> = Map::new();
            for &state in &facts.ends {
                groups.entry(going_on(automata, dfa, state)).or_default().push(state);
            }
            let is_alike = groups.len() == 1;
            self.writer.has_long_ways |= groups.len() > MAX_GROUPS;
            for (not_first, ends) in groups.into_iter().take(MAX_GROUPS) {
                let text = if is_alike {
                    self.writer.lexer_rule(rule)
                } else {
                    if !self.writer.stays.count(dfa.len(), automata.classes.len()) {
                        self.writer.has_long_ways = true;
                        continue;
                    }
                    let leads = dfa.leading_to(&ends);
                    let table = Table::of_rule(automata, rule, &ends, |state| leads.binary_search(&state).is_ok());
                    let Some(table) = table else { continue };
                    self.texts(&table, None, automata.drawn(rule))
                };
                let rest = self.level(Level { mode, moves: own.moves.clone(), end: end.clone(), not_first });
                options.push(Expr::seq(vec![text, rest], self.span));
            }
        }
        options
    }

    /// Returns the texts of a level: hidden matches that stay in its mode, one that leaves it, and the rest.
    fn leaving(&mut self, level: &Level) -> Vec<Expr> {
        let (lexer, automata) = (self.writer.lexer, self.writer.automata);
        let Some(texts) = self.writer.stays.of_mode(lexer, automata, level.mode) else {
            self.writer.has_long_ways = true;
            return Vec::new();
        };
        let mut options = Vec::new();
        for exit in texts.exits() {
            let rule = exit.0;
            if self.begins_token(rule, &level.end) || self.writer.stays.ways > MAX_WAYS {
                continue;
            }
            let key = (level.mode, level.not_first.clone(), exit.clone());
            let text = match self.inside.get(&key) {
                Some(known) => known.clone(),
                None if !self.writer.stays.count(texts.len(), automata.classes.len()) => {
                    self.writer.has_long_ways = true;
                    continue;
                }
                None => {
                    let mut first = self.no_classes();
                    for class in (0..automata.classes.len()).filter(|&class| !level.not_first.contains(class)) {
                        first.insert(class);
                    }
                    let text = self.texts(&texts.table(&exit), Some(&first), &texts.drawn);
                    self.inside.insert(key, text.clone());
                    text
                }
            };
            let moves = lexer.rules[rule].moves.clone();
            let rest = self.level(Level { mode: level.mode, moves, end: level.end.clone(), not_first: exit.1 });
            options.push(Expr::seq(vec![text, rest], self.span));
        }
        options
    }

    /// Returns a reference to a rule for the texts of an automaton.
    fn texts(&mut self, table: &Table, first: Option<&Bits>, drawn: &CharSet) -> Expr {
        let span = self.span;
        let (name, written) = self.writer.texts(table, first, drawn, span);
        let Some((body, rules)) = written else { return Expr::rule(NEVER, span) };
        let rules = rules.into_iter().chain([(name.clone(), body)]);
        self.rules.extend(rules.map(|(text, body)| ast::Rule::new(Name { text, span }, body)));
        Expr::rule(name, span)
    }
}
