//! Numbers of some bits each, packed into whole bytes.

use super::{NumberForm, Order, Term, Value};

/// Numbers of some bits each, which fill whole bytes, at most 8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bits<L> {
    /// The numbers of bits with their values, in the order in which they are written. A value without terms is a
    /// constant.
    pub fields: Vec<(u8, Value<L>)>,
    /// The order: the first field has the highest bits, and the highest byte comes first, or the lowest ones do.
    pub order: Order,
}

/// Place of a number in the bytes that are its own and those of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitPlace {
    /// The number of bits below it.
    pub shift: u32,
    /// The number of its bits.
    pub width: u32,
}

impl BitPlace {
    /// Returns the greatest number that fits.
    pub fn greatest(self) -> u64 {
        u64::MAX >> (64 - self.width.clamp(1, 64))
    }

    /// Returns the number that is here in all of the bits.
    pub fn read(self, all: u64) -> u64 {
        all >> self.shift & self.greatest()
    }

    /// Returns all of the bits with another number here. One that is too great is cut to its lowest bits.
    pub fn write(self, all: u64, number: u64) -> u64 {
        all & !(self.greatest() << self.shift) | (number & self.greatest()) << self.shift
    }
}

impl<L> Bits<L> {
    /// The words that grammars write: the first field in the highest bits, and in the lowest ones.
    pub const WORDS: [&str; 2] = ["bits", "bitsle"];

    /// Returns the order that a grammar calls by this word.
    pub fn order(word: &str) -> Option<Order> {
        match Self::WORDS.iter().position(|&known| known == word)? {
            0 => Some(Order::Big),
            _ => Some(Order::Little),
        }
    }

    /// Returns the word that a grammar writes.
    pub fn word(&self) -> &'static str {
        match self.order {
            Order::Big => Self::WORDS[0],
            Order::Little => Self::WORDS[1],
        }
    }

    /// Returns the length in bytes.
    pub fn width(&self) -> u64 {
        u64::from(self.bits() / 8)
    }

    fn bits(&self) -> u32 {
        self.fields.iter().map(|&(width, _)| u32::from(width)).sum()
    }

    /// Returns the form of all of the bits as one number.
    pub fn form(&self) -> NumberForm {
        NumberForm::Integer((self.bits() / 8) as u8, self.order)
    }

    /// Returns each value with its place.
    pub fn places(&self) -> impl Iterator<Item = (BitPlace, &Value<L>)> {
        let all = self.bits();
        let mut before = 0;
        self.fields.iter().map(move |(width, value)| {
            let width = u32::from(*width);
            before += width;
            let shift = if self.order == Order::Big { all - before } else { before - width };
            (BitPlace { shift, width }, value)
        })
    }

    /// Returns the terms of all values, in order.
    pub fn terms(&self) -> impl Iterator<Item = &Term<L>> {
        self.fields.iter().flat_map(|(_, value)| &value.terms)
    }

    /// Appends the bytes, given the property of each part in the order of the terms.
    pub fn write(&self, mut measured: impl FnMut(&Term<L>) -> u64, output: &mut Vec<u8>) {
        let all = self
            .places()
            .fold(0, |all, (place, value)| place.write(all, value.of(&mut measured).max(0).unsigned_abs()));
        self.form().write(all, output);
    }

    /// Returns it with other labels.
    pub fn map<M>(&self, label: &mut impl FnMut(&L) -> M) -> Bits<M> {
        let fields = self.fields.iter().map(|(width, value)| (*width, value.map(label)));
        Bits { fields: fields.collect(), order: self.order }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_packed_from_either_end() {
        let constant = |width: u8, number: i64| (width, Value::<()>::sum(Vec::new(), number));
        let packed = |order| {
            let bits = Bits { fields: vec![constant(4, 0xA), constant(9, 0x1BC), constant(3, 5)], order };
            let mut output = Vec::new();
            bits.write(|_| 0, &mut output);
            let whole = bits.form().read(&output).expect("a number");
            assert_eq!(bits.places().map(|(place, _)| place.read(whole)).collect::<Vec<_>>(), [0xA, 0x1BC, 5]);
            output
        };
        // 1010 1101 1110 0101, and 101 1101 1110 0 1010 with the lowest byte first.
        assert_eq!(packed(Order::Big), [0xAD, 0xE5]);
        assert_eq!(packed(Order::Little), [0xCA, 0xBB]);
    }
}
