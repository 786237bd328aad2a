//! Maps from pairs of small numbers.

/// A map from pairs of numbers, by open addressing. Nothing depends on the order of its slots.
#[derive(Clone, Debug)]
pub(super) struct Pairs<V> {
    /// A power of two of them, or none. At most half of them are taken.
    slots: Vec<Option<(u64, V)>>,
    len: usize,
}

impl<V> Default for Pairs<V> {
    fn default() -> Pairs<V> {
        Pairs { slots: Vec::new(), len: 0 }
    }
}

impl<V> Pairs<V> {
    /// Returns the number of pairs.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Removes all pairs.
    pub(super) fn clear(&mut self) {
        *self = Pairs::default();
    }

    /// Returns the value of a pair.
    pub(super) fn get(&self, pair: (usize, usize)) -> Option<&V> {
        if self.slots.is_empty() {
            return None;
        }
        let place = self.place(key(pair));
        self.slots[place].as_ref().map(|slot| &slot.1)
    }

    /// Gives a pair a value.
    pub(super) fn insert(&mut self, pair: (usize, usize), value: V) {
        if 2 * self.len >= self.slots.len() {
            self.grow();
        }
        let place = self.place(key(pair));
        self.len += usize::from(self.slots[place].is_none());
        self.slots[place] = Some((key(pair), value));
    }

    fn grow(&mut self) {
        let mut slots = Vec::new();
        slots.resize_with((2 * self.slots.len()).max(16), || None);
        for slot in std::mem::replace(&mut self.slots, slots).into_iter().flatten() {
            let place = self.place(slot.0);
            self.slots[place] = Some(slot);
        }
    }

    /// Returns the slot of a key, or the free slot where it belongs.
    fn place(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut place = hash(key) & mask;
        while let Some(slot) = &self.slots[place] {
            if slot.0 == key {
                break;
            }
            place = (place + 1) & mask;
        }
        place
    }
}

/// Returns a pair as one number. The numbers of a grammar's parts are below 2^32.
fn key((a, b): (usize, usize)) -> u64 {
    (a as u64) << 32 | b as u64
}

/// Returns both halves, added without carry, of the product with a number without pattern: digits of pi.
fn hash(key: u64) -> usize {
    let product = u128::from(key ^ 0x1319_8A2E_0370_7344) * 0x243F_6A88_85A3_08D3;
    ((product >> 64) as u64 ^ product as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn pairs_are_those_of_the_standard_library() {
        arbtest::arbtest(|source| {
            let (mut pairs, mut expected) = (Pairs::default(), BTreeMap::new());
            while !source.is_empty() {
                let pair: (u8, u8) = source.arbitrary()?;
                let pair = (usize::from(pair.0 % 8), usize::from(pair.1));
                match source.int_in_range(0..=40)? {
                    0 => {
                        pairs.clear();
                        expected.clear();
                    }
                    1..20 => {
                        let value: u16 = source.arbitrary()?;
                        pairs.insert(pair, value);
                        expected.insert(pair, value);
                    }
                    _ => {}
                }
                assert_eq!(pairs.get(pair), expected.get(&pair));
                assert_eq!(pairs.len(), expected.len());
            }
            Ok(())
        })
        .size_min(100)
        .budget_ms(300);
    }
}
