//! The models of cost: a leading term, with the terms of lower order that may stand beside it.

use super::least_squares;

/// The term of a model that grows fastest. Its *rate* is the exponent of a power, or the natural logarithm of the base
/// of an exponential; the others have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lead {
    None,
    Logarithm,
    Linearithmic,
    Power,
    /// The number of ways to choose some of n one after another, as many as the rate says: n (n - 1) for pairs. It
    /// comes to a power.
    Falling,
    Exponential,
    /// Linear growth whose slope rises at a size, which is the rate: what a program does more from that size on.
    Kinked,
}

/// A term of lower order. None is negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lower {
    /// The start-up cost.
    Constant,
    Linear,
    /// Beside powers whose exponent is clearly greater than 2.
    Square,
}

/// A model without its coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Model {
    pub(super) lead: Lead,
    pub(super) lower: &'static [Lower],
}

/// The models that are compared, those with few parameters first.
///
/// Terms of lower order are what makes the slope of a log-log regression wrong: that of 5000 + 30 n + 2 n^2, measured
/// at the powers of two from 8 to 512, is 1.13. So powers come with every choice of such terms. A fit with a negative
/// coefficient is no fit, and its terms are a model of their own without the one that is negative: together this is
/// non-negative least squares. Negative terms follow a kink in the cost, and come with an exponent that is too great.
///
/// Linear growth with a kink is a rival of every law that is faster: near the kink it looks like one.
pub(super) const MODELS: [Model; 23] = {
    use Lower::{Constant, Linear, Square};
    const fn model(lead: Lead, lower: &'static [Lower]) -> Model {
        Model { lead, lower }
    }
    [
        model(Lead::None, &[Constant]),
        model(Lead::Logarithm, &[Constant]),
        model(Lead::Linearithmic, &[Linear]),
        model(Lead::Linearithmic, &[Constant]),
        model(Lead::Power, &[]),
        model(Lead::Falling, &[]),
        model(Lead::Exponential, &[]),
        model(Lead::Linearithmic, &[Constant, Linear]),
        model(Lead::Power, &[Constant]),
        model(Lead::Falling, &[Constant]),
        model(Lead::Power, &[Linear]),
        model(Lead::Falling, &[Linear]),
        model(Lead::Power, &[Square]),
        model(Lead::Exponential, &[Constant]),
        model(Lead::Exponential, &[Linear]),
        model(Lead::Kinked, &[Linear]),
        model(Lead::Power, &[Constant, Linear]),
        model(Lead::Falling, &[Constant, Linear]),
        model(Lead::Kinked, &[Constant, Linear]),
        model(Lead::Power, &[Constant, Square]),
        model(Lead::Power, &[Linear, Square]),
        model(Lead::Exponential, &[Constant, Linear]),
        model(Lead::Power, &[Constant, Linear, Square]),
    ]
};

/// The least share that the leading term must have in the cost beyond the start-up cost, at the largest size. A smaller
/// term is no evidence of its own: it follows the deviations of the last point.
const LEAST_SHARE: f64 = 0.25;

/// The least exponent beside a square. Closer powers are nearly the same term twice: their difference follows noise.
const LEAST_BESIDE_SQUARE: f64 = 2.5;

/// The least logarithm of the factor by which an exponential grows over all sizes. Below, it looks like a polynomial.
const LEAST_RISE: f64 = 3.0;

/// Sizes and positive costs, scaled so that no term overflows.
pub(super) struct Data {
    sizes: Vec<f64>,
    /// Costs as shares of the greatest.
    costs: Vec<f64>,
    largest: f64,
    greatest: f64,
}

/// Coefficients of a model for a given rate, in the scale of its data.
#[derive(Clone)]
pub(super) struct Solution {
    /// The leading term's coefficient first, unless there is none; then those of the lower terms.
    pub(super) coefficients: Vec<f64>,
    /// Sum of the squared differences between the logarithms of cost and model.
    pub(super) squares: f64,
}

