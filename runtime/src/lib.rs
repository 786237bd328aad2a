//! gramjet: producers of valid inputs, compiled from context-free grammars.
//!
//! A producer is a pure function from *choice bytes* and limits to output bytes: every byte string is a valid choice
//! string, and every output is a sentence of the grammar. Feed it pseudo-random bytes to generate, a fuzzer's bytes to
//! explore, recorded bytes to replay.

pub mod choices;
pub mod limits;
pub mod producer;
pub mod rt;

pub use choices::{BLOCK_INPUTS, ChoiceSource, Choices};
pub use limits::{Limits, LimitsError};
pub use producer::{Inputs, Producer};
