//! Errors other than those of the program under test.

use std::io;
use std::path::PathBuf;

/// The harness could not do its work. How the program under test fails is no error, but an [`Outcome`](crate::Outcome).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program is not there, or cannot be executed.
    #[error("{} cannot be run: {source}", program.display())]
    Program {
        /// The program.
        program: PathBuf,
        /// Reason why it failed.
        source: io::Error,
    },
    /// A call of the operating system failed.
    #[error("{what}: {source}")]
    System {
        /// The attempted action.
        what: &'static str,
        /// Reason why it failed.
        source: io::Error,
    },
    /// The program has no fork server, or speaks a protocol that is not known.
    #[error("{} {what}", program.display())]
    ForkServer {
        /// The program.
        program: PathBuf,
        /// The program's action.
        what: String,
    },
    /// A function of another language is not there, or cannot be loaded.
    #[error("{subject}: {what}")]
    Subject {
        /// The function, as it was specified.
        subject: String,
        /// Reason why it failed.
        what: String,
    },
    /// The allocations and the stack of a program cannot be counted.
    #[error("the allocations and the stack of {} cannot be counted: {what}", program.display())]
    Uncounted {
        /// The program.
        program: PathBuf,
        /// Reason, and what helps.
        what: String,
    },
    /// The guard, the process that starts the program, ended.
    #[error("the process that starts the program under test has ended; the program may have killed it")]
    Guard,
    /// A program could not be built.
    #[error("{0}")]
    Build(String),
    /// Something in an argument that the operating system cannot take.
    #[error("{what} has a zero byte")]
    ZeroByte {
        /// Name of the argument.
        what: &'static str,
    },
}

impl Error {
    /// Returns the last error of the operating system.
    pub(crate) fn last(what: &'static str) -> Error {
        Error::System { what, source: io::Error::last_os_error() }
    }
}
