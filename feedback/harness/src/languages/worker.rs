//! The process that calls the function.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use super::calls;
use super::expressions::{self, RegularExpression};
use super::protocol::{self, Message};
use super::stack::{self, Asking};
use super::subject::{Language, Subject};
use super::table::Table;
use crate::constants;
use crate::edges::Edges;
use crate::error::Error;
use crate::guard::{Guard, has_input, is_gone, outcome_of, pipe_from_program, pipe_to_program};
use crate::interrupt::is_interrupted;
use crate::limits::Limits;
use crate::run::{Captured, Outcome, Usage};
use crate::scratch::Scratch;
use crate::shared::Memory;
use crate::watch::{Excess, Watch, until_look};

/// Counters for which there is room.
const COUNTERS: usize = 1 << 20;
/// The most bytes of an input; longer ones are cut.
const LONGEST_INPUT: usize = 1 << 26;
/// A worker may take this long to load the function.
const START: Duration = Duration::from_secs(60);
/// Time after which processes that runs have left are ended again.
const SWEEP: Duration = Duration::from_millis(50);
/// A process that has closed its descriptors may take this long to end.
const END: Duration = Duration::from_secs(2);
/// Reads of messages that a worker has sent unasked, such as edges of its other threads.
const MOST_UNASKED: usize = 1 << 10;
/// Looks at the stack of a call that hangs, and the time and the bytes that each may take.
const LOOKS: usize = 3;
const LOOK: Duration = Duration::from_secs(1);
const MOST_OF_STACK: usize = 1 << 20;
/// Time between reads of a stack, and the number of reads without a byte after which it is whole.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);
const QUIET: u32 = 2;
/// Bytes of standard error that an error shows.
const SHOWN: usize = 2000;

/// A worker process.
pub(super) struct Worker {
    // Dropped before the folder that its processes may write to.
    guard: Guard,
    scratch: Scratch,
    watch: Watch,
    process: libc::pid_t,
    requests: OwnedFd,
    answers: OwnedFd,
    counters: Counters,
    input: Memory,
    /// The bytes read of incomplete messages.
    unread: Vec<u8>,
    is_alive: bool,
    runs: u64,
    swept: Instant,
    /// Time when the last call has begun, and whether the process could be told of it.
    begun: Instant,
    is_asked: bool,
    told: Told,
}

/// Facts that a worker has told of its function's code before the first run.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) words: Vec<Vec<u8>>,
    pub(super) expressions: Vec<RegularExpression>,
}

/// The counts of edges that a worker writes.
struct Counters {
    memory: Memory,
    /// Whether they are floating-point numbers.
    in_floats: bool,
    /// The edge of each counter; the first one counts edges without a counter.
    numbers: Vec<u32>,
}

/// The end of a call.
pub(super) struct Ended {
    pub(super) outcome: Outcome,
    pub(super) usage: Usage,
    /// Place where it hung, if its time was over.
    pub(super) place: Option<String>,
}

/// A worker's answer when its messages were read.
enum Said {
    /// Nothing that ends the wait.
    Nothing,
    Ready,
    Refused(String),
    Done(Outcome, bool, (Duration, Duration)),
    /// The process has closed its end, or sent something that is not a message.
    Gone,
}

impl Worker {
    /// Starts a process that has loaded the function.
    pub(super) fn start(subject: &Subject, table: &mut Table) -> Result<Worker, Error> {
        let program = calls::program(subject)?;
        let scratch = program.scratch()?;
        let mut parts = program.parts(&scratch, None)?;
        let (requests_read, requests) = pipe_to_program()?;
        let (answers, answers_written) = pipe_from_program()?;
        let counters = Memory::new(COUNTERS * size_of::<u64>())?;
        let input = Memory::new(LONGEST_INPUT)?;
        parts.descriptors.extend([
            (input.descriptor()?, protocol::INPUT),
            (counters.descriptor()?, protocol::COUNTERS),
            (requests_read, protocol::REQUESTS),
            (answers_written, protocol::ANSWERS),
        ]);
        let watch = Watch::new(&scratch.temporary(), &subject.limits);
        let mut guard = Guard::new(parts, &scratch)?;
        let process = guard.start()?;
        let mut worker = Worker {
            guard,
            scratch,
            watch,
            process,
            requests,
            answers,
            counters: Counters {
                memory: counters,
                in_floats: matches!(subject.language, Language::Node { .. }),
                numbers: vec![0],
            },
            input,
            unread: Vec::new(),
            is_alive: true,
            runs: 0,
            swept: Instant::now(),
            begun: Instant::now(),
            is_asked: false,
            told: Told::default(),
        };
        worker.greet(subject, table)?;
        worker.take_counters(&mut Edges::default(), table);
        Ok(worker)
    }

