//! `gramjet completions`: a completion script for a shell.

use clap::Args;

use crate::failure::Failure;
use crate::output::whole::write_output;

/// Print a completion script for a shell.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The shell.
    shell: clap_complete::Shell,
}

/// Prints the script for a command line.
pub fn run(args: &Arguments, mut command_line: clap::Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command_line, "gramjet", &mut script);
    write_output(None, &script)
}
