//! The texts that the lexer takes for a rule's, as an expression: its automaton read backwards into choices and
//! repetitions. Used for rules that lose texts to other rules (an identifier is not a keyword) and for rules with lazy
//! repetitions (a comment ends at its first closing mark). The other rules are written as in the grammar.

use super::alphabet::{Alphabet, MAX_LISTED};
use super::bits::Bits;
use super::dfa::{DEAD, START, StateId};
use super::states::Automata;
use crate::ast::{Alternative, Expr, ExprKind, Weight};
use crate::charset::{CharSet, Unit};
use crate::diagnostics::Span;
use crate::ordered::{Map, Set, sort_by};

/// The name of a rule that derives nothing, which no grammar can spell.
pub(super) const NEVER: &str = "\0";

/// Automata with more states are not written as expressions.
const MAX_STATES: usize = 1 << 15;
/// Automata with more pairs of states and classes of characters are not written as expressions.
const MAX_TARGETS: usize = 1 << 23;
/// The number of states for which expressions are written in total.
pub(super) const MAX_WRITTEN: usize = 1 << 17;
/// The most rounds of comparing states by one more next character. If they are not enough, no states are merged.
const MAX_ROUNDS: usize = 64;
/// The deepest nesting of expressions before a rule is made.
const MAX_NESTING: u32 = 40;

/// An expression, and the rules that it refers to.
pub(super) type Written = (Expr, Vec<(String, Expr)>);

/// Returns an expression for the texts of a lexer rule, except the empty one, and the rules that it refers to. `None`
/// if the automaton is unknown or too large for an expression or for the rest of the budget. With `first`, only the
/// texts that begin with one of these classes of characters. `name` makes the name of the numbered rule.
pub(super) fn language(
    automata: &Automata,
    rule: usize,
    first: Option<&Bits>,
    alphabet: Alphabet,
    span: Span,
    left: &mut usize,
    name: &mut dyn FnMut(usize) -> String,
) -> Option<Written> {
    let facts = automata.facts(rule)?;
    let table = Table::of_rule(automata, rule, &facts.ends, |state| facts.leads(state))?;
    let drawing = Drawing { drawn: automata.drawn(rule), alphabet, span };
    language_of(automata, &table, first, &drawing, left, name)
}

/// The characters of expressions, and their place.
pub(super) struct Drawing<'d> {
    /// The characters that texts are drawn from.
    pub(super) drawn: &'d CharSet,
    pub(super) alphabet: Alphabet,
    pub(super) span: Span,
}

/// Returns an expression for the texts of an automaton, except the empty one, and the rules that it refers to.
pub(super) fn language_of(
    automata: &Automata,
    table: &Table,
    first: Option<&Bits>,
    drawing: &Drawing<'_>,
    left: &mut usize,
    name: &mut dyn FnMut(usize) -> String,
) -> Option<Written> {
    let machine = Machine::new(automata, table, first, drawing)?;
    *left = left.checked_sub(machine.edges.len())?;
    let &Drawing { alphabet, span, .. } = drawing;
    let mut writing = Writing { machine: &machine, alphabet, span, names: Map::new(), pending: Vec::new() };
    for (number, state) in machine.headers().into_iter().enumerate() {
        writing.names.insert(state, name(number));
    }
    let body = writing.texts_from(0);
    let mut rules = Vec::new();
    let mut written = Set::new();
    while let Some(state) = writing.pending.pop() {
        if written.insert(state) {
            let expr = writing.texts_from(state);
            rules.push((writing.names[&state].clone(), expr));
        }
    }
    Some((body, rules))
}

/// A trimmed automaton. State 0 is its start.
pub(super) struct Table {
    /// The next state for each state and class of characters. `u32::MAX` if nothing follows.
    pub(super) targets: Vec<u32>,
    pub(super) is_end: Vec<bool>,
}

