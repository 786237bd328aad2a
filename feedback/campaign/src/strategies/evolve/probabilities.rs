//! The probabilities of the options of each site: learned from texts, mutated, and drawn by.

use gramjet_session::decisions::{Chooser, Decision, Deriver, OpenSite};

use gramjet_session::Random;

/// The options of a site after this many have one probability in common, and share it equally. There are such only in
/// wide classes of characters.
const COUNTED: u32 = 512;

/// The probabilities of all sites of a grammar.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Probabilities {
    /// By the number of the node; nodes without a choice have no shares.
    sites: Vec<Shares>,
}

/// The probabilities of a site.
#[derive(Clone, Debug, Default, PartialEq)]
struct Shares {
    /// The number of options.
    options: u32,
    /// The probabilities of the first options; after them that of all others together. Their sum is 1.
    of: Vec<f64>,
}

impl Shares {
    /// Returns the share that an option belongs to.
    fn number(option: u32) -> usize {
        option.min(COUNTED) as usize
    }

    /// Returns shares in proportion to these weights. `None` if none is positive.
    fn in_proportion(options: u32, mut weights: Vec<f64>) -> Option<Shares> {
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        (total > 0.0).then_some(Shares { options, of: weights })
    }

    /// Returns the probability of a share where only the first options are offered, not normalised.
    fn offered(&self, number: usize, offered: u32) -> f64 {
        let (later, of_them) = (self.options.saturating_sub(COUNTED), offered.saturating_sub(COUNTED));
        match number >= COUNTED as usize && later > 0 {
            true => self.of[number] * f64::from(of_them) / f64::from(later),
            false => self.of[number],
        }
    }
}

impl Probabilities {
    /// Returns the probabilities of the grammar's own weights.
    pub(super) fn of_grammar(deriver: &Deriver) -> Probabilities {
        let mut sites = Vec::new();
        for site in deriver.sites().filter(|site| site.offered() > 1) {
            let options = site.offered();
            let mut weights: Vec<f64> = (0..options.min(COUNTED)).map(|option| site.weight(option)).collect();
            if options > COUNTED {
                weights.push((COUNTED..options).map(|option| site.weight(option)).sum());
            }
            let place = site.place() as usize;
            sites.resize_with(place + 1, Shares::default);
            sites[place] = Shares::in_proportion(options, weights).unwrap_or_default();
        }
        Probabilities { sites }
    }

    /// Returns the probability of an option among all of its site. For options that have one in common, returns the
    /// common one.
    #[cfg(test)]
    pub(super) fn of(&self, place: u32, option: u32) -> f64 {
        self.sites[place as usize].of[Shares::number(option)]
    }

    /// Replaces all by the shares of the uses in these texts, as published: an option that no text uses gets 0, and the
    /// options of a site that no text decides become equally probable. `own` are those of the grammar; what has 0
    /// there has it here, unless a text uses it.
    pub(super) fn replace(&mut self, own: &Probabilities, texts: &[&[Decision]]) {
        let uses = self.uses(texts);
        for (site, (own, uses)) in self.sites.iter_mut().zip(own.sites.iter().zip(uses)) {
            let evenly = || own.of.iter().map(|share| f64::from(u8::from(*share > 0.0))).collect();
            let shares = Shares::in_proportion(site.options, uses);
            if let Some(shares) = shares.or_else(|| Shares::in_proportion(site.options, evenly())) {
                *site = shares;
            }
        }
    }

    /// Moves the probabilities of the sites that these texts decide towards the shares of the uses in them. The old
    /// probabilities count as `memory` uses, and those of the grammar have the share `floor` in the new ones.
    pub(super) fn adapt(&mut self, own: &Probabilities, texts: &[&[Decision]], memory: f64, floor: f64) {
        let uses = self.uses(texts);
        for (site, (own, uses)) in self.sites.iter_mut().zip(own.sites.iter().zip(uses)) {
            let total: f64 = uses.iter().sum();
            if total == 0.0 {
                continue;
            }
            for ((share, own), uses) in site.of.iter_mut().zip(&own.of).zip(uses) {
                *share = (1.0 - floor) * (uses + memory * *share) / (total + memory) + floor * own;
            }
        }
    }

    /// Returns how often each share of each site is used in these texts. A site with one option was not decided.
    fn uses(&self, texts: &[&[Decision]]) -> Vec<Vec<f64>> {
        let mut uses: Vec<Vec<f64>> = self.sites.iter().map(|site| vec![0.0; site.of.len()]).collect();
        for decision in texts.iter().flat_map(|text| text.iter()).filter(|decision| decision.offered > 1) {
            let site = uses.get_mut(decision.place as usize);
            if let Some(uses) = site.and_then(|site| site.get_mut(Shares::number(decision.option))) {
                *uses += 1.0;
            }
        }
        uses
    }

