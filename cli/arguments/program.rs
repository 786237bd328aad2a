//! The program under test, as the user names it.

use std::ffi::OsString;

use clap::Args;
use clap::builder::Resettable;

/// The program, and its arguments.
#[derive(Debug, Args)]
pub struct ProgramArgs {
    /// The program, after `--`. `@@` stands for the name of a file with the text; without it, the text is standard
    /// input. Or a function: `python:MODULE:FUNCTION`, `node:FILE#FUNCTION`, `java:CLASSPATH:CLASS#METHOD`.
    #[arg(value_name = "PROGRAM", required = true, last = true, help_heading = Resettable::Reset)]
    pub command: Vec<OsString>,
}
