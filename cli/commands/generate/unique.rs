//! Runs in which no two inputs are equal: the inputs of a run without this, each when it comes for the first time.

use std::fmt;

use gramjet::{Inputs, Limits, Producer};
use gramjet_campaign::Stop;
use gramjet_compiler::Compiled;
use gramjet_session::suite::unique::{Known, Most, Novelty, every};

use super::counted::{Counted, End};
use crate::output::chunk::{CHUNK_BYTES, CHUNK_INPUTS, Chunk};
use crate::output::separator::{InputTooLong, Separator};

/// After this many inputs in a row that were there before, the language is looked through.
const TRIES: u64 = 100_000;

/// The facts of a run.
pub struct Orders<'a> {
    /// The grammar.
    pub compiled: &'a Compiled,
    /// The limits of an input.
    pub limits: Limits,
    /// The number of inputs, if that ends the run.
    pub count: Option<u64>,
    /// The seed.
    pub seed: u64,
    /// The separator between inputs.
    pub separator: Separator,
    /// The request to stop.
    pub stop: Stop,
}

/// Reason why there are no more different inputs, or none that were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All inputs that there are were written.
    UsedUp,
    /// No new one was found.
    Tries,
    /// No more can be remembered.
    Memory,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::UsedUp => f.write_str("there are no other inputs within the limits"),
            Ended::Tries => {
                let Most { derivations, .. } = Most::default();
                write!(f, "{TRIES} inputs in a row were there before, and so were the first {derivations} derivations")
            }
            Ended::Memory => write!(f, "no more than {} different inputs can be remembered", Known::MOST),
        }
    }
}

/// A run.
struct Run<'a> {
    orders: Orders<'a>,
    known: Known,
    output: Counted,
    chunk: Chunk,
    made: u64,
}

/// Makes the inputs. Returns the output, why it ended before its amount was reached, and why there were no more.
pub fn run(
    orders: Orders<'_>,
    producer: impl Producer,
    output: Counted,
) -> (Option<Counted>, Option<End>, Option<Ended>) {
    let mut inputs = Inputs::new(producer, orders.seed);
    let mut run = Run { orders, known: Known::new(Known::MOST), output, chunk: Chunk::default(), made: 0 };
    let (end, ended) = match run.random(&mut inputs) {
        Ok(ended) => (None, ended),
        Err(end) => (Some(end), None),
    };
    // What has failed is not tried again.
    let end = end.or_else(|| run.flush().err());
    (Some(run.output), end, ended)
}

impl Run<'_> {
    /// Makes random inputs, and looks the language through when they are no longer new.
    fn random(&mut self, inputs: &mut Inputs<impl Producer>) -> Result<Option<Ended>, End> {
        let (mut text, mut in_vain) = (Vec::new(), 0);
        while !self.is_done() {
            if self.orders.stop.is_requested() {
                self.flush()?;
                return Err(End::Stopped);
            }
            if in_vain == TRIES {
                return self.look_through();
            }
            text.clear();
            inputs.append_to(&mut text);
            match self.known.add(&text) {
                Novelty::New => {
                    in_vain = 0;
                    self.write(&text)?;
                }
                Novelty::Known => in_vain += 1,
                Novelty::Full => return Ok(Some(Ended::Memory)),
            }
        }
        Ok(None)
    }

    fn look_through(&mut self) -> Result<Option<Ended>, End> {
        let (mut result, mut is_full) = (Ok(()), false);
        let (compiled, limits, stop) = (self.orders.compiled, self.orders.limits, self.orders.stop.clone());
        let is_all = every(compiled, limits, Most::default(), &mut |text| {
            match self.known.add(text) {
                Novelty::New => result = self.write(text),
                Novelty::Known => {}
                Novelty::Full => is_full = true,
            }
            if result.is_ok() && stop.is_requested() {
                result = Err(End::Stopped);
            }
            result.is_ok() && !is_full && !self.is_done()
        });
        if matches!(result, Err(End::Stopped)) {
            self.flush()?;
        }
        result?;
        Ok(match (self.is_done(), is_all, is_full) {
            (true, ..) => None,
            (_, true, _) => Some(Ended::UsedUp),
            (_, _, true) => Some(Ended::Memory),
            _ => Some(Ended::Tries),
        })
    }

    fn is_done(&self) -> bool {
        self.orders.count.is_some_and(|count| self.made >= count)
    }

    fn write(&mut self, text: &[u8]) -> Result<(), End> {
        let most = self.orders.limits.output();
        if text.len() as u64 > most {
            return Err(End::TooLong(InputTooLong::Memory { most }));
        }
        self.chunk.bytes.extend(self.orders.separator.around(text.to_vec()));
        self.chunk.ends.push(self.chunk.bytes.len());
        self.made += 1;
        let is_full = self.chunk.bytes.len() >= CHUNK_BYTES || self.chunk.ends.len() >= CHUNK_INPUTS;
        if is_full { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), End> {
        let end = self.output.accept(&mut self.chunk);
        self.chunk.restart(self.made);
        end.map_or(Ok(()), Err)
    }
}
