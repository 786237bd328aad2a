//! Whether patterns match words.

use crate::tokens::{Fragment, Pattern};

/// The steps that all words of a file may take together.
const MAX_STEPS: usize = 1 << 24;
/// The deepest nesting of patterns, with the definitions that they refer to.
const MAX_DEPTH: usize = 500;

/// Matches words, within a number of steps.
pub(super) struct Matching<'m> {
    fragments: &'m [Fragment],
    left: usize,
}

impl<'m> Matching<'m> {
    pub(super) fn new(fragments: &'m [Fragment]) -> Matching<'m> {
        Matching { fragments, left: MAX_STEPS }
    }

    /// Returns whether a pattern matches a word. `None` if that takes too many steps.
    pub(super) fn is_match(&mut self, pattern: &Pattern, word: &str) -> Option<bool> {
        let word: Vec<u32> = word.chars().map(u32::from).collect();
        let mut begins = vec![false; word.len() + 1];
        begins[0] = true;
        let ends = Word { matching: self, word: &word }.ends(pattern, &begins, 0)?;
        ends.last().copied()
    }
}

struct Word<'w, 'm> {
    matching: &'w mut Matching<'m>,
    word: &'w [u32],
}

impl Word<'_, '_> {
    /// Returns the places at which matches end that begin at one of these places.
    fn ends(&mut self, pattern: &Pattern, begins: &[bool], depth: usize) -> Option<Vec<bool>> {
        let left = &mut self.matching.left;
        *left = left.checked_sub(begins.len()).filter(|_| depth < MAX_DEPTH)?;
        match pattern {
            Pattern::Set { set, .. } => {
                let matched = self.word.iter().zip(begins).map(|(&c, &begins)| begins && set.contains(c));
                Some(std::iter::once(false).chain(matched).collect())
            }
            Pattern::Fragment(number) => {
                let fragments = self.matching.fragments;
                self.ends(&fragments[*number].pattern, begins, depth + 1)
            }
            Pattern::Seq(items) => {
                items.iter().try_fold(begins.to_vec(), |places, item| self.ends(item, &places, depth + 1))
            }
            Pattern::Choice(options) => {
                let mut all = vec![false; begins.len()];
                for option in options {
                    add(&mut all, &mut self.ends(option, begins, depth + 1)?);
                }
                Some(all)
            }
            Pattern::Repeat { item, min, max, .. } => {
                // More rounds than characters change nothing.
                let most = begins.len();
                let mut places = begins.to_vec();
                for _ in 0..most.min(*min as usize) {
                    places = self.ends(item, &places, depth + 1)?;
                }
                let mut all = places.clone();
                for _ in 0..max.map_or(most, |max| most.min((max - min) as usize)) {
                    places = self.ends(item, &places, depth + 1)?;
                    if !add(&mut all, &mut places) {
                        break;
                    }
                }
                Some(all)
            }
        }
    }
}

/// Adds places to others, and keeps those of them that are new. Returns true if there are any.
fn add(all: &mut [bool], places: &mut [bool]) -> bool {
    for (known, place) in all.iter_mut().zip(places.iter_mut()) {
        *place &= !*known;
        *known |= *place;
    }
    places.contains(&true)
}
