//! What generated producers and engines run on: the machine that holds the choice window, the output and the slack.
//!
//! This is the private side of the library: generated code of the same version uses it; its interface may change with any
//! release. There are two machines with the same methods: [`raw`] works on bare pointers whose bounds are reserved ahead,
//! [`safe`] checks every access.

pub mod raw;
pub mod safe;
mod stack;
pub mod tables;
mod window;

pub use tables::{CharClass, Star, Strings};

/// Depth that remains below the limit for a rule instance; negative beyond it.
pub type Depth = i64;

/// What generated code may read between two calls of `ensure`, in choice bytes.
pub const CREDIT_CHOICES: usize = 128;

/// What generated code may write between two calls of `ensure`, in bytes.
pub const CREDIT_OUTPUT: usize = 1024;

/// Choice bytes that a run of rounds of single bytes may use of the credit.
pub const RUN_CHOICES: usize = 18;

/// Output bytes that a run of rounds of single bytes may use of the credit.
pub const RUN_OUTPUT: usize = 13;

/// How a run of rounds over a table ended; see [`raw::Machine::run`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// The repetition chose to stop.
    Stopped,
    /// A further round was chosen, and its member is not in the table: its site is still to be read.
    Other,
    /// As many rounds as were allowed are done.
    Capped,
}

/// The rounds that remain for a limited run: the least of the limits in force.
#[inline(always)]
pub fn rounds(depth: Option<Depth>, slack: Option<u64>, rounds: Option<u64>) -> u64 {
    let depth = depth.map_or(u64::MAX, |depth| depth.max(0) as u64);
    depth.min(slack.unwrap_or(u64::MAX)).min(rounds.unwrap_or(u64::MAX))
}
