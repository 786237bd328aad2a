//! Reads the files of a grammar. The command, the macro, build scripts and sessions all use this crate.
//!
//! A [`GrammarFile`] is a grammar's text with a loader for the files beside it: imported grammars, the lexer of a
//! parser, the texts of tokens. [`look_up`] says whether a name is a file or a shipped grammar. A file that cannot be
//! read is reported as a diagnostic, as are all errors in a grammar.

mod beside;
mod read;

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::SourceFile;
use crate::formats::Loader;

pub use beside::Beside;
pub use read::{MAX_BYTES, Unreadable, read_bytes, read_limited, read_text, read_text_stream};

/// A grammar's text, and the files beside it.
#[derive(Clone, Debug)]
pub struct GrammarFile {
    /// The text, under the name that diagnostics show.
    pub source: SourceFile,
    /// The loader for its other files. A text by itself has none.
    pub beside: Option<Arc<Beside>>,
}

impl GrammarFile {
    /// Returns the file at `path`.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn read(path: &Path) -> Result<GrammarFile, Unreadable> {
        GrammarFile::read_as(path, path)
    }

    /// Returns the file at `path`. Diagnostics call it `shown`, and name the files beside it accordingly.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn read_as(path: &Path, shown: &Path) -> Result<GrammarFile, Unreadable> {
        let source = read_text("grammar", path, shown)?;
        Ok(GrammarFile { source, beside: Some(Arc::new(Beside::new(folder(path), folder(shown)))) })
    }

    /// Returns the text of a stream. Diagnostics call it `shown`. Its other files are in the current directory.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn read_stream(stream: impl Read, shown: &str) -> Result<GrammarFile, Unreadable> {
        let source = read_text_stream(read::GRAMMAR, stream, shown)?;
        Ok(GrammarFile { source, beside: Some(Arc::new(Beside::new(PathBuf::new(), PathBuf::new()))) })
    }

    /// Returns a text without a file. Diagnostics call it `shown`.
    pub fn text(shown: impl Into<String>, text: impl Into<String>) -> GrammarFile {
        GrammarFile { source: SourceFile::new(shown, text), beside: None }
    }

    /// Returns the loader, as the compiler takes it.
    pub fn loader(&self) -> Option<Arc<dyn Loader + Send + Sync>> {
        self.beside.clone().map(|beside| beside as Arc<dyn Loader + Send + Sync>)
    }

    /// Returns the paths of the other files that have been read through the loader, in order.
    pub fn others(&self) -> Vec<PathBuf> {
        self.beside.as_ref().map_or_else(Vec::new, |beside| beside.read())
    }

    /// Returns the paths of the other files that the loader was asked for and could not read, in order.
    pub fn unread(&self) -> Vec<PathBuf> {
        self.beside.as_ref().map_or_else(Vec::new, |beside| beside.unread())
    }
}

fn folder(path: &Path) -> PathBuf {
    path.parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named<S> {
    /// A file, or a path that cannot be read as one. Reading it gives the error.
    File,
    /// A shipped grammar.
    Shipped(S),
    /// Neither.
    Nothing,
}

/// Returns the meaning of `name`: a file if there is one, else the shipped grammar that `shipped` returns for the name.
pub fn look_up<S>(name: &OsStr, shipped: impl FnOnce(&str) -> Option<S>) -> Named<S> {
    let path = Path::new(name);
    let exists = exists(path);
    if exists && !path.is_dir() {
        return Named::File;
    }
    match name.to_str().filter(|name| is_word(name)).and_then(shipped) {
        Some(shipped) => Named::Shipped(shipped),
        None if exists => Named::File,
        None => Named::Nothing,
    }
}

/// Returns true if `name` could be that of a shipped grammar rather than a path.
pub fn is_word(name: &str) -> bool {
    !name.contains(['/', '\\', '.'])
}

/// Returns true if something exists at `path`. A path that cannot be examined counts as existing, so that reading it
/// gives the error.
fn exists(path: &Path) -> bool {
    match fs::metadata(path) {
        Ok(_) => true,
        Err(error) => !matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::InvalidInput | io::ErrorKind::NotADirectory
        ),
    }
}

#[cfg(test)]
mod tests;
