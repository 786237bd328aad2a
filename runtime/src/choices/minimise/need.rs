//! How likely it is that a test needs a byte of a text: learned from the tests that failed without it.

/// For each byte of a text the rate at which it is needed. Of bytes whose rates add up to `r`, none is needed with the probability
/// e^-r. This is the model of probabilistic delta debugging (Wang et al. 2021) with rates in place of probabilities.
#[derive(Clone, Debug, Default)]
pub(super) struct Need {
    rates: Vec<f64>,
    /// The sum of the rates before each byte, and of all.
    before: Vec<f64>,
}

/// Before any test this number of bytes is expected to be needed.
const EXPECTED: f64 = 1.5;
/// The rate of a byte without which a test has failed again and again.
const MOST: f64 = 32.0;

/// A part of a text: where it begins and ends.
pub(super) type Range = (u32, u32);

impl Need {
    /// Nothing is known of a text of this length.
    pub(super) fn new(len: usize) -> Need {
        let mut need = Need { rates: vec![EXPECTED / len.max(1) as f64; len], before: Vec::new() };
        need.sum();
        need
    }

    fn sum(&mut self) {
        self.before.clear();
        self.before.push(0.0);
        let mut sum = 0.0;
        for rate in &self.rates {
            sum += rate;
            self.before.push(sum);
        }
    }

    /// The rate of the bytes of a range together.
    pub(super) fn rate(&self, (from, to): Range) -> f64 {
        self.before[to as usize] - self.before[from as usize]
    }

    /// The rate of the bytes of `replaced` without those of `kept`, which are within it.
    pub(super) fn rate_without(&self, replaced: Range, kept: Range) -> f64 {
        (self.rate(replaced) - self.rate(kept)).max(0.0)
    }

    /// Takes note of a test that failed without these bytes: one of them at least is needed.
    pub(super) fn fails_without(&mut self, replaced: Range, kept: Range) {
        let rate = self.rate_without(replaced, kept);
        let factor = 1.0 / (1.0 - decay(rate)).max(1e-9);
        for at in (replaced.0..kept.0.max(replaced.0)).chain(kept.1.min(replaced.1)..replaced.1) {
            let rate = &mut self.rates[at as usize];
            *rate = (*rate * factor).min(MOST);
        }
        self.sum();
    }

    /// Takes note of the text that stands in place of the old one: what both begin and end with is the same, and so is a part
    /// between.
    pub(super) fn replace(&mut self, old: &[u8], new: &[u8]) {
        let (from, to, new_to) = difference(old, new);
        let (removed, added) = (&old[from..to], &new[from..new_to]);
        let usual = self.rates.iter().copied().fold(f64::INFINITY, f64::min).min(EXPECTED);
        let mut middle = vec![usual; added.len()];
        let is_part = |at: &usize| removed[*at..].starts_with(added);
        if let Some(at) = (0..=removed.len().saturating_sub(added.len())).find(is_part).filter(|_| !added.is_empty()) {
            middle.copy_from_slice(&self.rates[from + at..from + at + added.len()]);
        }
        self.rates.splice(from..to, middle);
        self.sum();
    }
}

/// Where two texts differ: the first place, and the ends in the first and in the second.
pub(super) fn difference(old: &[u8], new: &[u8]) -> (usize, usize, usize) {
    let from = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let same = old[from..].iter().rev().zip(new[from..].iter().rev()).take_while(|(a, b)| a == b).count();
    (from, old.len() - same, new.len() - same)
}

/// About e^-rate, by operations that are the same on every platform.
pub(super) fn decay(rate: f64) -> f64 {
    let mut power = 1.0 / (1.0 + rate / 64.0);
    for _ in 0..6 {
        power *= power;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_alone_is_needed_if_the_test_fails_without_it() {
        let mut need = Need::new(100);
        assert!(decay(need.rate_without((0, 50), (0, 0))) > 0.4);
        need.fails_without((3, 4), (3, 3));
        assert!(need.rate((3, 4)) > 0.9 && need.rate((4, 100)) < 2.0);
        // What is kept is not what it failed without.
        let before = need.rate((20, 30));
        need.fails_without((10, 40), (20, 30));
        assert!((need.rate((20, 30)) - before).abs() < 1e-9 && need.rate((10, 20)) > 0.3);
    }

    #[test]
    fn what_stays_keeps_its_rate() {
        let mut need = Need::new(8);
        need.fails_without((4, 5), (4, 4));
        let rate = need.rate((4, 5));
        need.replace(b"ab[cX]ef", b"abcXef");
        assert_eq!(need.rates.len(), 6);
        assert!((need.rate((3, 4)) - rate).abs() < 1e-9);
        assert_eq!(difference(b"ab[cX]ef", b"abcXef"), (2, 6, 4));
    }
}
