//! Maps the choices of the lowered form to the choices of the grammar file.

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
}

/// The choices of a lowered grammar by their nodes. A place has several nodes if a repetition around it was written
/// out.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    choices: Map<NodeId, Source>,
}

impl Sources {
    pub(crate) fn add(&mut self, node: NodeId, source: Source) {
        self.choices.insert(node, source);
    }

    /// The choice in the grammar file for this node.
    pub fn get(&self, node: NodeId) -> Option<&Source> {
        self.choices.get(&node)
    }

    /// All choices, by node.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &Source)> {
        self.choices.iter().map(|(&node, source)| (node, source))
    }
}
