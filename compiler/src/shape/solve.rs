//! The probabilities of each shape.
//!
//! Uses only additions, multiplications, divisions and square roots, which IEEE 754 defines to the last bit. So the
//! result is the same on every platform.

use crate::ir::RuleId;

use super::boltzmann;
use super::growth::Growth;
use super::levers::{self, recursive_instances};
use super::model::{Kind, Laws, Model, Term};

/// The measure of an input's length.
pub(crate) struct Measure {
    /// The depth limit, with the mean length of each rule's pool strings.
    pub depth: Option<(u32, Vec<f64>)>,
}

impl Measure {
    /// Returns the expected length of an input.
    pub fn length(&self, model: &Model, laws: &Laws) -> f64 {
        let growth = Growth::new(model, laws);
        match &self.depth {
            Some((depth, pools)) => growth.length_within(*depth, pools),
            None => growth.length(),
        }
    }
}

/// The result of a search.
pub(crate) struct Solution {
    pub laws: Laws,
    /// The range of reachable mean lengths, if the target is not in it.
    pub reachable: Option<(f64, f64)>,
}

/// The range in which x is searched.
pub(super) const X: (f64, f64) = (1.0 / (1u64 << 40) as f64, (1u64 << 40) as f64);
/// The most steps of a bisection.
const STEPS: usize = 50;
/// A mean that differs from the target by less than this share counts as equal.
const NEAR: f64 = 1e-3;

/// Returns balanced probabilities: the Boltzmann model of the grammar, with mean lengths of some hundred to some
/// thousand bytes.
pub(crate) fn balanced(model: &Model) -> Laws {
    balanced_near(model, (8 * model.alternatives).clamp(128, 4096) as f64)
}

/// Returns balanced probabilities, with a mean length near this one if there is one.
fn balanced_near(model: &Model, wanted: f64) -> Laws {
    let priors = by_content(model);
    if !model.has_recursion() {
        return priors;
    }
    // Each alternative keeps a share of its even probability, if derivations still end.
    let shares = [1.0 / 16.0, 1.0 / 256.0, 0.0];
    shares.into_iter().find_map(|least| balanced_above(model, &priors, least, wanted)).unwrap_or(priors)
}

/// The range of spectral radii of a balanced grammar.
const BALANCED_RADII: (f64, f64) = (0.5, 1.0 - 1.0 / 64.0);

fn balanced_above(model: &Model, priors: &Laws, least: f64, wanted: f64) -> Option<Laws> {
    let laws = |x: f64| boltzmann::laws(model, priors, x).map(|laws| raised(model, laws, least));
    let radius = |laws: &Laws| Growth::new(model, laws).radius();
    let (_, lowest) = bracket(model, &mut |x| laws(x).map(|laws| (radius(&laws), laws)), BALANCED_RADII.0)?;
    if radius(&lowest) > BALANCED_RADII.1 {
        return None;
    }
    let value = |x: f64| {
        let laws = laws(x)?;
        let radius = radius(&laws);
        if radius > BALANCED_RADII.1 {
            return None;
        }
        // Radii below the least one count as too short.
        let length = if radius < BALANCED_RADII.0 { 0.0 } else { Growth::new(model, &laws).length() };
        Some((length, laws))
    };
    let found = bracket(model, &mut { value }, wanted);
    Some(found.map_or(lowest, |(_, laws)| laws))
}

