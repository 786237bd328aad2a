//! The growth of cost with size: fits constant, logarithmic, linearithmic, polynomial and exponential models to
//! measurements of one family of texts, and chooses among them.
//!
//! Fits on logarithms follow Goldsmith, Aiken & Wilkerson, "Measuring Empirical Computational Complexity" (ESEC/FSE
//! 2007). Start-up costs and other terms of lower order, which bias the slope of a log-log line, are part of the models
//! here. The choice is by AICc (Burnham & Anderson, "Model Selection and Multimodel Inference", 2002).
//!
//! A fit says little of sizes that it has not seen. So the largest sizes are held out, and a law is known only if it
//! predicts their costs.

mod edges;
mod fit;
mod least_squares;
mod model;
mod region;
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

/// Growth of the cost of a family of texts: the fits of several laws, the best supported first, and whether the best
/// one has predicted the costs of larger sizes.
#[derive(Clone, Debug)]
pub struct Growth {
    fits: Vec<Fit>,
    /// Added to each size before the law is applied.
    offset: f64,
    /// Number of different sizes of the fit, the least one above 0 and the largest one.
    sizes: usize,
    least: f64,
    largest: f64,
    /// Whether smaller sizes were measured and follow another law.
    is_late: bool,
    standing: Standing,
    /// Faster growth of smaller sizes, which ends.
    before: Option<Box<Growth>>,
}

/// Result of the comparison of a law with costs that its fit has not seen.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Standing {
    /// There is no such cost, or sizes are too few or too close.
    Untested,
    /// The costs of sizes up to this one lie in the predicted intervals.
    Checked(f64),
    /// The cost of this size does not.
    Refuted(f64),
    /// Laws suit the costs whose exponents differ by much, or the prediction was too vague to be a check.
    Vague,
    /// The law is faster than linear, and linear growth with a kink or with steps suits the costs as well.
    Linear,
}

/// If the interval of an exponent is wider, a law for the larger sizes alone may say more.
const VAGUE: f64 = 0.1;

/// Exponents of laws that suit the costs differ by at most this where the law is known.
const APART: f64 = 0.5;

/// The least number of different sizes in a fit.
const LEAST_SIZES: usize = 5;

/// The least ratio of the largest to the smallest size above 0 in a fit: three doublings.
const LEAST_RATIO: f64 = 8.0;

/// The least ratio of the largest to the smallest size for exponential growth, which is seen over fewer sizes, and hits
/// limits sooner.
const LEAST_RATIO_EXPONENTIAL: f64 = 2.0;

/// Models whose AICc is greater than the best by more are ruled out. From 10 on they have essentially no support
/// (Burnham & Anderson, section 2.6), but that is of one comparison, and here sizes and models are chosen among many:
/// at 10, two of a thousand noisy n^1.1 were taken for n log n.
const NO_SUPPORT: f64 = 20.0;

/// A difference in AICc up to which both models have substantial support (Burnham & Anderson, section 2.6).
const SUBSTANTIAL: f64 = 2.0;

impl Growth {
    /// Fits all models to the measurements that were not stopped, and compares the best one with the costs of the
    /// largest sizes, which are left out of the fit if enough others remain. `None` if fewer than three points of cost
    /// above 0 remain, or one size only.
    ///
    /// Five points allow a start-up cost only where it makes the fit exact; from seven points on, terms of lower order
    /// can be told apart in noise. Measure more sizes than powers of two where that is possible.
    pub fn of(measurements: &[Measurement]) -> Option<Self> {
        Self::of_texts(&measurements.iter().map(|one| (*one, 0)).collect::<Vec<_>>())
    }

    /// Returns the growth of texts that repeat a part, from the number of copies, the length and the cost of each. The
    /// rest of the text may cost as much as some copies more: if the law is distinctly better supported in the length,
    /// it is taken in the length, divided by that of a copy. Or the copies that the text has already may cost nothing
    /// of what the others do: if that is better supported, they are not counted. The exponent is the same.
    ///
    /// A program may behave in another way from some size on, as where it refuses deep texts, or where a table is full.
    /// If no law for all sizes is known, or its exponent is not known to a tenth, one for the larger sizes is looked
    /// for, and faster growth of smaller sizes is found that ends.
    pub fn of_texts(texts: &[(Measurement, usize)]) -> Option<Self> {
        region::growth(texts)
    }

