//! Where finished inputs go: a stream, a memory-mapped file, a directory. A sink takes whole chunks in order.

mod directory;
#[cfg(target_os = "linux")]
mod mapped;
mod stream;

use std::io;
use std::path::Path;

pub use directory::Directory;
pub use stream::{Stream, standard_output};

use crate::args::WriteMode;
use crate::failure::{Failure, quoted};
use crate::generate::Chunk;

/// A destination of inputs.
pub trait Sink: Send {
    /// Takes a chunk, or says how much of it is in place.
    fn write(&mut self, chunk: &Chunk) -> Result<(), SinkError>;

    /// Does what is left to do when everything is written; `bytes` is the length of all chunks taken.
    fn finish(&mut self, bytes: u64) -> io::Result<()>;

    /// After an error: keeps the first `bytes` bytes only, those of complete inputs, as far as that is possible.
    fn cut_to(&mut self, _bytes: u64) {}

    /// Whether it may pay to have another thread write.
    fn takes_time(&self) -> bool {
        true
    }

    /// What messages call it.
    fn description(&self) -> String;
}

/// Why a chunk could not be taken as a whole.
#[derive(Debug)]
pub struct SinkError {
    /// How many bytes of the chunk are in place.
    pub written: usize,
    /// What happened.
    pub source: io::Error,
}

/// A sink that writes the file `path`, in the way that `mode` says.
pub fn file(path: &Path, mode: WriteMode) -> Result<Box<dyn Sink>, Failure> {
    if mode != WriteMode::Mmap {
        return Ok(Box::new(Stream::create(path).map_err(|source| Failure::writing(path, source))?));
    }
    #[cfg(target_os = "linux")]
    match mapped::Mapped::create(path) {
        Ok(mapped) => Ok(Box::new(mapped)),
        Err(source) => Err(match source.kind() {
            io::ErrorKind::Unsupported => {
                Failure::Usage(format!("{} cannot be memory-mapped; use `--write-mode write`", quoted(path)))
            }
            _ => Failure::writing(path, source),
        }),
    }
    #[cfg(not(target_os = "linux"))]
    Err(Failure::Usage(format!("{} cannot be memory-mapped on this system; use `--write-mode write`", quoted(path))))
}
