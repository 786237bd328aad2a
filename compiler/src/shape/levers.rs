//! The last means to reach a mean length: a factor that favours recursion, rounds and long alternatives, or the
//! opposite. It changes more and more decisions until the length is reached.

use crate::ir::RuleId;

use super::growth::Growth;
use super::model::{Kind, Laws, Model, Moments, Term};
use super::solve::{Measure, Search, Solution, X, bracket, each_choice, normalise};

/// The decisions that a factor changes to reach a length.
struct Levers {
    starts: &'static [u32],
    /// Whether the rounds of all repetitions change, not only of those that contain rules.
    all_rounds: bool,
    /// Whether the alternatives of all choices change, not only of those in recursive rules.
    all_choices: bool,
}

/// The greatest number of nodes with ranges of rounds written out. Levers that lead to more are not used.
const MOST_NODES: f64 = (1 << 19) as f64;

const LEVERS: &[Levers] = &[
    Levers { starts: &[0, 1], all_rounds: false, all_choices: false },
    Levers { starts: &[0, 1, 8], all_rounds: false, all_choices: false },
    Levers { starts: &[0, 1, 8, 64], all_rounds: false, all_choices: false },
    Levers { starts: &[0, 1, 8, 64, 512], all_rounds: false, all_choices: false },
    Levers { starts: &[0, 1, 8, 64, 512, 4096], all_rounds: false, all_choices: false },
    Levers { starts: &[0, 1, 8, 64], all_rounds: true, all_choices: true },
    Levers { starts: &[0, 1, 8, 64, 512, 4096], all_rounds: true, all_choices: true },
];

/// Finishes a search from the probabilities `base`.
pub(super) fn pull(model: &mut Model, measure: &Measure, mut search: Search, mut base: Laws) -> Solution {
    let bytes = search.bytes;
    for levers in LEVERS {
        model.divide_rounds(levers.starts, levers.all_rounds, bytes);
        if model.is_exhausted() {
            break;
        }
        if model.expansion() > MOST_NODES {
            model.divide_rounds(&[0, 1], true, bytes);
            continue;
        }
        renew_divided(model, &mut base);
        let exponents = exponents(model, levers.all_choices);
        let model = &*model;
        let value = |factor: f64| {
            let laws = tilted(&base, &exponents, factor);
            Some((measure.length(model, &laws), laws))
        };
        if let Some((length, laws)) = bracket(model, &mut { value }, bytes) {
            search.see(length, &laws);
            if search.is_near(length, 10.0) {
                return Solution { laws, reachable: None };
            }
        }
    }
    nearest(model, measure, search, base)
}

/// Returns the nearest probabilities, if none reach the length.
fn nearest(model: &mut Model, measure: &Measure, mut search: Search, mut base: Laws) -> Solution {
    let bytes = search.bytes;
    // The extreme factors give the reachable range.
    let exponents = exponents(model, true);
    renew_divided(model, &mut base);
    for factor in [X.0, X.1] {
        let laws = tilted(&base, &exponents, factor);
        search.see(measure.length(model, &laws), &laws);
    }
    let (length, laws) = search.best.unwrap_or((f64::INFINITY, base));
    let reachable = ((length - bytes).abs() > 0.1 * bytes).then_some(search.range);
    // Restores the ranges of rounds that the best laws were found with.
    model.divide_rounds(&[0, 1], true, bytes);
    for levers in LEVERS {
        if model.decisions.iter().zip(&laws).all(|(decision, law)| decision.prior.len() == law.len()) {
            break;
        }
        model.divide_rounds(levers.starts, levers.all_rounds, bytes);
    }
    Solution { laws, reachable }
}

/// Gives decisions whose ranges of rounds were divided anew their own probabilities.
fn renew_divided(model: &Model, base: &mut Laws) {
    for (law, decision) in base.iter_mut().zip(&model.decisions) {
        if law.len() != decision.prior.len() {
            law.clone_from(&decision.prior);
        }
    }
}

