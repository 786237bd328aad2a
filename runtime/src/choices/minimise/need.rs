//! Rates at which tests need the bytes of a text: learned from the tests that failed without it.

/// For each byte of a text the rate at which it is needed. Of bytes whose rates add up to `r`, none is needed with the
/// probability e^-r. This is the model of probabilistic delta debugging (Wang et al. 2021) with rates in place of
/// probabilities. Besides, the failed tests themselves are kept: a text that lacks all that one of them lacked will
/// rarely pass.
#[derive(Clone, Debug, Default)]
pub(super) struct Need {
    rates: Vec<f64>,
    /// The sum of the rates before each byte, and of all.
    before: Vec<f64>,
    /// Bytes that failed tests have lacked, as far as they are still there.
    failed: Vec<Box<[Range]>>,
}

/// Before any test this number of bytes is expected to be needed.
const EXPECTED: f64 = 1.5;
/// The rate of a byte without which a test has failed again and again.
const MOST: f64 = 20.0;
/// The probability that a test fails for another reason than that bytes are missing.
const OTHER_REASON: f64 = 0.02;
/// The rate added to the other bytes of a word when a test fails without some of them.
const SAME_WORD: f64 = 0.1;

/// At most this number of failed tests is kept.
const MOST_FAILED: usize = 1 << 10;
/// Texts whose lengths have a greater product are not compared byte by byte.
pub(super) const MOST_COMPARED: usize = 1 << 16;

/// Returns true if the byte belongs to a word, which consists of letters, digits, `_` and `-`.
fn is_of_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// A part of a text: where it begins and ends.
pub(super) type Range = (u32, u32);

