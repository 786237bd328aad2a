//! The tree of TreeLine: partial derivations with the rewards of the texts below them.

/// The weight of exploration (C).
const EXPLORATION: f64 = 1.5;
/// The parent of the root.
const NONE: u32 = u32::MAX;
/// The root.
pub(super) const ROOT: u32 = 0;

/// A partial derivation: that of its parent, and an option at the next site with more than one.
#[derive(Clone, Debug)]
struct Node {
    parent: u32,
    option: u32,
    /// The children stand in a row.
    first_child: u32,
    children: u32,
    visits: u32,
    /// All texts below it were run.
    is_locked: bool,
    /// Whether it is in the list of hot nodes.
    is_hot: bool,
    rewards: f64,
}

/// A tree of partial derivations. Nodes are numbers; their options are enough to derive them again.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// Returns the root alone.
    pub(super) fn new() -> Tree {
        Tree { nodes: vec![node(NONE, 0)] }
    }

    /// Forgets all but the root. The memory is kept.
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.nodes.push(node(NONE, 0));
    }

    /// Returns the number of nodes.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns how many runs were made below a node.
    pub(super) fn visits(&self, node: u32) -> u32 {
        self.at(node).visits
    }

    /// Returns true if all texts below a node were run.
    pub(super) fn is_locked(&self, node: u32) -> bool {
        self.at(node).is_locked
    }

    /// Marks a node as hot; says whether it was not yet.
    pub(super) fn make_hot(&mut self, node: u32) -> bool {
        !std::mem::replace(&mut self.nodes[node as usize].is_hot, true)
    }

    /// Returns the upper confidence bound of a node: 0 for the root, greatest if it was never visited, least if it is
    /// locked.
    pub(super) fn uct(&self, number: u32) -> f64 {
        let node = self.at(number);
        match node.parent {
            _ if node.is_locked => f64::NEG_INFINITY,
            NONE => 0.0,
            parent => bound(node, self.logarithm(parent)),
        }
    }

    /// Returns the natural logarithm of the number of visits.
    fn logarithm(&self, node: u32) -> f64 {
        f64::from(self.at(node).visits).ln()
    }

    /// Returns the node that the greatest bounds lead to, from a node on, which has no children.
    pub(super) fn descend(&self, from: u32) -> u32 {
        let mut current = from;
        loop {
            let &Node { first_child, children, .. } = self.at(current);
            if children == 0 {
                return current;
            }
            let logarithm = self.logarithm(current);
            let row = &self.nodes[first_child as usize..][..children as usize];
            let mut greatest = (0, f64::NEG_INFINITY);
            for (place, child) in (0..).zip(row) {
                let bound = if child.is_locked { f64::NEG_INFINITY } else { bound(child, logarithm) };
                if bound > greatest.1 {
                    greatest = (place, bound);
                    if bound == f64::INFINITY {
                        break;
                    }
                }
            }
            current = first_child + greatest.0;
        }
    }

    /// Writes the options on the way from the root to a node.
    pub(super) fn path(&self, node: u32, path: &mut Vec<u32>) {
        path.clear();
        let mut current = self.at(node);
        while current.parent != NONE {
            path.push(current.option);
            current = self.at(current.parent);
        }
        path.reverse();
    }

    /// Gives a node without children a child for each option; returns the first one.
    pub(super) fn expand(&mut self, parent: u32, options: &[u32]) -> u32 {
        let first_child = self.nodes.len() as u32;
        self.nodes.extend(options.iter().map(|&option| node(parent, option)));
        let parent = &mut self.nodes[parent as usize];
        (parent.first_child, parent.children) = (first_child, options.len() as u32);
        first_child
    }

    /// Adds a visit with a reward to a node and all above it.
    pub(super) fn visit(&mut self, node: u32, reward: f64) {
        let mut current = node;
        while current != NONE {
            let node = &mut self.nodes[current as usize];
            node.visits += 1;
            node.rewards += reward;
            current = node.parent;
        }
    }

    /// Locks a node, and those above it whose children are all locked.
    pub(super) fn lock(&mut self, node: u32) {
        let mut current = node;
        while current != NONE && self.children(current).iter().all(|child| child.is_locked) {
            self.nodes[current as usize].is_locked = true;
            current = self.at(current).parent;
        }
    }

    fn children(&self, node: u32) -> &[Node] {
        let &Node { first_child, children, .. } = self.at(node);
        &self.nodes[first_child as usize..][..children as usize]
    }

    fn at(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }
}

