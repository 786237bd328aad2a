//! The growth of cost with size: fits constant, logarithmic, linearithmic, polynomial and exponential models to
//! measurements of one family of texts, and chooses among them.
//!
//! Fits on logarithms follow Goldsmith, Aiken & Wilkerson, "Measuring Empirical Computational Complexity" (ESEC/FSE
//! 2007). Start-up costs and other terms of lower order, which bias the slope of a log-log line, are part of the models
//! here. The choice is by AICc (Burnham & Anderson, "Model Selection and Multimodel Inference", 2002).

mod edges;
mod fit;
mod least_squares;
mod model;
mod student;
#[cfg(test)]
mod tests;

use std::fmt;

pub use edges::{EdgeGrowth, edges_by_growth};
pub use fit::{Estimate, Fit, Law};

/// The cost of one text of a family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement {
    /// Number of repetitions, or length in bytes.
    pub size: f64,
    /// Edge executions, or another measure.
    pub cost: f64,
    /// Whether the run was stopped, so that the true cost is greater. Such measurements are left out of fits.
    pub stopped: bool,
}

impl Measurement {
    /// Returns the measurement of a run that ended by itself.
    pub fn new(size: f64, cost: f64) -> Self {
        Self { size, cost, stopped: false }
    }

    /// Returns the point of a fit, if this can be one. A cost of 0 has no logarithm, and says no more than "less than
    /// 1".
    fn point(&self) -> Option<(f64, f64)> {
        let usable = !self.stopped && self.size.is_finite() && self.size >= 0.0 && self.cost.is_finite();
        (usable && self.cost > 0.0).then_some((self.size, self.cost))
    }
}

/// Growth of the cost of a family of texts: the fits of several laws, the best supported first.
#[derive(Clone, Debug)]
pub struct Growth {
    fits: Vec<Fit>,
    /// Added to each size before the law is applied.
    offset: f64,
    sizes: usize,
    ratio: f64,
    /// The size from which on the law holds, if smaller ones follow another one.
    from: Option<f64>,
}

/// If the interval of an exponent is wider, a law for the larger sizes alone may say more.
const VAGUE: f64 = 0.1;

/// If the law for all sizes errs by more than this share of the cost, a law for the larger sizes alone may say more.
const POOR: f64 = 0.1;

/// The fewest sizes of a law for the larger sizes alone, and the least ratio of the largest to the smallest one that
/// proves it. That is less than for other laws, because its exponent is known to a tenth.
const LEAST_SIZES_BEYOND: usize = 6;
const LEAST_RATIO_BEYOND: f64 = 4.0;

/// Factor by which the law for all sizes has to err more before a law for the larger sizes alone is taken, and share of
/// the cost by which it has to err.
const LESS_WRONG: f64 = 5.0;
const WRONG: f64 = 0.02;

/// The fewest different sizes that prove growth.
const LEAST_SIZES: usize = 5;

/// The least ratio of the largest to the smallest size above 0 that proves polynomial growth.
const LEAST_RATIO: f64 = 8.0;

/// The least ratio of the largest to the smallest size that proves exponential growth, which is seen over fewer sizes,
/// and hits limits sooner.
const LEAST_RATIO_EXPONENTIAL: f64 = 2.0;

/// Models whose AICc is greater than the best by more have essentially no support (Burnham & Anderson, section 2.6).
const NO_SUPPORT: f64 = 10.0;

/// A difference in AICc up to which both models have substantial support (Burnham & Anderson, section 2.6).
const SUBSTANTIAL: f64 = 2.0;

