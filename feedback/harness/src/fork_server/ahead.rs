//! Many inputs at a time: a process takes the next one itself as long as there is one.
//!
//! So the two processes do not take turns for each input, which costs more than a fast program takes. The results are
//! the same as with one input at a time, and come in the same order. Where the process ends, the fork server starts
//! another one, which goes on with the next input.

use std::mem;
use std::os::fd::AsRawFd;
use std::time::Instant;

use super::protocol::HAS_RUN;
use super::ring::Ring;
use super::server::{GRACE, Ran, Server};
use crate::command::Program;
use crate::edges::Edges;
use crate::error::Error;
use crate::guard::outcome_of;
use crate::interrupt::is_interrupted;
use crate::run::{Outcome, Usage};
use crate::watch::until_look;

/// Number of ticks that a process may take to answer once it has the result of the last input.
const ANSWERING: u32 = 20;

/// The inputs that a server has, and what its process does.
#[derive(Debug)]
pub(super) struct Ahead {
    ring: Ring,
    process: Process,
    /// The next input has begun no later, if the process runs.
    progress: Instant,
    /// The status with which the process has ended on the first input without a result.
    status: Option<u32>,
    /// The number of the input on which it had to be ended, and why.
    stopped: Option<(u32, Outcome)>,
    /// Whether it has ended while it answered, and its fork server with it. Results that are ready are still taken.
    is_lost: bool,
}

/// State of the process that takes inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Process {
    /// The process has ended, or not begun.
    None,
    Waits,
    /// The process runs, and its number was not read.
    Begins,
    Runs,
}

impl Process {
    fn runs(self) -> bool {
        matches!(self, Process::Begins | Process::Runs)
    }
}

impl Default for Ahead {
    fn default() -> Ahead {
        let (ring, status, stopped, is_lost) = Default::default();
        Ahead { ring, process: Process::None, progress: Instant::now(), status, stopped, is_lost }
    }
}

impl Ahead {
    /// Returns the number of inputs whose results were not taken.
    pub(super) fn held(&self) -> usize {
        self.ring.held()
    }
}

impl Server {
    /// Gives an input to run on after the others. The program begins on it at once if it is the only one; on others
    /// when it comes to them, or when their results are waited for.
    pub(super) fn give_ahead(&mut self, ahead: &mut Ahead, program: &Program, input: &[u8]) -> Option<bool> {
        let is_first = ahead.held() == 0;
        // The clock is not read for each input: it takes a good part of the time of a fast run. If inputs are held, the
        // last progress is nearly now, so a sweep comes only a little late.
        let now = if is_first { Instant::now() } else { ahead.progress };
        let is_to_be_swept = self.is_to_be_swept(now);
        // What earlier runs have left is ended, and memory looked at, while the process waits.
        if is_to_be_swept && !is_first && ahead.process.runs() || !ahead.ring.give(&mut self.input, input) {
            return Some(false);
        }
        if is_first {
            ahead.progress = Instant::now();
            if ahead.process == Process::Waits {
                ahead.ring.settle(&self.input);
            }
        }
        let begins = is_first && !ahead.process.runs() && !is_to_be_swept;
        (!begins || self.go_on(ahead, program)).then_some(true)
    }

    /// Waits for the result of the first input.
    pub(super) fn end_ahead(&mut self, ahead: &mut Ahead, program: &Program, edges: &mut Edges) -> Result<Ran, Error> {
        let (mut waits, mut is_told) = (0, false);
        loop {
            // After the last input the process answers. Until then it may write output, which belongs to this input.
            // On a busy machine that may take a while.
            let is_last = ahead.held() == 1 && ahead.process.runs();
            if ahead.ring.is_ready(&self.input) && (!is_last || waits > ANSWERING || ahead.is_lost) {
                // A library that was loaded has edges that are known from now on.
                let is_whole = self.counters.is_whole();
                let mut usage = ahead.ring.take(&self.input, edges, self.counters.known());
                let now = Instant::now();
                usage.wall = usage.wall.min(now.saturating_duration_since(self.begun));
                ahead.progress = now;
                let ran = Ran::Done(Outcome::Exit(0), usage);
                return Ok(if is_whole { ran } else { ran.at_the_end() });
            }
            if ahead.is_lost {
                return Ok(Ran::Stale);
            }
            if let Some(status) = ahead.status.take() {
                let stopped = ahead.stopped.take();
                let is_unchanged = self.counters.take(edges);
                if stopped.as_ref().is_some_and(|&(number, _)| number != ahead.ring.next()) {
                    // It had just come to this input when it was ended for the one before.
                    continue;
                }
                let usage = self.told_usage(self.usage_ahead(ahead).wall);
                ahead.ring.skip(&self.input);
                let outcome = stopped.map_or_else(|| outcome_of(status as i32), |(_, outcome)| outcome);
                let is_whole = self.tidy(program, &outcome)? && is_unchanged;
                return Ok(if is_whole { Ran::Done(outcome, usage) } else { Ran::Ended(outcome, usage) });
            }
            if !ahead.process.runs() {
                if ahead.process == Process::Waits && ahead.ring.is_in_map(&self.input) {
                    let usage = self.told_usage(self.usage_ahead(ahead).wall);
                    let is_whole = self.counters.take(edges);
                    ahead.ring.skip(&self.input);
                    let ran = Ran::Done(Outcome::Exit(0), usage);
                    return Ok(if is_whole { ran } else { ran.at_the_end() });
                }
                // A program can answer again and again, and never run.
                if ahead.process == Process::Waits && mem::replace(&mut is_told, true) {
                    self.counters.take(edges);
                    return Ok(Ran::Ended(Outcome::Lost, self.usage_ahead(ahead)));
                }
                if !self.tidy(program, &Outcome::Exit(0))? || !self.go_on(ahead, program) {
                    return Ok(Ran::Stale);
                }
            }
            waits += 1;
            if let Some(ran) = self.wait_ahead(ahead, program) {
                self.counters.take(edges);
                return Ok(ran);
            }
        }
    }

