//! Rules by their names.

use std::collections::HashMap;

use crate::ordered::Map;

/// The index of each rule by its name. Large grammars look names up many times, so this hashes them. No order of the
/// hashes gets out: there are look-ups and a sorted view.
#[derive(Clone, Debug, Default)]
pub struct Index<'a> {
    places: HashMap<&'a str, usize>,
}

impl<'a> Index<'a> {
    /// Returns the index of the rule with a name.
    pub fn get(&self, name: &str) -> Option<&usize> {
        self.places.get(name)
    }

    /// Gives a name an index, unless it has one. Returns the index that it has.
    pub(super) fn add(&mut self, name: &'a str, index: usize) -> usize {
        *self.places.entry(name).or_insert(index)
    }

    /// Returns the names in ascending order, with their indices.
    pub(super) fn sorted(&self) -> Map<&'a str, usize> {
        let mut all: Vec<(&str, usize)> = self.places.iter().map(|(&name, &index)| (name, index)).collect();
        all.sort_unstable();
        all.into_iter().collect()
    }
}

/// Takes the last one of several places of a name.
impl<'a> FromIterator<(&'a str, usize)> for Index<'a> {
    fn from_iter<I: IntoIterator<Item = (&'a str, usize)>>(places: I) -> Index<'a> {
        Index { places: places.into_iter().collect() }
    }
}
