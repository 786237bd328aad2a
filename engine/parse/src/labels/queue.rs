//! The threads that wait at later positions, and those that are followed now.

use std::collections::BTreeMap;

use crate::arena::Thread;

/// The number of positions ahead whose threads have a list of their own: more than most literals have bytes.
const NEAR: usize = 64;

/// The threads of a run.
#[derive(Debug)]
pub(super) struct Queue {
    /// The position of the threads that are followed.
    position: usize,
    /// The threads that wait at the next positions, and their number.
    near: [Vec<Thread>; NEAR],
    waiting: usize,
    /// The threads that wait further ahead, and their number: after long copies and numbers.
    far: BTreeMap<usize, Vec<Thread>>,
    waiting_far: usize,
    /// The threads that are to be followed at this position. The last one is next.
    pub open: Vec<Thread>,
}

impl Queue {
    /// Returns a queue with a thread at position 0.
    pub fn new(first: Thread) -> Queue {
        let mut near = std::array::from_fn(|_| Vec::new());
        near[0] = vec![first];
        Queue { position: 0, near, waiting: 1, far: BTreeMap::new(), waiting_far: 0, open: Vec::new() }
    }

    /// Adds a thread at a position behind that of the threads that are followed.
    pub fn wait(&mut self, position: usize, thread: Thread) {
        debug_assert!(position > self.position, "threads go on behind this position");
        if position - self.position < NEAR {
            self.near[position % NEAR].push(thread);
            self.waiting += 1;
        } else {
            self.far.entry(position).or_default().push(thread);
            self.waiting_far += 1;
        }
    }

    /// Removes the threads of the next position where some wait, and returns both.
    pub fn pop(&mut self) -> Option<(usize, Vec<Thread>)> {
        let far = self.far.first_key_value().map(|(&position, _)| position);
        let near = (self.position..).take(NEAR).find(|position| !self.near[position % NEAR].is_empty());
        let near = near.filter(|_| self.waiting > 0);
        self.position = [near, far].into_iter().flatten().min()?;
        let mut threads = std::mem::take(&mut self.near[self.position % NEAR]);
        self.waiting -= threads.len();
        if far == Some(self.position) {
            // These came here earlier.
            let first = self.far.remove(&self.position).unwrap_or_default();
            self.waiting_far -= first.len();
            threads.splice(..0, first);
        }
        Some((self.position, threads))
    }

    /// Takes the list of the threads that were followed, to use its memory again.
    pub fn give_back(&mut self, mut threads: Vec<Thread>) {
        let list = &mut self.near[self.position % NEAR];
        if list.is_empty() {
            threads.clear();
            *list = threads;
        }
    }

    /// Returns true if no threads wait.
    pub fn is_empty(&self) -> bool {
        self.waiting + self.waiting_far == 0
    }

    /// Returns the threads that wait.
    pub fn waiting_mut(&mut self) -> impl Iterator<Item = &mut Thread> {
        self.near.iter_mut().flatten().chain(self.far.values_mut().flatten())
    }

    /// Returns the memory that they take in bytes, about.
    pub fn size(&self) -> usize {
        let near: usize = self.near.iter().map(Vec::capacity).sum();
        // Lists have room for up to twice as many.
        self.far.len() * 4 * size_of::<(usize, Vec<Thread>)>()
            + (near + self.waiting_far * 2 + self.open.capacity()) * size_of::<Thread>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_come_in_the_order_of_their_positions_and_then_as_they_were_added() {
        let thread = |state| Thread { state, count: 0, frame: 0, list: 0 };
        let mut queue = Queue::new(thread(0));
        let popped = |queue: &mut Queue| {
            let (position, threads) = queue.pop()?;
            let states: Vec<u32> = threads.iter().map(|thread| thread.state).collect();
            queue.give_back(threads);
            Some((position, states))
        };
        assert_eq!(popped(&mut queue), Some((0, vec![0])));
        for (position, state) in [(70, 1), (3, 2), (500, 3), (63, 4), (70, 5)] {
            queue.wait(position, thread(state));
        }
        assert_eq!(popped(&mut queue), Some((3, vec![2])));
        queue.wait(66, thread(6));
        assert_eq!(popped(&mut queue), Some((63, vec![4])));
        queue.wait(70, thread(7));
        assert_eq!(queue.waiting_mut().count(), 5);
        assert_eq!(popped(&mut queue), Some((66, vec![6])));
        assert_eq!(popped(&mut queue), Some((70, vec![1, 5, 7])));
        assert!(!queue.is_empty());
        assert_eq!(popped(&mut queue), Some((500, vec![3])));
        assert!(queue.is_empty() && queue.pop().is_none());
    }
}
