//! The process of a fork server, and the words that are exchanged with it.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use super::ahead::Ahead;
use super::counters::{AFL_CAPACITY, Counters, Own};
use super::detect::{By, Instrumentation};
use super::protocol::{self, AFL_GREETING, AFL_VERSION, CONTROL, CONTROL_MAP, GREETING, INPUT, MAP};
use super::ring;
use crate::command::Program;
use crate::demand::Demand;
use crate::edges::Edges;
use crate::error::Error;
use crate::guard::{
    Guard, has_ended, has_input, is_child, is_gone, is_stopped, pipe_from_program, pipe_to_program, resident,
};
use crate::interrupt::is_interrupted;
use crate::run::{Captured, Outcome, Usage};
use crate::scratch::Scratch;
use crate::shared::Memory;
use crate::watch::{Excess, Watch};

/// AFL++'s run time takes inputs of up to a megabyte by shared memory, with the length.
pub(super) const AFL_SHARED: usize = (1 << 20) + 4;
/// A program may take this long to reach its fork server.
const START: Duration = Duration::from_secs(10);
/// A fork server may take this long to answer, beyond the limit on the program.
pub(super) const GRACE: Duration = Duration::from_secs(2);
/// A time that no run takes.
const FOREVER: Duration = Duration::from_secs(1 << 32);
/// Bytes of output that are kept while the program begins.
const KEPT: usize = 1 << 16;
/// The interval at which leftovers of runs are ended.
const SWEEP: Duration = Duration::from_millis(50);

/// The program while it runs.
pub(super) struct Server {
    // Dropped before the folder that its processes may write to.
    pub(super) guard: Guard,
    pub(super) scratch: Scratch,
    pub(super) watch: Watch,
    pub(super) requests: OwnedFd,
    pub(super) answers: OwnedFd,
    pub(super) counters: Counters,
    pub(super) input: Memory,
    pub(super) agreed: Agreed,
    /// Inputs that are given ahead, if the program takes them so.
    pub(super) ahead: Option<Ahead>,
    pub(super) turn: Turn,
    pub(super) was_killed: bool,
    pub(super) swept: Instant,
    pub(super) process: Answered,
    /// Time when it has begun to run on the last input. No answer is waited for beyond the deadline.
    pub(super) begun: Instant,
    pub(super) deadline: Instant,
}

/// Abilities of the program, by the handshake.
#[derive(Default)]
pub(super) struct Agreed {
    pub(super) uses_shared_input: bool,
    /// A process that takes many inputs answers itself.
    pub(super) answers_itself: bool,
    /// Whether a process that takes many inputs stops itself after each (AFL++).
    pub(super) stops_when_it_has_run: bool,
    /// The program tells what each run has used.
    pub(super) tells_usage: bool,
}

/// State of a program that takes one input at a time.
#[derive(Default)]
pub(super) struct Turn {
    /// Whether it has answered, and waits for the next input.
    pub(super) is_waiting: bool,
    /// Whether it has an input whose result was not taken.
    pub(super) has_input: bool,
    /// Counts of what it asks for, if they were asked for.
    pub(super) demand: Option<Demand>,
}

/// The process that was answered last.
#[derive(Default)]
pub(super) struct Answered {
    pub(super) number: libc::pid_t,
    /// Number of inputs that it has had: before the present one, if it has one.
    pub(super) rounds: u32,
    /// Number of inputs that the process of the run that was finished last had had before.
    pub(super) earlier: u32,
}

/// Result of an attempt to run the program.
pub(super) enum Ran {
    Done(Outcome, Usage),
    /// The fork server has ended, or must not be used again; it is started anew for the next input.
    Ended(Outcome, Usage),
    /// The program has not run on the input, or in a state that other inputs have left: a new server shall run it.
    Stale,
}

/// Returns true for the error of a call that may be repeated.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
}

