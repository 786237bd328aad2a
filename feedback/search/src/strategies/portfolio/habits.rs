//! The options that the texts with the greatest cost take.

use gramjet_session::decisions::{Chooser as _, Derivation, OpenSite};

use crate::random::Random;
use crate::strategy::Evenly;

/// Number of times that each option of each node was taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Habits {
    /// By node: options that were taken with their numbers, in ascending order of the options.
    counts: Vec<Vec<(u32, u32)>>,
    /// By node, while they are counted: the numbers of the first options.
    first: Vec<[u32; FIRST]>,
}

/// The options of a node that are counted in a table. Few nodes but classes have more.
const FIRST: usize = 8;

/// The share of choices that ignore habits.
const FREE: f64 = 0.2;

impl Habits {
    /// Takes over those of some texts; what was known is forgotten.
    pub(crate) fn learn<'d>(&mut self, derivations: impl Iterator<Item = &'d Derivation>) {
        self.counts.iter_mut().for_each(Vec::clear);
        self.first.fill([0; FIRST]);
        for decision in derivations.flat_map(|derivation| &derivation.decisions) {
            let place = decision.place as usize;
            if place >= self.counts.len() {
                self.counts.resize_with(place + 1, Vec::new);
                self.first.resize(place + 1, [0; FIRST]);
            }
            if let Some(count) = self.first[place].get_mut(decision.option as usize) {
                *count += 1;
                continue;
            }
            let counts = &mut self.counts[place];
            match counts.binary_search_by_key(&decision.option, |known| known.0) {
                Ok(place) => counts[place].1 += 1,
                Err(place) => counts.insert(place, (decision.option, 1)),
            }
        }
        for (counts, first) in self.counts.iter_mut().zip(&self.first) {
            if *first != [0; FIRST] {
                let taken = (0..).zip(first.iter().copied()).filter(|known| known.1 > 0);
                counts.splice(0..0, taken);
            }
        }
    }

    /// Returns an option, mostly in proportion to how often it was taken.
    pub(crate) fn choose(&self, site: &OpenSite<'_>, random: &mut Random) -> u32 {
        let counts = self.counts.get(site.place() as usize).filter(|counts| !counts.is_empty());
        let counts = counts.filter(|_| random.unit() >= FREE).map_or(&[][..], |counts| {
            let offered = counts.partition_point(|known| known.0 < site.offered());
            &counts[..offered]
        });
        let sum: u32 = counts.iter().map(|known| known.1).sum();
        if sum == 0 {
            return Evenly(random).choose(site);
        }
        let mut left = random.below(sum as usize) as u32;
        let taken = counts.iter().find(|known| {
            let is_taken = left < known.1;
            left = left.saturating_sub(known.1);
            is_taken
        });
        taken.map_or(0, |known| known.0)
    }
}

#[cfg(test)]
mod tests {
    use gramjet_compiler::SourceFile;
    use gramjet_session::{Language, Settings};

    use super::*;

    #[test]
    fn options_are_counted_in_ascending_order() {
        let file = SourceFile::new("g.ebnf", "s ::= c c c c  c ::= [a-z]");
        let language = Language::compile(&file, &Settings::default()).expect("a grammar");
        let mut known = Derivation::default();
        language.deriver(Some(4)).replay(&[20, 2, 9, 2], &mut known);
        let mut habits = Habits::default();
        for _ in 0..2 {
            habits.learn([&known].into_iter());
            let counts: Vec<_> = habits.counts.iter().filter(|counts| !counts.is_empty()).collect();
            assert_eq!(counts, [&[(2, 2), (9, 1), (20, 1)]]);
        }
    }

    #[test]
    fn options_are_taken_as_often_as_they_were() {
        let file = SourceFile::new("g.ebnf", "s ::= [a-z] [a-z] [a-z]");
        let language = Language::compile(&file, &Settings::default()).expect("a grammar");
        let mut deriver = language.deriver(Some(3));
        let (mut known, mut drawn) = (Derivation::default(), Derivation::default());
        deriver.replay(&[1, 2, 3], &mut known);
        let mut habits = Habits::default();
        habits.learn([&known].into_iter());
        let mut random = Random::new(1);
        let mut kept = [0; 3];
        for _ in 0..1000 {
            deriver.derive(&[], &mut |site: &OpenSite<'_>| habits.choose(site, &mut random), &mut drawn);
            for (kept, (one, two)) in kept.iter_mut().zip(known.text.iter().zip(&drawn.text)) {
                *kept += u32::from(one == two);
            }
        }
        assert!(kept.iter().all(|kept| (760..860).contains(kept)), "{kept:?}");
    }
}
