//! Finds the notation of a file by its name and its text, and says so where that is not certain.

use super::{ALL, Format, ebnf, foreign};
use crate::diagnostics::{Code, Diagnostic, SourceFile};

/// The notation that a file is taken to have.
#[derive(Clone)]
pub struct Recognised {
    /// The format that reads it.
    pub format: &'static dyn Format,
    /// A finding: a warning if the notation is not certain, an error if no format reads it.
    pub finding: Option<Diagnostic>,
}

/// Returns the notation of a file. Candidates are the formats with its extension, or all formats if there are none. The
/// first that the text looks like is taken. If there is none, the first with the extension, else our EBNF.
pub fn recognise(file: &SourceFile) -> Recognised {
    let certain = |format| Recognised { format, finding: None };
    let fits = |format: &&'static dyn Format| format.looks_like(file.text());
    if let Some(called) = ALL.iter().copied().find(|format| format.is_called(file.name())) {
        return certain(called);
    }
    let extension = extension(file.name()).to_ascii_lowercase();
    let known = || ALL.iter().copied().filter(|format| format.extensions().contains(&extension.as_str()));
    let first = known().next();
    if first.is_some()
        && let Some(format) = known().find(fits)
    {
        return certain(format);
    }
    if first.is_none()
        && let Some(format) = ALL.iter().copied().find(|format| format.is_surely(file.text()))
    {
        return certain(format);
    }
    let foreign = foreign::find(file.text());
    if let Some(first) = first {
        return Recognised { format: first, finding: foreign.map(|found| found.doubt(first.name())) };
    }
    if let Some(found) = foreign {
        return Recognised { format: &ebnf::Ebnf, finding: Some(found.refusal()) };
    }
    match ALL.iter().copied().find(fits) {
        // Texts without a name are usually in the EBNF.
        Some(format) if extension.is_empty() && format.name() == ebnf::Ebnf.name() => certain(format),
        Some(format) => {
            let message = format!("this looks like `{}`, and is read as that", format.name());
            Recognised { format, finding: Some(guess(message)) }
        }
        None => {
            let message = "nothing in this file says what notation it is in; it is read as `ebnf`";
            Recognised { format: &ebnf::Ebnf, finding: Some(guess(message.to_string())) }
        }
    }
}

/// Returns the extension of a file's name.
fn extension(name: &str) -> &str {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}

fn guess(message: String) -> Diagnostic {
    let help = "`--format NAME` says what it is, and so does the extension of a notation";
    Diagnostic::warning(Code::Notation, None, message).help(help)
}