/// Returns true if `wait` can return this for a process that has ended.
fn is_status(status: i32) -> bool {
    let by_signal = libc::WIFSIGNALED(status) && libc::WTERMSIG(status) <= libc::SIGRTMAX() && status & !0xff == 0;
    by_signal || libc::WIFEXITED(status) && status & !0xff00 == 0
}

impl Ran {
    /// Returns this with a server that is not used again.
    pub(super) fn at_the_end(self) -> Ran {
        match self {
            Ran::Done(outcome, usage) => Ran::Ended(outcome, usage),
            other => other,
        }
    }
}

impl Server {
    pub(super) fn start(program: &Program, instrumentation: Instrumentation) -> Result<Server, Error> {
        let failed = |what: &str| Error::ForkServer { program: program.path().to_path_buf(), what: what.into() };
        let by = instrumentation.by.ok_or_else(|| {
            failed(
                "is not instrumented: build it with `gramjet cc`, `gramjet c++`, `gramjet cargo` or AFL++'s compilers",
            )
        })?;
        let scratch = program.scratch()?;
        let demand = program.demand()?;
        demand.iter().for_each(Demand::serves);
        let mut parts = program.parts(&scratch, demand.as_ref())?;
        let (requests_read, requests) = pipe_to_program()?;
        let (answers, answers_written) = pipe_from_program()?;
        parts.descriptors.extend([(requests_read, CONTROL), (answers_written, CONTROL + 1)]);
        let variables = &mut parts.variables;
        let mut variable = |name: &str, value: &str| variables.push((name.into(), value.into()));
        let (counters, input) = match by {
            By::Gramjet => {
                let own = Own::new()?;
                let input = Memory::new(ring::SIZE)?;
                variable("GRAMJET_MAP", "1");
                if instrumentation.is_deferred {
                    variable("GRAMJET_DEFERRED", "1");
                }
                let [counters, control] = own.descriptors()?;
                parts.descriptors.extend([(counters, MAP), (control, CONTROL_MAP), (input.descriptor()?, INPUT)]);
                (Counters::Own(own), input)
            }
            By::Afl => {
                if let Some(rules) = &mut parts.rules {
                    rules.share_ipc();
                }
                let (map, number) = Memory::system_v(AFL_CAPACITY)?;
                let (input, input_number) = Memory::system_v(AFL_SHARED)?;
                variable("__AFL_SHM_ID", &number.to_string());
                variable("__AFL_SHM_FUZZ_ID", &input_number.to_string());
                variable("AFL_MAP_SIZE", &AFL_CAPACITY.to_string());
                if instrumentation.is_persistent {
                    variable("__AFL_PERSISTENT", "1");
                }
                if instrumentation.is_deferred {
                    variable("__AFL_DEFER_FORKSRV", "1");
                }
                (Counters::Afl(map, AFL_CAPACITY), input)
            }
        };
        let watch = Watch::new(&scratch.temporary(), &program.limits);
        let mut guard = Guard::new(parts, &scratch)?;
        guard.start()?;
        let mut server = Server {
            guard,
            scratch,
            requests,
            answers,
            counters,
            input,
            agreed: Agreed {
                stops_when_it_has_run: by == By::Afl && instrumentation.is_persistent,
                ..Agreed::default()
            },
            ahead: None,
            turn: Turn { demand, ..Turn::default() },
            watch,
            was_killed: false,
            swept: Instant::now(),
            process: Answered::default(),
            begun: Instant::now(),
            deadline: Instant::now() + START,
        };
        server.greet(program, instrumentation.is_persistent)?;
        server.turn.demand.as_ref().map_or(Ok(()), Demand::check)?;
        if !server.counters.take(&mut Edges::default()) {
            return Err(failed(
                "has changed the memory in which its edges are counted before its fork server answered",
            ));
        }
        Ok(server)
    }