fn node(parent: u32, option: u32) -> Node {
    Node { parent, option, first_child: 0, children: 0, visits: 0, is_locked: false, is_hot: false, rewards: 0.0 }
}

/// Returns the bound of a node that is not locked, by the logarithm of the visits of its parent.
fn bound(node: &Node, logarithm: f64) -> f64 {
    match f64::from(node.visits) {
        0.0 => f64::INFINITY,
        visits => node.rewards / visits + EXPLORATION * (logarithm / visits).sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a root with three children. The first has two visits with rewards of 0.5 and 0.7, the second one with
    /// 0.9.
    fn tree() -> Tree {
        let mut tree = Tree::new();
        assert_eq!(tree.expand(ROOT, &[0, 1, 4]), 1);
        for (node, reward) in [(1, 0.5), (2, 0.9), (1, 0.7)] {
            tree.visit(node, reward);
        }
        tree
    }

    fn near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-3, "{found} is not {wanted}");
    }

    #[test]
    fn bounds_are_those_of_the_formula() {
        let mut tree = tree();
        // ln 3 = 1.0986: 0.6 + 1.5 sqrt(1.0986 / 2) = 0.6 + 1.5 * 0.7411, and 0.9 + 1.5 sqrt(1.0986) = 0.9 + 1.5 *
        // 1.0481.
        near(tree.uct(1), 1.7117);
        near(tree.uct(2), 2.4722);
        assert_eq!((tree.uct(ROOT), tree.uct(3)), (0.0, f64::INFINITY));
        assert_eq!((tree.visits(ROOT), tree.nodes[0].rewards), (3, 0.5 + 0.9 + 0.7));
        assert_eq!(tree.descend(ROOT), 3, "a node without visits comes first");
        tree.visit(3, 0.0);
        // ln 4 = 1.3863: 0 + 1.5 * 1.1774 = 1.7661 for the third, 2.6661 for the second.
        near(tree.uct(3), 1.7661);
        near(tree.uct(2), 2.6661);
        assert_eq!(tree.descend(ROOT), 2);
        tree.lock(2);
        assert_eq!((tree.uct(2), tree.descend(ROOT)), (f64::NEG_INFINITY, 1));
    }

    #[test]
    fn the_first_of_equal_children_is_taken() {
        let mut tree = Tree::new();
        tree.expand(ROOT, &[0, 1]);
        assert_eq!(tree.descend(ROOT), 1);
        tree.visit(1, 0.5);
        tree.visit(2, 0.5);
        assert_eq!(tree.descend(ROOT), 1);
    }

    #[test]
    fn a_node_is_locked_once_all_its_children_are() {
        let mut tree = tree();
        assert_eq!(tree.expand(3, &[0, 2]), 4);
        tree.lock(4);
        assert!(tree.is_locked(4) && !tree.is_locked(3));
        tree.lock(5);
        assert!(tree.is_locked(3) && !tree.is_locked(ROOT));
        tree.lock(1);
        tree.lock(2);
        assert!(tree.is_locked(ROOT));
    }

    #[test]
    fn paths_are_the_options_from_the_root() {
        let mut tree = tree();
        tree.expand(3, &[0, 2]);
        let mut path = vec![7];
        tree.path(5, &mut path);
        assert_eq!(path, [4, 2]);
        tree.path(ROOT, &mut path);
        assert!(path.is_empty());
        assert!(tree.make_hot(5) && !tree.make_hot(5));
        tree.clear();
        assert_eq!((tree.len(), tree.visits(ROOT)), (1, 0));
    }

    #[test]
    fn nodes_are_small() {
        assert!(size_of::<Node>() <= 32);
    }
}
