//! The contract of everything that turns choice bytes into valid inputs, and the streams of inputs built on it.

use std::mem::MaybeUninit;

use crate::choices::{BLOCK_INPUTS, Choices};
use crate::limits::{Limits, LimitsError};

/// A compiled grammar: a pure function from choice bytes and limits to a valid output.
pub trait Producer {
    /// Returns the length in bytes of the shortest output.
    fn min_len(&self) -> u64;

    /// Returns the limits in force.
    fn limits(&self) -> Limits;

    /// Sets the limits for the inputs that follow.
    ///
    /// # Errors
    ///
    /// If no output can keep them; the limits in force stay.
    fn set_limits(&mut self, limits: Limits) -> Result<(), LimitsError>;

    /// Appends one input to `output` and returns the number of choice bytes that it read.
    fn produce(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>) -> u64;

    /// Appends several inputs in order, as `batch` says, and returns the number of choice bytes that they read. The
    /// inputs are the same as from calls of [`Producer::produce`]; engines save most of the work between two inputs.
    fn produce_batch(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>, batch: &mut Batch<'_>) -> u64 {
        let mut read = 0;
        while batch.has_room(output.len()) {
            read += self.produce(choices, output);
            output.extend_from_slice(batch.separator);
            batch.close(output.len());
        }
        read
    }
}

/// A request to [`Producer::produce_batch`].
#[derive(Debug)]
pub struct Batch<'b> {
    inputs: u64,
    full: usize,
    separator: &'b [u8],
    ends: &'b mut Vec<usize>,
}

impl<'b> Batch<'b> {
    /// Returns a batch of at most `inputs` inputs; `ends` gets the length of the output after each of them.
    pub fn new(inputs: u64, ends: &'b mut Vec<usize>) -> Batch<'b> {
        Batch { inputs, full: usize::MAX, separator: &[], ends }
    }

    /// Ends the batch once the output has `bytes` bytes or more: no further input begins then.
    #[must_use]
    pub fn until_full(self, bytes: usize) -> Batch<'b> {
        Batch { full: bytes, ..self }
    }

    /// Puts these bytes after each input. They belong to it: its end is counted after them.
    #[must_use]
    pub fn separator(self, separator: &'b [u8]) -> Batch<'b> {
        Batch { separator, ..self }
    }

    /// Returns true if one more input is to follow an output of `len` bytes.
    #[inline(always)]
    pub fn has_room(&self, len: usize) -> bool {
        self.inputs > 0 && len < self.full
    }

    /// Returns the bytes that a producer must append after each input.
    #[inline(always)]
    pub fn between(&self) -> &'b [u8] {
        self.separator
    }

    /// Says that an input has ended, with its separator, where the output has `len` bytes. There must have been room
    /// for it.
    #[inline(always)]
    pub fn close(&mut self, len: usize) {
        self.ends.push(len);
        self.inputs -= 1;
    }

    /// Returns the length from which on there is no further input.
    #[inline(always)]
    pub fn full(&self) -> usize {
        self.full
    }

    /// Returns the place where the ends of the next inputs can be stored, for at least one if there is to be one.
    pub fn open_ends(&mut self) -> &mut [MaybeUninit<usize>] {
        let most = usize::try_from(self.inputs).unwrap_or(usize::MAX);
        self.ends.reserve(most.min(BLOCK_INPUTS as usize));
        let open = self.ends.spare_capacity_mut();
        let count = open.len().min(most);
        &mut open[..count]
    }

    /// Says that `count` inputs have ended, whose ends were stored to [`Batch::open_ends`].
    ///
    /// # Safety
    ///
    /// They must have been stored there, from the first place on, and the batch must not have changed since.
    pub unsafe fn close_many(&mut self, count: usize) {
        // SAFETY: as for this function.
        unsafe { self.ends.set_len(self.ends.len() + count) };
        self.inputs -= count as u64;
    }
}

impl<P: Producer + ?Sized> Producer for Box<P> {
    fn min_len(&self) -> u64 {
        (**self).min_len()
    }

    fn limits(&self) -> Limits {
        (**self).limits()
    }

    fn set_limits(&mut self, limits: Limits) -> Result<(), LimitsError> {
        (**self).set_limits(limits)
    }

    fn produce(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>) -> u64 {
        (**self).produce(choices, output)
    }

    fn produce_batch(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>, batch: &mut Batch<'_>) -> u64 {
        (**self).produce_batch(choices, output, batch)
    }
}

/// The inputs of a run: input number k depends on the seed and on k alone, whoever computes it.
#[derive(Debug)]
pub struct Inputs<P> {
    producer: P,
    choices: Choices<'static>,
    seed: u64,
    next: u64,
}

impl<P: Producer> Inputs<P> {
    /// Returns the run of `producer` with `seed`, from input 0 on.
    pub fn new(producer: P, seed: u64) -> Inputs<P> {
        Inputs { producer, choices: Choices::random(seed), seed, next: 0 }
    }

    /// Goes on with the first input of a block of [`BLOCK_INPUTS`] inputs.
    pub fn seek_block(&mut self, block: u64) {
        self.choices.restart(self.seed, block);
        self.next = block.saturating_mul(BLOCK_INPUTS);
    }

    /// Returns the number of the input that comes next.
    pub fn position(&self) -> u64 {
        self.next
    }

    /// Appends the next input to `output` and returns the number of choice bytes that it read.
    pub fn append_to(&mut self, output: &mut Vec<u8>) -> u64 {
        if self.next.is_multiple_of(BLOCK_INPUTS) && self.next != 0 {
            self.choices.restart(self.seed, self.next / BLOCK_INPUTS);
        }
        self.next += 1;
        self.producer.produce(&mut self.choices, output)
    }

    /// Appends the next inputs to `output`, as `batch` says but none of the next block of [`BLOCK_INPUTS`] inputs.
    /// Returns the number of choice bytes that they read.
    pub fn append_batch(&mut self, output: &mut Vec<u8>, batch: Batch<'_>) -> u64 {
        if self.next.is_multiple_of(BLOCK_INPUTS) && self.next != 0 {
            self.choices.restart(self.seed, self.next / BLOCK_INPUTS);
        }
        let asked = batch.inputs.min(BLOCK_INPUTS - self.next % BLOCK_INPUTS);
        let mut batch = Batch { inputs: asked, ..batch };
        // After a panic of the producer, the position is past all inputs asked for.
        self.next += asked;
        let read = self.producer.produce_batch(&mut self.choices, output, &mut batch);
        self.next -= batch.inputs;
        read
    }

    /// Returns the producer.
    pub fn into_producer(self) -> P {
        self.producer
    }
}

impl<P: Producer> Iterator for Inputs<P> {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let mut output = Vec::new();
        self.append_to(&mut output);
        Some(output)
    }
}
