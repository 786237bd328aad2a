//! The program under test, however it is run.

use crate::error::Error;
use crate::run::Run;

/// Something that takes inputs and can be measured.
pub trait Target {
    /// Begins to run it on one input, and does not wait: the caller can do something else while it runs, such as make
    /// the next input. The input is copied.
    ///
    /// A run that was begun before and not finished is finished first, and its result is lost.
    ///
    /// # Errors
    ///
    /// If the harness could not run it.
    fn start(&mut self, input: &[u8]) -> Result<(), Error>;

    /// Waits for the end of the run that was begun last. The wall time ends when this returns, so it is too long if the
    /// call comes late.
    ///
    /// # Errors
    ///
    /// If the harness could not run it. How the program itself fails is a [`Run`].
    ///
    /// # Panics
    ///
    /// If no run was begun.
    fn finish(&mut self) -> Result<Run<'_>, Error>;

    /// Runs it on one input.
    ///
    /// # Errors
    ///
    /// If the harness could not run it. How the program itself fails is a [`Run`].
    fn run(&mut self, input: &[u8]) -> Result<Run<'_>, Error> {
        self.start(input)?;
        self.finish()
    }
}

/// The input of a run that was begun, for one that has to begin anew.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    input: Vec<u8>,
    is_begun: bool,
}

impl Pending {
    /// Whether a run was begun and not finished.
    pub(crate) fn is_begun(&self) -> bool {
        self.is_begun
    }

    /// A run on this input begins.
    pub(crate) fn begin(&mut self, input: &[u8]) {
        self.input.clear();
        self.input.extend_from_slice(input);
        self.is_begun = true;
    }

    /// The input of the run that ends now. Its memory can be given back.
    pub(crate) fn end(&mut self) -> Vec<u8> {
        assert!(self.is_begun, "a run was begun");
        self.is_begun = false;
        std::mem::take(&mut self.input)
    }

    /// Keeps the memory of an input for the next one.
    pub(crate) fn reuse(&mut self, input: Vec<u8>) {
        self.input = input;
    }
}
