//! The slot map of a weighted site (design, choice map, item 4).

use crate::ordered::sort_by;

/// The number of values of a site for each option, out of 2^bits equally probable ones, in canonical order. Also the
/// probability that the grammar gives each option.
#[derive(Clone, Debug, PartialEq)]
pub struct Slots {
    bits: u32,
    /// The end of each option's slots, exclusive. Strictly ascending. The last one is 2^bits.
    ends: Box<[u32]>,
    /// The grammar's own probabilities, if the slots only approximate them.
    shares: Option<Box<[f64]>>,
}

/// The widths of a weighted site in bits: one, two or three choice bytes.
pub(crate) const WIDTHS: [u32; 3] = [8, 16, 24];

impl Slots {
    /// Returns slots for finite weights by largest remainder, at least one slot each. Uses the narrowest of 256, 65 536
    /// and 16 777 216 slots that gives each option its share to within 1/256. Options of weight 0 are only read: their
    /// share is 0, each has one slot, and there are at least 65 536 slots. At least one weight must be positive. `None`
    /// if there are more options than slots.
    pub fn from_weights(weights: &[f64]) -> Option<Slots> {
        Slots::at_least(if weights.contains(&0.0) { WIDTHS[1] } else { WIDTHS[0] }, weights)
    }

    /// Returns slots for finite weights, as [`Slots::from_weights`] does, with at least 2^least slots.
    fn at_least(least: u32, weights: &[f64]) -> Option<Slots> {
        WIDTHS.iter().filter(|&&bits| bits >= least).find_map(|&bits| {
            let counts = largest_remainder(weights, 1 << bits)?;
            let total: f64 = scaled(weights).iter().sum();
            let near = scaled(weights).iter().zip(&counts).all(|(weight, &count)| {
                (f64::from(count) / f64::from(1u32 << bits) - weight / total).abs() <= 1.0 / 256.0
            });
            // More than 65 536 options of small weights take too much from the others; there is no wider site.
            (near || bits == WIDTHS[2]).then(|| {
                let share = |(&weight, scaled): (&f64, &f64)| if weight == 0.0 { 0.0 } else { scaled / total };
                let shares = weights.iter().zip(&scaled(weights)).map(share).collect();
                Slots::from_counts(bits, &counts).with_shares(shares)
            })
        })
    }

    /// Returns slots for whole numbers. If they are positive and their sum is 2^8, 2^16 or 2^24, it is kept. Otherwise
    /// they are scaled as other weights. If one of them is 0 and their sum is 2^24, there are 2^24 slots.
    pub fn from_whole(counts: &[u32]) -> Option<Slots> {
        let sum: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let are_all_positive = !counts.contains(&0);
        let weights = || counts.iter().map(|&count| f64::from(count)).collect::<Vec<_>>();
        match WIDTHS.iter().find(|&&bits| sum == 1 << bits) {
            Some(&bits) if are_all_positive => Some(Slots::from_counts(bits, counts)),
            Some(&bits) if bits == WIDTHS[2] => Slots::at_least(bits, &weights()),
            _ => Slots::from_weights(&weights()),
        }
    }

    fn from_counts(bits: u32, counts: &[u32]) -> Slots {
        let mut end = 0;
        let ends = counts
            .iter()
            .map(|count| {
                end += count;
                end
            })
            .collect();
        Slots { bits, ends, shares: None }
    }

    /// Returns the same slots for options with these probabilities. Probabilities that the slots represent exactly are
    /// not kept.
    pub fn with_shares(mut self, shares: Vec<f64>) -> Slots {
        debug_assert_eq!(shares.len(), self.ends.len());
        let exact = |(option, share): (usize, &f64)| (share - self.slot_share(option)).abs() < 1e-12;
        self.shares = (!shares.iter().enumerate().all(exact)).then(|| shares.into());
        self
    }

    /// Returns slots with these ends. `None` unless they ascend strictly up to 2^bits and `bits` is 8, 16 or 24.
    pub fn from_ends(bits: u32, ends: Vec<u32>) -> Option<Slots> {
        let ascending = ends.first().is_some_and(|&end| end > 0) && ends.is_sorted_by(|a, b| a < b);
        let whole = WIDTHS.contains(&bits) && ends.last() == Some(&(1 << bits));
        (ascending && whole).then(|| Slots { bits, ends: ends.into(), shares: None })
    }

    /// Returns log2 of the number of slots: 8, 16 or 24.
    #[inline]
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the end of each option's slots, exclusive.
    #[inline]
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// Returns the option of a slot.
    #[inline]
    pub fn option_of(&self, slot: u32) -> usize {
        self.ends.partition_point(|&end| end <= slot)
    }

    /// Returns the probability that the grammar gives an option. The slots are within 1/256 of it.
    #[inline]
    pub fn share(&self, option: usize) -> f64 {
        self.shares.as_ref().map_or_else(|| self.slot_share(option), |shares| shares[option])
    }

    /// Returns true if the slots represent each probability exactly.
    pub fn are_exact(&self) -> bool {
        self.shares.is_none()
    }

    #[inline]
    fn slot_share(&self, option: usize) -> f64 {
        f64::from(self.count(option)) / f64::from(1u32 << self.bits)
    }

    /// Returns true if texts may have the option, but generated inputs do not.
    #[inline]
    pub fn is_only_read(&self, option: usize) -> bool {
        self.share(option) == 0.0
    }

