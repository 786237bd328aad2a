//! The content of the folder of a search, as a reader sees it.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The first line of the file that describes a search.
pub(super) const FORMAT: &str = "gramjet search 1";

/// Reasons why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Reason why it failed.
        source: io::Error,
    },
    /// Another process has the folder.
    #[error("another search is writing to {}", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// The folder has something else in it.
    #[error("{} is not empty and has no search in it", path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
    },
    /// The search was written by another version.
    #[error("{} has a search in the format `{found}`, and this version writes `{FORMAT}`", path.display())]
    Version {
        /// The folder.
        path: PathBuf,
        /// The first line.
        found: String,
    },
    /// The name of a search in a shared folder.
    #[error("`{name}` is no name of a search: it has 1 to 24 letters, digits, `_` and `-`")]
    Name {
        /// The name.
        name: String,
    },
    /// The folder has another search.
    #[error("{} has a search with {name} `{found}`, not `{wanted}`; name another folder", path.display())]
    Other {
        /// The folder.
        path: PathBuf,
        /// Name of the fact that differs.
        name: String,
        /// Its value there.
        found: String,
        /// Its value here.
        wanted: String,
    },
}

/// Places where a text is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// With the texts that are worth varying.
    Queue,
    /// With the texts that cost more than all before.
    Best,
    /// With the texts on which the program did not end in time.
    Timeouts,
}

pub(super) const PLACES: [&str; 3] = ["queue", "best", "timeouts"];

impl Place {
    pub(crate) fn name(self) -> &'static str {
        PLACES[self as usize]
    }
}

/// The folder of a search, to read what is in it. A search may be writing to it.
#[derive(Clone, Copy, Debug)]
pub struct View<'f> {
    pub(super) folder: &'f Path,
}

impl<'f> View<'f> {
    /// Returns a folder that has a search.
    ///
    /// # Errors
    ///
    /// If it has none, or one of another version.
    pub fn open(folder: &'f Path) -> Result<View<'f>, StateError> {
        let path = folder.join("search");
        let text = fs::read_to_string(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => StateError::Foreign { path: folder.to_path_buf() },
            _ => StateError::Io { path, source },
        })?;
        same(folder, &text, &[])?;
        Ok(View { folder })
    }

    /// Returns the texts in a place with the names of their files, in the order in which they were found.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn texts(&self, place: Place) -> Result<Vec<(String, Vec<u8>)>, StateError> {
        let read = |name: String| {
            let path = self.folder.join(place.name()).join(&name);
            let text = fs::read(&path).map_err(|source| StateError::Io { path, source })?;
            Ok((name, text))
        };
        let is_text = |name: &String| number_of(name).is_some() && !name.ends_with(CHOICES);
        self.names(place.name())?.into_iter().filter(is_text).map(read).collect()
    }

    /// Returns the keys of the failures.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn failures(&self) -> Result<Vec<String>, StateError> {
        self.folders("failures")
    }

    /// Returns the names of the folders in a folder of the search.
    pub(super) fn folders(&self, folder: &str) -> Result<Vec<String>, StateError> {
        let path = self.folder.join(folder);
        let is_folder = |name: &String| !name.starts_with('.') && path.join(name).is_dir();
        Ok(self.names(folder)?.into_iter().filter(is_folder).collect())
    }

    /// Returns a file of a failure.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn failure(&self, key: &str, file: &str) -> Result<Vec<u8>, StateError> {
        let path = self.folder.join("failures").join(key).join(file);
        fs::read(&path).map_err(|source| StateError::Io { path, source })
    }

    /// Returns a file of the search; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn file(&self, name: &str) -> Result<Option<Vec<u8>>, StateError> {
        let path = self.folder.join(name);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StateError::Io { path, source }),
        }
    }

    /// Returns the names in a folder of the search, in order.
    pub(super) fn names(&self, folder: &str) -> Result<Vec<String>, StateError> {
        let path = self.folder.join(folder);
        let names = fs::read_dir(&path).and_then(|entries| {
            entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect::<io::Result<Vec<_>>>()
        });
        let mut names = names.map_err(|source| StateError::Io { path, source })?;
        names.sort_unstable();
        Ok(names)
    }
}

/// The end of the name of a file with choice bytes.
pub const CHOICES: &str = ".choices";

/// Returns the number in the name of a text.
pub(crate) fn number_of(name: &str) -> Option<u64> {
    name.strip_prefix("id:")?.split(',').next()?.parse().ok()
}

/// Checks that the search in a folder is the one that is wanted.
pub(super) fn same(folder: &Path, text: &str, facts: &[(&str, String)]) -> Result<(), StateError> {
    let mut lines = text.lines();
    let format = lines.next().unwrap_or_default();
    if format != FORMAT {
        return Err(StateError::Version { path: folder.to_path_buf(), found: format.to_string() });
    }
    for (name, wanted) in facts {
        let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap_or_default();
        if found != wanted {
            let (name, found, wanted) = (name.to_string(), found.to_string(), wanted.clone());
            return Err(StateError::Other { path: folder.to_path_buf(), name, found, wanted });
        }
    }
    Ok(())
}
