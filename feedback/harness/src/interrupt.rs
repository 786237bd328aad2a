//! The end of all runs in hand: whoever stops a search does not wait until the time of a slow program is over.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Ends the runs in hand of all targets of this process, and those to come, within a moment, until [`go_on`]. How they
/// end then says nothing of the program.
pub fn interrupt() {
    IS_INTERRUPTED.store(true, Ordering::Release);
}

/// Lets runs go on after [`interrupt`].
pub fn go_on() {
    IS_INTERRUPTED.store(false, Ordering::Release);
}

/// Returns true if [`interrupt`] was called.
pub(crate) fn is_interrupted() -> bool {
    IS_INTERRUPTED.load(Ordering::Acquire)
}
