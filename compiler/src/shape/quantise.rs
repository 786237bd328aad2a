//! Converts probabilities to whole weights, and back.

use crate::ir::slots::{WIDTHS, largest_remainder};

use super::model::{Kind, Laws, Model};
use super::solve::Measure;
use super::weights::{Law, Weights};

/// The share of the expected length by which whole weights may change it.
const TOLERANCE: f64 = 0.01;
/// A repetition whose ranges differ less from their even shares keeps them, if 256 slots are enough. Otherwise the
/// bound is one slot.
const EVEN: f64 = 1.0 / 512.0;

/// Returns the weights nearest to `laws`, with as few slots as keep the expected length.
pub(crate) fn weights(model: &Model, laws: &Laws, measure: &Measure) -> Weights {
    let wanted = measure.length(model, laws);
    let mut last = Vec::new();
    for bits in WIDTHS {
        last = rounded(model, laws, bits);
        let length = measure.length(model, &shares(&last));
        let is_near = (length - wanted).abs() <= TOLERANCE * wanted || wanted.is_infinite() && length.is_infinite();
        if is_near {
            break;
        }
    }
    table(model, &last)
}

/// Returns whole weights of each decision: 2^bits slots, or more if the number of options requires it.
fn rounded(model: &Model, laws: &Laws, bits: u32) -> Vec<Vec<u32>> {
    let even_share = if bits == WIDTHS[0] { EVEN } else { 1.0 / f64::from(1u32 << bits) };
    let slots = |(law, decision): (&Vec<f64>, &super::model::Decision)| {
        let even = matches!(decision.kind, Kind::Rounds { .. })
            && law.iter().zip(&decision.prior).all(|(share, prior)| (share - prior).abs() < even_share);
        let law = if even { &decision.prior } else { law };
        let equal = law.iter().all(|share| *share == law[0]);
        if equal {
            return vec![1; law.len()];
        }
        // There must be room for shares of a quarter of the even share.
        let room = WIDTHS.iter().filter(|&&width| width >= bits && law.len() <= 1 << (width - 2));
        let bits = room.copied().next().unwrap_or(WIDTHS[2]);
        // There are never more options than 2^24.
        largest_remainder(law, 1 << bits).unwrap_or_else(|| vec![1; law.len()])
    };
    laws.iter().zip(&model.decisions).map(slots).collect()
}

/// Returns the shares of whole weights; equal ones if all are 0.
fn shares(weights: &[Vec<u32>]) -> Laws {
    let share = |weights: &Vec<u32>| {
        let sum: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
        if sum == 0 {
            return vec![1.0 / weights.len() as f64; weights.len()];
        }
        weights.iter().map(|&weight| f64::from(weight) / sum as f64).collect()
    };
    weights.iter().map(share).collect()
}

fn table(model: &Model, weights: &[Vec<u32>]) -> Weights {
    let mut table = Weights::default();
    for (decision, weights) in model.decisions.iter().zip(weights) {
        let law = match &decision.kind {
            Kind::Choice { alternatives, .. } if alternatives.len() < 2 => continue,
            Kind::Choice { alternatives, of } => {
                let mut all = vec![0; *of];
                alternatives.iter().zip(weights).for_each(|(&alternative, &weight)| all[alternative] = weight);
                Law::Choice(all)
            }
            Kind::Rounds { .. } if weights.len() == 2 && weights[0] == weights[1] => continue,
            Kind::Rounds { starts, steps, .. } => {
                Law::Rounds { starts: starts.clone(), steps: steps.clone(), weights: weights.clone() }
            }
        };
        table.set(decision.rule, decision.place, law);
    }
    table
}

/// Returns the probabilities of the weights. The ranges of rounds in the model become those of the weights.
pub(crate) fn laws(model: &mut Model, weights: &Weights) -> Laws {
    for decision in &mut model.decisions {
        match (weights.get(decision.rule, decision.place), &mut decision.kind) {
            (Some(Law::Choice(all)), Kind::Choice { alternatives, .. }) => {
                let chosen: Vec<u32> = alternatives.iter().map(|&one| all.get(one).copied().unwrap_or(0)).collect();
                decision.prior = shares(&[chosen]).remove(0);
            }
            (Some(Law::Rounds { starts: theirs, steps: their_steps, weights }), Kind::Rounds { starts, steps, .. }) => {
                starts.clone_from(theirs);
                steps.clone_from(their_steps);
                decision.prior = shares(std::slice::from_ref(weights)).remove(0);
            }
            _ => {}
        }
    }
    model.priors()
}
