//! The candidates for measurement: anything that makes inputs of one grammar under one depth limit.

use std::collections::HashSet;
use std::fs::File;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::{self, Seek, Write};
use std::time::Duration;

use gramjet::{Batch, Inputs, Limits, Producer};
use gramjet_engine::bulk::Bulk;

use crate::measure::thread_time;
use crate::textbook_runtime::Session;

/// Outputs are handed to the sink in blocks of at least this many bytes.
pub const BLOCK_BYTES: usize = 1 << 16;

/// A file sink starts over when the file has this many bytes.
pub const FILE_BYTES: u64 = 64 << 20;

/// The seed of every run.
pub const SEED: u64 = 1;

/// A competitor in one cell of the table.
pub trait Candidate {
    /// Returns the name of the engine.
    fn name(&self) -> &str;

    /// Makes inputs until they have `bytes_target` bytes in all.
    ///
    /// # Errors
    ///
    /// If the sink or the engine fails.
    fn run(&mut self, bytes_target: u64, sink: &mut Sink) -> io::Result<Stats>;

    /// Returns how many of the next inputs differ from each other. Asks for at most `inputs`, and stops early after
    /// `bytes_limit`.
    ///
    /// # Errors
    ///
    /// If the engine fails.
    fn distinct(&mut self, inputs: u64, bytes_limit: u64) -> io::Result<Distinct>;
}

/// Destination of the inputs.
#[derive(Debug)]
pub enum Sink {
    /// A buffer of [`BLOCK_BYTES`] that is used again and again.
    Memory,
    /// The buffer is written to a file, which is overwritten from the start after [`FILE_BYTES`].
    File(File),
}

impl Sink {
    fn write(&mut self, block: &[u8]) -> io::Result<()> {
        if let Sink::File(file) = self {
            if file.stream_position()? + block.len() as u64 > FILE_BYTES {
                file.rewind()?;
            }
            file.write_all(block)?;
        }
        Ok(())
    }
}

/// The work of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    /// Inputs made.
    pub inputs: u64,
    /// Bytes of output.
    pub bytes: u64,
    /// Choice bytes that were read; `None` if the engine does not count them.
    pub choices: Option<u64>,
    /// CPU time of the thread.
    pub time: Duration,
}

impl Stats {
    /// Returns the throughput in MiB of output per second of CPU time.
    pub fn mib_per_second(&self) -> f64 {
        self.bytes as f64 / f64::from(1 << 20) / self.time.as_secs_f64().max(1e-9)
    }
}

/// The result of [`Candidate::distinct`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Distinct {
    /// Inputs looked at.
    pub inputs: u64,
    /// Number of inputs that differ from all before.
    pub distinct: u64,
}

/// An engine that appends one input after the other.
pub trait Engine {
    /// Appends the next input.
    fn append_to(&mut self, output: &mut Vec<u8>);

    /// Appends inputs until the output has `full` bytes, about; returns how many.
    fn fill(&mut self, output: &mut Vec<u8>, full: usize) -> u64 {
        let mut inputs = 0;
        while output.len() < full {
            self.append_to(output);
            inputs += 1;
        }
        inputs
    }

    /// Returns the number of choice bytes that were read so far.
    fn choices(&self) -> u64;
}

/// An engine in this process as a candidate; the inner loop is compiled for the engine.
#[derive(Debug)]
pub struct Local<E> {
    name: &'static str,
    engine: E,
    buffer: Vec<u8>,
}

impl<E: Engine> Local<E> {
    /// Returns a candidate with an engine that is set to its depth limit.
    pub fn new(name: &'static str, engine: E) -> Local<E> {
        Local { name, engine, buffer: Vec::with_capacity(2 * BLOCK_BYTES) }
    }
}

impl<E: Engine> Candidate for Local<E> {
    fn name(&self) -> &str {
        self.name
    }

    fn run(&mut self, bytes_target: u64, sink: &mut Sink) -> io::Result<Stats> {
        let choices_before = self.engine.choices();
        let mut stats = Stats::default();
        let start = thread_time();
        while stats.bytes < bytes_target {
            self.buffer.clear();
            stats.inputs += self.engine.fill(&mut self.buffer, BLOCK_BYTES);
            sink.write(&self.buffer)?;
            stats.bytes += self.buffer.len() as u64;
        }
        stats.time = thread_time().saturating_sub(start);
        stats.choices = Some(self.engine.choices() - choices_before);
        Ok(stats)
    }

    fn distinct(&mut self, inputs: u64, bytes_limit: u64) -> io::Result<Distinct> {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let mut seen = HashSet::new();
        let mut result = Distinct::default();
        let mut bytes = 0;
        while result.inputs < inputs && bytes < bytes_limit {
            self.buffer.clear();
            self.engine.append_to(&mut self.buffer);
            bytes += self.buffer.len() as u64;
            result.inputs += 1;
            result.distinct += u64::from(seen.insert(hasher.hash_one(&self.buffer)));
        }
        Ok(result)
    }
}

