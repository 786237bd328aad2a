//! Bounds on a run of the program under test.

use std::time::Duration;

use crate::run::Outcome;

/// A run that waits, and computes little, may take this many times the limit by the clock, and at least a second.
const WAITING: u32 = 5;
const WAITING_LEAST: Duration = Duration::from_secs(1);

/// Bounds on one run. A run that exceeds one is stopped, with all processes that it has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Processor time of the processes of the run, which is compared once so much time has passed by the clock, too. On
    /// a busy machine a run is not stopped because others run, unless [`Limits::longest`] has passed.
    pub time: Duration,
    /// Time by the clock, for runs that wait. [`Limits::with_time`] sets it as well.
    pub longest: Duration,
    /// Resident memory of all processes of the run, in bytes; `None` for no bound. It is checked every few
    /// milliseconds, so a program can exceed it for that long.
    pub memory: Option<u64>,
    /// Processes that run at once.
    pub processes: u32,
    /// Bytes of files in the temporary folder of the run, also of such that have no name any more; `None` for no bound.
    /// It is checked every few milliseconds, and only if the file system has lost as much room.
    pub disk: Option<u64>,
    /// Executions of edges, all together; `None` for no bound. It is checked every few milliseconds and at the end,
    /// however the run ended: whether a run exceeds it does not depend on the machine. Targets without exact counts
    /// have no such bound: commands, and programs of AFL++.
    pub edges: Option<u64>,
    /// Bytes of standard output, and of standard error, that are kept. Further bytes are read, counted and dropped.
    pub kept_output: usize,
}

impl Default for Limits {
    /// Returns limits of a second (five by the clock), 2 GiB of memory, 64 processes, 1 GiB of files, any number of
    /// edges, 64 KiB of output.
    fn default() -> Limits {
        Limits {
            time: Duration::from_secs(1),
            longest: WAITING * Duration::from_secs(1),
            memory: Some(2 << 30),
            processes: 64,
            disk: Some(1 << 30),
            edges: None,
            kept_output: 1 << 16,
        }
    }
}

impl Limits {
    /// Sets the bound on processor time, and the one by the clock to five times as much, or a second if that is more.
    pub fn with_time(mut self, time: Duration) -> Limits {
        (self.time, self.longest) = (time, time.saturating_mul(WAITING).max(WAITING_LEAST));
        self
    }

    /// Sets the bound on time by the clock.
    pub fn with_longest(mut self, time: Duration) -> Limits {
        self.longest = time;
        self
    }

    /// Sets the bound on memory.
    pub fn with_memory(mut self, bytes: Option<u64>) -> Limits {
        self.memory = bytes;
        self
    }

    /// Sets the bound on processes that run at once.
    pub fn with_processes(mut self, processes: u32) -> Limits {
        self.processes = processes;
        self
    }

    /// Sets the bound on files in the temporary folder.
    pub fn with_disk(mut self, bytes: Option<u64>) -> Limits {
        self.disk = bytes;
        self
    }

    /// Sets the bound on executions of edges.
    pub fn with_edges(mut self, edges: Option<u64>) -> Limits {
        self.edges = edges;
        self
    }

    /// Returns true if this number of executions exceeds the bound.
    pub(crate) fn is_beyond(&self, edges: u64) -> bool {
        self.edges.is_some_and(|most| edges > most)
    }

    /// Returns the outcome of a run that ended in this way, with this number of executions: a program may exceed the
    /// bound and end, in whatever way, before that is seen.
    pub(crate) fn judged(&self, outcome: Outcome, edges: u64) -> Outcome {
        if self.is_beyond(edges) { Outcome::Edges } else { outcome }
    }

    /// Sets the number of bytes of each output stream that are kept.
    pub fn with_kept_output(mut self, bytes: usize) -> Limits {
        self.kept_output = bytes;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_beyond_the_limit_on_edges_is_stopped_however_it_ended() {
        let limits = Limits::default().with_edges(Some(10));
        for outcome in [Outcome::Exit(0), Outcome::Signal(6), Outcome::Timeout, Outcome::Memory, Outcome::Edges] {
            assert_eq!(limits.judged(outcome.clone(), 11), Outcome::Edges);
            assert_eq!(limits.judged(outcome.clone(), 10), outcome);
            assert_eq!(Limits::default().judged(outcome.clone(), u64::MAX), outcome);
        }
    }
}
