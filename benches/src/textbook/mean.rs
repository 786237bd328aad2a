//! The exact mean length of the textbook producer's outputs, from the probabilities of its choices.

use super::emit::option_slots;
use super::flat::{Body, Flat, Item};
use super::pools::pools;

/// Returns the mean length in bytes of an output of the start rule, for each of the depth limits.
pub fn mean_lengths(flat: &Flat, max_depths: &[u32]) -> Vec<f64> {
    let deepest = max_depths.iter().copied().max().unwrap_or(0);
    // Beyond the limit a counted rule is a string of its pool.
    let mut counted: Vec<f64> = pools(flat).iter().map(|pool| pool_mean(pool)).collect();
    let mut start_means = Vec::new();
    for _ in 0..=deepest {
        let mut means = Means { flat, deeper: &counted, known: vec![None; flat.rules.len()] };
        let level: Vec<f64> = (0..flat.rules.len()).map(|rule| means.body(rule)).collect();
        start_means.push(level[0]);
        counted = level;
    }
    max_depths.iter().map(|&max_depth| start_means[max_depth as usize]).collect()
}

fn pool_mean(pool: &[Vec<u8>]) -> f64 {
    let slots = option_slots(pool.len(), None);
    let total: f64 = slots.iter().sum::<u32>().into();
    pool.iter().zip(&slots).map(|(string, &slots)| string.len() as f64 * f64::from(slots)).sum::<f64>() / total.max(1.0)
}

/// The means of rules at one level of depth, given those of counted rules one level deeper.
struct Means<'a> {
    flat: &'a Flat,
    deeper: &'a [f64],
    known: Vec<Option<f64>>,
}

impl Means<'_> {
    /// Returns the mean of a rule whose body is at this level. Recursion passes through helpers only, which are nested.
    fn body(&mut self, rule: usize) -> f64 {
        if let Some(mean) = self.known[rule] {
            return mean;
        }
        let flat = self.flat;
        let mean = match &flat.rules[rule].body {
            Body::Alternatives { sequences, weights } => {
                let slots = option_slots(sequences.len(), weights.as_deref());
                let total: f64 = slots.iter().sum::<u32>().into();
                let sum: f64 =
                    sequences.iter().zip(&slots).map(|(items, &slots)| self.items(items) * f64::from(slots)).sum();
                sum / total
            }
            Body::Class(set) => {
                let bytes: u64 =
                    (1..=4).map(|length| u64::from(set.len_within(length) - set.len_within(length - 1)) * length).sum();
                bytes as f64 / f64::from(set.len())
            }
            Body::Repeat { item, min, max } => {
                let further = match max {
                    Some(max) => 1.0 - 0.5_f64.powi((max - min).min(1000) as i32),
                    None => 1.0,
                };
                self.items(item) * (f64::from(*min) + further)
            }
        };
        self.known[rule] = Some(mean);
        mean
    }

    fn items(&mut self, items: &[Item]) -> f64 {
        items
            .iter()
            .map(|item| match item {
                Item::Bytes(bytes) => bytes.len() as f64,
                Item::Rule(rule) if self.flat.rules[*rule].counted => self.deeper[*rule],
                Item::Rule(rule) => self.body(*rule),
            })
            .sum()
    }
}