/// Returns for each option of each choice in a recursive rule the mean number of instances of its component that it
/// derives by itself. For the ranges of a repetition whose item derives any, 0 and higher numbers. Otherwise 0.
pub(super) fn recursive_instances(model: &Model) -> Vec<Vec<f64>> {
    let priors = model.priors();
    let mut counts: Vec<Vec<f64>> = priors.iter().map(|law| vec![0.0; law.len()]).collect();
    for (rule, term) in model.rules.iter().enumerate().filter(|(rule, _)| model.is_recursive(*rule)) {
        let inside = |term: &Term| {
            let mut moments = Moments::default();
            term.add_moments(model, &priors, 1.0, &mut moments);
            let same = |other: usize| model.recursion.same_component(RuleId::new(rule), RuleId::new(other));
            moments.rules.iter().filter(|&&(other, _)| same(other)).map(|&(_, mean)| mean).sum::<f64>()
        };
        each_choice(term, &mut |decision, options| {
            counts[decision] = options.iter().map(inside).collect();
        });
    }
    counts
}

/// Returns the exponent of each option: the power of the factor that its probability is multiplied by. The factor makes
/// inputs longer.
fn exponents(model: &Model, all_choices: bool) -> Vec<Vec<f64>> {
    let mut exponents = recursive_instances(model);
    for (decision, exponents) in model.decisions.iter().zip(&mut exponents) {
        if let Kind::Rounds { starts, has_rules, .. } = &decision.kind {
            // Undivided ranges of rounds without rules are not changed.
            let counts = *has_rules || all_choices;
            *exponents = (0..starts.len()).map(|range| if counts { range as f64 } else { 0.0 }).collect();
        }
    }
    if all_choices {
        let lengths = Growth::new(model, &model.priors()).lengths();
        let priors = model.priors();
        for (rule, term) in model.rules.iter().enumerate().filter(|(rule, _)| !model.is_recursive(*rule)) {
            each_choice(term, &mut |decision, options| {
                debug_assert_eq!(model.decisions[decision].rule, rule);
                let lengths: Vec<f64> = options
                    .iter()
                    .map(|option| {
                        let mut moments = Moments::default();
                        option.add_moments(model, &priors, 1.0, &mut moments);
                        moments.bytes
                            + moments.rules.iter().map(|&(rule, mean)| mean * lengths[rule].min(1e9)).sum::<f64>()
                    })
                    .collect();
                let greatest = lengths.iter().copied().fold(0.0, f64::max);
                let least = lengths.iter().copied().fold(f64::INFINITY, f64::min);
                if greatest > least {
                    exponents[decision] =
                        lengths.iter().map(|length| 4.0 * (length - least) / (greatest - least)).collect();
                }
            });
        }
    }
    exponents
}

/// Multiplies `base` by `factor` to the power of each option's exponent. Exponents are multiples of 1/4, so that square
/// roots suffice.
fn tilted(base: &Laws, exponents: &[Vec<f64>], factor: f64) -> Laws {
    let quarter = factor.sqrt().sqrt();
    let mut laws = base.clone();
    for (law, exponents) in laws.iter_mut().zip(exponents) {
        // Powers are relative to the option that gains most, so nothing overflows.
        let powers: Vec<u32> =
            exponents.iter().map(|exponent| (exponent * 4.0).round().clamp(0.0, 32.0) as u32).collect();
        let top = if factor >= 1.0 { powers.iter().max() } else { powers.iter().min() };
        let top = top.copied().unwrap_or(0);
        for (probability, &power) in law.iter_mut().zip(&powers) {
            let change = if factor >= 1.0 {
                super::model::power(1.0 / quarter, top - power)
            } else {
                super::model::power(quarter, power - top)
            };
            *probability = (*probability * change).max(1e-9);
        }
        normalise(law);
    }
    laws
}
