//! Programs with a fork server: they are started once, and fork for each input, or take many inputs in one process.
//!
//! Programs built by `gramjet cc` and its kin and programs built by AFL++ (4.04 to 4.40) are recognised by marks in
//! their file.

mod ahead;
mod counters;
mod detect;
mod protocol;
mod ring;
mod server;
mod turn;

use std::collections::VecDeque;

pub use detect::{Instrumentation, instrumentation};
use server::{Ran, Server};

use crate::command::Program;
use crate::edges::Edges;
use crate::error::Error;
use crate::locations::Locations;
use crate::run::{Measures, Outcome, Run, Usage};
use crate::target::{Target, again};

/// Number of servers that an input may end before it counts as one that ends them.
const ATTEMPTS: usize = 3;

/// Bytes of memory that are kept for each of the next inputs.
const KEPT: usize = 1 << 20;

/// A program that is started once and forks for each input.
pub struct ForkServer {
    program: Program,
    instrumentation: Instrumentation,
    server: Option<Server>,
    /// Parts of the usage of a run that it tells.
    measures: Measures,
    /// Inputs that can be started before one is finished.
    room: usize,
    /// Inputs that were started and not finished, and memory for others.
    inputs: VecDeque<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    edges: Edges,
    /// The output of the program in a run that has ended its server.
    lost: Option<[crate::Captured; 2]>,
    /// Number of inputs that the process of the last run had had before.
    earlier: u32,
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
            instrumentation,
            measures: Measures {
                cpu: server.agreed.tells_usage,
                peak_memory: server.agreed.tells_usage && !instrumentation.is_persistent,
                allocated: program.demanded.allocations,
                stack: program.demanded.stack && !instrumentation.is_persistent,
            },
            program,
            room: server.room(),
            server: Some(server),
            inputs: VecDeque::new(),
            spare: Vec::new(),
            edges: Edges::default(),
            lost: None,
            earlier: 0,
        })
    }

    /// Returns the program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns how the program is instrumented.
    pub fn instrumentation(&self) -> Instrumentation {
        self.instrumentation
    }

    /// Returns what is known of the usage of a run. Programs that AFL++ or an earlier version has built tell nothing;
    /// those that take many inputs in one process tell the processor time if [`Program::times_rounds`] asks for it.
    pub fn measures(&self) -> Measures {
        self.measures
    }

    /// Returns the locations of the edges that the program has; those of gcc's programs as soon as they were executed.
    pub fn locations(&mut self) -> Locations {
        let program = self.program.path();
        if self.server.is_none() {
            self.server = Server::start(&self.program, self.instrumentation).ok();
        }
        self.server.as_mut().map_or_else(Locations::default, |server| server.counters.locations(program))
    }

    /// Gives the program the inputs that it does not have, as far as there is room, and no more than `most` of all. If
    /// it is in no state to take them, there is no server then.
    fn give(&mut self, most: usize) -> Result<(), Error> {
        let server = match &mut self.server {
            Some(server) => server,
            none => none.insert(again(|| Server::start(&self.program, self.instrumentation))?),
        };
        for input in self.inputs.iter().take(most).skip(server.held()) {
            match server.give(&self.program, input) {
                Ok(Some(true)) => {}
                Ok(Some(false)) => break,
                Ok(None) => {
                    self.server = None;
                    break;
                }
                Err(error) => {
                    self.server = None;
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Returns how the run on the first input has ended; `None` if a new server must run it.
    fn attempt(&mut self) -> Result<Option<(Outcome, Usage)>, Error> {
        let Some(server) = &mut self.server else { return Ok(None) };
        let ran = server.end(&self.program, &mut self.edges);
        self.earlier = server.process.earlier;
        match ran {
            Ok(Ran::Done(outcome, usage)) => Ok(Some((outcome, usage))),
            Ok(Ran::Ended(outcome, usage)) => {
                self.lost = Some(server.captured().clone());
                self.server = None;
                Ok(Some((outcome, usage)))
            }
            Ok(Ran::Stale) => {
                self.lost = Some(server.captured().clone());
                self.server = None;
                self.edges = Edges::default();
                Ok(None)
            }
            Err(error) => {
                self.server = None;
                self.edges = Edges::default();
                if matches!(error, Error::Guard) { Ok(Some((Outcome::Lost, Usage::default()))) } else { Err(error) }
            }
        }
    }

    /// Returns how the run on the first input has ended; a new server runs it if this one could not.
    fn end(&mut self) -> Result<(Outcome, Usage), Error> {
        for attempt in 0..ATTEMPTS {
            // An input after the first may have ended the last server.
            self.give(if attempt == 0 { self.room } else { 1 })?;
            self.lost = None;
            if let Some(ended) = self.attempt()? {
                return Ok(ended);
            }
        }
        Ok((Outcome::Lost, Usage::default()))
    }
}

impl Target for ForkServer {
    fn room(&self) -> usize {
        self.room
    }

    fn start(&mut self, input: &[u8]) -> Result<(), Error> {
        if self.inputs.len() >= self.room {
            self.finish()?;
        }
        let mut own = self.spare.pop().unwrap_or_default();
        own.clear();
        own.extend_from_slice(input);
        self.inputs.push_back(own);
        let given = self.give(self.room);
        if given.is_err() {
            self.inputs.pop_back();
        }
        given
    }

    fn renew(&mut self) -> Result<(), Error> {
        while !self.inputs.is_empty() {
            self.finish()?;
        }
        self.server = None;
        Ok(())
    }

    fn finish(&mut self) -> Result<Run<'_>, Error> {
        assert!(!self.inputs.is_empty(), "a run was begun");
        let ended = self.end();
        // Memory for long inputs is not kept.
        self.spare.extend(self.inputs.pop_front().filter(|input| input.capacity() <= KEPT));
        let (outcome, usage) = ended?;
        let has_sum = !self.instrumentation.is_by_afl();
        let outcome = if has_sum { self.program.limits.judged(outcome, self.edges.total()) } else { outcome };
        static NOTHING: [crate::Captured; 2] = [crate::Captured::NONE; 2];
        let captured = self.server.as_ref().map(Server::captured);
        let [stdout, stderr] = self.lost.as_ref().or(captured).unwrap_or(&NOTHING);
        Ok(Run {
            outcome,
            earlier: u64::from(self.earlier),
            usage,
            edges: Some(&self.edges),
            place: None,
            stdout,
            stderr,
        })
    }
}
