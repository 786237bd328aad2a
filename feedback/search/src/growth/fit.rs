//! Fits each model to measurements and ranks the models by Akaike's criterion.

use std::fmt;
use std::sync::Arc;

use super::model::{Data, Lead, MODELS, Model, Solution};
use super::student;

/// Differences of less than this share of the cost decide nothing between models, however exactly they repeat.
const NOISE: f64 = 1e-4;

const CONFIDENCE: f64 = 0.95;

/// The probability with which a cost beyond those of a fit lies in its interval.
const CERTAIN: f64 = 0.99;

/// Costs may leave a law by this share, as where a table grows. At twice the size it is that of an exponent that is
/// wrong by 0.07.
pub(super) const UNEVEN: f64 = 0.05;

/// An interval that goes further than this factor to a side cannot tell laws apart whose exponents differ by a half.
const VAGUE: f64 = 1.4;

/// An estimate with its confidence interval of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The most likely value.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// Laws by which a cost grows with the size n, terms of lower order left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// The cost does not grow.
    Constant,
    /// The cost grows as log n.
    Logarithmic,
    /// The cost grows as n log n.
    Linearithmic,
    /// The cost grows as a power of n.
    Polynomial {
        /// The power's exponent.
        exponent: Estimate,
    },
    /// The cost grows as a power with the exponent n.
    Exponential {
        /// The power's base.
        base: Estimate,
    },
}

/// A model that was fitted to measurements.
#[derive(Clone)]
pub struct Fit {
    /// The growth of the model's leading term.
    pub law: Law,
    /// Share of the variance of the costs' logarithms that the model explains, from 0 to 1.
    pub r_squared: f64,
    /// Akaike's criterion corrected for few points; the model with the smallest is the best supported. Only differences
    /// between fits to the same measurements have a meaning.
    pub aicc: f64,
    model: Model,
    rate: f64,
    freedom: usize,
    solution: Solution,
    data: Arc<Data>,
}

impl Fit {
    /// Returns the cost that the model gives for a size, within the measured sizes or beyond them.
    pub fn predict(&self, size: f64) -> f64 {
        self.data.predict(self.model, self.rate, &self.solution.coefficients, size)
    }

    /// Returns the interval in which the cost of a size lies under the model, with a probability of 99 %: by the
    /// scatter of the costs, the uncertainty of the coefficients, and 5 % for uneven costs. `None` if it is wider than
    /// a factor of 1.4 to a side, so that nearly any cost would lie in it.
    pub fn interval(&self, size: f64) -> Option<(f64, f64)> {
        let has_rate = has_rate(self.model.lead);
        let leverage = self.data.leverage(self.model, (self.rate, has_rate), &self.solution, size)?;
        let noise = variance(self.solution.squares, self.data.points(), self.freedom);
        let reach = student::two_sided_quantile(CERTAIN, self.freedom) * (noise * (1.0 + leverage)).sqrt() + UNEVEN;
        let value = self.predict(size);
        (reach <= VAGUE.ln() && value.is_finite()).then(|| (value * (-reach).exp(), value * reach.exp()))
    }

    /// Returns true if it is linear growth with a kink.
    pub(super) fn is_kinked(&self) -> bool {
        self.model.lead == Lead::Kinked
    }
}

impl fmt::Debug for Fit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Fit");
        shown
            .field("law", &self.law)
            .field("lower", &self.model.lower)
            .field("coefficients", &self.solution.coefficients);
        shown.field("aicc", &self.aicc).field("r_squared", &self.r_squared).finish()
    }
}

impl fmt::Display for Law {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => formatter.write_str("constant"),
            Self::Logarithmic => formatter.write_str("log n"),
            Self::Linearithmic => formatter.write_str("n log n"),
            // Rounded to a tenth it may lie beside its interval.
            Self::Polynomial { exponent } if !exponent.holds((10.0 * exponent.value).round() / 10.0) => {
                write!(formatter, "n^{:.2} {exponent}", exponent.value)
            }
            Self::Polynomial { exponent } => write!(formatter, "n^{:.1} {exponent}", exponent.value),
            Self::Exponential { base } if base.value < 1.5 => {
                write!(formatter, "{:.3}^n (95 %: {:.3} to {:.3})", base.value, base.low, base.high)
            }
            Self::Exponential { base } => write!(formatter, "{:.1}^n {base}", base.value),
        }
    }
}

impl Estimate {
    /// Returns true if an exponent can be 1, and is near it.
    fn is_linear(&self) -> bool {
        self.holds(1.0) && (self.value - 1.0).abs() <= 0.1
    }

    /// Returns another estimate of the same with an interval that holds both.
    pub(super) fn with(&self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high), ..other }
    }

    /// Returns true if a value lies within the interval, as far as it is shown.
    fn holds(&self, value: f64) -> bool {
        (self.low - 0.005..=self.high + 0.005).contains(&value)
    }
}

/// The interval alone.
impl fmt::Display for Estimate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "(95 %: {:.2} to {:.2})", self.low, self.high)
    }
}

