//! Fragments that refer to themselves. Finds those that certainly describe regular languages.
//!
//! Fragments that refer to one another are a *component*. A component is *linear* if each reference within it stands at
//! one end of a fragment, at the same end throughout, as in `PART : [a-z] PART? ;`, or at either end if it is a single
//! fragment. Its language is then regular. Joining the ends of all references to a fragment, as Mohri and Nederhof do
//! (Regular approximation of context-free grammars through transformation, 2001), adds no texts to it. To other
//! components this adds texts.

use super::edges::components;
use super::sets::each_part;
use super::{Lexer, Pattern};
use crate::ordered::Set;

/// Stands for more than [`MAX_NESTED`] components.
const MANY: usize = usize::MAX;
/// The most components of a fragment that are listed one by one.
const MAX_NESTED: usize = 16;

/// The components of a lexer's fragments.
#[derive(Debug)]
pub(super) struct Recursion {
    /// The component of each fragment that refers to itself, directly or through others.
    component: Vec<Option<usize>>,
    members: Vec<Vec<usize>>,
    is_linear: Vec<bool>,
    /// For each fragment, its own and other reachable components that are not linear. [`MANY`] stands for many of them.
    nested: Vec<Set<usize>>,
}

impl Recursion {
    pub(super) fn new(lexer: &Lexer) -> Recursion {
        let targets: Vec<Vec<usize>> = lexer
            .fragments
            .iter()
            .map(|fragment| {
                let mut used = Vec::new();
                each_reference(&fragment.pattern, &mut |fragment| used.push(fragment));
                used.sort_unstable();
                used.dedup();
                used
            })
            .collect();
        let mut recursion = Recursion {
            component: vec![None; targets.len()],
            members: Vec::new(),
            is_linear: Vec::new(),
            nested: vec![Set::new(); targets.len()],
        };
        for members in components(&targets) {
            let led_to = members.iter().flat_map(|&member| &targets[member]);
            let mut nested: Set<usize> = led_to.flat_map(|&target| recursion.nested[target].iter().copied()).collect();
            if members.len() > 1 || targets[members[0]].contains(&members[0]) {
                let number = recursion.members.len();
                members.iter().for_each(|&member| recursion.component[member] = Some(number));
                let is_linear = recursion.is_linear_component(lexer, &members, number);
                if !is_linear {
                    nested.insert(number);
                }
                recursion.is_linear.push(is_linear);
                recursion.members.push(members.clone());
            }
            if nested.len() > MAX_NESTED {
                nested = Set::from([MANY]);
            }
            members.into_iter().for_each(|member| recursion.nested[member] = nested.clone());
        }
        recursion
    }

    /// Returns the component of a fragment that refers to itself.
    pub(super) fn component(&self, fragment: usize) -> Option<usize> {
        self.component[fragment]
    }

    /// Returns the fragments of a component.
    pub(super) fn members(&self, component: usize) -> &[usize] {
        &self.members[component]
    }

    /// Returns true if the language of a component is certainly regular.
    pub(super) fn is_linear(&self, component: usize) -> bool {
        self.is_linear[component]
    }

    /// Returns the components that a pattern reaches and that are not linear, if they are few.
    pub(super) fn nested(&self, pattern: &Pattern) -> Set<usize> {
        let mut nested = Set::new();
        each_reference(pattern, &mut |fragment| nested.extend(&self.nested[fragment]));
        nested
    }

    fn is_linear_component(&self, lexer: &Lexer, members: &[usize], number: usize) -> bool {
        let mut ends = Ends { recursion: self, component: number, left: true, right: true, either: true };
        for &member in members {
            ends.visit(&lexer.fragments[member].pattern, true, true);
        }
        ends.left || ends.right || ends.either && members.len() == 1
    }
}

/// The positions of the references to a component.
struct Ends<'r> {
    recursion: &'r Recursion,
    component: usize,
    /// Whether all references are at the left end, at the right end, or at either of the two.
    left: bool,
    right: bool,
    either: bool,
}

impl Ends<'_> {
    /// Visits a part of a fragment. The flags say whether it is at the left or right end.
    fn visit(&mut self, pattern: &Pattern, at_left: bool, at_right: bool) {
        match pattern {
            Pattern::Set { .. } => {}
            Pattern::Fragment(fragment) if self.recursion.component[*fragment] == Some(self.component) => {
                self.left &= at_left;
                self.right &= at_right;
                self.either &= at_left || at_right;
            }
            Pattern::Fragment(_) => {}
            Pattern::Seq(items) => {
                for (place, item) in items.iter().enumerate() {
                    self.visit(item, at_left && place == 0, at_right && place + 1 == items.len());
                }
            }
            Pattern::Choice(items) => items.iter().for_each(|item| self.visit(item, at_left, at_right)),
            Pattern::Repeat { max: Some(0), .. } => {}
            Pattern::Repeat { item, max: Some(1), .. } => self.visit(item, at_left, at_right),
            Pattern::Repeat { item, .. } => self.visit(item, false, false),
        }
    }
}

fn each_reference(pattern: &Pattern, visit: &mut dyn FnMut(usize)) {
    each_part(pattern, &mut |part| {
        if let Pattern::Fragment(fragment) = part {
            visit(*fragment);
        }
    });
}