    /// Does the handshake, whichever it is.
    fn greet(&mut self, program: &Program, is_persistent: bool) -> Result<(), Error> {
        let failed = |what: String| Error::ForkServer { program: program.path().to_path_buf(), what };
        let kept = program.limits.kept_output;
        if !self.guard.streams().read_until(self.answers.as_raw_fd(), Some(START), kept) {
            return Err(failed(format!("did not reach its fork server within {START:?}")));
        }
        let gone = || failed("ended before its fork server answered".to_string());
        let first = self.word().ok_or_else(gone)?;
        let is_own = matches!(self.counters, Counters::Own(_));
        self.agreed.uses_shared_input = match first {
            GREETING if is_own => {
                let input = if program.reads_file() { 0 } else { protocol::SHARED_INPUT };
                let answers = if is_persistent { protocol::ANSWERS_ITSELF } else { 0 };
                // What is counted for one input must not be that of the next.
                let ahead = if is_persistent && self.turn.demand.is_none() { protocol::TAKES_AHEAD } else { 0 };
                let usage = if program.times_rounds || !is_persistent { protocol::TELLS_USAGE } else { 0 };
                self.say(input | answers | ahead | usage).ok_or_else(gone)?;
                let taken = self.word().ok_or_else(gone)?;
                self.agreed.answers_itself = taken & protocol::ANSWERS_ITSELF != 0;
                self.agreed.tells_usage = taken & protocol::TELLS_USAGE != 0;
                self.ahead = (taken & protocol::TAKES_AHEAD != 0).then(Ahead::default);
                taken & protocol::SHARED_INPUT != 0
            }
            word if is_own && word >> 8 == GREETING >> 8 => {
                return Err(failed("was built by another version of gramjet; build it again".to_string()));
            }
            word if word & 0xffff_ff00 == AFL_GREETING => {
                if word != AFL_GREETING + AFL_VERSION {
                    return Err(failed(format!("speaks version {} of AFL++'s protocol; 1 is known", word & 0xff)));
                }
                self.greet_new(word).ok_or_else(gone)?
            }
            word if word & 0xffff_0000 == protocol::new::ERROR || word & 0xff00_00ff == protocol::old::ERROR => {
                return Err(failed(protocol::afl_error(word)));
            }
            word if !is_own => self.greet_old(word).ok_or_else(gone)?,
            word => return Err(failed(format!("began with {word:#x}, which is no greeting of a fork server"))),
        };
        Ok(())
    }

    /// Does the handshake with AFL++ from 4.10 on. Returns true if it takes inputs from shared memory.
    fn greet_new(&mut self, version: u32) -> Option<bool> {
        self.say(!version)?;
        let offered = self.word()?;
        if offered & protocol::new::MAP_SIZE != 0 {
            let size = self.word()? as usize;
            self.set_map_size(size);
        }
        if offered & protocol::new::DICTIONARY != 0 {
            let len = self.word()?;
            self.skip(len)?;
        }
        let last = self.word()?;
        (last == version).then_some(offered & protocol::new::SHARED_INPUT != 0)
    }

    /// Does the handshake with AFL++ up to 4.09. Returns true if it takes inputs from shared memory.
    fn greet_old(&mut self, offered: u32) -> Option<bool> {
        if offered & protocol::old::ENABLED != protocol::old::ENABLED {
            return Some(false);
        }
        if offered & protocol::old::MAP_SIZE != 0 {
            self.set_map_size(protocol::old::map_size(offered));
        }
        let takes_input = offered & protocol::old::SHARED_INPUT != 0;
        if takes_input {
            self.say(protocol::old::ENABLED | protocol::old::SHARED_INPUT)?;
        }
        // A dictionary is not asked for: the first request of a run tells that its run time waits in vain, as with
        // afl-fuzz.
        Some(takes_input)
    }

    fn set_map_size(&mut self, size: usize) {
        if let Counters::Afl(_, known) = &mut self.counters {
            *known = size.clamp(1, AFL_CAPACITY);
        }
    }

    /// Returns what the program has written in the last run.
    pub(super) fn captured(&self) -> &[Captured; 2] {
        self.guard.captured()
    }

