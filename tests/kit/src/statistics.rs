//! The chi-square test.

/// Returns a measure of how counts agree with probabilities: the statistic and its degrees of freedom. Cells that
/// expect less than 5 are put together.
pub fn chi_square(cells: impl IntoIterator<Item = (u64, f64)>, total: u64) -> (f64, u32) {
    let (mut statistic, mut used) = (0.0, 0u32);
    let (mut rare_count, mut rare_expected) = (0.0, 0.0);
    let term = |count: f64, expected: f64| (count - expected).powi(2) / expected;
    for (count, probability) in cells {
        let expected = probability * total as f64;
        if expected < 5.0 {
            rare_count += count as f64;
            rare_expected += expected;
        } else {
            statistic += term(count as f64, expected);
            used += 1;
        }
    }
    if rare_expected > 0.5 {
        statistic += term(rare_count, rare_expected);
        used += 1;
    } else if rare_count > 8.0 {
        // Poisson: less probable than 1e-9.
        statistic = f64::INFINITY;
    }
    (statistic, used.saturating_sub(1))
}

/// Returns the value that chi-square with `freedom` degrees of freedom exceeds with probability 1e-6: Wilson and
/// Hilferty's approximation (1931), which is too great by a seventh for 1 degree of freedom and good to a percent from
/// 10 on.
pub fn chi_square_bound(freedom: u32) -> f64 {
    /// The standard normal deviate that is exceeded with probability 1e-6.
    const DEVIATE: f64 = 4.7534;
    let freedom = f64::from(freedom.max(1));
    let part = 2.0 / (9.0 * freedom);
    freedom * (1.0 - part + DEVIATE * part.sqrt()).powi(3)
}
