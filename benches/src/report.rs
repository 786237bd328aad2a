//! The results as a table for people and as CSV for records.

use std::fmt::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::measure::Row;

/// Cell of the table that rows belong to.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The name of the grammar.
    pub grammar: String,
    /// The depth limit.
    pub max_depth: u32,
    /// Destination of the outputs: `memory` or `file`.
    pub sink: &'static str,
}

/// Returns the heading of the table.
pub fn table_heading() -> String {
    format!(
        "{:<11} {:>5} {:<6} {:<16} {:>9} {:>7} {:>11} {:>8} {:>9}",
        "grammar", "depth", "sink", "engine", "MiB/s", "ratio", "bytes/input", "distinct", "choices/B"
    )
}

/// Returns the rows of a cell as lines of the table.
pub fn table_rows(cell: &Cell, rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let Cell { grammar, max_depth, sink } = cell;
        let choices = row.choices_per_byte.map_or("-".to_string(), |choices| format!("{choices:.2}"));
        let distinct = 100.0 * row.distinct.distinct as f64 / row.distinct.inputs.max(1) as f64;
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{grammar:<11} {max_depth:>5} {sink:<6} {:<16} {:>9.1} {:>7.2} {:>11.1} {distinct:>7.1}% {choices:>9}",
            row.engine, row.mib_per_second, row.ratio, row.mean_len
        );
    }
    text
}

/// The heading of the CSV form.
pub const CSV_HEADING: &str = "grammar,max_depth,sink,engine,mib_per_s,ratio_to_textbook,mean_bytes,inputs_compared,inputs_distinct,choices_per_byte,runs\n";

/// Returns the rows of a cell as lines of CSV.
pub fn csv_rows(cell: &Cell, rows: &[Row], runs: usize) -> String {
    let mut text = String::new();
    for row in rows {
        let Cell { grammar, max_depth, sink } = cell;
        let choices = row.choices_per_byte.map_or(String::new(), |choices| format!("{choices:.4}"));
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{grammar},{max_depth},{sink},{},{:.2},{:.4},{:.3},{},{},{choices},{runs}",
            row.engine, row.mib_per_second, row.ratio, row.mean_len, row.distinct.inputs, row.distinct.distinct
        );
    }
    text
}

/// Returns the UTC date as `yyyy-mm-dd`.
pub fn date(now: SystemTime) -> String {
    let days = now.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs() / 86_400;
    // Days since 0000-03-01 in eras of 400 years (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_around_leap_days() {
        let at = |seconds: u64| date(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01");
        assert_eq!(at(951_782_399), "2000-02-28");
        assert_eq!(at(951_782_400), "2000-02-29");
        assert_eq!(at(951_868_800), "2000-03-01");
        assert_eq!(at(1_795_132_800), "2026-11-20");
    }
}
