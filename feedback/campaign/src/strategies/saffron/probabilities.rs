//! The probabilities of options, from how often costly texts use them, and the draw by them.

use gramjet_session::decisions::{Chooser, Decision, OpenSite};

use gramjet_search::Evenly;
use gramjet_session::Random;

/// Uses that each option has from the beginning, so that none gets a probability of 0. The paper leaves this open.
const SMOOTHING: f64 = 1.0;
/// The uses of options after this many are not counted; there are such only in wide classes of characters.
const COUNTED: u32 = 512;

/// Number of times that the options of each site were used, and the number of all uses.
#[derive(Clone, Debug, Default)]
struct Uses {
    of: Vec<u32>,
    total: u32,
}

/// The probabilities of all options. At first those of a site are equal.
#[derive(Clone, Debug, Default)]
pub(super) struct Probabilities {
    /// By the number of the node.
    sites: Vec<Uses>,
}

impl Probabilities {
    /// Returns the probability of an option of a site with this many.
    pub(super) fn of(&self, place: u32, option: u32, options: u32) -> f64 {
        let (used, total) = match self.sites.get(place as usize) {
            Some(uses) => (uses.of.get(option as usize).copied().unwrap_or(0), uses.total),
            None => (0, 0),
        };
        (f64::from(used) + SMOOTHING) / (f64::from(total) + SMOOTHING * f64::from(options))
    }

    /// Replaces the probabilities of the sites that these texts decide by the shares of the uses in them. A site with
    /// one option was not decided.
    pub(super) fn learn<'d>(&mut self, texts: impl Iterator<Item = &'d [Decision]> + Clone) {
        let decided = texts.flatten().filter(|decision| decision.offered > 1 && decision.option < COUNTED);
        for decision in decided.clone() {
            let place = decision.place as usize;
            if place >= self.sites.len() {
                self.sites.resize_with(place + 1, Uses::default);
            }
            self.sites[place] = Uses::default();
        }
        for decision in decided {
            let (uses, option) = (&mut self.sites[decision.place as usize], decision.option as usize);
            if option >= uses.of.len() {
                uses.of.resize(option + 1, 0);
            }
            uses.of[option] += 1;
            uses.total += 1;
        }
    }

    /// Draws an untried option by a tournament: a few are drawn evenly, and the most probable of them wins.
    pub(super) fn draw(&self, site: &OpenSite<'_>, tried: &[u32], contestants: u32, random: &mut Random) -> u32 {
        if site.offered() <= 1 {
            return 0;
        }
        if tried.is_empty() {
            return self.winner(site, contestants, || Evenly(random).choose(site));
        }
        let left: Vec<u32> = (0..site.offered()).filter(|option| !tried.contains(option)).collect();
        match left.len() {
            0 => 0,
            len => self.winner(site, contestants, || left[random.below(len)]),
        }
    }

    fn winner(&self, site: &OpenSite<'_>, contestants: u32, mut contestant: impl FnMut() -> u32) -> u32 {
        let probability = |option| self.of(site.place(), option, site.offered());
        let mut best = contestant();
        for _ in 1..contestants {
            let next = contestant();
            if probability(next) > probability(best) {
                best = next;
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::kit::language;
    use gramjet_session::decisions::Derivation;

    fn decision(place: u32, option: u32, offered: u32) -> Decision {
        Decision { place, option, offered, room: u32::MAX }
    }

    #[test]
    fn probabilities_are_shares_of_uses() {
        let mut probabilities = Probabilities::default();
        assert_eq!(probabilities.of(7, 2, 4), 0.25);
        // Option 1 of the site 7 is used three times, option 2 once; the decision without a choice does not count.
        let one = [decision(7, 1, 4), decision(3, 0, 2), decision(7, 1, 4)];
        let other = [decision(7, 1, 2), decision(7, 2, 4), decision(7, 0, 1)];
        probabilities.learn([&one[..], &other[..]].into_iter());
        assert_eq!([0, 1, 2, 3].map(|option| probabilities.of(7, option, 4)), [0.125, 0.5, 0.25, 0.125]);
        assert_eq!([0, 1].map(|option| probabilities.of(3, option, 2)), [2.0 / 3.0, 1.0 / 3.0]);
        // New ones replace those of the sites that they decide, and no others.
        let next = [decision(7, 3, 4)];
        probabilities.learn([&next[..]].into_iter());
        assert_eq!([0, 1, 2, 3].map(|option| probabilities.of(7, option, 4)), [0.2, 0.2, 0.2, 0.4]);
        assert_eq!(probabilities.of(3, 0, 2), 2.0 / 3.0);
    }

    #[test]
    fn a_tournament_prefers_the_probable() {
        let mut deriver = language("s ::= 'a' | 'b' | 'c' | 'd'").deriver(Some(30));
        let mut probabilities = Probabilities::default();
        let (mut random, mut text) = (Random::new(1), Derivation::default());
        deriver.replay(&[], &mut text);
        let place = text.decisions.iter().find(|known| known.offered == 4).expect("a choice").place;
        probabilities.learn([&[decision(place, 2, 4)][..]].into_iter());
        let mut count = |tried: &[u32], contestants| {
            let mut counts = [0; 4];
            for _ in 0..4_000 {
                let mut draw = |site: &OpenSite<'_>| match site.place() == place {
                    true => probabilities.draw(site, tried, contestants, &mut random),
                    false => 0,
                };
                deriver.derive(&[], &mut draw, &mut text);
                counts[usize::from(text.text[0] - b'a')] += 1;
            }
            counts
        };
        // Of three draws among four, one is `c` with the probability 1 - (3/4)^3 = 0.578.
        let counts = count(&[], 3);
        assert!((2_212..2_412).contains(&counts[2]), "{counts:?}");
        let counts = count(&[], 1);
        assert!(counts.iter().all(|count| (890..1_110).contains(count)), "{counts:?}");
        // Of two that are left, one is `c` with the probability 1 - (1/2)^3.
        let counts = count(&[0, 1], 3);
        assert!(counts[..2] == [0, 0] && (3_400..3_600).contains(&counts[2]), "{counts:?}");
    }
}
