//! Texts of different behaviours: for each edge that some text executes more often than any other edge, the costliest
//! text of which that is so.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use gramjet_search::Edge;

/// A worker and an edge. The edges of each worker are apart: functions number edges as they are first executed.
pub(crate) type Key = (usize, u32);

/// The costliest text for each hottest edge.
#[derive(Debug, Default)]
pub(crate) struct Behaviours {
    texts: BTreeMap<Key, (u64, Vec<u8>)>,
}

impl Behaviours {
    /// Takes a text with its hottest edge, if it costs more than the one before, or as much with fewer bytes.
    pub(crate) fn add(&mut self, worker: usize, edge: u32, cost: u64, text: &[u8]) {
        match self.texts.entry((worker, edge)) {
            Entry::Vacant(entry) => {
                entry.insert((cost, text.to_vec()));
            }
            Entry::Occupied(mut entry) => {
                let (known, kept) = entry.get_mut();
                if cost > *known || cost == *known && text.len() < kept.len() {
                    *known = cost;
                    kept.clear();
                    kept.extend_from_slice(text);
                }
            }
        }
    }

    /// Returns the texts with their edges and costs, the costliest first.
    pub(crate) fn all(&self) -> Vec<(Key, u64, &[u8])> {
        let mut texts: Vec<_> = self.texts.iter().map(|(&key, (cost, text))| (key, *cost, &text[..])).collect();
        texts.sort_by_key(|&(_, cost, _)| Reverse(cost));
        // Several workers may have the same text.
        let mut seen = BTreeSet::new();
        texts.retain(|(.., text)| seen.insert(*text));
        texts
    }

    /// Returns the texts, the costliest first.
    pub(crate) fn costliest(&self) -> Vec<Vec<u8>> {
        self.all().into_iter().map(|(.., text)| text.to_vec()).collect()
    }
}

/// Returns the edge that is executed most often; of several, that with the least number.
pub(crate) fn hottest(edges: &[Edge]) -> Option<Edge> {
    edges.iter().copied().max_by_key(|&(edge, count)| (count, Reverse(edge)))
}

/// Returns the first edge with this count, of edges in ascending order.
pub(crate) fn first_with(edges: &[Edge], count: u64) -> Option<Edge> {
    edges.iter().copied().find(|edge| edge.1 == count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hottest_edge_has_its_costliest_text() {
        let mut behaviours = Behaviours::default();
        for (edge, cost, text) in [(1, 5, "aa"), (2, 9, "b"), (1, 7, "aaa"), (1, 7, "ab"), (1, 6, "a"), (3, 1, "")] {
            behaviours.add(0, edge, cost, text.as_bytes());
        }
        // One that costs nothing is kept, too; the same number is another edge for another worker.
        behaviours.add(0, 4, 0, b"free");
        behaviours.add(1, 2, 8, b"c");
        behaviours.add(1, 3, 7, b"ab");
        assert_eq!(behaviours.costliest(), ["b", "c", "ab", "", "free"].map(|text| text.as_bytes().to_vec()));
        assert_eq!(hottest(&[(1, 2), (4, 7), (5, 7), (6, 1)]), Some((4, 7)));
        assert_eq!(hottest(&[]), None);
        // It is the hottest one if the greatest count is known.
        assert_eq!(first_with(&[(1, 2), (4, 7), (5, 7), (6, 1)], 7), Some((4, 7)));
        assert_eq!(first_with(&[(1, 2)], 7), None);
    }
}