/// Fits all models to the points, and returns the best fit of each law, the best supported law first. Models with more
/// parameters than an exact fit has are not tried.
pub(super) fn fit_all(points: &[(f64, f64)]) -> Vec<Fit> {
    let data = Arc::new(Data::new(points));
    let mut candidates: Vec<Candidate> = Vec::new();
    for model in MODELS {
        let best = candidates.iter().map(|candidate| candidate.aicc).fold(f64::INFINITY, f64::min);
        if criterion(0.0, parameters(model), data.points()) < best {
            candidates.extend(candidate(&data, model));
        }
    }
    // The sort is stable: of equals, the model with fewer parameters.
    candidates.sort_by(|left, right| left.aicc.total_cmp(&right.aicc));
    let leads = [Lead::None, Lead::Logarithm, Lead::Linearithmic, Lead::Kinked, Lead::Power, Lead::Exponential];
    let mut fits: Vec<Fit> = leads.into_iter().filter_map(|lead| fit(&data, &candidates, lead)).collect();
    fits.sort_by(|left, right| left.aicc.total_cmp(&right.aicc));
    prefer_linear(&mut fits);
    fits
}

/// Prefers n to n log n, which is reported only if it is distinctly better: a cost with steps, such as that of tables
/// that double, also fits n log n.
fn prefer_linear(fits: &mut [Fit]) {
    let [first, ..] = fits else { return };
    let most = first.aicc + super::SUBSTANTIAL;
    let is_linear =
        |fit: &Fit| matches!(fit.law, Law::Polynomial { exponent } if exponent.is_linear()) && fit.aicc <= most;
    if first.law == Law::Linearithmic
        && let Some(place) = fits.iter().position(is_linear)
    {
        fits[..=place].rotate_right(1);
    }
}

/// A model with the rate and the coefficients that suit the data best.
struct Candidate {
    model: Model,
    rate: f64,
    /// Variance of the rate's estimate.
    variance: f64,
    freedom: usize,
    solution: Solution,
    aicc: f64,
}

fn candidate(data: &Data, model: Model) -> Option<Candidate> {
    let (points, parameters) = (data.points(), parameters(model));
    // Two points more than parameters: one could be met by chance.
    let freedom = points.checked_sub(parameters).filter(|freedom| *freedom >= 2)?;
    if model.lead == Lead::None && data.always_rises(NOISE) {
        return None;
    }
    let (rate, solution) = best_rate(data, model)?;
    let aicc = criterion(solution.squares, parameters, points);
    let noise = variance(solution.squares, points, freedom);
    let is_exponent = matches!(model.lead, Lead::Power | Lead::Falling | Lead::Exponential);
    let variance = if is_exponent { noise / data.information(model, rate, &solution)? } else { 0.0 };
    variance.is_finite().then_some(Candidate { model, rate, variance, freedom, solution, aicc })
}

/// Returns the variance of single costs about a model. That of [`NOISE`] is part of it.
fn variance(squares: f64, points: usize, freedom: usize) -> f64 {
    (squares + points as f64 * NOISE * NOISE) / freedom as f64
}

/// Returns the fit of the best model with the leading term, from candidates that stand in the order of support.
fn fit(data: &Arc<Data>, candidates: &[Candidate], lead: Lead) -> Option<Fit> {
    let alike: Vec<&Candidate> = candidates.iter().filter(|candidate| is_alike(candidate.model.lead, lead)).collect();
    let best = *alike.first()?;
    let total = data.total_squares();
    let unexplained = if total > data.points() as f64 * NOISE * NOISE { best.solution.squares / total } else { 0.0 };
    Some(Fit {
        law: law(lead, &alike)?,
        r_squared: (1.0 - unexplained).max(0.0),
        aicc: best.aicc,
        model: best.model,
        rate: best.rate,
        freedom: best.freedom,
        solution: best.solution.clone(),
        data: Arc::clone(data),
    })
}

fn law(lead: Lead, alike: &[&Candidate]) -> Option<Law> {
    Some(match lead {
        Lead::None => Law::Constant,
        Lead::Logarithm => Law::Logarithmic,
        Lead::Linearithmic => Law::Linearithmic,
        Lead::Kinked => Law::Polynomial { exponent: Estimate { value: 1.0, low: 1.0, high: 1.0 } },
        Lead::Power | Lead::Falling => Law::Polynomial { exponent: averaged(alike)? },
        Lead::Exponential => {
            let Estimate { value, low, high } = averaged(alike)?;
            let base = Estimate { value: value.exp(), low: low.exp(), high: high.exp() };
            base.high.is_finite().then_some(Law::Exponential { base })?
        }
    })
}

