//! How likely it is that a test needs a byte of a text: learned from the tests that failed without it.

/// For each byte of a text the rate at which it is needed. Of bytes whose rates add up to `r`, none is needed with the
/// probability e^-r. This is the model of probabilistic delta debugging (Wang et al. 2021) with rates in place of
/// probabilities.
#[derive(Clone, Debug, Default)]
pub(super) struct Need {
    rates: Vec<f64>,
    /// The sum of the rates before each byte, and of all.
    before: Vec<f64>,
}

/// Before any test this number of bytes is expected to be needed.
const EXPECTED: f64 = 1.5;
/// The rate of a byte without which a test has failed again and again.
const MOST: f64 = 20.0;
/// The probability that a test fails for another reason than that bytes are missing.
const OTHER_REASON: f64 = 0.02;
/// The rate added to the other bytes of a word when a test fails without some of them.
const SAME_WORD: f64 = 0.1;

/// A word consists of letters, digits, `_` and `-`.
fn is_of_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

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

    /// The rate of the bytes of `replaced` that are not in `kept`, a part of it.
    pub(super) fn rate_without(&self, replaced: Range, kept: Range) -> f64 {
        (self.rate(replaced) - self.rate(kept)).max(0.0)
    }

    /// Records a test that failed without the bytes of `replaced` outside `kept`, at each distance of `shifts`. At
    /// least one of these bytes is needed, or the test failed for another reason. Other bytes of the same word are then
    /// likely to be needed, too.
    pub(super) fn fails_without(
        &mut self,
        text: &[u8],
        replaced: Range,
        kept: Range,
        shifts: impl Iterator<Item = u32> + Clone,
    ) {
        let bytes = || {
            let one = (replaced.0..kept.0.max(replaced.0)).chain(kept.1.min(replaced.1)..replaced.1);
            shifts.clone().flat_map(move |shift| one.clone().map(move |at| (at + shift) as usize))
        };
        let rate: f64 = bytes().map(|at| self.rates[at]).sum();
        let fails = 1.0 - (1.0 - OTHER_REASON) * decay(rate);
        for at in bytes() {
            let rate = &mut self.rates[at];
            let spared = 1.0 - (1.0 - decay(*rate)) / fails;
            *rate = rate_of(spared.max(decay(MOST))).max(*rate);
        }
        if let (Some(first), Some(last)) = (bytes().next(), bytes().last()) {
            self.raise_word(text, first, last);
        }
        self.sum();
    }

    /// Raises the rates of the bytes around `first..=last` in the same word, if the range is within one word.
    fn raise_word(&mut self, text: &[u8], first: usize, last: usize) {
        if !text[first..=last].iter().all(is_of_word) {
            return;
        }
        let before = text[..first].iter().rev().take_while(|byte| is_of_word(byte)).count();
        let behind = text[last + 1..].iter().take_while(|byte| is_of_word(byte)).count();
        for at in (first - before..first).chain(last + 1..=last + behind) {
            self.rates[at] = (self.rates[at] + SAME_WORD).min(MOST);
        }
    }

    /// Updates the rates for a new text. Its common beginning and end with the old one keep their rates, and so does
    /// the part between them if it is a part of the old text.
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

/// The rate whose [`decay`] this is.
fn rate_of(decayed: f64) -> f64 {
    let mut root = decayed.recip();
    for _ in 0..6 {
        root = root.sqrt();
    }
    64.0 * (root - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_alone_is_needed_if_the_test_fails_without_it() {
        let mut need = Need::new(100);
        assert!(decay(need.rate_without((0, 50), (0, 0))) > 0.4);
        let text = [b' '; 100];
        need.fails_without(&text, (3, 4), (3, 3), one());
        // Once it may have failed for another reason, but not twice.
        assert!(need.rate((3, 4)) > 0.5 && need.rate((4, 100)) < 2.0);
        need.fails_without(&text, (3, 4), (3, 3), one());
        assert!(need.rate((3, 4)) > 3.0 && need.rate((4, 100)) < 2.0);
        // The test did not fail for lack of the bytes that were kept.
        let before = need.rate((20, 30));
        need.fails_without(&text, (10, 40), (20, 30), one());
        assert!((need.rate((20, 30)) - before).abs() < 1e-9 && need.rate((10, 20)) > 0.3);
    }

    #[test]
    fn bytes_of_several_places_share_what_is_learned() {
        let mut need = Need::new(30);
        let before = need.rate((0, 2));
        need.fails_without(&[b' '; 30], (0, 2), (0, 0), [0, 10].into_iter());
        assert!(need.rate((0, 2)) > 2.0 * before);
        assert!((need.rate((0, 2)) - need.rate((10, 12))).abs() < 1e-9);
        assert!((need.rate((20, 22)) - before).abs() < 1e-9);
    }

    #[test]
    fn a_word_of_which_a_byte_is_needed_is_likely_to_be_needed() {
        let mut need = Need::new(10);
        let before = need.rate((0, 1));
        need.fails_without(b"abc, de fg", (1, 2), (1, 1), one());
        assert!(need.rate((0, 1)) > before && need.rate((2, 3)) > before);
        assert!((need.rate((3, 10)) - 7.0 * before).abs() < 1e-9);
        // A range that is not within one word says nothing about the bytes around it.
        let before = need.rate((0, 3));
        need.fails_without(b"abc, de fg", (4, 6), (4, 4), one());
        assert!((need.rate((0, 3)) - before).abs() < 1e-9);
    }

    fn one() -> impl Iterator<Item = u32> + Clone {
        std::iter::once(0)
    }

    #[test]
    fn a_rate_is_found_from_what_it_decays_to() {
        for rate in [0.0, 0.1, 1.0, 5.0, 20.0] {
            assert!((rate_of(decay(rate)) - rate).abs() < 1e-6, "{rate}");
        }
    }

    #[test]
    fn what_stays_keeps_its_rate() {
        let mut need = Need::new(8);
        need.fails_without(b"ab[cX]ef", (4, 5), (4, 4), one());
        let rate = need.rate((4, 5));
        need.replace(b"ab[cX]ef", b"abcXef");
        assert_eq!(need.rates.len(), 6);
        assert!((need.rate((3, 4)) - rate).abs() < 1e-9);
        assert_eq!(difference(b"ab[cX]ef", b"abcXef"), (2, 6, 4));
    }
}