/// Returns deep probabilities: prefers alternatives with one recursive instance, up to a spectral radius just below 1.
/// So chains of recursion are long and seldom branch.
pub(crate) fn deep(model: &Model) -> Laws {
    /// The spectral radius. At each level, a share of 1 - radius of the chains ends.
    const RADIUS: f64 = 1.0 - 1.0 / 128.0;
    let counts = recursive_instances(model);
    let preferring = |factor: f64| {
        let mut laws = model.priors();
        for (law, counts) in laws.iter_mut().zip(&counts) {
            for (probability, &count) in law.iter_mut().zip(counts) {
                // Each further instance makes the alternative much less probable.
                let branches = (count - 1.0).clamp(0.0, 8.0).round() as u32;
                if count > 0.0 {
                    *probability *= factor * super::model::power(1.0 / 16.0, branches);
                }
            }
            normalise(law);
        }
        raised(model, laws, 1.0 / 64.0)
    };
    if !model.has_recursion() {
        return model.priors();
    }
    let radius = |laws: &Laws| Growth::new(model, laws).radius();
    let priors = preferring(8.0);
    let priors = if radius(&priors) < RADIUS {
        let value = |factor: f64| {
            let laws = preferring(factor);
            Some((radius(&laws), laws))
        };
        bracket(model, &mut { value }, RADIUS).map_or(priors, |(_, laws)| laws)
    } else {
        priors
    };
    if radius(&priors) <= RADIUS + 1e-3 {
        return priors;
    }
    let value = |x: f64| boltzmann::laws(model, &priors, x).map(|laws| (radius(&laws), laws));
    bracket(model, &mut { value }, RADIUS).map_or(priors, |(_, laws)| laws)
}

/// Returns probabilities with this mean length, the target size. First tries Boltzmann models, then the range between
/// the critical model and the grammar's own probabilities, then factors that more and more favour recursion, rounds and
/// long alternatives.
pub(crate) fn target(model: &mut Model, measure: &Measure, bytes: f64) -> Solution {
    let solved = |laws| Solution { laws, reachable: None };
    let mut search = Search::new(bytes);
    // If a start rule can derive nothing, some inputs are empty, and the others would have to be endless.
    let priors = if model.has_recursion() { by_content(model) } else { model.priors() };
    let own = measure.length(model, &priors);
    if search.is_found(own, &priors) {
        return solved(priors);
    }
    let mut base = priors.clone();
    if model.has_recursion() {
        let value = |x: f64| boltzmann::laws(model, &priors, x).map(|laws| (measure.length(model, &laws), laws));
        if let Some((length, laws)) = bracket(model, &mut { value }, bytes) {
            if search.is_found(length, &laws) {
                return solved(laws);
            }
            if length < own {
                // Between the last model and the grammar's own probabilities.
                let value = |share: f64| {
                    let mixed = mix(&laws, &priors, share);
                    Some((measure.length(model, &mixed), mixed))
                };
                if let Some((length, laws)) = bisect(model, &mut { value }, bytes, (X.0, 1.0))
                    && search.is_found(length, &laws)
                {
                    return solved(laws);
                }
            } else if length < bytes {
                base = laws;
            }
        }
    }
    levers::pull(model, measure, search, base)
}

/// Returns probabilities with this mean length near those of the balanced shape. For grammars on which [`target`] makes
/// nearly all inputs the shortest one, and the few others endless up to the limit on the depth.
pub(crate) fn balanced_target(model: &mut Model, measure: &Measure, bytes: f64) -> Solution {
    let base = balanced_near(model, bytes);
    let mut search = Search::new(bytes);
    if search.is_found(measure.length(model, &base), &base) {
        return Solution { laws: base, reachable: None };
    }
    levers::pull(model, measure, search, base)
}

/// A search for probabilities with a mean length.
pub(super) struct Search {
    pub bytes: f64,
    /// The least and the greatest length so far.
    pub range: (f64, f64),
    /// The probabilities that were nearest so far.
    pub best: Option<(f64, Laws)>,
}

impl Search {
    fn new(bytes: f64) -> Search {
        Search { bytes, range: (f64::INFINITY, 0.0), best: None }
    }

    /// Remembers probabilities and their length.
    pub fn see(&mut self, length: f64, laws: &Laws) {
        if length.is_finite() {
            self.range = (self.range.0.min(length), self.range.1.max(length));
            if self.best.as_ref().is_none_or(|(old, _)| (length - self.bytes).abs() < (old - self.bytes).abs()) {
                self.best = Some((length, laws.clone()));
            }
        }
    }

