//! A thread that ends the runs in hand once the time is over or a signal has come: a program may be slow.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gramjet_harness::{go_on, interrupt};

use crate::stop::Stop;

/// The interval at which the thread looks for signals.
const LOOK: Duration = Duration::from_millis(50);
/// The time that a run in hand gets when the time is over.
const GRACE: Duration = Duration::from_millis(300);

/// The thread, which ends when this is dropped.
#[derive(Debug)]
pub struct Watch {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Ends runs of this process a moment after a signal or this time. They say nothing of the program then, and
    /// [`Stop::is_cut`] is true.
    pub fn new(stop: &Stop, end: Option<Instant>) -> Watch {
        let is_over = Arc::new(AtomicBool::new(false));
        let (stop, seen, end) = (stop.clone(), Arc::clone(&is_over), end.map(|end| end + GRACE));
        let look = move || {
            while !seen.load(Ordering::Relaxed) {
                if stop.is_signalled() || end.is_some_and(|end| Instant::now() >= end) {
                    stop.cut();
                    interrupt();
                    return;
                }
                std::thread::park_timeout(
                    end.map_or(LOOK, |end| end.saturating_duration_since(Instant::now()).min(LOOK)),
                );
            }
        };
        // Without the thread the search ends later, and nothing else.
        let thread = std::thread::Builder::new().name("watch".to_string()).stack_size(64 << 10).spawn(look).ok();
        Watch { is_over, thread }
    }

    /// Ends the watch. Runs may go on if it has ended some because the time was over.
    pub fn end(self, stop: &Stop) {
        drop(self);
        if !stop.is_signalled() {
            stop.uncut();
            go_on();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It does nothing that could panic.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_ends_runs_when_the_time_is_over_and_not_before() {
        let stop = Stop::default();
        Watch::new(&stop, Some(Instant::now() + Duration::from_secs(1 << 20))).end(&stop);
        assert!(!stop.is_cut());
        let watch = Watch::new(&stop, Some(Instant::now()));
        while !stop.is_cut() {
            std::thread::yield_now();
        }
        watch.end(&stop);
        assert!(!stop.is_cut() && stop.reason().is_none());
        stop.signal();
        assert!(stop.is_cut());
    }
}
