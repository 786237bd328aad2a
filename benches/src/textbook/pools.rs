//! The pool of a rule: the strings that the producer emits in place of the rule beyond the depth limit.

use super::flat::{Body, Flat, Item, Measure, sequence_minimum};

/// No pool has more strings.
pub const MAX_STRINGS: usize = 256;

/// Returns for each counted rule its pool: the strings of its minimum-height derivations, in which every rule takes
/// alternatives of its own minimum height and repetitions stop as soon as they may, without duplicates, by length and
/// bytes. If there are more than [`MAX_STRINGS`] derivations, an even sample of them, found by number and not by
/// listing all. Helpers have none.
///
/// The grammar's rules must all derive a finite string, which [`Flat::new`] has checked.
pub fn pools(flat: &Flat) -> Vec<Vec<Vec<u8>>> {
    let heights = flat.minima(Measure::Height);
    let mut counter = Counter { flat, heights: &heights, counts: vec![None; flat.rules.len()] };
    for rule in 0..flat.rules.len() {
        counter.rule(rule);
    }
    (0..flat.rules.len()).map(|rule| if flat.rules[rule].counted { counter.pool(rule) } else { Vec::new() }).collect()
}

/// Numbers the minimum-height derivations of every rule.
struct Counter<'a> {
    flat: &'a Flat,
    heights: &'a [Option<u64>],
    /// Number of derivations of each rule, saturating, if it is known already.
    counts: Vec<Option<u128>>,
}

impl<'a> Counter<'a> {
    /// Returns the sequences that minimum-height derivations of `rule` take.
    fn lowest(&self, rule: usize) -> impl Iterator<Item = &'a [Item]> + use<'a> {
        let height = |sequence: &[Item], heights: &[Option<u64>]| sequence_minimum(sequence, heights, Measure::Height);
        let sequences = match &self.flat.rules[rule].body {
            Body::Alternatives { sequences, .. } => sequences.as_slice(),
            _ => &[],
        };
        let heights = self.heights;
        let least = sequences.iter().filter_map(|sequence| height(sequence, heights)).min();
        sequences.iter().map(Vec::as_slice).filter(move |sequence| height(sequence, heights) == least)
    }

    /// Returns the number of derivations of `rule`. Recursion ends: a counted rule refers to lower ones only, and
    /// helpers are nested in the order in which they were made.
    fn rule(&mut self, rule: usize) -> u128 {
        if let Some(count) = self.counts[rule] {
            return count;
        }
        let count = match &self.flat.rules[rule].body {
            Body::Alternatives { .. } => {
                let sequences: Vec<&[Item]> = self.lowest(rule).collect();
                sequences.into_iter().fold(0_u128, |sum, sequence| sum.saturating_add(self.sequence(sequence)))
            }
            Body::Class(set) => u128::from(set.len()),
            Body::Repeat { min: 0, .. } => 1,
            Body::Repeat { item, min, .. } => self.sequence(item).saturating_pow(*min),
        };
        self.counts[rule] = Some(count);
        count
    }

    fn sequence(&mut self, sequence: &[Item]) -> u128 {
        sequence.iter().fold(1, |product: u128, item| match item {
            Item::Bytes(_) => product,
            Item::Rule(rule) => product.saturating_mul(self.rule(*rule)),
        })
    }

    fn pool(&mut self, rule: usize) -> Vec<Vec<u8>> {
        let count = self.rule(rule);
        let taken = count.min(MAX_STRINGS as u128);
        let mut strings: Vec<Vec<u8>> = (0..taken)
            .map(|index| {
                let mut string = Vec::new();
                // Spread over all numbers; the remainder term keeps the last digits of the numbers from being all
                // equal.
                let number = index * (count / taken) + index * (count % taken) / taken;
                let offset = if count > taken { (index * 0x9E37_79B1) % (count / taken) } else { 0 };
                self.write_rule(rule, number + offset, &mut string);
                string
            })
            .collect();
        strings.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        strings.dedup();
        strings
    }

    /// Writes derivation `number` of `rule`.
    fn write_rule(&mut self, rule: usize, mut number: u128, string: &mut Vec<u8>) {
        match &self.flat.rules[rule].body {
            Body::Alternatives { .. } => {
                let sequences: Vec<&[Item]> = self.lowest(rule).collect();
                for sequence in sequences {
                    let count = self.sequence(sequence);
                    if number < count {
                        self.write_sequence(sequence, number, string);
                        return;
                    }
                    number -= count;
                }
            }
            Body::Class(set) => {
                if let Some(member) = set.nth(number as u32) {
                    string.extend_from_slice(set.encode(member).as_ref());
                }
            }
            Body::Repeat { item, min, .. } => {
                let count = if *min == 0 { 1 } else { self.sequence(item) };
                for _ in 0..*min {
                    self.write_sequence(item, number % count, string);
                    number /= count;
                }
            }
        }
    }

    fn write_sequence(&mut self, sequence: &[Item], mut number: u128, string: &mut Vec<u8>) {
        for item in sequence {
            match item {
                Item::Bytes(bytes) => string.extend_from_slice(bytes),
                Item::Rule(rule) => {
                    let count = self.rule(*rule);
                    self.write_rule(*rule, number % count, string);
                    number /= count;
                }
            }
        }
    }
}
