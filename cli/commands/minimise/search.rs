//! The search for a simpler text, whose tests are run by a command.

use gramjet::choices::{Minimiser, TracedInput, Tracer};

use super::trials::{Ending, Trials};
use crate::failure::Failure;
use crate::progress::Progress;

/// A search whose tests are run by a command.
pub struct Search {
    minimiser: Minimiser,
    /// Copy of the search that goes on as if every running test will fail: it proposes the texts to run ahead of time.
    ahead: Option<Minimiser>,
    /// Number of texts that were tested, and their number with those that `ahead` has proposed.
    tests: u64,
    proposed: u64,
    max_tests: u64,
}

/// Reasons why a search ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing helps any more.
    Found,
    /// The number of tests.
    Exhausted,
    /// A signal to gramjet.
    Stopped,
}

impl Search {
    /// Returns a search for something simpler than the text of these choice bytes.
    pub fn new(tracer: &mut impl Tracer, choices: &[u8], max_tests: u64) -> Search {
        Search { minimiser: Minimiser::new(tracer, choices), ahead: None, tests: 0, proposed: 0, max_tests }
    }

    /// Returns how many texts were tested.
    pub fn tests(&self) -> u64 {
        self.tests
    }

    /// Returns the simplest text so far.
    pub fn best(&self) -> &TracedInput {
        self.minimiser.best()
    }

    /// Looks for ever simpler texts on which the command ends as expected. The search takes the same path as with a
    /// single job, whatever runs ahead of it.
    pub fn run(
        &mut self,
        tracer: &mut impl Tracer,
        trials: &mut Trials<'_>,
        expected: Ending,
        progress: &mut Progress,
    ) -> Result<End, Failure> {
        while self.tests < self.max_tests {
            let Some(proposed) = self.minimiser.propose(tracer) else { return Ok(End::Found) };
            let text = proposed.to_vec();
            trials.start(&text)?;
            self.fill(tracer, trials)?;
            let (tests, len) = (self.tests, self.minimiser.best().output().len());
            let ending = trials.ending(&text, &mut || progress.update_search(tests, len))?;
            if ending == Ending::Stopped {
                return Ok(End::Stopped);
            }
            self.tests += 1;
            let holds = ending == expected;
            if holds {
                // The texts still running were proposed on the assumption that this one fails.
                trials.drop_all();
                self.ahead = None;
            }
            self.minimiser.judge(tracer, holds);
        }
        Ok(End::Exhausted)
    }

    /// Starts commands ahead of time while there is room for more than the one that the search waits for.
    fn fill(&mut self, tracer: &mut impl Tracer, trials: &mut Trials<'_>) -> Result<(), Failure> {
        while trials.has_room_beside() {
            if self.ahead.is_none() {
                self.proposed = self.tests + 1;
            }
            let ahead = self.ahead.get_or_insert_with(|| self.minimiser.clone());
            if self.proposed >= self.max_tests {
                break;
            }
            ahead.judge(tracer, false);
            let Some(next) = ahead.propose(tracer) else { break };
            self.proposed += 1;
            let next = next.to_vec();
            trials.start(&next)?;
        }
        Ok(())
    }
}
