//! The bound on native recursion.
//!
//! Generated code recurses on the native stack, one frame per residual rule. An input may use [`CALLER_STACK`] of its
//! caller's stack, which fits the smallest usual thread stacks (512 KiB on macOS, 2 MiB for Rust threads). Beyond it,
//! the recursion goes on upon a helper thread with a stack of [`HELPER_STACK`] bytes, which the system maps as it is
//! touched. It lives as long as the machine: a derivation can cross the bound many thousands of times, and a thread
//! costs more than a subtree. Where that ends too, or no thread can be had, the machine finishes: option 0 at every
//! site, on the rest of the stack that is kept for it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

/// Number of bytes of the caller's stack that an input may use.
pub(crate) const CALLER_STACK: usize = 192 << 10;

/// The stack of the helper thread, in bytes.
pub(crate) const HELPER_STACK: usize = 1 << 30;

/// The part of the helper's stack that is reserved for finishing.
pub(crate) const HELPER_RESERVE: usize = 128 << 20;

/// Returns the address of the current stack frame, nearly.
#[inline(always)]
pub(crate) fn stack_pointer() -> usize {
    let marker = 0u8;
    (&raw const marker) as usize
}

/// The position of the machine on the native stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Caller,
    Helper,
    /// Finishing: no check can help any more.
    Last,
}

type Job = Box<dyn FnOnce() + Send>;

/// A thread with a large stack that works for its owner, who waits meanwhile.
pub(crate) struct Helper {
    /// Removed to end the thread.
    jobs: Option<Sender<Job>>,
    done: Receiver<thread::Result<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Helper {
    /// Returns a helper, if the system has a thread.
    pub(crate) fn new() -> Option<Helper> {
        let (jobs, received) = mpsc::channel::<Job>();
        let (reports, done) = mpsc::channel();
        let work = move || {
            for job in received {
                // Called by value: the job is gone when the report is sent.
                if reports.send(catch_unwind(AssertUnwindSafe(job))).is_err() {
                    break;
                }
            }
        };
        let thread = thread::Builder::new().name("gramjet".into()).stack_size(HELPER_STACK).spawn(work).ok()?;
        Some(Helper { jobs: Some(jobs), done, thread: Some(thread) })
    }

    /// Runs `job` on the helper's stack. It gets the lowest address that it should use there.
    pub(crate) fn run<R: Send>(&self, job: impl FnOnce(usize) -> R + Send) -> R {
        let mut result = None;
        let job = || result = Some(job(stack_pointer().saturating_sub(HELPER_STACK - HELPER_RESERVE)));
        let job: Box<dyn FnOnce() + Send + '_> = Box::new(job);
        // SAFETY: only the lifetime changes. The job, with all that it borrows, is gone before this function returns or
        // unwinds: it is sent to the helper, which drops it, called or not, before it reports or ends; until one of
        // both `recv` waits. If it cannot be sent, it comes back and is dropped here.
        let job: Job = unsafe { std::mem::transmute(job) };
        let sent = self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
        match self.done.recv() {
            Ok(Err(panic)) => resume_unwind(panic),
            // A helper that was sent a job reports, and one that has reported success has a result.
            report => result.filter(|_| sent && report.is_ok()).expect("the helper works until its owner ends it"),
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // It has reported its panics.
            let _ = thread.join();
        }
    }
}