    /// Replaces the probabilities of a site: r_i is drawn from (0, 1] for each option, and p_i = r_i / sum r. An option
    /// with 0 in the grammar gets 0.
    pub(super) fn mutate(&mut self, own: &Probabilities, place: u32, random: &mut Random) {
        let place = place as usize;
        let (Some(site), Some(own)) = (self.sites.get_mut(place), own.sites.get(place)) else { return };
        let draws = own.of.iter().map(|share| if *share > 0.0 { 1.0 - random.unit() } else { 0.0 }).collect();
        if let Some(drawn) = Shares::in_proportion(site.options, draws) {
            *site = drawn;
        }
    }

    /// Draws an option of those that are offered.
    fn draw(&self, site: &OpenSite<'_>, random: &mut Random) -> u32 {
        let offered = site.offered();
        if offered <= 1 {
            return 0;
        }
        let last = Shares::number(offered - 1);
        let shares = self.sites.get(site.place() as usize).filter(|shares| last < shares.of.len());
        let learned = shares.and_then(|shares| pick(last, random, |number| shares.offered(number, offered)));
        // If all that is offered has 0, the grammar decides.
        let number = learned.or_else(|| pick(last, random, |number| site.weight(number as u32))).unwrap_or(0) as u32;
        match number {
            COUNTED => COUNTED + random.below((offered - COUNTED) as usize) as u32,
            number => number,
        }
    }
}

/// Draws a number up to `last` in proportion to its weight. `None` if no weight is positive.
fn pick(last: usize, random: &mut Random, weight: impl Fn(usize) -> f64) -> Option<usize> {
    let total: f64 = (0..=last).map(&weight).sum();
    let mut left = random.unit() * total;
    let positive = || (0..=last).filter(|&number| weight(number) > 0.0);
    let drawn = positive().find(|&number| {
        left -= weight(number);
        left < 0.0
    });
    // Rounding may leave a little after the last one.
    drawn.or_else(|| positive().last())
}

/// Draws the options of a text.
pub(super) struct Draw<'p> {
    pub(super) probabilities: &'p Probabilities,
    pub(super) random: &'p mut Random,
}

