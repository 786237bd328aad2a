//! Which choice of the grammar file a choice of the lowered form is.

use crate::diagnostics::Span;
use crate::ir::{NodeId, RuleId};
use crate::ordered::Map;

/// A choice as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The rule that it stands in.
    pub rule: RuleId,
    /// Its number among the places of the rule (see [`crate::shape::Weights`]).
    pub place: u32,
    /// For each option, in canonical order, the number of the alternative, from 0, and where it stands.
    pub alternatives: Vec<(u32, Span)>,
}

/// The choices of a lowered grammar by their nodes. A place has several nodes where a repetition around it was written out.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    choices: Map<NodeId, Source>,
}

impl Sources {
    pub(crate) fn add(&mut self, node: NodeId, source: Source) {
        self.choices.insert(node, source);
    }

    /// What the choice at this node is in the grammar file.
    pub fn get(&self, node: NodeId) -> Option<&Source> {
        self.choices.get(&node)
    }

    /// All choices, by node.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &Source)> {
        self.choices.iter().map(|(&node, source)| (node, source))
    }
}
