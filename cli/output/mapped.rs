//! A regular file that is written through a memory map, window by window.
//!
//! The blocks of each window are allocated before it is mapped: a store to a page that the file system has no room for
//! would be a SIGBUS, an allocation that fails is an error. Windows are small, for mapped pages count as memory in use.
//! Another process that makes the file shorter takes the blocks away again; then the signal ends the process with a
//! message.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use memmap2::{MmapMut, MmapOptions};
use signal_hook::consts::SIGBUS;
use signal_hook::low_level;

use crate::failure::quoted;
use crate::output::chunk::Chunk;
use crate::output::sink::{Sink, SinkError};
use crate::system;

/// A multiple of every page size.
const WINDOW: usize = 8 << 20;
/// Size of the smallest window that is tried where there is no room for a larger one; also a multiple of every page
/// size.
const LAST_WINDOW: usize = 64 << 10;
/// The file grows in steps of this many bytes.
const GROWTH: u64 = 256 << 20;

/// A memory-mapped file.
#[derive(Debug)]
pub struct Mapped {
    file: File,
    description: String,
    /// The window that is written.
    window: Option<MmapMut>,
    /// Offset at which the next window starts.
    next_start: u64,
    /// Number of bytes of the window that are written.
    position: usize,
    /// The length of the file.
    allocated: u64,
}

impl Mapped {
    /// Returns the file `path`, emptied; `Unsupported` if it cannot be mapped.
    pub fn create(path: &Path) -> io::Result<Mapped> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let description = quoted(path);
        report_bus_errors(&description)?;
        let mut mapped = Mapped { file, description, window: None, next_start: 0, position: 0, allocated: 0 };
        // Asked here rather than at the first chunk, where it would be too late for advice. A full disk is reported
        // there, together with the output so far.
        match mapped.allocate(LAST_WINDOW as u64) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Err(error),
            _ => Ok(mapped),
        }
    }

    /// Allocates up to the offset `end`.
    fn allocate(&mut self, end: u64) -> io::Result<()> {
        if end > self.allocated {
            system::allocate(&self.file, self.allocated, end - self.allocated)?;
            self.allocated = end;
        }
        Ok(())
    }

    /// Maps the next window: as large as there is room for.
    fn advance(&mut self) -> io::Result<()> {
        self.window = None;
        self.position = 0;
        let start = self.next_start;
        let mut window = WINDOW as u64;
        if start + window > self.allocated {
            // Short runs should not allocate 256 MiB: double first.
            let growth = self.allocated.clamp(window, GROWTH);
            let mut result = self.allocate(self.allocated + growth);
            while result.is_err() && start + window > self.allocated {
                result = self.allocate(start + window);
                if result.is_err() {
                    window /= 2;
                    if window < LAST_WINDOW as u64 {
                        return result;
                    }
                }
            }
        }
        self.window = Some(map(&self.file, start, window as usize)?);
        self.next_start = start + window;
        Ok(())
    }
}

/// Has SIGBUS end the process with a message and exit code 1, as other failures to write do.
#[expect(unsafe_code, reason = "the action of a signal is unsafe by nature")]
fn report_bus_errors(description: &str) -> io::Result<()> {
    let message = format!(
        "gramjet: cannot write {description}: what is mapped is no longer there; another process has made the file shorter, or its \
         storage fails; with `--write-mode write` a file may change meanwhile\n"
    );
    // SAFETY: The action is async-signal-safe: it calls write(2) with a text that was made before, and _exit(2).
    unsafe {
        low_level::register(SIGBUS, move || {
            // There is no other place to report it.
            libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len());
            low_level::exit(1);
        })
    }?;
    Ok(())
}

/// Returns the window of the file that starts at `start` and has `len` bytes.
#[expect(unsafe_code, reason = "a memory map is unsafe by nature")]
fn map(file: &File, start: u64, len: usize) -> io::Result<MmapMut> {
    // SAFETY: What makes a shared map unsafe is that others may change the file below it. Changed *bytes* break
    // nothing: the map is only ever written through, by `copy_from_slice`; no byte of it is read, so none is taken to
    // be constant. A file that becomes *shorter* turns stores into SIGBUS, whose action (`report_bus_errors`) ends the
    // process. This process never shortens the file while a window exists (`finish` and `cut_to` drop it first), and
    // the pages of the window are allocated before it is mapped. The map keeps the open file alive, so closing `file`
    // cannot invalidate it.
    unsafe { MmapOptions::new().offset(start).len(len).map_mut(file) }
}

impl Sink for Mapped {
    fn write(&mut self, chunk: &Chunk) -> Result<(), SinkError> {
        let mut written = 0;
        while written < chunk.bytes.len() {
            if self.window.as_ref().is_none_or(|window| self.position == window.len()) {
                self.advance().map_err(|source| SinkError { written, source })?;
            }
            let Some(window) = &mut self.window else { break };
            let count = (chunk.bytes.len() - written).min(window.len() - self.position);
            window[self.position..self.position + count].copy_from_slice(&chunk.bytes[written..written + count]);
            self.position += count;
            written += count;
        }
        Ok(())
    }

    fn finish(&mut self, bytes: u64) -> io::Result<()> {
        self.window = None;
        self.file.set_len(bytes)
    }

    fn cut_to(&mut self, bytes: u64) {
        self.window = None;
        // There is already an error to report; a failure to tidy up after it changes nothing.
        let _ = self.file.set_len(bytes);
    }

    fn description(&self) -> String {
        self.description.clone()
    }
}
