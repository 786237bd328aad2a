//! Processor cores for the workers of a search.

use std::thread::available_parallelism;

use gramjet_harness::free_cores;

/// A core for each worker, or none for any.
#[derive(Clone, Debug, Default)]
pub struct Cores {
    own: Vec<usize>,
    /// Others that are free.
    spare: Vec<usize>,
    has_spare: bool,
}

impl Cores {
    /// Returns a free core for each worker, unless there are fewer free cores than workers: then none.
    pub fn find(workers: usize) -> Cores {
        Cores::among(free_cores(), workers)
    }

    /// Leaves the choice of the cores to the system.
    pub fn any(workers: usize) -> Cores {
        let all = available_parallelism().map_or(1, usize::from);
        Cores { has_spare: all >= workers.saturating_mul(2), ..Cores::default() }
    }

    /// Chooses the last ones of the cores that are free: systems do work of their own on the first ones.
    fn among(mut free: Vec<usize>, workers: usize) -> Cores {
        let Some(others) = free.len().checked_sub(workers) else { return Cores::default() };
        Cores { own: free.split_off(others), spare: free, has_spare: others >= workers }
    }

    /// Returns the core of a worker.
    pub fn of(&self, worker: usize) -> Option<usize> {
        self.own.get(worker).copied()
    }

    /// Returns a second core of a worker.
    pub fn spare_of(&self, worker: usize) -> Option<usize> {
        self.spare.iter().rev().nth(worker).copied()
    }

    /// Returns true if each worker has a second core.
    pub fn has_spare(&self) -> bool {
        self.has_spare
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_worker_has_a_core_or_none_has() {
        let cores = |free: &[usize], workers| Cores::among(free.to_vec(), workers).own;
        assert_eq!(cores(&[0, 2, 5], 2), [2, 5]);
        assert_eq!(cores(&[0, 2, 5], 3), [0, 2, 5]);
        assert_eq!(cores(&[0, 2, 5], 4), [0; 0]);
        assert_eq!(cores(&[], 1), [0; 0]);
        assert_eq!(Cores::among(vec![3], 1).of(1), None);
        assert_eq!(Cores::among(vec![1, 3, 4, 6], 2).spare_of(1), Some(1));
        assert!(Cores::among(vec![1, 3], 1).has_spare() && !Cores::among(vec![1, 3, 5], 2).has_spare());
    }
}
