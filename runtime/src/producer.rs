//! The contract of everything that turns choice bytes into valid inputs, and the streams of inputs built on it.

use crate::choices::{BLOCK_INPUTS, Choices};
use crate::limits::{Limits, LimitsError};

/// A compiled grammar: a pure function from choice bytes and limits to a valid output.
pub trait Producer {
    /// The length in bytes of the shortest output.
    fn min_len(&self) -> u64;

    /// The limits in force.
    fn limits(&self) -> Limits;

    /// Sets the limits for the inputs that follow.
    ///
    /// # Errors
    ///
    /// If no output can keep them; the limits in force stay.
    fn set_limits(&mut self, limits: Limits) -> Result<(), LimitsError>;

    /// Appends one input to `output` and returns the number of choice bytes that it read.
    fn produce(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>) -> u64;
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
    /// The run of `producer` with `seed`, from input 0 on.
    pub fn new(producer: P, seed: u64) -> Inputs<P> {
        Inputs { producer, choices: Choices::random(seed), seed, next: 0 }
    }

    /// Goes on with the first input of a block of [`BLOCK_INPUTS`] inputs.
    pub fn seek_block(&mut self, block: u64) {
        self.choices.restart(self.seed, block);
        self.next = block.saturating_mul(BLOCK_INPUTS);
    }

    /// The number of the input that comes next.
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

    /// The producer.
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
