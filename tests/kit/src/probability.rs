//! The exact distribution of outputs (E3), by following every option of every site.

use std::collections::BTreeMap;

use gramjet_compiler::analysis::pools::Pools;
use gramjet_compiler::reference::Limits;

use crate::form::System;
use crate::naive::{Machine, Offer};

/// Way in which a site is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    /// By uniform choice bytes through the choice map.
    Replay,
    /// With the grammar's own probabilities: uniform, or in proportion to the weights.
    Exact,
}

/// Returns the probability of each output. Paths less probable than `least` are left out; what is missing from 1 in the
/// sum of the probabilities is theirs.
pub fn distribution(
    system: &System,
    pools: &Pools,
    limits: Limits,
    drawing: Drawing,
    least: f64,
) -> BTreeMap<Vec<u8>, f64> {
    let mut outputs = BTreeMap::new();
    let mut open = vec![(Machine::new(system, pools, limits), 1.0)];
    while let Some((mut machine, probability)) = open.pop() {
        let Some(offer) = machine.next_site() else {
            *outputs.entry(machine.output).or_insert(0.0) += probability;
            continue;
        };
        for (option, share) in shares(&offer, drawing).into_iter().enumerate() {
            if share > 0.0 && probability * share >= least {
                let mut next = machine.clone();
                next.take(option);
                open.push((next, probability * share));
            }
        }
    }
    outputs
}

/// Returns the probability of each option. With [`Drawing::Replay`] it is the number of values that lead to it.
pub fn shares(offer: &Offer<'_>, drawing: Drawing) -> Vec<f64> {
    if let (Offer::Weighted(count, slots), Drawing::Exact) = (offer, drawing) {
        let whole: f64 = (0..*count).map(|option| slots.share(option)).sum();
        return (0..*count).map(|option| slots.share(option) / whole).collect();
    }
    let (ends, bits): (Vec<u64>, u32) = match offer {
        Offer::Uniform(count) => {
            let bits = if *count <= 1 << 8 {
                8
            } else if *count <= 1 << 16 {
                16
            } else {
                24
            };
            ((1..=*count).collect(), bits)
        }
        Offer::Weighted(count, slots) => {
            (slots.ends()[..*count].iter().map(|&end| u64::from(end)).collect(), slots.bits())
        }
    };
    let whole = *ends.last().expect("a site has options");
    let share = |low: u64, high: u64| match drawing {
        Drawing::Exact => (high - low) as f64 / whole as f64,
        // Value v leads below `end` if v * whole / 2^bits < end: there are ceil(end * 2^bits / whole) of those.
        Drawing::Replay => {
            let below = |end: u64| (end << bits).div_ceil(whole);
            (below(high) - below(low)) as f64 / (1u64 << bits) as f64
        }
    };
    let lows = std::iter::once(0).chain(ends.iter().copied());
    lows.zip(&ends).map(|(low, &high)| share(low, high)).collect()
}
