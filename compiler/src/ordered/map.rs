//! Ordered maps.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Index;
use std::vec;

use super::chunks::{self, Chunks, Place};

/// A map whose keys are in ascending order.
#[derive(Clone)]
pub struct Map<K, V> {
    items: Chunks<(K, V)>,
}

impl<K, V> Map<K, V> {
    /// Returns an empty map.
    pub const fn new() -> Map<K, V> {
        Map { items: Chunks::EMPTY }
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns true if there is no key.
    pub fn is_empty(&self) -> bool {
        self.items.len() == 0
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        *self = Map::new();
    }

    /// Returns the keys with their values.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter(self.items.iter())
    }

    /// Returns the keys with their values, mutable.
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        IterMut(self.items.iter_mut())
    }

    /// Returns the keys.
    pub fn keys(&self) -> Keys<'_, K, V> {
        Keys(self.items.iter())
    }

    /// Returns the values in the order of their keys.
    pub fn values(&self) -> Values<'_, K, V> {
        Values(self.items.iter())
    }

    /// Returns the values in the order of their keys, mutable.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.items.iter_mut().map(|item| &mut item.1)
    }

    /// Returns the keys alone.
    pub fn into_keys(self) -> impl Iterator<Item = K> {
        self.into_iter().map(|item| item.0)
    }

    /// Returns the values alone.
    pub fn into_values(self) -> impl Iterator<Item = V> {
        self.into_iter().map(|item| item.1)
    }
}

impl<K: Ord, V> Map<K, V> {
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<Place, Place>
    where
        K: Borrow<Q>,
    {
        self.items.find(|item| item.0.borrow().cmp(key))
    }

    /// Returns true if it has the key.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    /// Returns the value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.find(key).ok().map(|place| &self.items.get(place).1)
    }

    /// Returns the value of a key, mutable.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.find(key).ok().map(|place| &mut self.items.get_mut(place).1)
    }

    /// Returns the map's own key, and its value.
    pub fn get_key_value<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        let (key, value) = self.items.get(self.find(key).ok()?);
        Some((key, value))
    }

    /// Gives a key a value. Returns the value that it had.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let place = match self.items.last() {
            Some(last) if last.0 < key => Err(self.items.end()),
            _ => self.find(&key),
        };
        match place {
            Ok(place) => Some(std::mem::replace(&mut self.items.get_mut(place).1, value)),
            Err(place) => {
                self.items.insert(place, (key, value));
                None
            }
        }
    }

    /// Removes a key. Returns the value that it had.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.find(key).ok().map(|place| self.items.remove(place).1)
    }

    /// Returns the entry of a key, with or without a value.
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        match self.find(&key) {
            Ok(place) => Entry::Occupied(OccupiedEntry { items: &mut self.items, place }),
            Err(place) => Entry::Vacant(VacantEntry { items: &mut self.items, place, key }),
        }
    }
}

/// The entry of a key in a map.
pub enum Entry<'m, K, V> {
    /// The key has a value.
    Occupied(OccupiedEntry<'m, K, V>),
    /// The key has no value.
    Vacant(VacantEntry<'m, K, V>),
}

/// The entry of a key with a value.
pub struct OccupiedEntry<'m, K, V> {
    items: &'m mut Chunks<(K, V)>,
    place: Place,
}

/// The entry of a key without a value.
pub struct VacantEntry<'m, K, V> {
    items: &'m mut Chunks<(K, V)>,
    place: Place,
    key: K,
}

impl<'m, K, V> Entry<'m, K, V> {
    /// Returns the value. Inserts `value` if there is none.
    pub fn or_insert(self, value: V) -> &'m mut V {
        self.or_insert_with(|| value)
    }

    /// Returns the value. Inserts the result of `value` if there is none.
    pub fn or_insert_with(self, value: impl FnOnce() -> V) -> &'m mut V {
        match self {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(value()),
        }
    }

    /// Returns the value. Inserts the result of `value` for the key if there is none.
    pub fn or_insert_with_key(self, value: impl FnOnce(&K) -> V) -> &'m mut V {
        match self {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let value = value(&entry.key);
                entry.insert(value)
            }
        }
    }

    /// Returns the value. Inserts the default if there is none.
    pub fn or_default(self) -> &'m mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }

    /// Changes the value if there is one.
    pub fn and_modify(mut self, change: impl FnOnce(&mut V)) -> Entry<'m, K, V> {
        if let Entry::Occupied(entry) = &mut self {
            change(&mut entry.items.get_mut(entry.place).1);
        }
        self
    }
}

