//! Programs with a fork server: they are started once, and fork for each input, or take many inputs in one process.
//!
//! Programs built by `gramjet cc` and its kin and programs built by AFL++ (4.04 to 4.40) are recognised by marks in
//! their file.

mod counters;
mod detect;
mod protocol;

use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};
use std::{io, mem};

use counters::{AFL_CAPACITY, Counters, MAP_SIZE};
pub use detect::{By, Instrumentation, instrumentation};
use protocol::{AFL_GREETING, AFL_VERSION, CONTROL, GREETING, HAS_RUN, INPUT, MAP};

use crate::command::Program;
use crate::edges::Edges;
use crate::error::Error;
use crate::guard::{Guard, blocking, outcome_of, pipe, resident};
use crate::interrupt::is_interrupted;
use crate::locations::Locations;
use crate::run::{Outcome, Run, Usage};
use crate::scratch::Scratch;
use crate::shared::Memory;
use crate::target::{Pending, Restarting, Target};

/// Bytes of an input by shared memory, with its length.
const SHARED: usize = 1 << 26;
/// AFL++'s run time takes inputs of up to a megabyte by shared memory.
const AFL_SHARED: usize = (1 << 20) + 4;
/// A program may take this long to reach its fork server.
const START: Duration = Duration::from_secs(10);
/// A fork server may take this long to answer, beyond the limit on the program.
const GRACE: Duration = Duration::from_secs(2);
/// Bytes of output that are kept while the program begins.
const KEPT: usize = 1 << 16;
/// The interval at which memory and processes are checked.
const TICK: Duration = Duration::from_millis(10);
/// The interval at which leftovers of runs are ended.
const SWEEP: Duration = Duration::from_millis(50);

/// A program that is started once and forks for each input.
pub struct ForkServer {
    program: Program,
    instrumentation: Instrumentation,
    server: Option<Server>,
    pending: Pending,
    edges: Edges,
    /// The output of the program in a run that has ended its server.
    lost: Option<[crate::Captured; 2]>,
}

/// The program while it runs.
struct Server {
    // Dropped before the folder that its processes may write to.
    guard: Guard,
    scratch: Scratch,
    requests: OwnedFd,
    answers: OwnedFd,
    counters: Counters,
    input: Option<Memory>,
    uses_shared_input: bool,
    /// A process that takes many inputs answers itself.
    answers_itself: bool,
    /// It has, and waits for the next input.
    is_waiting: bool,
    was_killed: bool,
    swept: Instant,
    /// The process that was answered last, and how many inputs it has had.
    process: libc::pid_t,
    rounds: u32,
    /// When it has begun to run on the last input. No answer is waited for beyond the deadline.
    begun: Instant,
    deadline: Instant,
}

impl ForkServer {
    /// Starts the program.
    ///
    /// # Errors
    ///
    /// If the program is not instrumented, or does not reach its fork server.
    pub fn new(program: Program) -> Result<ForkServer, Error> {
        let instrumentation = instrumentation(program.path())
            .map_err(|source| Error::Program { program: program.path().to_path_buf(), source })?;
        // A libFuzzer harness takes inputs in memory. With the name of a file it would run that file once, and end.
        let program = if instrumentation.is_libfuzzer { program.without_file() } else { program };
        let server = Server::start(&program, instrumentation)?;
        Ok(ForkServer {
            program,
            instrumentation,
            server: Some(server),
            pending: Pending::default(),
            edges: Edges::default(),
            lost: None,
        })
    }

    /// How the program is instrumented.
    pub fn instrumentation(&self) -> Instrumentation {
        self.instrumentation
    }

    /// Where the edges are that the program has; those of gcc's programs as soon as they were executed.
    pub fn locations(&mut self) -> Locations {
        let program = self.program.path();
        self.server.as_mut().map_or_else(Locations::default, |server| server.counters.locations(program))
    }

