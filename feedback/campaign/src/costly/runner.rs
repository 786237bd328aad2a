//! Runs texts in the order in which they come, in the thread of the search or in one beside it: whichever is faster.
//!
//! A thread of its own takes turns with the program on their core, while the search makes texts on another core. Where
//! that one is not idle, the threads wait for each other longer than it takes to make a text. So both are tried, unless
//! the runs take so much of the time that a thread beside cannot be of use. The search gets the same results in the
//! same order. A program that takes many texts at a time gets as many as there are.

use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::Scope;
use std::time::{Duration, Instant};

use gramjet_harness::Outcome;
use gramjet_search::Measured;

use super::hunt::Hunt;
use super::meter::Meter;
use super::second_core::Pace;
use crate::error::Error;
use crate::subject::Surroundings;

/// A text to run and, once it has run, its measurements. It is handed on several times, so it is boxed.
pub(crate) struct Job {
    pub(crate) text: Vec<u8>,
    /// Whether it is run also if the search is over.
    pub(crate) is_due: bool,
    /// Whether it belongs to what the search begins with, so that it does not count for a budget.
    pub(crate) is_free: bool,
    pub(crate) was_run: bool,
    /// Number of times that the search has proposed texts that it knew, before this one.
    pub(crate) repeats: u64,
    pub(crate) measured: Measured,
    /// End of the run.
    pub(crate) outcome: Outcome,
}

impl Default for Job {
    fn default() -> Job {
        let (text, is_due, is_free, was_run, repeats, measured) = Default::default();
        Job { text, is_due, is_free, was_run, repeats, measured, outcome: Outcome::Exit(0) }
    }
}

/// Purpose for which texts are run: a search.
pub(crate) trait Purpose: Sync {
    fn is_over(&self) -> bool;
    /// Takes note of executed edges.
    fn spend(&self, edges: u64);
}

impl Purpose for Hunt {
    fn is_over(&self) -> bool {
        Hunt::is_over(self)
    }
    fn spend(&self, edges: u64) {
        self.edges_spent.fetch_add(edges, Ordering::Relaxed);
    }
}

/// Runner of texts, each from a begin to an end.
pub(crate) trait Runs: Send {
    /// Returns how many texts can be begun before the first is at its end.
    fn room(&self) -> usize;
    fn start(&mut self, text: &[u8]) -> Result<(), Error>;
    fn finish(&mut self, measured: &mut Measured) -> Result<Outcome, Error>;
    /// Keeps this thread where the program is.
    fn stay_beside(&self, surroundings: Surroundings);
}

impl Runs for Meter {
    fn room(&self) -> usize {
        Meter::room(self)
    }
    fn start(&mut self, text: &[u8]) -> Result<(), Error> {
        Meter::start(self, text)
    }
    fn finish(&mut self, measured: &mut Measured) -> Result<Outcome, Error> {
        Meter::finish(self, measured)
    }
    fn stay_beside(&self, surroundings: Surroundings) {
        self.tested.stay_beside(surroundings);
    }
}

/// Runs texts in turn.
pub(crate) struct Runner<'h, M = Meter, P = Hunt> {
    hunt: &'h P,
    meter: Arc<Mutex<M>>,
    /// The thread beside, if there is one, and how many texts it has.
    beside: Option<Beside>,
    given: usize,
    /// Texts for this thread.
    line: Line,
    /// Jobs that were run before the threads changed, and a failure to run them all.
    done: VecDeque<Box<Job>>,
    failure: Option<Error>,
    pace: Pace,
}

/// Texts in the order in which they run.
#[derive(Default)]
struct Line {
    jobs: VecDeque<Box<Job>>,
    /// Number of them on which the program has begun, and number of those that were given back because the search was
    /// over.
    begun: usize,
    abandoned: usize,
    /// Reason why it could not begin on the next one.
    failure: Option<Error>,
}

impl Line {
    /// Adds a text to run.
    fn push<M: Runs, P: Purpose>(&mut self, hunt: &P, meter: &Mutex<M>, job: Box<Job>) {
        self.jobs.push_back(job);
        self.begin(hunt, meter);
    }

