//! The request to stop: from a signal or from the clock. Workers look at it after every few inputs.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// There is no request.
const RUN: usize = 0;
/// The time is over. Not the number of a signal.
const TIME: usize = usize::MAX;
/// The numbers of the signals that ask for an end, everywhere.
const SIGINT: usize = 2;
const SIGTERM: usize = 15;

/// A request to stop that any thread may make and see.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    reason: Arc<AtomicUsize>,
    /// Whether runs in hand were ended, so that they say nothing.
    is_cut: Arc<AtomicBool>,
    /// The end of the run's time, if no thread could be started that waits for it.
    deadline: Arc<OnceLock<Instant>>,
}

/// Who asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The clock.
    Time,
    /// A signal: its name and number.
    Signal(&'static str, u8),
}

impl Stop {
    /// Returns the number that a handler of a signal sets to the number of the signal to make the request.
    pub fn flag(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.reason)
    }

    /// Makes the request when `time` has passed.
    pub fn after(&self, time: Duration) {
        if time.is_zero() {
            self.time_is_over();
            return;
        }
        let start = Instant::now();
        let stop = self.clone();
        // The thread ends with the process. If it could not be started, the workers ask the clock.
        let timer = std::thread::Builder::new().name("timer".to_string()).stack_size(64 << 10).spawn(move || {
            std::thread::sleep(time);
            stop.time_is_over();
        });
        if timer.is_err() {
            self.at(start.checked_add(time));
        }
    }

    /// Makes the request after a moment, as soon as a worker looks; a moment beyond the range of clocks makes none.
    fn at(&self, deadline: Option<Instant>) {
        if let Some(deadline) = deadline {
            // The time of a run is set once.
            let _ = self.deadline.set(deadline);
        }
    }

    /// Makes the request as SIGINT does.
    pub fn signal(&self) {
        self.reason.store(SIGINT, Ordering::Relaxed);
    }

    fn time_is_over(&self) {
        // A signal that came first stays the reason.
        let _ = self.reason.compare_exchange(RUN, TIME, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Returns true if anyone asked.
    #[inline]
    pub fn is_requested(&self) -> bool {
        if self.deadline.get().is_some_and(|&deadline| Instant::now() >= deadline) {
            self.time_is_over();
        }
        self.reason.load(Ordering::Relaxed) != RUN
    }

    /// Returns true if a signal asked.
    pub fn is_signalled(&self) -> bool {
        matches!(self.reason(), Some(StopReason::Signal(..)))
    }

    /// Notes that runs in hand are ended.
    pub(crate) fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
    }

    /// Notes that runs go on.
    pub(crate) fn uncut(&self) {
        self.is_cut.store(false, Ordering::SeqCst);
    }

    /// Returns true if runs in hand were ended, or soon are: how they have ended says nothing.
    pub fn is_cut(&self) -> bool {
        self.is_signalled() || self.is_cut.load(Ordering::SeqCst)
    }

    /// Returns who asked, if anyone did.
    pub fn reason(&self) -> Option<StopReason> {
        match self.reason.load(Ordering::Relaxed) {
            RUN => None,
            TIME => Some(StopReason::Time),
            SIGTERM => Some(StopReason::Signal("SIGTERM", 15)),
            _ => Some(StopReason::Signal("SIGINT", 2)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_thread_the_clock_is_asked() {
        let stop = Stop::default();
        stop.at(Instant::now().checked_add(Duration::from_secs(1 << 20)));
        assert!(!stop.is_requested() && stop.reason().is_none());
        let stop = Stop::default();
        stop.at(Some(Instant::now()));
        assert!(stop.is_requested());
        assert_eq!(stop.reason(), Some(StopReason::Time));
    }

    #[test]
    fn the_clock_asks_once_and_a_signal_stays() {
        let stop = Stop::default();
        assert!(!stop.is_requested());
        stop.after(Duration::ZERO);
        while !stop.is_requested() {
            std::thread::yield_now();
        }
        assert_eq!(stop.reason(), Some(StopReason::Time));
        let stop = Stop::default();
        stop.flag().store(15, Ordering::Relaxed);
        stop.time_is_over();
        assert_eq!(stop.reason(), Some(StopReason::Signal("SIGTERM", 15)));
    }
}
