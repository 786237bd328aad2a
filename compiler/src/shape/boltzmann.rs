//! Boltzmann models: the probability of a derivation is proportional to its prior, and to x for every instance of a
//! recursive rule in it.
//!
//! Duchon, Flajolet, Louchard and Schaeffer, *Boltzmann Samplers for the Random Generation of Combinatorial Structures*
//! (2004). The values of the generating functions are the least fixpoint of the grammar's system. They are found
//! component by component, by iteration from below. At x = 1 the model is that of the grammar's own derivations under
//! the condition that they end.

use crate::ir::RuleId;

use super::model::{Kind, Laws, Model, Term, power};
use super::weights::last_rounds;

/// Values beyond this one count as infinite: x is beyond the radius of convergence.
const DIVERGED: f64 = 1e9;
/// The most terms that are evaluated for a component.
const WORK: usize = 6_000_000;

/// Returns the values of the generating functions of all rules at `x`. `None` if they do not converge.
pub(crate) fn values(model: &Model, priors: &Laws, x: f64) -> Option<Vec<f64>> {
    let mut values = vec![0.0; model.rules.len()];
    let mut stack = Vec::new();
    let repeated = |decision: usize, min: u32, one: f64| rounds(model, priors, (decision, min), one);
    for component in model.components() {
        let factor = if model.recursion.is_recursive(component[0]) { x } else { 1.0 };
        let size: usize = component.iter().map(|rule| model.tape.size(rule.index()).max(1)).sum();
        let sweeps = if model.recursion.is_recursive(component[0]) { (WORK / size).clamp(50, 20_000) } else { 1 };
        for _ in 0..sweeps {
            model.work(size);
            let mut change = 0.0f64;
            for rule in component {
                if model.rules[rule.index()].is_none() {
                    continue;
                }
                let known = (priors, &values[..]);
                let next = factor * model.tape.value(rule.index(), known, repeated, power, &mut stack);
                change = change.max((next - values[rule.index()]) / next.max(f64::MIN_POSITIVE));
                values[rule.index()] = next;
            }
            let is_value = |rule: &RuleId| values[rule.index()].is_finite() && values[rule.index()] <= DIVERGED;
            if !component.iter().all(is_value) {
                return None;
            }
            if change <= 1e-13 || model.is_exhausted() {
                break;
            }
        }
    }
    Some(values)
}

/// Returns the probabilities of the model at `x`. `None` if there are none. Rules that are not recursive keep their
/// probabilities: these do not affect whether derivations end. And if one alternative leads to recursion and another
/// does not, the model would leave almost nothing of the former.
pub(crate) fn laws(model: &Model, priors: &Laws, x: f64) -> Option<Laws> {
    let values = values(model, priors, x)?;
    let mut laws = priors.clone();
    for (_, term) in model.rules.iter().enumerate().filter(|(rule, _)| model.is_recursive(*rule)) {
        if let Some(term) = term {
            tilt(model, priors, &values, term, &mut laws);
        }
    }
    Some(laws)
}

fn tilt(model: &Model, priors: &Laws, values: &[f64], term: &Term, laws: &mut Laws) {
    match term {
        Term::Bytes(_) | Term::Rule(_) => {}
        Term::Seq(items) => items.iter().for_each(|item| tilt(model, priors, values, item, laws)),
        Term::Choice(decision, options) => {
            let shares: Vec<f64> = options.iter().map(|option| value(model, priors, values, option)).collect();
            set(&mut laws[*decision], &priors[*decision], &shares);
            options.iter().for_each(|option| tilt(model, priors, values, option, laws));
        }
        Term::Rounds(decision, item, _) => {
            let one = value(model, priors, values, item);
            set(&mut laws[*decision], &priors[*decision], &ranges(model, *decision, one).collect::<Vec<f64>>());
            tilt(model, priors, values, item, laws);
        }
        Term::Times(item, _) => tilt(model, priors, values, item, laws),
    }
}

/// Sets the probabilities to the priors times `shares`, unless all of them would be 0.
fn set(law: &mut [f64], prior: &[f64], shares: &[f64]) {
    let sum: f64 = prior.iter().zip(shares).map(|(prior, share)| prior * share).sum();
    if sum > 1e-290 && sum.is_finite() {
        for ((law, prior), share) in law.iter_mut().zip(prior).zip(shares) {
            *law = prior * share / sum;
        }
    }
}

/// Returns the value of a term's generating function.
fn value(model: &Model, priors: &Laws, values: &[f64], term: &Term) -> f64 {
    match term {
        Term::Bytes(_) => 1.0,
        Term::Rule(rule) => values[*rule],
        Term::Seq(items) => items.iter().map(|item| value(model, priors, values, item)).product(),
        Term::Choice(decision, options) => {
            let options = options.iter().zip(&priors[*decision]);
            options.map(|(option, prior)| prior * value(model, priors, values, option)).sum()
        }
        Term::Rounds(decision, item, min) => {
            rounds(model, priors, (*decision, *min), value(model, priors, values, item))
        }
        Term::Times(item, times) => power(value(model, priors, values, item), *times),
    }
}

/// Returns the value of a repetition from the value `one` of a round.
fn rounds(model: &Model, priors: &Laws, (decision, min): (usize, u32), one: f64) -> f64 {
    let mut sum = 0.0;
    for (prior, range) in priors[decision].iter().zip(ranges(model, decision, one)) {
        sum += prior * range;
    }
    power(one, min) * sum
}

/// Returns the generating function of each range of rounds, at the value `one` of a round.
fn ranges(model: &Model, decision: usize, one: f64) -> impl Iterator<Item = f64> + '_ {
    let (starts, room) = match &model.decisions[decision].kind {
        Kind::Rounds { starts, room, .. } => (&starts[..], *room),
        Kind::Choice { .. } => (&[][..], None),
    };
    let half = one / 2.0;
    let range = move |(start, last): (u32, Option<u32>)| {
        // Further rounds in the range: each goes on or stops with equal probability, except after the last.
        let further = match last.map(|last| last - start) {
            Some(0) => 1.0,
            Some(most) if (half - 1.0).abs() < 1e-9 => f64::from(most) / 2.0 + 1.0,
            Some(most) => {
                let behind = power(half, most);
                (1.0 - behind) / (1.0 - half) / 2.0 + behind
            }
            None if half < 1.0 => 0.5 / (1.0 - half),
            None => f64::INFINITY,
        };
        power(one, start) * further
    };
    last_rounds(starts, room).map(range)
}