    /// Returns the fits of all models to some points: in the number of copies, in the length, or in the number of
    /// copies that are more than `origin`, whichever is distinctly better supported.
    fn fitted(texts: &[(Measurement, usize)], origin: f64) -> Option<Self> {
        let points: Vec<(f64, f64)> = texts.iter().filter_map(|text| text.0.point()).collect();
        let ((first, from), (last, to)) = (texts.first()?, texts.last()?);
        let copy = (*to as f64 - *from as f64) / (last.size - first.size);
        let offsets = [*from as f64 / copy - first.size, 1.0 - origin];
        let mut best = Self::of_points(&points, 0.0)?;
        for offset in offsets.into_iter().filter(|&offset| offset.is_finite() && offset != 0.0) {
            let other = Self::of_points(&points, offset);
            if let Some(other) = other.filter(|other| other.criterion() < best.criterion() - SUBSTANTIAL) {
                best = other;
            }
        }
        Some(best)
    }

    fn of_points(points: &[(f64, f64)], offset: f64) -> Option<Self> {
        let mut sizes: Vec<f64> = points.iter().map(|point| point.0).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        let (least, largest) = (sizes.iter().copied().find(|size| *size > 0.0)?, *sizes.last()?);
        if points.len() < 3 || sizes.len() < 2 {
            return None;
        }
        let shifted: Vec<(f64, f64)> = points.iter().map(|&(size, cost)| (size + offset, cost)).collect();
        let fits = fit::fit_all(&shifted);
        let (is_late, standing, before) = (false, Standing::Untested, None);
        (!fits.is_empty()).then_some(Self {
            fits,
            offset,
            sizes: sizes.len(),
            least,
            largest,
            is_late,
            standing,
            before,
        })
    }

    /// Returns true if the exponent is not known to a tenth.
    fn is_vague(&self) -> bool {
        matches!(self.best().law, Law::Polynomial { exponent } if exponent.high - exponent.low > VAGUE)
    }

    /// Returns true if the law is not known: too little was measured, or it has not predicted the cost of larger sizes.
    pub fn is_unclear(&self) -> bool {
        self.checked().is_none()
    }

    /// Returns the largest size whose cost the law has predicted without having seen it: at least twice the largest
    /// one of the fit, or, for exponential growth, with eight times its cost.
    pub fn checked(&self) -> Option<f64> {
        match self.standing {
            Standing::Checked(size) => Some(size),
            _ => None,
        }
    }

    /// Returns the size from which on the law holds, if smaller ones follow another one.
    pub fn from(&self) -> Option<f64> {
        self.is_late.then_some(self.least)
    }

    #[cfg(test)]
    fn is_late(&self) -> bool {
        self.is_late
    }

    /// Returns the least size above 0 of the fit, and the largest.
    pub fn range(&self) -> (f64, f64) {
        (self.least, self.largest)
    }

    /// Returns the faster growth of smaller sizes that ends, if there is some.
    pub fn bounded(&self) -> Option<&Growth> {
        self.before.as_deref()
    }

    /// Returns the least AICc. It is nearly that of the first fit: n can stand before n log n.
    fn criterion(&self) -> f64 {
        self.fits.iter().map(|fit| fit.aicc).fold(f64::INFINITY, f64::min)
    }

    /// Returns the cost that the best law gives for a number of copies, or another size that was measured; for smaller
    /// sizes than [`Growth::from`] it does not hold.
    pub fn predict(&self, size: f64) -> f64 {
        self.best().predict(size + self.offset)
    }

    /// Returns the interval in which the cost of a size lies by the best law; see [`Fit::interval`].
    pub fn interval(&self, size: f64) -> Option<(f64, f64)> {
        self.best().interval(size + self.offset)
    }

    /// Returns the best supported fit.
    pub fn best(&self) -> &Fit {
        &self.fits[0]
    }

    /// Returns the best fits of the laws that the measurements do not rule out, the best of all first.
    pub fn supported(&self) -> impl Iterator<Item = &Fit> {
        let most = self.criterion() + NO_SUPPORT;
        self.fits.iter().filter(move |fit| fit.aicc <= most)
    }

    /// Returns the number of different sizes in the fit.
    pub fn sizes(&self) -> usize {
        self.sizes
    }

    /// Returns true if the cost is proved to grow faster than n^`exponent`: under every law that the measurements do
    /// not rule out, the lower end of the exponent's interval is greater. Few sizes prove nothing, nor do sizes close
    /// together, nor does a law that has not predicted the costs of larger sizes.
    pub fn is_superlinear(&self, exponent: f64) -> bool {
        self.proved() > exponent
    }

