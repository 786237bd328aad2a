//! Ends a search as soon as it is proved that a cost grows fast.
//!
//! A proof may take a minute, so it has a thread and a program of its own, and the search goes on meanwhile.

use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use super::behaviours::Key;
use super::hunt::Hunt;
use super::{Arguments, student};
use crate::failure::Failure;

/// At least this time lies between two proofs, and before the first one; and twice the time that the last one took.
const PAUSE: Duration = Duration::from_secs(5);

pub(super) struct Early<'s> {
    args: &'s Arguments,
    exponent: Option<f64>,
    /// When the last proof has begun, and when the next one may begin.
    begun: Instant,
    next: Instant,
    /// The cost of the best text that was tried.
    best: u64,
    /// The texts with other hottest edges that were tried, and what they cost.
    others: Vec<(Key, u64)>,
    running: Option<ScopedJoinHandle<'s, Result<Option<Vec<u8>>, Failure>>>,
    /// A text whose cost grows fast.
    proved: Option<Vec<u8>>,
    failure: Option<Failure>,
}

impl<'s> Early<'s> {
    pub(super) fn new(args: &'s Arguments) -> Early<'s> {
        let (best, others, running, proved, failure) = Default::default();
        let (exponent, begun) = (args.until_exponent, Instant::now());
        Early { args, exponent, begun, next: begun + PAUSE, best, others, running, proved, failure }
    }

    /// Begins a proof if it is time for one, and ends the search if one has succeeded.
    pub(super) fn look<'env>(&mut self, hunt: &'env Hunt, scope: &'s Scope<'s, 'env>) {
        let Some(exponent) = self.exponent else { return };
        if self.running.as_ref().is_some_and(ScopedJoinHandle::is_finished) {
            self.settle(hunt);
        }
        if self.running.is_some() || Instant::now() < self.next || hunt.stop.is_requested() {
            return;
        }
        let Some(text) = self.candidate(hunt) else { return };
        let args = self.args;
        self.begun = Instant::now();
        self.running = Some(scope.spawn(move || {
            let is_proved = is_proved(args, hunt, &text, exponent)?;
            Ok(is_proved.then_some(text))
        }));
    }

    /// Waits for the proof that runs when the search has ended. Returns the text whose growth is proved, if there is
    /// one.
    pub(super) fn end(mut self, hunt: &Hunt) -> Result<Option<Vec<u8>>, Failure> {
        self.settle(hunt);
        self.failure.map_or(Ok(self.proved), Err)
    }

    fn settle(&mut self, hunt: &Hunt) {
        let (Some(running), Some(exponent)) = (self.running.take(), self.exponent) else { return };
        let panicked = |_| Err(Failure::Internal("the proof of growth has ended in an unknown way".to_string()));
        self.next = Instant::now() + PAUSE.max(2 * self.begun.elapsed());
        match running.join().unwrap_or_else(panicked) {
            Ok(None) => return,
            Ok(Some(text)) => {
                hunt.note(format!("growth faster than n^{exponent} is proved"));
                self.proved = Some(text);
            }
            Err(failure) => self.failure = Some(failure),
        }
        hunt.stop.after(Duration::ZERO);
    }

    /// The text to try next: the best one, or else the costliest one with another hottest edge. One that costs little
    /// more than the one that was tried before grows in the same way.
    fn candidate(&mut self, hunt: &Hunt) -> Option<Vec<u8>> {
        let best = hunt.progress().best?;
        if best.cost > self.best.saturating_add(self.best / 10) {
            self.best = best.cost;
            return Some(best.text);
        }
        let shared = hunt.shared();
        let is_new = |&(key, cost, text): &(Key, u64, &[u8])| {
            let tried = self.others.iter().find(|(tried, _)| *tried == key);
            tried.is_none_or(|&(_, before)| cost > before.saturating_mul(2)) && text != best.text
        };
        let (key, cost, text) = shared.behaviours.all().into_iter().find(is_new)?;
        self.others.retain(|(tried, _)| *tried != key);
        self.others.push((key, cost));
        Some(text.to_vec())
    }
}

fn is_proved(args: &Arguments, hunt: &Hunt, text: &[u8], exponent: f64) -> Result<bool, Failure> {
    let mut meter = hunt.meter()?;
    let left = args.time.map_or(args.study, |time| time.saturating_sub(hunt.progress().elapsed));
    let mut student = student(args, hunt, &mut meter);
    student.time = student.time.min(left);
    let families = student.families(text)?;
    let mut growths = families.iter().filter_map(|grown| grown.family.growth.as_ref());
    Ok(growths.any(|growth| growth.is_superlinear(exponent)))
}
