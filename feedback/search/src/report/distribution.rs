//! The section on the distribution of costs.

use super::data::{Bucket, Report};
use super::markup::{count, facts};
use super::plot::{Plot, Shape};
use super::scale::Scale;

/// Bars of the plot.
const BARS: usize = 60;

/// Returns the content of the section, if there were runs.
pub(super) fn section(report: &Report) -> Option<String> {
    let buckets = merged(&report.costs);
    (!buckets.is_empty()).then(|| format!("<div class=plots>{}{}</div>\n", plot(report, &buckets), quantiles(&buckets)))
}

/// Returns the buckets that have runs, in order; neighbours are put together where there are too many.
fn merged(buckets: &[Bucket]) -> Vec<Bucket> {
    let mut ordered: Vec<Bucket> = buckets.iter().filter(|bucket| bucket.runs > 0).copied().collect();
    ordered.sort_by_key(|bucket| (bucket.least, bucket.most));
    let merge = |chunk: &[Bucket]| Bucket {
        least: chunk[0].least,
        most: chunk.iter().map(|bucket| bucket.most).max().unwrap_or(0).max(chunk[0].least),
        runs: chunk.iter().fold(0, |runs, bucket| runs.saturating_add(bucket.runs)),
    };
    ordered.chunks(ordered.len().div_ceil(BARS).max(1)).map(merge).collect()
}

fn plot(report: &Report, buckets: &[Bucket]) -> String {
    let bars: Vec<(f64, f64, f64)> = buckets.iter().map(bar).collect();
    let ends: Vec<f64> = bars.iter().flat_map(|(left, right, _)| [*left, *right]).collect();
    let most = bars.iter().map(|bar| bar.2).fold(10.0, f64::max);
    let plot = Plot {
        title: format!("Number of runs by cost, in {}", report.unit),
        across: "cost of a run".to_string(),
        x: Scale::log(&ends),
        // One run has a bar that can be seen.
        y: Scale::log(&[0.7, most]).with_room(),
        shapes: vec![Shape::Bars { series: 0, bars }],
    };
    format!("<figure><figcaption>Number of runs by cost</figcaption>{}</figure>\n", plot.svg())
}

/// Returns the ends and the height of a bar. Costs are whole numbers, so that each has a width; 0 has a place of its
/// own.
fn bar(bucket: &Bucket) -> (f64, f64, f64) {
    let left = if bucket.least == 0 { 0.35 } else { bucket.least as f64 - 0.5 };
    (left, bucket.most as f64 + 0.5, bucket.runs as f64)
}

/// Returns what most runs cost at most, in steps.
fn quantiles(buckets: &[Bucket]) -> String {
    let names = [("half of the runs", 500), ("90 %", 900), ("99 %", 990), ("99.9 %", 999), ("all", 1000)];
    facts(&names.map(|(name, thousandths)| {
        (name.replace(' ', "\u{A0}"), format!("at most {}", count(quantile(buckets, thousandths))))
    }))
}

/// Returns the upper end of the first bucket up to which at least `thousandths` of the runs lie.
fn quantile(buckets: &[Bucket], thousandths: u128) -> u64 {
    let all: u128 = buckets.iter().map(|bucket| u128::from(bucket.runs)).sum();
    let mut runs = 0;
    let holds = |bucket: &&Bucket| {
        runs += u128::from(bucket.runs);
        runs * 1000 >= all * thousandths
    };
    buckets.iter().find(holds).map_or(0, |bucket| bucket.most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(least: u64, most: u64, runs: u64) -> Bucket {
        Bucket { least, most, runs }
    }

    #[test]
    fn buckets_are_ordered_and_merged() {
        let buckets = [bucket(4, 7, 1), bucket(0, 0, 3), bucket(1, 3, 0)];
        assert_eq!(merged(&buckets), [bucket(0, 0, 3), bucket(4, 7, 1)]);
        let many: Vec<Bucket> = (0..100_000).map(|cost| bucket(cost, cost, 1)).collect();
        let merged = merged(&many);
        assert_eq!((merged.len(), merged[0], merged[59].most), (60, bucket(0, 1666, 1667), 99_999));
    }

    #[test]
    fn quantiles_are_ends_of_buckets() {
        let buckets = [bucket(0, 0, 500), bucket(1, 9, 499), bucket(10, 99, 1)];
        assert_eq!([500, 501, 999, 1000].map(|thousandths| quantile(&buckets, thousandths)), [0, 9, 9, 99]);
        assert_eq!(quantile(&[bucket(1, u64::MAX, u64::MAX); 3], 1000), u64::MAX);
    }
}
