//! Questions to the oracle: each text is asked about once, and their number and time are bounded.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};
use std::time::Instant;

use crate::Oracle;

/// An oracle with a memory and bounds.
pub(crate) struct Asked<'o> {
    oracle: &'o mut dyn Oracle,
    /// By the hash of the text in 128 bits, so that memory does not depend on the length of texts.
    answers: HashMap<u128, bool>,
    /// The texts that the oracle was asked about.
    pub calls: u64,
    max_calls: u64,
    deadline: Option<Instant>,
    /// The bound that has left a question without an answer.
    pub exhausted: Option<Exhausted>,
}

/// A bound that ended the questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// The number of texts.
    Calls,
    /// The time.
    Time,
    /// The oracle answers no more.
    Oracle,
}

impl<'o> Asked<'o> {
    pub fn new(oracle: &'o mut dyn Oracle, max_calls: u64, deadline: Option<Instant>) -> Asked<'o> {
        Asked { oracle, answers: HashMap::new(), calls: 0, max_calls, deadline, exhausted: None }
    }

    /// Returns true if the oracle accepts the text. Beyond the bounds the answer is no, which generalises nothing.
    pub fn accepts(&mut self, text: &[u8]) -> bool {
        let key = key(text);
        if let Some(&answer) = self.answers.get(&key) {
            return answer;
        }
        if self.is_over() {
            return false;
        }
        let Some(answer) = self.oracle.accepts(text) else {
            self.exhausted = Some(Exhausted::Oracle);
            return false;
        };
        self.calls += 1;
        self.answers.insert(key, answer);
        answer
    }

    /// Returns the greatest number of texts.
    pub fn bound(&self) -> u64 {
        self.max_calls
    }

    /// Sets the greatest number of texts, so that questions may go on after another one ended them.
    pub fn set_bound(&mut self, max_calls: u64) {
        self.max_calls = max_calls;
        if self.exhausted == Some(Exhausted::Calls) {
            self.exhausted = None;
        }
    }

    /// Returns true if no more questions are answered.
    pub fn is_over(&mut self) -> bool {
        if self.exhausted.is_none() {
            if self.calls >= self.max_calls {
                self.exhausted = Some(Exhausted::Calls);
            } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                self.exhausted = Some(Exhausted::Time);
            }
        }
        self.exhausted.is_some()
    }

    /// Returns true if the oracle accepts all of the texts.
    pub fn accepts_all(&mut self, texts: impl IntoIterator<Item = Vec<u8>>) -> bool {
        texts.into_iter().all(|text| self.accepts(&text))
    }
}

fn key(text: &[u8]) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(salt);
        hasher.write(text);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}