impl Need {
    /// Returns the needs of a text of this length, of which nothing is known yet.
    pub(super) fn new(len: usize) -> Need {
        let mut need = Need { rates: vec![EXPECTED / len.max(1) as f64; len], before: Vec::new(), failed: Vec::new() };
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

    /// Returns the rate of the bytes of a range together.
    pub(super) fn rate(&self, (from, to): Range) -> f64 {
        self.before[to as usize] - self.before[from as usize]
    }

    /// Returns the rate of the bytes of several ranges together.
    pub(super) fn rate_without(&self, ranges: &[Range]) -> f64 {
        ranges.iter().map(|&range| self.rate(range)).sum()
    }

    /// Returns how many failed tests are known.
    pub(super) fn failures(&self) -> usize {
        self.failed.len()
    }

    /// Returns true if a test has failed that lacked nothing but bytes of these ranges, which ascend. Leaves out the
    /// first failed tests, up to this number.
    pub(super) fn has_failed_without(&self, ranges: &[Range], first: usize) -> bool {
        self.failed[first..].iter().any(|failed| contains(ranges, failed))
    }

    /// Records a test that failed without the bytes of these ranges, which ascend. At least one of these bytes is
    /// needed, or the test failed for another reason. Other bytes of the same word are then likely to be needed, too.
    pub(super) fn fails_without(&mut self, text: &[u8], ranges: &[Range]) {
        let bytes = || ranges.iter().flat_map(|&(from, to)| from as usize..to as usize);
        let rate: f64 = bytes().map(|at| self.rates[at]).sum();
        let fails = 1.0 - (1.0 - OTHER_REASON) * decay(rate);
        for at in bytes() {
            let rate = &mut self.rates[at];
            let spared = 1.0 - (1.0 - decay(*rate)) / fails;
            *rate = rate_of(spared.max(decay(MOST))).max(*rate);
        }
        if let (Some(first), Some(last)) = (bytes().next(), bytes().last()) {
            self.raise_word(text, first, last);
            self.remember(ranges.into());
        }
        self.sum();
    }

    /// Keeps what a failed test has lacked, unless one that lacked only a part of it is kept.
    fn remember(&mut self, ranges: Box<[Range]>) {
        if self.failed.len() < MOST_FAILED && !self.has_failed_without(&ranges, 0) {
            self.failed.push(ranges);
        }
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

    /// Updates what is known for a new text. What it has in common with the old one keeps its rates.
    pub(super) fn replace(&mut self, old: &[u8], new: &[u8]) {
        let usual = self.rates.iter().copied().fold(f64::INFINITY, f64::min).min(EXPECTED);
        let mut rates = vec![usual; new.len()];
        let common = common(old, new);
        for &(from, to, len) in &common {
            rates[to..to + len].copy_from_slice(&self.rates[from..from + len]);
        }
        self.rates = rates;
        for failed in std::mem::take(&mut self.failed) {
            let kept = moved(&failed, &common);
            if !kept.is_empty() {
                self.remember(kept.into());
            }
        }
        self.sum();
    }
}

/// Returns the places of the ranges of a text in another one, as far as they are in the blocks that the texts have in
/// common.
fn moved(ranges: &[Range], common: &[(usize, usize, usize)]) -> Vec<Range> {
    let mut kept: Vec<Range> = Vec::new();
    let mut blocks = common.iter().peekable();
    for &(from, to) in ranges {
        while blocks.next_if(|&&(at, _, len)| at + len <= from as usize).is_some() {}
        let mut ahead = blocks.clone();
        while let Some(&(at, new_at, len)) = ahead.next_if(|&&(at, _, _)| at < to as usize) {
            let (from, to) = ((from as usize).max(at), (to as usize).min(at + len));
            let (from, to) = ((from - at + new_at) as u32, (to - at + new_at) as u32);
            match kept.last_mut() {
                Some(last) if last.1 == from => last.1 = to,
                _ => kept.push((from, to)),
            }
        }
    }
    kept
}

/// Returns true if each of `parts` is within one of the ranges `all`. Both are ascending.
fn contains(all: &[Range], parts: &[Range]) -> bool {
    let mut all = all.iter().peekable();
    parts.iter().all(|&(from, to)| {
        while all.next_if(|&&(_, end)| end < to).is_some() {}
        all.peek().is_some_and(|&&(start, end)| start <= from && to <= end)
    })
}

/// Returns what two texts have in common: where it begins in the first and in the second, and its length, ascending.
pub(super) fn common(old: &[u8], new: &[u8]) -> Vec<(usize, usize, usize)> {
    let (from, to, new_to) = difference(old, new);
    let mut blocks = vec![(0, 0, from)];
    blocks_between(old, new, (from, to), (from, new_to), &mut blocks);
    blocks.push((to, new_to, old.len() - to));
    blocks.retain(|block| block.2 > 0);
    blocks
}

/// Finds the longest block that two ranges have in common, then those before it and after it.
fn blocks_between(
    old: &[u8],
    new: &[u8],
    (from, to): (usize, usize),
    (new_from, new_to): (usize, usize),
    blocks: &mut Vec<(usize, usize, usize)>,
) {
    let (removed, added) = (&old[from..to], &new[new_from..new_to]);
    if removed.is_empty() || added.is_empty() {
        return;
    }
    let longest = if let Some(at) = removed.windows(added.len()).position(|part| part == added) {
        (at, 0, added.len())
    } else if removed.len() * added.len() > MOST_COMPARED {
        return;
    } else {
        longest_common(removed, added)
    };
    let (at, new_at, len) = longest;
    if len > 0 {
        let (at, new_at) = (from + at, new_from + new_at);
        blocks_between(old, new, (from, at), (new_from, new_at), blocks);
        blocks.push((at, new_at, len));
        blocks_between(old, new, (at + len, to), (new_at + len, new_to), blocks);
    }
}

/// Returns the first of the longest blocks that two texts have in common.
fn longest_common(old: &[u8], new: &[u8]) -> (usize, usize, usize) {
    let mut longest = (0, 0, 0);
    // How many bytes up to this one are the same as those up to each one of the new text.
    let mut lens = vec![0_usize; new.len() + 1];
    for (at, byte) in old.iter().enumerate() {
        for (new_at, other) in new.iter().enumerate().rev() {
            let len = if byte == other { lens[new_at] + 1 } else { 0 };
            lens[new_at + 1] = len;
            if len > longest.2 {
                longest = (at + 1 - len, new_at + 1 - len, len);
            }
        }
    }
    longest
}

/// Returns the places where two texts differ: the first place, and the ends in the first text and in the second.
pub(super) fn difference(old: &[u8], new: &[u8]) -> (usize, usize, usize) {
    let from = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let same = old[from..].iter().rev().zip(new[from..].iter().rev()).take_while(|(a, b)| a == b).count();
    (from, old.len() - same, new.len() - same)
}

/// Returns about e^-rate, by operations that are the same on every platform.
pub(super) fn decay(rate: f64) -> f64 {
    let mut power = 1.0 / (1.0 + rate / 64.0);
    for _ in 0..6 {
        power *= power;
    }
    power
}

/// Returns the rate whose [`decay`] this is.
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
        assert!(decay(need.rate_without(&[(0, 50)])) > 0.4);
        let text = [b' '; 100];
        need.fails_without(&text, &[(3, 4)]);
        // Once it may have failed for another reason, but not twice.
        assert!(need.rate((3, 4)) > 0.5 && need.rate((4, 100)) < 2.0);
        need.fails_without(&text, &[(3, 4)]);
        assert!(need.rate((3, 4)) > 3.0 && need.rate((4, 100)) < 2.0);
        // The test did not fail for lack of the bytes that were kept.
        let before = need.rate((20, 30));
        need.fails_without(&text, &[(10, 20), (30, 40)]);
        assert!((need.rate((20, 30)) - before).abs() < 1e-9 && need.rate((10, 20)) > 0.3);
    }

