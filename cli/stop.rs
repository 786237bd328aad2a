//! Signals that ask a command to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gramjet_campaign::Stop;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::Failure;
use crate::tally::Tally;

/// A request to stop, and whether signals make it yet.
#[derive(Clone, Debug, Default)]
pub struct Stopping {
    stop: Stop,
    /// Whether a signal ends the process at once, as the workers do not look at requests yet.
    in_preparation: Arc<AtomicBool>,
}

/// Returns a request that SIGINT and SIGTERM make. A second signal ends the process at once.
///
/// A signal that is ignored when the process starts stays ignored: shells start commands in the background with
/// ignored signals, and `nohup` and `trap ''` request it.
pub fn on_signals() -> Stop {
    on_signals_in_preparation().end_preparation()
}

/// Returns a request as [`on_signals`] does, but until [`Stopping::end_preparation`] a signal ends the process at once,
/// with the message of a run that has written nothing: compilers and makers of tables look at no request.
pub fn on_signals_in_preparation() -> Stopping {
    let stopping = Stopping::default();
    stopping.in_preparation.store(true, Ordering::SeqCst);
    let again = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM].into_iter().filter(|&signal| !is_ignored(signal)) {
        // Actions run in the order of registration, so the first signal finds `again` unset. Where a signal cannot
        // be caught the system's own action, to end the process, is a fair substitute.
        end_in_preparation(signal, &stopping.in_preparation);
        let _ = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&again));
        let _ = flag::register(signal, Arc::clone(&again));
        let _ = flag::register_usize(signal, stopping.stop.flag(), signal.unsigned_abs() as usize);
    }
    stopping
}

impl Stopping {
    /// Returns the request, which signals do not make yet.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Lets signals make the request from now on.
    pub fn end_preparation(self) -> Stop {
        self.in_preparation.store(false, Ordering::SeqCst);
        self.stop
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

/// Returns the result of a search of which a run was cut short: then the program says nothing, and its errors neither.
#[cfg(target_os = "linux")]
pub fn unless_cut(result: Result<(), Failure>, stop: &Stop) -> Result<(), Failure> {
    use gramjet_campaign::StopReason;
    match (result, stop.reason()) {
        (Err(Failure::Target(_)), Some(StopReason::Signal(name, signal))) if stop.is_cut() => {
            Err(Failure::Stopped { name, signal, reached: "before the program was run".to_string() })
        }
        (Err(Failure::Target(error)), _) if stop.is_cut() => {
            crate::failure::say!("gramjet: the time was over before the program could be run: {error}");
            Ok(())
        }
        (result, _) => result,
    }
}
