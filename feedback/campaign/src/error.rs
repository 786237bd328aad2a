//! Reasons why a campaign cannot go on.

use std::io;

#[cfg(all(feature = "programs", target_os = "linux"))]
use gramjet_harness::Error as Target;

#[cfg(all(feature = "programs", unix))]
use crate::state::StateError;

/// A reason why a campaign cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The plan cannot be carried out.
    #[error("{0}")]
    Usage(String),
    /// The program under test cannot be run.
    #[cfg(all(feature = "programs", target_os = "linux"))]
    #[error("{0}")]
    Target(#[from] Target),
    /// The folder of the campaign cannot be used.
    #[cfg(all(feature = "programs", unix))]
    #[error("{0}")]
    State(#[from] StateError),
    /// Something else could not be read.
    #[error("cannot read {what}: {source}")]
    Read {
        /// A path, or a description.
        what: String,
        /// The reason.
        source: io::Error,
    },
    /// A defect of gramjet itself.
    #[error("internal error: {0}; please report it")]
    Internal(String),
}
