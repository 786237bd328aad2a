//! The limits of one input, as the user asks for them.

use clap::Args;
use gramjet_compiler::limits::AssumedLimits;

use crate::units::{self, Bound};

/// The limits of one input; each replaces the directive of the same name in the grammar file.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Limits of one input")]
pub struct LimitArgs {
    /// Rules more than this many references below the start rule are completed as briefly as possible; `none` for no
    /// limit.
    ///
    /// Where neither the grammar file nor the command line sets a depth or a length, the depth is 32.
    #[arg(long, value_name = "DEPTH", allow_negative_numbers = true, value_parser = units::parse_depth)]
    pub max_depth: Option<Bound<u32>>,

    /// No input is longer than this, in bytes (4096, 64KiB, 1MB); `none` for no limit.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = units::parse_size_bound)]
    pub max_len: Option<Bound<u64>>,

    /// An input reads at most this many choice bytes, and is completed as briefly as possible after them.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = units::parse_size)]
    pub max_choices: Option<u64>,
}

impl LimitArgs {
    /// Returns these limits, where commands have options of their own for them.
    pub fn at(max_depth: Option<u32>, max_len: Option<u64>) -> LimitArgs {
        LimitArgs { max_depth: max_depth.map(Bound::At), max_len: max_len.map(Bound::At), max_choices: None }
    }

    /// Returns the limits that the compiler is to assume.
    pub fn assumed(&self) -> AssumedLimits {
        AssumedLimits { max_depth: self.max_depth.map(Bound::number), max_len: self.max_len.map(Bound::number) }
    }
}
