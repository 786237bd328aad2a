//! Kinds of names in an IR, and the numbers of unique names in shortest derivations.

use crate::naming::{Naming, room};

/// A kind of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindId(u32);

impl KindId {
    /// Returns the kind with this number.
    pub fn new(number: u32) -> KindId {
        KindId(number)
    }

    /// Returns the number.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The numbers of unique names that an option-0 derivation gives to scopes outside it, by their kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uniques(Vec<(KindId, u64)>);

impl Uniques {
    /// No unique names.
    pub const NONE: &'static Uniques = &Uniques(Vec::new());

    /// Returns these numbers: kinds in ascending order, none of them 0.
    pub fn new(numbers: Vec<(KindId, u64)>) -> Uniques {
        Uniques(numbers)
    }

    /// Returns true if there are no unique names.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the kinds with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (KindId, u64)> {
        self.0.iter().copied()
    }

    /// Returns the number of all kinds; saturates.
    pub fn total(&self) -> u64 {
        self.iter().fold(0, |sum, (_, number)| sum.saturating_add(number))
    }

    /// Returns the number of a kind.
    pub fn of(&self, kind: KindId) -> u64 {
        self.0.iter().find(|(own, _)| *own == kind).map_or(0, |&(_, number)| number)
    }

    /// Returns the sum of both; saturates.
    #[must_use]
    pub fn with(mut self, others: &Uniques) -> Uniques {
        for (kind, number) in others.iter() {
            match self.0.binary_search_by_key(&kind, |&(own, _)| own) {
                Ok(place) => self.0[place].1 = self.0[place].1.saturating_add(number),
                Err(place) => self.0.insert(place, (kind, number)),
            }
        }
        self
    }

    /// Returns as many times these numbers; saturates.
    #[must_use]
    pub fn times(mut self, times: u64) -> Uniques {
        self.0.iter_mut().for_each(|(_, number)| *number = number.saturating_mul(times));
        self.0.retain(|&(_, number)| number > 0);
        self
    }

    /// Returns the numbers outside a part, given those of what is in it.
    #[must_use]
    pub fn outside(self, naming: &Naming<KindId>) -> Uniques {
        match naming {
            Naming::Unique(kind) => self.with(&Uniques(vec![(*kind, 1)])),
            Naming::Scope(kinds) => Uniques(self.0.into_iter().filter(|(kind, _)| !kinds.contains(kind)).collect()),
            Naming::Define(_) | Naming::Declare(_) | Naming::Use(_) => self,
        }
    }

    /// Returns the bytes that a scope of these kinds keeps free for numbers that make names unique.
    pub fn room(&self, naming: &Naming<KindId>) -> u64 {
        naming.scoped().iter().fold(0, |sum, &kind| room(0, self.of(kind)).saturating_add(sum))
    }
}
