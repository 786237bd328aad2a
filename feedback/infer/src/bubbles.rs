//! Bubbles: sequences of siblings that can stand for a class, the shortest first (Arvada, TreeVada).

use std::collections::BTreeMap;
use std::ops::Range;

use crate::asked::Asked;
use crate::places::{Classes, Symbol};
use crate::tree::{Forest, NodeKind};

/// The longest sequence of siblings that is tried.
const WINDOW: usize = 10;

/// A sequence of siblings, its neighbours, and the content that it is in.
type Window = (Option<Symbol>, Vec<Symbol>, Option<Symbol>, Option<usize>);

/// Finds bubbles.
pub(crate) struct Bubbles<'a, 'o> {
    pub forest: &'a mut Forest,
    pub classes: &'a mut Classes,
    pub asked: &'a mut Asked<'o>,
    /// The classes of windows, as far as they are decided.
    decided: BTreeMap<Window, Option<usize>>,
}

impl Bubbles<'_, '_> {
    /// Makes bubbles until there are no more.
    pub fn find(forest: &mut Forest, classes: &mut Classes, asked: &mut Asked<'_>) {
        let mut parents: Vec<usize> =
            (0..forest.nodes.len()).filter(|&node| !forest.nodes[node].children.is_empty()).collect();
        // What is found in short sequences makes long ones shorter.
        parents.sort_by_key(|&parent| forest.nodes[parent].children.len());
        let mut bubbles = Bubbles { forest, classes, asked, decided: BTreeMap::new() };
        for parent in parents {
            bubbles.find_in(parent);
        }
    }

    fn find_in(&mut self, parent: usize) {
        let mut len = 1;
        while len <= self.forest.nodes[parent].children.len().min(WINDOW) && !self.asked.is_over() {
            len = if self.make(parent, len) { 1 } else { len + 1 };
        }
    }

    /// Makes bubbles of windows of this length. Returns true if there are any.
    fn make(&mut self, parent: usize, len: usize) -> bool {
        let (mut at, mut is_changed) = (0, false);
        while at + len <= self.forest.nodes[parent].children.len() {
            match self.class(parent, at..at + len) {
                Some(class) => {
                    let bubble = self.forest.bubble(parent, at..at + len);
                    self.classes.add(self.forest, class, bubble);
                    is_changed = true;
                }
                None => at += 1,
            }
        }
        is_changed
    }

    /// Returns the class that a window can stand for.
    fn class(&mut self, parent: usize, window: Range<usize>) -> Option<usize> {
        let node = &self.forest.nodes[parent];
        let children = &node.children;
        let is_all = window.len() == children.len();
        if is_all && node.kind == NodeKind::Bubble {
            return None;
        }
        let is_segment = children.iter().any(|&child| self.forest.nodes[child].kind == NodeKind::Segment);
        let symbols: Vec<Symbol> = children[window.clone()].iter().map(|&node| self.classes.symbol(node)).collect();
        let is_blank = |symbol: &Symbol| matches!(symbol, Symbol::Blank(_));
        if symbols.first().is_some_and(is_blank) || symbols.last().is_some_and(is_blank) {
            return None;
        }
        if let [Symbol::Class(_)] = symbols[..] {
            return None;
        }
        let before = window.start.checked_sub(1).map(|at| self.classes.symbol(children[at]));
        let after = children.get(window.end).map(|&node| self.classes.symbol(node));
        let span =
            self.forest.nodes[children[window.start]].span.start..self.forest.nodes[children[window.end - 1]].span.end;
        let sample = node.sample;
        let key = (before, symbols.clone(), after, self.classes.content_of.get(&parent).copied());
        if let Some(&class) = self.decided.get(&key) {
            return class;
        }
        let class = self.classes.class_of_window(self.forest, is_segment, sample, &span, self.asked);
        let is_between = [before, after].iter().any(|symbol| matches!(symbol, Some(Symbol::Class(_))));
        let class = class.filter(|&class| self.is_sensible(&symbols, is_between, class));
        self.decided.insert(key, class);
        class
    }

    fn is_sensible(&self, symbols: &[Symbol], is_between: bool, class: usize) -> bool {
        let separates = |set: usize| self.classes.marks[set].iter().all(|mark| mark.0 == b"," || mark.0 == b";");
        // A mark for which a number can stand is no number if it joins others: `1,2` is not `172`.
        if let [Symbol::Marks(set)] = symbols {
            return !is_between && !separates(*set);
        }
        // A list of members is a repetition rather than a member.
        let is_list = self.forest.has_joints && symbols.iter().all(|symbol| matches!(symbol, Symbol::Class(_)));
        let is_own = |symbol: &Symbol| match symbol {
            Symbol::Class(other) => *other == class || is_list && self.classes.takes_groups(self.forest, *other),
            Symbol::Marks(set) => separates(*set),
            Symbol::Blank(_) => true,
        };
        !symbols.iter().all(is_own)
    }
}