    /// Waits for the end of the first text. It counts as run unless the search was over before. A failure comes after
    /// the results before it.
    fn next<M: Runs, P: Purpose>(&mut self, hunt: &P, meter: &Mutex<M>) -> Result<Box<Job>, Error> {
        if self.begun == 0
            && let Some(failure) = self.failure.take()
        {
            return Err(failure);
        }
        let mut job = self.jobs.pop_front().ok_or_else(gone)?;
        if self.begun > 0 {
            self.begun -= 1;
            if may_run(hunt, &job) {
                let mut meter = locked(meter);
                for _ in 0..mem::take(&mut self.abandoned) {
                    meter.finish(&mut Measured::default())?;
                }
                job.outcome = meter.finish(&mut job.measured)?;
                job.was_run = true;
                if !job.is_free {
                    hunt.spend(job.measured.executed);
                }
            } else {
                self.abandoned += 1;
            }
        }
        self.begin(hunt, meter);
        Ok(job)
    }

    /// Lets the program begin on the next texts, as far as it has room.
    fn begin<M: Runs, P: Purpose>(&mut self, hunt: &P, meter: &Mutex<M>) {
        if self.begun == self.jobs.len() || self.failure.is_some() {
            return;
        }
        let mut meter = locked(meter);
        // Their results come before that of the next one.
        if self.begun == 0 && self.jobs.front().is_some_and(|job| may_run(hunt, job)) {
            for _ in 0..mem::take(&mut self.abandoned) {
                self.failure = meter.finish(&mut Measured::default()).err().or(self.failure.take());
            }
        }
        while self.begun + self.abandoned < meter.room()
            && self.failure.is_none()
            && let Some(job) = self.jobs.get(self.begun).filter(|job| may_run(hunt, job))
        {
            if let Err(failure) = meter.start(&job.text) {
                self.failure = Some(failure);
                return;
            }
            self.begun += 1;
        }
    }
}

/// Returns true if a text is run now.
fn may_run(hunt: &impl Purpose, job: &Job) -> bool {
    job.is_due || !hunt.is_over()
}

/// The thread that runs texts beside that of the search.
struct Beside {
    jobs: Sender<Box<Job>>,
    done: Mailbox<Result<Box<Job>, Error>>,
    /// Surroundings that the program is in.
    surroundings: Surroundings,
    /// The core of the search meanwhile.
    spare: Option<usize>,
}

impl<'h, M: Runs, P: Purpose> Runner<'h, M, P> {
    /// Runs texts in this thread.
    pub(crate) fn new(hunt: &'h P, meter: M) -> Runner<'h, M, P> {
        let (beside, given, line, done, failure) = Default::default();
        let meter = Arc::new(Mutex::new(meter));
        Runner { hunt, meter, beside, given, line, done, failure, pace: Pace::new() }
    }

    /// Runs them in another thread as long as that is faster; this thread is on another core then.
    pub(crate) fn try_beside<'scope>(
        &mut self,
        hunt: &'scope P,
        surroundings: Surroundings,
        spare: Option<usize>,
        scope: &'scope Scope<'scope, '_>,
    ) where
        M: 'scope,
    {
        let ((jobs, mut to_run), (ran, done)) = (Mailbox::new(), Mailbox::new());
        let meter = Arc::clone(&self.meter);
        scope.spawn(move || {
            locked(&meter).stay_beside(surroundings);
            let mut line = Line::default();
            loop {
                if line.jobs.is_empty() {
                    let Ok(job) = to_run.receive() else { break };
                    line.push(hunt, &meter, job);
                }
                while let Some(job) = to_run.ready() {
                    line.push(hunt, &meter, job);
                }
                let ended = line.next(hunt, &meter);
                let has_failed = ended.is_err();
                if ran.send(ended).is_err() || has_failed {
                    break;
                }
            }
        });
        self.beside = Some(Beside { jobs, done, surroundings, spare });
    }

    /// Adds a text to run.
    pub(crate) fn push(&mut self, job: Box<Job>) {
        self.timed(|runner| runner.add(job));
    }

    fn add(&mut self, job: Box<Job>) {
        match &self.beside {
            Some(beside) if self.pace.is_beside => {
                self.given += 1;
                // A thread that has ended says why in its last message.
                let _ = beside.jobs.send(job);
            }
            _ => self.line.push(self.hunt, &self.meter, job),
        }
    }

