//! The reasons why a command ends early, and the exit codes that say so.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[cfg(target_os = "linux")]
use gramjet_campaign::StateError as State;
use gramjet_compiler::files::Unreadable;
#[cfg(target_os = "linux")]
use gramjet_harness::Error as Target;

use crate::tally::Tally;

/// The exit code for arguments or a grammar that cannot be used.
const MISUSE: u8 = 2;

/// Reasons why a command did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The arguments cannot be used.
    #[error("{0}")]
    Usage(String),
    /// The grammar does not compile; its diagnostics are on standard error already.
    #[error("{0}")]
    Grammar(String),
    /// The grammar, or the file of weights, cannot be read.
    #[error("{0}")]
    Unreadable(Box<Unreadable>),
    /// Something else could not be read.
    #[error("cannot read {what}: {source}")]
    Read {
        /// A path, or a description.
        what: String,
        /// Reason why it failed.
        source: io::Error,
    },
    /// Something could not be written.
    #[error("cannot write {what}: {source}")]
    Write {
        /// A path, or a description.
        what: String,
        /// Reason why it failed.
        source: io::Error,
    },
    /// The inputs could not all be written.
    #[error("cannot write {what}: {source}; {written} were written before")]
    Output {
        /// A path, or a description.
        what: String,
        /// Reason why it failed.
        source: io::Error,
        /// The complete inputs that were handed over to the system, and their bytes.
        written: Tally,
    },
    /// An input cannot be part of the output.
    #[error("{reason}; {written} were written before")]
    TooLong {
        /// Reason why the input cannot be part of the output.
        reason: String,
        /// The complete inputs that were written, and their bytes.
        written: Tally,
    },
    /// A run has ended before all that was asked for was made.
    #[error("{0}")]
    Ended(String),
    /// Files do not conform to the grammar; each was reported on standard error.
    #[error("{0}")]
    Nonconforming(String),
    /// A program under test cannot be run or built.
    #[cfg(target_os = "linux")]
    #[error("{0}")]
    Target(#[from] Target),
    /// The folder of a search cannot be used.
    #[cfg(target_os = "linux")]
    #[error("{0}")]
    State(#[from] State),
    /// The program under test has failed; the failures were reported.
    #[cfg(target_os = "linux")]
    #[error("{0}")]
    Found(String),
    /// Nothing can be learned from the program under test.
    #[cfg(target_os = "linux")]
    #[error("{0}")]
    Useless(String),
    /// A signal asked for the end.
    #[error("interrupted by {name} after {written}")]
    Interrupted {
        /// The signal's name.
        name: &'static str,
        /// The signal's number.
        signal: u8,
        /// The complete inputs that were written, and their bytes.
        written: Tally,
    },
    /// A signal asked for the end of a search.
    #[error("interrupted by {name} {reached}")]
    Stopped {
        /// The signal's name.
        name: &'static str,
        /// The signal's number.
        signal: u8,
        /// Point that the search has reached, and the results that are written.
        reached: String,
    },
    /// A defect of gramjet itself.
    #[error("internal error: {0}; please report it")]
    Internal(String),
}

impl Failure {
    /// Returns a failure to write to `path`.
    pub fn writing(path: &Path, source: io::Error) -> Failure {
        Failure::Write { what: quoted(path), source }
    }

    /// Returns true if the reader of the output has gone, which is no failure: it has what it wanted.
    pub fn is_closed_pipe(&self) -> bool {
        match self {
            Failure::Write { source, .. } | Failure::Output { source, .. } => {
                source.kind() == io::ErrorKind::BrokenPipe
            }
            _ => false,
        }
    }

    /// Returns the exit code.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Usage(_) | Failure::Grammar(_) | Failure::Unreadable(_) => ExitCode::from(MISUSE),
            #[cfg(target_os = "linux")]
            Failure::Target(
                Target::Program { .. } | Target::Subject { .. } | Target::Uncounted { .. } | Target::ZeroByte { .. },
            ) => ExitCode::from(MISUSE),
            #[cfg(target_os = "linux")]
            Failure::State(
                State::Foreign { .. } | State::Version { .. } | State::Other { .. } | State::Name { .. },
            ) => ExitCode::from(MISUSE),
            Failure::Interrupted { signal, .. } | Failure::Stopped { signal, .. } => {
                ExitCode::from(128_u8.saturating_add(*signal))
            }
            Failure::Internal(_) => ExitCode::from(101),
            _ => ExitCode::FAILURE,
        }
    }
}

#[cfg(target_os = "linux")]
impl From<gramjet_campaign::Error> for Failure {
    fn from(error: gramjet_campaign::Error) -> Failure {
        use gramjet_campaign::Error;
        match error {
            Error::Usage(what) => Failure::Usage(what),
            Error::Target(error) => Failure::Target(error),
            Error::State(error) => Failure::State(error),
            Error::Read { what, source } => Failure::Read { what, source },
            Error::Internal(what) => Failure::Internal(what),
        }
    }
}

impl From<Unreadable> for Failure {
    fn from(unreadable: Unreadable) -> Failure {
        Failure::Unreadable(Box::new(unreadable))
    }
}

/// Returns a path as messages show it.
pub fn quoted(path: impl Into<PathBuf>) -> String {
    format!("`{}`", path.into().display().to_string().escape_debug())
}

/// Writes a line to standard error, in which nothing can change the terminal.
macro_rules! say {
    ($($argument:tt)*) => {
        $crate::terminal::say(format_args!($($argument)*))
    };
}
pub(crate) use say;
