//! Weights of choices, learned from runs: the bias of BiasOnly and of TreeLine's rollouts (Alsaeed & Young, *Finding
//! Short Slow Inputs Faster with Grammar-Based Search*, ISSTA 2023).
//!
//! A choice has a weight of its own, and one for each choice that was made just before it in the leftmost derivation.
//! Choices that derive the same literal, or the same rule, are one item, wherever they stand. A site with one option
//! is a choice, too.
//!
//! Differences from the published program, always: the choices that are rewarded are those of the rollout alone (the
//! program also changes the weights of those of earlier rollouts, by mistake). Of a class with more than 512 members
//! each member is equally probable. Without the published constants, no weight falls below 0.001: there are more
//! penalties than rewards, and a choice whose weight is nearly 0 is never tried again.

use gramjet_session::decisions::{Chooser, Decision, Deriver, Item, OpenSite};
use rustc_hash::FxHashMap;

use gramjet_search::Evenly;
use gramjet_session::Random;

/// The weight of an item before anything is known of it.
const START: f64 = 0.5;
/// A reward moves a weight to 1 by this share of the distance.
const REWARD: f64 = 0.5;
/// A penalty takes this share of a weight.
const PENALTY: f64 = 0.05;
/// The share of the weight of a pair; the rest is that of the item alone.
const PAIR: f64 = 0.99;
/// The least weight.
const FLOOR: f64 = 1e-3;
/// Sites with more options are not biased. Their later options are one item.
pub(super) const WIDE: u32 = 512;

/// The weights of all items and pairs of items.
#[derive(Debug)]
pub(super) struct Bias {
    deriver: Deriver,
    /// A number for each item that was seen.
    numbers: FxHashMap<Item, u32>,
    /// The numbers of the items of the first options of each node, as far as they were asked for.
    options: Vec<Vec<u32>>,
    /// The weight of each item, by its number.
    weights: Vec<f64>,
    pairs: FxHashMap<(u32, u32), f64>,
    floor: f64,
    /// The weights of the options of a site.
    offered: Vec<f64>,
}

impl Bias {
    /// Returns a bias in which all items have the same weight.
    pub(super) fn new(deriver: Deriver, paper: bool) -> Bias {
        Bias {
            deriver,
            numbers: FxHashMap::default(),
            options: Vec::new(),
            weights: Vec::new(),
            pairs: FxHashMap::default(),
            floor: if paper { 0.0 } else { FLOOR },
            offered: Vec::new(),
        }
    }

    /// Returns the number of the item that an option of a node stands for.
    pub(super) fn item(&mut self, place: u32, option: u32) -> u32 {
        if option >= WIDE {
            return self.number(Item::Node(place));
        }
        let (place_index, option_index) = (place as usize, option as usize);
        if place_index >= self.options.len() {
            self.options.resize_with(place_index + 1, Vec::new);
        }
        while self.options[place_index].len() <= option_index {
            let next = self.options[place_index].len() as u32;
            let number = self.number(self.deriver.item(place, next));
            self.options[place_index].push(number);
        }
        self.options[place_index][option_index]
    }

    fn number(&mut self, item: Item) -> u32 {
        let next = self.weights.len() as u32;
        let number = *self.numbers.entry(item).or_insert(next);
        if number == next {
            self.weights.push(START);
        }
        number
    }

    /// Returns the weight of an item after another one.
    fn weight(&self, prior: Option<u32>, item: u32) -> f64 {
        let alone = self.weights[item as usize];
        match prior.and_then(|prior| self.pairs.get(&(prior, item))) {
            Some(pair) => PAIR * pair + (1.0 - PAIR) * alone,
            None => alone,
        }
    }

    /// Returns an option of a site, with a probability in proportion to its weight.
    fn choose(&mut self, site: &OpenSite<'_>, prior: Option<u32>, random: &mut Random) -> u32 {
        match site.offered() {
            0 | 1 => return 0,
            offered if offered > WIDE => return Evenly(random).choose(site),
            _ => {}
        }
        let mut weights = std::mem::take(&mut self.offered);
        weights.clear();
        for option in 0..site.offered() {
            let item = self.item(site.place(), option);
            weights.push(if site.is_only_read(option) { 0.0 } else { self.weight(prior, item) });
        }
        let option = roulette(&weights, random.unit()).unwrap_or_else(|| Evenly(random).choose(site));
        self.offered = weights;
        option
    }

    /// Rewards or penalises decisions that were taken in a row, each as often as it occurs, after the item `prior`.
    pub(super) fn learn(&mut self, mut prior: Option<u32>, decisions: &[Decision], is_good: bool) {
        let floor = self.floor;
        for decision in decisions {
            let item = self.item(decision.place, decision.option);
            let alone = &mut self.weights[item as usize];
            *alone = changed(*alone, is_good, floor);
            if let Some(prior) = prior {
                let pair = self.pairs.entry((prior, item)).or_insert(START);
                *pair = changed(*pair, is_good, floor);
            }
            prior = Some(item);
        }
    }
}

fn changed(weight: f64, is_good: bool, floor: f64) -> f64 {
    let weight = if is_good { weight + REWARD * (1.0 - weight) } else { weight - PENALTY * weight };
    weight.max(floor)
}

