//! Draws numbers in proportion to weights, in constant time (Vose, *A linear algorithm for generating random numbers
//! with a given distribution*, IEEE Transactions on Software Engineering 17 (1991), 972-975).

use gramjet_session::Random;

/// A table of weights. Each slot is shared by its own number and one other.
#[derive(Clone, Debug, Default)]
pub(super) struct Alias {
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The share of the slot that is its own.
    own: f64,
    other: u32,
}

impl Alias {
    /// Returns a table of some weights, which are positive.
    pub(super) fn new(weights: &[f64]) -> Alias {
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        let mut slots: Vec<Slot> =
            (0u32..).zip(weights).map(|(other, weight)| Slot { own: weight / mean, other }).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..slots.len()).partition(|&slot| slots[slot].own < 1.0);
        while let (Some(&less), Some(&more)) = (small.last(), large.last()) {
            small.pop();
            slots[less].other = more as u32;
            slots[more].own -= 1.0 - slots[less].own;
            if slots[more].own < 1.0 {
                large.pop();
                small.push(more);
            }
        }
        // Those left have a slot of their own, except for rounding.
        for slot in small.into_iter().chain(large) {
            slots[slot].own = 1.0;
        }
        Alias { slots }
    }

    /// Returns a number below the number of weights, which is not 0.
    pub(super) fn draw(&self, random: &mut Random) -> u32 {
        let number = random.below(self.slots.len());
        let slot = self.slots[number];
        if random.unit() < slot.own { number as u32 } else { slot.other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the exact probabilities.
    fn shares(alias: &Alias) -> Vec<f64> {
        let mut shares = vec![0.0; alias.slots.len()];
        for (number, slot) in alias.slots.iter().enumerate() {
            shares[number] += slot.own / alias.slots.len() as f64;
            shares[slot.other as usize] += (1.0 - slot.own) / alias.slots.len() as f64;
        }
        shares
    }

    #[test]
    fn shares_are_in_proportion_to_weights() {
        for weights in [&[5.0][..], &[1.0, 1.0, 1.0], &[1.0, 2.0, 5.0], &[0.01, 9.0, 0.3, 0.69], &[7.0, 1e-9, 3.0]] {
            let sum: f64 = weights.iter().sum();
            for (share, weight) in shares(&Alias::new(weights)).iter().zip(weights) {
                assert!((share - weight / sum).abs() < 1e-12, "{weights:?}");
            }
        }
    }

    #[test]
    fn draws_have_the_shares() {
        let (alias, mut random) = (Alias::new(&[1.0, 2.0, 5.0]), Random::new(1));
        let mut drawn = [0; 3];
        for _ in 0..80_000 {
            drawn[alias.draw(&mut random) as usize] += 1;
        }
        // Six standard deviations of the widest are 850.
        for (drawn, expected) in drawn.into_iter().zip([10_000, 20_000, 50_000]) {
            assert!(i32::abs(drawn - expected) < 850, "{drawn} for {expected}");
        }
    }
}
