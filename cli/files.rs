//! Files that commands read in addition to grammars, and their names in messages.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use gramjet_compiler::SourceFile;

use crate::failure::{Failure, quoted};

/// Returns the file of weights at `path`, or on standard input if it is `-`.
pub fn read_weights(path: &Path) -> Result<SourceFile, Failure> {
    Ok(if path.as_os_str() == "-" {
        gramjet_compiler::files::read_text_stream("weights", io::stdin().lock(), "<stdin>")?
    } else {
        gramjet_compiler::files::read_text("weights", path, path)?
    })
}

/// Reads everything from `path`, or from standard input if it is `-`.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    if path.as_os_str() == "-" {
        return gramjet_compiler::files::read_limited(io::stdin().lock())
            .map_err(|source| Failure::Read { what: "standard input".to_string(), source });
    }
    gramjet_compiler::files::read_bytes(path).map_err(|source| Failure::Read { what: quoted(path), source })
}

/// Refuses arguments that name standard input twice.
pub fn read_stdin_once(grammar: &OsStr, files: &[PathBuf]) -> Result<(), Failure> {
    let from_stdin = files.iter().filter(|file| file.as_os_str() == "-").count();
    match from_stdin + usize::from(grammar == "-") {
        0 | 1 => Ok(()),
        _ => Err(Failure::Usage("standard input can be read only once".to_string())),
    }
}

/// Returns the directory that output goes to, one file each, if it is one or is called so.
pub fn folder(output: Option<&Path>) -> Option<&Path> {
    output.filter(|output| output.is_dir() || output.as_os_str().as_encoded_bytes().ends_with(b"/"))
}

/// Returns a file as messages show it.
pub fn shown(file: &Path) -> String {
    if file.as_os_str() == "-" { "standard input".to_string() } else { quoted(file) }
}