/// Returns the place that a number from 0 to 1 takes among weights; `None` if all weights are 0.
fn roulette(weights: &[f64], unit: f64) -> Option<u32> {
    let mut left = unit * weights.iter().sum::<f64>();
    let mut last = None;
    for (place, &weight) in (0..).zip(weights) {
        if weight > 0.0 {
            last = Some(place);
            if left < weight {
                break;
            }
            left -= weight;
        }
    }
    last
}

/// Chooses by weight, and remembers the last item.
#[derive(Debug)]
pub(super) struct Rollout<'b> {
    pub(super) bias: &'b mut Bias,
    pub(super) random: &'b mut Random,
    pub(super) prior: Option<u32>,
}

impl Rollout<'_> {
    /// Makes an option the last item.
    pub(super) fn take(&mut self, site: &OpenSite<'_>, option: u32) -> u32 {
        self.prior = Some(self.bias.item(site.place(), option));
        option
    }
}

impl Chooser for Rollout<'_> {
    fn choose(&mut self, site: &OpenSite<'_>) -> u32 {
        let option = self.bias.choose(site, self.prior, self.random);
        self.take(site, option)
    }
}

#[cfg(test)]
mod tests {
    use gramjet_session::decisions::Derivation;

    use super::*;
    use crate::strategies::kit::language;

    /// Returns the bias of a grammar, with the decisions of its shortest text.
    fn bias(ebnf: &str, paper: bool) -> (Bias, Derivation) {
        let mut deriver = language(ebnf).deriver(Some(30));
        let mut derivation = Derivation::default();
        deriver.replay(&[], &mut derivation);
        (Bias::new(deriver, paper), derivation)
    }

    fn near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-12, "{found} is not {wanted}");
    }

    #[test]
    fn weights_follow_rewards_and_penalties() {
        // Three choices between letters: x or y, x or z, x or z.
        let (mut bias, derivation) = bias("s ::= ('x' | 'y') t t  t ::= 'x' | 'z'", true);
        let free: Vec<Decision> = derivation.decisions.iter().copied().filter(|known| known.offered > 1).collect();
        assert_eq!((free.len(), &derivation.text[..]), (3, &b"xxx"[..]));
        let x = bias.item(free[0].place, 0);
        let (y, z) = (bias.item(free[0].place, 1), bias.item(free[1].place, 1));
        assert_eq!(bias.item(free[1].place, 0), x, "a literal is one item in the whole grammar");
        assert_eq!(bias.weight(Some(x), x), 0.5, "without a pair, the item alone counts");

        // x is rewarded three times alone, and twice after itself.
        bias.learn(None, &free, true);
        near(bias.weight(None, x), 0.9375);
        near(bias.weight(Some(x), x), 0.99 * 0.875 + 0.01 * 0.9375);
        near(bias.weight(Some(y), x), 0.9375);
        assert_eq!((bias.weight(None, y), bias.weight(Some(x), z)), (0.5, 0.5));

        // One more, penalised, after z.
        bias.learn(Some(z), &free[..1], false);
        near(bias.weight(None, x), 0.9375 * 0.95);
        near(bias.weight(Some(z), x), 0.99 * 0.475 + 0.01 * 0.9375 * 0.95);
    }

    #[test]
    fn weights_have_a_floor_unless_they_are_as_published() {
        for (paper, least) in [(true, 0.5 * 0.95f64.powi(1000)), (false, 0.001)] {
            let (mut bias, derivation) = bias("s ::= 'x' | 'y'", paper);
            for _ in 0..1000 {
                bias.learn(None, &derivation.decisions, false);
            }
            let decision = derivation.decisions.last().expect("a decision");
            let item = bias.item(decision.place, 0);
            let found = bias.weight(None, item);
            assert!((found / least - 1.0).abs() < 1e-9, "{found} is not {least}");
        }
    }

    #[test]
    fn options_are_taken_in_proportion_to_their_weights() {
        let taken = [0.0, 0.19, 0.21, 0.59, 0.61, 0.999].map(|unit| roulette(&[0.1, 0.0, 0.2, 0.2], unit));
        assert_eq!(taken, [0, 0, 2, 2, 3, 3].map(Some));
        assert_eq!(roulette(&[0.0, 0.0], 0.5), None);
    }

    #[test]
    fn rewarded_choices_become_probable() {
        let (mut bias, derivation) = bias("s ::= t t t t  t ::= 'x' | 'y'", false);
        let mut deriver = bias.deriver.clone();
        for _ in 0..10 {
            bias.learn(None, &derivation.decisions, true);
        }
        let y = bias.item(derivation.decisions.last().expect("a decision").place, 1);
        bias.weights[y as usize] = FLOOR;
        let (mut random, mut text, mut count) = (Random::new(3), Derivation::default(), 0);
        for _ in 0..100 {
            deriver.derive(&[], &mut Rollout { bias: &mut bias, random: &mut random, prior: None }, &mut text);
            count += text.text.iter().filter(|&&byte| byte == b'x').count();
        }
        assert!(count > 390, "{count}");
    }
}
