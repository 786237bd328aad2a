//! Inputs on a terminal: those that are no printable text are described instead.

use std::io;

use crate::output::chunk::Chunk;
use crate::output::sink::{Sink, SinkError};

/// A function that describes an input; `None` if it can be shown as it is.
pub type Describe = Box<dyn FnMut(&[u8]) -> Option<String> + Send>;

/// A sink of which the inputs are looked at by people.
pub struct Shown {
    sink: Box<dyn Sink>,
    /// The number of bytes of the separator after each input.
    separator: usize,
    describe: Describe,
}

impl Shown {
    /// Returns a sink that describes inputs where that is needed. A separator has this many bytes.
    pub fn new(sink: Box<dyn Sink>, separator: usize, describe: Describe) -> Shown {
        Shown { sink, separator, describe }
    }

    /// Returns what is shown of a chunk.
    fn shown(&mut self, chunk: &Chunk) -> Chunk {
        let mut shown = Chunk { first: chunk.first, worker: chunk.worker, ..Chunk::default() };
        let mut begin = 0;
        for &end in &chunk.ends {
            let input = &chunk.bytes[begin..end];
            match (self.describe)(&input[..input.len() - self.separator]) {
                Some(description) => shown.bytes.extend(description.into_bytes()),
                None => shown.bytes.extend_from_slice(input),
            }
            shown.ends.push(shown.bytes.len());
            begin = end;
        }
        shown
    }
}

impl Sink for Shown {
    fn write(&mut self, chunk: &Chunk) -> Result<(), SinkError> {
        let shown = self.shown(chunk);
        self.sink.write(&shown).map_err(|SinkError { written, source }| {
            // As many inputs are in place as of what is shown.
            let inputs = shown.complete_within(written).inputs as usize;
            let written = inputs.checked_sub(1).map_or(0, |last| chunk.ends[last]);
            SinkError { written, source }
        })
    }

    fn finish(&mut self, bytes: u64) -> io::Result<()> {
        self.sink.finish(bytes)
    }

    fn takes_time(&self) -> bool {
        self.sink.takes_time()
    }

    fn description(&self) -> String {
        self.sink.description()
    }
}
