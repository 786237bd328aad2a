//! A row of numbers as a line of text.

/// Returns the numbers as blocks of eight heights, one character each: the lowest block for 0, a full one for the
/// greatest.
///
/// ```
/// assert_eq!(gramjet_search::report::sparkline(&[0, 1, 2, 4, 7]), "▁▂▃▅█");
/// ```
pub fn sparkline(values: &[u64]) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = u128::from(values.iter().copied().max().unwrap_or(0).max(1));
    values.iter().map(|&value| BLOCKS[((u128::from(value) * 7 + most / 2) / most) as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_are_shares_of_the_greatest() {
        assert_eq!(sparkline(&[]), "");
        assert_eq!(sparkline(&[0, 0]), "▁▁");
        assert_eq!(sparkline(&[5]), "█");
        assert_eq!(sparkline(&[u64::MAX, u64::MAX / 2, 0]), "█▄▁");
    }
}
