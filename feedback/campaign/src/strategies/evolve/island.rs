//! A population with probabilities of its own.

use std::cmp::Ordering;

use gramjet_session::decisions::Decision;

use super::population::{ELITE, Member, select};
use super::probabilities::Probabilities;
use gramjet_session::Random;

/// The old probabilities count as this many uses, so that a site which the selected texts decide once or twice is not
/// decided by that.
const MEMORY: f64 = 10.0;
/// The share of the grammar's own probabilities in the learned ones: no alternative dies out. Of 0.02, 0.05 and 0.1
/// this found the costliest texts on four of five small subjects.
const FLOOR: f64 = 0.02;
/// At most this many sites are mutated: one, and one more for each generation without progress.
const MOST_MUTATED: u32 = 8;
/// An island begins anew after more than this many generations without progress.
const PATIENCE: u32 = 20;
/// A gain in coverage counts this much less in each later generation, as it is news only once.
const AGEING: f64 = 0.5;

/// A population and its probabilities.
#[derive(Debug)]
pub(super) struct Island {
    /// Probabilities that the texts are drawn by: the learned ones, mutated.
    pub(super) drawn: Probabilities,
    learned: Probabilities,
    /// The weight of gains in coverage against cost.
    pub(super) weight_of_gain: f64,
    /// The fittest texts of earlier generations.
    elite: Vec<Member>,
    best: f64,
    stale: u32,
}

impl Island {
    pub(super) fn new(start: &Probabilities, weight_of_gain: f64) -> Island {
        let (drawn, learned) = (start.clone(), start.clone());
        Island { drawn, learned, weight_of_gain, elite: Vec::new(), best: 0.0, stale: 0 }
    }

    /// Makes the published generation: new probabilities are those of the selected texts, and one site is mutated.
    pub(super) fn replace(&mut self, own: &Probabilities, mut members: Vec<Member>, random: &mut Random) {
        let selected = select(&mut members, random);
        let texts: Vec<&[Decision]> = selected.iter().map(|&number| &members[number].decisions[..]).collect();
        self.drawn.replace(own, &texts);
        let decided = decided(&members);
        if !decided.is_empty() {
            self.drawn.mutate(own, decided[random.below(decided.len())], random);
        }
    }

    /// Makes a generation: the elite remains, probabilities move towards those of the selected texts, and the more
    /// sites are mutated the longer there was no progress. The fitness of a text of the elite is computed again each
    /// time.
    pub(super) fn adapt(
        &mut self,
        (own, start): (&Probabilities, &Probabilities),
        members: Vec<Member>,
        fitness: impl Fn(&Member) -> f64,
        random: &mut Random,
    ) {
        self.progress(&members);
        if self.stale > PATIENCE {
            *self = Island::new(start, self.weight_of_gain);
            return;
        }
        let mut all = std::mem::take(&mut self.elite);
        all.extend(members);
        for member in &mut all {
            member.fitness = fitness(member);
        }
        let selected = select(&mut all, random);
        let texts: Vec<&[Decision]> = selected.iter().map(|&number| &all[number].decisions[..]).collect();
        self.learned.adapt(own, &texts, MEMORY, FLOOR);
        self.mutate(own, &decided(&all), random);
        all.truncate(ELITE);
        all.iter_mut().for_each(|member| member.gain *= AGEING);
        self.elite = all;
    }

    /// Counts the generations since one had a text that costs more than all before, or a new edge.
    fn progress(&mut self, members: &[Member]) {
        let is_better = members.iter().any(|member| member.cost > self.best || member.gain >= 1.0);
        self.best = members.iter().map(|member| member.cost).fold(self.best, f64::max);
        self.stale = if is_better { 0 } else { self.stale + 1 };
    }

    fn mutate(&mut self, own: &Probabilities, decided: &[u32], random: &mut Random) {
        self.drawn = self.learned.clone();
        if decided.is_empty() {
            return;
        }
        for _ in 0..(1 + self.stale).min(MOST_MUTATED) {
            self.drawn.mutate(own, decided[random.below(decided.len())], random);
        }
    }

    /// Returns the text of the elite that costs most; of those that cost the same, the fittest one.
    pub(super) fn emigrant(&self) -> Option<Member> {
        let rank = |member: &Member| (member.cost, member.fitness);
        self.elite.iter().max_by(|one, other| rank(one).partial_cmp(&rank(other)).unwrap_or(Ordering::Equal)).cloned()
    }

    /// Takes a text from elsewhere into the elite, without its gain, which is no news any more. The next selection says
    /// whether it stays.
    pub(super) fn settle(&mut self, mut member: Member) {
        if self.elite.iter().all(|known| known.decisions != member.decisions) {
            member.gain = 0.0;
            self.elite.push(member);
        }
    }
}

