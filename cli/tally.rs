//! The numbers of inputs and bytes that a run has written, as messages show them.

use std::fmt;

use crate::units::plural;

/// A number of inputs, and of their bytes with separators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Complete inputs.
    pub inputs: u64,
    /// Their bytes, separators included.
    pub bytes: u64,
}

impl Tally {
    /// Adds both numbers.
    pub fn add(&mut self, more: Tally) {
        self.inputs += more.inputs;
        self.bytes += more.bytes;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", plural(self.inputs, "input"), plural(self.bytes, "byte"))
    }
}
