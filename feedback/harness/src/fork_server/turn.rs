//! One input at a time: a new process runs on each, or one that waits after each.

use std::mem;
use std::os::fd::AsRawFd;
use std::time::Instant;

use super::counters::Counters;
use super::protocol::HAS_RUN;
use super::ring;
use super::server::{AFL_SHARED, Ran, Server};
use crate::command::Program;
use crate::demand::Demand;
use crate::error::Error;
use crate::guard::outcome_of;
use crate::run::{Outcome, Usage};
use crate::watch::until_look;

impl Server {
    /// Lets the program begin on one input. Returns whether it could be told so.
    pub(super) fn begin(&mut self, program: &Program, input: &[u8]) -> Result<bool, Error> {
        // What an earlier run has left could change the input while this one reads it, and its allocations would count.
        let is_at_risk = !self.agreed.uses_shared_input || self.turn.demand.is_some();
        if is_at_risk && self.guard.has_leftovers() && !self.clear(program)? {
            return Ok(false);
        }
        if self.put(input)? || !self.is_quiet() {
            // The files that it knows are no longer its own, or what it has written would be taken for an answer.
            return Ok(false);
        }
        self.turn.demand.iter().for_each(Demand::begin);
        self.begin_clock(program);
        let was_killed = mem::take(&mut self.was_killed);
        self.turn.has_input = self.say(u32::from(was_killed)).is_some();
        Ok(self.turn.has_input)
    }

    /// Waits until the program has ended, or has run on the input.
    pub(super) fn end_turn(&mut self, program: &Program) -> Result<Ran, Error> {
        let begin = self.begun;
        let used = |begin: Instant| Usage { wall: begin.elapsed(), ..Usage::default() };
        let was_waiting = mem::take(&mut self.turn.is_waiting);
        let process =
            if was_waiting { Some(self.process.number) } else { self.word().map(|process| process as libc::pid_t) };
        let Some(process) = process.filter(|&process| process > 1) else {
            return Ok(Ran::Ended(Outcome::Lost, used(begin)));
        };
        self.process.rounds = if process == self.process.number { self.process.rounds + 1 } else { 0 };
        self.process.number = process;
        let (stopped, is_cut_off) = self.wait(program, process, begin);
        if stopped == Some(Outcome::Memory) && self.process.rounds > 0 {
            // Earlier inputs may have left the memory in use.
            return Ok(Ran::Stale);
        }
        if stopped == Some(Outcome::Processes) {
            return Ok(Ran::Ended(Outcome::Processes, used(begin)));
        }
        if matches!(stopped, Some(Outcome::Stopped | Outcome::Timeout)) && is_cut_off {
            return Ok(Ran::Stale);
        }
        let Some(word) = (if stopped.is_none() { self.ready_word() } else { self.word() }) else {
            // It may have ended while it waited, or what an earlier run has left may have read the answer.
            return Ok(stopped.map_or(Ran::Stale, |outcome| Ran::Ended(outcome, used(begin))));
        };
        self.turn.is_waiting = self.agreed.answers_itself && word == HAS_RUN;
        let status = word as i32;
        if !self.turn.is_waiting && !self.is_credible(status) {
            return Ok(Ran::Stale);
        }
        if stopped.is_some() {
            self.guard.streams().read_rest(program.limits.kept_output);
        }
        let has_run = self.turn.is_waiting || self.agreed.stops_when_it_has_run && word == HAS_RUN;
        let outcome = match stopped {
            Some(outcome) => outcome,
            None if has_run => Outcome::Exit(0),
            None if libc::WIFSTOPPED(status) => {
                self.guard.kill(process);
                self.was_killed = true;
                Outcome::Stopped
            }
            None => outcome_of(status),
        };
        let usage = self.told_usage(begin.elapsed());
        if self.turn.is_waiting && self.was_killed {
            return Ok(Ran::Ended(outcome, usage));
        }
        let is_whole = self.tidy(program, &outcome)?;
        Ok(if is_whole { Ran::Done(outcome, usage) } else { Ran::Ended(outcome, usage) })
    }

    /// Waits until the program has a status. Returns the outcome if it had to be ended for it, and whether that was for
    /// a reason that is not its own.
    fn wait(&mut self, program: &Program, process: libc::pid_t, begin: Instant) -> (Option<Outcome>, bool) {
        let limits = program.limits;
        loop {
            let time = until_look(&limits, begin.elapsed());
            if self.guard.streams().read_until(self.answers.as_raw_fd(), Some(time), limits.kept_output) {
                return (None, false);
            }
            let Some(outcome) = self.exceeded(program, begin.elapsed()) else { continue };
            if outcome == Outcome::Processes {
                return (Some(outcome), false);
            }
            let is_cut_off = self.is_cut_off();
            self.guard.kill(process);
            self.was_killed = true;
            return (Some(outcome), is_cut_off);
        }
    }

    /// Puts the input where the program takes it from. Returns true if the program must be started anew for it.
    fn put(&mut self, input: &[u8]) -> Result<bool, Error> {
        if self.agreed.uses_shared_input {
            let room = if matches!(self.counters, Counters::Own(_)) { ring::ALONE } else { AFL_SHARED } - 4;
            let input = &input[..input.len().min(room)];
            self.input.values::<u32>(0, 1)[0] = input.len() as u32;
            self.input.values::<u8>(4, input.len()).copy_from_slice(input);
            return Ok(false);
        }
        self.scratch.write(input)
    }
}
