//! The request to stop: from a signal or from the clock. Workers look at it after every few inputs.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::Failure;
use crate::tally::Tally;

/// There is no request.
const RUN: usize = 0;
/// The time is over. Not the number of a signal.
const TIME: usize = usize::MAX;

/// A request to stop that any thread may make and see.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    reason: Arc<AtomicUsize>,
    /// Whether a signal ends the process at once, as the workers do not look at requests yet.
    in_preparation: Arc<AtomicBool>,
    /// The end of the run's time, if no thread could be started that waits for it.
    deadline: Arc<OnceLock<Instant>>,
}

/// Reasons for a request to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The clock.
    Time,
    /// A signal: its name and number.
    Signal(&'static str, u8),
}

impl Stop {
    /// Returns a request that SIGINT and SIGTERM make. A second signal ends the process at once.
    ///
    /// A signal that is ignored when the process starts stays ignored: shells start commands in the background with
    /// ignored signals, and `nohup` and `trap ''` request it.
    pub fn on_signals() -> Stop {
        let stop = Stop::on_signals_in_preparation();
        stop.end_preparation();
        stop
    }

    /// Returns a request that signals make, as [`Stop::on_signals`] does; but until [`Stop::end_preparation`] a signal
    /// ends the process at once, with the message of a run that has written nothing: compilers and makers of tables
    /// look at no request.
    pub fn on_signals_in_preparation() -> Stop {
        let stop = Stop::default();
        stop.in_preparation.store(true, Ordering::SeqCst);
        let again = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM].into_iter().filter(|&signal| !is_ignored(signal)) {
            // Actions run in the order of registration, so the first signal finds `again` unset. Where a signal cannot
            // be caught the system's own action, to end the process, is a fair substitute.
            end_in_preparation(signal, &stop.in_preparation);
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&again));
            let _ = flag::register(signal, Arc::clone(&again));
            let _ = flag::register_usize(signal, Arc::clone(&stop.reason), signal.unsigned_abs() as usize);
        }
        stop
    }

    /// Ends the preparation: from now on signals make the request.
    pub fn end_preparation(&self) {
        self.in_preparation.store(false, Ordering::SeqCst);
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
        self.reason.store(SIGINT.unsigned_abs() as usize, Ordering::Relaxed);
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

    /// Returns the reason for the request, if there is one.
    pub fn reason(&self) -> Option<StopReason> {
        match self.reason.load(Ordering::Relaxed) {
            RUN => None,
            TIME => Some(StopReason::Time),
            signal if signal == SIGTERM.unsigned_abs() as usize => Some(StopReason::Signal(name(SIGTERM), 15)),
            _ => Some(StopReason::Signal(name(SIGINT), 2)),
        }
    }
}

/// Returns the name of one of the two signals.
fn name(signal: i32) -> &'static str {
    if signal == SIGTERM { "SIGTERM" } else { "SIGINT" }
}

/// Lets a signal end the process with a message as long as `in_preparation`.
#[cfg(unix)]
#[expect(unsafe_code, reason = "what a handler may do is for its author to know")]
fn end_in_preparation(signal: i32, in_preparation: &Arc<AtomicBool>) {
    let in_preparation = Arc::clone(in_preparation);
    let interrupted = Failure::Interrupted { name: name(signal), signal: 0, written: Tally::default() };
    let message = format!("gramjet: {interrupted}\n");
    let end = move || {
        if in_preparation.load(Ordering::SeqCst) {
            // SAFETY: the bytes are those of a string that lives as long as the handler.
            unsafe { libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len()) };
            signal_hook::low_level::exit(128 + signal);
        }
    };
    // SAFETY: the handler reads an atomic and calls write(2) and _exit(2), which are safe in handlers; it allocates
    // nothing, takes no lock and does not panic.
    let _ = unsafe { signal_hook::low_level::register(signal, end) };
}

/// Does nothing: elsewhere the request is seen when the preparation is over.
#[cfg(not(unix))]
fn end_in_preparation(_: i32, _: &Arc<AtomicBool>) {}

/// Lets writes beyond the limit on the size of files (`ulimit -f`) fail as those on a full disk do. Without a handler
/// SIGXFSZ ends the process inside an input.
pub fn fail_writes_beyond_file_size_limit() {
    // Where the signal cannot be caught it stays as it was.
    #[cfg(unix)]
    let _ = flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

/// Returns true if the process ignores a signal.
#[cfg(unix)]
#[expect(unsafe_code, reason = "no safe interface reads the action of a signal")]
fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: With a null pointer for the new action, sigaction(2) changes nothing and writes the current one to
    // `action`, which is valid for that; it is read only if the call says that it was written.
    unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Returns true if the process ignores a signal.
#[cfg(not(unix))]
fn is_ignored(_: i32) -> bool {
    false
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
        stop.reason.store(15, Ordering::Relaxed);
        stop.time_is_over();
        assert_eq!(stop.reason(), Some(StopReason::Signal("SIGTERM", 15)));
    }
}
