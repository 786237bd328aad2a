//! The program under test, however it is run.

use crate::error::Error;
use crate::run::Run;

/// Number of times that a process that runs inputs is started before its failure to start is an error.
const STARTS: usize = 3;

/// Starts a process in place of one that has ended. A program that an input has harmed, or a machine that is busy, may
/// keep one from starting; that must not end all runs.
pub(crate) fn again<T>(mut start: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    for _ in 1..STARTS {
        if let Ok(started) = start() {
            return Ok(started);
        }
    }
    start()
}

/// Something that takes inputs and can be measured.
pub trait Target {
    /// Returns how many runs can be begun before the first of them is finished: one, or more for programs that find
    /// their next inputs in shared memory.
    fn room(&self) -> usize {
        1
    }

    /// Begins to run it on one input, and does not wait: the caller can do something else while it runs, such as make
    /// the next input. The input is copied. If it runs on others, this one comes after them.
    ///
    /// If there is no room for a further run, the first one is finished, and its result is lost.
    ///
    /// # Errors
    ///
    /// If the harness could not run it.
    fn start(&mut self, input: &[u8]) -> Result<(), Error>;

    /// Waits for the end of the first run that was begun and not finished. The wall time ends when this returns, so it
    /// is too long if the call comes late; where several runs can be begun, it ends when the run does, unless
    /// the run ends the process.
    ///
    /// If several runs were begun, the output of a run may contain that of another one.
    ///
    /// # Errors
    ///
    /// If the harness could not run it. How the program itself fails is a [`Run`].
    ///
    /// # Panics
    ///
    /// If no run was begun.
    fn finish(&mut self) -> Result<Run<'_>, Error>;

    /// Ends the process that takes inputs, so that the next one is run in a new process. Runs that were begun are
    /// finished first, and their results are lost.
    ///
    /// Does nothing to a program that is started for each input.
    ///
    /// # Errors
    ///
    /// If the harness could not finish a run.
    fn renew(&mut self) -> Result<(), Error> {
        Ok(())
    }

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
