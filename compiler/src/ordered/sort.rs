//! Sorting where speed does not matter: all types of items share one copy of the code.

use std::cmp::Ordering;

/// Sorts items. The order of `Equal` items is kept.
pub(crate) fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut places = sorted(items.len(), &|a, b| compare(&items[a], &items[b]));
    for at in 0..places.len() {
        let mut place = places[at];
        // The item that was there has been swapped already.
        while place < at {
            place = places[place];
        }
        places[at] = place;
        items.swap(at, place);
    }
}

/// Sorts items by keys. The order of items with equal keys is kept.
pub(crate) fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Returns the indices of the items in sorted order.
fn sorted(len: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..len).collect();
    places.sort_by(|&a, &b| compare(a, b));
    places
}
