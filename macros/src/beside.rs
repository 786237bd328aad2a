//! The files that stand beside a grammar file.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use gramjet_compiler::SourceFile;
use gramjet_compiler::formats::Loader;

/// Reads files of a folder and keeps their paths, so that the compiler can run again when they change.
#[derive(Debug)]
pub struct Beside {
    folder: PathBuf,
    loaded: Mutex<Vec<String>>,
}

impl Beside {
    /// For the files in `folder`.
    pub fn new(folder: &Path) -> Beside {
        Beside { folder: folder.to_path_buf(), loaded: Mutex::default() }
    }

    /// The paths of the files that were read.
    pub fn loaded(&self) -> Vec<String> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Loader for Beside {
    fn load(&self, name: &str) -> Result<SourceFile, String> {
        let path = self.folder.join(name);
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).push(path.display().to_string());
        Ok(SourceFile::new(name, text))
    }
}