    /// Waits for the first text that was added and not returned yet.
    pub(crate) fn next(&mut self) -> Result<Box<Job>, Error> {
        let job = match self.done.pop_front() {
            Some(job) => job,
            None => self.timed(Self::ended)?,
        };
        if self.beside.is_some() && self.pace.is_to_change() {
            self.change();
        }
        Ok(job)
    }

    /// Does something with the program. How long it takes is measured in some rounds.
    fn timed<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let begin = self.pace.program.map(|_| Instant::now());
        let result = act(self);
        if let (Some(program), Some(begin)) = (&mut self.pace.program, begin) {
            *program += begin.elapsed();
        }
        result
    }

    /// Lets the other thread run texts from now on. After a failure it does not: the failure is returned once all texts
    /// that were run are.
    fn change(&mut self) {
        while self.given > 0 || !self.line.jobs.is_empty() {
            match self.ended() {
                Ok(job) => self.done.push_back(job),
                Err(failure) => {
                    self.failure = Some(failure);
                    return;
                }
            }
        }
        self.pace.is_beside = !self.pace.is_beside;
        if let Some(Beside { surroundings, spare, .. }) = &self.beside {
            let core = if self.pace.is_beside { *spare } else { surroundings.core };
            locked(&self.meter).stay_beside(surroundings.on(core));
        }
    }

    fn ended(&mut self) -> Result<Box<Job>, Error> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if let (Some(beside), 1..) = (&mut self.beside, self.given) {
            self.given -= 1;
            return beside.done.receive().unwrap_or_else(|RecvError| Err(gone()));
        }
        self.line.next(self.hunt, &self.meter)
    }
}

fn gone() -> Error {
    Error::Internal("no text is run".to_string())
}

fn locked<M>(meter: &Mutex<M>) -> MutexGuard<'_, M> {
    meter.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A thread looks for a message this long before it sleeps: to wake one takes about as long as to run a fast program.
const PATIENCE: Duration = Duration::from_micros(30);
/// After a wait without a message, the thread does not look for this number of messages, and sleeps at once.
const IMPATIENT: u32 = 32;

/// Place where a thread gets messages.
struct Mailbox<T> {
    receiver: Receiver<T>,
    /// Number of times that it sleeps at once.
    impatient: u32,
}

impl<T> Mailbox<T> {
    fn new() -> (Sender<T>, Mailbox<T>) {
        let (sender, receiver) = channel();
        (sender, Mailbox { receiver, impatient: 0 })
    }

    /// Returns a message that is there.
    fn ready(&mut self) -> Option<T> {
        self.receiver.try_recv().ok()
    }