impl Table {
    /// Returns the automaton of the texts of a rule that end in one of these states, given the states that lead there.
    pub(super) fn of_rule(
        automata: &Automata,
        rule: usize,
        ends: &[StateId],
        leads: impl Fn(StateId) -> bool,
    ) -> Option<Table> {
        let dfa = automata.of_rule(rule).filter(|_| !automata.is_widened(rule))?;
        let classes = automata.classes.len();
        // The states that are reachable and alive, beginning at the start.
        let mut ids: Map<StateId, usize> = Map::new();
        let mut order = vec![START];
        ids.insert(START, 0);
        let mut place = 0;
        while let Some(&state) = order.get(place) {
            place += 1;
            for class in 0..classes {
                let next = dfa.next(state, class);
                if next != DEAD && leads(next) && !ids.contains_key(&next) {
                    ids.insert(next, order.len());
                    order.push(next);
                }
            }
            if order.len() > MAX_STATES {
                return None;
            }
        }
        if order.len() * classes > MAX_TARGETS {
            return None;
        }
        let targets = order.iter().flat_map(|&state| (0..classes).map(move |class| dfa.next(state, class)));
        Some(Table {
            targets: targets.map(|next| ids.get(&next).map_or(u32::MAX, |&next| next as u32)).collect(),
            is_end: order.iter().map(|state| ends.binary_search(state).is_ok()).collect(),
        })
    }
}

/// A trimmed, minimal automaton. State 0 is its start, which has no incoming edges.
struct Machine {
    /// The edges of each state: a set of characters and the next state.
    edges: Vec<Vec<(CharSet, usize)>>,
    is_end: Vec<bool>,
}

impl Machine {
    fn new(
        automata: &Automata,
        table: &Table,
        first: Option<&Bits>,
        &Drawing { drawn, alphabet, .. }: &Drawing<'_>,
    ) -> Option<Machine> {
        let classes = automata.classes.len();
        let Table { targets, is_end } = table;
        let row = |state: usize| &targets[state * classes..(state + 1) * classes];
        // Moore's algorithm: states differ if their next states differ.
        let mut part: Vec<usize> = is_end.iter().map(|&is_end| usize::from(is_end)).collect();
        let mut rounds = 0;
        loop {
            rounds += 1;
            if rounds > MAX_ROUNDS {
                part = (0..is_end.len()).collect();
                break;
            }
            let mut parts: Map<(usize, Vec<usize>), usize> = Map::new();
            let refined: Vec<usize> = part
                .iter()
                .enumerate()
                .map(|(state, &own)| {
                    let row = row(state).iter().map(|&next| part.get(next as usize).map_or(usize::MAX, |&part| part));
                    let count = parts.len();
                    *parts.entry((own, row.collect())).or_insert(count)
                })
                .collect();
            let done = parts.len() == part.iter().max().map_or(0, |&max| max + 1);
            part = refined;
            if done {
                break;
            }
        }
        // State 0 is a copy of the start's part that does not end. Part p is state p + 1.
        let count = part.iter().max().map_or(0, |&max| max + 1) + 1;
        let mut machine = Machine { edges: vec![Vec::new(); count], is_end: vec![false; count] };
        let mut done = vec![false; count];
        for (index, &is_end) in is_end.iter().enumerate() {
            let targets: &[usize] = if index == 0 { &[0, part[0] + 1] } else { &[part[index] + 1] };
            for &own in targets {
                if std::mem::replace(&mut done[own], true) {
                    continue;
                }
                machine.is_end[own] = own != 0 && is_end;
                let mut by_target: Map<usize, Vec<(u32, u32)>> = Map::new();
                for class in (0..classes).filter(|&class| own != 0 || first.is_none_or(|first| first.contains(class))) {
                    if let Some(&next) = part.get(row(index)[class] as usize) {
                        by_target.entry(next + 1).or_default().extend(automata.classes.members(class).ranges());
                    }
                }
                machine.edges[own] = by_target
                    .into_iter()
                    .map(|(target, ranges)| {
                        let set = CharSet::new(Unit::Char, ranges);
                        let drawn = set.intersection(drawn);
                        (if drawn.len() > MAX_LISTED { alphabet.restrict(&drawn) } else { drawn }, target)
                    })
                    .filter(|(set, _)| !set.is_empty())
                    .collect();
            }
        }
        Some(machine)
    }

    /// Returns true if a state is copied to each place that leads to it: only its own loop follows.
    fn is_leaf(&self, state: usize) -> bool {
        self.edges[state].iter().all(|&(_, target)| target == state)
    }

