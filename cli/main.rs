//! The `gramjet` command: reads arguments, calls the libraries, renders what they say.

#![deny(unsafe_code)]

mod args;
mod check;
mod convert;
mod engines;
mod failure;
mod generate;
mod grammar;
mod limits;
mod minimise;
mod mutate;
mod parse;
mod progress;
mod render;
mod report;
mod shard;
mod sinks;
mod stop;
mod texts;
mod units;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use failure::say;

fn main() -> ExitCode {
    // Clap prints its own errors, with exit code 2, and help and version, with exit code 0.
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Nobody is left to be told that the message could not be printed.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let result = match &cli.command {
        Command::Gen(args) => generate::run(args),
        Command::Check(args) => check::run(args),
        Command::Render(args) => render::run(args),
        Command::Parse(args) => parse::run(args),
        Command::Mutate(args) => mutate::run(args),
        Command::Minimise(args) => minimise::run(args),
        Command::Dump(args) => texts::dump(args),
        Command::Emit(args) => texts::emit(args),
        Command::Convert(args) => convert::run(args),
        Command::Grammars => texts::grammars(),
        Command::Completions { shell } => texts::completions(*shell),
        Command::Man { command } => texts::man(command.as_deref()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            say!("gramjet: {failure}");
            failure.exit_code()
        }
    }
}
