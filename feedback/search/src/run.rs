//! The loop of a search whose texts run in this process, without a folder and workers.

use std::time::{Duration, Instant};

use crate::search::Search;
use crate::strategy::Measured;

/// Number of texts that may still run, and the time until which one may begin.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    texts: u64,
    end: Option<Instant>,
}

impl Budget {
    /// Returns a budget of this many texts and, if it is limited, of this time from now on.
    pub fn new(texts: u64, time: Option<Duration>) -> Budget {
        // A time that no clock can tell is no limit.
        Budget { texts, end: time.and_then(|time| Instant::now().checked_add(time)) }
    }

    /// Takes a text from the budget. Returns true if there was one.
    pub fn take(&mut self) -> bool {
        let is_left = self.texts > 0 && self.end.is_none_or(|end| Instant::now() < end);
        self.texts -= u64::from(is_left);
        is_left
    }
}

impl Search {
    /// Runs a subject on proposed texts until the budget is used up or all texts were run.
    ///
    /// # Errors
    ///
    /// The first one of the subject, which ends the loop. Nothing is learned from that run.
    pub fn run<E>(
        &mut self,
        mut budget: Budget,
        mut subject: impl FnMut(&[u8]) -> Result<Measured, E>,
    ) -> Result<(), E> {
        let mut text = Vec::new();
        while budget.take() {
            text.clone_from(&self.propose().text);
            if self.is_exhausted() {
                break;
            }
            let measured = subject(&text)?;
            self.observe(&measured);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::kit;

    #[test]
    fn a_loop_ends_with_its_budget_with_the_language_or_with_an_error() {
        let search = || kit::search("s ::= [ab]{3}", kit::strategy("portfolio"), 3, 1);
        let run = |search: &mut Search, budget, bad: &[u8]| {
            search.run(budget, |text| if text == bad { Err(()) } else { Ok(Measured::of(1, Vec::new())) })
        };
        for (budget, bad, expected) in [
            (Budget::new(5, None), "", (Ok(()), Some(5))),
            (Budget::new(100, None), "", (Ok(()), Some(8))),
            (Budget::new(100, Some(Duration::ZERO)), "", (Ok(()), Some(0))),
            (Budget::new(100, Some(Duration::MAX)), "bab", (Err(()), None)),
        ] {
            let mut search = search();
            let ended = run(&mut search, budget, bad.as_bytes());
            assert_eq!(ended, expected.0);
            assert!(expected.1.is_none_or(|runs| runs == search.runs()), "{} {expected:?}", search.runs());
        }
    }
}