impl Growth {
    /// Fits all models to the measurements that were not stopped. `None` if they hold fewer than three points of cost
    /// above 0, or one size only.
    ///
    /// Five points allow a start-up cost only where it makes the fit exact; from seven points on, terms of lower order
    /// can be told apart in noise. Measure more sizes than powers of two where that is possible.
    pub fn of(measurements: &[Measurement]) -> Option<Self> {
        let points: Vec<(f64, f64)> = measurements.iter().filter_map(Measurement::point).collect();
        let mut sizes: Vec<f64> = points.iter().map(|point| point.0).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        let (smallest, largest) = (sizes.iter().copied().find(|size| *size > 0.0)?, *sizes.last()?);
        if points.len() < 3 || sizes.len() < 2 {
            return None;
        }
        let fits = fit::fit_all(&points);
        (!fits.is_empty()).then_some(Self {
            fits,
            offset: 0.0,
            sizes: sizes.len(),
            ratio: largest / smallest,
            from: None,
        })
    }

    /// Returns the growth of texts that repeat a part, from the number of copies, the length and the cost of each. The
    /// rest of the text may cost as much as some copies more: if the law is distinctly better supported in the length,
    /// it is taken in the length, divided by that of a copy. The exponent is the same.
    ///
    /// A program may behave in another way from some size on, as where it refuses deep texts. If the law for all sizes
    /// is far from the costs, or its exponent is not known to a tenth, one for the larger sizes is looked for. The
    /// number of copies ascends.
    pub fn of_texts(texts: &[(Measurement, usize)]) -> Option<Self> {
        let whole = Self::of_all(texts)?;
        if !whole.is_vague() && whole.error(texts) <= POOR {
            return Some(whole);
        }
        let beyond = (1..texts.len()).map_while(|first| {
            let rest = &texts[first..];
            let (from, _) = rest.iter().find_map(|text| text.0.point())?;
            let growth = Self::of_all(rest).filter(|growth| growth.sizes >= LEAST_SIZES_BEYOND)?;
            let error = growth.error(rest);
            let is_better = growth.ratio >= LEAST_RATIO_BEYOND
                && !growth.is_vague()
                && error.is_finite()
                && whole.error(rest) > WRONG.max(LESS_WRONG * error);
            Some(is_better.then_some(Self { from: Some(from), ..growth }))
        });
        let beyond = beyond.flatten().next();
        Some(beyond.unwrap_or(whole))
    }

    fn of_all(texts: &[(Measurement, usize)]) -> Option<Self> {
        let measurements: Vec<Measurement> = texts.iter().map(|text| text.0).collect();
        let by_copies = Self::of(&measurements)?;
        let ((first, from), (last, to)) = (texts.first()?, texts.last()?);
        let copy = (*to as f64 - *from as f64) / (last.size - first.size);
        let offset = *from as f64 / copy - first.size;
        if !offset.is_finite() || offset == 0.0 {
            return Some(by_copies);
        }
        let shifted: Vec<Measurement> =
            measurements.iter().map(|one| Measurement { size: one.size + offset, ..*one }).collect();
        let by_length = Self::of(&shifted).filter(|growth| growth.least() < by_copies.least() - SUBSTANTIAL);
        Some(by_length.map_or(by_copies, |growth| Self { offset, ..growth }))
    }

    /// Returns true if the exponent is not known to a tenth.
    fn is_vague(&self) -> bool {
        matches!(self.best().law, Law::Polynomial { exponent } if exponent.high - exponent.low > VAGUE)
    }

    /// Returns true if little is known of the growth: it is not proved to be faster than linear, and the interval of
    /// the exponent is wider than 1.
    pub fn is_unclear(&self) -> bool {
        let is_wide = matches!(self.best().law, Law::Polynomial { exponent } if exponent.high - exponent.low > 1.0);
        is_wide && !self.is_superlinear(1.0)
    }

    /// Returns the mean error of the law, as a share of the cost.
    fn error(&self, texts: &[(Measurement, usize)]) -> f64 {
        let points = texts.iter().filter_map(|text| text.0.point());
        let squares = points.map(|(size, cost)| (self.predict(size) / cost).ln().powi(2));
        let (sum, count) = squares.fold((0.0, 0), |(sum, count), square| (sum + square, count + 1));
        if count == 0 { 0.0 } else { (sum / f64::from(count)).sqrt() }
    }

    /// Returns the size from which on the law holds, if smaller ones follow another one.
    pub fn from(&self) -> Option<f64> {
        self.from
    }