    /// Waits until the function is loaded.
    fn greet(&mut self, subject: &Subject, table: &mut Table) -> Result<(), Error> {
        let begin = Instant::now();
        let what = loop {
            match self.wait(subject, table, START.saturating_sub(begin.elapsed())) {
                Said::Ready => return Ok(()),
                Said::Refused(what) => break what,
                Said::Gone | Said::Done(..) => {
                    let outcome = self.ended()?;
                    break format!("the worker process ended before the function was loaded ({outcome})");
                }
                Said::Nothing if begin.elapsed() >= START || is_interrupted() => {
                    break format!("the function was not loaded within {START:?}");
                }
                Said::Nothing => {}
            }
        };
        self.guard.streams().read_rest(SHOWN);
        let stderr = String::from_utf8_lossy(&self.guard.captured()[1].bytes).trim().to_string();
        let shown = if stderr.is_empty() { what } else { format!("{what}\n{stderr}") };
        Err(subject.error(shown))
    }

    /// Returns true if nothing has come that was not asked for, but for edges: what a function has written to the
    /// descriptor of the answers would be taken for one.
    pub(super) fn is_quiet(&mut self, subject: &Subject, table: &mut Table) -> bool {
        let mut messages = 0;
        while self.is_alive && messages < MOST_UNASKED {
            match self.wait(subject, table, Duration::ZERO) {
                Said::Nothing if self.unread.is_empty() && !has_input(&self.answers) => return true,
                Said::Nothing => messages += 1,
                _ => return false,
            }
        }
        false
    }

    /// Begins to call the function.
    pub(super) fn begin(&mut self, input: &[u8]) {
        self.guard.streams().clear();
        self.runs += 1;
        let input = &input[..input.len().min(LONGEST_INPUT)];
        self.input.values::<u8>(0, input.len()).copy_from_slice(input);
        self.begun = Instant::now();
        self.is_asked = self.ask(input.len() as u32).is_some();
    }

    /// Begins to call the function in a way that does not count as a run: again with the same input, or before any run.
    pub(super) fn begin_again(&mut self, input: &[u8]) {
        self.begin(input);
        self.runs -= 1;
    }

    /// Waits until the function has returned, for no longer than so many times the limits on time.
    pub(super) fn end(&mut self, subject: &Subject, table: &mut Table, times: u32) -> Result<Ended, Error> {
        let (outcome, wall, cpu, place) = match self.is_asked {
            true => self.wait_for_end(subject, table, times)?,
            false => (self.ended()?, self.begun.elapsed(), None, None),
        };
        self.guard.streams().read_rest(subject.limits.kept_output);
        if self.is_alive
            && (!matches!(outcome, Outcome::Exit(_) | Outcome::Exception(_)) || self.swept.elapsed() > SWEEP)
        {
            // The process may end between runs, because of something that a run has left in it.
            self.is_alive = self.guard.sweep()?.is_none();
            self.is_alive &= self.scratch.tidy();
            self.swept = Instant::now();
        }
        let outcome = calls::outcome(subject, outcome, &self.guard.captured()[1]);
        Ok(Ended { outcome, usage: Usage { wall, cpu, ..Usage::default() }, place })
    }

