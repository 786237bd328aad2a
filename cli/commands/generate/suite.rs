//! Suites: texts that are complete in a stated way, each with a reason.

mod boundary;
mod cases;
mod common;
mod cover;
mod enumerate;
mod invalid;
mod pairs;

use clap::Args;

use super::destination::Destination;
use crate::failure::Failure;
use crate::prepared::Prepared;
use crate::units;
pub use common::Common;

/// Options that a suite does not take: it makes what belongs to it, and no amount.
const NOT_FOR_SUITES: [&str; 14] = [
    "count",
    "bytes",
    "time",
    "unique",
    "shard",
    "jobs",
    "engine",
    "optimise",
    "coverage",
    "max_choices",
    "shape",
    "weights",
    "write_mode",
    "mmap",
];

/// Options for suites.
#[derive(Debug, Args)]
#[command(next_help_heading = "Suites")]
#[group(multiple = false)]
pub struct SuiteArgs {
    /// Write a small set of texts that together have every path of up to K successive alternatives.
    ///
    /// With 1 they have every alternative. A repetition counts as two: its fewest rounds, and more. In a directory, the
    /// files are named by what they are for, and `index.jsonl` has a line for each. The seed is 0 by default.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=16), conflicts_with_all = NOT_FOR_SUITES)]
    cover: Option<u32>,

    /// Write all texts in the order of their lengths, up to `--max-len` or to the number `-n`.
    ///
    /// The numbers of derivations of each length are told first. A text of several derivations is written once. Only
    /// lengths bound it, no depth.
    #[arg(long, conflicts_with_all = &NOT_FOR_SUITES[1..])]
    enumerate: bool,

    /// Write N texts that are not in the language, each one change away from one that is.
    ///
    /// Tokens or characters are deleted, doubled, swapped, replaced or inserted, texts are truncated, edges of classes
    /// are missed, and repetitions have a round too few or too many. The parser refuses each text. The seed is 0 by
    /// default.
    #[arg(long, value_name = "N", value_parser = parse_texts, conflicts_with_all = NOT_FOR_SUITES)]
    invalid: Option<u64>,

    /// Write texts at boundaries: fewest and most rounds, edges of classes, shortest and longest texts.
    ///
    /// In a directory there are also texts beyond: a round too many, a neighbour of a class. The parser refuses them,
    /// and their lines of `index.jsonl` have `"valid":false`. The seed is 0 by default.
    #[arg(long, conflicts_with_all = NOT_FOR_SUITES)]
    boundary: bool,

    /// Write texts that together have every pair of options of two choices or repetitions of a rule.
    ///
    /// Both options stand in one instance of the rule. The seed is 0 by default.
    #[arg(long, conflicts_with_all = NOT_FOR_SUITES)]
    pairs: bool,
}

/// Returns a number of texts, all of which are kept in memory.
fn parse_texts(text: &str) -> Result<u64, String> {
    match units::parse_count(text)? {
        count @ 1..=1_000_000 => Ok(count),
        count => Err(format!("{count} is not in 1..=1000000")),
    }
}

impl SuiteArgs {
    /// Returns true if a suite is asked for.
    pub fn is_asked(&self) -> bool {
        self.cover.is_some() || self.enumerate || self.invalid.is_some() || self.boundary || self.pairs
    }
}

/// Makes a suite.
pub fn run(args: &SuiteArgs, common: &Common<'_>) -> Result<(), Failure> {
    let destination = Destination::of(common.output)?;
    cases::check_new(&destination)?;
    let prepared = Prepared::load(common.grammar, common.limits)?.with_own_weights();
    let limits = common::kept(&prepared)?;
    if let Some(longest) = args.cover {
        return cover::run(&prepared, limits, longest, common, &destination);
    }
    if let Some(count) = args.invalid {
        return invalid::run(&prepared, limits, count, common, &destination);
    }
    if args.boundary {
        return boundary::run(&prepared, limits, common, &destination);
    }
    if args.pairs {
        return pairs::run(&prepared, limits, common, &destination);
    }
    enumerate::run(&prepared, limits.length(), common, &destination)
}
