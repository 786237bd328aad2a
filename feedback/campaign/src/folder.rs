//! A folder by its descriptor, which others may write to: no link in it is followed, nothing but regular files is read,
//! and what is read has a bound.
//!
//! Names are relative, and each part of them but the last is a folder in the one before.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RawMode};
use rustix::io::Errno;

/// Greatest number of entries of a folder that are looked at.
const MOST_ENTRIES: usize = 1 << 20;
/// Flags of every file that is opened. Opening a named pipe does not wait.
const CAREFULLY: OFlags = OFlags::CLOEXEC.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
/// Greatest number of levels of folders that are removed: those of a search have a few.
const DEPTH: u32 = 32;
/// Number of times that a new name is tried for a file that is written.
const TRIES: usize = 16;

/// A folder that stays the same, whatever happens to its name.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    file: OwnedFd,
}

/// An entry of a folder that is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftAlone {
    /// Path of the entry.
    pub path: PathBuf,
    /// Reason why.
    pub why: Why,
}

impl fmt::Display for LeftAlone {
    /// Writes the path, escaped, with the reason.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({})", self.path.display().to_string().escape_debug(), self.why)
    }
}

/// Greatest number of entries that are named to the user.
const MOST_NAMED: usize = 100;

/// The entries that were left alone, each of which is told once.
#[derive(Debug, Default)]
pub(crate) struct Omissions {
    known: HashSet<PathBuf>,
    news: Vec<LeftAlone>,
}

impl Omissions {
    /// Adds an entry, unless it is known or too many are.
    pub(crate) fn add(&mut self, path: PathBuf, why: Why) {
        if self.known.len() < MOST_NAMED && self.known.insert(path.clone()) {
            self.news.push(LeftAlone { path, why });
        }
    }

    /// Takes the entries that were added since the last call.
    pub(crate) fn take(&mut self) -> Vec<LeftAlone> {
        std::mem::take(&mut self.news)
    }
}

/// Reason why an entry of a folder is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// A link; it is not followed.
    Link,
    /// A kind of file that is not a regular one.
    Kind(&'static str),
    /// A file with more bytes than are read.
    Large {
        /// Number of bytes that are read at most.
        most: u64,
    },
    /// A file whose name is not one that a search gives.
    Name,
    /// A file for which there is no room: others of its folder have as many bytes as are read.
    Room,
    /// A file that the system does not let read.
    System(String),
    /// An entry beyond the number of entries that are looked at, with all that follow.
    Number,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Link => f.write_str("a link, which is not followed"),
            Why::Kind(kind) => f.write_str(kind),
            Why::Large { most } => write!(f, "larger than {most} bytes"),
            Why::Name => f.write_str("its name is none of a search"),
            Why::Room => f.write_str("the folder has too many bytes"),
            Why::System(error) => f.write_str(error),
            Why::Number => write!(f, "beyond {MOST_ENTRIES} entries"),
        }
    }
}

/// Reason why a file was not read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// There is none.
    Missing,
    /// The entry is left alone.
    Left(Why),
}

impl Unread {
    fn of(error: Errno) -> Unread {
        match error {
            Errno::NOENT | Errno::NOTDIR => Unread::Missing,
            Errno::LOOP => Unread::Left(Why::Link),
            error => Unread::Left(Why::System(io::Error::from(error).to_string())),
        }
    }
}

/// A name in a folder, and the kind of file that it stands for.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: OsString,
    pub(crate) kind: FileType,
}

impl Entry {
    /// Returns the reason why it is left alone, unless it is a regular file or a folder.
    pub(crate) fn why(&self) -> Option<Why> {
        why(self.kind)
    }
}

/// Returns the reason why files of a kind are left alone.
fn why(kind: FileType) -> Option<Why> {
    match kind {
        FileType::RegularFile | FileType::Directory => None,
        FileType::Symlink => Some(Why::Link),
        FileType::Fifo => Some(Why::Kind("a named pipe")),
        FileType::Socket => Some(Why::Kind("a socket")),
        FileType::CharacterDevice | FileType::BlockDevice => Some(Why::Kind("a device")),
        _ => Some(Why::Kind("a file of an unknown kind")),
    }
}

/// Returns the parts of a relative name.
fn parts(name: &Path) -> io::Result<Vec<&OsStr>> {
    let part = |component| match component {
        Component::Normal(part) => Ok(part),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "the name leaves its folder")),
    };
    let parts: Vec<&OsStr> =
        name.components().filter(|part| *part != Component::CurDir).map(part).collect::<Result<_, _>>()?;
    if parts.is_empty() { Err(io::ErrorKind::InvalidInput.into()) } else { Ok(parts) }
}