/// Returns the sites that these texts decide, each once, in ascending order.
fn decided(members: &[Member]) -> Vec<u32> {
    let decisions = members.iter().flat_map(|member| &member.decisions);
    let mut places: Vec<u32> = decisions.filter(|known| known.offered > 1).map(|known| known.place).collect();
    places.sort_unstable();
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::kit::language;

    fn own() -> (Probabilities, u32) {
        let deriver = language("s ::= [a-d]").deriver(Some(30));
        let place = deriver.sites().find(|site| site.offered() > 1).expect("a site").place();
        (Probabilities::of_grammar(&deriver), place)
    }

    fn member(place: u32, option: u32, cost: f64) -> Member {
        let decisions = vec![Decision { place, option, offered: 4, room: u32::MAX }];
        Member { decisions, cost, ..Member::default() }
    }

    #[test]
    fn a_generation_moves_probabilities_towards_the_selected() {
        let (own, place) = own();
        let mut island = Island::new(&own, 0.0);
        // The five of the elite take option 2; all others cost nothing and take option 0.
        let members = [(2, 9.0, 5), (0, 0.0, 45)];
        let members = members.iter().flat_map(|&(option, cost, count)| vec![member(place, option, cost); count]);
        island.adapt((&own, &own), members.collect(), |member| member.cost / 9.0, &mut Random::new(1));
        // 5 uses of option 2, 10 of option 0, and 10 of the grammar's; a fiftieth is the grammar's own.
        let expected = [12.5, 2.5, 7.5, 2.5].map(|uses| (1.0 - FLOOR) * uses / 25.0 + FLOOR * 0.25);
        for (option, wanted) in (0..).zip(expected) {
            assert!((island.learned.of(place, option) - wanted).abs() < 1e-12);
        }
        assert!(island.drawn != island.learned, "one site is mutated for the next generation");
        let elite: Vec<f64> = island.elite.iter().map(|member| member.cost).collect();
        assert_eq!(elite, [9.0; 5]);
    }

    #[test]
    fn gains_age_and_count_by_the_weight_of_the_island() {
        let (own, place) = own();
        for (weight, expected) in [(0.0, 1), (1.0, 3)] {
            let mut island = Island::new(&own, weight);
            let new = Member { gain: 1.0, ..member(place, 3, 1.0) };
            let members = [vec![member(place, 1, 8.0); 5], vec![new]].concat();
            island.adapt((&own, &own), members, |member| member.cost / 8.0 + weight * member.gain, &mut Random::new(1));
            assert_eq!(island.elite[0].decisions[0].option, expected);
            let gains: Vec<f64> = island.elite.iter().map(|member| member.gain).filter(|gain| *gain > 0.0).collect();
            assert_eq!(gains, if weight > 0.0 { vec![0.5] } else { vec![] });
        }
    }

    #[test]
    fn an_island_without_progress_begins_anew() {
        let (own, place) = own();
        let (mut island, mut random) = (Island::new(&own, 0.0), Random::new(1));
        let mut adapt = |island: &mut Island| {
            island.adapt((&own, &own), vec![member(place, 2, 5.0)], |member| member.cost / 5.0, &mut random);
        };
        for generation in 0..=PATIENCE {
            adapt(&mut island);
            assert_eq!(island.stale, generation);
        }
        assert!(island.learned != own);
        adapt(&mut island);
        assert!(island.learned == own && island.elite.is_empty() && island.stale == 0);
    }

    #[test]
    fn a_text_settles_once() {
        let (own, place) = own();
        let mut island = Island::new(&own, 1.0);
        assert_eq!(island.emigrant(), None);
        for (option, cost) in [(1, 3.0), (2, 7.0), (2, 7.0), (3, 5.0)] {
            island.settle(Member { gain: 2.0, ..member(place, option, cost) });
        }
        assert_eq!(island.emigrant(), Some(member(place, 2, 7.0)));
        assert_eq!(island.elite.len(), 3);
    }

    #[test]
    fn the_published_generation_replaces_probabilities_and_mutates_a_site() {
        let deriver = language("s ::= [a-d]  t ::= 'x' | 'y'").deriver(Some(30));
        let (own, place) = (Probabilities::of_grammar(&deriver), own().1);
        let mut island = Island::new(&own, 0.0);
        island.replace(&own, vec![member(place, 2, 0.0)], &mut Random::new(2));
        // The only site that is decided is mutated, so every option is possible again.
        let mut expected = own.clone();
        let mut random = Random::new(2);
        random.below(1);
        expected.mutate(&own, place, &mut random);
        assert_eq!(island.drawn, expected);
    }
}