    /// How the run that was begun has ended; none if a new server must run the input.
    fn attempt(&mut self) -> Result<Option<(Outcome, Usage)>, Error> {
        let Some(server) = &mut self.server else { return Ok(None) };
        let ran = server.end(&self.program);
        server.counters.take(&mut self.edges);
        match ran {
            Ok(Ran::Done(outcome, usage)) => Ok(Some((outcome, usage))),
            Ok(Ran::Ended(outcome, usage)) => {
                self.lost = Some(server.guard.captured().clone());
                self.server = None;
                Ok(Some((outcome, usage)))
            }
            Ok(Ran::Stale) => {
                self.server = None;
                Ok(None)
            }
            Err(error) => {
                self.server = None;
                if matches!(error, Error::Guard) { Ok(Some((Outcome::Lost, Usage::default()))) } else { Err(error) }
            }
        }
    }
}

/// How an attempt to run the program went.
enum Ran {
    Done(Outcome, Usage),
    /// The fork server has ended, or must not be used again; it is started anew for the next input.
    Ended(Outcome, Usage),
    /// The program has not run on the input, or in a state that other inputs have left: a new server shall run it.
    Stale,
}

impl Restarting for ForkServer {
    fn pending(&mut self) -> &mut Pending {
        &mut self.pending
    }

    /// Lets the program begin on an input. If it is in no state to do so, there is no server then.
    fn begin(&mut self, input: &[u8]) -> Result<(), Error> {
        self.lost = None;
        let server = match &mut self.server {
            Some(server) => server,
            none => none.insert(Server::start(&self.program, self.instrumentation)?),
        };
        match server.begin(&self.program, input) {
            Ok(true) => Ok(()),
            Ok(false) => {
                self.server = None;
                Ok(())
            }
            Err(error) => {
                self.server = None;
                Err(error)
            }
        }
    }

    /// How the run that was begun has ended; a new server runs the input if this one could not.
    fn end(&mut self, input: &[u8]) -> Result<(Outcome, Usage), Error> {
        if let Some(ended) = self.attempt()? {
            return Ok(ended);
        }
        self.begin(input)?;
        Ok(self.attempt()?.unwrap_or((Outcome::Lost, Usage::default())))
    }
}

impl Target for ForkServer {
    fn start(&mut self, input: &[u8]) -> Result<(), Error> {
        self.start_pending(input)
    }

    fn finish(&mut self) -> Result<Run<'_>, Error> {
        let (outcome, usage) = self.finish_pending()?;
        let has_sum = !self.instrumentation.is_by_afl();
        let outcome = if has_sum { self.program.limits.judged(outcome, self.edges.total()) } else { outcome };
        static NOTHING: [crate::Captured; 2] = [crate::Captured::NONE; 2];
        let captured = self.server.as_ref().map(|server| server.guard.captured());
        let [stdout, stderr] = self.lost.as_ref().or(captured).unwrap_or(&NOTHING);
        Ok(Run { outcome, usage, edges: Some(&self.edges), stdout, stderr })
    }
}

