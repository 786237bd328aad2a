//! The content of the folder of a search, as a reader sees it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use gramjet_session::{Language, streams};
use rustix::fs::FileType;

use super::failures::FAILURES;
use crate::folder::{Folder, LeftAlone, Omissions, Unread, Why, is_missing};

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

/// Greatest number of bytes of a file that are read, and of all texts of a place together.
const MOST_BYTES: u64 = 256 << 20;
const MOST_IN_ALL: u64 = 1 << 30;
/// Greatest number of a text. Names with others are not ours, nor AFL++'s.
const MOST_NUMBER: u64 = u32::MAX as u64;

/// The folder of a search, to read what is in it. A search may be writing to it, and so may others: see [`LeftAlone`].
#[derive(Clone, Debug)]
pub struct View {
    pub(super) folder: Arc<Folder>,
    left: Arc<Mutex<Omissions>>,
}

impl View {
    /// Opens a folder that has a search.
    ///
    /// # Errors
    ///
    /// If it has none, or one of another version.
    pub fn open(folder: &Path) -> Result<View, StateError> {
        let foreign = || StateError::Foreign { path: folder.to_path_buf() };
        let opened = Folder::open(folder).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => foreign(),
            _ => StateError::Io { path: folder.to_path_buf(), source },
        })?;
        let view = View::new(opened);
        let text = view.description()?.ok_or_else(foreign)?;
        same(folder, &text, &[])?;
        Ok(view)
    }

    /// Opens any folder, to read files of it as those of a search are read.
    ///
    /// # Errors
    ///
    /// If it is no folder, or may not be read.
    pub fn of_folder(folder: &Path) -> Result<View, StateError> {
        let opened = Folder::open(folder);
        opened.map(View::new).map_err(|source| StateError::Io { path: folder.to_path_buf(), source })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn new(folder: Folder) -> View {
        View { folder: Arc::new(folder), left: Arc::default() }
    }

    /// Returns the description of the search, if there is one.
    pub(super) fn description(&self) -> Result<Option<String>, StateError> {
        match self.folder.read(DESCRIPTION, MOST_BYTES) {
            Ok(text) => Ok(Some(String::from_utf8_lossy(&text).into_owned())),
            Err(Unread::Missing) => Ok(None),
            Err(Unread::Left(why)) => Err(self.failed(DESCRIPTION, io::Error::other(why.to_string()))),
        }
    }

    /// Takes the entries that were left alone since the last call, each once. Beyond a hundred, no more are named.
    pub fn left_alone(&self) -> Vec<LeftAlone> {
        self.left().take()
    }

    fn left(&self) -> MutexGuard<'_, Omissions> {
        self.left.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(super) fn leave(&self, name: impl AsRef<Path>, why: Why) {
        self.left().add(self.folder.path().join(name), why);
    }

    pub(super) fn failed(&self, name: impl AsRef<Path>, source: io::Error) -> StateError {
        StateError::Io { path: self.folder.path().join(name), source }
    }

    /// Returns the texts in a place with the names of their files, in the order in which they were found. Together they
    /// have at most 1 GiB.
    ///
    /// # Errors
    ///
    /// If the place cannot be read.
    pub fn texts(&self, place: Place) -> Result<Vec<(String, Vec<u8>)>, StateError> {
        let folder = self.folder.within(place.name()).map_err(|source| self.failed(place.name(), source))?;
        let mut names = self.names(place.name(), FileType::RegularFile)?;
        names.retain(|name| !name.ends_with(CHOICES) && !name.starts_with('.'));
        names.retain(|name| {
            let is_text = number_of(name).is_some();
            if !is_text {
                self.leave(Path::new(place.name()).join(name), Why::Name);
            }
            is_text
        });
        Ok(self.read_all(&folder, Path::new(place.name()), names))
    }

    /// Reads files of a folder, which has this name. Together they have at most 1 GiB.
    fn read_all<N: AsRef<Path>>(&self, folder: &Folder, of: &Path, names: Vec<N>) -> Vec<(N, Vec<u8>)> {
        let (mut texts, mut room) = (Vec::new(), MOST_IN_ALL);
        for name in names {
            match folder.read(&name, MOST_BYTES.min(room)) {
                Ok(text) => {
                    room -= text.len() as u64;
                    texts.push((name, text));
                }
                Err(Unread::Missing) => {}
                Err(Unread::Left(Why::Large { most })) if most < MOST_BYTES => self.leave(of.join(name), Why::Room),
                Err(Unread::Left(why)) => self.leave(of.join(name), why),
            }
        }
        texts
    }

    /// Returns the regular files of the folder itself with their names, in the order of these. Together they have at
    /// most 1 GiB.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn files(&self) -> Result<Vec<(OsString, Vec<u8>)>, StateError> {
        let (mut left, mut names) = (Vec::new(), Vec::new());
        for entry in self.folder.entries(&mut left).map_err(|source| self.failed("", source))? {
            match entry.why() {
                None if entry.kind == FileType::RegularFile => names.push(entry.name),
                None => {}
                Some(why) => self.leave(entry.name, why),
            }
        }
        left.into_iter().for_each(|one| self.leave(&one.path, one.why));
        Ok(self.read_all(&self.folder, Path::new(""), names))
    }

    /// Returns the keys of the failures.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn failures(&self) -> Result<Vec<String>, StateError> {
        self.folders(FAILURES)
    }

    /// Returns the names of the folders in a folder of the search; none if there is no such folder.
    pub(super) fn folders(&self, folder: &str) -> Result<Vec<String>, StateError> {
        let mut names = self.names(folder, FileType::Directory)?;
        names.retain(|name| !name.starts_with('.'));
        Ok(names)
    }

    /// Returns a file of a failure.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn failure(&self, key: &str, file: &str) -> Result<Vec<u8>, StateError> {
        self.file_of(FAILURES, key, file)
    }

    /// Returns a file of a folder in a folder of the search.
    pub(super) fn file_of(&self, folder: &str, key: &str, file: &str) -> Result<Vec<u8>, StateError> {
        let path = Path::new(folder).join(key).join(file);
        match self.folder.read(&path, MOST_BYTES) {
            Ok(bytes) => Ok(bytes),
            Err(Unread::Missing) => Err(self.failed(path, io::ErrorKind::NotFound.into())),
            Err(Unread::Left(why)) => {
                self.leave(&path, why.clone());
                Err(self.failed(path, io::Error::other(why.to_string())))
            }
        }
    }

    /// Returns a file of the search; `None` if there is none, or if it is left alone.
    pub fn file(&self, name: &str) -> Option<Vec<u8>> {
        match self.folder.read(name, MOST_BYTES) {
            Ok(bytes) => Some(bytes),
            Err(Unread::Missing) => None,
            Err(Unread::Left(why)) => {
                self.leave(name, why);
                None
            }
        }
    }

    /// Returns the files and folders in a folder of the search whose names are numbers, in ascending order; none if
    /// there is no such folder.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn numbered(&self, folder: &str) -> Result<Vec<(u64, String)>, StateError> {
        let kinds = [FileType::RegularFile, FileType::Directory];
        let names = kinds.into_iter().map(|kind| self.names(folder, kind)).collect::<Result<Vec<_>, _>>()?.concat();
        let number = |name: String| Some((name.parse().ok()?, format!("{folder}/{name}")));
        let mut numbered: Vec<(u64, String)> = names.into_iter().filter_map(number).collect();
        numbered.sort_unstable();
        Ok(numbered)
    }

    /// Writes a file into the folder, which replaces one of the same name.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, StateError> {
        self.folder.write(name, bytes, true).map_err(|source| self.failed(name, source))?;
        Ok(self.path().join(name))
    }

    /// Returns the choice bytes that are kept for a text; `None` if there are none of this language.
    pub(crate) fn choices(&self, language: &Language, text: &[u8]) -> Option<Vec<u8>> {
        choices_in(&self.folder, Path::new(""), language, text)
    }

    /// Returns the names of the files of a kind in a folder of the search, in order; none if there is no such folder.
    /// Links and the like are left alone.
    pub(super) fn names(&self, folder: &str, kind: FileType) -> Result<Vec<String>, StateError> {
        let opened = match self.folder.within(folder) {
            Err(error) if is_missing(&error) => return Ok(Vec::new()),
            opened => opened.map_err(|source| self.failed(folder, source))?,
        };
        let (mut names, mut left) = (Vec::new(), Vec::new());
        let entries = opened.entries(&mut left).map_err(|source| self.failed(folder, source))?;
        left.into_iter().for_each(|one| self.leave(&one.path, one.why));
        for entry in entries {
            let why = entry.why();
            match (entry.name.into_string(), why) {
                (Ok(name), None) if entry.kind == kind => names.push(name),
                // Others have folders of their own there.
                (Ok(_), None) => {}
                (Ok(name), Some(why)) => self.leave(Path::new(folder).join(name), why),
                (Err(name), why) => self.leave(Path::new(folder).join(name), why.unwrap_or(Why::Name)),
            }
        }
        Ok(names)
    }
}

/// Returns the choice bytes of a text that the search in `node`, a folder in `folder`, has kept; `None` if there are
/// none of this language.
pub(crate) fn choices_in(folder: &Folder, node: &Path, language: &Language, text: &[u8]) -> Option<Vec<u8>> {
    streams::files(text).iter().find_map(|file| {
        let file = folder.read(node.join(file), streams::MAX_BYTES).ok()?;
        streams::choices_of(language, &file)
    })
}

/// The file that describes a search.
pub(super) const DESCRIPTION: &str = "search";

/// The end of the name of a file with choice bytes.
pub const CHOICES: &str = streams::EXTENSION;

/// Returns the number in the name of a text.
pub(crate) fn number_of(name: &str) -> Option<u64> {
    name.strip_prefix("id:")?.split(',').next()?.parse().ok().filter(|number| *number <= MOST_NUMBER)
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