    fn wait_for_end(
        &mut self,
        subject: &Subject,
        table: &mut Table,
        times: u32,
    ) -> Result<(Outcome, Duration, Option<Duration>, Option<String>), Error> {
        let (begin, Limits { time, longest, .. }) = (self.begun, subject.limits);
        let limits = subject.limits.with_time(time.saturating_mul(times)).with_longest(longest.saturating_mul(times));
        self.watch.begin(begin);
        loop {
            match self.wait(subject, table, until_look(&limits, begin.elapsed())) {
                Said::Done(outcome, is_spent, (user, system)) => {
                    self.is_alive = !is_spent;
                    return Ok((outcome, begin.elapsed(), Some(user + system), None));
                }
                Said::Nothing => {}
                Said::Ready | Said::Refused(_) | Said::Gone => {
                    return Ok((self.ended()?, begin.elapsed(), None, None));
                }
            }
            let excess = self.excess(&limits);
            let outcome = match excess {
                _ if is_interrupted() => Outcome::Timeout,
                Some(excess) => excess.outcome(),
                None if limits.edges.is_some() && limits.is_beyond(self.executed()) => Outcome::Edges,
                // It has ended, but processes that it has started hold its descriptors open.
                None if is_gone(self.process) => return Ok((self.ended()?, begin.elapsed(), None, None)),
                None => continue,
            };
            let wall = begin.elapsed();
            let hangs = outcome == Outcome::Timeout && !is_interrupted();
            let place = if hangs { self.place(subject, &limits) } else { None };
            self.kill();
            // Edges that were found up to the end. A process that is left can say anything without end.
            for _ in 0..MOST_UNASKED {
                if matches!(self.wait(subject, table, Duration::ZERO), Said::Nothing | Said::Gone) {
                    break;
                }
            }
            return Ok((outcome, wall, None, place));
        }
    }

    /// Returns the limit that the call exceeds now.
    fn excess(&mut self, limits: &Limits) -> Option<Excess> {
        let guard = &self.guard;
        self.watch.exceeded(limits, self.begun.elapsed(), self.process, |most| guard.processes(most))
    }

    /// Returns the place where the call hangs, by several looks at its stack.
    fn place(&mut self, subject: &Subject, limits: &Limits) -> Option<String> {
        let asking = stack::asking(&subject.language)?;
        let places: Option<Vec<String>> = (0..LOOKS).map(|_| self.look(subject, limits, &asking)).collect();
        for stream in &mut self.guard.streams().captured {
            stream.bytes.truncate(subject.limits.kept_output);
        }
        stack::common(&places?)
    }

    /// Returns the place that the stack tells now. It is written all at once, or in parts one after the other.
    fn look(&mut self, subject: &Subject, limits: &Limits, asking: &Asking) -> Option<String> {
        // It is read whatever the call has written before.
        let from = self.guard.captured()[asking.stream].bytes.len();
        // SAFETY: the guard has not waited for it, as it was not asked to, so the number is still its own.
        unsafe { libc::kill(self.process, asking.signal) };
        let (begin, mut len, mut quiet) = (Instant::now(), from, 0);
        loop {
            std::thread::sleep(BETWEEN_LOOKS);
            self.guard.streams().read_rest(from + MOST_OF_STACK);
            let written = &self.guard.captured()[asking.stream].bytes[from..];
            quiet = if from + written.len() > len { 0 } else { quiet + 1 };
            len = from + written.len();
            let is_over = begin.elapsed() >= LOOK;
            let place = if quiet >= QUIET || is_over { stack::place(&subject.language, written) } else { None };
            // The call still runs.
            let exceeds = matches!(self.excess(limits), Some(Excess::Memory | Excess::Processes | Excess::Disk));
            if place.is_some() || is_over || exceeds {
                return place;
            }
        }
    }

    /// Returns the number of inputs before the last one.
    pub(super) fn earlier(&self) -> u64 {
        self.runs.saturating_sub(1)
    }

    /// Returns true if the process can take another input.
    pub(super) fn is_alive(&self) -> bool {
        self.is_alive
    }

