//! The destination of the inputs of a run.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use crate::failure::{Failure, quoted};
use crate::output::directory::Directory;
use crate::output::file::{self, WriteMode};
use crate::output::separator::{Separator, SeparatorArgument};
use crate::output::sink::Sink;
use crate::output::stream::Stream;
use crate::plan::{Amount, Plan};
use crate::units;

/// Options for the destination of the inputs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Write to this file; to one file per input if it is a directory, ends with a slash, or --ext is given.
    #[arg(short, long, value_name = "FILE|DIR/", value_hint = ValueHint::AnyPath)]
    output: Option<PathBuf>,

    /// The extension of the files in the output directory.
    #[arg(long, value_name = "EXT", requires = "output", value_parser = units::parse_extension)]
    ext: Option<String>,

    /// The separator between inputs; newline by default, none for a directory.
    #[arg(long, value_enum, value_name = "KIND")]
    separator: Option<SeparatorArgument>,

    /// Way of writing a file.
    #[arg(long, value_enum, value_name = "MODE", default_value_t = WriteMode::Auto)]
    write_mode: WriteMode,

    /// Short for --write-mode mmap.
    #[arg(long, conflicts_with_all = ["write_mode", "no_mmap"])]
    mmap: bool,

    /// Short for --write-mode write.
    #[arg(long, conflicts_with = "write_mode")]
    no_mmap: bool,
}

/// Destination of the inputs.
pub enum Destination<'a> {
    /// Standard output.
    StandardOutput,
    /// A file.
    File(&'a Path),
    /// A directory, with a file for each input.
    Directory(&'a Path),
}

impl OutputArgs {
    /// Returns the extension of files in a directory, if there is one.
    pub fn extension(&self) -> Option<&str> {
        self.ext.as_deref().filter(|extension| !extension.is_empty())
    }
}

impl<'a> Destination<'a> {
    /// Returns the destination that the arguments name.
    pub fn of(args: &'a OutputArgs) -> Result<Destination<'a>, Failure> {
        let destination = match &args.output {
            Some(path) if path.as_os_str() != "-" => {
                let ends_as_directory = path.as_os_str().as_encoded_bytes().ends_with(b"/")
                    || cfg!(windows) && path.as_os_str().as_encoded_bytes().ends_with(b"\\");
                if ends_as_directory || args.ext.is_some() || path.is_dir() {
                    Destination::Directory(path)
                } else {
                    Destination::File(path)
                }
            }
            _ => Destination::StandardOutput,
        };
        match destination {
            Destination::Directory(path) if path.exists() && !path.is_dir() => Err(Failure::Usage(format!(
                "{} is not a directory; `--ext` and a slash at the end ask for one",
                quoted(path)
            ))),
            Destination::StandardOutput if args.ext.is_some() => {
                Err(Failure::Usage("`--ext` needs a directory to write to".to_string()))
            }
            Destination::StandardOutput | Destination::Directory(_) if mode(args) == WriteMode::Mmap => {
                Err(Failure::Usage("only a file can be written through a memory map: give one with `-o`".to_string()))
            }
            destination => Ok(destination),
        }
    }

    /// Returns true if it is standard output.
    pub fn is_standard_output(&self) -> bool {
        matches!(self, Destination::StandardOutput)
    }

    /// Returns true if people see the inputs: on a terminal, and without a separator for programs.
    pub fn is_watched(&self, args: &OutputArgs) -> bool {
        self.is_standard_output() && args.separator.is_none() && std::io::stdout().is_terminal()
    }

    /// Returns the separator between inputs.
    pub fn separator(&self, args: &OutputArgs) -> Separator {
        Separator::of(args.separator.unwrap_or(match self {
            Destination::Directory(_) => SeparatorArgument::None,
            _ => SeparatorArgument::Newline,
        }))
    }

    /// Opens it.
    pub fn open(&self, args: &OutputArgs, plan: &Plan, amount: Amount) -> Result<Box<dyn Sink>, Failure> {
        match *self {
            Destination::StandardOutput => {
                let stream = Stream::standard_output()
                    .map_err(|source| Failure::Write { what: "standard output".to_string(), source })?;
                Ok(Box::new(stream))
            }
            Destination::File(path) => file::create(path, mode(args)),
            Destination::Directory(path) => {
                let greatest = match amount {
                    Amount::Inputs(count) => Some(count.saturating_sub(1)),
                    _ => None,
                };
                let directory = Directory::create(path, args.ext.as_deref(), *plan, greatest)
                    .map_err(|source| Failure::writing(path, source))?;
                Ok(Box::new(directory))
            }
        }
    }
}

fn mode(args: &OutputArgs) -> WriteMode {
    match (args.mmap, args.no_mmap) {
        (true, _) => WriteMode::Mmap,
        (_, true) => WriteMode::Write,
        _ => args.write_mode,
    }
}
