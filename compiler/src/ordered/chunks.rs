//! Sorted items in chunks.

use std::cmp::Ordering;
use std::slice;

/// The most items of a chunk. An insertion moves half as many on average, and may move all later chunks.
const MOST: usize = if cfg!(test) { 4 } else { 128 };

/// Items in ascending order. No chunk in `rest` is empty. `first` is empty only if there are no items.
#[derive(Clone)]
pub(super) struct Chunks<T> {
    first: Vec<T>,
    rest: Vec<Vec<T>>,
    len: usize,
}

/// The place of an item, or the place to insert it at.
#[derive(Clone, Copy)]
pub(super) struct Place {
    chunk: usize,
    at: usize,
}

impl Place {
    pub(super) const FIRST: Place = Place { chunk: 0, at: 0 };
}

impl<T> Chunks<T> {
    pub(super) const EMPTY: Chunks<T> = Chunks { first: Vec::new(), rest: Vec::new(), len: 0 };

    pub(super) fn len(&self) -> usize {
        self.len
    }

    fn chunk(&self, number: usize) -> &Vec<T> {
        if number == 0 { &self.first } else { &self.rest[number - 1] }
    }

    fn chunk_mut(&mut self, number: usize) -> &mut Vec<T> {
        if number == 0 { &mut self.first } else { &mut self.rest[number - 1] }
    }

    /// Returns `Ok` with the place of the item for which `order` is `Equal`, or `Err` with the place to insert it at.
    /// `order` must be `Less` for the items before.
    pub(super) fn find(&self, order: impl Fn(&T) -> Ordering) -> Result<Place, Place> {
        let (mut chunk, mut end) = (0, self.rest.len());
        while chunk < end {
            let middle = chunk + (end - chunk) / 2;
            match order(&self.rest[middle][0]) {
                Ordering::Greater => end = middle,
                _ => chunk = middle + 1,
            }
        }
        let items = self.chunk(chunk).as_slice();
        let (mut at, mut end) = (0, items.len());
        while at < end {
            let middle = at + (end - at) / 2;
            match order(&items[middle]) {
                Ordering::Less => at = middle + 1,
                Ordering::Greater => end = middle,
                Ordering::Equal => return Ok(Place { chunk, at: middle }),
            }
        }
        Err(Place { chunk, at })
    }

    /// Returns the place after all items.
    pub(super) fn end(&self) -> Place {
        let chunk = self.rest.len();
        Place { chunk, at: self.chunk(chunk).len() }
    }

    pub(super) fn get(&self, place: Place) -> &T {
        &self.chunk(place.chunk)[place.at]
    }

    pub(super) fn get_mut(&mut self, place: Place) -> &mut T {
        &mut self.chunk_mut(place.chunk)[place.at]
    }

    pub(super) fn insert(&mut self, place: Place, item: T) -> &mut T {
        let Place { mut chunk, mut at } = place;
        self.len += 1;
        let is_last = chunk == self.rest.len();
        let items = self.chunk_mut(chunk);
        if items.len() == MOST {
            // Insertion in ascending order fills each chunk.
            let kept = if is_last && at == MOST { MOST } else { MOST / 2 };
            let moved = items.split_off(kept);
            self.rest.insert(chunk, moved);
            if at >= kept {
                chunk += 1;
                at -= kept;
            }
        }
        let items = self.chunk_mut(chunk);
        items.insert(at, item);
        &mut items[at]
    }

    pub(super) fn remove(&mut self, place: Place) -> T {
        let Place { chunk, at } = place;
        self.len -= 1;
        let items = self.chunk_mut(chunk);
        let item = items.remove(at);
        if items.is_empty() && !self.rest.is_empty() {
            let next = self.rest.remove(chunk.max(1) - 1);
            if chunk == 0 {
                self.first = next;
            }
        }
        item
    }

    pub(super) fn first(&self) -> Option<&T> {
        self.first.first()
    }

    pub(super) fn last(&self) -> Option<&T> {
        self.rest.last().unwrap_or(&self.first).last()
    }

    pub(super) fn iter(&self) -> Iter<'_, T> {
        Iter { front: self.first.iter(), rest: self.rest.iter() }
    }

    pub(super) fn iter_mut(&mut self) -> IterMut<'_, T> {
        IterMut { front: self.first.iter_mut(), rest: self.rest.iter_mut() }
    }

    pub(super) fn into_vec(mut self) -> Vec<T> {
        for chunk in &mut self.rest {
            self.first.append(chunk);
        }
        self.first
    }
}

/// The items in ascending order.
pub(super) struct Iter<'c, T> {
    front: slice::Iter<'c, T>,
    rest: slice::Iter<'c, Vec<T>>,
}

impl<'c, T> Iterator for Iter<'c, T> {
    type Item = &'c T;

    fn next(&mut self) -> Option<&'c T> {
        loop {
            if let Some(item) = self.front.next() {
                return Some(item);
            }
            self.front = self.rest.next()?.iter();
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let mut len = self.front.len();
        for chunk in self.rest.as_slice() {
            len += chunk.len();
        }
        (len, Some(len))
    }
}

/// The items in ascending order, mutable.
pub(super) struct IterMut<'c, T> {
    front: slice::IterMut<'c, T>,
    rest: slice::IterMut<'c, Vec<T>>,
}

impl<'c, T> Iterator for IterMut<'c, T> {
    type Item = &'c mut T;

    fn next(&mut self) -> Option<&'c mut T> {
        loop {
            if let Some(item) = self.front.next() {
                return Some(item);
            }
            self.front = self.rest.next()?.iter_mut();
        }
    }
}
