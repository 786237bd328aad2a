//! The tree of a text: its parts, and the rules that derive each.

use std::ops::Range;

use gramjet_compiler::Compiled;
use gramjet_compiler::reference::{Instance, Trace};

/// The deepest part of a tree that is shown.
const DEEPEST: usize = 40;
/// The most parts of a tree.
pub const MOST_NODES: usize = 2000;

/// A text with the instances of rules that derive it.
pub struct Text {
    /// The text.
    pub bytes: Vec<u8>,
    /// Instances by their beginnings, outer ones first.
    pub(crate) instances: Vec<Instance>,
}

/// A part of a text: the rules that derive it, outer ones first, and its parts.
pub struct Node {
    /// The rules, by the numbers that the caller knows them by.
    pub rules: Vec<usize>,
    /// The place of the part in the text.
    pub range: Range<usize>,
    /// The parts of the part.
    pub children: Vec<usize>,
    /// Number of parts around it.
    pub depth: usize,
    /// Number of instances directly or deeper within that are not shown.
    pub hidden: usize,
}

impl Text {
    /// Returns a text with the instances of those rules that the user knows.
    pub fn new(compiled: &Compiled, bytes: Vec<u8>, trace: Trace) -> Text {
        let mut instances = trace.instances;
        instances.retain(|instance| !compiled.is_part(instance.rule));
        Text { bytes, instances }
    }

    /// Returns the text without the instances that derive nothing.
    pub(crate) fn without_empty_parts(mut self) -> Text {
        self.instances.retain(|instance| instance.depth == 0 || !instance.output.is_empty());
        self
    }

    /// Returns the parts of the text, outer ones first. Rules that derive the same text one from the other are one
    /// node. `number` gives the rule of an instance, if it is known.
    pub fn nodes(&self, number: &dyn Fn(&Instance) -> Option<usize>) -> Vec<Node> {
        let children = count_children(&self.instances);
        let mut nodes: Vec<Node> = Vec::new();
        // The open instances: the depth of each, and its node.
        let mut open: Vec<(u32, usize)> = Vec::new();
        for (at, instance) in self.instances.iter().enumerate() {
            while open.last().is_some_and(|&(depth, _)| depth >= instance.depth) {
                open.pop();
            }
            let Some(rule) = number(instance) else { continue };
            let range = instance.output.start as usize..instance.output.end as usize;
            let parent = open.last().map(|&(_, node)| node);
            let is_same = |node: &Node| node.range == range && at > 0 && children[at - 1] == 1;
            let node = match parent {
                Some(parent) if is_same(&nodes[parent]) && nodes[parent].hidden == 0 => {
                    nodes[parent].rules.push(rule);
                    parent
                }
                Some(parent) if nodes[parent].depth >= DEEPEST || nodes.len() >= MOST_NODES => {
                    nodes[parent].hidden += 1;
                    parent
                }
                _ => {
                    let depth = parent.map_or(0, |parent| nodes[parent].depth + 1);
                    nodes.push(Node { rules: vec![rule], range, children: Vec::new(), depth, hidden: 0 });
                    let new = nodes.len() - 1;
                    parent.into_iter().for_each(|parent| nodes[parent].children.push(new));
                    new
                }
            };
            open.push((instance.depth, node));
        }
        nodes
    }
}

/// Returns the number of instances directly within each instance.
fn count_children(instances: &[Instance]) -> Vec<usize> {
    let (mut children, mut open) = (vec![0; instances.len()], Vec::<usize>::new());
    for (at, instance) in instances.iter().enumerate() {
        while open.last().is_some_and(|&outer| instances[outer].depth >= instance.depth) {
            open.pop();
        }
        open.last().into_iter().for_each(|&outer| children[outer] += 1);
        open.push(at);
    }
    children
}
