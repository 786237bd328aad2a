//! Maps the sites of the lowered form to their places in the grammar file.

use crate::diagnostics::Span;
use crate::ir::{NodeId, RuleId};
use crate::ordered::Map;

/// A choice in the grammar file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The rule of the choice.
    pub rule: RuleId,
    /// Its number among the places of the rule (see [`crate::shape::Weights`]).
    pub place: u32,
    /// For each option, in canonical order, the number of its alternative, from 0, and the span.
    pub alternatives: Vec<(u32, Span)>,
    /// The number of alternatives in the file, with those that are no options.
    pub of: u32,
}

/// A repetition in the grammar file whose number of rounds is not fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repetition {
    /// The rule of the repetition.
    pub rule: RuleId,
    /// Its number among the places of the rule.
    pub place: u32,
    /// The greatest number of rounds beyond the minimum.
    pub room: Option<u32>,
    /// Whether other places are within it.
    pub is_nested: bool,
}

/// The choices of a lowered grammar by their nodes. A place has several nodes if a repetition around it was written
/// out.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    choices: Map<NodeId, Source>,
    repetitions: Map<NodeId, Repetition>,
    /// Classes: the rule, and the number among the classes of the rule.
    classes: Map<NodeId, (RuleId, u32)>,
}

impl Sources {
    pub(crate) fn add(&mut self, node: NodeId, source: Source) {
        self.choices.insert(node, source);
    }

    pub(crate) fn add_repetition(&mut self, node: NodeId, repetition: Repetition) {
        self.repetitions.insert(node, repetition);
    }

    pub(crate) fn add_class(&mut self, node: NodeId, rule: RuleId, number: u32) {
        self.classes.insert(node, (rule, number));
    }

    /// Returns all repetitions that keep the grammar's own weights, by node.
    pub fn repetitions(&self) -> impl Iterator<Item = (NodeId, Repetition)> {
        self.repetitions.iter().map(|(&node, &repetition)| (node, repetition))
    }

    /// Returns all classes whose members are equally probable, by node: the rule, and the number among the classes of
    /// the rule.
    pub fn classes(&self) -> impl Iterator<Item = (NodeId, RuleId, u32)> {
        self.classes.iter().map(|(&node, &(rule, number))| (node, rule, number))
    }

    /// Returns the choice in the grammar file for this node.
    pub fn get(&self, node: NodeId) -> Option<&Source> {
        self.choices.get(&node)
    }

    /// Returns all choices, by node.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &Source)> {
        self.choices.iter().map(|(&node, source)| (node, source))
    }
}
