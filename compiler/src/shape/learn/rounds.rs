//! The numbers of rounds of a repetition: ranges with weights that have the mean of the samples.

use crate::ordered::Set;
use crate::shape::weights::{Law, MOST_RANGES, MOST_STEP, Range, last_rounds};

use super::{How, slots_among, slots_of};

/// Ranges begin at no greater number of rounds, so that the shortest text of each can be made.
const GREATEST_START: u32 = 1 << 20;

/// The share of the mean, or of one round if the mean is less, by which whole weights may change it.
const TOLERANCE: f64 = 0.01;

impl How {
    /// Returns the weights of a repetition, from the numbers of rounds that occurred and how often. `room` is the
    /// greatest number of rounds beyond the minimum.
    pub(super) fn rounds(&self, counts: &[(u32, u64)], room: Option<u32>, most: usize) -> Option<Law> {
        if counts.is_empty() || room == Some(0) || most < 2 {
            return None;
        }
        // The middle of a bin may be beyond the room.
        let counts: Vec<(u32, u64)> =
            counts.iter().map(|&(rounds, count)| (room.map_or(rounds, |room| rounds.min(room)), count)).collect();
        let counts = counts.as_slice();
        let ranges = exact(counts, room, most).unwrap_or_else(|| fitted(counts, room, most));
        if ranges.len() < 2 {
            return None;
        }
        let means: Vec<f64> = ranges.iter().map(Range::mean).collect();
        let shares = tilted(&sums(&ranges, counts), &means, mean(counts));
        let smoothed: Vec<f64> = shares.iter().map(|share| share + self.smoothing).collect();
        let shares = self.invert(&smoothed, &vec![true; smoothed.len()]);
        let weights = whole(&shares, &means);
        let starts = ranges.iter().map(|range| range.start).collect();
        let steps = ranges.iter().map(|range| range.step).collect();
        Some(Law::Rounds { starts, steps, weights })
    }
}

/// Returns a range for each number that occurred, and for those between. `None` if there are too many.
fn exact(counts: &[(u32, u64)], room: Option<u32>, most: usize) -> Option<Vec<Range>> {
    let mut starts = Set::new();
    starts.insert(0);
    for &(rounds, _) in counts {
        starts.insert(rounds);
        starts.insert(rounds.saturating_add(1));
    }
    let starts: Vec<u32> = starts.into_iter().filter(|&start| room.is_none_or(|room| start <= room)).collect();
    let fits = starts.len() <= most.min(MOST_RANGES) && starts.last().is_some_and(|&last| last <= GREATEST_START);
    let ranges = || last_rounds(&starts, room).map(|(start, last)| Range { start, last, step: 1 });
    fits.then(|| ranges().collect())
}

/// Returns ranges with about the same number of derivations each, and ranges for what is far between numbers that
/// occurred. The length of each of the former but the last is a power of two.
fn fitted(counts: &[(u32, u64)], room: Option<u32>, most: usize) -> Vec<Range> {
    let greatest = counts.last().map_or(0, |last| last.0);
    let (mut ranges, mut start) = (Vec::new(), 0);
    let is_within = |last: u32| last < GREATEST_START && room.is_none_or(|room| last < room);
    while ranges.len() + 1 < most && start <= greatest && is_within(start) {
        let next = counts[counts.partition_point(|&(rounds, _)| rounds < start)].0;
        if next - start > (greatest - start) / 8 && is_within(next - 1) {
            ranges.push(Range { start, last: Some(next - 1), step: 1 });
            start = next;
            continue;
        }
        let left = count(counts, start, None);
        let wanted = left as f64 / (most - ranges.len()) as f64;
        let lasts = (0..MOST_STEP.ilog2()).map(|bits| start + ((1 << bits) - 1)).take_while(|&last| is_within(last));
        let excess = |last: u32| (count(counts, start, Some(last)) as f64 - wanted).abs();
        // Of equally good ones the last.
        let last = lasts.max_by(|&a, &b| excess(b).total_cmp(&excess(a))).unwrap_or(start);
        ranges.push(stepped(counts, start, Some(last)));
        start = last + 1;
    }
    ranges.push(stepped(counts, start, room));
    ranges
}

