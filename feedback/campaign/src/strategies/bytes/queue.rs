//! The queue: texts that were kept, and which of them hold the greatest count of an edge.

use gramjet_search::Edge;
use gramjet_session::Random;

/// Percentage of the turns of texts without a maximum that are skipped while some text holds one.
const SKIPPED: usize = 99;
/// The most bytes of the texts; beyond them, those that hold no maximum are dropped.
const MOST_BYTES: usize = 1 << 28;

#[derive(Clone, Debug)]
struct Entry {
    text: Box<[u8]>,
    /// Number of keys that it holds.
    keys: u32,
}

/// The text with the greatest count of a key.
#[derive(Clone, Copy, Debug, Default)]
struct Holder {
    /// 0 if there is none.
    count: u64,
    entry: u32,
}

/// Texts in the order in which they were found.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    entries: Vec<Entry>,
    /// By the number of the edge.
    holders: Vec<Holder>,
    /// The text that costs most.
    total: Holder,
    /// Number of texts that hold a key.
    favoured: usize,
    next: usize,
    cycles: usize,
    bytes: usize,
}

impl Queue {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn text(&self, entry: u32) -> &[u8] {
        &self.entries[entry as usize].text
    }

    /// Returns the number of the cycle through the queue, from 1 on.
    pub(super) fn cycle(&self) -> usize {
        self.cycles + 1
    }

    /// Adds a text. It holds each key of which no text has a greater count.
    pub(super) fn add(&mut self, text: &[u8], cost: u64, edges: &[Edge]) {
        let entry = self.entries.len() as u32;
        self.entries.push(Entry { text: text.into(), keys: 0 });
        self.bytes += text.len() + size_of::<Entry>();
        let mut total = self.total;
        self.hold(&mut total, entry, cost);
        self.total = total;
        let mut holders = std::mem::take(&mut self.holders);
        for &(edge, count) in edges {
            if edge as usize >= holders.len() {
                holders.resize(edge as usize + 1, Holder::default());
            }
            self.hold(&mut holders[edge as usize], entry, count);
        }
        self.holders = holders;
    }

    fn hold(&mut self, holder: &mut Holder, entry: u32, count: u64) {
        if count == 0 || count < holder.count {
            return;
        }
        if holder.count > 0 {
            let keys = &mut self.entries[holder.entry as usize].keys;
            *keys -= 1;
            self.favoured -= usize::from(*keys == 0);
        }
        let keys = &mut self.entries[entry as usize].keys;
        self.favoured += usize::from(*keys == 0);
        *keys += 1;
        *holder = Holder { count, entry };
    }

    /// Returns the next text to change; `None` if there is no text.
    pub(super) fn next(&mut self, random: &mut Random) -> Option<u32> {
        if self.entries.is_empty() {
            return None;
        }
        loop {
            let entry = self.next;
            self.next += 1;
            if self.next == self.entries.len() {
                self.next = 0;
                self.cycles += 1;
            }
            let is_favoured = self.entries[entry].keys > 0;
            if is_favoured || self.favoured == 0 || random.below(100) >= SKIPPED {
                return Some(entry as u32);
            }
        }
    }

    /// Drops the texts that hold no key if the queue takes too much memory. Returns whether numbers have changed.
    pub(super) fn shrink(&mut self) -> bool {
        let is_large = self.bytes > MOST_BYTES && self.favoured < self.entries.len();
        if is_large {
            self.drop_others();
        }
        is_large
    }

    fn drop_others(&mut self) {
        let mut numbers = Vec::with_capacity(self.entries.len());
        let mut number = 0;
        for entry in &self.entries {
            numbers.push(number);
            number += u32::from(entry.keys > 0);
        }
        for holder in self.holders.iter_mut().chain([&mut self.total]).filter(|holder| holder.count > 0) {
            holder.entry = numbers[holder.entry as usize];
        }
        self.next = numbers[self.next] as usize;
        self.entries.retain(|entry| entry.keys > 0);
        if self.next == self.entries.len() {
            self.next = 0;
        }
        self.bytes = self.entries.iter().map(|entry| entry.text.len() + size_of::<Entry>()).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(queue: &Queue) -> Vec<u32> {
        queue.entries.iter().map(|entry| entry.keys).collect()
    }

    /// Returns a queue of three texts; the second has taken all that the first held.
    fn three() -> Queue {
        let mut queue = Queue::default();
        queue.add(b"a", 5, &[(1, 5)]);
        assert_eq!((keys(&queue), queue.favoured), (vec![2], 1));
        // It costs more, ties at edge 1, and is the only one at edge 2.
        queue.add(b"b", 6, &[(1, 5), (2, 1)]);
        queue.add(b"c", 1, &[(2, 0), (3, 1)]);
        queue
    }

    #[test]
    fn the_latest_of_the_greatest_counts_holds_a_key() {
        let mut queue = three();
        assert_eq!((keys(&queue), queue.favoured), (vec![0, 3, 1], 2));
        queue.add(b"d", 9, &[(1, 6), (2, 2)]);
        assert_eq!((keys(&queue), queue.favoured), (vec![0, 0, 1, 3], 2));
    }

    #[test]
    fn texts_that_hold_nothing_are_mostly_skipped() {
        let (mut queue, mut random) = (three(), Random::new(1));
        let mut taken = [0u32; 3];
        for _ in 0..20_000 {
            taken[queue.next(&mut random).expect("a text") as usize] += 1;
        }
        // About 9950 cycles; the first text has its turn in each with 1 %, with a standard deviation of 10.
        assert!((40..160).contains(&taken[0]) && taken[1].abs_diff(taken[2]) <= 1, "{taken:?}");
        assert!((9900..10_000).contains(&queue.cycle()), "{}", queue.cycle());
    }

    #[test]
    fn none_is_skipped_while_none_holds_anything() {
        let (mut queue, mut random) = (Queue::default(), Random::new(1));
        assert_eq!(queue.next(&mut random), None);
        queue.add(b"a", 0, &[]);
        queue.add(b"b", 0, &[]);
        assert_eq!([0; 3].map(|_| queue.next(&mut random)), [Some(0), Some(1), Some(0)]);
    }

    #[test]
    fn those_that_hold_something_survive_a_lack_of_memory() {
        let mut queue = three();
        queue.next = 2;
        assert!(!queue.shrink());
        queue.drop_others();
        assert_eq!((keys(&queue), queue.text(0), queue.next), (vec![3, 1], &b"b"[..], 1));
        queue.add(b"d", 1, &[(3, 2)]);
        assert_eq!((keys(&queue), queue.favoured), (vec![3, 0, 1], 2));
    }
}
