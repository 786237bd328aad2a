//! Gives operators their levels: a rule such as `e: e '*' e | e '+' e | NUMBER`, of which the notation says how tightly
//! each alternative binds, becomes several rules whose derivations are those that the notation means.
//!
//! An operand at the end of an alternative, as in `e '+' e` and `'-' e`, takes the operators behind it that bind
//! tightly enough, and lets the others pass to the alternatives around it. So what an instance of the rule may be
//! depends on two levels: the least operator that the operand takes, and the operator that follows the operand. Each
//! rule has a *rung* for each pair of levels; a rung has the alternatives that the two levels allow, with the rungs of
//! their own operands. Rungs that allow the same are one (`rungs`).
//!
//! A rung derives each of its alternatives directly, not through rungs with higher levels. So a derivation has the
//! instances that it had before, and limits on the depth count the same levels. An operator that one operand does not
//! take is taken by one further out, so no text is lost. The exceptions are operators that cannot be chained
//! ([`Chaining::Never`]): there are no derivations in which they follow each other without brackets.

use crate::ordered::Map;

mod rungs;
#[cfg(test)]
mod tests;

pub(crate) use rungs::ladder;

/// The ways in which operators of one level follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chaining {
    /// `a - b - c` is `(a - b) - c`.
    Left,
    /// `a ^ b ^ c` is `a ^ (b ^ c)`.
    Right,
    /// `a < b < c` is no text.
    Never,
}

/// The levels of an alternative. Higher levels bind tighter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    /// The level of the operator behind the first operand.
    pub operator: u32,
    /// The level of the last operand: it takes operators of higher levels.
    pub operand: u32,
    /// The way in which operators of the level of the last operand follow each other.
    pub chaining: Chaining,
}

impl Binding {
    /// The binding of an alternative of which nothing is said: every operand before its operator takes it, and its last
    /// operand takes every operator.
    pub const GREEDY: Binding = Binding { operator: u32::MAX, operand: 0, chaining: Chaining::Right };

    /// Returns the binding of an alternative with one level.
    pub fn new(level: u32, chaining: Chaining) -> Binding {
        Binding { operator: level, operand: level, chaining }
    }

    /// Returns the least level of an operator that the last operand takes.
    fn least(self) -> u32 {
        match self.chaining {
            Chaining::Right => self.operand,
            Chaining::Left | Chaining::Never => self.operand.saturating_add(1),
        }
    }

    /// Returns true if the last operand lets an operator of a level pass.
    fn lets_pass(self, operator: u32) -> bool {
        match self.chaining {
            Chaining::Left => operator <= self.operand,
            Chaining::Right | Chaining::Never => operator < self.operand,
        }
    }
}

/// An end of an alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    First,
    Last,
}

/// The right-hand side of an alternative, in one of the forms that grammars have on the way to the Ast.
pub(crate) trait Body: Clone {
    /// The name of a rule.
    type Rule: Clone + Ord;

    /// Returns the items, if this is a sequence.
    fn items(&self) -> Option<&[Self]>;

    /// Returns the items, if this is a sequence, to change them.
    fn items_mut(&mut self) -> Option<&mut [Self]>;

    /// Returns the rule, if this is a reference to one.
    fn reference(&self) -> Option<Self::Rule>;

    /// Makes a reference one to another rule.
    fn refer(&mut self, rule: &Self::Rule);

    /// Returns the number of nodes.
    fn size(&self) -> usize;

    /// Returns the rule that a text of this begins or ends with an instance of.
    fn edge(&self, end: End) -> Option<Self::Rule> {
        match (self.items(), end) {
            (Some(items), End::First) => items.first()?.edge(end),
            (Some(items), End::Last) => items.last()?.edge(end),
            (None, _) => self.reference(),
        }
    }

    /// Puts another rule in the place of the one that [`Body::edge`] returns.
    fn set_edge(&mut self, end: End, rule: &Self::Rule) {
        if self.items().is_none() {
            return self.refer(rule);
        }
        let item = match (self.items_mut(), end) {
            (Some([first, ..]), End::First) => first,
            (Some([.., last]), End::Last) => last,
            _ => return,
        };
        item.set_edge(end, rule);
    }

    /// Returns the rule, if this is nothing but a reference to it.
    fn only(&self) -> Option<Self::Rule> {
        match self.items() {
            Some([only]) => only.only(),
            Some(_) => None,
            None => self.reference(),
        }
    }
}

/// An alternative, and how tightly it binds.
#[derive(Clone, Debug)]
pub(crate) struct Alternative<B> {
    pub body: B,
    pub binding: Binding,
}

/// A rule and its alternatives.
#[derive(Clone, Debug)]
pub(crate) struct Rule<B: Body> {
    pub name: B::Rule,
    pub alternatives: Vec<Alternative<B>>,
}

/// A rule of the result. It stands for one of the rules that were given, in places that two levels are known of.
#[derive(Clone, Debug)]
pub(crate) struct Rung<B: Body> {
    pub name: B::Rule,
    /// The alternatives, each with its number in the rule.
    pub alternatives: Vec<(usize, B)>,
}

/// The rungs of each rule that got some, by its name. The first has the name of the rule.
pub(crate) type Ladder<B> = Map<<B as Body>::Rule, Vec<Rung<B>>>;