impl Data {
    /// Returns the data of some points, which must be finite with sizes of at least 0, one of them greater, and costs
    /// above 0.
    pub(super) fn new(points: &[(f64, f64)]) -> Self {
        let largest = points.iter().map(|point| point.0).fold(0.0, f64::max);
        let greatest = points.iter().map(|point| point.1).fold(0.0, f64::max);
        let sizes = points.iter().map(|point| point.0).collect();
        let costs = points.iter().map(|point| point.1 / greatest).collect();
        Self { sizes, costs, largest, greatest }
    }

    pub(super) fn points(&self) -> usize {
        self.sizes.len()
    }

    /// Returns true if costs rise with every size, by more than the share `noise` in all. Constant costs would show
    /// this order of four points in one of 24 cases.
    pub(super) fn always_rises(&self, noise: f64) -> bool {
        let mut points: Vec<(f64, f64)> = self.sizes.iter().copied().zip(self.costs.iter().copied()).collect();
        points.sort_by(|left, right| left.0.total_cmp(&right.0));
        let smallest = points.first().map_or(1.0, |point| point.1);
        points.len() >= 4 && smallest < 1.0 - noise && points.windows(2).all(|pair| pair[0].1 < pair[1].1)
    }

    /// Returns the rates of a leading term that are tried first, in rising order. Exponents go far enough for every
    /// loop nest that can be measured; bases up to growth by the largest number over all sizes.
    pub(super) fn rates(&self, lead: Lead) -> Vec<f64> {
        match lead {
            Lead::Power | Lead::Falling => (1..=32).map(|quarter| f64::from(quarter) / 4.0 - 0.125).collect(),
            Lead::Exponential => {
                let smallest = self.sizes.iter().copied().fold(f64::INFINITY, f64::min);
                let range = self.largest - smallest;
                (0..22).map(|step| LEAST_RISE * 1.3_f64.powi(step) / range).collect()
            }
            Lead::Kinked => {
                let mut sizes: Vec<f64> = self.sizes.iter().copied().filter(|size| *size > 0.0).collect();
                sizes.sort_by(f64::total_cmp);
                sizes.dedup();
                sizes.pop();
                sizes
            }
            Lead::None | Lead::Logarithm | Lead::Linearithmic => vec![0.0],
        }
    }

