//! The alphabet of an expression: characters that are in the same sets are one letter.

use super::{MAX_PARTS, Mark, WORD_END, number, word};
use crate::ast::Expr;
use crate::charset::{CharSet, Unit};
use crate::formats::pattern::terms::Letters;
use crate::ordered::{Map, Set};

/// Collects the sets of characters in an expression and in the conditions of its marks.
pub(super) struct Sets<'s, 'g> {
    pub(super) rule: &'s dyn Fn(&str) -> Option<&'g Expr>,
    pub(super) looks: &'g [Mark],
    pub(super) sets: Set<Vec<(u32, u32)>>,
    pub(super) marks: Set<usize>,
    pub(super) steps: usize,
}

impl<'g> Sets<'_, 'g> {
    pub(super) fn collect(&mut self, expr: &'g Expr, depth: u32) -> Option<()> {
        self.steps += 1;
        if self.steps > MAX_PARTS {
            return None;
        }
        if let Some(bytes) = expr.as_bytes() {
            for c in std::str::from_utf8(bytes).ok()?.chars() {
                self.sets.insert(vec![(c.into(), c.into())]);
            }
        } else if let Some(set) = expr.as_class() {
            self.sets.insert((set.unit() == Unit::Char).then(|| set.ranges().to_vec())?);
        } else if let Some(name) = expr.as_rule() {
            match number(expr) {
                Some(number) => {
                    if self.marks.insert(number) {
                        self.collect(&self.looks.get(number)?.body, depth)?;
                    }
                }
                None if name == WORD_END => drop(self.sets.insert(word().ranges().to_vec())),
                None if depth == 0 => return None,
                None => self.collect((self.rule)(name)?, depth - 1)?,
            }
        }
        expr.children().try_for_each(|child| self.collect(child, depth))
    }
}

/// The letters: characters that are in the same sets are one letter.
pub(super) struct Alphabet {
    pub(super) letters: Vec<CharSet>,
}

/// Returns the classes of characters that are in the same sets. The ranges of each set must be in order.
pub(in crate::formats) fn letters(sets: &Set<Vec<(u32, u32)>>) -> Vec<CharSet> {
    let mut cuts: Set<u32> = Set::from([0, 0x11_0000]);
    for &(low, high) in sets.iter().flatten() {
        cuts.extend([low, high + 1]);
    }
    let cuts: Vec<u32> = cuts.into_iter().filter(|&cut| cut <= 0x11_0000).collect();
    let mut by_sets: Map<Vec<usize>, Vec<(u32, u32)>> = Map::new();
    for pair in cuts.windows(2) {
        let holds = |ranges: &Vec<(u32, u32)>| {
            let next = ranges.partition_point(|&(_, high)| high < pair[0]);
            ranges.get(next).is_some_and(|&(low, _)| low <= pair[0])
        };
        let members = sets.iter().enumerate().filter(|(_, ranges)| holds(ranges)).map(|(place, _)| place).collect();
        by_sets.entry(members).or_default().push((pair[0], pair[1] - 1));
    }
    by_sets.into_values().map(|ranges| CharSet::new(Unit::Char, ranges)).collect()
}

impl Alphabet {
    pub(super) fn new(sets: &Set<Vec<(u32, u32)>>) -> Alphabet {
        Alphabet { letters: letters(sets) }
    }

    pub(super) fn letters_of(&self, set: &CharSet) -> Letters {
        let within = |letter: &CharSet| letter.ranges().first().is_some_and(|&(low, _)| set.contains(low));
        let places = self.letters.iter().enumerate().filter(|(_, letter)| within(letter));
        places.fold(0, |letters, (place, _)| letters | 1 << place)
    }
}