    /// Returns the least AICc. It is nearly that of the first fit: n can stand before n log n.
    fn least(&self) -> f64 {
        self.fits.iter().map(|fit| fit.aicc).fold(f64::INFINITY, f64::min)
    }

    /// Returns the cost that the best law gives for a number of copies, or another size that was measured; for smaller
    /// sizes than [`Growth::from`] it does not hold.
    pub fn predict(&self, size: f64) -> f64 {
        self.best().predict(size + self.offset)
    }

    /// Returns the best supported fit.
    pub fn best(&self) -> &Fit {
        &self.fits[0]
    }

    /// Returns the best fits of the laws that the measurements do not rule out, the best of all first.
    pub fn supported(&self) -> impl Iterator<Item = &Fit> {
        let most = self.least() + NO_SUPPORT;
        self.fits.iter().filter(move |fit| fit.aicc <= most)
    }

    /// Returns the number of different sizes that were measured.
    pub fn sizes(&self) -> usize {
        self.sizes
    }

    /// Returns true if the cost is proved to grow faster than n^`exponent`: under every law that the measurements do
    /// not rule out, the lower end of the exponent's interval is greater. Few sizes prove nothing, nor do sizes close
    /// together.
    pub fn is_superlinear(&self, exponent: f64) -> bool {
        self.proved() > exponent
    }

    /// Returns the least upper bound of the powers of n than which the cost is proved to grow faster, as
    /// [`Growth::is_superlinear`] says. Negative infinity if nothing is proved, and infinity for exponential growth.
    pub fn proved(&self) -> f64 {
        match self.sizes >= LEAST_SIZES {
            true => self.supported().map(|fit| self.proved_by(fit.law)).fold(f64::INFINITY, f64::min),
            false => f64::NEG_INFINITY,
        }
    }

    /// Returns true if the cost grows no faster than n^`exponent` under every law that the measurements do not rule
    /// out, over the sizes that were measured, by the upper end of the exponent's interval. Few sizes do not show that.
    pub(crate) fn is_at_most(&self, exponent: f64) -> bool {
        let is_at_most = |fit: &Fit| match fit.law {
            Law::Constant => exponent >= 0.0,
            Law::Logarithmic => exponent > 0.0,
            Law::Linearithmic => exponent > 1.0,
            Law::Polynomial { exponent: known } => known.high <= exponent,
            Law::Exponential { .. } => false,
        };
        self.sizes >= LEAST_SIZES && self.supported().all(is_at_most)
    }

    fn proved_by(&self, law: Law) -> f64 {
        let wide = self.ratio >= if self.from.is_some() { LEAST_RATIO_BEYOND } else { LEAST_RATIO };
        match law {
            Law::Constant if wide => 0.0,
            // These grow faster than the power itself.
            Law::Logarithmic if wide => 0.0_f64.next_up(),
            Law::Linearithmic if wide => 1.0_f64.next_up(),
            Law::Polynomial { exponent } if wide => exponent.low,
            Law::Exponential { base } if self.ratio >= LEAST_RATIO_EXPONENTIAL && base.low > 1.0 => f64::INFINITY,
            _ => f64::NEG_INFINITY,
        }
    }

    /// Returns a number that rises with the law: the exponent in tenths for polynomials.
    fn rank(&self) -> i64 {
        match self.best().law {
            Law::Constant => 0,
            Law::Logarithmic => 1,
            Law::Linearithmic => 11,
            Law::Polynomial { exponent } => (exponent.value * 10.0).round() as i64,
            Law::Exponential { .. } => i64::MAX,
        }
    }
}

impl fmt::Display for Growth {
    /// Writes a law such as `cost ~ n^2.0 (95 %: 1.97 to 2.03)`, `cost ~ n log n from n = 61 on` or `constant`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.best().law != Law::Constant {
            formatter.write_str("cost ~ ")?;
        }
        self.best().law.fmt(formatter)?;
        self.from.map_or(Ok(()), |from| write!(formatter, " from n = {from} on"))
    }
}
