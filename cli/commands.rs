//! The commands. Each is a file that has its arguments, which say in their first line what the command is for, and its
//! `run`.
//!
//! A new command is a file in `commands/`, its `mod` here, and its line in the list below it.

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::failure::Failure;

#[cfg(target_os = "linux")]
mod cargo;
#[cfg(target_os = "linux")]
mod cc;
mod check;
mod completions;
#[cfg(target_os = "linux")]
mod confinement;
mod convert;
#[cfg(target_os = "linux")]
mod cxx;
mod draw;
mod dump;
mod emit;
#[cfg(target_os = "linux")]
mod evolve;
#[cfg(target_os = "linux")]
mod fuzz;
mod generate;
mod grammars;
#[cfg(target_os = "linux")]
mod infer;
mod learn;
mod man;
mod minimise;
mod mutate;
mod parse;
#[cfg(target_os = "linux")]
mod refine;
mod render;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod search;
mod weights;

/// Compiles context-free grammars to producers of valid inputs.
///
/// A grammar is a file, `-` for standard input, or the name of a grammar that ships with gramjet (`gramjet grammars`
/// lists them).
#[derive(Debug, Parser)]
#[command(name = "gramjet", version, propagate_version = true, max_term_width = 100)]
pub struct CommandLine {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// Makes [`Command`] of the list, in the order of the help. A command's further arguments are in parentheses.
macro_rules! commands {
    ($(
        $(#[cfg($condition:meta)])? $(#[command($($called:tt)*)])? $name:ident: $module:ident $(($given:expr))?,
    )*) => {
        #[derive(Debug, Subcommand)]
        pub enum Command {
            $($(#[cfg($condition)])? $(#[command($($called)*)])? $name(Box<$module::Arguments>),)*
        }

        impl Command {
            /// Does what the command is for.
            pub fn run(&self) -> Result<(), Failure> {
                match self {
                    $($(#[cfg($condition)])? Command::$name(arguments) => $module::run(arguments $(, $given)?),)*
                }
            }
        }
    };
}

commands! {
    Gen: generate,
    Check: check,
    Weights: weights,
    Learn: learn,
    Render: render,
    Parse: parse,
    Mutate: mutate,
    Minimise: minimise,
    #[cfg(target_os = "linux")]
    Fuzz: fuzz,
    #[cfg(target_os = "linux")]
    Evolve: evolve,
    #[cfg(target_os = "linux")]
    Search: search,
    #[cfg(target_os = "linux")]
    Report: report,
    #[cfg(target_os = "linux")]
    Infer: infer,
    #[cfg(target_os = "linux")]
    Refine: refine,
    #[cfg(target_os = "linux")]
    Cc: cc,
    #[cfg(target_os = "linux")]
    #[command(name = "c++")]
    Cxx: cxx,
    #[cfg(target_os = "linux")]
    Cargo: cargo,
    #[cfg(target_os = "linux")]
    Confinement: confinement,
    Draw: draw,
    Dump: dump,
    Emit: emit,
    Convert: convert,
    Grammars: grammars,
    Completions: completions (CommandLine::command()),
    Man: man (CommandLine::command()),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_of_all_commands_go_together() {
        CommandLine::command().debug_assert();
    }
}