impl Chooser for Draw<'_> {
    fn choose(&mut self, site: &OpenSite<'_>) -> u32 {
        self.probabilities.draw(site, self.random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramjet_compiler::SourceFile;
    use gramjet_session::decisions::Derivation;
    use gramjet_session::{FormatOptions, Language, Settings};

    /// Returns a maker of the texts of a grammar whose options of weight 0 are read.
    fn reading(ebnf: &str, max_len: u64) -> Deriver {
        let settings = Settings { reading: FormatOptions::of_others(), ..Settings::default() };
        Language::compile(&SourceFile::new("g.ebnf", ebnf), &settings).expect("a grammar").deriver(Some(max_len))
    }

    /// Returns the probabilities of a grammar, the number of its first site, and its texts.
    fn of_first_site(ebnf: &str) -> (Probabilities, u32, Deriver) {
        let deriver = reading(ebnf, 30);
        let own = Probabilities::of_grammar(&deriver);
        let place = deriver.sites().find(|site| site.offered() > 1).expect("a site").place();
        (own, place, deriver)
    }

    fn decision(place: u32, option: u32, offered: u32) -> Decision {
        Decision { place, option, offered, room: u32::MAX }
    }

    fn shares(probabilities: &Probabilities, place: u32) -> &[f64] {
        &probabilities.sites[place as usize].of
    }

    #[test]
    fn the_grammar_says_the_first_probabilities() {
        let (own, place, _) = of_first_site("s ::= [a-d]");
        assert_eq!(shares(&own, place), [0.25; 4]);
        let (own, place, _) = of_first_site("s ::= 'a' @3 | 'b' @1 | 'cc' @0");
        assert_eq!(shares(&own, place), [0.75, 0.25, 0.0]);
        // Of 600 characters, 88 share a probability.
        let (own, place, _) = of_first_site("s ::= [#x4E00-#x5057]");
        assert_eq!(shares(&own, place).len(), 513);
        assert!((own.of(place, 599) - 88.0 / 600.0).abs() < 1e-12 && own.of(place, 0) == 1.0 / 600.0);
    }

    #[test]
    fn published_probabilities_are_shares_of_uses() {
        let (own, place, _) = of_first_site("s ::= [a-d]");
        let mut learned = own.clone();
        // Option 1 is used twice, option 2 once; a site with one option was not decided.
        let one = [decision(place, 1, 4), decision(place, 0, 1)];
        let other = [decision(place, 1, 2), decision(place, 2, 4)];
        learned.replace(&own, &[&one, &other]);
        assert_eq!(shares(&learned, place), [0.0, 2.0 / 3.0, 1.0 / 3.0, 0.0]);
        learned.replace(&own, &[]);
        assert_eq!(shares(&learned, place), [0.25; 4]);
        let (own, place, _) = of_first_site("s ::= 'a' @3 | 'b' @1 | 'cc' @0");
        let mut learned = own.clone();
        learned.replace(&own, &[]);
        assert_eq!(shares(&learned, place), [0.5, 0.5, 0.0]);
        learned.replace(&own, &[&[decision(place, 2, 3)]]);
        assert_eq!(shares(&learned, place), [0.0, 0.0, 1.0]);
    }

    #[test]
    fn adapted_probabilities_remember_and_keep_a_floor() {
        let (own, place, _) = of_first_site("s ::= [a-d]");
        let mut learned = own.clone();
        let text = [decision(place, 1, 4), decision(place, 1, 4)];
        // (2 + 2 * 0.25) / (2 + 2) = 0.625 and (0 + 2 * 0.25) / 4 = 0.125, of which four fifths remain.
        learned.adapt(&own, &[&text], 2.0, 0.2);
        let expected = [0.15, 0.55, 0.15, 0.15];
        assert!(shares(&learned, place).iter().zip(expected).all(|(share, wanted)| (share - wanted).abs() < 1e-12));
        for _ in 0..100 {
            learned.adapt(&own, &[&text], 2.0, 0.2);
        }
        assert!(learned.of(place, 0) >= 0.2 * 0.25);
        let before = learned.clone();
        learned.adapt(&own, &[], 2.0, 0.2);
        assert_eq!(learned, before);
    }

    #[test]
    fn a_mutation_keeps_the_sum_and_other_sites() {
        let deriver = reading("s ::= t 'x' | [a-d]  t ::= 'a' @3 | 'b' @1 | 'cc' @0", 30);
        let own = Probabilities::of_grammar(&deriver);
        let places: Vec<u32> = deriver.sites().map(|site| site.place()).collect();
        let weighted = deriver.sites().find(|site| site.offered() == 3).expect("a choice").place();
        let (mut mutated, mut random, mut draws) = (own.clone(), Random::new(4), Random::new(4));
        mutated.mutate(&own, weighted, &mut random);
        let [one, other] = [1.0 - draws.unit(), 1.0 - draws.unit()];
        assert_eq!(shares(&mutated, weighted), [one / (one + other), other / (one + other), 0.0]);
        assert!((shares(&mutated, weighted).iter().sum::<f64>() - 1.0).abs() < 1e-12 && one > 0.0 && other > 0.0);
        for &place in places.iter().filter(|&&place| place != weighted) {
            assert_eq!(shares(&mutated, place), shares(&own, place));
        }
    }

    #[test]
    fn options_are_drawn_by_their_probabilities() {
        let (own, place, mut deriver) = of_first_site("s ::= [a-d]");
        let (mut learned, mut random, mut text) = (own.clone(), Random::new(1), Derivation::default());
        let uses: Vec<Decision> = [1, 1, 1, 2].map(|option| decision(place, option, 4)).into();
        learned.replace(&own, &[&uses]);
        let mut counts = [0; 4];
        for _ in 0..4_000 {
            deriver.derive(&[], &mut Draw { probabilities: &learned, random: &mut random }, &mut text);
            counts[usize::from(text.text[0] - b'a')] += 1;
        }
        assert!(counts[0] == 0 && counts[3] == 0 && (2_890..3_110).contains(&counts[1]), "{counts:?}");
    }

    #[test]
    fn where_nothing_learned_is_offered_the_grammar_decides() {
        let mut deriver = reading("s ::= 'a' @3 | 'b' @1 | 'cc' @0 | 'ddd' @4", 1);
        let own = Probabilities::of_grammar(&deriver);
        let place = deriver.sites().next().expect("a site").place();
        let (mut learned, mut random, mut text) = (own.clone(), Random::new(1), Derivation::default());
        let longest = deriver.sites().next().expect("a site").offered() - 1;
        learned.replace(&own, &[&[decision(place, longest, 4)]]);
        let mut counts = [0; 2];
        for _ in 0..4_000 {
            deriver.derive(&[], &mut Draw { probabilities: &learned, random: &mut random }, &mut text);
            counts[usize::from(text.text[0] - b'a')] += 1;
        }
        assert!((2_890..3_110).contains(&counts[0]), "{counts:?}");
    }

    #[test]
    fn the_later_members_of_a_wide_class_are_drawn_evenly() {
        let (own, _, mut deriver) = of_first_site("s ::= [#x4E00-#x5057]");
        let (mut random, mut text, mut later) = (Random::new(1), Derivation::default(), vec![0; 600]);
        for _ in 0..60_000 {
            deriver.derive(&[], &mut Draw { probabilities: &own, random: &mut random }, &mut text);
            later[text.options().last().expect("a character") as usize] += 1;
        }
        assert!(later.iter().all(|count| (50..160).contains(count)), "{later:?}");
    }
}