    /// Returns what a run has used that took this long by the clock, and whose end the program has told.
    pub(super) fn told_usage(&self, wall: Duration) -> Usage {
        let known =
            if self.agreed.tells_usage { self.counters.usage(wall) } else { Usage { wall, ..Usage::default() } };
        let Some(demand) = &self.turn.demand else { return known };
        let usage = demand.tell(known);
        // A process that takes many inputs tells at its end, of all of them.
        let is_of_one = !self.agreed.answers_itself && !self.agreed.stops_when_it_has_run;
        Usage { stack: usage.stack.filter(|_| is_of_one), ..usage }
    }

    /// Returns the number of inputs that it can be given before the result of the first is taken.
    pub(super) fn room(&self) -> usize {
        if self.ahead.is_some() { ring::SLOTS } else { 1 }
    }

    /// Returns the number of inputs that it was given, and whose results were not taken.
    pub(super) fn held(&self) -> usize {
        self.ahead.as_ref().map_or(usize::from(self.turn.has_input), Ahead::held)
    }

    /// Gives it an input on which it can begin now, or after those that it has. Returns whether there was room for it;
    /// `None` if the server cannot be used again.
    pub(super) fn give(&mut self, program: &Program, input: &[u8]) -> Result<Option<bool>, Error> {
        match self.ahead.take() {
            Some(mut ahead) => {
                let given = self.give_ahead(&mut ahead, program, input);
                self.ahead = Some(ahead);
                Ok(given)
            }
            None if self.turn.has_input => Ok(Some(false)),
            None => self.begin(program, input).map(|is_begun| is_begun.then_some(true)),
        }
    }

    /// Begins to count the time and the output of a run.
    pub(super) fn begin_clock(&mut self, program: &Program) {
        self.guard.streams().clear();
        self.begun = Instant::now();
        self.watch.begin(self.begun);
        self.deadline = self.begun + program.limits.longest.min(FOREVER) + GRACE;
    }

    /// Waits for the end of the first run of those that were given, and takes its counts.
    pub(super) fn end(&mut self, program: &Program, edges: &mut Edges) -> Result<Ran, Error> {
        if let Some(mut ahead) = self.ahead.take() {
            let ran = self.end_ahead(&mut ahead, program, edges);
            self.ahead = Some(ahead);
            self.process.earlier = self.process.rounds;
            self.process.rounds += 1;
            return ran;
        }
        self.turn.has_input = false;
        let ran = self.end_turn(program);
        self.process.earlier = self.process.rounds;
        let is_whole = self.counters.take(edges);
        ran.map(|ran| if is_whole { ran } else { ran.at_the_end() })
    }

    /// Returns true if nothing has come that was not asked for: what a program has written to the descriptor of the
    /// answers would be taken for one.
    pub(super) fn is_quiet(&self) -> bool {
        !has_input(&self.answers)
    }

    /// Ends and removes the leftovers of the run, if it is time to look. Returns whether the server can be used again.
    pub(super) fn tidy(&mut self, program: &Program, outcome: &Outcome) -> Result<bool, Error> {
        if !outcome.is_abnormal() && !self.is_to_be_swept(Instant::now()) {
            return Ok(true);
        }
        self.clear(program)
    }

    /// Ends and removes what runs have left. Returns true if the server can be used again.
    pub(super) fn clear(&mut self, program: &Program) -> Result<bool, Error> {
        let has_ended = self.guard.sweep()?.is_some();
        let is_usable = self.scratch.tidy();
        self.swept = Instant::now();
        Ok(!has_ended
            && is_usable
            && !self.is_held_up()
            && program.limits.memory.is_none_or(|memory| resident(self.process.number) <= memory))
    }

    /// Returns true if something has stopped or ended the server: it tells of no end of a process any more. What a run
    /// has left may hold its end of the answers open.
    pub(super) fn is_held_up(&self) -> bool {
        is_stopped(self.guard.server()) || is_gone(self.guard.server())
    }

