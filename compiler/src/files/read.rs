//! Reading with a size limit, and the diagnostics for files that cannot be read.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::SourceFile;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};

/// Larger files are refused.
pub const MAX_BYTES: u64 = 256 << 20;

/// The word for a grammar file in messages.
pub(crate) const GRAMMAR: &str = "grammar";

/// The reason why a file cannot be compiled.
#[derive(Clone, Debug)]
pub struct Unreadable {
    /// The file, with the text that could be decoded.
    pub source: SourceFile,
    /// The error.
    pub diagnostic: Box<Diagnostic>,
    /// The error in a few words, without the name of the file.
    pub(crate) why: String,
}

impl Unreadable {
    /// Returns the error `message` about the file `name`.
    pub fn new(name: impl Into<String>, message: impl Into<String>) -> Unreadable {
        let message = message.into();
        let diagnostic = Diagnostic::error(Code::UnreadableFile, None, message.clone());
        Unreadable { source: SourceFile::new(name, ""), diagnostic: Box::new(diagnostic), why: message }
    }

    /// Returns the error of the operating system for the file `name`, which is a `kind` of file.
    pub(crate) fn by_system(kind: &str, name: &str, error: &io::Error) -> Unreadable {
        let message = format!("cannot read the {kind} {}: {error}", quoted(name));
        Unreadable { why: error.to_string(), ..Unreadable::new(name, message) }
    }

    /// Returns the diagnostic as a list.
    pub fn diagnostics(&self) -> Diagnostics {
        let mut diagnostics = Diagnostics::default();
        diagnostics.push((*self.diagnostic).clone());
        diagnostics
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.diagnostic.message)
    }
}

impl std::error::Error for Unreadable {}

fn quoted(name: &str) -> String {
    format!("`{}`", name.escape_debug())
}

/// Reads everything from `path`.
///
/// # Errors
///
/// If it cannot be read, or is larger than [`MAX_BYTES`].
pub fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    if path.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
    }
    read_limited(File::open(path)?)
}

/// Reads everything from a stream.
///
/// # Errors
///
/// If it cannot be read, or is larger than [`MAX_BYTES`].
pub fn read_limited(stream: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {} MiB", MAX_BYTES >> 20)));
    }
    Ok(bytes)
}

/// Returns the text at `path`. Diagnostics call the file `shown` and its type `kind`.
///
/// # Errors
///
/// If it cannot be read, is larger than [`MAX_BYTES`], or is not UTF-8.
pub fn read_text(kind: &str, path: &Path, shown: &Path) -> Result<SourceFile, Unreadable> {
    let shown = shown.display().to_string();
    let bytes = read_bytes(path).map_err(|error| Unreadable::by_system(kind, &shown, &error))?;
    utf8(kind, &shown, bytes)
}

/// Returns the text of a stream. Diagnostics call it `shown` and its type `kind`.
///
/// # Errors
///
/// If it cannot be read, is larger than [`MAX_BYTES`], or is not UTF-8.
pub fn read_text_stream(kind: &str, stream: impl Read, shown: &str) -> Result<SourceFile, Unreadable> {
    let bytes = read_limited(stream).map_err(|error| Unreadable::by_system(kind, shown, &error))?;
    utf8(kind, shown, bytes)
}

/// Decodes `bytes` as UTF-8. Diagnostics call the file `name` and its type `kind`.
pub(crate) fn utf8(kind: &str, name: &str, bytes: Vec<u8>) -> Result<SourceFile, Unreadable> {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return Ok(SourceFile::new(name, text)),
        Err(error) => error,
    };
    let valid = error.utf8_error().valid_up_to();
    let mut bytes = error.into_bytes();
    let line = bytes[..valid].iter().filter(|&&byte| byte == b'\n').count() + 1;
    let byte = bytes.get(valid).copied().unwrap_or(0);
    bytes.truncate(valid);
    let why = format!("it is not UTF-8 text: byte 0x{byte:02x} at offset {valid} (line {line})");
    let mut diagnostic = Diagnostic::error(
        Code::UnreadableFile,
        Span::new(valid, valid),
        format!("cannot read the {kind} {}: {why}", quoted(name)),
    );
    if kind == GRAMMAR {
        diagnostic = diagnostic.help("grammars are text in UTF-8; bytes are written as escapes");
    }
    // The remaining bytes have been checked and are valid.
    let text = String::from_utf8(bytes).unwrap_or_default();
    Err(Unreadable { source: SourceFile::new(name, text), diagnostic: Box::new(diagnostic), why })
}
