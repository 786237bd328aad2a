//! The records that a search keeps of runs that were stopped or failed.

use std::collections::hash_map::Entry;

use crate::state::Place;
use gramjet_harness::{Outcome, Target as _};

use super::hunt::Plan;
use super::note::Note;
use super::worker::Worker;
use crate::error::Error;
use crate::subject::Tested;

/// At most this many texts on which the program was stopped are kept.
const TIMEOUTS: u64 = 100;
/// Number of new processes in which a failure may happen again.
const TRIES: usize = 3;
/// After this many failures that did not happen again, fewer and fewer like them are run again.
const DOUBTS: u64 = 16;

impl Worker<'_> {
    /// Keeps a text on which the program was stopped, unless another thread or an earlier search has kept it.
    pub(crate) fn keep_timeout(&mut self, text: &[u8], about: &str) -> Result<(), Error> {
        let state = &self.hunt.state;
        if state.count(Place::Timeouts) >= TIMEOUTS {
            return Ok(());
        }
        let is_first = match &mut self.hunt.shared().timeouts {
            Some(kept) => kept,
            unknown => unknown.insert(state.texts(Place::Timeouts)?.into_iter().collect()),
        }
        .insert(text.to_vec());
        if is_first {
            state.keep(Place::Timeouts, text, None, about)?;
        }
        Ok(())
    }

    /// Keeps one text for each way to fail, if it fails in a new process, too. One that does not is kept apart.
    /// `gramjet fuzz` tells failures apart, and finds those that depend on earlier inputs.
    pub(crate) fn keep_failure(&mut self, text: &[u8], outcome: &Outcome) -> Result<(), Error> {
        let words = outcome.to_string();
        let key: String = words.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        if !self.may_be_new(&key) {
            return Ok(());
        }
        let happens_again = self.happens_again(text, outcome)?;
        let (hunt, state) = (self.hunt, &self.hunt.state);
        if hunt.stop.is_cut() {
            return Ok(());
        }
        let files = [("input", text.to_vec()), ("outcome", format!("{words}\n").into_bytes())];
        if !happens_again {
            let is_first = match hunt.shared().doubts.entry(key.clone()) {
                Entry::Vacant(entry) => *entry.insert(1) == 1,
                Entry::Occupied(_) => false,
            };
            if is_first && !state.unconfirmed()?.contains(&key) {
                let folder = state.set_aside(&key, &files)?;
                hunt.note(Note::NotAgain { outcome: words, tries: TRIES, folder });
            }
            return Ok(());
        }
        let is_first = hunt.shared().failures.insert(key.clone());
        if is_first && !state.failures()?.contains(&key) {
            state.fail(&key, &files)?;
        }
        Ok(())
    }

    /// Runs a text in new processes until it fails as before.
    fn happens_again(&self, text: &[u8], outcome: &Outcome) -> Result<bool, Error> {
        let Plan { command, surroundings, .. } = &self.hunt.plan;
        let mut tested = Tested::new(command, *surroundings)?;
        for _ in 0..TRIES {
            if tested.run(text)?.outcome == *outcome {
                return Ok(true);
            }
            if self.hunt.stop.is_cut() {
                break;
            }
            tested.renew()?;
        }
        Ok(false)
    }

    /// Returns true if no failure with this key is known, and not too many such failures did not happen again.
    fn may_be_new(&self, key: &str) -> bool {
        let mut shared = self.hunt.shared();
        let seen = shared.doubts.get_mut(key).map_or(0, |seen| {
            *seen += 1;
            *seen
        });
        (seen <= DOUBTS || seen.is_power_of_two()) && !shared.failures.contains(key)
    }
}