    /// Waits for a message. Fails if none can come any more.
    fn receive(&mut self) -> Result<T, RecvError> {
        if self.impatient > 0 {
            self.impatient -= 1;
            return self.receiver.recv();
        }
        // Mostly a message is there, and the clock is not read.
        if let Some(message) = self.ready() {
            return Ok(message);
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::atomic::AtomicBool;
    use std::thread::ThreadId;

    use gramjet_harness::{Confinement, Limits};

    use super::super::second_core::ROUND;
    use super::*;

    /// Runs a text by taking its length. It fails to begin on `bad`.
    #[derive(Default)]
    struct Lengths {
        lens: VecDeque<usize>,
        /// One less than how many texts it takes at a time.
        further: usize,
        /// The threads that have run texts.
        threads: HashSet<ThreadId>,
    }

    impl Runs for Lengths {
        fn room(&self) -> usize {
            1 + self.further
        }
        fn start(&mut self, text: &[u8]) -> Result<(), Error> {
            assert!(self.lens.len() < self.room());
            if text != b"bad" {
                self.lens.push_back(text.len());
            }
            self.threads.insert(std::thread::current().id());
            if text == b"bad" { Err(Error::Internal("bad".to_string())) } else { Ok(()) }
        }
        fn finish(&mut self, measured: &mut Measured) -> Result<Outcome, Error> {
            measured.executed = self.lens.pop_front().expect("a text that was begun") as u64;
            Ok(Outcome::Exit(0))
        }
        fn stay_beside(&self, _: Surroundings) {}
    }

    /// Search that is over once the flag is set.
    #[derive(Default)]
    struct Until(AtomicBool);

    impl Purpose for Until {
        fn is_over(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
        fn spend(&self, _: u64) {}
    }

    fn job(text: &str) -> Box<Job> {
        Box::new(Job { text: text.into(), ..Job::default() })
    }

    /// Returns a job that is run also if the search is over.
    fn due(text: &str) -> Box<Job> {
        Box::new(Job { is_due: true, ..*job(text) })
    }

    /// Runs a test with a runner that has a thread beside, once in each thread.
    fn in_each_thread(test: impl Fn(&mut Runner<'_, Lengths, Until>, &Until)) {
        for (is_beside, further) in [(false, 0), (false, 3), (true, 0), (true, 3)] {
            let until = Until::default();
            std::thread::scope(|scope| {
                let mut runner = Runner::new(&until, Lengths { further, ..Lengths::default() });
                let (limits, confinement) = (Limits::default(), Confinement::Unconfined);
                let surroundings = Surroundings { limits, confinement, ..Surroundings::default() };
                runner.try_beside(&until, surroundings, None, scope);
                runner.pace.is_beside = is_beside;
                test(&mut runner, &until);
            });
        }
    }

    #[test]
    fn results_come_in_the_order_of_texts_whatever_thread_runs_them() {
        in_each_thread(|runner, _| {
            let texts: Vec<String> = (0..100).map(|number| "x".repeat(number)).collect();
            let mut results = Vec::new();
            for (number, text) in texts.iter().enumerate() {
                runner.push(job(text));
                if number % 7 == 6 {
                    runner.change();
                }
                if number % 3 == 2 {
                    results.push(runner.next().ok());
                }
            }
            results.extend((results.len()..texts.len()).map(|_| runner.next().ok()));
            for (text, result) in texts.iter().zip(results) {
                let result = result.expect("a result");
                assert!(
                    result.text == text.as_bytes() && result.was_run && result.measured.executed == text.len() as u64
                );
            }
            assert_eq!(locked(&runner.meter).threads.len(), 2);
        });
    }

    #[test]
    fn a_failure_comes_after_the_results_before_it() {
        for changes in [false, true] {
            in_each_thread(|runner, _| {
                ["one", "three", "bad"].into_iter().for_each(|text| runner.push(job(text)));
                if changes {
                    runner.change();
                }
                assert!(runner.next().is_ok_and(|job| job.text == b"one" && job.was_run));
                assert!(runner.next().is_ok_and(|job| job.text == b"three" && job.was_run));
                assert!(matches!(runner.next(), Err(Error::Internal(what)) if what == "bad"));
            });
        }
    }

    #[test]
    fn texts_of_a_search_that_is_over_are_not_run_unless_they_are_due() {
        in_each_thread(|runner, until| {
            until.0.store(true, Ordering::Relaxed);
            runner.push(job("one"));
            runner.push(due("two"));
            assert!(runner.next().is_ok_and(|job| job.text == b"one" && !job.was_run));
            runner.push(job("three"));
            assert!(runner.next().is_ok_and(|job| job.text == b"two" && job.was_run));
            assert!(runner.next().is_ok_and(|job| job.text == b"three" && !job.was_run));
        });
    }

    #[test]
    fn a_text_that_is_due_gets_its_own_result_after_others_that_are_not_run() {
        in_each_thread(|runner, until| {
            runner.push(job("one"));
            runner.push(due("three"));
            until.0.store(true, Ordering::Relaxed);
            runner.push(due("seven"));
            // The other thread may have run it before.
            assert!(runner.next().is_ok_and(|job| job.text == b"one" && (!job.was_run || job.measured.executed == 3)));
            for text in ["three", "seven"] {
                assert!(runner.next().is_ok_and(|job| job.was_run && job.measured.executed == text.len() as u64));
            }
        });
    }

    #[test]
    fn the_making_of_texts_is_no_part_of_the_time_that_a_program_takes() {
        in_each_thread(|runner, _| {
            runner.pace.period = Duration::MAX;
            let making = Duration::from_millis(1);
            for run in 1..=2 * ROUND {
                // The second round is measured.
                assert_eq!(runner.pace.program.is_some(), run > ROUND);
                let (begin, before) = (Instant::now(), runner.pace.program);
                if run > ROUND {
                    std::thread::sleep(making);
                }
                runner.push(job("one"));
                assert!(runner.next().is_ok());
                if let (Some(before), Some(program)) = (before, runner.pace.program) {
                    assert!(program - before + making <= begin.elapsed());
                }
            }
            assert!(matches!(runner.pace.gains[..], [gain] if gain > 1.0));
        });
    }
}
