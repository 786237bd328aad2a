//! Functions of other languages: Python, Node and Java, each in a worker process that stays alive and counts executed
//! edges.

mod calls;
mod cold;
mod expressions;
mod java;
mod node;
mod protocol;
mod python;
mod stack;
mod subject;
mod table;
mod worker;

use std::mem;

use cold::Cold;
pub use expressions::RegularExpression;
pub use subject::{Counting, Language, Subject, Telling};
pub use table::EdgePlace;
use table::Table;
use worker::{Ended, Told, Worker};

use crate::edges::Edges;
use crate::error::Error;
use crate::run::{Captured, Outcome, Run, Usage};
use crate::target::Target;

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
    cold: Cold,
    /// Whether the next process is to be as any other, as it shows what happens in one.
    is_plain: bool,
    table: Table,
    /// Facts that it has told of its code.
    told: Told,
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
        let told = worker.take_told();
        // Later processes would find the same.
        subject.telling = Telling::Nothing;
        Ok(Function {
            subject,
            worker: Some(worker),
            input: Vec::new(),
            is_begun: false,
            earlier: 0,
            cold: Cold::default(),
            is_plain: false,
            table,
            told,
            edges: Edges::default(),
            place: None,
            captured: Default::default(),
        })
    }

    /// Returns the constants that its code compares, if [`Telling::Words`] has asked for them: at most 512
    /// words of at most 32 bytes each. There are none of Java.
    pub fn words(&self) -> &[Vec<u8>] {
        &self.told.words
    }

    /// Returns the regular expressions of its code, if [`Telling::Expressions`] has asked for them: at most 1024
    /// of at most 4096 bytes each. There are none of Java.
    pub fn expressions(&self) -> &[RegularExpression] {
        &self.told.expressions
    }

    /// Returns the place of an edge in the sources.
    pub fn place(&self, edge: u32) -> Option<&EdgePlace> {
        self.table.place(edge)
    }

    /// Lets a worker process begin to call the function.
    fn begin(&mut self) -> Result<(), Error> {
        let Function { subject, table, cold, is_plain, .. } = self;
        let mut known = self.worker.take();
        if !known.as_mut().is_some_and(|worker| worker.is_quiet(subject, table)) {
            // Its processes end before another one begins.
            drop(known.take());
        }
        let worker = match known {
            Some(worker) => worker,
            None => cold.start(subject, table, mem::take(is_plain))?,
        };
        let worker = self.worker.insert(worker);
        worker.begin(&self.input);
        Ok(())
    }

    /// Returns how the call has ended.
    fn end(&mut self) -> Result<(Outcome, Usage), Error> {
        // It is not used again after an error.
        let mut process = self.worker.take();
        self.place = None;
        let ended = self.cold.wait(&mut process, &self.input, &self.subject, &mut self.table);
        let mut worker = match process {
            Some(worker) => worker,
            // Another one could not be started.
            None => return ended.map(|ended| (ended.outcome, ended.usage)),
        };
        let Ended { outcome, usage, place } = match ended {
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
        self.cold.learn(&self.input, (&outcome, &usage), self.edges.executed().len(), &self.subject);
        self.captured = worker.take_output();
        if worker.is_alive() {
            self.worker = Some(worker);
        }
        Ok((outcome, usage))
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
        (self.worker, self.is_plain) = (None, true);
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