    /// Returns the sum of the squared deviations of the logarithms of the costs from their mean.
    pub(super) fn total_squares(&self) -> f64 {
        let logs: Vec<f64> = self.costs.iter().map(|cost| cost.ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        logs.iter().map(|log| (log - mean) * (log - mean)).sum()
    }

    fn leading(&self, lead: Lead, rate: f64, size: f64) -> f64 {
        match lead {
            Lead::None => 0.0,
            Lead::Logarithm => size.max(1.0).ln(),
            Lead::Linearithmic => size / self.largest * size.max(1.0).ln(),
            Lead::Power => (size / self.largest).powf(rate),
            Lead::Falling => falling(size, rate, self.largest),
            Lead::Exponential => (rate * (size - self.largest)).exp(),
            Lead::Kinked => (size - rate).max(0.0) / self.largest,
        }
    }

    fn lower(&self, term: Lower, size: f64) -> f64 {
        match term {
            Lower::Constant => 1.0,
            Lower::Linear => size / self.largest,
            Lower::Square => (size / self.largest).powi(2),
        }
    }

    /// Returns the values of the model's terms at `size`, in the order of the coefficients.
    fn terms(&self, model: Model, rate: f64, size: f64) -> impl Iterator<Item = f64> {
        let leading = (model.lead != Lead::None).then(|| self.leading(model.lead, rate, size));
        leading.into_iter().chain(model.lower.iter().map(move |&term| self.lower(term, size)))
    }

    fn columns(&self, model: Model, rate: f64) -> Vec<Vec<f64>> {
        let count = model.lower.len() + usize::from(model.lead != Lead::None);
        let mut columns = vec![Vec::with_capacity(self.points()); count];
        for &size in &self.sizes {
            for (column, term) in columns.iter_mut().zip(self.terms(model, rate, size)) {
                column.push(term);
            }
        }
        columns
    }

    /// Returns the cost that a model predicts for `size`, in the unit of the measurements.
    pub(super) fn predict(&self, model: Model, rate: f64, coefficients: &[f64], size: f64) -> f64 {
        let terms = self.terms(model, rate, size).zip(coefficients);
        terms.map(|(term, by)| term * by).sum::<f64>() * self.greatest
    }

    /// Returns the coefficients that bring the logarithm of the model closest to that of the costs: a Gauss-Newton
    /// search that starts with the least relative differences, and takes at most `steps` steps.
    pub(super) fn solve(&self, model: Model, rate: f64, steps: usize) -> Option<Solution> {
        if model.lower.contains(&Lower::Square) && rate < LEAST_BESIDE_SQUARE {
            return None;
        }
        let columns = self.columns(model, rate);
        let mut coefficients = least_squares::solve(relative(&columns, &self.costs), vec![1.0; self.points()])?;
        let (mut values, mut squares) = self.evaluate(&columns, &coefficients)?;
        for _ in 0..steps {
            let step = least_squares::solve(relative(&columns, &values), self.differences(&values))?;
            let better = [1.0, 0.25, 0.05].into_iter().find_map(|part| {
                let next: Vec<f64> = coefficients.iter().zip(&step).map(|(old, step)| old + part * step).collect();
                let (values, found) = self.evaluate(&columns, &next)?;
                (found < squares).then_some((next, values, found))
            });
            let Some((next, next_values, found)) = better else { break };
            let gain = 1.0 - found / squares;
            (coefficients, values, squares) = (next, next_values, found);
            if gain < 1e-6 {
                break;
            }
        }
        Some(Solution { coefficients, squares })
    }

    /// Returns the values of the model at all sizes, and the squared differences of the logarithms; `None` where a
    /// value is not positive.
    fn evaluate(&self, columns: &[Vec<f64>], coefficients: &[f64]) -> Option<(Vec<f64>, f64)> {
        let value = |row: usize| columns.iter().zip(coefficients).map(|(column, by)| column[row] * by).sum::<f64>();
        let values: Vec<f64> = (0..self.points()).map(value).collect();
        let squares = self.differences(&values).iter().map(|difference| difference * difference).sum::<f64>();
        (values.iter().all(|value| *value > 0.0) && squares.is_finite()).then_some((values, squares))
    }

    fn differences(&self, values: &[f64]) -> Vec<f64> {
        self.costs.iter().zip(values).map(|(cost, value)| (cost / value).ln()).collect()
    }

    /// Returns true if a program can have such a cost: no term is negative, and the leading one is seen.
    pub(super) fn is_plausible(&self, model: Model, rate: f64, coefficients: &[f64]) -> bool {
        let lead = usize::from(model.lead != Lead::None);
        // n log (n / 2) is an n log n, too.
        let least = |at: usize| match model.lead {
            Lead::Linearithmic if at > 0 && model.lower[at - 1] == Lower::Linear => -coefficients[0],
            _ => 0.0,
        };
        if coefficients.iter().enumerate().any(|(at, coefficient)| *coefficient < least(at)) {
            return false;
        }
        let constant = model.lower.iter().position(|&term| term == Lower::Constant);
        let constant = constant.map_or(0.0, |at| coefficients[lead + at]);
        if lead == 0 {
            return constant > 0.0;
        }
        let parts: Vec<f64> =
            self.terms(model, rate, self.largest).zip(coefficients).map(|(term, by)| term * by).collect();
        let (share, all) = (parts[0], parts.iter().sum::<f64>());
        share > 0.0 && (model.lead == Lead::Kinked || share >= LEAST_SHARE * (all - constant))
    }

    /// Returns the information that the points hold on the rate: the change of the logarithm of the model with the rate
    /// that no change of the coefficients could make as well, squared and summed.
    pub(super) fn information(&self, model: Model, rate: f64, solution: &Solution) -> Option<f64> {
        let (columns, values) = self.slopes(model, rate, solution)?;
        least_squares::unexplained(columns, &self.change_by_rate(model, rate, solution, &values))
    }

    /// Returns the change of the rate that a Gauss-Newton step in rate and coefficients makes.
    pub(super) fn rate_step(&self, model: Model, rate: f64, solution: &Solution) -> Option<f64> {
        let (mut columns, values) = self.slopes(model, rate, solution)?;
        columns.push(self.change_by_rate(model, rate, solution, &values));
        least_squares::solve(columns, self.differences(&values))?.pop()
    }

    /// Returns the changes of the logarithm of the model with its coefficients, and the model's values.
    fn slopes(&self, model: Model, rate: f64, solution: &Solution) -> Option<(Vec<Vec<f64>>, Vec<f64>)> {
        let columns = self.columns(model, rate);
        let (values, _) = self.evaluate(&columns, &solution.coefficients)?;
        Some((relative(&columns, &values), values))
    }

    /// Returns the changes of the logarithm of the model with its rate.
    fn change_by_rate(&self, model: Model, rate: f64, solution: &Solution, values: &[f64]) -> Vec<f64> {
        let change = |(&size, value): (&f64, &f64)| self.by_rate(model, rate, size) * solution.coefficients[0] / value;
        self.sizes.iter().zip(values).map(change).collect()
    }

    /// Returns the change of the leading term with its rate.
    fn by_rate(&self, model: Model, rate: f64, size: f64) -> f64 {
        let factor = match model.lead {
            Lead::Power if size > 0.0 => (size / self.largest).ln(),
            Lead::Falling => {
                const STEP: f64 = 1e-4;
                let at = |rate: f64| self.leading(model.lead, rate, size);
                return (at(rate + STEP) - at(rate - STEP)) / (2.0 * STEP);
            }
            Lead::Exponential => size - self.largest,
            Lead::Kinked => return if size > rate { -1.0 / self.largest } else { 0.0 },
            _ => 0.0,
        };
        self.leading(model.lead, rate, size) * factor
    }

    /// Returns how uncertain the model is at a size: the variance of the logarithm of its value there, as a multiple of
    /// the variance of a single cost. `has_rate` is true if the rate was fitted, too.
    pub(super) fn leverage(
        &self,
        model: Model,
        (rate, has_rate): (f64, bool),
        solution: &Solution,
        size: f64,
    ) -> Option<f64> {
        let (mut columns, values) = self.slopes(model, rate, solution)?;
        let terms: Vec<f64> = self.terms(model, rate, size).collect();
        let value: f64 = terms.iter().zip(&solution.coefficients).map(|(term, by)| term * by).sum();
        let mut row: Vec<f64> = terms.iter().map(|term| term / value).collect();
        if has_rate {
            columns.push(self.change_by_rate(model, rate, solution, &values));
            row.push(self.by_rate(model, rate, size) * solution.coefficients[0] / value);
        }
        least_squares::leverage(columns, row)
    }
}

/// Returns `size` to the falling power, n (n - 1) (n - 2) ... with as many factors as `power` says, each of them
/// divided by `scale`.
fn falling(size: f64, power: f64, scale: f64) -> f64 {
    if size + 1.0 <= power {
        return 0.0;
    }
    (log_gamma(size + 1.0) - log_gamma(size + 1.0 - power) - power * scale.ln()).exp()
}

/// Returns the logarithm of the gamma function of a number above 0, by Stirling's series beyond 8 (Abramowitz & Stegun,
/// 6.1.41) and the recurrence below.
fn log_gamma(mut x: f64) -> f64 {
    let mut product = 1.0;
    while x < 8.0 {
        product *= x;
        x += 1.0;
    }
    let square = x * x;
    let series = (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / 1680.0 / square) / square) / square) / x;
    (x - 0.5) * x.ln() - x + (2.0 * std::f64::consts::PI).ln() / 2.0 + series - product.ln()
}

/// Returns the columns with each row divided by its entry of `by`.
fn relative(columns: &[Vec<f64>], by: &[f64]) -> Vec<Vec<f64>> {
    columns.iter().map(|column| column.iter().zip(by).map(|(value, by)| value / by).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn falling_powers_count_choices() {
        for (size, power, expected) in [(5.0, 2.0, 20.0), (9.0, 3.0, 504.0), (300.0, 1.0, 300.0), (3.0, 3.0, 6.0)] {
            let found = falling(size, power, 1.0);
            assert!((found / expected - 1.0).abs() < 1e-8, "{size}, {power}: {found}");
        }
        assert_eq!(falling(1.0, 2.0, 9.0), 0.0);
    }
}
