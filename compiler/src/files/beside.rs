//! The files that stand beside a grammar file.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::SourceFile;
use crate::formats::Loader;

use super::read::{read_bytes, utf8};

/// Reads files of a folder and records their paths. Whatever is built from a grammar must be built again when one of
/// the files changes, or when a file appears that was missing.
#[derive(Debug)]
pub struct Beside {
    folder: PathBuf,
    shown: PathBuf,
    asked: Mutex<Asked>,
}

/// The paths that were asked for.
#[derive(Debug, Default)]
struct Asked {
    read: Vec<PathBuf>,
    unread: Vec<PathBuf>,
}

impl Beside {
    /// Returns a loader for the files in `folder`. Diagnostics call the folder `shown`.
    pub fn new(folder: PathBuf, shown: PathBuf) -> Beside {
        Beside { folder, shown, asked: Mutex::default() }
    }

    /// Returns the paths of the files that were read.
    pub fn read(&self) -> Vec<PathBuf> {
        self.asked().read.clone()
    }

    /// Returns the paths of the files that were asked for but do not exist or cannot be read.
    pub fn unread(&self) -> Vec<PathBuf> {
        self.asked().unread.clone()
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn load_from(&self, path: &Path, name: &str) -> Result<SourceFile, String> {
        let bytes = read_bytes(path).map_err(|error| error.to_string())?;
        let shown = self.shown.join(name).display().to_string();
        utf8("file", &shown, bytes).map_err(|unreadable| unreadable.why)
    }
}

impl Loader for Beside {
    fn load(&self, name: &str) -> Result<SourceFile, String> {
        let path = self.folder.join(name);
        let source = self.load_from(&path, name);
        let mut asked = self.asked();
        match source {
            Ok(_) => asked.read.push(path),
            Err(_) => asked.unread.push(path),
        }
        source
    }

    fn has(&self, name: &str) -> bool {
        self.folder.join(name).is_file()
    }
}