impl<'m, K, V> OccupiedEntry<'m, K, V> {
    /// Returns the value, for as long as the map is borrowed.
    pub fn into_mut(self) -> &'m mut V {
        &mut self.items.get_mut(self.place).1
    }
}

impl<'m, K, V> VacantEntry<'m, K, V> {
    /// Gives the key a value.
    pub fn insert(self, value: V) -> &'m mut V {
        &mut self.items.insert(self.place, (self.key, value)).1
    }
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Map<K, V> {
        Map::new()
    }
}

impl<K: Ord, V> Extend<(K, V)> for Map<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, items: I) {
        for (key, value) in items {
            self.insert(key, value);
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Map<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(items: I) -> Map<K, V> {
        let mut map = Map::new();
        map.extend(items);
        map
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for Map<K, V> {
    fn from(items: [(K, V); N]) -> Map<K, V> {
        items.into_iter().collect()
    }
}

impl<K: Borrow<Q> + Ord, Q: Ord + ?Sized, V> Index<&Q> for Map<K, V> {
    type Output = V;

    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("no entry found for key")
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Map<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for Map<K, V> {
    fn eq(&self, other: &Map<K, V>) -> bool {
        self.len() == other.len() && self.items.iter().eq(other.items.iter())
    }
}

impl<K: Eq, V: Eq> Eq for Map<K, V> {}

/// The keys of a map with their values.
pub struct Iter<'m, K, V>(chunks::Iter<'m, (K, V)>);

impl<'m, K, V> Iterator for Iter<'m, K, V> {
    type Item = (&'m K, &'m V);

    fn next(&mut self) -> Option<(&'m K, &'m V)> {
        self.0.next().map(|(key, value)| (key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

/// The keys of a map with their values, mutable.
pub struct IterMut<'m, K, V>(chunks::IterMut<'m, (K, V)>);

impl<'m, K, V> Iterator for IterMut<'m, K, V> {
    type Item = (&'m K, &'m mut V);

    fn next(&mut self) -> Option<(&'m K, &'m mut V)> {
        self.0.next().map(|(key, value)| (&*key, value))
    }
}

/// The keys of a map.
pub struct Keys<'m, K, V>(chunks::Iter<'m, (K, V)>);

impl<'m, K, V> Iterator for Keys<'m, K, V> {
    type Item = &'m K;

    fn next(&mut self) -> Option<&'m K> {
        self.0.next().map(|item| &item.0)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

/// The values of a map in the order of their keys.
pub struct Values<'m, K, V>(chunks::Iter<'m, (K, V)>);

impl<'m, K, V> Iterator for Values<'m, K, V> {
    type Item = &'m V;

    fn next(&mut self) -> Option<&'m V> {
        self.0.next().map(|item| &item.1)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<'m, K, V> IntoIterator for &'m Map<K, V> {
    type Item = (&'m K, &'m V);
    type IntoIter = Iter<'m, K, V>;

    fn into_iter(self) -> Iter<'m, K, V> {
        self.iter()
    }
}

impl<'m, K, V> IntoIterator for &'m mut Map<K, V> {
    type Item = (&'m K, &'m mut V);
    type IntoIter = IterMut<'m, K, V>;

    fn into_iter(self) -> IterMut<'m, K, V> {
        self.iter_mut()
    }
}

impl<K, V> IntoIterator for Map<K, V> {
    type Item = (K, V);
    type IntoIter = vec::IntoIter<(K, V)>;

    fn into_iter(self) -> vec::IntoIter<(K, V)> {
        self.items.into_vec().into_iter()
    }
}
