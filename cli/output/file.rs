//! A file of inputs, written in the way that the user asks for.

use std::path::Path;

use clap::ValueEnum;

use crate::failure::{Failure, quoted};
#[cfg(target_os = "linux")]
use crate::output::mapped::Mapped;
use crate::output::sink::Sink;
use crate::output::stream::Stream;

/// Ways of writing a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WriteMode {
    /// The faster of the two, as measured.
    Auto,
    /// With write(2).
    Write,
    /// Through a memory map (regular files, on Linux).
    Mmap,
}

/// Returns a sink that writes the file `path`, in the way that `mode` says.
pub fn create(path: &Path, mode: WriteMode) -> Result<Box<dyn Sink>, Failure> {
    if mode != WriteMode::Mmap {
        return Ok(Box::new(Stream::create(path).map_err(|source| Failure::writing(path, source))?));
    }
    #[cfg(target_os = "linux")]
    match Mapped::create(path) {
        Ok(mapped) => Ok(Box::new(mapped)),
        Err(source) => Err(match source.kind() {
            std::io::ErrorKind::Unsupported => {
                Failure::Usage(format!("{} cannot be memory-mapped; use `--write-mode write`", quoted(path)))
            }
            _ => Failure::writing(path, source),
        }),
    }
    #[cfg(not(target_os = "linux"))]
    Err(Failure::Usage(format!("{} cannot be memory-mapped on this system; use `--write-mode write`", quoted(path))))
}