/// Returns the rate averaged over models that differ in their lower terms, by their Akaike weights. The interval holds
/// the uncertainty of the choice among them too (Burnham & Anderson, equation 4.9).
fn averaged(alike: &[&Candidate]) -> Option<Estimate> {
    let best = alike.first()?;
    let weights: Vec<f64> = alike.iter().map(|candidate| ((best.aicc - candidate.aicc) / 2.0).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let mean = |of: &dyn Fn(&Candidate) -> f64| {
        weights.iter().zip(alike).map(|(weight, candidate)| weight * of(candidate)).sum::<f64>() / sum
    };
    let value = mean(&|candidate| candidate.rate);
    let error = mean(&|candidate| (candidate.variance + (candidate.rate - value).powi(2)).sqrt());
    let reach = student::two_sided_quantile(CONFIDENCE, best.freedom) * error;
    reach.is_finite().then_some(Estimate { value, low: value - reach, high: value + reach })
}

fn has_rate(lead: Lead) -> bool {
    matches!(lead, Lead::Power | Lead::Falling | Lead::Kinked | Lead::Exponential)
}

/// Returns true if two leading terms come to the same law.
fn is_alike(one: Lead, other: Lead) -> bool {
    let law = |lead| if lead == Lead::Falling { Lead::Power } else { lead };
    law(one) == law(other)
}

fn parameters(model: Model) -> usize {
    model.lower.len()
        + match model.lead {
            Lead::None => 0,
            Lead::Logarithm | Lead::Linearithmic => 1,
            Lead::Power | Lead::Falling | Lead::Kinked | Lead::Exponential => 2,
        }
}

/// Returns the AICc of Burnham & Anderson, "Model Selection and Multimodel Inference" (2nd edition, 2002), section 2.4,
/// with the variance of the noise added to that of the residuals: deterministic costs can leave no residuals at all.
/// Where the correction has no value its denominator stays 1: five points may then show a start-up cost, if the gain is
/// great.
fn criterion(squares: f64, parameters: usize, points: usize) -> f64 {
    let (estimated, points) = ((parameters + 1) as f64, points as f64);
    let correction = 2.0 * estimated * (estimated + 1.0) / (points - estimated - 1.0).max(1.0);
    points * (squares / points + NOISE * NOISE).ln() + 2.0 * estimated + correction
}

/// Returns the rate with the least squares among those that make sense: the best places of a grid, each followed by a
/// descent between its neighbours.
fn best_rate(data: &Data, model: Model) -> Option<(f64, Solution)> {
    let rates = data.rates(model.lead);
    let squares = |rate: &f64| data.solve(model, *rate, 0).map_or(f64::INFINITY, |found| found.squares);
    let found: Vec<f64> = rates.iter().map(squares).collect();
    let at = |place: usize| found.get(place).copied().unwrap_or(f64::INFINITY);
    let is_lowest = |&place: &usize| at(place) <= at(place + 1) && (place == 0 || at(place) < at(place - 1));
    let mut places: Vec<usize> = (0..rates.len()).filter(is_lowest).collect();
    places.sort_by(|&left, &right| at(left).total_cmp(&at(right)));
    let refined = places.into_iter().take(MINIMA).filter_map(|place| {
        if rates.len() == 1 {
            return Some((rates[0], data.solve(model, rates[0], STEPS)?));
        }
        let near = |place: Option<usize>| place.and_then(|place| rates.get(place)).copied();
        let (low, high) = (near(place.checked_sub(1)), near(Some(place + 1)));
        let (low, high) = match model.lead {
            // A kink can lie anywhere.
            Lead::Kinked => (low.unwrap_or(rates[place]), high.unwrap_or(rates[place])),
            // The least squares at an end of the range are no minimum: the model does not suit.
            _ => (low?, high?),
        };
        descent(data, model, rates[place], low, high)
    });
    let sensible = refined.filter(|(rate, found)| data.is_plausible(model, *rate, &found.coefficients));
    sensible.min_by(|left, right| left.1.squares.total_cmp(&right.1.squares))
}

/// The most minima of the grid that are followed.
const MINIMA: usize = 2;

/// Steps of the search for coefficients; a few nearly always suffice.
const STEPS: usize = 8;

/// Follows the squares down from `rate`, between `low` and `high`. The coefficients are solved for at each rate
/// (variable projection; Golub & Pereyra 1973).
fn descent(data: &Data, model: Model, mut rate: f64, low: f64, high: f64) -> Option<(f64, Solution)> {
    let mut solution = data.solve(model, rate, STEPS)?;
    for _ in 0..DESCENT {
        let Some(step) = data.rate_step(model, rate, &solution) else { break };
        let better = [1.0, 0.3, 0.05].into_iter().find_map(|part| {
            let next = (rate + part * step).clamp(low, high);
            let found = data.solve(model, next, STEPS)?;
            (found.squares < solution.squares).then_some((next, found))
        });
        let Some((next, found)) = better else { break };
        let gain = 1.0 - found.squares / solution.squares;
        (rate, solution) = (next, found);
        if gain < 1e-6 {
            break;
        }
    }
    Some((rate, solution))
}

/// The most steps of a descent. It ends far sooner where the model suits.
const DESCENT: usize = 20;
