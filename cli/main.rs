//! The `gramjet` command: reads arguments, calls the libraries, renders what they say.

#![deny(unsafe_code)]

mod annotation;
mod arguments;
mod commands;
mod draw;
mod engine;
mod failure;
mod files;
mod limits;
#[cfg(target_os = "linux")]
mod oracle;
mod output;
#[cfg(all(test, target_os = "linux"))]
mod pages_tests;
mod plan;
mod prepared;
mod progress;
mod recorded;
#[cfg(target_os = "linux")]
mod refusal;
mod report;
mod samples;
#[cfg(target_os = "linux")]
mod seeds;
mod source;
mod stop;
#[cfg(unix)]
mod system;
mod tally;
mod terminal;
mod texts;
mod units;
#[cfg(target_os = "linux")]
mod wrapped;

use std::ffi::OsString;
use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;

use clap::Parser;

use commands::CommandLine;
use failure::{Failure, say};

fn main() -> ExitCode {
    stop::fail_writes_beyond_file_size_limit();
    // Clap prints its own errors, with exit code 2, and help and version, with exit code 0.
    let command_line = match CommandLine::try_parse_from(with_values(std::env::args_os())) {
        Ok(command_line) => command_line,
        Err(error) => return print(&error),
    };
    let ended = command_line.command.run();
    #[cfg(target_os = "linux")]
    for left in gramjet_harness::left_behind() {
        say!("gramjet: could not remove {} ({})", left.path.display(), left.why);
    }
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            say!("gramjet: {failure}");
            failure.exit_code()
        }
    }
}

/// Prints what clap has to say: a usage error, or the help or version that was asked for.
fn print(message: &clap::Error) -> ExitCode {
    let printed = message.print().and_then(|()| std::io::stdout().flush());
    match printed {
        // A failure to print help is reported. A usage error is a failure anyway, and standard error is its only place.
        Err(source) if !message.use_stderr() && source.kind() != ErrorKind::BrokenPipe => {
            let failure = Failure::Write { what: "standard output".to_string(), source };
            say!("gramjet: {failure}");
            failure.exit_code()
        }
        _ => ExitCode::from(u8::try_from(message.exit_code()).unwrap_or(2)),
    }
}

/// Joins the words of options: `--shape target-size SIZE` is written in two words as well as in one, `--shape
/// target-size=SIZE`. So is a negative hexadecimal seed, which clap takes for options otherwise: its error should be
/// that of the seed.
fn with_values(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    for argument in arguments {
        let is_size = units::parse_size(&argument.to_string_lossy()).is_ok();
        let behind_options = !joined.iter().any(|argument| argument == "--");
        match joined.as_mut_slice() {
            [.., option, shape] if is_size && behind_options && option == "--shape" && shape == "target-size" => {
                shape.push("=");
                shape.push(argument);
            }
            [.., shape] if is_size && behind_options && shape == "--shape=target-size" => {
                shape.push("=");
                shape.push(argument);
            }
            [.., seed] if is_negative_hex(&argument) && behind_options && (seed == "--seed" || seed == "-s") => {
                seed.push("=");
                seed.push(argument);
            }
            _ => joined.push(argument),
        }
    }
    joined
}

fn is_negative_hex(argument: &OsString) -> bool {
    argument.to_string_lossy().to_ascii_lowercase().starts_with("-0x")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_shapes_may_be_words_of_their_own() {
        let joined = |line: &str| {
            let words = with_values(line.split(' ').map(OsString::from)).into_iter();
            words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(joined("gen --shape target-size 10k json"), "gen --shape target-size=10k json");
        assert_eq!(joined("gen --shape=target-size 7 json"), "gen --shape=target-size=7 json");
        for line in ["gen --shape target-size json", "gen --shape deep 7", "minimise g f -- --shape target-size 7"] {
            assert_eq!(joined(line), line);
        }
    }
}