    /// Returns the states that become rules: those with several incoming edges, or deeply nested ones.
    fn headers(&self) -> Vec<usize> {
        let mut count = vec![0usize; self.edges.len()];
        for (state, edges) in self.edges.iter().enumerate() {
            edges.iter().filter(|&&(_, target)| target != state).for_each(|&(_, target)| count[target] += 1);
        }
        let mut headers: Vec<usize> =
            (1..self.edges.len()).filter(|&state| count[state] > 1 && !self.is_leaf(state)).collect();
        let mut is_header = vec![false; self.edges.len()];
        headers.iter().for_each(|&state| is_header[state] = true);
        // Trees of states that are written in place must not nest too deep.
        let mut pending: Vec<(usize, u32)> = headers.iter().map(|&state| (state, 0)).chain([(0, 0)]).collect();
        while let Some((state, depth)) = pending.pop() {
            for &(_, target) in &self.edges[state] {
                if target == state || is_header[target] || self.is_leaf(target) {
                    continue;
                }
                if depth + 1 == MAX_NESTING {
                    is_header[target] = true;
                    headers.push(target);
                    pending.push((target, 0));
                } else {
                    pending.push((target, depth + 1));
                }
            }
        }
        sort_by(&mut headers, Ord::cmp);
        headers
    }
}

/// The texts that lead back to the current header, and the texts that end elsewhere.
#[derive(Default)]
struct Ways {
    back: Option<Expr>,
    exit: Option<Expr>,
}

struct Writing<'m> {
    machine: &'m Machine,
    alphabet: Alphabet,
    span: Span,
    names: Map<usize, String>,
    pending: Vec<usize>,
}

impl Writing<'_> {
    fn expr(&self, kind: ExprKind) -> Expr {
        Expr { kind, span: self.span }
    }

    fn seq(&self, first: Expr, second: Expr) -> Expr {
        Expr::joined([first, second], self.span)
    }

    fn choice(&self, mut options: Vec<(Expr, f64)>) -> Option<Expr> {
        if options.len() < 2 {
            return options.pop().map(|(expr, _)| expr);
        }
        let weigh = |value| Some(Weight { value, span: self.span });
        let alternatives =
            options.into_iter().map(|(expr, weight)| Alternative { expr, weight: weigh(weight) }).collect();
        Some(self.expr(ExprKind::Choice(alternatives)))
    }

    fn star(&self, item: Expr) -> Expr {
        self.expr(ExprKind::Repeat { item: Box::new(item), min: 0, max: None })
    }

    /// Returns an expression for all texts from a header to an end.
    fn texts_from(&mut self, header: usize) -> Expr {
        let Ways { back, exit } = self.ways(header, header);
        let exit = exit.unwrap_or_else(|| self.expr(ExprKind::Rule(NEVER.to_string())));
        match back {
            Some(back) => {
                let rounds = self.star(back);
                self.seq(rounds, exit)
            }
            None => exit,
        }
    }

    /// Returns the texts from `state`, written for `header`.
    fn ways(&mut self, state: usize, header: usize) -> Ways {
        let machine = self.machine;
        let mut back = Vec::new();
        let mut exit = Vec::new();
        let mut own_loop = None;
        for (set, target) in &machine.edges[state] {
            let weight = f64::from(set.len());
            let first = self.alphabet.one_of(set.clone(), self.span);
            if *target == header && *target != 0 {
                back.push((first, weight));
            } else if *target == state {
                own_loop = Some(first);
            } else if self.names.contains_key(target) {
                let rest = self.expr(ExprKind::Rule(self.names[target].clone()));
                self.pending.push(*target);
                exit.push((self.seq(first, rest), weight));
            } else {
                let ways = self.ways(*target, header);
                if let Some(rest) = ways.back {
                    back.push((self.seq(first.clone(), rest), weight));
                }
                if let Some(rest) = ways.exit {
                    exit.push((self.seq(first, rest), weight));
                }
            }
        }
        if machine.is_end[state] {
            // At a possible end, half of the texts end.
            let others: f64 = exit.iter().map(|(_, weight)| weight).sum();
            exit.push((self.expr(ExprKind::Seq(Vec::new())), others.max(1.0)));
        }
        let mut ways = Ways { back: self.choice(back), exit: self.choice(exit) };
        if let Some(item) = own_loop {
            let rounds = self.star(item);
            ways.back = ways.back.map(|back| self.seq(rounds.clone(), back));
            ways.exit = ways.exit.map(|exit| self.seq(rounds, exit));
        }
        ways
    }
}
