//! Facts about rules and expressions before their layout: least fixpoints.

use super::{DEDENT, INDENT, NEWLINE};
use crate::ast::{Expr, ExprKind, Grammar};
use crate::ordered::{Map, Set};

/// Facts about an expression or a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fact {
    /// Whether a token for the layout can be reached from it.
    pub(super) reaches: bool,
    /// Whether such a token can be the first element in it.
    pub(super) begins: bool,
    /// Whether it can be empty, without such tokens, at the beginning of a line.
    pub(super) nullable: bool,
    /// Whether it can begin with a part that is left out at the beginning of a line.
    pub(super) gap_first: bool,
    /// Whether it can begin with text, after the parts that are left out there.
    pub(super) some: bool,
}

impl Fact {
    const NONE: Fact = Fact { reaches: false, begins: false, nullable: false, gap_first: false, some: false };
    const TEXT: Fact = Fact { some: true, ..Fact::NONE };
    const EMPTY: Fact = Fact { nullable: true, ..Fact::NONE };
    const GAP: Fact = Fact { nullable: true, gap_first: true, ..Fact::NONE };
    const TOKEN: Fact = Fact { reaches: true, begins: true, ..Fact::NONE };

    fn then(self, next: Fact) -> Fact {
        Fact {
            reaches: self.reaches || next.reaches,
            begins: self.begins || self.nullable && next.begins,
            nullable: self.nullable && next.nullable,
            gap_first: self.gap_first || self.nullable && next.gap_first,
            some: self.some || self.nullable && next.some,
        }
    }

    fn or(self, other: Fact) -> Fact {
        Fact {
            reaches: self.reaches || other.reaches,
            begins: self.begins || other.begins,
            nullable: self.nullable || other.nullable,
            gap_first: self.gap_first || other.gap_first,
            some: self.some || other.some,
        }
    }
}

/// The facts of a grammar's rules.
#[derive(Debug)]
pub(super) struct Facts<'g> {
    index: Map<&'g str, usize>,
    pub(super) rules: Vec<Fact>,
    /// The facts of sequences, choices and repetitions, by their addresses.
    known: Map<usize, Fact>,
}

/// The most visits to expressions.
const MAX_WORK: usize = 1 << 27;

impl<'g> Facts<'g> {
    /// Returns the facts of a grammar. `None` if the search takes too long.
    pub(super) fn of(grammar: &'g Grammar, gaps: &Set<String>) -> Option<Facts<'g>> {
        let mut index = Map::new();
        for (number, rule) in grammar.rules.iter().enumerate() {
            index.entry(rule.name.text.as_str()).or_insert(number);
        }
        let is_gap: Vec<bool> = grammar.rules.iter().map(|rule| gaps.contains(&rule.name.text)).collect();
        let fact = |&is_gap: &bool| if is_gap { Fact::GAP } else { Fact::NONE };
        let mut facts = Facts { index, rules: is_gap.iter().map(fact).collect(), known: Map::new() };
        let mut users = vec![Vec::new(); grammar.rules.len()];
        for (number, rule) in grammar.rules.iter().enumerate() {
            facts.each_rule(&rule.body, &mut |used| users[used].push(number));
        }
        let sizes: Vec<usize> = grammar.rules.iter().map(|rule| rule.body.size()).collect();
        let mut work = 0;
        let mut pending: Vec<usize> = (0..grammar.rules.len()).rev().collect();
        let mut waits = vec![true; grammar.rules.len()];
        while let Some(number) = pending.pop() {
            waits[number] = false;
            work += sizes[number];
            if work > MAX_WORK {
                return None;
            }
            let found = facts.expr(&grammar.rules[number].body);
            if is_gap[number] || found == facts.rules[number] {
                continue;
            }
            facts.rules[number] = found;
            for &user in &users[number] {
                if !std::mem::replace(&mut waits[user], true) {
                    pending.push(user);
                }
            }
        }
        for rule in &grammar.rules {
            facts.remember(&rule.body);
        }
        Some(facts)
    }

    fn remember(&mut self, expr: &Expr) {
        if expr.children().next().is_none() {
            return;
        }
        expr.children().for_each(|child| self.remember(child));
        let fact = self.expr(expr);
        self.known.insert(std::ptr::from_ref(expr).addr(), fact);
    }

    /// Returns the place of the rule called `name`.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// Returns the facts of an expression of the grammar.
    pub(super) fn expr(&self, expr: &Expr) -> Fact {
        if let Some(&fact) = self.known.get(&std::ptr::from_ref(expr).addr()) {
            return fact;
        }
        match &expr.kind {
            ExprKind::Bytes(bytes) if bytes.is_empty() => Fact::EMPTY,
            ExprKind::Bytes(_) | ExprKind::Class(_) => Fact::TEXT,
            ExprKind::Rule(name) => match name.as_str() {
                NEWLINE | INDENT | DEDENT => Fact::TOKEN,
                name => self.number(name).map_or(Fact::TEXT, |number| self.rules[number]),
            },
            ExprKind::Seq(items) => items.iter().fold(Fact::EMPTY, |fact, item| fact.then(self.expr(item))),
            ExprKind::Choice(options) => {
                options.iter().fold(Fact::NONE, |fact, option| fact.or(self.expr(&option.expr)))
            }
            ExprKind::Repeat { max: Some(0), .. } => Fact::EMPTY,
            ExprKind::Repeat { item, min, .. } => {
                let fact = self.expr(item);
                Fact { nullable: fact.nullable || *min == 0, ..fact }
            }
            ExprKind::Times { item, .. } => Fact { nullable: true, ..self.expr(item) },
            ExprKind::Label { item, .. }
            | ExprKind::Naming { item, .. }
            | ExprKind::Coded { item, .. }
            | ExprKind::Call { item, .. } => self.expr(item),
            ExprKind::Derived(_) => Fact { nullable: true, ..Fact::TEXT },
        }
    }

    fn each_rule(&self, expr: &Expr, visit: &mut impl FnMut(usize)) {
        expr.each_reference(&mut |name| self.number(name).into_iter().for_each(&mut *visit));
    }
}
