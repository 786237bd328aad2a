//! Texts that do not conform to a grammar: the place, and the expectation.

use std::path::Path;

use gramjet_parse::{ParseError, place};

/// Returns `name:line:column: ...`, lines and columns from 1, columns in characters.
pub fn describe(file: &Path, text: &[u8], error: &ParseError) -> String {
    let name = if file.as_os_str() == "-" { "<stdin>".to_string() } else { file.display().to_string() };
    let name = name.escape_debug();
    match error {
        ParseError::Mismatch(mismatch) => {
            let within = mismatch.within.as_ref().map_or_else(String::new, |(rule, offset)| {
                let (line, column) = place(text, *offset);
                format!("\n  in `{rule}`, which begins at {line}:{column}")
            });
            let (line, column) = place(text, mismatch.offset);
            format!("{name}:{line}:{column}: byte {}: {}{within}", mismatch.offset, mismatch.message())
        }
        ParseError::Steps { offset, .. } | ParseError::Memory { offset, .. } => {
            let (line, column) = place(text, *offset);
            let bound = if matches!(error, ParseError::Steps { .. }) { "--max-steps" } else { "--max-memory" };
            format!("{name}:{line}:{column}: {error}; `{bound}` raises the bound")
        }
        ParseError::TooLong { .. } => format!("{name}: {error}"),
    }
}
