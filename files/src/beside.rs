//! The files that stand beside a grammar file.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use gramjet_compiler::SourceFile;
use gramjet_compiler::formats::Loader;

use crate::read::{read_bytes, utf8};

/// Reads files of a folder, and keeps their paths: who builds something from a grammar has to do it again when one changes.
#[derive(Debug)]
pub struct Beside {
    folder: PathBuf,
    shown: PathBuf,
    read: Mutex<Vec<PathBuf>>,
}

impl Beside {
    /// For the files in `folder`, which diagnostics call `shown`.
    pub fn new(folder: PathBuf, shown: PathBuf) -> Beside {
        Beside { folder, shown, read: Mutex::default() }
    }

    /// The paths of the files that were read.
    pub fn read(&self) -> Vec<PathBuf> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Loader for Beside {
    fn load(&self, name: &str) -> Result<SourceFile, String> {
        let path = self.folder.join(name);
        let bytes = read_bytes(&path).map_err(|error| error.to_string())?;
        let shown = self.shown.join(name).display().to_string();
        let source = utf8("file", &shown, bytes).map_err(|unreadable| unreadable.why)?;
        self.read.lock().unwrap_or_else(PoisonError::into_inner).push(path);
        Ok(source)
    }
}