    /// Returns true if a length is at most this many times [`NEAR`] from the wanted one.
    pub fn is_near(&self, length: f64, times: f64) -> bool {
        (length - self.bytes).abs() <= times * NEAR * self.bytes
    }

    fn is_found(&mut self, length: f64, laws: &Laws) -> bool {
        self.see(length, laws);
        self.is_near(length, 1.0)
    }
}

/// Returns the grammar's own probabilities. In rules that are not recursive, alternatives that lead to many rules get
/// more.
fn by_content(model: &Model) -> Laws {
    /// The greatest size of the table in bits.
    const MOST: usize = 1 << 26;
    let components: Vec<&[RuleId]> = model.components().collect();
    let mut laws = model.priors();
    let words = components.len().div_ceil(64);
    if words * 64 * components.len() > MOST {
        return laws;
    }
    // The components that can be reached from each component.
    let mut reached = vec![vec![0u64; words]; components.len()];
    for (number, component) in components.iter().enumerate() {
        let mut bits = vec![0u64; words];
        bits[number / 64] |= 1 << (number % 64);
        for rule in *component {
            each_rule(&model.rules[rule.index()], &mut |target| {
                let target = model.recursion.component(RuleId::new(target)) as usize;
                if target != number {
                    bits.iter_mut().zip(&reached[target]).for_each(|(bits, more)| *bits |= more);
                }
            });
        }
        reached[number] = bits;
    }
    let content = |term: &Term| {
        let mut bits = vec![0u64; words];
        each_rule_of(term, &mut |target| {
            // A rule that is only read is in no component.
            let target = model.recursion.component(RuleId::new(target)) as usize;
            let more = reached.get(target).into_iter().flatten();
            bits.iter_mut().zip(more).for_each(|(bits, more)| *bits |= more);
        });
        let found = components.iter().enumerate().filter(|(number, _)| bits[number / 64] >> (number % 64) & 1 == 1);
        let rules: usize = found.map(|(_, component)| component.len()).sum();
        (1.0 + rules as f64).sqrt()
    };
    for (_, term) in model.rules.iter().enumerate().filter(|(rule, _)| !model.is_recursive(*rule)) {
        each_decision(term, &mut |decision, options| {
            let law = &mut laws[decision];
            match options {
                [round] if matches!(model.decisions[decision].kind, Kind::Rounds { .. }) => {
                    let content = content(round);
                    law.iter_mut().skip(1).for_each(|probability| *probability *= content);
                }
                _ => law.iter_mut().zip(options).for_each(|(probability, option)| *probability *= content(option)),
            }
            normalise(law);
        });
    }
    laws
}

fn each_rule(term: &Option<Term>, visit: &mut impl FnMut(usize)) {
    if let Some(term) = term {
        each_rule_of(term, visit);
    }
}

fn each_rule_of(term: &Term, visit: &mut impl FnMut(usize)) {
    match term {
        Term::Bytes(_) => {}
        Term::Rule(rule) => visit(*rule),
        Term::Seq(items) | Term::Choice(_, items) => items.iter().for_each(|item| each_rule_of(item, visit)),
        Term::Rounds(_, item, _) | Term::Times(item, _) => each_rule_of(item, visit),
    }
}

/// Calls `visit` with each choice and its options.
pub(super) fn each_choice<'t>(term: &'t Option<Term>, visit: &mut impl FnMut(usize, &'t [Term])) {
    each_decision(term, &mut |decision, options| {
        if options.len() != 1 {
            visit(decision, options);
        }
    });
}

/// Calls `visit` with each choice and its options, and with each repetition and its item.
fn each_decision<'t>(term: &'t Option<Term>, visit: &mut impl FnMut(usize, &'t [Term])) {
    fn walk<'t>(term: &'t Term, visit: &mut impl FnMut(usize, &'t [Term])) {
        match term {
            Term::Bytes(_) | Term::Rule(_) => {}
            Term::Seq(items) => items.iter().for_each(|item| walk(item, visit)),
            Term::Choice(decision, options) => {
                visit(*decision, options);
                options.iter().for_each(|option| walk(option, visit));
            }
            Term::Rounds(decision, item, _) => {
                visit(*decision, std::slice::from_ref(item));
                walk(item, visit);
            }
            Term::Times(item, _) => walk(item, visit),
        }
    }
    if let Some(term) = term {
        walk(term, visit);
    }
}

