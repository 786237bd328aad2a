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
    Exponential,
}

/// A term of lower order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lower {
    /// The start-up cost, which is not negative.
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
/// at the powers of two from 8 to 512, is 1.13. So powers come with every choice of such terms.
pub(super) const MODELS: [Model; 17] = {
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
        model(Lead::Exponential, &[]),
        model(Lead::Linearithmic, &[Constant, Linear]),
        model(Lead::Power, &[Constant]),
        model(Lead::Power, &[Linear]),
        model(Lead::Power, &[Square]),
        model(Lead::Exponential, &[Constant]),
        model(Lead::Exponential, &[Linear]),
        model(Lead::Power, &[Constant, Linear]),
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
            Lead::Power => (1..=32).map(|quarter| f64::from(quarter) / 4.0 - 0.125).collect(),
            Lead::Exponential => {
                let smallest = self.sizes.iter().copied().fold(f64::INFINITY, f64::min);
                let range = self.largest - smallest;
                (0..22).map(|step| LEAST_RISE * 1.3_f64.powi(step) / range).collect()
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
            Lead::Exponential => (rate * (size - self.largest)).exp(),
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

    /// Returns true if a program can have such a cost: no negative start-up cost, and a leading term that is seen.
    pub(super) fn is_plausible(&self, model: Model, rate: f64, coefficients: &[f64]) -> bool {
        let lead = usize::from(model.lead != Lead::None);
        let constant = model.lower.iter().position(|&term| term == Lower::Constant);
        let constant = constant.map_or(0.0, |at| coefficients[lead + at]);
        if lead == 0 {
            return constant > 0.0;
        }
        let parts: Vec<f64> =
            self.terms(model, rate, self.largest).zip(coefficients).map(|(term, by)| term * by).collect();
        let (share, all) = (parts[0], parts.iter().sum::<f64>());
        constant >= 0.0 && share > 0.0 && share >= LEAST_SHARE * (all - constant)
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
        let change = |(&size, value): (&f64, &f64)| {
            let factor = match model.lead {
                Lead::Power if size > 0.0 => (size / self.largest).ln(),
                Lead::Exponential => size - self.largest,
                _ => 0.0,
            };
            self.leading(model.lead, rate, size) * solution.coefficients[0] * factor / value
        };
        self.sizes.iter().zip(values).map(change).collect()
    }
}

/// Returns the columns with each row divided by its entry of `by`.
fn relative(columns: &[Vec<f64>], by: &[f64]) -> Vec<Vec<f64>> {
    columns.iter().map(|column| column.iter().zip(by).map(|(value, by)| value / by).collect()).collect()
}
