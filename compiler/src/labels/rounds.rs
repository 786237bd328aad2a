//! The complete rounds of repetitions that are mirrored.
//!
//! A mirror of a round sees the labels of that round. So they are kept until the scope of the repetition ends.

use std::sync::{Mutex, PoisonError};

use super::State;
use super::settle::Span;
use crate::ir::{Ir, LabelId, NodeId, Role, Scope};

/// The round that a mirror sees, for its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// A round that is not derived yet.
    Shortest,
    /// The round that is being derived.
    Open,
    /// The complete round of this number.
    Round(usize),
}

/// The rounds of the repetitions of open scopes.
#[derive(Debug, Default)]
pub(super) struct Mirrored {
    /// The rounds of each label. Empty if there are no mirrors.
    complete: Vec<Complete>,
    /// The rounds of labels outside the open scopes.
    outside: Vec<Complete>,
}

/// The complete rounds of a repetition.
#[derive(Debug, Default)]
pub(super) struct Complete {
    /// The number of labels of a round, and the labels of all rounds.
    width: usize,
    states: Vec<State>,
    number: usize,
    has_open_round: bool,
    /// For each mirror the round that it sees next.
    next: Vec<(NodeId, usize)>,
    /// For each mirror by how much longer the first rounds make it, and their number.
    extras: Mutex<Vec<(NodeId, usize, i64)>>,
}

impl Complete {
    /// Returns the number of rounds.
    pub fn number(&self) -> u64 {
        self.number as u64
    }

    /// Returns true if another round is being derived.
    pub fn has_open_round(&self) -> bool {
        self.has_open_round
    }

    /// Returns the part of a round that has the label of this number.
    pub fn part(&self, round: usize, label: usize) -> Option<Span> {
        match self.states.get(round * self.width + label)? {
            State::Known(span) => Some(*span),
            State::Unknown => None,
        }
    }

    /// Returns by how much longer all rounds make a mirror, given by how much one does.
    pub fn extra(&self, mirror: NodeId, of_round: impl Fn(usize) -> i64) -> i64 {
        let extras = || self.extras.lock().unwrap_or_else(PoisonError::into_inner);
        let known = extras().iter().find(|known| known.0 == mirror).copied();
        let (_, first, sum) = known.unwrap_or((mirror, 0, 0));
        if first == self.number {
            return sum;
        }
        // What makes a complete round longer does not change any more.
        let sum = (first..self.number).fold(sum, |sum, round| sum.saturating_add(of_round(round)));
        let mut extras = extras();
        extras.retain(|known| known.0 != mirror);
        extras.push((mirror, self.number, sum));
        sum
    }

    /// Returns the parts of the round that a mirror sees next.
    fn take_next(&mut self, mirror: NodeId) -> Vec<State> {
        let place = self.next.iter().position(|next| next.0 == mirror).unwrap_or_else(|| {
            self.next.push((mirror, 0));
            self.next.len() - 1
        });
        let round = self.next[place].1;
        // A mirror that stands in a repetition begins again.
        self.next[place].1 = if round + 1 >= self.number { 0 } else { round + 1 };
        self.states.get(round * self.width..(round + 1) * self.width).map_or_else(Vec::new, <[State]>::to_vec)
    }
}

impl Mirrored {
    /// Returns no rounds of a grammar yet.
    pub fn new(ir: &Ir) -> Mirrored {
        let labels = if ir.has_mirrors() { ir.label_count() } else { 0 };
        Mirrored { complete: (0..labels).map(|_| Complete::default()).collect(), outside: Vec::new() }
    }

    /// Returns the rounds of the repetition with a label.
    pub fn complete(&self, label: LabelId) -> Option<&Complete> {
        self.complete.get(label.index())
    }

    /// Begins a scope. Returns the parts of its labels, if it is a mirror.
    pub fn begin(&mut self, node: NodeId, scope: &Scope) -> Vec<State> {
        if self.complete.is_empty() {
            return Vec::new();
        }
        let own = match scope.role {
            Role::Plain => Vec::new(),
            Role::Round(label) => {
                self.complete[label.index()].has_open_round = true;
                Vec::new()
            }
            Role::Mirror(label) => self.complete[label.index()].take_next(node),
        };
        let labels = scope.labels.iter();
        self.outside.extend(labels.map(|label| std::mem::take(&mut self.complete[label.index()])));
        own
    }

    /// Ends a scope, given the parts of all labels.
    pub fn end(&mut self, scope: &Scope, parts: &[State]) {
        if self.complete.is_empty() {
            return;
        }
        for label in scope.labels.iter().rev() {
            self.complete[label.index()] = self.outside.pop().unwrap_or_default();
        }
        if let Some(label) = scope.round_of() {
            let complete = &mut self.complete[label.index()];
            (complete.width, complete.has_open_round) = (scope.labels.len(), false);
            complete.number += 1;
            complete.states.extend(scope.labels.iter().map(|label| parts[label.index()]));
        }
    }
}
