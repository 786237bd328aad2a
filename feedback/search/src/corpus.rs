//! Texts that are worth varying.

use rustc_hash::FxHashMap;

use crate::random::Random;

/// A text that was kept.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The text.
    pub text: Vec<u8>,
    /// Its cost.
    pub cost: u64,
    /// Number of times that a variant of it was made.
    pub picks: u32,
    /// Number of its variants that were kept.
    pub finds: u32,
    /// The symbols of its derivation, each once.
    symbols: Vec<u32>,
    /// Features of what it makes the subject do, each once.
    features: Vec<u64>,
    /// Whether it was made shorter, or nothing is known of what shorter ones would have to do.
    is_trimmed: bool,
    /// Number of the effort with which it was made shorter when that was asked last; `None` before.
    effort: Option<usize>,
}

/// The texts that a search has kept.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    entries: Vec<Entry>,
    /// Number of texts that have each symbol.
    uses: FxHashMap<u32, u32>,
    /// Number of texts that make the subject do each feature.
    sightings: FxHashMap<u64, u32>,
    /// For each text how rare its rarest symbol is, and its rarest feature; empty when the texts have changed.
    rarities: Vec<f64>,
}

impl Corpus {
    /// Returns the texts, in the order in which they were found.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Keeps a text with the symbols of its derivation, and what it makes the subject do.
    pub(crate) fn keep(&mut self, text: &[u8], cost: u64, symbols: Vec<u32>, features: Vec<u64>) {
        for &symbol in &symbols {
            *self.uses.entry(symbol).or_default() += 1;
        }
        for &feature in &features {
            *self.sightings.entry(feature).or_default() += 1;
        }
        self.rarities.clear();
        self.entries.push(Entry {
            text: text.to_vec(),
            cost,
            picks: 0,
            finds: 0,
            symbols,
            is_trimmed: features.is_empty(),
            effort: None,
            features,
        });
    }

    /// Returns a text that is now to be made shorter; `None` if that was asked since it became shorter.
    pub(crate) fn begin_trim(&mut self, number: usize) -> Option<&[u8]> {
        let entry = &mut self.entries[number];
        (!std::mem::replace(&mut entry.is_trimmed, true)).then_some(&entry.text)
    }

    /// Returns true if a text may be made shorter, and that was not asked since it became shorter.
    pub(crate) fn may_trim(&self, number: usize) -> bool {
        !self.entries[number].is_trimmed
    }

    /// Returns the number of the effort with which a text was made shorter when that was asked last.
    pub(crate) fn effort(&self, number: usize) -> Option<usize> {
        self.entries.get(number)?.effort
    }

    /// Takes note of the effort with which a text is made shorter now, if at all.
    pub(crate) fn set_effort(&mut self, number: usize, effort: usize) {
        self.entries[number].effort = Some(effort);
    }

    pub(crate) fn len_of(&self, number: usize) -> usize {
        self.entries[number].text.len()
    }

    /// Replaces a text by a shorter one, which makes the subject do the same. It may become shorter still.
    pub(crate) fn shorten(&mut self, number: usize, text: &[u8], symbols: Vec<u32>) {
        let entry = &mut self.entries[number];
        entry.text = text.to_vec();
        entry.is_trimmed = false;
        for symbol in std::mem::replace(&mut entry.symbols, symbols) {
            if let Some(uses) = self.uses.get_mut(&symbol) {
                *uses -= 1;
            }
        }
        for &symbol in &self.entries[number].symbols {
            *self.uses.entry(symbol).or_default() += 1;
        }
        self.rarities.clear();
    }

    /// Returns what a text makes the subject do; nothing if that is not known.
    pub(crate) fn features(&self, number: usize) -> &[u64] {
        &self.entries[number].features
    }

    /// Takes one of the texts out.
    pub(crate) fn remove(&mut self, number: usize) {
        let entry = self.entries.remove(number);
        self.rarities.clear();
        for symbol in entry.symbols {
            if let Some(uses) = self.uses.get_mut(&symbol) {
                *uses -= 1;
            }
        }
        for feature in entry.features {
            if let Some(sightings) = self.sightings.get_mut(&feature) {
                *sightings -= 1;
            }
        }
    }

    /// Returns a text to vary: the more its variants have paid and the rarer its rarest symbol and its rarest feature
    /// are among all texts, the more often.
    pub(crate) fn pick(&mut self, random: &mut Random) -> Option<usize> {
        if self.rarities.is_empty() {
            self.rarities = self.entries.iter().map(|entry| self.rarity(entry)).collect();
        }
        let weights = || self.entries.iter().zip(&self.rarities).map(|(entry, rarity)| weight(entry, *rarity));
        let mut left = random.unit() * weights().sum::<f64>();
        let number = weights().position(|weight| {
            left -= weight;
            left < 0.0
        });
        let number = number.or(self.entries.len().checked_sub(1))?;
        self.entries[number].picks += 1;
        Some(number)
    }

    fn rarity(&self, entry: &Entry) -> f64 {
        let symbol = entry.symbols.iter().filter_map(|symbol| self.uses.get(symbol)).min().copied().unwrap_or(1);
        let feature = entry.features.iter().filter_map(|feature| self.sightings.get(feature)).min().copied();
        // A text that is not known to do anything counts as one that does what all do.
        let feature = feature.map_or(self.entries.len() as f64, f64::from);
        (0.25 + 1.0 / f64::from(symbol)) / feature
    }

    pub(crate) fn found(&mut self, number: usize) {
        if let Some(entry) = self.entries.get_mut(number) {
            entry.finds += 1;
        }
    }
}

fn weight(entry: &Entry, rarity: f64) -> f64 {
    let yield_so_far = f64::from(entry.finds + 1) / f64::from(entry.picks + 2);
    yield_so_far * rarity
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_symbols_are_favoured() {
        let mut corpus = Corpus::default();
        for number in 0..20 {
            corpus.keep(b"usual", number, vec![1, 2], vec![]);
        }
        corpus.keep(b"rare", 0, vec![1, 3], vec![]);
        let mut random = Random::new(3);
        for _ in 0..200 {
            corpus.pick(&mut random);
        }
        let picks: Vec<u32> = corpus.entries().iter().map(|entry| entry.picks).collect();
        assert!(picks[20] > *picks[..20].iter().max().expect("others"), "{picks:?}");
        corpus.remove(20);
        assert_eq!(corpus.uses[&3], 0);
        assert_eq!(Corpus::default().pick(&mut random), None);
    }

    #[test]
    fn texts_that_are_not_known_to_do_anything_are_not_favoured() {
        let mut corpus = Corpus::default();
        for number in 0..10 {
            corpus.keep(b"idle", number, vec![1], vec![]);
        }
        for number in 0..10 {
            corpus.keep(b"useful", number, vec![1], vec![1, 2 + number]);
        }
        let mut random = Random::new(3);
        for _ in 0..400 {
            corpus.pick(&mut random);
        }
        let picks = |from| corpus.entries()[from..from + 10].iter().map(|entry| entry.picks).sum::<u32>();
        assert!(picks(0) < picks(10) / 2, "{} {}", picks(0), picks(10));
    }
}
