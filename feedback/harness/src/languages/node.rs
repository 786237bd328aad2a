//! Functions of Node, counted by counters that their modules get when they are loaded.

use super::subject::Subject;
use crate::command::Program;
use crate::error::Error;
use crate::run::{Captured, Outcome};

/// Source of the worker. The block keeps what comes first from the function.
const WORKER: &str = concat!(
    "{\n",
    include_str!("../../workers/constants.js"),
    include_str!("../../workers/expressions.js"),
    include_str!("../../workers/worker.js"),
    "}\n"
);
/// V8's message on standard error when its heap is full, before it aborts.
const HEAP_IS_FULL: &[u8] = b"JavaScript heap out of memory";

/// Returns the interpreter with its worker.
pub(super) fn program(subject: &Subject, file: &str, function: &str) -> Result<Program, Error> {
    let kind = if subject.takes_text { "text" } else { "bytes" };
    // The worker takes the parser for JavaScript that is part of Node.
    let mut arguments = vec!["--expose-internals".to_string()];
    if let Some(memory) = subject.limits.memory {
        // V8 notices that its heap is full sooner than the limit is reached, so its garbage is collected before.
        arguments.push(format!("--max-old-space-size={}", (memory >> 20) * 3 / 4));
    }
    arguments.extend(
        ["-e", WORKER, "--", file, function, kind, subject.counting.name(), subject.telling_name()].map(String::from),
    );
    Program::new(subject.interpreter_or("node"), arguments)
}

/// Returns the outcome of a run: out of memory is an abort in V8.
pub(super) fn outcome(outcome: Outcome, stderr: &Captured) -> Outcome {
    match outcome {
        Outcome::Signal(_) if memchr::memmem::find(&stderr.bytes, HEAP_IS_FULL).is_some() => Outcome::Memory,
        outcome => outcome,
    }
}