    /// Returns the sum of the counts up to now. The first one counts edges without a counter, which are no part of it.
    fn executed(&self) -> u64 {
        let (from, count) = (size_of::<u64>(), self.counters.numbers.len() - 1);
        match self.counters.in_floats {
            true => self.counters.memory.sum::<f64>(from, count),
            false => self.counters.memory.sum::<u64>(from, count),
        }
    }

    /// Takes the counts up to now; they are zero then.
    pub(super) fn take_counters(&mut self, edges: &mut Edges, table: &Table) {
        let len = self.counters.numbers.len();
        match self.counters.in_floats {
            true => edges.take(self.counters.memory.values::<f64>(0, len), &[]),
            false => edges.take(self.counters.memory.values::<u64>(0, len), &[]),
        }
        edges.renumber(&self.counters.numbers, table.len());
    }

    /// Takes what it has told when it was loaded.
    pub(super) fn take_told(&mut self) -> Told {
        mem::take(&mut self.told)
    }

    /// Takes the output of the last run.
    pub(super) fn take_output(&mut self) -> [Captured; 2] {
        mem::take(&mut self.guard.streams().captured)
    }

    fn ask(&mut self, len: u32) -> Option<()> {
        let bytes = len.to_ne_bytes();
        // SAFETY: the bytes of a live value. The pipe's reader may be gone: SIGPIPE is ignored in Rust programs.
        let written = unsafe { libc::write(self.requests.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
        (written == bytes.len() as isize).then_some(())
    }

    /// Reads messages and output for no longer than `time`.
    fn wait(&mut self, subject: &Subject, table: &mut Table, time: Duration) -> Said {
        match self.understand(table) {
            Said::Nothing => {}
            said => return said,
        }
        if !self.guard.streams().read_until(self.answers.as_raw_fd(), Some(time), subject.limits.kept_output) {
            return Said::Nothing;
        }
        let mut buffer = [0; 1 << 14];
        // SAFETY: room for that many bytes.
        let got = unsafe { libc::read(self.answers.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
        match got {
            1.. => self.unread.extend_from_slice(&buffer[..got as usize]),
            0 => return Said::Gone,
            _ if io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock => {}
            _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            _ => return Said::Gone,
        }
        self.understand(table)
    }

    /// Takes in messages that were read, up to one that ends the wait.
    fn understand(&mut self, table: &mut Table) -> Said {
        let mut read = 0;
        let said = loop {
            let Ok(message) = protocol::message(&self.unread[read..]) else { break Said::Gone };
            let Some((message, len)) = message else { break Said::Nothing };
            read += len;
            match message {
                Message::Ready => break Said::Ready,
                Message::Refused(what) => break Said::Refused(what),
                Message::Words(body) => {
                    // The function itself may send some, at any time.
                    if self.runs == 0 && self.told.words.is_empty() {
                        self.told.words = constants::told(body);
                    }
                }
                Message::Expression(body) => {
                    if self.runs == 0 {
                        expressions::add(body, &mut self.told.expressions);
                    }
                }
                Message::Done { outcome, is_spent, cpu } => break Said::Done(outcome, is_spent, cpu),
                Message::Edge { counter, line, key } => {
                    let counter = counter as usize;
                    if counter >= COUNTERS {
                        break Said::Gone;
                    }
                    if self.counters.numbers.len() <= counter {
                        self.counters.numbers.resize(counter + 1, 0);
                    }
                    self.counters.numbers[counter] = table.number(key, line);
                }
            }
        };
        self.unread.drain(..read);
        said
    }

    fn kill(&mut self) {
        // SAFETY: the guard has not waited for it, as it was not asked to, so the number is still its own.
        unsafe { libc::kill(self.process, libc::SIGKILL) };
        self.is_alive = false;
    }

    /// Returns how the process has ended by itself.
    fn ended(&mut self) -> Result<Outcome, Error> {
        self.is_alive = false;
        let begin = Instant::now();
        while begin.elapsed() < END {
            if let Some(status) = self.guard.sweep()? {
                return Ok(outcome_of(status));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        // It has closed its descriptors, and runs on.
        self.kill();
        Ok(Outcome::Lost)
    }
}
