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
    /// How often a variant of it was made.
    pub picks: u32,
    /// How many of them were kept.
    pub finds: u32,
    /// The symbols of its derivation, each once.
    symbols: Vec<u32>,
}

/// The texts that a search has kept.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    entries: Vec<Entry>,
    /// In how many of them each symbol is.
    uses: FxHashMap<u32, u32>,
    /// For each text how rare its rarest symbol is; empty when the texts have changed.
    rarities: Vec<f64>,
}

impl Corpus {
    /// The texts, in the order in which they were found.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Keeps a text with the symbols of its derivation.
    pub(crate) fn keep(&mut self, text: &[u8], cost: u64, symbols: Vec<u32>) {
        for &symbol in &symbols {
            *self.uses.entry(symbol).or_default() += 1;
        }
        self.rarities.clear();
        self.entries.push(Entry { text: text.to_vec(), cost, picks: 0, finds: 0, symbols });
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
    }

    /// A text to vary: the more its variants have paid and the rarer its rarest symbol is among all texts, the more
    /// often.
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
        let rarest = entry.symbols.iter().filter_map(|symbol| self.uses.get(symbol)).min();
        1.0 / f64::from(*rarest.unwrap_or(&1))
    }

    pub(crate) fn found(&mut self, number: usize) {
        if let Some(entry) = self.entries.get_mut(number) {
            entry.finds += 1;
        }
    }
}

fn weight(entry: &Entry, rarity: f64) -> f64 {
    let yield_so_far = f64::from(entry.finds + 1) / f64::from(entry.picks + 2);
    yield_so_far * (0.25 + rarity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_symbols_are_favoured() {
        let mut corpus = Corpus::default();
        for number in 0..20 {
            corpus.keep(b"usual", number, vec![1, 2]);
        }
        corpus.keep(b"rare", 0, vec![1, 3]);
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
}
