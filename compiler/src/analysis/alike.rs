//! Similar options of a site, which can share the code of a branch.

use crate::ir::{Ir, NodeId};

/// Returns the items that an option is a sequence of.
pub fn items(ir: &Ir, option: NodeId) -> Vec<NodeId> {
    match ir.node(option).items() {
        Some(items) => items.to_vec(),
        None if ir.node(option).is_empty() => Vec::new(),
        None => vec![option],
    }
}

/// The options of a site in groups that can share the code of a branch.
#[derive(Clone, Debug)]
pub struct Alike {
    /// The items of each option's sequence.
    pub options: Vec<Vec<NodeId>>,
    /// The number of items at the beginning that are the same in all options.
    pub shared: usize,
    /// The groups, as numbers of options. After the shared items, the options of a group differ only in short literals.
    pub groups: Vec<Vec<usize>>,
}

/// The item that the options of a group have at a position.
#[derive(Clone, Debug)]
pub enum Item<'i> {
    /// All options have this item.
    Same(NodeId),
    /// Each option has a literal: the number of the option and its bytes.
    Literals(Vec<(usize, &'i [u8])>),
}

/// The options of a larger choice are not grouped.
const MAX_GROUPED: usize = 256;

impl Alike {
    /// Groups the options that differ only in literals of at most `max_literal` bytes. If `shares_heads`, the items
    /// that all options begin with are kept apart from the groups.
    pub fn new(ir: &Ir, options: Vec<Vec<NodeId>>, shares_heads: bool, max_literal: usize) -> Alike {
        let shared =
            if shares_heads { (0..).take_while(|&position| is_shared(ir, &options, position)).count() } else { 0 };
        let groups = groups(ir, &options, shared, max_literal);
        Alike { options, shared, groups }
    }

    /// Returns the items that all options begin with.
    pub fn head(&self) -> &[NodeId] {
        &self.options[0][..self.shared]
    }

    /// Returns the items of a group's options, after the shared ones.
    pub fn items<'i>(&self, ir: &'i Ir, group: usize) -> Vec<Item<'i>> {
        let group = &self.groups[group];
        let first = &self.options[group[0]];
        let item = |position: usize| {
            let members = || group.iter().map(|&option| (option, self.options[option][position]));
            if members().all(|(_, other)| ir.is_written_like(first[position], other)) {
                Item::Same(first[position])
            } else {
                // Options of a group that are not written alike are literals here.
                Item::Literals(
                    members().map(|(option, item)| (option, ir.node(item).literal().unwrap_or_default())).collect(),
                )
            }
        };
        (self.shared..first.len()).map(item).collect()
    }
}

/// Returns true if all options have the same item at a position.
fn is_shared(ir: &Ir, options: &[Vec<NodeId>], position: usize) -> bool {
    let Some(&item) = options[0].get(position) else { return false };
    options.iter().all(|items| items.get(position).is_some_and(|&other| ir.is_written_like(item, other)))
}

/// Returns the groups of options that differ, after the first `shared` items, only in literals of at most `max_literal`
/// bytes.
fn groups(ir: &Ir, options: &[Vec<NodeId>], shared: usize, max_literal: usize) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (option, items) in options.iter().enumerate() {
        let group = if options.len() <= MAX_GROUPED {
            groups.iter_mut().find(|group| are_alike(ir, &options[group[0]][shared..], &items[shared..], max_literal))
        } else {
            None
        };
        match group {
            Some(group) => group.push(option),
            None => groups.push(vec![option]),
        }
    }
    groups
}

fn are_alike(ir: &Ir, a: &[NodeId], b: &[NodeId], max_literal: usize) -> bool {
    let short = |node: NodeId| ir.node(node).literal().is_some_and(|bytes| bytes.len() <= max_literal);
    a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| (short(a) && short(b)) || ir.is_written_like(a, b))
}