impl Server {
    fn start(program: &Program, instrumentation: Instrumentation) -> Result<Server, Error> {
        let failed = |what: &str| Error::ForkServer { program: program.path().to_path_buf(), what: what.into() };
        let by = instrumentation.by.ok_or_else(|| {
            failed(
                "is not instrumented: build it with `gramjet cc`, `gramjet c++`, `gramjet cargo` or AFL++'s compilers",
            )
        })?;
        let scratch = Scratch::new()?;
        let mut parts = program.parts(&scratch)?;
        let (requests_read, requests) = pipe()?;
        let (answers, answers_written) = pipe()?;
        blocking(&requests_read)?;
        blocking(&answers)?;
        parts.descriptors.extend([(requests_read, CONTROL), (answers_written, CONTROL + 1)]);
        let mut variable = |name: &str, value: &str| parts.variables.push((name.into(), value.into()));
        let (counters, input) = match by {
            By::Gramjet => {
                let map = Memory::new(MAP_SIZE)?;
                let input = Memory::new(SHARED)?;
                variable("GRAMJET_MAP", "1");
                if instrumentation.is_deferred {
                    variable("GRAMJET_DEFERRED", "1");
                }
                parts.descriptors.extend([(map.descriptor()?, MAP), (input.descriptor()?, INPUT)]);
                (Counters::Own(map), input)
            }
            By::Afl => {
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
        let mut guard = Guard::new(parts, scratch.folder().to_path_buf())?;
        guard.start()?;
        let mut server = Server {
            guard,
            scratch,
            requests,
            answers,
            counters,
            input: Some(input),
            uses_shared_input: false,
            answers_itself: false,
            is_waiting: false,
            was_killed: false,
            swept: Instant::now(),
            process: 0,
            rounds: 0,
            begun: Instant::now(),
            deadline: Instant::now() + START,
        };
        server.greet(program, instrumentation.is_persistent)?;
        server.counters.take(&mut Edges::default());
        Ok(server)
    }

    /// The handshake, whichever it is.
    fn greet(&mut self, program: &Program, is_persistent: bool) -> Result<(), Error> {
        let failed = |what: String| Error::ForkServer { program: program.path().to_path_buf(), what };
        let kept = program.limits.kept_output;
        if !self.guard.streams().read_until(self.answers.as_raw_fd(), Some(START), kept) {
            return Err(failed(format!("did not reach its fork server within {START:?}")));
        }
        let gone = || failed("ended before its fork server answered".to_string());
        let first = self.word().ok_or_else(gone)?;
        let is_own = matches!(self.counters, Counters::Own(_));
        self.uses_shared_input = match first {
            GREETING if is_own => {
                let input = if program.reads_file() { 0 } else { protocol::SHARED_INPUT };
                let answers = if is_persistent { protocol::ANSWERS_ITSELF } else { 0 };
                self.say(input | answers).ok_or_else(gone)?;
                let taken = self.word().ok_or_else(gone)?;
                self.answers_itself = taken & protocol::ANSWERS_ITSELF != 0;
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

    /// AFL++ from 4.10 on; whether it takes inputs from shared memory.
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

    /// AFL++ up to 4.09; whether it takes inputs from shared memory.
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

    /// Lets the program begin on one input. Returns whether it could be told so.
    fn begin(&mut self, program: &Program, input: &[u8]) -> Result<bool, Error> {
        if self.give(input)? && !program.reads_file() {
            // Its standard input is the file that it has removed.
            return Ok(false);
        }
        self.guard.streams().clear();
        self.begun = Instant::now();
        self.deadline = self.begun + program.limits.time + GRACE;
        let was_killed = mem::take(&mut self.was_killed);
        Ok(self.say(u32::from(was_killed)).is_some())
    }

    /// Waits until the program has ended, or has run on the input.
    fn end(&mut self, program: &Program) -> Result<Ran, Error> {
        let begin = self.begun;
        let used = |begin: Instant| Usage { wall: begin.elapsed(), ..Usage::default() };
        let was_waiting = mem::take(&mut self.is_waiting);
        let process = if was_waiting { Some(self.process) } else { self.word().map(|process| process as libc::pid_t) };
        let Some(process) = process.filter(|&process| process > 1) else {
            return Ok(Ran::Ended(Outcome::Lost, used(begin)));
        };
        self.rounds = if process == self.process { self.rounds + 1 } else { 0 };
        self.process = process;
        let stopped = self.wait(program, process, begin);
        if stopped == Some(Outcome::Memory) && self.rounds > 0 {
            // Earlier inputs may have left the memory in use.
            return Ok(Ran::Stale);
        }
        if stopped == Some(Outcome::Processes) {
            return Ok(Ran::Ended(Outcome::Processes, used(begin)));
        }
        let Some(word) = (if stopped.is_none() { self.ready_word() } else { self.word() }) else {
            // It may have ended while it waited.
            let is_stale = was_waiting && stopped.is_none();
            return Ok(if is_stale { Ran::Stale } else { Ran::Ended(stopped.unwrap_or(Outcome::Lost), used(begin)) });
        };
        self.is_waiting = self.answers_itself && word == HAS_RUN;
        let status = word as i32;
        if stopped.is_some() {
            self.guard.streams().read_rest(program.limits.kept_output);
        }
        let outcome = match stopped {
            Some(outcome) => outcome,
            None if libc::WIFSTOPPED(status) => Outcome::Exit(0),
            None => outcome_of(status),
        };
        let usage = used(begin);
        if self.is_waiting && self.was_killed {
            return Ok(Ran::Ended(outcome, usage));
        }
        let is_whole = self.tidy(program, &outcome)?;
        Ok(if is_whole { Ran::Done(outcome, usage) } else { Ran::Ended(outcome, usage) })
    }

    /// Ends and removes the leftovers of the run, if it is time to look. Returns whether the server can be used again.
    fn tidy(&mut self, program: &Program, outcome: &Outcome) -> Result<bool, Error> {
        if !outcome.is_abnormal() && self.swept.elapsed() < SWEEP {
            return Ok(true);
        }
        let has_ended = self.guard.sweep()?.is_some();
        self.scratch.tidy();
        self.swept = Instant::now();
        Ok(!has_ended && program.limits.memory.is_none_or(|memory| resident(self.process) <= memory))
    }

    /// Waits until the program has a status; the outcome if it had to be ended for it.
    fn wait(&mut self, program: &Program, process: libc::pid_t, begin: Instant) -> Option<Outcome> {
        let limits = program.limits;
        loop {
            let left = limits.time.saturating_sub(begin.elapsed());
            if self.guard.streams().read_until(self.answers.as_raw_fd(), Some(left.min(TICK)), limits.kept_output) {
                return None;
            }
            let most = limits.processes as usize + 2;
            let outcome = match () {
                () if begin.elapsed() >= limits.time || is_interrupted() => Outcome::Timeout,
                // The server itself is one more process.
                () if self.guard.processes(most).len() >= most => return Some(Outcome::Processes),
                () if limits.memory.is_some_and(|memory| self.resident() > memory) => Outcome::Memory,
                () if limits.edges.is_some() && limits.is_beyond(self.counters.sum()) => Outcome::Edges,
                () => continue,
            };
            self.guard.kill(process);
            self.was_killed = true;
            return Some(outcome);
        }
    }

    /// Resident memory of all processes of the run, without the server.
    fn resident(&self) -> u64 {
        let processes = self.guard.processes(usize::MAX);
        processes.into_iter().filter(|&process| process != self.guard.server()).map(resident).sum()
    }

    /// Puts the input where the program takes it from. Returns whether that is another file than before.
    fn give(&mut self, input: &[u8]) -> Result<bool, Error> {
        if self.uses_shared_input
            && let Some(memory) = &mut self.input
        {
            let room = if matches!(self.counters, Counters::Own(_)) { SHARED } else { AFL_SHARED } - 4;
            let input = &input[..input.len().min(room)];
            memory.values::<u32>(0, 1)[0] = input.len() as u32;
            memory.values::<u8>(4, input.len()).copy_from_slice(input);
            return Ok(false);
        }
        self.scratch.write(input)
    }

    fn say(&mut self, word: u32) -> Option<()> {
        let bytes = word.to_ne_bytes();
        // SAFETY: the bytes of a live value. The pipe's reader may be gone: SIGPIPE is ignored in Rust programs.
        let written = unsafe { libc::write(self.requests.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
        (written == bytes.len() as isize).then_some(())
    }

    fn word(&mut self) -> Option<u32> {
        let mut bytes = [0; 4];
        self.read(&mut bytes)?;
        Some(u32::from_ne_bytes(bytes))
    }

    /// A word that can be read now.
    fn ready_word(&self) -> Option<u32> {
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
                -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                _ => return None,
            }
        }
        Some(())
    }
}
