//! Estimates the size of emitted code from the IR. The formatter and the Rust compiler need about 25 KiB for each unit.

use std::ops::AddAssign;

use crate::analysis::pools::Pools;
use crate::ir::{Ir, Node, NodeId, RuleId};
use crate::ordered::Set;

/// The parts of a producer that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// Nodes that become code.
    nodes: usize,
    /// Literals. Most become entries of tables.
    literals: usize,
    /// Numbers in tables: where strings start, ranges of classes, slots.
    numbers: usize,
    /// Bytes of literals and pools.
    bytes: usize,
}

impl Size {
    /// Returns the total, in nodes.
    pub fn units(self) -> usize {
        let tables = self.literals / 4 + self.numbers / 16 + self.bytes / 1024;
        self.nodes.saturating_add(tables)
    }

    fn of_node(node: &Node) -> Size {
        if let Some(bytes) = node.literal() {
            return Size { literals: 1, bytes: bytes.len(), ..Size::default() };
        }
        let ranges = node.class().map_or(0, |set| set.ranges().len());
        let slots = node.choice().and_then(|choice| choice.slots.as_ref()).map_or(0, |slots| slots.ends().len());
        Size { nodes: 1, numbers: 2 * ranges + slots, ..Size::default() }
    }
}

impl AddAssign for Size {
    fn add_assign(&mut self, other: Size) {
        for (sum, other) in [
            (&mut self.nodes, other.nodes),
            (&mut self.literals, other.literals),
            (&mut self.numbers, other.numbers),
            (&mut self.bytes, other.bytes),
        ] {
            *sum = sum.saturating_add(other);
        }
    }
}

/// Returns the size of the functions of an IR, with the pools that they need.
pub(super) fn size(ir: &Ir, pools: &Pools) -> Size {
    let mut instances: Set<RuleId> = ir.bodies().map(|(rule, _)| rule).collect();
    // The code of a shared node is emitted at each of its places. Children come before their parents.
    let mut sizes: Vec<Size> = Vec::with_capacity(ir.node_count());
    for id in (0..ir.node_count()).map(NodeId::new) {
        let mut size = Size::of_node(ir.node(id));
        ir.children(id).iter().for_each(|child| size += sizes[child.index()]);
        sizes.push(size);
        instances.extend(ir.node(id).in_place().map(|(rule, _)| rule));
    }
    let mut size = Size::default();
    ir.bodies().for_each(|(_, body)| size += sizes[body.index()]);
    // A rule that only refers to another one shares its pool.
    let mut counted = Set::new();
    for pool in instances.into_iter().filter_map(|rule| pools.get(rule)) {
        if counted.insert(pool.strings.as_ptr()) {
            let strings = pool.strings.iter().chain(&pool.shortest);
            let bytes = strings.map(|string| string.len()).sum();
            size += Size { numbers: pool.strings.len(), bytes, ..Size::default() };
        }
    }
    size
}
