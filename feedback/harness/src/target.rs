//! The program under test, however it is run.

use crate::error::Error;
use crate::run::Run;

/// Something that takes inputs and can be measured.
pub trait Target {
    /// Runs it on one input.
    ///
    /// # Errors
    ///
    /// If the harness could not run it. How the program itself fails is a [`Run`].
    fn run(&mut self, input: &[u8]) -> Result<Run<'_>, Error>;
}