/// Returns a range whose step gives it a mean near that of the numbers that occurred.
fn stepped(counts: &[(u32, u64)], start: u32, last: Option<u32>) -> Range {
    let within: Vec<(u32, u64)> = counts.iter().copied().filter(|&(rounds, _)| is_in(rounds, start, last)).collect();
    let wanted = mean(&within);
    let divides = |step: u32| last.is_none_or(|last| (last - start + 1).is_multiple_of(step));
    let steps = (0..=MOST_STEP.ilog2()).map(|bits| 1 << bits).take_while(|&step| divides(step));
    let ranges = steps.map(|step| Range { start, last, step });
    let error = |range: &Range| (range.mean() - wanted).abs();
    // Of equal ones the last: the greater the step, the evener the range.
    let nearest = ranges.min_by(|a, b| error(a).total_cmp(&error(b)).then(b.step.cmp(&a.step)));
    nearest.filter(|_| !within.is_empty()).unwrap_or(Range { start, last, step: 1 })
}

fn is_in(rounds: u32, start: u32, last: Option<u32>) -> bool {
    rounds >= start && last.is_none_or(|last| rounds <= last)
}

fn count(counts: &[(u32, u64)], start: u32, last: Option<u32>) -> u64 {
    counts.iter().filter(|&&(rounds, _)| is_in(rounds, start, last)).map(|(_, count)| count).sum()
}

/// Returns the mean of the numbers that occurred.
fn mean(counts: &[(u32, u64)]) -> f64 {
    let total: u64 = counts.iter().map(|(_, count)| count).sum();
    counts.iter().map(|&(rounds, count)| f64::from(rounds) * count as f64).sum::<f64>() / total as f64
}

/// Returns how often each range occurred.
fn sums(ranges: &[Range], counts: &[(u32, u64)]) -> Vec<f64> {
    ranges.iter().map(|range| count(counts, range.start, range.last) as f64).collect()
}

/// Changes counts so that their mean is `wanted`, each by a factor that is linear in the mean of its range.
fn tilted(sums: &[f64], means: &[f64], wanted: f64) -> Vec<f64> {
    let total: f64 = sums.iter().sum();
    let all = || sums.iter().zip(means);
    let mean = all().map(|(sum, mean)| sum * mean).sum::<f64>() / total;
    let variance = all().map(|(sum, own)| sum * (own - mean) * (own - mean)).sum::<f64>() / total;
    let lean = (wanted - mean) / variance;
    // No range that occurred may vanish.
    let least = all().filter(|(sum, _)| **sum > 0.0).map(|(_, own)| lean * (own - mean)).fold(0.0, f64::min);
    let lean = if least < -0.9 { lean * -0.9 / least } else { lean };
    if lean.is_finite() { all().map(|(sum, own)| sum * (1.0 + lean * (own - mean))).collect() } else { sums.to_vec() }
}

