//! Programs that call the functions of each language.

use super::subject::{Language, Subject};
use super::{java, node, python};
use crate::command::Program;
use crate::error::Error;
use crate::run::{Captured, Outcome};

/// Returns the program that calls a function.
pub(super) fn program(subject: &Subject) -> Result<Program, Error> {
    Ok(subject.set_up(match subject.language() {
        Language::Python { module, function } => python::program(subject, module, function)?,
        Language::Java { class_path, class, method } => java::program(subject, class_path, class, method)?,
        Language::Node { file, function } => node::program(subject, file, function)?,
    }))
}

/// Returns the meaning of an outcome in the language, as far as `stderr` shows it.
pub(super) fn outcome(subject: &Subject, outcome: Outcome, stderr: &Captured) -> Outcome {
    match subject.language() {
        Language::Python { .. } | Language::Java { .. } => outcome,
        Language::Node { .. } => node::outcome(outcome, stderr),
    }
}
