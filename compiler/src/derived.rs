//! Bytes that follow from labelled parts of a text: copies, lengths, counts, offsets, checksums and digests, and how
//! numbers are written.
//!
//! The labels are names in a syntax tree and numbers in an IR.

mod bits;
mod digests;
mod forms;
mod padding;
mod ranges;
mod sums;

pub use bits::{BitPlace, Bits};
pub use digests::Digest;
pub use forms::{NumberForm, Order, Radix};
pub use padding::Padding;
pub use sums::Sum;

/// Bytes that follow from labelled parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Derived<L> {
    /// The bytes of a part, again.
    Copy(L),
    /// A number.
    Number(Value<L>, NumberForm),
    /// Numbers of some bits each.
    Bits(Bits<L>),
    /// Filler bytes after a part.
    Padding(L, Padding),
}

/// A number that follows from labelled parts: a sum of terms and a constant, or such a sum divided by a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value<L> {
    /// The terms; at least one, but in bit fields.
    pub terms: Vec<Term<L>>,
    /// The constant that is added.
    pub plus: i64,
    /// The number by which the sum is divided, at least 1. Quotients are rounded up.
    pub divisor: u32,
    /// The bytes that count as others, if it is a checksum or a digest of a part that contains it.
    pub blank: Option<Blank<L>>,
}

/// Bytes that count as others in the checksum of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blank<L> {
    /// The label of the part whose bytes they are. `None` for those of the number itself.
    pub part: Option<L>,
    /// The byte that each of them counts as.
    pub byte: u8,
}

/// A property of a labelled part, multiplied by a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term<L> {
    /// The factor, at least 1.
    pub times: u32,
    /// The property.
    pub measure: Measure,
    /// The label of the part.
    pub label: L,
}

/// A property of a labelled part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Its length in bytes.
    Len,
    /// Its number of rounds, if it is a repetition.
    Count,
    /// The number of bytes before it in the text.
    Offset,
    /// The number of bytes before it in the text, subtracted: an offset from the beginning of this part is that of
    /// another one without it.
    Base,
    /// A checksum of its bytes.
    Sum(Sum),
    /// A digest of its bytes, which stands alone and is no number.
    Digest(Digest),
}

impl Measure {
    /// Returns the name that a grammar calls it by.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Len => "len",
            Measure::Count => "count",
            Measure::Offset => "offset",
            Measure::Base => "base",
            Measure::Sum(sum) => sum.name(),
            Measure::Digest(digest) => digest.name(),
        }
    }

    /// Returns the property that a grammar calls by this name.
    pub fn by_name(name: &str) -> Option<Measure> {
        match name {
            "len" => Some(Measure::Len),
            "count" => Some(Measure::Count),
            "offset" => Some(Measure::Offset),
            _ => Sum::by_name(name).map(Measure::Sum).or(Digest::by_name(name).map(Measure::Digest)),
        }
    }

    /// Returns the names of all properties.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let sums = Sum::ALL.into_iter().map(Sum::name);
        ["len", "count", "offset"].into_iter().chain(sums).chain(Digest::ALL.into_iter().map(Digest::name))
    }

    /// Returns true if it depends on the place of the part.
    pub fn is_of_place(self) -> bool {
        matches!(self, Measure::Offset | Measure::Base)
    }

    /// Returns true if it depends on the bytes of the part, not on their number alone.
    pub fn is_of_content(self) -> bool {
        matches!(self, Measure::Sum(_) | Measure::Digest(_))
    }
}

/// A number that is known, or a digest, which would be too long for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A number.
    Number(u64),
    /// A digest.
    Digest(Vec<u8>),
}

impl<L> Derived<L> {
    /// Returns the numbers that it has, each with the greatest that can be written.
    pub fn values(&self) -> impl Iterator<Item = (&Value<L>, u64)> {
        let (number, bits) = match self {
            Derived::Number(value, form) => (Some((value, form.greatest())), None),
            Derived::Bits(bits) => (None, Some(bits)),
            Derived::Copy(_) | Derived::Padding(..) => (None, None),
        };
        let fields = bits.into_iter().flat_map(|bits| bits.places().map(|(place, value)| (value, place.greatest())));
        number.into_iter().chain(fields)
    }

    /// Returns the labels of the parts that it depends on, in order.
    pub fn labels(&self) -> impl Iterator<Item = &L> {
        let label = match self {
            Derived::Copy(label) | Derived::Padding(label, _) => Some(label),
            Derived::Number(..) | Derived::Bits(_) => None,
        };
        label.into_iter().chain(self.values().flat_map(|(value, _)| value.labels()))
    }

    /// Returns the labels of the parts on whose bytes it depends, in order.
    pub fn labels_of_content(&self) -> impl Iterator<Item = &L> {
        let copied = if let Derived::Copy(label) = self { Some(label) } else { None };
        let terms = self.values().flat_map(|(value, _)| &value.terms);
        copied.into_iter().chain(terms.filter(|term| term.measure.is_of_content()).map(|term| &term.label))
    }

    /// Returns it with other labels.
    pub fn map<M>(&self, label: &mut impl FnMut(&L) -> M) -> Derived<M> {
        match self {
            Derived::Copy(copied) => Derived::Copy(label(copied)),
            Derived::Number(value, form) => Derived::Number(value.map(label), *form),
            Derived::Bits(bits) => Derived::Bits(bits.map(label)),
            Derived::Padding(padded, padding) => Derived::Padding(label(padded), *padding),
        }
    }

