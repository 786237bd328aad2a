//! The request to stop: from a signal or from the clock. Workers look at it behind every few inputs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Nobody asked.
const RUN: usize = 0;
/// The time is over. Not the number of a signal.
const TIME: usize = usize::MAX;

/// A request to stop that any thread may make and see.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    reason: Arc<AtomicUsize>,
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
    /// A request that SIGINT and SIGTERM make. A second signal ends the process at once.
    pub fn on_signals() -> Stop {
        let stop = Stop::default();
        let again = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // Actions run in the order of registration, so the first signal finds `again` unset. Where a signal cannot be
            // caught the system's own action, to end the process, is a fair substitute.
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&again));
            let _ = flag::register(signal, Arc::clone(&again));
            let _ = flag::register_usize(signal, Arc::clone(&stop.reason), signal.unsigned_abs() as usize);
        }
        stop
    }

    /// Makes the request when `time` has passed.
    pub fn after(&self, time: Duration) {
        if time.is_zero() {
            self.time_is_over();
            return;
        }
        let stop = self.clone();
        // The thread ends with the process. If it cannot be had, that is a system out of threads: stop at once.
        let timer = std::thread::Builder::new().name("timer".to_string()).stack_size(64 << 10).spawn(move || {
            std::thread::sleep(time);
            stop.time_is_over();
        });
        if timer.is_err() {
            self.time_is_over();
        }
    }

    /// Makes the request as SIGINT does.
    #[cfg(test)]
    pub fn signal(&self) {
        self.reason.store(SIGINT.unsigned_abs() as usize, Ordering::Relaxed);
    }

    fn time_is_over(&self) {
        // A signal that came first stays the reason.
        let _ = self.reason.compare_exchange(RUN, TIME, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Whether anyone asked.
    #[inline]
    pub fn is_requested(&self) -> bool {
        self.reason.load(Ordering::Relaxed) != RUN
    }

    /// Whether a signal asked.
    pub fn is_signalled(&self) -> bool {
        matches!(self.reason(), Some(StopReason::Signal(..)))
    }

    /// Who asked.
    pub fn reason(&self) -> Option<StopReason> {
        match self.reason.load(Ordering::Relaxed) {
            RUN => None,
            TIME => Some(StopReason::Time),
            signal if signal == SIGTERM.unsigned_abs() as usize => Some(StopReason::Signal("SIGTERM", 15)),
            _ => Some(StopReason::Signal("SIGINT", 2)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        stop.reason.store(15, Ordering::Relaxed);
        stop.time_is_over();
        assert_eq!(stop.reason(), Some(StopReason::Signal("SIGTERM", 15)));
    }
}
