//! Standard output and files, by write(2) on whole chunks: the standard library's own standard output is line-buffered.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use crate::failure::quoted;
use crate::output::chunk::Chunk;
use crate::output::sink::{Sink, SinkError};
use crate::output::whole::standard_output;
#[cfg(unix)]
use crate::system;

/// A file, pipe or terminal that is written from front to back.
#[derive(Debug)]
pub struct Stream {
    file: File,
    description: String,
    /// A file that this process has made, so that it may be shortened.
    regular: bool,
}

impl Stream {
    /// Returns the file `path`, emptied.
    pub fn create(path: &Path) -> io::Result<Stream> {
        let file = File::create(path)?;
        let regular = file.metadata().is_ok_and(|metadata| metadata.is_file());
        Ok(Stream { file, description: quoted(path), regular })
    }

    /// Returns standard output, unbuffered.
    pub fn standard_output() -> io::Result<Stream> {
        let file = standard_output()?;
        widen_pipe(&file);
        Ok(Stream { file, description: "standard output".to_string(), regular: false })
    }
}

impl Sink for Stream {
    fn write(&mut self, chunk: &Chunk) -> Result<(), SinkError> {
        write_counted(&mut self.file, &chunk.bytes).map_err(|(written, source)| SinkError { written, source })
    }

    fn finish(&mut self, _bytes: u64) -> io::Result<()> {
        Ok(())
    }

    fn cut_to(&mut self, bytes: u64) {
        if self.regular {
            // There is already an error to report; a failure to tidy up after it changes nothing.
            let _ = self.file.set_len(bytes);
        }
    }

    fn takes_time(&self) -> bool {
        // /dev/null, above all.
        #[cfg(unix)]
        return !self
            .file
            .metadata()
            .is_ok_and(|metadata| std::os::unix::fs::FileTypeExt::is_char_device(&metadata.file_type()));
        #[cfg(not(unix))]
        true
    }

    fn description(&self) -> String {
        self.description.clone()
    }
}

/// Writes all bytes, or says how many were written.
fn write_counted(file: &mut File, bytes: &[u8]) -> Result<(), (usize, io::Error)> {
    let mut written = 0;
    while written < bytes.len() {
        match file.write(&bytes[written..]) {
            Ok(0) => return Err((written, io::ErrorKind::WriteZero.into())),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Somebody who shares our standard output has made it non-blocking.
            #[cfg(unix)]
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => match system::wait_until_writable(file) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err((written, error)),
            },
            Err(error) => return Err((written, error)),
        }
    }
    Ok(())
}

/// Gives a pipe room for whole chunks, which saves its two ends most of their switches.
#[cfg(target_os = "linux")]
fn widen_pipe(file: &File) {
    // Not a pipe, or not allowed: then it stays as it is.
    let _ = system::set_pipe_size(file, 1 << 20);
}

#[cfg(not(target_os = "linux"))]
fn widen_pipe(_: &File) {}
