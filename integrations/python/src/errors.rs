//! Errors as exceptions.

use gramjet_session::{LanguageError, Mismatch, ParseError as Cause, place};
use pyo3::prelude::*;

use crate::{GrammarError, ParseError};

/// Returns the error of a grammar or settings that cannot be used.
pub fn unusable(error: LanguageError) -> PyErr {
    GrammarError::new_err(error.to_string().trim_end().to_string())
}

/// Returns the error of a text that has no derivation.
pub fn mismatch(py: Python<'_>, text: &[u8], error: &Cause) -> PyErr {
    let offset = match error {
        Cause::Mismatch(mismatch) => Some(mismatch.offset),
        Cause::Steps { offset, .. } | Cause::Memory { offset, .. } => Some(*offset),
        Cause::TooLong { .. } => None,
    };
    let found = error.place(text);
    let mut message = found.map_or_else(|| error.to_string(), |(line, column)| format!("{line}:{column}: {error}"));
    let mut rule = None;
    if let Cause::Mismatch(Mismatch { within: Some((name, offset)), .. }) = error {
        let (line, column) = place(text, *offset);
        message += &format!("\n  in `{name}`, which begins at {line}:{column}");
        rule = Some(name);
    }
    let exception = ParseError::new_err(message);
    if let Err(error) = exception.value(py).setattr("rule", rule) {
        return error;
    }
    let attributes = [("offset", offset), ("line", found.map(|place| place.0)), ("column", found.map(|place| place.1))];
    for (name, value) in attributes {
        if let Err(error) = exception.value(py).setattr(name, value) {
            return error;
        }
    }
    exception
}
