//! Quantiles of Student's t distribution for whole degrees of freedom.

use std::f64::consts::{FRAC_PI_2, PI};

/// Returns the `t` for which a value of Student's distribution lies between `-t` and `t` with the probability
/// `confidence`. `freedom` is at least 1.
pub(super) fn two_sided_quantile(confidence: f64, freedom: usize) -> f64 {
    // The probability rises with the angle atan(t / sqrt(freedom)), which has bounds; t has none.
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if within(middle, freedom) < confidence { low = middle } else { high = middle }
    }
    (freedom as f64).sqrt() * low.tan()
}

/// Returns the probability that `|t| <= sqrt(freedom) * tan(angle)`: the finite sums 26.7.3 and 26.7.4 of Abramowitz &
/// Stegun, "Handbook of Mathematical Functions" (1964).
fn within(angle: f64, freedom: usize) -> f64 {
    let (sine, cosine) = angle.sin_cos();
    let odd = freedom % 2;
    let mut term = if odd == 1 { cosine } else { 1.0 };
    let mut sum = if freedom == 1 { 0.0 } else { term };
    let mut power = 2 + odd;
    while power < freedom {
        term *= cosine * cosine * (power - 1) as f64 / power as f64;
        sum += term;
        power += 2;
    }
    if odd == 1 { 2.0 / PI * (angle + sine * sum) } else { sine * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 26.10 of Abramowitz & Stegun.
    #[test]
    fn quantiles_are_those_of_the_table() {
        let table = [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (10, 2.228), (30, 2.042)];
        for (freedom, expected) in table {
            let found = two_sided_quantile(0.95, freedom);
            assert!((found - expected).abs() < 6e-4, "{freedom} degrees of freedom: {found}, not {expected}");
        }
        assert!((two_sided_quantile(0.99, 7) - 3.499).abs() < 6e-4);
    }
}
