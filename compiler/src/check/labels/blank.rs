//! Checks checksums of parts that contain them: what counts as other bytes is within the part, and of the rest nothing
//! follows from the checksum.

use std::ops::Range;

use super::{Checking, MAX_LABELS};
use crate::ast::{Expr, Name, SeenLabel};
use crate::derived::{Blank, Derived, Value};
use crate::diagnostics::{Code, Diagnostic};
use crate::ordered::Map;

/// Everything in a rule whose bytes follow from bytes of parts, in order.
#[derive(Default)]
pub(super) struct Contents<'e> {
    leaves: Vec<Leaf<'e>>,
    /// The numbers of the leaves in each labelled part, by its address. Never iterated.
    parts: Map<usize, Range<usize>>,
    /// The leaves that count as other bytes in their own checksums.
    own: Vec<usize>,
}

/// Something whose bytes follow from bytes of parts.
struct Leaf<'e> {
    expr: &'e Expr,
    /// The parts.
    parts: Vec<&'e Expr>,
    /// The part that counts as other bytes.
    blank: Option<&'e Expr>,
}

fn address(expr: &Expr) -> usize {
    std::ptr::from_ref(expr) as usize
}

impl<'e> Contents<'e> {
    /// Returns the number of leaves so far.
    pub fn count(&self) -> usize {
        self.leaves.len()
    }

    /// Notes the leaves of a labelled part, from the leaf with this number on.
    pub fn add_part(&mut self, part: &'e Expr, first: usize) {
        self.parts.insert(address(part), first..self.leaves.len());
    }

    /// Returns the ranges of leaves whose bytes a leaf follows from.
    fn before(&self, leaf: usize) -> Vec<Range<usize>> {
        let of = |part: &&Expr| self.parts.get(&address(part)).cloned().unwrap_or(0..0);
        let Leaf { expr, parts, blank } = &self.leaves[leaf];
        let ranges = parts.iter().map(of);
        match blank {
            None => ranges.collect(),
            Some(blank) => {
                let without = if std::ptr::eq(*blank, *expr) { leaf..leaf + 1 } else { of(blank) };
                ranges.flat_map(|range| [range.start..without.start, without.end..range.end]).collect()
            }
        }
    }

    /// Returns true if the bytes of a leaf follow from themselves.
    fn follows_from_itself(&self, leaf: usize) -> bool {
        // For each leaf itself, or a later one if it has been looked at.
        let mut next: Vec<usize> = (0..=self.leaves.len()).collect();
        let mut open = self.before(leaf);
        while let Some(range) = open.pop() {
            let mut at = range.start;
            loop {
                while next[at] != at {
                    next[at] = next[next[at]];
                    at = next[at];
                }
                if at >= range.end {
                    break;
                }
                if at == leaf {
                    return true;
                }
                next[at] = at + 1;
                open.extend(self.before(at));
            }
        }
        false
    }
}

impl<'e> Checking<'e, '_> {
    /// Returns the innermost part with a label, and the numbers of its sequence and item.
    fn find(&self, label: &Name) -> Option<(&SeenLabel<'e>, usize)> {
        let sequences = self.scopes.iter().enumerate().rev();
        let mut found = sequences.filter_map(|(number, scope)| {
            Some((scope.labels.iter().find(|seen| seen.name.text == label.text)?, number))
        });
        found.next()
    }

    /// Returns the sequence in which a label is that of a part around what is looked at, with no repetition and no
    /// coding in between.
    fn contains(&self, label: &Name) -> Option<(usize, &'e Expr)> {
        let (seen, number) = self.find(label)?;
        let scope = &self.scopes[number];
        let is_once = scope.rounds == self.rounds && scope.codings == self.codings && seen.codings == 0;
        (seen.item == scope.item && is_once).then_some((number, seen.part))
    }

    /// Looks at a checksum of a part that contains it, of which some bytes count as others.
    pub(super) fn blank(&mut self, expr: &'e Expr, value: &'e Value<Name>, blank: &'e Blank<Name>) {
        for label in value.labels() {
            if self.parameter(label).is_some() {
                let message = format!("the parameter `{}` is not a part that this is in", label.text);
                let help = "what counts as other bytes is said in a checksum of a part of the same rule";
                return self.report(Diagnostic::error(Code::Parameters, label.span, message).help(help));
            }
            if self.find(label).is_none() {
                return self.unseen(label);
            }
            if self.contains(label).is_none() {
                let message = format!("this is not in the part `{}`, once in each text of it", label.text);
                let help = "`self as ' '` and `field as ' '` are said in a checksum of a part that contains it: \
                            `all:('a' $u8(sum8(all, self as #x00)))`";
                self.report(Diagnostic::error(Code::StrayBlank, label.span, message).help(help));
                return;
            }
        }
        let of = |label: &Name| self.contains(label);
        let blanked = blank.part.as_ref().map(|part| (part, of(part)));
        let summed = value.terms.first().and_then(|term| of(&term.label));
        if let (Some((part, Some((inner, _)))), Some((outer, _))) = (blanked, summed)
            && inner <= outer
        {
            let message = format!("the part `{}` is not within the part that is summed", part.text);
            let help = "what counts as other bytes is a part of what is summed: `all:('a' field:($u8(...)))`";
            self.report(Diagnostic::error(Code::StrayBlank, part.span, message).help(help));
            return;
        }
        let blank = blanked.map_or(Some(expr), |(_, found)| found.map(|(_, part)| part));
        self.contents.own.push(self.contents.count());
        self.contents.leaves.push(Leaf { expr, parts: summed.into_iter().map(|(_, part)| part).collect(), blank });
    }

    /// Notes a copy or a checksum of other parts.
    pub(super) fn content(&mut self, expr: &'e Expr, derived: &'e Derived<Name>) {
        if derived.blank().is_none() {
            self.content_of(expr, derived.labels_of_content());
        }
    }

    /// Notes something whose bytes follow from those of these parts.
    pub(super) fn content_of(&mut self, expr: &'e Expr, labels: impl Iterator<Item = &'e Name>) {
        let parts: Vec<&'e Expr> = labels.filter_map(|label| self.find(label)).map(|(seen, _)| seen.part).collect();
        if !parts.is_empty() {
            self.contents.leaves.push(Leaf { expr, parts, blank: None });
        }
    }

    /// Reports checksums of parts that contain them whose bytes follow from themselves.
    pub(super) fn blanks(&mut self) {
        let contents = std::mem::take(&mut self.contents);
        if let Some(&leaf) = contents.own.get(MAX_LABELS) {
            let message = format!("a rule has {} checksums of parts that contain them", contents.own.len());
            let help = format!("the bound is {MAX_LABELS}; move parts into rules of their own");
            return self.report(Diagnostic::error(Code::TooLarge, contents.leaves[leaf].expr.span, message).help(help));
        }
        for &leaf in contents.own.iter().filter(|&&leaf| contents.follows_from_itself(leaf)) {
            let message = "the bytes of this checksum follow from themselves";
            let help = "let what else follows from it not be in the part that it sums, or count as other bytes, too";
            self.report(Diagnostic::error(Code::CyclicLabel, contents.leaves[leaf].expr.span, message).help(help));
        }
    }
}
