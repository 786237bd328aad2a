//! Bytes that follow from labelled parts of a text: copies, lengths, counts, checksums and digests, and how numbers are
//! written.
//!
//! The labels are names in a syntax tree and numbers in an IR.

mod digests;
mod forms;
mod ranges;
mod sums;

pub use digests::Digest;
pub use forms::{NumberForm, Order, Radix};
pub use sums::Sum;

/// Bytes that follow from labelled parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Derived<L> {
    /// The bytes of a part, again.
    Copy(L),
    /// A number.
    Number(Value<L>, NumberForm),
}

/// A number that follows from labelled parts: a sum of terms, and a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value<L> {
    /// The terms; at least one.
    pub terms: Vec<Term<L>>,
    /// The constant that is added.
    pub plus: i64,
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
            Measure::Sum(sum) => sum.name(),
            Measure::Digest(digest) => digest.name(),
        }
    }

    /// Returns the property with this name.
    pub fn by_name(name: &str) -> Option<Measure> {
        match name {
            "len" => Some(Measure::Len),
            "count" => Some(Measure::Count),
            _ => Sum::by_name(name).map(Measure::Sum).or(Digest::by_name(name).map(Measure::Digest)),
        }
    }

    /// Returns the names of all properties.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let sums = Sum::ALL.into_iter().map(Sum::name);
        ["len", "count"].into_iter().chain(sums).chain(Digest::ALL.into_iter().map(Digest::name))
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
    /// Returns the labels of the parts that it depends on, in order.
    pub fn labels(&self) -> impl Iterator<Item = &L> {
        let (copied, terms) = match self {
            Derived::Copy(label) => (Some(label), &[][..]),
            Derived::Number(value, _) => (None, &value.terms[..]),
        };
        copied.into_iter().chain(terms.iter().map(|term| &term.label))
    }

    /// Returns the labels of the parts on whose bytes it depends, in order.
    pub fn labels_of_content(&self) -> impl Iterator<Item = &L> {
        let (copied, terms) = match self {
            Derived::Copy(label) => (Some(label), &[][..]),
            Derived::Number(value, _) => (None, &value.terms[..]),
        };
        copied.into_iter().chain(terms.iter().filter(|term| term.measure.is_of_content()).map(|term| &term.label))
    }

    /// Returns it with other labels.
    pub fn map<M>(&self, label: &mut impl FnMut(&L) -> M) -> Derived<M> {
        match self {
            Derived::Copy(copied) => Derived::Copy(label(copied)),
            Derived::Number(value, form) => Derived::Number(value.map(label), *form),
        }
    }

    /// Returns its length in bytes if that does not depend on what it follows from.
    pub fn fixed_width(&self) -> Option<u64> {
        match self {
            Derived::Copy(_) => None,
            Derived::Number(_, form) => form.fixed_width(),
        }
    }
}

impl<L> Value<L> {
    /// Returns the value, given the property of each part. Values beyond the range of `i64` saturate.
    pub fn of(&self, mut measured: impl FnMut(&Term<L>) -> u64) -> i64 {
        self.terms.iter().fold(self.plus, |sum, term| {
            let part = measured(term).saturating_mul(u64::from(term.times));
            sum.saturating_add_unsigned(part)
        })
    }

    /// Returns the digest that it is, and the label of the part, if it is one.
    pub fn digest(&self) -> Option<(Digest, &L)> {
        self.terms.iter().find_map(|term| match term.measure {
            Measure::Digest(digest) => Some((digest, &term.label)),
            Measure::Len | Measure::Count | Measure::Sum(_) => None,
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
        Value { terms: terms.collect(), plus: self.plus }
    }
}
