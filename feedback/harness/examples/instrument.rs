//! The compiler wrappers as a command: `instrument cc ARGUMENTS`, `instrument c++ ARGUMENTS`, `instrument cargo
//! ARGUMENTS`.

use std::ffi::OsString;
use std::process::ExitCode;

use gramjet_harness::instrument::{Language, cargo, compile};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else { return ExitCode::from(2) };
    let done = match name.to_str() {
        Some("cc") => compile(Language::C, rest),
        Some("c++") => compile(Language::Cxx, rest),
        Some("cargo") => cargo(rest),
        _ => return ExitCode::from(2),
    };
    match done {
        Ok(status) => ExitCode::from(status as u8),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
