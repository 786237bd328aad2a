//! The sinks that finished inputs go to: a stream, a memory-mapped file, a directory. A sink takes whole chunks in
//! order.

use std::io;

use crate::output::chunk::Chunk;

/// A destination of inputs.
pub trait Sink: Send {
    /// Takes a chunk, or says how much of it is in place.
    fn write(&mut self, chunk: &Chunk) -> Result<(), SinkError>;

    /// Does what is left to do when everything is written; `bytes` is the length of all chunks taken.
    fn finish(&mut self, bytes: u64) -> io::Result<()>;

    /// Truncates the output after an error to its first `bytes` bytes, the complete inputs, as far as that is possible.
    fn cut_to(&mut self, _bytes: u64) {}

    /// Returns true if it may pay to have another thread write.
    fn takes_time(&self) -> bool {
        true
    }

    /// Returns the name of the sink in messages.
    fn description(&self) -> String;
}

/// Error of a sink that could not take a chunk as a whole.
#[derive(Debug)]
pub struct SinkError {
    /// Number of bytes of the chunk that are in place.
    pub written: usize,
    /// The error.
    pub source: io::Error,
}
