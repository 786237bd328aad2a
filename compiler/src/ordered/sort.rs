//! Sorting where it takes no time worth speaking of: all types of items share one copy of the code.

use std::cmp::Ordering;

/// Sorts items. Those that are `Equal` stay in their order.
pub(crate) fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut places = sorted(items.len(), &|a, b| compare(&items[a], &items[b]));
    for at in 0..places.len() {
        let mut place = places[at];
        // What stood there has been swapped.
        while place < at {
            place = places[place];
        }
        places[at] = place;
        items.swap(at, place);
    }
}

/// Sorts items by keys. Those of one key stay in their order.
pub(crate) fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Places in the order of what stands there.
fn sorted(len: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..len).collect();
    places.sort_by(|&a, &b| compare(a, b));
    places
}
