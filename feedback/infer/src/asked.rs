//! Questions to the oracle: each text is asked about once, and their number and time are bounded.

use std::collections::HashMap;
use std::time::Instant;

use crate::Oracle;

/// An oracle with a memory and bounds.
pub(crate) struct Asked<'o> {
    oracle: &'o mut dyn Oracle,
    answers: HashMap<Vec<u8>, bool>,
    /// The texts that the oracle was asked about.
    pub calls: u64,
    max_calls: u64,
    deadline: Option<Instant>,
    /// Whether a bound has left a question without an answer.
    pub is_exhausted: bool,
}

impl<'o> Asked<'o> {
    pub fn new(oracle: &'o mut dyn Oracle, max_calls: u64, deadline: Option<Instant>) -> Asked<'o> {
        Asked { oracle, answers: HashMap::new(), calls: 0, max_calls, deadline, is_exhausted: false }
    }

    /// Whether the oracle accepts the text. Beyond the bounds the answer is no, which generalises nothing.
    pub fn accepts(&mut self, text: &[u8]) -> bool {
        if let Some(&answer) = self.answers.get(text) {
            return answer;
        }
        if self.calls >= self.max_calls || self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.is_exhausted = true;
            return false;
        }
        self.calls += 1;
        let answer = self.oracle.accepts(text);
        self.answers.insert(text.to_vec(), answer);
        answer
    }

    /// Whether the oracle accepts all of the texts.
    pub fn accepts_all(&mut self, texts: impl IntoIterator<Item = Vec<u8>>) -> bool {
        texts.into_iter().all(|text| self.accepts(&text))
    }
}