fn mix(from: &Laws, to: &Laws, share: f64) -> Laws {
    let mixed = |(from, to): (&Vec<f64>, &Vec<f64>)| {
        from.iter().zip(to).map(|(from, to)| (1.0 - share) * from + share * to).collect()
    };
    from.iter().zip(to).map(mixed).collect()
}

/// Raises each alternative to at least `least` times its even share.
fn raised(model: &Model, mut laws: Laws, least: f64) -> Laws {
    for (law, decision) in laws.iter_mut().zip(&model.decisions) {
        if matches!(decision.kind, Kind::Choice { .. }) {
            let floor = least / law.len() as f64;
            law.iter_mut().for_each(|probability| *probability = probability.max(floor));
            normalise(law);
        }
    }
    laws
}

pub(super) fn normalise(law: &mut [f64]) {
    let sum: f64 = law.iter().sum();
    law.iter_mut().for_each(|probability| *probability /= sum);
}

type Value<'v> = dyn FnMut(f64) -> Option<(f64, Laws)> + 'v;

/// Finds the point of [`X`] where an increasing function takes the value `wanted`, searching outwards from 1. Where the
/// function has no value, it counts as too great. The result is the last point below the value, or one near it.
pub(super) fn bracket(model: &Model, value: &mut Value<'_>, wanted: f64) -> Option<(f64, Laws)> {
    let is_below = |found: &Option<(f64, Laws)>| found.as_ref().is_some_and(|&(value, _)| value < wanted);
    let (mut low, mut high): (f64, f64) = (1.0, 1.0);
    let first = value(1.0);
    if is_below(&first) {
        let mut best = first;
        let mut step: f64 = 2.0;
        loop {
            high = (low * step).min(X.1);
            let found = value(high);
            if !is_below(&found) {
                break;
            }
            best = found;
            if high >= X.1 || model.is_exhausted() {
                return best;
            }
            (low, step) = (high, step * step);
        }
        return bisect(model, value, wanted, (low, high)).or(best);
    }
    let mut step: f64 = 2.0;
    loop {
        low = (high / step).max(X.0);
        let found = value(low);
        if is_below(&found) {
            break;
        }
        if low <= X.0 || model.is_exhausted() {
            return found;
        }
        (high, step) = (low, step * step);
    }
    bisect(model, value, wanted, (low, high))
}

/// Bisects between two positive points. The function is below the value at the first.
fn bisect(model: &Model, value: &mut Value<'_>, wanted: f64, (mut low, mut high): (f64, f64)) -> Option<(f64, Laws)> {
    let mut best: Option<(f64, Laws)> = None;
    let mut stale = 0;
    for _ in 0..STEPS {
        let middle = (low * high).sqrt();
        // Results that no longer change mean that there is a gap.
        if !(low < middle && middle < high) || stale >= 12 || model.is_exhausted() {
            break;
        }
        let found = value(middle);
        match &found {
            Some((length, _)) if *length <= wanted => low = middle,
            _ => high = middle,
        }
        stale += 1;
        if let Some((length, laws)) = found
            && length.is_finite()
            && best.as_ref().is_none_or(|(old, _)| (length - wanted).abs() < (old - wanted).abs())
        {
            if best.as_ref().is_none_or(|(old, _)| (length - wanted).abs() < 0.99 * (old - wanted).abs()) {
                stale = 0;
            }
            let is_near = (length - wanted).abs() <= NEAR / 10.0 * wanted;
            best = Some((length, laws));
            if is_near {
                break;
            }
        }
    }
    best
}
