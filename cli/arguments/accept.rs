//! A program that decides which texts are valid, as the user tells it.

use std::time::Duration;

use clap::Args;
use regex_lite::Regex;

use crate::arguments::program::ProgramArgs;
use crate::arguments::run::{RunArgs, parse_regex, parse_timeout};

/// A program that accepts texts or rejects them.
#[derive(Debug, Args)]
pub struct OracleArgs {
    /// Options that say which texts the program accepts.
    #[command(flatten)]
    pub accept: AcceptArgs,

    /// Options for running the program.
    #[command(flatten)]
    pub run: RunArgs,

    /// The program.
    #[command(flatten)]
    pub program: ProgramArgs,
}

/// Options that say which texts the program accepts. Without a regular expression, it accepts those on which it exits
/// with status 0, or on which the function returns.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "What the program accepts")]
pub struct AcceptArgs {
    /// The program accepts a text if what it writes, to standard output or standard error, matches this regular
    /// expression, whatever its exit status.
    #[arg(long, value_name = "REGEX", value_parser = parse_regex)]
    pub accept_regex: Option<Regex>,

    /// The program rejects a text if what it writes matches this regular expression. Other texts are accepted, whatever
    /// its exit status, unless `--accept-regex` asks for more.
    #[arg(long, value_name = "REGEX", value_parser = parse_regex)]
    pub reject_regex: Option<Regex>,

    /// A run that takes longer is repeated with four times the time; then its text is rejected.
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = parse_timeout)]
    pub timeout: Duration,
}
