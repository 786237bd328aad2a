//! Counts of selections and successes of texts and of all that descends from them (Alsaeed & Young, ISSTA 2023).

/// The exploration constant of the score.
const EXPLORATION: f64 = 3.0;
const NONE: u32 = u32::MAX;

/// The counts of a text. The published program has a count of the text's own successes, too, which nothing reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    parent: u32,
    /// Selections of it, and runs of texts that descend from it.
    selected: u64,
    /// The values of successes of its variants and of those that descend from it.
    succeeded: u64,
    /// Runs of variants of its own.
    selected_itself: u64,
}

/// Who descends from whom.
#[derive(Clone, Debug, Default)]
pub(super) struct Pedigree {
    nodes: Vec<Node>,
}

impl Pedigree {
    /// Adds a text; all its counts are 1.
    pub(super) fn add(&mut self, parent: Option<u32>) -> u32 {
        let parent = parent.unwrap_or(NONE);
        self.nodes.push(Node { parent, selected: 1, succeeded: 1, selected_itself: 1 });
        self.nodes.len() as u32 - 1
    }

    /// Counts a selection of a text.
    pub(super) fn select(&mut self, node: u32) {
        self.nodes[node as usize].selected += 1;
    }

    /// Counts the run of a variant of a text: a success of this value, or 0 for a failure.
    pub(super) fn credit(&mut self, node: u32, value: u64) {
        self.nodes[node as usize].selected_itself += 1;
        let mut next = node;
        while next != NONE {
            let node = &mut self.nodes[next as usize];
            node.selected += 1;
            node.succeeded += value;
            next = node.parent;
        }
    }

    /// Returns the score of a text with a cost of this rank.
    pub(super) fn score(&self, node: u32, rank: f64) -> f64 {
        let node = self.nodes[node as usize];
        let value = (1.0 + rank) * node.succeeded as f64 / node.selected as f64;
        match self.nodes.get(node.parent as usize) {
            None => value,
            Some(parent) => value + EXPLORATION * ((parent.selected as f64).ln() / node.selected_itself as f64).sqrt(),
        }
    }

    /// Forgets all nodes on which the scores of these do not depend. Returns the new numbers of these.
    pub(super) fn keep(&mut self, kept: &[u32]) -> Vec<u32> {
        let mut needed = vec![false; self.nodes.len()];
        for &node in kept {
            needed[node as usize] = true;
            if let Some(is_needed) = needed.get_mut(self.nodes[node as usize].parent as usize) {
                *is_needed = true;
            }
        }
        // A parent has a smaller number than its children: here its place, or that of its nearest needed ancestor.
        let mut places = Vec::with_capacity(self.nodes.len());
        let mut nodes = Vec::new();
        for (node, is_needed) in self.nodes.iter().zip(needed) {
            let parent = places.get(node.parent as usize).copied().unwrap_or(NONE);
            places.push(if is_needed { nodes.len() as u32 } else { parent });
            if is_needed {
                nodes.push(Node { parent, ..*node });
            }
        }
        self.nodes = nodes;
        kept.iter().map(|&node| places[node as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(pedigree: &Pedigree, node: u32) -> [u64; 3] {
        let node = pedigree.nodes[node as usize];
        [node.selected, node.succeeded, node.selected_itself]
    }

    #[test]
    fn ancestors_share_successes_and_failures() {
        let mut pedigree = Pedigree::default();
        let seed = pedigree.add(None);
        let child = pedigree.add(Some(seed));
        let grandchild = pedigree.add(Some(child));
        let other = pedigree.add(Some(seed));
        pedigree.select(grandchild);
        assert_eq!(counts(&pedigree, grandchild), [2, 1, 1]);
        pedigree.credit(grandchild, 10);
        pedigree.select(child);
        pedigree.credit(child, 0);
        assert_eq!(counts(&pedigree, grandchild), [3, 11, 2]);
        assert_eq!(counts(&pedigree, child), [4, 11, 2]);
        assert_eq!(counts(&pedigree, seed), [3, 11, 1]);
        assert_eq!(counts(&pedigree, other), [1, 1, 1]);
    }

    #[test]
    fn scores_are_those_of_the_formula() {
        let mut pedigree = Pedigree::default();
        let seed = pedigree.add(None);
        let child = pedigree.add(Some(seed));
        assert_eq!(pedigree.score(seed, 0.5), 1.5);
        // ln 1 = 0: a parent that was never selected adds nothing.
        assert_eq!(pedigree.score(child, 1.0), 2.0);
        pedigree.select(seed);
        pedigree.credit(seed, 5);
        pedigree.select(child);
        pedigree.credit(child, 1);
        // The seed: selected 1 + 1 + 1 + 1, succeeded 1 + 5 + 1. The child: 1 + 1 + 1, 1 + 1, itself 1 + 1.
        assert_eq!(pedigree.score(seed, 0.0), 7.0 / 4.0);
        let expected = 1.25 * 2.0 / 3.0 + 3.0 * (4f64.ln() / 2.0).sqrt();
        assert!((pedigree.score(child, 0.25) - expected).abs() < 1e-12);
    }

    #[test]
    fn forgotten_ancestors_change_no_score() {
        let mut pedigree = Pedigree::default();
        let seed = pedigree.add(None);
        let chain: Vec<u32> = (0..5).fold(vec![seed], |mut chain, _| {
            chain.push(pedigree.add(chain.last().copied()));
            chain
        });
        pedigree.credit(chain[5], 10);
        pedigree.credit(chain[2], 1);
        let before = [5, 1].map(|place: usize| pedigree.score(chain[place], 0.5));
        let kept = pedigree.keep(&[chain[5], chain[1]]);
        // Kept: the seed as a parent, 1, 4 as a parent, 5.
        assert_eq!(kept, [3, 1]);
        assert_eq!([0, 1].map(|place: usize| pedigree.score(kept[place], 0.5)), before);
        let parents: Vec<u32> = pedigree.nodes.iter().map(|node| node.parent).collect();
        assert_eq!(parents, [NONE, 0, 1, 2]);
        pedigree.credit(kept[0], 5);
        assert_eq!(counts(&pedigree, kept[1])[1], 1 + 10 + 1 + 5);
    }
}