/// Returns whole weights, with as few slots as keep the mean.
fn whole(shares: &[f64], means: &[f64]) -> Vec<u32> {
    let coarse = slots_of(shares);
    let wanted: f64 = shares.iter().zip(means).map(|(share, mean)| share * mean).sum();
    let total: u32 = coarse.iter().sum();
    // A range of weight 0 has one slot, too.
    let found = coarse.iter().zip(means).map(|(&weight, mean)| f64::from(weight.max(1)) * mean).sum::<f64>();
    if (found / f64::from(total) - wanted).abs() <= TOLERANCE * wanted.max(1.0) {
        return coarse;
    }
    slots_among(shares, 1 << 24)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(law: &Law, room: Option<u32>) -> f64 {
        let Law::Rounds { starts, steps, weights } = law else { panic!("{law:?}") };
        let total: u32 = weights.iter().sum();
        let ranges = last_rounds(starts, room).zip(steps).zip(weights);
        let mean = ranges.map(|(((start, last), &step), &weight)| {
            Range { start, last, step }.mean() * f64::from(weight) / f64::from(total)
        });
        mean.sum()
    }

    /// Returns numbers of rounds as samples have them: even, decaying, far apart, constant, of a heavy tail.
    fn samples() -> Vec<(&'static str, Vec<(u32, u64)>)> {
        let from = |of: &dyn Fn(u32) -> f64, most: u32| -> Vec<(u32, u64)> {
            (0..most).map(|rounds| (rounds, of(rounds) as u64)).filter(|&(_, count)| count > 0).collect()
        };
        vec![
            ("even", from(&|_| 10.0, 200)),
            ("decaying", from(&|rounds| 1e6 * 0.98f64.powi(rounds as i32), 600)),
            ("slow", from(&|rounds| 1e6 * 0.999f64.powi(rounds as i32), 9000)),
            ("two", from(&|rounds| if rounds < 5 || (300..310).contains(&rounds) { 70.0 } else { 0.0 }, 400)),
            ("constant", vec![(37, 1000)]),
            ("humped", from(&|rounds| 1e4 * (-(f64::from(rounds) - 80.0).powi(2) / 400.0).exp(), 300)),
            ("heavy", from(&|rounds| 1e6 / f64::from(rounds + 1).powi(2), 1000)),
            ("rare", vec![(0, 900_000), (1, 50_000), (2, 40_000), (3, 9_999), (4, 9), (50_000, 1)]),
        ]
    }

    #[test]
    fn learned_rounds_have_the_mean_of_the_samples() {
        for (name, counts) in samples() {
            for most in [MOST_RANGES, 4] {
                let law = How::COMMON.rounds(&counts, None, most).expect("weights");
                let (found, wanted) = (drawn(&law, None), mean(&counts));
                assert!((found - wanted).abs() <= 0.03 * wanted, "{name} {most}: {found} {wanted} {law:?}");
            }
        }
        let even: Vec<(u32, u64)> = (0..=100).map(|rounds| (rounds, 5)).collect();
        let law = How::COMMON.rounds(&even, Some(100), MOST_RANGES).expect("weights");
        assert!((drawn(&law, Some(100)) - 50.0).abs() < 1.5, "{law:?}");
    }

    /// The greatest difference of the probabilities of at most n rounds.
    #[test]
    fn learned_rounds_are_distributed_like_the_samples() {
        for (name, counts) in samples() {
            let law = How::COMMON.rounds(&counts, None, MOST_RANGES).expect("weights");
            let Law::Rounds { starts, steps, weights } = &law else { panic!("{law:?}") };
            let total: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
            let all = count(&counts, 0, None) as f64;
            for limit in (0..500).step_by(7) {
                let below = |((range, &step), &weight): (((u32, Option<u32>), &u32), &u32)| {
                    f64::from(weight) / total * Range { start: range.0, last: range.1, step }.at_most(limit)
                };
                let found: f64 = last_rounds(starts, None).zip(steps).zip(weights).map(below).sum();
                let wanted = count(&counts, 0, Some(limit)) as f64 / all;
                assert!((found - wanted).abs() < 0.08, "{name}: at most {limit}: {found} {wanted} {law:?}");
            }
        }
    }

    /// Ranges that no sample has are only read, and need no wider sites.
    #[test]
    fn ranges_without_samples_have_no_weight() {
        let weights = |counts: &[(u32, u64)], room| match How::COMMON.rounds(counts, room, MOST_RANGES) {
            Some(Law::Rounds { weights, .. }) => weights,
            other => panic!("{other:?}"),
        };
        assert_eq!(weights(&[(0, 5)], Some(1)), [1 << 16, 0]);
        assert_eq!(weights(&[(0, 5)], None), [1 << 16, 0]);
        // A rare range of many rounds needs more slots.
        let fine = weights(&[(0, 999_999), (50_000, 1)], None);
        assert!(fine.iter().sum::<u32>() == 1 << 24 && fine[1] == 0 && fine[3] == 0, "{fine:?}");
    }

    #[test]
    fn ranges_fit_the_repetition() {
        let numbers = |ranges: Vec<Range>| -> Vec<u32> { ranges.iter().map(|range| range.start).collect() };
        assert_eq!(exact(&[(0, 5)], None, 16).map(numbers), Some(vec![0, 1]));
        assert_eq!(exact(&[(3, 5), (7, 1)], None, 16).map(numbers), Some(vec![0, 3, 4, 7, 8]));
        assert_eq!(exact(&[(3, 5), (7, 1)], Some(7), 16).map(numbers), Some(vec![0, 3, 4, 7]));
        for (name, counts) in samples() {
            for most in [2, 4, MOST_RANGES] {
                for room in [None, Some(counts.last().map_or(0, |last| last.0)), Some(1 << 16)] {
                    let ranges = fitted(&counts, room, most);
                    assert!(
                        (1..=most.max(2)).contains(&ranges.len()) && ranges[0].start == 0,
                        "{name} {most} {room:?}"
                    );
                    assert_eq!(ranges.last().map(|range| range.last), Some(room), "{name} {most}");
                    for range in &ranges {
                        let len = range.last.map(|last| last - range.start + 1);
                        assert!(
                            range.step.is_power_of_two() && len.is_none_or(|len| len % range.step == 0),
                            "{range:?}"
                        );
                    }
                    assert!(ranges.windows(2).all(|two| two[0].last.map(|last| last + 1) == Some(two[1].start)));
                }
            }
        }
    }
}
