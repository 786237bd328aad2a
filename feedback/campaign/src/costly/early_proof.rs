//! Ends a search as soon as it is proved that a cost grows fast.
//!
//! A proof may take a minute, so it has a thread and a program of its own, and the search goes on meanwhile. When the
//! search ends, it ends as well.

use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use gramjet_search::Effort;

use super::behaviours::Key;
use super::hunt::Hunt;
use super::note::Note;
use super::study::Student;
use crate::error::Error;
use crate::stop::Stop;
use crate::subject::function;

/// The least pause before a proof. After a proof the pause is twice its time, if that is longer.
const PAUSE: Duration = Duration::from_secs(5);

pub struct Early<'s> {
    effort: Effort,
    /// A proof takes no longer.
    time: Duration,
    /// `None` if no proof is to be tried.
    exponent: Option<f64>,
    /// Time when the last proof has begun, and time from which on the next one may begin.
    begun: Instant,
    next: Instant,
    /// The cost of the best text that was tried.
    best: u64,
    /// The texts with other hottest edges that were tried, and what they cost.
    others: Vec<(Key, u64)>,
    running: Option<ScopedJoinHandle<'s, Result<Option<Vec<u8>>, Error>>>,
    /// Ends the proof that runs.
    stop: Stop,
    /// A text whose cost grows fast.
    proved: Option<Vec<u8>>,
}

impl<'s> Early<'s> {
    pub fn new(exponent: Option<f64>, effort: Effort, time: Duration) -> Early<'s> {
        let (best, others, running, stop, proved) = Default::default();
        let begun = Instant::now();
        Early { effort, time, exponent, begun, next: begun + PAUSE, best, others, running, stop, proved }
    }

    /// Begins a proof if it is time for one, and ends the search if one has succeeded.
    pub fn look<'env>(&mut self, hunt: &'env Hunt, scope: &'s Scope<'s, 'env>) {
        if self.running.as_ref().is_some_and(ScopedJoinHandle::is_finished) {
            self.settle(hunt);
        }
        let Some(exponent) = self.exponent else { return };
        if hunt.is_ending() {
            self.stop.signal();
        }
        if self.running.is_some() || Instant::now() < self.next || hunt.is_ending() {
            return;
        }
        (self.begun, self.next) = (Instant::now(), Instant::now() + PAUSE);
        let Some(text) = self.candidate(hunt) else { return };
        let (effort, time, stop) = (self.effort, self.time, self.stop.clone());
        self.running = Some(scope.spawn(move || {
            let mut meter = hunt.meter()?;
            let mut student = Student { language: &hunt.plan.studied, meter: &mut meter, stop: &stop, effort, time };
            let is_proved = is_proved(&mut student, &text, exponent)?;
            Ok(is_proved.then_some(text))
        }));
    }

    /// Ends the proof that runs, if the search has ended. Returns the text whose growth is proved, if there is one.
    pub fn end(mut self, hunt: &Hunt) -> Option<Vec<u8>> {
        self.stop.signal();
        self.settle(hunt);
        self.proved
    }

    fn settle(&mut self, hunt: &Hunt) {
        let (Some(running), Some(exponent)) = (self.running.take(), self.exponent) else { return };
        let panicked = |_| Err(Error::Internal("it has ended in an unknown way".to_string()));
        self.next = Instant::now() + PAUSE.max(2 * self.begun.elapsed());
        match running.join().unwrap_or_else(panicked) {
            Ok(None) => {}
            Ok(Some(text)) => {
                hunt.note(Note::Proved(exponent));
                self.proved = Some(text);
                hunt.stop.after(Duration::ZERO);
            }
            Err(_) if hunt.stop.is_cut() || hunt.is_ending() => {}
            Err(failure) => {
                hunt.note(Note::NoProof(failure));
                self.exponent = None;
            }
        }
    }

    /// Returns the text to try next: the best one, or else the costliest one with another hottest edge. One that costs
    /// little more than the one that was tried before grows in the same way.
    fn candidate(&mut self, hunt: &Hunt) -> Option<Vec<u8>> {
        let best = hunt.progress().best?;
        if best.cost > self.best.saturating_add(self.best / 10) {
            self.best = best.cost;
            return Some(best.text);
        }
        let numbers_by_worker = hunt.plan.command.first().and_then(function).is_some();
        let named = |(worker, edge): Key| if numbers_by_worker { (worker, edge) } else { (0, edge) };
        let shared = hunt.shared();
        let is_new = |&(key, cost, text): &(Key, u64, &[u8])| {
            let tried = self.others.iter().find(|(tried, _)| *tried == named(key));
            tried.is_none_or(|&(_, before)| cost > before.saturating_mul(2)) && text != best.text
        };
        let (key, cost, text) = shared.behaviours.all().into_iter().find(is_new)?;
        self.others.retain(|(tried, _)| *tried != named(key));
        self.others.push((named(key), cost));
        Some(text.to_vec())
    }
}

/// Returns true if the cost of a text grows fast. What was measured until a stop proves nothing.
fn is_proved(student: &mut Student<'_>, text: &[u8], exponent: f64) -> Result<bool, Error> {
    let families = student.families(text)?;
    let mut growths = families.iter().filter_map(|grown| grown.family.growth.as_ref());
    Ok(!student.stop.is_cut() && growths.any(|growth| growth.is_superlinear(exponent)))
}
