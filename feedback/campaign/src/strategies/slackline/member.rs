//! A text on the frontier.

use super::tree::Tree;
use gramjet_search::Edge;

/// A text on the frontier with its measurements.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) tree: Tree,
    pub(super) cost: u64,
    /// The counts of its run: for each edge, what its number adds to that of the one before it, and its count, both as
    /// LEB128.
    edges: Box<[u8]>,
}

impl Member {
    pub(super) fn new(tree: Tree, cost: u64, edges: &[Edge]) -> Member {
        let (mut packed, mut last) = (Vec::new(), 0);
        for &(edge, count) in edges {
            pack(u64::from(edge - last), &mut packed);
            pack(count, &mut packed);
            last = edge;
        }
        Member { tree, cost, edges: packed.into() }
    }

    /// Writes how often each edge was executed, in place of the former contents of `edges`.
    pub(super) fn edges(&self, edges: &mut Vec<Edge>) {
        edges.clear();
        let (mut packed, mut last) = (&*self.edges, 0);
        while !packed.is_empty() {
            last += unpack(&mut packed) as u32;
            edges.push((last, unpack(&mut packed)));
        }
    }

    /// Returns its memory in bytes, roughly.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Member>() + self.tree.bytes() + self.edges.len()
    }
}

fn pack(mut number: u64, packed: &mut Vec<u8>) {
    while number >= 0x80 {
        packed.push(number as u8 | 0x80);
        number >>= 7;
    }
    packed.push(number as u8);
}

fn unpack(packed: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    while let Some((&byte, rest)) = packed.split_first() {
        *packed = rest;
        number |= u64::from(byte & 0x7F) << shift;
        shift += 7;
        if byte < 0x80 {
            break;
        }
    }
    number
}

#[cfg(test)]
pub(super) mod tests {
    use gramjet_session::decisions::Derivation;

    use super::*;
    use crate::strategies::kit;

    /// Returns a member with the empty text.
    pub(in super::super) fn member(cost: u64, edges: &[Edge]) -> Member {
        let mut derivation = Derivation::default();
        kit::language("s ::= ''").deriver(Some(1)).replay(&[], &mut derivation);
        Member::new(Tree::new(&derivation).expect("a derivation"), cost, edges)
    }

    #[test]
    fn edges_are_stored_exactly_in_a_few_bytes() {
        let edges = [(0, 1), (1, 127), (3, 128), (70_000, 1 << 40), (u32::MAX, u64::MAX)];
        let member = member(5, &edges);
        let mut unpacked = vec![(9, 9)];
        member.edges(&mut unpacked);
        assert_eq!(unpacked, edges);
        assert_eq!(member.edges.len(), 2 + 2 + 3 + (3 + 6) + (5 + 10));
    }
}
