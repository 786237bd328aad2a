//! Functions of Python 3, counted by `sys.monitoring` from 3.12 on (entries of functions, branches, loops), by
//! `sys.settrace` before (lines).

use super::subject::Subject;
use crate::command::Program;
use crate::error::Error;

/// Source of the worker. The parts that count, and that find constants and regular expressions, come first, as the rest
/// uses them.
const WORKER: &str = concat!(
    include_str!("../../workers/counting.py"),
    include_str!("../../workers/constants.py"),
    include_str!("../../workers/expressions.py"),
    include_str!("../../workers/worker.py")
);

/// Returns the interpreter with its worker.
pub(super) fn program(subject: &Subject, module: &str, function: &str) -> Result<Program, Error> {
    let kind = if subject.takes_text { "text" } else { "bytes" };
    let arguments = ["-c", WORKER, module, function, kind, subject.counting.name(), subject.telling_name()]
        .into_iter()
        .chain(subject.own.iter().map(String::as_str));
    let program = Program::new(subject.interpreter_or("python3"), arguments)?;
    Ok(program
        // Sets of strings have one order in all processes, so that counts are the same.
        .variable("PYTHONHASHSEED", "0")
        .variable("PYTHONDONTWRITEBYTECODE", "1"))
}
