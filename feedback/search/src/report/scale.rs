//! Axes of a plot: from values to places, and where the labelled lines are.

use super::markup;

/// An axis.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    log: bool,
    /// The places of the ends.
    pub(super) from: f64,
    pub(super) to: f64,
    /// The places of the labelled lines.
    pub(super) ticks: Vec<f64>,
}

/// About as many labelled lines as fit on an axis.
const TICKS: usize = 6;

impl Scale {
    /// Returns an axis on which equal distances are equal differences, from 0.
    pub(super) fn linear(values: &[f64]) -> Scale {
        let most = ends(values).map_or(1.0, |(_, most)| most);
        Scale { log: false, from: 0.0, to: most, ticks: even_ticks(0.0, most) }
    }

    /// Returns an axis on which equal distances are equal ratios. Values that are not above 0 have no place on it.
    pub(super) fn log(values: &[f64]) -> Scale {
        let (least, most) = ends(values).unwrap_or((1.0, 10.0));
        // One value, or values that hardly differ, would make an axis without a length.
        let (least, most) = if most / least < 1.5 { (least / 1.5, most * 1.5) } else { (least, most) };
        let ticks = ratio_ticks(least, most).into_iter().map(f64::log10).collect();
        Scale { log: true, from: least.log10(), to: most.log10(), ticks }
    }

    /// Returns an axis for costs or counts: by ratios if they differ much.
    pub(super) fn fitting(values: &[f64]) -> Scale {
        let differ = ends(values).is_some_and(|(least, most)| most / least >= 30.0);
        if differ { Scale::log(values) } else { Scale::linear(values) }
    }

    /// Returns the place of a value, if it has one on the axis; beyond the ends it lies at the nearer one.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        let place = if self.log { value.log10() } else { value };
        (!place.is_nan() && (!self.log || value > 0.0)).then(|| place.clamp(self.from, self.to))
    }

    /// Returns the value at a place.
    pub(super) fn value(&self, place: f64) -> f64 {
        if self.log { 10f64.powf(place) } else { place }
    }

    /// Returns how far a place is from the lower end of the axis, in units of which `length` are the whole axis.
    pub(super) fn share(&self, place: f64, length: i32) -> i32 {
        ((place - self.from) / (self.to - self.from) * f64::from(length)).round() as i32
    }

    /// Returns the label of a place.
    pub(super) fn label(&self, place: f64) -> String {
        markup::short(self.value(place))
    }

    /// Returns the same axis with a little room at its upper end.
    pub(super) fn with_room(mut self) -> Scale {
        self.to += (self.to - self.from) * 0.04;
        self
    }
}

/// Returns the least and the greatest of the values above 0, within what can be computed with.
fn ends(values: &[f64]) -> Option<(f64, f64)> {
    let positive = values.iter().copied().filter(|value| value.is_finite() && *value > 0.0);
    positive.map(|value| value.clamp(1e-6, 1e30)).fold(None, |ends, value| {
        let (least, most) = ends.unwrap_or((value, value));
        Some((value.min(least), value.max(most)))
    })
}

/// Returns round values at equal differences.
fn even_ticks(least: f64, most: f64) -> Vec<f64> {
    let rough = (most - least) / TICKS as f64;
    let unit = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * unit).find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    let first = (least / step).ceil();
    (0..=2 * TICKS).map(|index| (first + index as f64) * step).filter(|tick| *tick <= most * (1.0 + 1e-9)).collect()
}

/// Returns round values at ratios that are as equal as round values can be.
fn ratio_ticks(least: f64, most: f64) -> Vec<f64> {
    let decades = (most / least).log10();
    let within = |ticks: Vec<f64>| -> Vec<f64> {
        ticks.into_iter().filter(|tick| (least * 0.999..=most * 1.001).contains(tick)).collect()
    };
    let (first, last) = (least.log10().floor() as i32, most.log10().ceil() as i32);
    let apart = (decades / TICKS as f64).ceil().max(1.0) as i32;
    let powers = |factors: &[f64]| {
        let exponents = (first..=last).filter(|exponent| exponent % apart == 0);
        within(exponents.flat_map(|exponent| factors.iter().map(move |factor| factor * 10f64.powi(exponent))).collect())
    };
    let candidates = [powers(&[1.0]), powers(&[1.0, 3.0]), powers(&[1.0, 2.0, 5.0])];
    let fitting = candidates.into_iter().find(|ticks| ticks.len() >= 3);
    fitting.unwrap_or_else(|| within(even_ticks(least, most)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> String {
        scale.ticks.iter().map(|tick| scale.label(*tick)).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_are_round_values() {
        assert_eq!(labels(&Scale::linear(&[0.0, 600.0])), "0 100 200 300 400 500 600");
        assert_eq!(labels(&Scale::log(&[1.0, 1e5])), "1 10 100 1k 10k 100k");
        assert_eq!(labels(&Scale::log(&[20.0, 300.0])), "30 100 300");
        assert_eq!(labels(&Scale::log(&[1000.0, 1800.0])), "1k 1.2k 1.4k 1.6k 1.8k");
        assert_eq!(labels(&Scale::log(&[1.0, u64::MAX as f64])), "1 10k 100M 1T 10P");
    }

    #[test]
    fn any_values_make_an_axis() {
        let hostile = [
            vec![],
            vec![0.0],
            vec![7.0],
            vec![f64::NAN, f64::INFINITY],
            vec![u64::MAX as f64],
            vec![-1.0],
            vec![1e-9],
        ];
        for values in hostile {
            for scale in [Scale::linear, Scale::log, Scale::fitting].map(|make| make(&values)) {
                assert!(
                    scale.from < scale.to && scale.from.is_finite() && scale.to.is_finite(),
                    "{values:?}: {scale:?}"
                );
                assert!((2..=13).contains(&scale.ticks.len()), "{values:?}: {scale:?}");
            }
        }
    }
}
