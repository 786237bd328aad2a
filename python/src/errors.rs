//! What goes wrong, as exceptions.

use gramjet_session::{LanguageError, Mismatch, ParseError as Cause};
use pyo3::prelude::*;

use crate::{GrammarError, ParseError};

/// A grammar or settings that cannot be used.
pub fn unusable(error: LanguageError) -> PyErr {
    GrammarError::new_err(error.to_string().trim_end().to_string())
}

/// A text that has no derivation.
pub fn mismatch(py: Python<'_>, text: &[u8], error: &Cause) -> PyErr {
    let offset = match error {
        Cause::Mismatch(mismatch) => Some(mismatch.offset),
        Cause::Steps { offset, .. } | Cause::Memory { offset, .. } => Some(*offset),
        Cause::TooLong { .. } => None,
    };
    let place = offset.map(|offset| place(text, offset));
    let mut message = place.map_or_else(|| error.to_string(), |(line, column)| format!("{line}:{column}: {error}"));
    let mut rule = None;
    if let Cause::Mismatch(Mismatch { within: Some((name, offset)), .. }) = error {
        let (line, column) = self::place(text, *offset);
        message += &format!("\n  in `{name}`, which begins at {line}:{column}");
        rule = Some(name);
    }
    let exception = ParseError::new_err(message);
    if let Err(error) = exception.value(py).setattr("rule", rule) {
        return error;
    }
    let attributes = [("offset", offset), ("line", place.map(|place| place.0)), ("column", place.map(|place| place.1))];
    for (name, value) in attributes {
        if let Err(error) = exception.value(py).setattr(name, value) {
            return error;
        }
    }
    exception
}

/// Line and column of an offset, both from 1; columns count characters.
fn place(text: &[u8], offset: usize) -> (usize, usize) {
    let before = &text[..offset.min(text.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let lines = before.iter().filter(|&&byte| byte == b'\n').count();
    // Bytes that do not continue a character of UTF-8 begin one.
    let characters = before[line_start..].iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
    (lines + 1, characters + 1)
}
