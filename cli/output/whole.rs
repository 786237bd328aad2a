//! Output that is written at once: a text, a tree, choice bytes.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use crate::failure::Failure;

/// Writes `bytes` to the file `path`, or to standard output if there is none or it is `-`.
pub fn write_output(path: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
    match path {
        Some(path) if path.as_os_str() != "-" => {
            fs::write(path, bytes).map_err(|source| Failure::writing(path, source))
        }
        _ => standard_output()
            .and_then(|mut file| file.write_all(bytes))
            .map_err(|source| Failure::Write { what: "standard output".to_string(), source }),
    }
}

/// Returns standard output as a file: a write is a write(2).
pub fn standard_output() -> io::Result<File> {
    #[cfg(unix)]
    return Ok(std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned()?.into());
    #[cfg(windows)]
    return Ok(std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned()?.into());
}
