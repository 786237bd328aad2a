//! The one place through which all inputs leave in order. It counts them, ends the run at its bytes, and reports
//! failures together with the number of complete inputs.

use std::io;

use crate::output::chunk::Chunk;
use crate::output::separator::InputTooLong;
use crate::output::sink::Sink;
use crate::progress::Progress;
use crate::tally::Tally;

/// Reasons why a run ended before its plan did.
#[derive(Debug)]
pub enum End {
    /// The bytes asked for are there.
    Full,
    /// A signal or the clock asked for the end.
    Stopped,
    /// The sink failed.
    Failed(io::Error),
    /// An input cannot be part of the output.
    TooLong(InputTooLong),
    /// A worker panicked.
    Panicked,
}

/// A sink with its tally.
pub struct Counted {
    sink: Box<dyn Sink>,
    bytes_wanted: Option<u64>,
    written: Tally,
    progress: Progress,
}

impl Counted {
    /// Writes to `sink` until `bytes_wanted` are written, if that is given.
    pub fn new(sink: Box<dyn Sink>, bytes_wanted: Option<u64>, progress: Progress) -> Counted {
        Counted { sink, bytes_wanted, written: Tally::default(), progress }
    }

    /// Writes a chunk, or the part of the last one that is still wanted. Returns why no more chunks are needed.
    pub fn accept(&mut self, chunk: &mut Chunk) -> Option<End> {
        let mut end = None;
        if let Some(wanted) = self.bytes_wanted {
            let missing = wanted.saturating_sub(self.written.bytes);
            if chunk.bytes.len() as u64 >= missing {
                let before = chunk.ends.partition_point(|&end| (end as u64) < missing);
                chunk.truncate(if missing == 0 { 0 } else { before + 1 });
                end = Some(End::Full);
            }
        }
        match self.sink.write(chunk) {
            Ok(()) => self.written.add(chunk.complete_within(chunk.bytes.len())),
            Err(error) => {
                self.written.add(chunk.complete_within(error.written));
                self.sink.cut_to(self.written.bytes);
                end = Some(End::Failed(error.source));
            }
        }
        self.progress.update(self.written);
        end
    }

    /// Returns the inputs and bytes written so far.
    pub fn written(&self) -> Tally {
        self.written
    }

    /// Returns the name of the sink in messages.
    pub fn description(&self) -> String {
        self.sink.description()
    }

    /// Ends the output after its last chunk.
    pub fn finish(&mut self) -> io::Result<()> {
        self.progress.finish();
        self.sink.finish(self.written.bytes)
    }
}