    #[test]
    fn bytes_of_several_places_share_what_is_learned() {
        let mut need = Need::new(30);
        let before = need.rate((0, 2));
        need.fails_without(&[b' '; 30], &[(0, 2), (10, 12)]);
        assert!(need.rate((0, 2)) > 2.0 * before);
        assert!((need.rate((0, 2)) - need.rate((10, 12))).abs() < 1e-9);
        assert!((need.rate((20, 22)) - before).abs() < 1e-9);
    }

    #[test]
    fn a_word_of_which_a_byte_is_needed_is_likely_to_be_needed() {
        let mut need = Need::new(10);
        let before = need.rate((0, 1));
        need.fails_without(b"abc, de fg", &[(1, 2)]);
        assert!(need.rate((0, 1)) > before && need.rate((2, 3)) > before);
        assert!((need.rate((3, 10)) - 7.0 * before).abs() < 1e-9);
        // A range that is not within one word says nothing about the bytes around it.
        let before = need.rate((0, 3));
        need.fails_without(b"abc, de fg", &[(4, 6)]);
        assert!((need.rate((0, 3)) - before).abs() < 1e-9);
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
        need.fails_without(b"ab[cX]ef", &[(4, 5)]);
        let rate = need.rate((4, 5));
        need.replace(b"ab[cX]ef", b"abcXef");
        assert_eq!(need.rates.len(), 6);
        assert!((need.rate((3, 4)) - rate).abs() < 1e-9);
        assert_eq!(difference(b"ab[cX]ef", b"abcXef"), (2, 6, 4));
    }

    #[test]
    fn parts_keep_their_rates_in_another_frame() {
        let mut need = Need::new(13);
        need.fails_without(br#"{"a":[7,0],1}"#, &[(6, 7)]);
        let rate = need.rate((6, 7));
        need.replace(br#"{"a":[7,0],1}"#, b"[[7,0]]");
        assert!((need.rate((2, 3)) - rate).abs() < 1e-9);
        assert_eq!(common(b"{a:[7,0]}", b"[[7,0]]"), [(3, 1, 5)]);
        assert_eq!(common(b"xay", b"xby"), [(0, 0, 1), (2, 2, 1)]);
        assert_eq!(common(b"", b""), []);
    }

    #[test]
    fn what_has_failed_is_known_of_all_that_lacks_more() {
        let mut need = Need::new(10);
        need.fails_without(b"ab[cX]efgh", &[(1, 2), (4, 6)]);
        assert!(need.has_failed_without(&[(1, 2), (4, 6)], 0));
        assert!(need.has_failed_without(&[(0, 3), (4, 8)], 0));
        assert!(!need.has_failed_without(&[(0, 3), (4, 5)], 0));
        assert!(!need.has_failed_without(&[(0, 10)], need.failures()));
        // What is no longer there was not needed, so something of the rest is.
        need.replace(b"ab[cX]efgh", b"ab[c]efgh");
        assert!(need.has_failed_without(&[(1, 2), (4, 5)], 0));
        need.replace(b"ab[c]efgh", b"ab[cefgh");
        assert!(need.has_failed_without(&[(1, 2)], 0));
        assert!(!need.has_failed_without(&[(2, 8)], 0));
    }
}
