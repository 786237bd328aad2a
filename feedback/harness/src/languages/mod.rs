//! Functions of other languages: Python, Node and Java, each in a worker process that stays alive and counts executed
//! edges.

mod calls;
mod java;
mod node;
mod protocol;
mod python;
mod stack;
mod subject;
mod table;
mod worker;

use std::mem;

pub use subject::{Counting, Language, Subject};
pub use table::EdgePlace;
use table::Table;
use worker::{Ended, Worker};

use crate::edges::Edges;
use crate::error::Error;
use crate::run::{Captured, Outcome, Run, Usage};
use crate::target::{Target, again};

/// The time of a first call in a process, in multiples of the limit: until a call has kept the limit, and later.
const COLD: u32 = 10;
const COLD_AGAIN: u32 = 4;
/// Number of first calls that may exceed that time, too, until others get no more than the limit.
const DOUBTS: u32 = 3;

/// A function in a worker process.
///
/// The state that the function leaves in the process (caches, changed globals) stays for the next input. The process is
/// started anew when an input has exceeded a limit, has ended it, or has left threads in it.
///
/// Edges are numbered as they are first executed. A number keeps its meaning for the life of this value, in all its
/// processes.
pub struct Function {
    subject: Subject,
    worker: Option<Worker>,
    /// The input of the call that was begun last, and whether it was not waited for.
    input: Vec<u8>,
    is_begun: bool,
    /// The number of calls that the process of the last call had made before.
    earlier: u64,
    /// Whether a first call has returned within the limit on time, and how many may still exceed even more.
    is_quick: bool,
    doubts: u32,
    /// The input of a first call that took longer than the same call later: new processes are called with it before
    /// others, so that they have loaded what later calls need.
    warm: Option<Vec<u8>>,
    /// Whether that was done in this process.
    is_warm: bool,
    table: Table,
    /// Constants that its code compares.
    words: Vec<Vec<u8>>,
    edges: Edges,
    /// The place where the last call hung.
    place: Option<String>,
    captured: [Captured; 2],
}

impl Function {
    /// Starts a worker process, which loads the function.
    ///
    /// # Errors
    ///
    /// If the interpreter or the function is not there, or the function cannot be loaded.
    pub fn new(mut subject: Subject) -> Result<Function, Error> {
        let mut table = Table::default();
        let mut worker = Worker::start(&subject, &mut table)?;
        let words = worker.take_words();
        // Later processes would find the same.
        subject.tells_words = false;
        Ok(Function {
            subject,
            worker: Some(worker),
            input: Vec::new(),
            is_begun: false,
            earlier: 0,
            is_quick: false,
            doubts: DOUBTS,
            warm: None,
            is_warm: false,
            table,
            words,
            edges: Edges::default(),
            place: None,
            captured: Default::default(),
        })
    }

    /// Returns the constants that its code compares, if [`Subject::telling_words`] has asked for them: at most 512
    /// words of at most 32 bytes each. There are none of Java.
    pub fn words(&self) -> &[Vec<u8>] {
        &self.words
    }

    /// Returns the place of an edge in the sources.
    pub fn place(&self, edge: u32) -> Option<&EdgePlace> {
        self.table.place(edge)
    }

    /// Lets a worker process begin to call the function.
    fn begin(&mut self) -> Result<(), Error> {
        let Function { subject, table, warm, is_warm, .. } = self;
        let mut known = self.worker.take();
        if !known.as_mut().is_some_and(|worker| worker.is_quiet(subject, table)) {
            // Its processes end before another one begins.
            drop(known.take());
        }
        let worker = match known {
            Some(worker) => worker,
            None => {
                let worker = again(|| Worker::start(subject, table))?;
                let warmed = warm_up(worker, warm, subject, table)?;
                *is_warm = warm.is_some();
                match warmed {
                    Some(worker) => worker,
                    None => again(|| Worker::start(subject, table))?,
                }
            }
        };
        let worker = self.worker.insert(worker);
        worker.begin(&self.input);
        Ok(())
    }

