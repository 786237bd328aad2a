//! Ordered sets.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::vec;

use super::chunks::{self, Chunks, Place};

/// A set whose members are in ascending order.
#[derive(Clone)]
pub struct Set<T> {
    items: Chunks<T>,
}

impl<T> Set<T> {
    /// Returns an empty set.
    pub const fn new() -> Set<T> {
        Set { items: Chunks::EMPTY }
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns true if there is no member.
    pub fn is_empty(&self) -> bool {
        self.items.len() == 0
    }

    /// Removes all members.
    pub fn clear(&mut self) {
        *self = Set::new();
    }

    /// Returns the members.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self.items.iter())
    }

    /// Returns the least member.
    pub fn first(&self) -> Option<&T> {
        self.items.first()
    }
}

impl<T: Ord> Set<T> {
    fn find<Q: Ord + ?Sized>(&self, item: &Q) -> Result<Place, Place>
    where
        T: Borrow<Q>,
    {
        self.items.find(|other| other.borrow().cmp(item))
    }

    /// Returns true if it has the member.
    pub fn contains<Q: Ord + ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.find(item).is_ok()
    }

    /// Adds a member. Returns whether it is new.
    pub fn insert(&mut self, item: T) -> bool {
        let place = match self.items.last() {
            Some(last) if *last < item => Err(self.items.end()),
            _ => self.find(&item),
        };
        let Err(place) = place else { return false };
        self.items.insert(place, item);
        true
    }

    /// Removes a member. Returns whether it was in the set.
    pub fn remove<Q: Ord + ?Sized>(&mut self, item: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.find(item).is_ok_and(|place| {
            self.items.remove(place);
            true
        })
    }

    /// Keeps only the members for which `keep` is true.
    pub fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        *self = std::mem::take(self).into_iter().filter(keep).collect();
    }

    /// Removes the least member.
    pub fn pop_first(&mut self) -> Option<T> {
        (!self.is_empty()).then(|| self.items.remove(Place::FIRST))
    }

    /// Returns the members that are not in the other set.
    pub fn difference<'s>(&'s self, other: &'s Set<T>) -> impl Iterator<Item = &'s T> {
        self.iter().filter(|item| !other.contains(*item))
    }

    /// Returns the members that are also in the other set.
    pub fn intersection<'s>(&'s self, other: &'s Set<T>) -> impl Iterator<Item = &'s T> {
        self.iter().filter(|item| other.contains(*item))
    }

    /// Returns true if no member is in the other set.
    pub fn is_disjoint(&self, other: &Set<T>) -> bool {
        !self.iter().any(|item| other.contains(item))
    }
}

impl<T> Default for Set<T> {
    fn default() -> Set<T> {
        Set::new()
    }
}

impl<T: Ord> Extend<T> for Set<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.insert(item);
        }
    }
}

impl<'s, T: Ord + Copy> Extend<&'s T> for Set<T> {
    fn extend<I: IntoIterator<Item = &'s T>>(&mut self, items: I) {
        for item in items {
            self.insert(*item);
        }
    }
}

impl<T: Ord> FromIterator<T> for Set<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Set<T> {
        let mut set = Set::new();
        set.extend(items);
        set
    }
}

impl<T: Ord, const N: usize> From<[T; N]> for Set<T> {
    fn from(items: [T; N]) -> Set<T> {
        items.into_iter().collect()
    }
}

impl<T: fmt::Debug> fmt::Debug for Set<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self).finish()
    }
}

impl<T: PartialEq> PartialEq for Set<T> {
    fn eq(&self, other: &Set<T>) -> bool {
        self.len() == other.len() && self.iter().eq(other)
    }
}

impl<T: Eq> Eq for Set<T> {}

impl<T: PartialOrd> PartialOrd for Set<T> {
    fn partial_cmp(&self, other: &Set<T>) -> Option<Ordering> {
        self.iter().partial_cmp(other)
    }
}

impl<T: Ord> Ord for Set<T> {
    fn cmp(&self, other: &Set<T>) -> Ordering {
        self.iter().cmp(other)
    }
}

/// The members of a set.
pub struct Iter<'s, T>(chunks::Iter<'s, T>);

impl<'s, T> Iterator for Iter<'s, T> {
    type Item = &'s T;

    fn next(&mut self) -> Option<&'s T> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<'s, T> IntoIterator for &'s Set<T> {
    type Item = &'s T;
    type IntoIter = Iter<'s, T>;

    fn into_iter(self) -> Iter<'s, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Set<T> {
    type Item = T;
    type IntoIter = vec::IntoIter<T>;

    fn into_iter(self) -> vec::IntoIter<T> {
        self.items.into_vec().into_iter()
    }
}
