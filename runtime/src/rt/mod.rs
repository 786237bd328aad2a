//! The runtime of generated producers and engines: the machine that holds the choice window, the output and the slack.
//!
//! This is the private side of the library: generated code of the same version uses it; its interface may change with
//! any release. There are two machines with the same methods: [`raw`] works on bare pointers whose bounds are reserved
//! ahead, [`safe`] checks every access.

pub mod random;
pub mod raw;
pub mod safe;
pub mod simd;
mod stack;
pub mod tables;
mod window;

pub use tables::{CharClass, Star, Strings};

use crate::limits::Limits;

/// Depth that remains below the limit for a rule instance; negative beyond it.
pub type Depth = i64;

/// The number of choice bytes that generated code may read between two calls of `ensure`.
pub const CREDIT_CHOICES: usize = 128;

/// The number of bytes that generated code may write between two calls of `ensure`.
pub const CREDIT_OUTPUT: usize = 1024;

/// Choice bytes that a run of rounds of single bytes may use of the credit.
pub const RUN_CHOICES: usize = 18;

/// Output bytes that a run of rounds of single bytes may use of the credit.
pub const RUN_OUTPUT: usize = 13;

/// End of a run of rounds over a table; see [`raw::Machine::run`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// The repetition chose to stop.
    Stopped,
    /// A further round was chosen, and its member is not in the table: its site is still to be read.
    Other,
    /// As many rounds as were allowed are done.
    Capped,
}

/// Returns the number of rounds that remain for a limited run: the least of the limits in force.
#[inline(always)]
pub fn rounds(depth: Option<Depth>, slack: Option<u64>, rounds: Option<u64>) -> u64 {
    let depth = depth.map_or(u64::MAX, |depth| depth.max(0) as u64);
    depth.min(slack.unwrap_or(u64::MAX)).min(rounds.unwrap_or(u64::MAX))
}

/// Returns the instance of the start rule for these limits, out of those without limits, with a depth limit, and with a
/// depth and a length limit; and the depth that it begins with.
#[inline(always)]
fn entry_of<R: Copy>(entries: &[R; 3], limits: Limits) -> (R, Depth) {
    // A length limit alone runs with a depth that is never used up.
    let entry = match (limits.depth(), limits.length()) {
        (None, None) => entries[0],
        (Some(_), None) => entries[1],
        (_, Some(_)) => entries[2],
    };
    (entry, limits.depth().map_or(Depth::MAX, Depth::from))
}

/// Returns the number of bytes that an input may have in addition to its minimum.
#[inline(always)]
fn slack(min_len: u64, limits: Limits) -> u64 {
    limits.length().map_or(u64::MAX, |bound| bound.saturating_sub(min_len))
}
