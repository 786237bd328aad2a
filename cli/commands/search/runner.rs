//! Runs texts in the order in which they come, in the thread of the search or in one beside it.
//!
//! A thread of its own costs nothing where a core is free: it and the program take turns on their core, and the search
//! makes texts on another one. In either case the search gets the same results in the same order.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvError, Sender, channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

use super::hunt::Hunt;
use super::meter::{Meter, Reading};
use crate::failure::Failure;
use crate::subject::Surroundings;

/// A text to run, then with what its run says.
#[derive(Default)]
pub(super) struct Job {
    pub(super) text: Vec<u8>,
    /// It is run also if the search is over.
    pub(super) is_due: bool,
    pub(super) was_run: bool,
    pub(super) reading: Reading,
}

/// Runs texts in turn.
pub(super) enum Runner<'h> {
    Here(Box<Here<'h>>),
    Beside(Beside),
}

impl<'h> Runner<'h> {
    /// Runs texts in this thread.
    pub(super) fn here(hunt: &'h Hunt, meter: Meter) -> Runner<'h> {
        let (waiting, running, failure) = Default::default();
        Runner::Here(Box::new(Here { hunt, meter, waiting, running, failure }))
    }

    /// Runs texts in a thread of its own, on the core of the program.
    pub(super) fn beside<'scope>(
        hunt: &'scope Hunt,
        mut meter: Meter,
        surroundings: Surroundings,
        scope: &'scope Scope<'scope, '_>,
    ) -> Runner<'h> {
        let ((jobs, mut to_run), (ran, done)) = (Mailbox::new(), Mailbox::new());
        scope.spawn(move || {
            meter.tested.stay_beside(surroundings);
            while let Ok(job) = to_run.receive() {
                let ended = run(hunt, &mut meter, job);
                let has_failed = ended.is_err();
                if ran.send(ended).is_err() || has_failed {
                    break;
                }
            }
        });
        Runner::Beside(Beside { jobs, done })
    }

    /// Adds a text to run.
    pub(super) fn push(&mut self, job: Job) -> Result<(), Failure> {
        match self {
            Runner::Here(here) => here.push(job),
            // A thread that has ended says why in the end.
            Runner::Beside(beside) => {
                let _ = beside.jobs.send(job);
                Ok(())
            }
        }
    }

    /// Waits for the first text that was added and not returned yet.
    pub(super) fn next(&mut self) -> Result<Job, Failure> {
        match self {
            Runner::Here(here) => here.next(),
            Runner::Beside(beside) => beside.done.receive().unwrap_or_else(|RecvError| Err(gone())),
        }
    }
}

fn gone() -> Failure {
    Failure::Internal("no text is run".to_string())
}

/// Runs texts in the thread that asks for it; while it does something else, the program runs on the first.
pub(super) struct Here<'h> {
    hunt: &'h Hunt,
    meter: Meter,
    waiting: VecDeque<Job>,
    running: Option<Job>,
    failure: Option<Failure>,
}

impl Here<'_> {
    fn push(&mut self, job: Job) -> Result<(), Failure> {
        self.waiting.push_back(job);
        self.begin()
    }

    /// Lets the program begin on the next text, if it is free.
    fn begin(&mut self) -> Result<(), Failure> {
        if self.running.is_some() {
            return Ok(());
        }
        let is_over = self.hunt.is_over();
        if let Some(job) = self.waiting.pop_front_if(|job| job.is_due || !is_over) {
            self.meter.start(&job.text)?;
            self.running = Some(job);
        }
        Ok(())
    }

    fn next(&mut self) -> Result<Job, Failure> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let Some(mut job) = self.running.take() else { return self.waiting.pop_front().ok_or_else(gone) };
        finish(self.hunt, &mut self.meter, &mut job)?;
        // What was measured is not lost because of the next text.
        self.failure = self.begin().err();
        Ok(job)
    }
}

/// Runs texts in another thread.
pub(super) struct Beside {
    jobs: Sender<Job>,
    done: Mailbox<Result<Job, Failure>>,
}

fn run(hunt: &Hunt, meter: &mut Meter, mut job: Job) -> Result<Job, Failure> {
    if job.is_due || !hunt.is_over() {
        meter.start(&job.text)?;
        finish(hunt, meter, &mut job)?;
    }
    Ok(job)
}

/// Measures the run on this text.
fn finish(hunt: &Hunt, meter: &mut Meter, job: &mut Job) -> Result<(), Failure> {
    meter.finish(&mut job.reading)?;
    job.was_run = true;
    hunt.edges_spent.fetch_add(job.reading.executed, Ordering::Relaxed);
    Ok(())
}

/// A thread looks for a message this long before it sleeps: to wake one takes about as long as to run a fast program.
const PATIENCE: Duration = Duration::from_micros(30);
/// If that was in vain, the thread sleeps at once so many times.
const IMPATIENT: u32 = 32;

/// Where a thread gets messages.
struct Mailbox<T> {
    receiver: Receiver<T>,
    /// How many times it sleeps at once.
    impatient: u32,
}

impl<T> Mailbox<T> {
    fn new() -> (Sender<T>, Mailbox<T>) {
        let (sender, receiver) = channel();
        (sender, Mailbox { receiver, impatient: 0 })
    }

    /// Waits for a message. Fails if none can come any more.
    fn receive(&mut self) -> Result<T, RecvError> {
        if self.impatient > 0 {
            self.impatient -= 1;
            return self.receiver.recv();
        }
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if let Ok(message) = self.receiver.try_recv() {
                return Ok(message);
            }
            std::hint::spin_loop();
        }
        self.impatient = IMPATIENT;
        self.receiver.recv()
    }
}
