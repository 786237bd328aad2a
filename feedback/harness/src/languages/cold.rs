//! The first calls in processes, which may load what later ones need.

use super::subject::Subject;
use super::table::Table;
use super::worker::{Ended, Worker};
use crate::edges::Edges;
use crate::error::Error;
use crate::run::{Outcome, Usage};
use crate::target::again;

/// The time of a first call in a process, in multiples of the limit, until a call has kept the limit.
const COLD: u32 = 10;
/// The time of a first call, in multiples of the limit, once a call has kept the limit.
const COLD_AGAIN: u32 = 4;
/// Number of first calls that may exceed that time, too, until others get no more than the limit.
const DOUBTS: u32 = 3;
/// A quick call does nearly what another one does if it executes at least this share of its edges.
const ALIKE: (usize, usize) = (3, 4);

/// Facts about first calls.
#[derive(Default)]
pub(super) struct Cold {
    /// Whether a first call has returned within the limit on time, and how many have exceeded even more.
    is_quick: bool,
    exceeded: u32,
    /// Input of a first call that loads what others need: new processes are called with it before others.
    warm: Option<Vec<u8>>,
    /// Input of a call that was quick, and the number of edges that it executed: the most of those.
    quick: Option<(Vec<u8>, usize)>,
    /// Whether this process was called with such an input before.
    is_warm: bool,
}

impl Cold {
    /// Starts a process. One that is to be as any other is not called before.
    pub(super) fn start(&mut self, subject: &Subject, table: &mut Table, is_plain: bool) -> Result<Worker, Error> {
        self.is_warm = false;
        match self.warm.clone().filter(|_| !is_plain) {
            Some(input) => self.start_warm(&input, subject, table),
            None => again(|| Worker::start(subject, table)),
        }
    }

    /// Starts a process and lets it make a call that loads what others need. If that ends the process, it is not made
    /// again.
    fn start_warm(&mut self, input: &[u8], subject: &Subject, table: &mut Table) -> Result<Worker, Error> {
        let mut worker = again(|| Worker::start(subject, table))?;
        worker.begin_again(input);
        let ended = worker.end(subject, table, COLD);
        worker.take_counters(&mut Edges::default(), table);
        match ended {
            Ok(_) if worker.is_alive() => {
                self.is_warm = true;
                Ok(worker)
            }
            Ok(_) | Err(Error::Guard) => {
                self.warm.take_if(|warm| warm == input);
                self.quick.take_if(|(quick, _)| quick == input);
                drop(worker);
                again(|| Worker::start(subject, table))
            }
            Err(error) => Err(error),
        }
    }

    /// Waits for the end of a call. A first call in a process may load what later ones need: if it takes too long, it
    /// gets more time, and is judged once more, in a new process after a call that is known to be quick, or else in the
    /// same one. Once several first calls have exceeded even that, no other one gets more time.
    pub(super) fn wait(
        &mut self,
        process: &mut Option<Worker>,
        input: &[u8],
        subject: &Subject,
        table: &mut Table,
    ) -> Result<Ended, Error> {
        let worker = process.as_mut().expect("a process that was told to call the function");
        if worker.earlier() > 0 || self.is_warm {
            return worker.end(subject, table, 1);
        }
        if let Some(warm) = self.warm.clone().filter(|warm| warm != input) {
            let ended = worker.end(subject, table, 1)?;
            return match ended.outcome {
                Outcome::Timeout => self.judge(process, input, &warm, subject, table),
                _ => Ok(ended),
            };
        }
        if self.exceeded >= DOUBTS {
            return worker.end(subject, table, 1);
        }
        let first = worker.end(subject, table, if self.is_quick { COLD_AGAIN } else { COLD })?;
        let is_within = is_within(&first.usage, subject);
        // A call that is refused at once may have loaded nothing.
        self.is_quick |= is_within && first.outcome == Outcome::Exit(0);
        self.exceeded += u32::from(first.outcome == Outcome::Timeout);
        if is_within || !worker.is_alive() {
            return Ok(first);
        }
        let mut edges = Edges::default();
        worker.take_counters(&mut edges, table);
        let least = edges.executed().len() * ALIKE.0 / ALIKE.1;
        let quick = self.quick.clone().filter(|(quick, edges)| quick != input && *edges >= least.max(1));
        // The same call made again may be quick because the function remembers its result.
        let second = match &quick {
            Some((quick, _)) => self.judge(process, input, quick, subject, table)?,
            None => {
                worker.begin_again(input);
                worker.end(subject, table, 1)?
            }
        };
        if second.outcome == Outcome::Timeout {
            self.warm.take_if(|warm| warm == input);
        } else {
            (self.warm, self.exceeded) = (Some(quick.map_or_else(|| input.to_vec(), |(quick, _)| quick)), 0);
        }
        Ok(second)
    }

    /// Calls the function in a new process, after another call.
    fn judge(
        &mut self,
        process: &mut Option<Worker>,
        input: &[u8],
        before: &[u8],
        subject: &Subject,
        table: &mut Table,
    ) -> Result<Ended, Error> {
        // Its processes end before another one begins.
        *process = None;
        let worker = process.insert(self.start_warm(before, subject, table)?);
        worker.begin(input);
        worker.end(subject, table, 1)
    }

    /// Learns from a call that has executed so many edges.
    pub(super) fn learn(&mut self, input: &[u8], ended: (&Outcome, &Usage), edges: usize, subject: &Subject) {
        let (outcome, usage) = ended;
        let is_more = self.quick.as_ref().is_none_or(|&(_, most)| edges > most);
        if is_more && *outcome == Outcome::Exit(0) && is_within(usage, subject) {
            self.quick = Some((input.to_vec(), edges));
        }
    }
}

/// Returns true if a call has kept the limit on time. A busy machine makes it longer by the clock, and other threads of
/// an interpreter make it longer in processor time.
fn is_within(usage: &Usage, subject: &Subject) -> bool {
    usage.cpu.map_or(usage.wall, |cpu| cpu.min(usage.wall)) <= subject.limits.time
}