impl Folder {
    /// Opens a folder that the user has named. Links on the way to it are followed.
    pub(crate) fn open(path: &Path) -> io::Result<Folder> {
        let file = rustix::fs::open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Folder { path: path.to_path_buf(), file })
    }

    /// Returns the path by which it was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a folder within this one.
    pub(crate) fn within(&self, name: impl AsRef<Path>) -> io::Result<Folder> {
        self.descend(&parts(name.as_ref())?, false)
    }

    /// Opens a folder within this one, and makes it if it is missing.
    pub(crate) fn make(&self, name: impl AsRef<Path>) -> io::Result<Folder> {
        self.descend(&parts(name.as_ref())?, true)
    }

    fn descend(&self, parts: &[&OsStr], makes: bool) -> io::Result<Folder> {
        let mut folder = Folder { path: self.path.clone(), file: self.file.try_clone()? };
        for part in parts {
            if makes {
                match rustix::fs::mkdirat(&folder.file, *part, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            let file = rustix::fs::openat(&folder.file, *part, CAREFULLY | OFlags::DIRECTORY, Mode::empty())?;
            folder = Folder { path: folder.path.join(part), file };
        }
        Ok(folder)
    }

    /// Opens the folder of a file, and returns it with the last part of the name.
    fn parent<'n>(&self, name: &'n Path, makes: bool) -> io::Result<(Folder, &'n OsStr)> {
        let mut parts = parts(name)?;
        let last = parts.pop().unwrap_or_default();
        Ok((self.descend(&parts, makes)?, last))
    }

    /// Returns the kind of an entry, which is not followed if it is a link; `None` if there is none.
    pub(crate) fn kind(&self, name: impl AsRef<Path>) -> io::Result<Option<FileType>> {
        let found = self
            .parent(name.as_ref(), false)
            .and_then(|(folder, name)| Ok(rustix::fs::statat(&folder.file, name, AtFlags::SYMLINK_NOFOLLOW)?));
        match found {
            Ok(found) => Ok(Some(FileType::from_raw_mode(found.st_mode as RawMode))),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads a regular file of at most `most` bytes.
    pub(crate) fn read(&self, name: impl AsRef<Path>, most: u64) -> Result<Vec<u8>, Unread> {
        let of = |error: io::Error| Unread::of(Errno::from_io_error(&error).unwrap_or(Errno::IO));
        let (folder, name) = self.parent(name.as_ref(), false).map_err(of)?;
        // To open a device may already do something.
        let found = rustix::fs::statat(&folder.file, name, AtFlags::SYMLINK_NOFOLLOW).map_err(Unread::of)?;
        regular(found.st_mode as RawMode)?;
        let file = rustix::fs::openat(&folder.file, name, CAREFULLY, Mode::empty()).map_err(Unread::of)?;
        let found = rustix::fs::fstat(&file).map_err(Unread::of)?;
        regular(found.st_mode as RawMode)?;
        let large = Unread::Left(Why::Large { most });
        if u64::try_from(found.st_size).unwrap_or(u64::MAX) > most {
            return Err(large);
        }
        let mut bytes = Vec::new();
        File::from(file).take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(of)?;
        // Somebody may be writing to it.
        if bytes.len() as u64 > most { Err(large) } else { Ok(bytes) }
    }

    /// Returns the entries, in the order of their names. What is beyond the number that is looked at is told by `left`.
    pub(crate) fn entries(&self, left: &mut Vec<LeftAlone>) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.file)? {
            let entry = entry?;
            let name = OsString::from_vec(entry.file_name().to_bytes().to_vec());
            if name == "." || name == ".." {
                continue;
            }
            if entries.len() == MOST_ENTRIES {
                left.push(LeftAlone { path: self.path.join(&name), why: Why::Number });
                break;
            }
            // Some file systems do not tell.
            let kind = match entry.file_type() {
                FileType::Unknown => match rustix::fs::statat(&self.file, &*name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(found) => FileType::from_raw_mode(found.st_mode as RawMode),
                    Err(_) => continue,
                },
                kind => kind,
            };
            entries.push(Entry { name, kind });
        }
        entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    /// Writes a file, which gets its name once it is complete and, if wanted, on the disk. It replaces what has the
    /// name, also a link, unless that is a folder. Folders on the way are made.
    pub(crate) fn write(&self, name: impl AsRef<Path>, bytes: &[u8], waits: bool) -> io::Result<()> {
        self.write_with(name.as_ref(), bytes, waits, None)
    }

    fn write_with(&self, name: &Path, bytes: &[u8], waits: bool, mode: Option<Mode>) -> io::Result<()> {
        let (folder, name) = self.parent(name, true)?;
        let (mut file, own) = folder.create_beside(name, Mode::from_raw_mode(0o666))?;
        let written = file.write_all(bytes).and_then(|()| {
            if let Some(mode) = mode {
                rustix::fs::fchmod(&file, mode)?;
            }
            if waits {
                file.sync_data()?;
            }
            // A file of a network is sent when it is closed.
            drop(file);
            Ok(rustix::fs::renameat(&folder.file, &*own, &folder.file, name)?)
        });
        if written.is_err() {
            let _ = rustix::fs::unlinkat(&folder.file, &*own, AtFlags::empty());
        }
        written
    }

    /// Writes a file as [`Folder::write`] does, on the disk, that anyone may execute if `is_executable`.
    pub(crate) fn write_new(&self, name: impl AsRef<Path>, bytes: &[u8], is_executable: bool) -> io::Result<()> {
        self.write_with(name.as_ref(), bytes, true, is_executable.then_some(Mode::from_raw_mode(0o755)))
    }

    /// Makes a file with a name of its own, for one that is to have this name.
    fn create_beside(&self, name: &OsStr, mode: Mode) -> io::Result<(File, OsString)> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut tried = 0;
        loop {
            // The name may have as many bytes as a name can have.
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let own = OsString::from(format!(".gramjet.{}.{number}", std::process::id()));
            let flags = CAREFULLY | OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
            match rustix::fs::openat(&self.file, &*own, flags, mode) {
                Ok(file) => return Ok((File::from(file), own)),
                Err(Errno::EXIST) if tried < TRIES => tried += 1,
                Err(error) => {
                    return Err(io::Error::new(io::Error::from(error).kind(), format!("{}: {error}", name.display())));
                }
            }
        }
    }

    /// Appends to a regular file; a new file begins with `heading`. A link, or a file that has another name, too, is
    /// replaced by a new file: what it has may not be for others.
    pub(crate) fn append(&self, name: &str, heading: &str, line: &str) -> io::Result<()> {
        let (folder, last) = self.parent(Path::new(name), true)?;
        let begin = || folder.write(last, format!("{heading}\n{line}\n").as_bytes(), true);
        // To open a device may already do something.
        match folder.kind(last)? {
            None | Some(FileType::RegularFile) => {}
            Some(_) => return begin(),
        }
        let flags = CAREFULLY | OFlags::APPEND | OFlags::WRONLY;
        let opened = match rustix::fs::openat(&folder.file, last, flags | OFlags::CREATE, Mode::from_raw_mode(0o666)) {
            Ok(file) => Some(file),
            // A link, or a pipe that nobody reads.
            Err(Errno::LOOP | Errno::NXIO) => None,
            Err(error) => return Err(error.into()),
        };
        let is_own = |file: &OwnedFd| {
            let found = rustix::fs::fstat(file)?;
            let is_regular = FileType::from_raw_mode(found.st_mode as RawMode) == FileType::RegularFile;
            io::Result::Ok(is_regular && found.st_nlink == 1)
        };
        if let Some(file) = opened
            && is_own(&file)?
        {
            let mut file = File::from(file);
            let heading = if file.metadata()?.len() == 0 { format!("{heading}\n") } else { String::new() };
            return file.write_all(format!("{heading}{line}\n").as_bytes());
        }
        begin()
    }

    /// Opens a regular file of its own to be locked, and makes it if it is missing.
    pub(crate) fn open_own(&self, name: &str) -> io::Result<File> {
        let flags = CAREFULLY | OFlags::CREATE | OFlags::WRONLY;
        let file =
            rustix::fs::openat(&self.file, name, flags, Mode::from_raw_mode(0o666)).map_err(|error| match error {
                Errno::LOOP => io::Error::other("a link, which is not followed"),
                error => error.into(),
            })?;
        let found = rustix::fs::fstat(&file)?;
        match regular(found.st_mode as RawMode) {
            Ok(()) => Ok(File::from(file)),
            Err(_) => Err(io::Error::other("no regular file")),
        }
    }

    /// Gives an entry another name. What has that name is replaced, unless one of the two is a folder that is not
    /// empty.
    pub(crate) fn rename(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
        let (old, from) = self.parent(from.as_ref(), false)?;
        let (new, to) = self.parent(to.as_ref(), false)?;
        Ok(rustix::fs::renameat(&old.file, from, &new.file, to)?)
    }

    /// Removes an entry, a folder with all that is in it. Does nothing if there is none.
    pub(crate) fn remove(&self, name: impl AsRef<Path>) -> io::Result<()> {
        let removed = self.parent(name.as_ref(), false).and_then(|(folder, name)| folder.remove_entry(name));
        match removed {
            Err(error) if is_missing(&error) => Ok(()),
            removed => removed,
        }
    }

    fn remove_entry(&self, name: &OsStr) -> io::Result<()> {
        self.remove_within(name, DEPTH)
    }

    /// Removes an entry with at most `depth` levels of folders in it.
    fn remove_within(&self, name: &OsStr, depth: u32) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.file, name, AtFlags::empty()) {
            Ok(()) => return Ok(()),
            Err(Errno::ISDIR | Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
        let depth = depth.checked_sub(1).ok_or_else(|| io::Error::other("folders are nested too deeply"))?;
        let folder = self.descend(&[name], false)?;
        for entry in folder.entries(&mut Vec::new())? {
            folder.remove_within(&entry.name, depth)?;
        }
        Ok(rustix::fs::unlinkat(&self.file, name, AtFlags::REMOVEDIR)?)
    }

    /// Waits until the disk has the names of its entries.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(self.file.as_fd())?)
    }
}

/// Returns true if an error says that there is no such entry.
pub(crate) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound)
}

fn regular(mode: RawMode) -> Result<(), Unread> {
    match FileType::from_raw_mode(mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(Unread::Left(Why::Kind("a folder"))),
        kind => Err(why(kind).map_or(Unread::Missing, Unread::Left)),
    }
}
