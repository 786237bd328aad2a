//! Processor cores for the workers of a search.

use gramjet_harness::free_cores;

/// A core for each worker, or none for any.
#[derive(Clone, Debug, Default)]
pub struct Cores(Vec<usize>);

impl Cores {
    /// A free core for each worker, unless there are fewer free cores than workers: then none.
    pub fn find(workers: usize) -> Cores {
        Cores::among(free_cores(), workers)
    }

    /// The last ones of those that are free: systems do work of their own on the first ones.
    fn among(mut free: Vec<usize>, workers: usize) -> Cores {
        let Some(others) = free.len().checked_sub(workers) else { return Cores::default() };
        Cores(free.split_off(others))
    }

    /// The core of a worker.
    pub fn of(&self, worker: usize) -> Option<usize> {
        self.0.get(worker).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_worker_has_a_core_or_none_has() {
        let cores = |free: &[usize], workers| Cores::among(free.to_vec(), workers).0;
        assert_eq!(cores(&[0, 2, 5], 2), [2, 5]);
        assert_eq!(cores(&[0, 2, 5], 3), [0, 2, 5]);
        assert_eq!(cores(&[0, 2, 5], 4), [0; 0]);
        assert_eq!(cores(&[], 1), [0; 0]);
        assert_eq!(Cores(vec![3]).of(1), None);
    }
}