    /// Returns true if a run has not ended in time for a reason that is not its own: its server was stopped or has
    /// ended, or what an earlier run has left has read the request to begin, or the answer that it has ended.
    pub(super) fn is_cut_off(&self) -> bool {
        self.is_held_up()
            || self.agreed.answers_itself && self.counters.waits()
            || !is_child(self.process.number, self.guard.server())
    }

    /// Returns true if a status can be that of the process: the server has waited for its end, unless it has stopped,
    /// and says nothing else. A program can write to the descriptor of the answers, too.
    pub(super) fn is_credible(&self, status: i32) -> bool {
        // A server does not tell when a process stops that answers itself.
        let is_stop = libc::WIFSTOPPED(status) && !self.agreed.answers_itself;
        is_stop || is_status(status) && has_ended(self.process.number) && self.is_quiet()
    }

    /// Returns true if it is time to look for leftovers.
    pub(super) fn is_to_be_swept(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.swept) >= SWEEP
    }

    /// Returns the limit that the program exceeds, after it has run for this long.
    pub(super) fn exceeded(&mut self, program: &Program, elapsed: Duration) -> Option<Outcome> {
        let limits = &program.limits;
        if is_interrupted() {
            return Some(Outcome::Timeout);
        }
        // It tells of no end any more.
        if self.is_held_up() {
            return Some(Outcome::Stopped);
        }
        // The server is none of the run's.
        let (guard, server) = (&self.guard, self.guard.server());
        let processes = |most| guard.processes(most + 1).into_iter().filter(|&process| process != server).collect();
        let excess = self.watch.exceeded(limits, elapsed, self.process.number, processes);
        let is_beyond = || limits.edges.is_some() && limits.is_beyond(self.counters.sum());
        excess.map(Excess::outcome).or_else(|| is_beyond().then_some(Outcome::Edges))
    }

    pub(super) fn say(&mut self, word: u32) -> Option<()> {
        let bytes = word.to_ne_bytes();
        // SAFETY: the bytes of a live value. The pipe's reader may be gone: SIGPIPE is ignored in Rust programs. The
        // pipe may be full, as the program can write to it, too: this does not wait for room.
        let written = unsafe { libc::write(self.requests.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
        (written == bytes.len() as isize).then_some(())
    }

    pub(super) fn word(&mut self) -> Option<u32> {
        let mut bytes = [0; 4];
        self.read(&mut bytes)?;
        Some(u32::from_ne_bytes(bytes))
    }

    /// Returns a word that can be read now.
    pub(super) fn ready_word(&self) -> Option<u32> {
        let mut bytes = [0; 4];
        // SAFETY: room for that many bytes.
        let got = unsafe { libc::read(self.answers.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len()) };
        (got == bytes.len() as isize).then(|| u32::from_ne_bytes(bytes))
    }

    fn skip(&mut self, len: u32) -> Option<()> {
        let mut bytes = [0; 256];
        let mut left = len as usize;
        while left > 0 {
            let part = left.min(bytes.len());
            self.read(&mut bytes[..part])?;
            left -= part;
        }
        Some(())
    }

    fn read(&mut self, bytes: &mut [u8]) -> Option<()> {
        let mut read = 0;
        while read < bytes.len() {
            let left = self.deadline.saturating_duration_since(Instant::now());
            if !self.guard.streams().read_until(self.answers.as_raw_fd(), Some(left), KEPT) {
                return None;
            }
            let rest = &mut bytes[read..];
            // SAFETY: room for that many bytes.
            let got = unsafe { libc::read(self.answers.as_raw_fd(), rest.as_mut_ptr().cast(), rest.len()) };
            match got {
                1.. => read += got as usize,
                // Another process may have read what was there.
                -1 if is_passing(&io::Error::last_os_error()) => {}
                _ => return None,
            }
        }
        Some(())
    }
}
