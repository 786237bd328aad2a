//! Labels of sequences, and of groups in them.
//!
//! A *group* is a sequence that is an item of another one, with labels or without. A label of a group is seen in the
//! sequence around it if something there refers to it: the group is *open* then. Otherwise it is the group's own, so
//! that groups may have labels of one name.

use super::{Expr, Name};
use crate::ordered::Set;

/// A label that is seen in a sequence.
#[derive(Clone, Copy, Debug)]
pub struct SeenLabel<'e> {
    /// The label.
    pub name: &'e Name,
    /// The part.
    pub part: &'e Expr,
    /// The number of the item of the sequence that has it, or that it is in.
    pub item: usize,
    /// The number of codings between the item of its own group and the part.
    pub codings: usize,
    /// Whether it is one of a group.
    pub is_in_group: bool,
}

impl Expr {
    /// Returns the address, by which an expression is known where it stands.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// Returns the items of the group that an item of a sequence is.
    fn group(&self) -> Option<&[Expr]> {
        self.unlabelled().as_seq()
    }

    /// Returns the labels that are seen in a sequence, in order: its own, and those of open groups.
    pub(crate) fn seen_labels(&self) -> Vec<SeenLabel<'_>> {
        self.seen_labels_with(&[])
    }

    /// Returns the labels that are seen in a sequence, and by what stands outside it and refers to these names.
    pub(crate) fn seen_labels_with<'e>(&'e self, outside: &[&str]) -> Vec<SeenLabel<'e>> {
        let items = self.sequence();
        let references = References::new(items);
        let mut labels = Vec::new();
        for (number, item) in items.iter().enumerate() {
            let own = labels_of_item(item, number, false);
            labels.extend(own);
            let of_group = labels_of_group(item, number);
            labels.extend(of_group.filter(|seen| references.has(&seen.name.text, number, outside)));
        }
        labels
    }

    /// Returns the labels of a sequence and of all groups in it, whether they are open or not.
    pub(crate) fn all_labels(&self) -> Vec<SeenLabel<'_>> {
        let items = self.sequence().iter().enumerate();
        let both = |(number, item)| labels_of_item(item, number, false).chain(labels_of_group(item, number));
        items.flat_map(both).collect()
    }

    /// Returns the addresses of the open groups of a sequence, also within each other, if what stands outside refers to
    /// these names.
    pub(crate) fn open_groups(&self, outside: &[&str]) -> Vec<usize> {
        let mut found = Vec::new();
        add_open_groups(self.sequence(), outside, &mut found);
        found
    }
}

/// Returns the labels of an item of a sequence.
fn labels_of_item(item: &Expr, number: usize, is_in_group: bool) -> impl Iterator<Item = SeenLabel<'_>> {
    item.layers().enumerate().flat_map(move |(codings, layer)| {
        layer.labels().map(move |(name, part)| SeenLabel { name, part, item: number, codings, is_in_group })
    })
}

/// Returns the labels of the group that an item is, and of all groups in it.
fn labels_of_group(item: &Expr, number: usize) -> impl Iterator<Item = SeenLabel<'_>> {
    let mut open: Vec<&Expr> = item.group().into_iter().flatten().rev().collect();
    let items = std::iter::from_fn(move || {
        let next = open.pop()?;
        open.extend(next.group().into_iter().flatten().rev());
        Some(next)
    });
    items.flat_map(move |item| labels_of_item(item, number, true))
}

fn add_open_groups(items: &[Expr], outside: &[&str], found: &mut Vec<usize>) {
    let references = References::new(items);
    for (number, item) in items.iter().enumerate() {
        let Some(group) = item.group() else { continue };
        if labels_of_group(item, number).any(|seen| references.has(&seen.name.text, number, outside)) {
            found.push(item.unlabelled().address());
            let outside: Vec<&str> = references.outside(number).chain(outside.iter().copied()).collect();
            add_open_groups(group, &outside, found);
        }
    }
}

/// The labels of groups to which the items of a sequence refer that are not their own.
struct References<'e> {
    /// The names, with the number of the item that refers to each. They are looked up, and never listed.
    names: Vec<(&'e str, usize)>,
}

impl<'e> References<'e> {
    fn new(items: &'e [Expr]) -> References<'e> {
        let mut names = Vec::new();
        let has_labels = |item: &Expr| labels_of_group(item, 0).next().is_some();
        if items.iter().any(has_labels) {
            for (number, item) in items.iter().enumerate() {
                let mut own = Set::new();
                add_references(item, &mut own);
                names.extend(own.into_iter().map(|name| (name, number)));
            }
        }
        References { names }
    }

    /// Returns true if an item but that of this number refers to a name, or something outside does.
    fn has(&self, name: &str, number: usize, outside: &[&str]) -> bool {
        outside.contains(&name) || self.outside(number).any(|other| other == name)
    }

    /// Returns the names to which all items refer but that of this number.
    fn outside(&self, number: usize) -> impl Iterator<Item = &'e str> {
        self.names.iter().filter(move |(_, item)| *item != number).map(|(name, _)| *name)
    }
}

/// Adds the names to which something in an expression refers, but those of its own labels.
fn add_references<'e>(expr: &'e Expr, names: &mut Set<&'e str>) {
    expr.label_references(&mut |label, _| {
        names.insert(&label.text);
    });
    if expr.as_seq().is_none() {
        return expr.children().for_each(|child| add_references(child, names));
    }
    let mut within = Set::new();
    expr.children().for_each(|child| add_references(child, &mut within));
    for seen in expr.all_labels() {
        within.remove(seen.name.text.as_str());
    }
    names.extend(within);
}
