//! Sets of small numbers as bits.

/// A set of numbers below a fixed bound.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// Returns an empty set for numbers below `bound`.
    pub(super) fn new(bound: usize) -> Bits {
        Bits { words: vec![0; bound.div_ceil(64)] }
    }

    /// Adds a number. Returns whether it is new.
    pub(super) fn insert(&mut self, number: usize) -> bool {
        let word = &mut self.words[number / 64];
        let old = *word;
        *word |= 1 << (number % 64);
        *word != old
    }

    pub(super) fn contains(&self, number: usize) -> bool {
        self.words[number / 64] >> (number % 64) & 1 == 1
    }

    /// Adds all numbers of `other`. Returns whether one of them is new.
    pub(super) fn extend(&mut self, other: &Bits) -> bool {
        let mut grown = false;
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            grown |= *other & !*word != 0;
            *word |= other;
        }
        grown
    }

    /// Returns the numbers that are in both sets.
    pub(super) fn intersection(&self, other: &Bits) -> Bits {
        Bits { words: self.words.iter().zip(&other.words).map(|(a, b)| a & b).collect() }
    }

    /// Returns true if there are no numbers.
    pub(super) fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Returns the numbers in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            std::iter::successors((word != 0).then_some(word), |&rest| {
                let rest = rest & (rest - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |rest| index * 64 + rest.trailing_zeros() as usize)
        })
    }
}
