//! Bounds on a run of the program under test.

use std::time::Duration;

/// Bounds on one run. A run that exceeds one is stopped, with all processes that it has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Wall-clock time.
    pub time: Duration,
    /// Resident memory of all processes of the run, in bytes; none for no bound. It is checked every few milliseconds,
    /// so a program can exceed it for that long.
    pub memory: Option<u64>,
    /// Processes that run at once.
    pub processes: u32,
    /// Bytes of standard output, and of standard error, that are kept. Further bytes are read, counted and dropped.
    pub kept_output: usize,
}

impl Default for Limits {
    /// A second, 2 GiB, 64 processes, 64 KiB.
    fn default() -> Limits {
        Limits { time: Duration::from_secs(1), memory: Some(2 << 30), processes: 64, kept_output: 1 << 16 }
    }
}

impl Limits {
    /// With this bound on wall-clock time.
    pub fn with_time(mut self, time: Duration) -> Limits {
        self.time = time;
        self
    }

    /// With this bound on memory.
    pub fn with_memory(mut self, bytes: Option<u64>) -> Limits {
        self.memory = bytes;
        self
    }

    /// With this bound on processes that run at once.
    pub fn with_processes(mut self, processes: u32) -> Limits {
        self.processes = processes;
        self
    }

    /// With this many bytes of each output stream kept.
    pub fn with_kept_output(mut self, bytes: usize) -> Limits {
        self.kept_output = bytes;
        self
    }
}
