//! The program under test, however it is run.

use std::mem;

use crate::error::Error;
use crate::run::{Outcome, Run, Usage};

/// Something that takes inputs and can be measured.
pub trait Target {
    /// How many runs can be begun before the first of them is finished: one, or more for programs that find their next
    /// inputs in shared memory.
    fn room(&self) -> usize {
        1
    }

    /// Begins to run it on one input, and does not wait: the caller can do something else while it runs, such as make
    /// the next input. The input is copied.
    ///
    /// If there is no room for a further run, the first one is finished, and its result is lost.
    ///
    /// # Errors
    ///
    /// If the harness could not run it.
    fn start(&mut self, input: &[u8]) -> Result<(), Error>;

    /// Waits for the end of the first run that was begun and not finished. The wall time ends when this returns, so it
    /// is too long if the call comes late.
    ///
    /// If several runs were begun, outputs are not told apart: a run may have that of others.
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

/// The input of a run that was begun and not finished.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    input: Vec<u8>,
    is_begun: bool,
}

/// A target that may have to run an input again, because what ran the input has ended.
pub(crate) trait Restarting {
    /// The run in hand.
    fn pending(&mut self) -> &mut Pending;

    /// Begins to run an input.
    fn begin(&mut self, input: &[u8]) -> Result<(), Error>;

    /// Waits for the end of the run, and begins it again if that is needed.
    fn end(&mut self, input: &[u8]) -> Result<(Outcome, Usage), Error>;

    /// [`Target::start`].
    fn start_pending(&mut self, input: &[u8]) -> Result<(), Error> {
        if self.pending().is_begun {
            self.finish_pending()?;
        }
        self.begin(input)?;
        let pending = self.pending();
        pending.input.clear();
        pending.input.extend_from_slice(input);
        pending.is_begun = true;
        Ok(())
    }

    /// How the run has ended, for [`Target::finish`].
    fn finish_pending(&mut self) -> Result<(Outcome, Usage), Error> {
        let pending = self.pending();
        assert!(mem::take(&mut pending.is_begun), "a run was begun");
        let input = mem::take(&mut pending.input);
        let ended = self.end(&input);
        // Its memory is for the next input.
        self.pending().input = input;
        ended
    }
}