    /// Returns its length in bytes if that does not depend on what it follows from.
    pub fn fixed_width(&self) -> Option<u64> {
        match self {
            Derived::Copy(_) | Derived::Padding(..) => None,
            Derived::Number(_, form) => form.fixed_width(),
            Derived::Bits(bits) => Some(bits.width()),
        }
    }

    /// Returns its length in bytes if the parts that it follows from are of usual length, about.
    pub fn usual_width(&self) -> f64 {
        match self {
            Derived::Copy(_) => 1.0,
            Derived::Number(..) | Derived::Bits(_) => self.fixed_width().map_or(1.0, |width| width as f64),
            // Parts that are filled up are mostly short.
            Derived::Padding(_, padding) if padding.is_exact => padding.most() as f64,
            Derived::Padding(_, padding) => padding.most() as f64 / 2.0,
        }
    }

    /// Returns what counts as other bytes in it, if it is a checksum of a part that contains it.
    pub fn blank(&self) -> Option<&Blank<L>> {
        match self {
            Derived::Number(value, _) => value.blank.as_ref(),
            Derived::Copy(_) | Derived::Bits(_) | Derived::Padding(..) => None,
        }
    }

    /// Returns the part that it pads, and how, if it is padding.
    pub fn padding(&self) -> Option<(&L, Padding)> {
        match self {
            Derived::Padding(label, padding) => Some((label, *padding)),
            Derived::Copy(_) | Derived::Number(..) | Derived::Bits(_) => None,
        }
    }
}

impl<L> Term<L> {
    /// Returns a sum with this term, given the property of the part. Values beyond the range of `i64` saturate.
    pub fn add_to(&self, sum: i64, measured: u64) -> i64 {
        let part = measured.saturating_mul(u64::from(self.times));
        if self.measure == Measure::Base {
            return sum.saturating_sub_unsigned(part);
        }
        sum.saturating_add_unsigned(part)
    }
}

impl<L> Value<L> {
    /// Returns a sum of terms and a constant.
    pub fn sum(terms: Vec<Term<L>>, plus: i64) -> Value<L> {
        Value { terms, plus, divisor: 1, blank: None }
    }

    /// Returns the labels of the parts that it depends on: those of its terms in order, and that of the part which
    /// counts as other bytes.
    pub fn labels(&self) -> impl Iterator<Item = &L> {
        let blank = self.blank.as_ref().and_then(|blank| blank.part.as_ref());
        self.terms.iter().map(|term| &term.label).chain(blank)
    }

    /// Returns the value, given the property of each part. Values beyond the range of `i64` saturate.
    pub fn of(&self, measured: impl FnMut(&Term<L>) -> u64) -> i64 {
        self.divided(self.undivided(measured))
    }

    /// Returns the sum before it is divided, given the property of each part.
    pub fn undivided(&self, mut measured: impl FnMut(&Term<L>) -> u64) -> i64 {
        self.terms.iter().fold(self.plus, |sum, term| term.add_to(sum, measured(term)))
    }

    /// Returns the value, given the sum that is divided.
    pub fn divided(&self, sum: i64) -> i64 {
        let divisor = i64::from(self.divisor.max(1));
        sum.div_euclid(divisor) + i64::from(sum.rem_euclid(divisor) > 0)
    }

    /// Returns the greatest sum whose quotient is at most this number.
    pub fn greatest_sum(&self, greatest: u64) -> i128 {
        i128::from(greatest) * i128::from(self.divisor.max(1))
    }

    /// Returns true if it depends on places of parts.
    pub fn is_of_places(&self) -> bool {
        self.terms.iter().any(|term| term.measure.is_of_place())
    }

    /// Returns the greatest length of a text with which it is at most `greatest`, if it depends on places of parts.
    /// Then there are no counts in it, and none of its terms is greater than the length of the text.
    pub fn longest_text(&self, greatest: u64) -> Option<u64> {
        if !self.is_of_places() {
            return None;
        }
        let added = self.terms.iter().filter(|term| term.measure != Measure::Base);
        let times: i128 = added.map(|term| i128::from(term.times)).sum();
        let most = (self.greatest_sum(greatest) - i128::from(self.plus)) / times.max(1);
        Some(u64::try_from(most.max(0)).unwrap_or(u64::MAX))
    }

    /// Returns the digest that it is, and the label of the part, if it is one.
    pub fn digest(&self) -> Option<(Digest, &L)> {
        self.terms.iter().find_map(|term| match term.measure {
            Measure::Digest(digest) => Some((digest, &term.label)),
            Measure::Len | Measure::Count | Measure::Offset | Measure::Base | Measure::Sum(_) => None,
        })
    }

    /// Returns the number or the digest that it is, given the property of each part, and the bytes of a part. Numbers
    /// below 0 count as 0.
    pub fn amount<B: AsRef<[u8]>>(&self, measured: impl FnMut(&Term<L>) -> u64, bytes: impl FnOnce(&L) -> B) -> Amount {
        match self.digest() {
            Some((digest, label)) => Amount::Digest(digest.of(bytes(label).as_ref())),
            None => Amount::Number(self.of(measured).max(0).unsigned_abs()),
        }
    }

    /// Returns it with other labels.
    pub fn map<M>(&self, label: &mut impl FnMut(&L) -> M) -> Value<M> {
        let terms =
            self.terms.iter().map(|term| Term { times: term.times, measure: term.measure, label: label(&term.label) });
        let terms = terms.collect();
        let blank = self.blank.as_ref();
        let blank = blank.map(|blank| Blank { part: blank.part.as_ref().map(label), byte: blank.byte });
        Value { terms, plus: self.plus, divisor: self.divisor, blank }
    }
}
