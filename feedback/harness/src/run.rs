//! The results of a run.

use std::fmt;
use std::time::Duration;

use crate::edges::Edges;

/// Outcome of a run of the program under test.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Outcome {
    /// The program exited with this status.
    Exit(i32),
    /// A signal ended it.
    Signal(i32),
    /// The program exceeded the limit on time.
    Timeout,
    /// The program exceeded the limit on memory.
    Memory,
    /// The program exceeded the limit on processes.
    Processes,
    /// The program exceeded the limit on files in its temporary folder.
    Disk,
    /// The program stopped itself (SIGSTOP and its kin), so that it would never have ended.
    Stopped,
    /// The program exceeded the limit on edges. Its counts are those up to when that was seen.
    Edges,
    /// The program threw an exception that nothing caught (Python, Node, Java, a panic in Rust).
    Exception(Exception),
    /// The program ended or stopped the process that starts it, so how it ended itself is not known.
    Lost,
}

/// An exception that nothing caught.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Exception {
    /// The name of its class.
    pub class: String,
    /// The innermost frame of the subject's own code, as `file:line (function)`.
    pub frame: Option<String>,
    /// The classes that its class descends from, the nearest first.
    pub parents: Vec<String>,
}

impl Exception {
    /// Returns true if its class is the one of this name, or descends from it. The name may be without the module or
    /// package.
    pub fn is_a(&self, name: &str) -> bool {
        let is_it = |class: &String| class == name || class.rsplit('.').next() == Some(name);
        is_it(&self.class) || self.parents.iter().any(is_it)
    }
}

impl Outcome {
    /// Returns true if the program itself reported neither success nor an error: a signal, an exception, or a limit
    /// that was exceeded.
    pub fn is_abnormal(&self) -> bool {
        !matches!(self, Outcome::Exit(_))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Exit(status) => write!(f, "exit status {status}"),
            Outcome::Signal(number) => match signal_name(*number) {
                Some(name) => write!(f, "signal {number} ({name})"),
                None => write!(f, "signal {number}"),
            },
            Outcome::Timeout => f.write_str("timeout"),
            Outcome::Memory => f.write_str("memory limit"),
            Outcome::Processes => f.write_str("process limit"),
            Outcome::Disk => f.write_str("disk limit"),
            Outcome::Stopped => f.write_str("stopped itself"),
            Outcome::Edges => f.write_str("edge limit"),
            Outcome::Exception(Exception { class, frame: Some(frame), .. }) => write!(f, "{class} at {frame}"),
            Outcome::Exception(Exception { class, frame: None, .. }) => f.write_str(class),
            Outcome::Lost => f.write_str("the program ended or stopped the process that starts it"),
        }
    }
}

/// Returns the name of a signal that ends a program in general.
pub fn signal_name(number: i32) -> Option<&'static str> {
    let known = [
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGQUIT, "SIGQUIT"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGTRAP, "SIGTRAP"),
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGUSR1, "SIGUSR1"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGUSR2, "SIGUSR2"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGALRM, "SIGALRM"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGXCPU, "SIGXCPU"),
        (libc::SIGXFSZ, "SIGXFSZ"),
        (libc::SIGSYS, "SIGSYS"),
    ];
    known.iter().find(|&&(known, _)| known == number).map(|&(_, name)| name)
}

/// The resources that a run used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time by the clock.
    pub wall: Duration,
    /// Processor time in user mode and in the kernel together, where it is known for this run alone.
    pub cpu: Option<Duration>,
    /// Peak of resident memory in bytes, where it is known for this run alone.
    pub peak_memory: Option<u64>,
    /// Bytes that `malloc` and its kin have given to the program and to the processes that it started, where they are
    /// counted ([`Program::counts`](crate::Program::counts)).
    pub allocated: Option<u64>,
    /// Bytes of the first thread's stack at its deepest, of the process that went deepest, where they are counted and a
    /// process has ended by itself.
    pub stack: Option<u64>,
}

/// Parts of [`Usage`] that are known of a run that ends by itself, beside the time by the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Measures {
    /// [`Usage::cpu`].
    pub cpu: bool,
    /// [`Usage::peak_memory`].
    pub peak_memory: bool,
    /// [`Usage::allocated`].
    pub allocated: bool,
    /// [`Usage::stack`].
    pub stack: bool,
}

/// The output of a program to a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes, up to [`Limits::kept_output`](crate::Limits::kept_output).
    pub bytes: Vec<u8>,
    /// Number of bytes that were written in all.
    pub written: u64,
}

impl Captured {
    /// Nothing.
    pub(crate) const NONE: Captured = Captured { bytes: Vec::new(), written: 0 };

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.written = 0;
    }

    pub(crate) fn take(&mut self, bytes: &[u8], kept: usize) {
        let room = kept.saturating_sub(self.bytes.len()).min(bytes.len());
        self.bytes.extend_from_slice(&bytes[..room]);
        self.written += bytes.len() as u64;
    }
}

/// One run of the program under test.
#[derive(Debug)]
#[non_exhaustive]
pub struct Run<'t> {
    /// Outcome of the run.
    pub outcome: Outcome,
    /// The number of inputs that the same process had run on before; 0 in a new process.
    pub earlier: u64,
    /// The resources used.
    pub usage: Usage,
    /// Number of times that each edge was executed; `None` if the program counts nothing.
    pub edges: Option<&'t Edges>,
    /// The place in a function's own code where it hung when its time was over, as `file:line (function)`, or without
    /// the line if it came to several; `None` if the language does not tell it.
    pub place: Option<&'t str>,
    /// The standard output.
    pub stdout: &'t Captured,
    /// The standard error.
    pub stderr: &'t Captured,
}
