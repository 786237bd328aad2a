//! Random numbers of a search: one stream for each of its workers, from the user's seed.

use std::fmt;

pub(crate) use gramjet_session::Random;

/// A seed of one worker of a search, which follows from the number that the user gives. It is shown as that number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seed {
    given: u64,
    /// Number that tells the worker from others, mixed into the one that is given.
    other: u64,
}

impl Seed {
    /// Returns the seed of the first worker of the first search in a folder: the number itself.
    pub fn new(number: u64) -> Seed {
        Seed { given: number, other: 0 }
    }

    /// Returns the seed of one of several searches that share a folder, told apart by a hash of their names. 0 is no
    /// name.
    pub fn of_node(self, name: u64) -> Seed {
        Seed { other: self.other ^ name, ..self }
    }

    /// Returns the seed of a worker. Workers and the searches in a folder, one after another, are counted from 0. A
    /// search that goes on does not begin with the same texts again.
    pub fn of_worker(self, worker: usize, session: u64) -> Seed {
        Seed { other: self.other ^ (worker as u64) << 40 ^ session << 52, ..self }
    }

    /// Returns the seed of a way of drawing texts, each time that it begins anew.
    pub(crate) fn of_drawing(self, evolves: bool, begun: u64) -> Seed {
        Seed { other: self.other ^ (2 * begun + u64::from(evolves) + 1) << 24, ..self }
    }

    /// Returns the number that random numbers follow from.
    pub fn number(self) -> u64 {
        self.given ^ self.other
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.given.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_nodes_and_sessions_have_seeds_of_their_own() {
        let seed = Seed::new(7);
        assert_eq!(seed.of_worker(0, 0).of_node(0).number(), 7);
        assert_eq!(seed.of_worker(2, 1).of_node(99).to_string(), "7");
        let drawn =
            [(false, 0), (true, 0), (false, 1), (true, 1)].map(|(evolves, begun)| seed.of_drawing(evolves, begun));
        assert!(drawn.iter().all(|one| drawn.iter().filter(|other| one == *other).count() == 1 && *one != seed));
        let mut all: Vec<u64> = Vec::new();
        for (worker, session, node) in (0..8).flat_map(|n| [(n, 0, 0), (0, n as u64 + 1, 0), (n, 1, 99), (n, 0, 99)]) {
            all.push(seed.of_node(node).of_worker(worker, session).number());
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 32);
    }
}
