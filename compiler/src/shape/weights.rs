//! Weights for the decisions of a grammar, in addition to those written in it.
//!
//! The *places* of a rule are the choices and repetitions of its right-hand side, reachable or not. They are numbered
//! from 0 in the order of their beginnings, an outer one before the inner ones.

use crate::ast::Expr;
use crate::charset::CharSet;
use crate::ordered::Map;

use super::model::power;

/// The weights of one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Law {
    /// For a choice: a weight for each alternative in source order. 0 for alternatives of weight 0.
    Choice(Vec<u32>),
    /// For a repetition: weights for the number of rounds beyond its minimum. Weight i belongs to the range from
    /// `starts[i]` rounds up to but not including `starts[i + 1]`. The first start is 0. See [`Range`].
    Rounds {
        /// The least number of rounds of each range, ascending.
        starts: Vec<u32>,
        /// The step of each range.
        steps: Vec<u32>,
        /// The weight of each range.
        weights: Vec<u32>,
    },
}

/// A range of numbers of rounds. It is divided into blocks of `step` numbers. Each block is half as probable as the one
/// before, and the numbers in a block are equally probable. With a step of 1, each further round is half as probable;
/// if the step is the length of the range, all numbers are equally probable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The least number.
    pub start: u32,
    /// The greatest number, if there is one.
    pub last: Option<u32>,
    /// The numbers in a block: a power of two, of which the length of the range is a multiple.
    pub step: u32,
}

impl Range {
    /// Returns the number of blocks after the first one.
    pub fn more_blocks(&self) -> Option<u32> {
        self.last.map(|last| (last - self.start) / self.step)
    }

    /// Returns the number of expressions that it is made of ([`crate::lower`]), at most.
    pub(crate) fn copies(&self) -> u64 {
        if self.step == 1 { 1 } else { 2 + u64::from(self.step.ilog2()) }
    }

    /// Returns the mean number of rounds.
    pub(crate) fn mean(&self) -> f64 {
        let blocks = 1.0 - self.more_blocks().map_or(0.0, |blocks| power(0.5, blocks));
        f64::from(self.start) + f64::from(self.step) * blocks + f64::from(self.step - 1) / 2.0
    }

    /// Returns the probability of at most this many rounds.
    #[cfg(test)]
    pub(crate) fn at_most(&self, rounds: u32) -> f64 {
        let Some(rounds) = rounds.checked_sub(self.start) else { return 0.0 };
        let (block, within) = (rounds / self.step, f64::from(rounds % self.step + 1) / f64::from(self.step));
        match self.more_blocks() {
            Some(last) if block > last => 1.0,
            Some(last) if block == last => 1.0 - power(0.5, block) * (1.0 - within),
            _ => 1.0 - power(0.5, block) * (1.0 - within / 2.0),
        }
    }
}

/// Members of a class that are equally probable, and their weight together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The weight of all of them.
    pub weight: u32,
    /// The members: the first and the last of each range.
    pub ranges: Vec<(u32, u32)>,
}

/// The most ranges of a repetition. Each one copies the repeated expression.
pub(crate) const MOST_RANGES: usize = 16;

/// The greatest step of a range of rounds.
pub(crate) const MOST_STEP: u32 = 1 << 16;

/// Weights by the index of the rule and the number of the place. Other places keep the weights of the grammar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weights {
    laws: Map<(usize, u32), Law>,
    /// By the index of the rule and the number of the class, in the order in which the classes begin.
    classes: Map<(usize, u32), Vec<Group>>,
}

impl Weights {
    /// Sets the weights of a place.
    pub fn set(&mut self, rule: usize, place: u32, law: Law) {
        self.laws.insert((rule, place), law);
    }

    /// Sets the weights of the members of a class. Each member is in one group.
    pub fn set_class(&mut self, rule: usize, number: u32, groups: Vec<Group>) {
        self.classes.insert((rule, number), groups);
    }

    /// Returns the weights of the members of a class.
    pub fn class(&self, rule: usize, number: u32) -> Option<&[Group]> {
        self.classes.get(&(rule, number)).map(Vec::as_slice)
    }

    /// Returns all classes with weights, by rule and number.
    pub fn classes(&self) -> impl Iterator<Item = (usize, u32, &[Group])> {
        self.classes.iter().map(|(&(rule, number), groups)| (rule, number, groups.as_slice()))
    }

    /// Returns the weights of a place.
    pub fn get(&self, rule: usize, place: u32) -> Option<&Law> {
        self.laws.get(&(rule, place))
    }

    /// Returns true if an alternative of a place has a weight that is not 0.
    pub fn has(&self, rule: usize, place: u32, alternative: usize) -> bool {
        matches!(self.get(rule, place), Some(Law::Choice(all)) if all.get(alternative).is_some_and(|&weight| weight > 0))
    }

    /// Returns all places with their weights, by rule and place.
    pub fn iter(&self) -> impl Iterator<Item = (usize, u32, &Law)> {
        self.laws.iter().map(|(&(rule, place), law)| (rule, place, law))
    }

    /// Returns true if no place and no class has weights.
    pub fn is_empty(&self) -> bool {
        self.laws.is_empty() && self.classes.is_empty()
    }
}

/// Returns the greatest number of further rounds of each range.
pub(crate) fn last_rounds(starts: &[u32], room: Option<u32>) -> impl Iterator<Item = (u32, Option<u32>)> + '_ {
    starts.iter().enumerate().map(move |(range, &start)| {
        let last = starts.get(range + 1).map(|next| next - 1).or(room);
        (start, last)
    })
}

/// Returns the ranges of rounds that begin with `starts`.
pub(crate) fn ranges(starts: &[u32], steps: &[u32], room: Option<u32>) -> impl Iterator<Item = Range> {
    last_rounds(starts, room).zip(steps).map(|((start, last), &step)| Range { start, last, step })
}

/// Returns true if an expression is a place.
fn is_place(expr: &Expr) -> bool {
    expr.as_choice().is_some() || expr.as_repeat().is_some()
}

/// Returns the number of places in an expression.
pub(crate) fn places(expr: &Expr) -> u32 {
    let mut places = 0;
    expr.each(&mut |expr| places += u32::from(is_place(expr)));
    places
}

/// Returns the number of classes in an expression.
pub(crate) fn classes(expr: &Expr) -> u32 {
    let mut classes = 0;
    each_class(expr, &mut classes, &mut |_, _| {});
    classes
}

/// Calls `visit` with the number and the set of each class, in order.
pub(crate) fn each_class<'a>(expr: &'a Expr, next: &mut u32, visit: &mut impl FnMut(u32, &'a CharSet)) {
    expr.each(&mut |expr| {
        if let Some(set) = expr.as_class() {
            visit(*next, set);
            *next += 1;
        }
    });
}

/// Calls `visit` with the number and the expression of each place, in order.
pub(crate) fn each_place<'a>(expr: &'a Expr, next: &mut u32, visit: &mut impl FnMut(u32, &'a Expr)) {
    expr.each(&mut |expr| {
        if is_place(expr) {
            visit(*next, expr);
            *next += 1;
        }
    });
}