    /// Returns the number of slots of an option.
    #[inline]
    pub fn count(&self, option: usize) -> u32 {
        self.ends[option] - if option == 0 { 0 } else { self.ends[option - 1] }
    }
}

/// Returns the weights, scaled so that the greatest is 1 and their sum is finite. None becomes 0.
fn scaled(weights: &[f64]) -> Vec<f64> {
    let greatest = weights.iter().copied().fold(0.0, f64::max);
    weights.iter().map(|weight| (weight / greatest).max(f64::MIN_POSITIVE)).collect()
}

/// Returns shares of `total` in proportion to `weights`, at least 1 each.
pub(crate) fn largest_remainder(weights: &[f64], total: u32) -> Option<Vec<u32>> {
    if weights.len() > total as usize {
        return None;
    }
    let weights = scaled(weights);
    // Each option has one slot. The other slots follow the part of the quota above one.
    let sum: f64 = weights.iter().sum();
    let quotas: Vec<f64> = weights.iter().map(|weight| weight / sum * f64::from(total)).collect();
    let mut counts: Vec<u32> = quotas.iter().map(|quota| (quota.floor() as u32).max(1)).collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    let remainder = |option: usize, counts: &[u32]| quotas[option] - f64::from(counts[option]);
    let mut given: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    // Too few slots are used: the largest remainders get one more each. Rounding errors need less than one round of
    // this.
    sort_by(&mut order, |&a, &b| remainder(b, &counts).total_cmp(&remainder(a, &counts)).then(a.cmp(&b)));
    let mut next = 0;
    while given < u64::from(total) {
        counts[order[next % order.len()]] += 1;
        next += 1;
        given += 1;
    }
    // Too many slots are used, because small weights got one slot each. Options far above their quota lose some.
    let excess = given - u64::from(total);
    if excess > 0 {
        take_back(&mut counts, excess);
    }
    Some(counts)
}

/// Takes `excess` slots from options with more than one slot, in proportion to their slots above one.
fn take_back(counts: &mut [u32], mut excess: u64) {
    let mut order: Vec<usize> = (0..counts.len()).filter(|&option| counts[option] > 1).collect();
    sort_by(&mut order, |&a, &b| counts[b].cmp(&counts[a]).then(a.cmp(&b)));
    let above: u64 = order.iter().map(|&option| u64::from(counts[option] - 1)).sum();
    let wanted = excess;
    for &option in &order {
        let share = (u64::from(counts[option] - 1) * wanted / above.max(1)).min(excess);
        counts[option] -= share as u32;
        excess -= share;
    }
    // Removes the excess left by rounding, one slot each from the largest.
    while excess > 0 {
        for &option in &order {
            if excess > 0 && counts[option] > 1 {
                counts[option] -= 1;
                excess -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_within_one_slot_and_never_zero() {
        let check = |weights: &[f64], bits: u32| {
            let slots = Slots::from_weights(weights).unwrap();
            assert_eq!(slots.bits(), bits, "{weights:?}");
            assert_eq!(slots.ends().last(), Some(&(1 << bits)));
            let sum: f64 = weights.iter().sum();
            for (option, weight) in weights.iter().enumerate() {
                assert!(slots.count(option) >= 1);
                let share = f64::from(slots.count(option)) / f64::from(1u32 << bits);
                assert!((share - weight / sum).abs() <= 1.0 / 256.0, "{weights:?} {option}");
                assert!((slots.share(option) - weight / sum).abs() <= 1e-11, "{weights:?} {option}");
            }
            for slot in 0..1 << bits {
                let option = slots.option_of(slot);
                assert!(slot < slots.ends()[option] && (option == 0 || slot >= slots.ends()[option - 1]));
            }
        };
        check(&[1.0, 3.0], 8);
        check(&[0.1, 0.2, 0.7], 8);
        check(&[1e-300, 1e300], 8);
        check(&[1.0; 257], 16);
        let mut many = vec![1e-9; 200];
        many.push(1.0);
        check(&many, 16);
    }

    #[test]
    fn options_that_are_only_read_have_one_slot_of_many() {
        let slots = Slots::from_weights(&[0.0, 1.0, 3.0, 0.0]).unwrap();
        assert_eq!((slots.bits(), slots.count(0), slots.count(3)), (16, 1, 1));
        assert_eq!((slots.share(0), slots.share(1), slots.share(2)), (0.0, 0.25, 0.75));
        assert!(slots.is_only_read(0) && slots.is_only_read(3) && !slots.is_only_read(1));
        let many = [vec![0.0; 70_000], vec![1.0]].concat();
        assert_eq!(Slots::from_weights(&many).unwrap().bits(), 24);
    }

    /// Weights that need 2^24 slots keep them where others are 0.
    #[test]
    fn fine_weights_stay_fine_with_options_that_are_only_read() {
        let slots = Slots::from_whole(&[(1 << 24) - 17, 17, 0]).unwrap();
        assert_eq!((slots.bits(), slots.count(1), slots.count(2)), (24, 17, 1));
        assert!(slots.is_only_read(2) && !slots.is_only_read(1));
        assert_eq!(Slots::from_whole(&[1 << 16, 0]).unwrap().bits(), 16);
    }

    #[test]
    fn too_many_options_are_refused() {
        assert!(largest_remainder(&[1.0; 257], 256).is_none());
    }
}