    /// Returns the least upper bound of the powers of n than which the cost is proved to grow faster, as
    /// [`Growth::is_superlinear`] says. Negative infinity if nothing is proved, and infinity for exponential growth.
    pub fn proved(&self) -> f64 {
        match self.checked() {
            Some(_) => self.supported().map(|fit| self.proved_by(fit.law)).fold(f64::INFINITY, f64::min),
            None => f64::NEG_INFINITY,
        }
    }

    /// Returns true if the cost grows no faster than n^`exponent` under every law that the measurements do not rule
    /// out, over the sizes that were measured, by the upper end of the exponent's interval. Few sizes do not show that.
    pub(crate) fn is_at_most(&self, exponent: f64) -> bool {
        self.sizes >= LEAST_SIZES && self.supported().all(|fit| powers(fit.law).1 <= exponent)
    }

    fn proved_by(&self, law: Law) -> f64 {
        match law {
            Law::Constant => 0.0,
            // These grow faster than the power itself.
            Law::Logarithmic => 0.0_f64.next_up(),
            Law::Linearithmic => 1.0_f64.next_up(),
            // An uneven cost can look like a slightly greater exponent.
            Law::Polynomial { exponent } => exponent.low - fit::UNEVEN / (self.largest / self.least).ln(),
            Law::Exponential { base } if base.low > 1.0 => f64::INFINITY,
            Law::Exponential { .. } => f64::NEG_INFINITY,
        }
    }

    /// Returns a number that rises with the law: the exponent in tenths for polynomials. A law that is not known has
    /// the least.
    fn rank(&self) -> i64 {
        if self.is_unclear() {
            return -1;
        }
        match self.best().law {
            Law::Constant => 0,
            Law::Logarithmic => 1,
            Law::Linearithmic => 11,
            Law::Polynomial { exponent } => (exponent.value * 10.0).round() as i64,
            Law::Exponential { .. } => i64::MAX,
        }
    }

    /// Returns the law, and others that the costs do not rule out if they are of another kind: `n log n or n^1.1 (95 %:
    /// 1.08 to 1.12)`.
    pub fn law(&self) -> String {
        let best = self.best().law;
        let is_other = |law: &Law| std::mem::discriminant(law) != std::mem::discriminant(&best);
        let is_linear = powers(best) == (1.0, 1.0) || self.proved_by(best) <= 1.0 && powers(best).1 >= 1.0;
        let others = self.supported().map(|fit| fit.law).filter(|law| !is_linear && is_other(law));
        std::iter::once(best).chain(others).map(|law| law.to_string()).collect::<Vec<_>>().join(" or ")
    }
}

/// Returns the least and the greatest power as which a law grows, over sizes of some doublings.
fn powers(law: Law) -> (f64, f64) {
    match law {
        Law::Constant => (0.0, 0.0),
        Law::Logarithmic => (0.0_f64.next_up(), 0.3),
        Law::Linearithmic => (1.0_f64.next_up(), 1.2),
        Law::Polynomial { exponent } => (exponent.low, exponent.high),
        Law::Exponential { .. } => (f64::INFINITY, f64::INFINITY),
    }
}

impl fmt::Display for Growth {
    /// Writes a law with the sizes that it is of, such as `cost ~ n^2.0 (95 %: 1.97 to 2.03): 13 sizes from n = 1 to
    /// 255, checked at 511`, or that none is known, and why.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (law, sizes, least, largest) = (self.law(), self.sizes, self.least, self.largest);
        let ending = if self.best().law == Law::Constant { "" } else { "cost ~ " };
        match self.standing {
            Standing::Checked(size) => {
                write!(f, "{ending}{law}")?;
                let late = if self.is_late { format!(" from n = {least} on") } else { String::new() };
                write!(f, "{late}: {sizes} sizes from n = {least} to {largest}, checked at {size}")?;
            }
            Standing::Untested => {
                write!(f, "no law is known: {sizes} sizes from n = {least} to {largest} are too few")?
            }
            Standing::Refuted(size) => {
                write!(f, "no law is known: that of n = {least} to {largest} does not hold at n = {size}")?;
            }
            Standing::Vague => {
                write!(f, "no law is known: several suit the costs of {sizes} sizes from n = {least} to {largest}")?;
            }
            Standing::Linear => {
                write!(
                    f,
                    "no law is known: growth is about linear from n = {least} to {largest}, with other slopes or steps"
                )?;
            }
        }
        self.before.as_ref().map_or(Ok(()), |before| write!(f, "; bounded: below that, {before}"))
    }
}
