//! The number of options that a site offers, looked up.

use gramjet_compiler::ir::NodeId;
use gramjet_compiler::machine::{ample_slack, offered};

use crate::tracer::Grammar;

/// Number of options that the site of each node offers, by its slack.
#[derive(Debug)]
pub(crate) struct Offers {
    /// By node: where its numbers begin, and the least slack with which it offers all its options. It has one number
    /// for each slack up to this one.
    nodes: Vec<(u32, u32)>,
    counts: Vec<u32>,
}

impl Offers {
    /// Marks a node without numbers.
    const NONE: u32 = u32::MAX;
    /// A node that needs more numbers has none.
    const MOST_OF_NODE: u32 = 1 << 8;
    /// Once all nodes together have this many, further nodes have none.
    const MOST_IN_ALL: usize = 1 << 20;

    pub(super) fn new(grammar: &Grammar) -> Offers {
        let ir = &grammar.lowered;
        let mut counts = Vec::new();
        let nodes = (0..ir.node_count()).map(NodeId::new).map(|node| {
            let ample = u32::try_from(ample_slack(ir, node)).unwrap_or(u32::MAX);
            let has_room = ample < Offers::MOST_OF_NODE && counts.len() < Offers::MOST_IN_ALL;
            if !has_room || ir.node(node).site().is_none() {
                return (Offers::NONE, 0);
            }
            let start = counts.len() as u32;
            counts.extend((0..=ample).map(|slack| offered(ir, node, slack.into())));
            (start, ample)
        });
        Offers { nodes: nodes.collect(), counts }
    }

    #[inline]
    pub(super) fn of(&self, place: u32, slack: u32, grammar: &Grammar) -> u32 {
        match self.nodes.get(place as usize) {
            Some(&(start, ample)) if start != Offers::NONE => self.counts[(start + slack.min(ample)) as usize],
            _ => offered(&grammar.lowered, NodeId::new(place as usize), slack.into()),
        }
    }
}