    /// Waits for the end of the call. The first call in a process may load what later ones need: if it takes too long,
    /// it gets more time, and the same call is made again. Later processes make such a call before any other. Once
    /// several first calls have exceeded even that, no other one gets more time.
    fn wait(&mut self, worker: &mut Worker) -> Result<Ended, Error> {
        let Function { subject, table, input, is_quick, doubts, warm, is_warm, .. } = self;
        let time = subject.limits.time;
        if worker.earlier() > 0 || *is_warm || *doubts == 0 {
            return worker.end(subject, table, time);
        }
        let first = worker.end(subject, table, time.saturating_mul(if *is_quick { COLD_AGAIN } else { COLD }))?;
        // A machine that is busy makes it longer by the clock, other threads of an interpreter in processor time.
        let Usage { wall, cpu, .. } = first.usage;
        let is_within = cpu.map_or(wall, |cpu| cpu.min(wall)) <= time;
        // A call that is refused at once may have loaded nothing.
        *is_quick |= is_within && first.outcome == Outcome::Exit(0);
        if first.outcome == Outcome::Timeout && *is_quick {
            *doubts -= 1;
        }
        if is_within || !worker.is_alive() {
            return Ok(first);
        }
        worker.take_counters(&mut Edges::default(), table);
        worker.begin_again(input);
        let second = worker.end(subject, table, time)?;
        if second.outcome != Outcome::Timeout {
            (*warm, *doubts) = (Some(input.clone()), DOUBTS);
        }
        Ok(second)
    }

    /// Returns how the call has ended.
    fn end(&mut self) -> Result<(Outcome, Usage), Error> {
        // It is not used again after an error.
        let mut worker = self.worker.take().expect("a worker that was told to call the function");
        self.place = None;
        let Ended { outcome, usage, place } = match self.wait(&mut worker) {
            Err(Error::Guard) => {
                self.earlier = worker.earlier();
                self.edges = Edges::default();
                self.captured = worker.take_output();
                return Ok((Outcome::Lost, Usage::default()));
            }
            result => result?,
        };
        if outcome == Outcome::Memory && worker.earlier() > 0 {
            // Memory that earlier inputs have left may have been most of it.
            drop(worker);
            self.begin()?;
            return self.end();
        }
        (self.earlier, self.place) = (worker.earlier(), place);
        worker.take_counters(&mut self.edges, &self.table);
        self.captured = worker.take_output();
        if worker.is_alive() {
            self.worker = Some(worker);
        }
        Ok((outcome, usage))
    }
}

/// Lets a new process make the call that loads what others need, if one is known. Returns `None` if it has ended by
/// that; then no call is known any more.
fn warm_up(
    mut worker: Worker,
    warm: &mut Option<Vec<u8>>,
    subject: &Subject,
    table: &mut Table,
) -> Result<Option<Worker>, Error> {
    let Some(input) = warm else { return Ok(Some(worker)) };
    worker.begin_again(input);
    let ended = worker.end(subject, table, subject.limits.time.saturating_mul(COLD));
    worker.take_counters(&mut Edges::default(), table);
    match ended {
        Ok(_) if worker.is_alive() => Ok(Some(worker)),
        Ok(_) | Err(Error::Guard) => {
            *warm = None;
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

impl Target for Function {
    fn start(&mut self, input: &[u8]) -> Result<(), Error> {
        if self.is_begun {
            self.finish()?;
        }
        self.input.clear();
        self.input.extend_from_slice(input);
        self.begin()?;
        self.is_begun = true;
        Ok(())
    }

    fn renew(&mut self) -> Result<(), Error> {
        if self.is_begun {
            self.finish()?;
        }
        self.worker = None;
        Ok(())
    }

    fn finish(&mut self) -> Result<Run<'_>, Error> {
        assert!(mem::take(&mut self.is_begun), "a run was begun");
        let (outcome, usage) = self.end()?;
        let outcome = self.subject.limits.judged(outcome, self.edges.total());
        let ([stdout, stderr], place) = (&self.captured, self.place.as_deref());
        Ok(Run { outcome, earlier: self.earlier, usage, edges: Some(&self.edges), place, stdout, stderr })
    }
}
