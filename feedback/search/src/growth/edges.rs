//! Growth of each edge of a program: where the cost of a family is spent.

use rustc_hash::FxHashMap;

use super::{Growth, Measurement};

/// Growth of the count of an edge, as a function of the size.
#[derive(Clone, Debug)]
pub struct EdgeGrowth {
    /// The edge's number.
    pub edge: u32,
    /// Growth of its count.
    pub growth: Growth,
    /// Its count at the largest size.
    pub count: u64,
}

/// Fits the growth of every edge that occurs in at least `least_sizes` of the runs, and returns the edges that grow
/// fastest first, those of equal growth by their counts at the largest size.
///
/// A run is a size with the edges that were executed and their counts. Runs that were stopped should be left out.
/// Exponents count as equal when they are equal in tenths.
pub fn edges_by_growth<C: Copy + Into<u64>>(runs: &[(f64, &[(u32, C)])], least_sizes: usize) -> Vec<EdgeGrowth> {
    let mut largest_first: Vec<_> = runs.iter().collect();
    largest_first.sort_by(|left, right| right.0.total_cmp(&left.0));
    let mut series: FxHashMap<u32, Series> = FxHashMap::default();
    for (place, (_, counts)) in largest_first.iter().enumerate() {
        for &(edge, count) in counts.iter() {
            series.entry(edge).or_default().push((place, count.into()));
        }
    }
    // Edges of one block, and of blocks in one loop, have equal or proportional counts, which grow alike.
    let mut known: FxHashMap<Series, Option<Growth>> = FxHashMap::default();
    let mut fit = |series: &Series| {
        let growth = || Growth::of(&measurements(series, &largest_first));
        known.entry(reduced(series)).or_insert_with(growth).clone()
    };
    let mut edges: Vec<EdgeGrowth> = Vec::new();
    for (edge, series) in series {
        if series.len() < least_sizes {
            continue;
        }
        let count = series.first().map_or(0, |&(place, count)| if place == 0 { count } else { 0 });
        edges.extend(fit(&series).map(|growth| EdgeGrowth { edge, growth, count }));
    }
    edges.sort_by_key(|edge| (std::cmp::Reverse((edge.growth.rank(), edge.count)), edge.edge));
    edges
}

/// Counts with the place of their run, in the order of the runs.
type Series = Vec<(usize, u64)>;

fn measurements<T>(series: &Series, runs: &[&(f64, T)]) -> Vec<Measurement> {
    series.iter().map(|&(place, count)| Measurement::new(runs[place].0, count as f64)).collect()
}

/// Returns the counts divided by their greatest common divisor.
fn reduced(series: &Series) -> Series {
    let divisor = series.iter().fold(0, |divisor, &(_, count)| greatest_common_divisor(divisor, count)).max(1);
    series.iter().map(|&(place, count)| (place, count / divisor)).collect()
}

fn greatest_common_divisor(mut left: u64, mut right: u64) -> u64 {
    while right > 0 {
        (left, right) = (right, left % right);
    }
    left
}