    /// Returns the time of the run that is not at its end: since the program has said that it begins, or was told to go
    /// on.
    fn usage_ahead(&self, ahead: &Ahead) -> Usage {
        let since = self.begun.elapsed();
        // A program can write any time.
        let wall = ahead.ring.elapsed(&self.input).unwrap_or(since).max(ahead.progress.elapsed());
        Usage { wall: wall.min(since), ..Usage::default() }
    }

    /// Lets the process go on with the inputs that it has, or another one begin. Returns whether that is so.
    fn go_on(&mut self, ahead: &mut Ahead, program: &Program) -> bool {
        self.begin_clock(program);
        let was_killed = mem::take(&mut self.was_killed);
        ahead.progress = self.begun;
        (ahead.status, ahead.stopped) = (None, None);
        ahead.ring.settle(&self.input);
        if !self.is_quiet() || self.say(u32::from(was_killed)).is_none() {
            return false;
        }
        ahead.process = if ahead.process == Process::Waits { Process::Runs } else { Process::Begins };
        if ahead.process == Process::Begins {
            self.process.rounds = 0;
        }
        true
    }

    /// Waits until there may be a result. Returns how the run has ended if the server cannot be used again.
    fn wait_ahead(&mut self, ahead: &mut Ahead, program: &Program) -> Option<Ran> {
        let limits = program.limits;
        if ahead.process == Process::Begins {
            match self.word() {
                Some(process @ 2..) => (self.process.number, ahead.process) = (process as libc::pid_t, Process::Runs),
                _ if is_interrupted() => return Some(Ran::Ended(Outcome::Timeout, self.usage_ahead(ahead))),
                _ => return Some(Ran::Stale),
            }
        }
        let time = until_look(&limits, self.usage_ahead(ahead).wall);
        if self.guard.streams().read_until(self.answers.as_raw_fd(), Some(time), limits.kept_output) {
            match self.ready_word() {
                Some(HAS_RUN) => ahead.process = Process::Waits,
                Some(status) if !self.is_credible(status as i32) => return Some(Ran::Stale),
                Some(status) => (ahead.process, ahead.status) = (Process::None, Some(status)),
                None => ahead.is_lost = true,
            }
            return None;
        }
        if ahead.ring.is_ready(&self.input) {
            // It may have written after the last look.
            self.guard.streams().read_rest(limits.kept_output);
            return None;
        }
        let usage = self.usage_ahead(ahead);
        let outcome = self.exceeded(program, usage.wall)?;
        if outcome == Outcome::Memory && self.process.rounds > 0 {
            // Earlier inputs may have left the memory in use.
            return Some(Ran::Stale);
        }
        if outcome == Outcome::Processes {
            return Some(Ran::Ended(outcome, usage));
        }
        if matches!(outcome, Outcome::Stopped | Outcome::Timeout) && self.is_cut_off() {
            return Some(Ran::Stale);
        }
        self.guard.kill(self.process.number);
        self.was_killed = true;
        self.deadline = Instant::now() + GRACE;
        match self.word() {
            Some(HAS_RUN) => ahead.is_lost = true,
            Some(status) if !self.is_credible(status as i32) => return Some(Ran::Stale),
            Some(status) => {
                (ahead.process, ahead.status) = (Process::None, Some(status));
                ahead.stopped = Some((ahead.ring.next(), outcome));
            }
            None if ahead.ring.is_ready(&self.input) => ahead.is_lost = true,
            None => return Some(Ran::Ended(outcome, usage)),
        }
        self.guard.streams().read_rest(limits.kept_output);
        None
    }
}