/// A textbook producer; `F` is its `produce` function.
#[derive(Debug)]
pub struct Textbook<F> {
    session: Session,
    max_depth: u32,
    produce: F,
}

impl<F: FnMut(&mut Session, u32, &mut Vec<u8>)> Engine for Textbook<F> {
    #[inline]
    fn append_to(&mut self, output: &mut Vec<u8>) {
        (self.produce)(&mut self.session, self.max_depth, output);
    }

    fn choices(&self) -> u64 {
        self.session.choices()
    }
}

/// Returns the candidate of a textbook producer.
pub fn textbook<F>(max_depth: u32, produce: F) -> Box<dyn Candidate>
where
    F: FnMut(&mut Session, u32, &mut Vec<u8>) + 'static,
{
    Box::new(Local::new("textbook", Textbook { session: Session::new(SEED), max_depth, produce }))
}

/// A gramjet producer, fed as in a run of the library.
#[derive(Debug)]
pub struct Replaying<P> {
    inputs: Inputs<P>,
    ends: Vec<usize>,
    choices: u64,
}

impl<P: Producer> Engine for Replaying<P> {
    #[inline]
    fn append_to(&mut self, output: &mut Vec<u8>) {
        self.choices += self.inputs.append_to(output);
    }

    #[inline]
    fn fill(&mut self, output: &mut Vec<u8>, full: usize) -> u64 {
        let mut inputs = 0;
        while output.len() < full {
            self.ends.clear();
            let batch = Batch::new(u64::MAX, &mut self.ends).until_full(full);
            self.choices += self.inputs.append_batch(output, batch);
            inputs += self.ends.len() as u64;
        }
        inputs
    }

    fn choices(&self) -> u64 {
        self.choices
    }
}

/// Returns the candidate of a gramjet producer.
///
/// # Errors
///
/// If the producer cannot keep the depth limit.
pub fn replaying<P>(name: &'static str, max_depth: u32, mut producer: P) -> Result<Box<dyn Candidate>, String>
where
    P: Producer + 'static,
{
    producer.set_limits(Limits::new().max_depth(max_depth)).map_err(|error| error.to_string())?;
    Ok(Box::new(Local::new(name, Replaying { inputs: Inputs::new(producer, SEED), ends: Vec::new(), choices: 0 })))
}

/// The bulk engine, whose blocks go to the sink as they are.
struct InBulk {
    bulk: Bulk,
    /// The block that the next run begins with.
    next: u64,
    text: Vec<u8>,
    ends: Vec<usize>,
}

/// Runs of the bulk engine make at least this number of bytes and blocks. Its lanes begin and end a run at different
/// times, which would hide its speed in the long runs that it is for.
const MIN_BYTES: u64 = 256 << 20;
const MIN_BLOCKS: u64 = 1024;

impl Candidate for InBulk {
    fn name(&self) -> &str {
        "bulk"
    }

    fn run(&mut self, bytes_target: u64, sink: &mut Sink) -> io::Result<Stats> {
        let mut stats = Stats::default();
        // Blocks are made side by side and ahead of their turn: a run makes certain blocks, all of which count.
        let block = self.bulk.mean_input() * self.bulk.block_inputs() as f64;
        let blocks = if block.is_finite() { (bytes_target.max(MIN_BYTES) as f64 / block) as u64 } else { 0 };
        let end = self.next + blocks.max(MIN_BLOCKS);
        let start = thread_time();
        self.bulk.restart(SEED, 0);
        let mut more = || {
            self.next += 1;
            (self.next <= end).then_some(self.next - 1)
        };
        while self.bulk.take_block(&mut more, &|| false, &mut self.text, &mut self.ends).is_some() {
            sink.write(&self.text)?;
            stats.bytes += self.text.len() as u64;
            stats.inputs += self.ends.len() as u64;
        }
        stats.time = thread_time().saturating_sub(start);
        self.next = end;
        Ok(stats)
    }

    fn distinct(&mut self, inputs: u64, bytes_limit: u64) -> io::Result<Distinct> {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let mut seen = HashSet::new();
        let mut result = Distinct::default();
        let mut bytes = 0;
        self.bulk.restart(SEED, 0);
        while result.inputs < inputs && bytes < bytes_limit {
            let block = self.bulk.next_block();
            let mut begin = 0;
            for &end in block.ends.iter().take((inputs - result.inputs) as usize) {
                result.inputs += 1;
                result.distinct += u64::from(seen.insert(hasher.hash_one(&block.bytes[begin..end])));
                begin = end;
            }
            bytes += begin as u64;
        }
        Ok(result)
    }
}

/// Returns the candidate of the bulk engine, whose inputs are in a row like the inputs of the others.
pub fn in_bulk(bulk: Bulk) -> Box<dyn Candidate> {
    Box::new(InBulk { bulk, next: 0, text: Vec::new(), ends: Vec::new() })
}
