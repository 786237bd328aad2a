//! A file that the program reads, and that is written only through descriptors.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::at::{self, Status};
use super::remove;

/// The rights to the file.
const MODE: u32 = 0o600;

/// A file in a folder.
#[derive(Debug)]
pub(super) struct Held {
    name: CString,
    path: PathBuf,
    file: File,
    /// Another description of the file, for the program: it cannot be written through, and has a place of its own.
    reader: File,
}

/// Work that [`Held::settle`] had to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// The file is the same as before, with this many bytes.
    Kept(u64),
    /// The program has done something to it that cannot be undone, so there is a new one of the same name.
    Made,
}

impl Held {
    /// Makes the file; `path` is the folder's.
    pub(super) fn new(folder: &OwnedFd, path: &Path, name: &CStr) -> io::Result<Held> {
        let (file, reader) = make(folder, name)?;
        let path = path.join(name.to_str().expect("an ASCII name"));
        Ok(Held { name: name.to_owned(), path, file, reader })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a descriptor for the program that reads from where [`Held::write`] sets the place.
    pub(super) fn reader(&self) -> io::Result<OwnedFd> {
        self.reader.try_clone().map(Into::into)
    }

    /// Makes the file one that can be written to, and that leads nowhere else; where `is_named`, also the one that its
    /// name leads to. An error means that this folder does not serve any more.
    pub(super) fn settle(&mut self, folder: &OwnedFd, is_named: bool) -> io::Result<Settled> {
        let found = at::status(&self.file)?;
        if self.is_whole(found, is_named) || self.mend(found, is_named) {
            return Ok(Settled::Kept(found.len));
        }
        remove::remove_at(folder, &self.name)?;
        (self.file, self.reader) = make(folder, &self.name)?;
        let found = at::status(&self.file)?;
        if self.is_whole(found, is_named) { Ok(Settled::Made) } else { Err(io::Error::from(io::ErrorKind::NotFound)) }
    }

    fn is_whole(&self, found: Status, is_named: bool) -> bool {
        let is_alone = if is_named { found.links == 1 } else { found.links <= 1 };
        is_alone && found.mode == MODE && !found.is_frozen && (!is_named || self.is_at_its_name(found))
    }

    /// Returns true if the name leads to the file.
    fn is_at_its_name(&self, found: Status) -> bool {
        let named = at::c_string(&self.path).and_then(|path| at::status_at(at::HERE, &path));
        named.is_ok_and(|named| named.id == found.id)
    }

    /// Undoes what can be undone through the descriptor.
    fn mend(&self, found: Status, is_named: bool) -> bool {
        if found.is_frozen {
            let _ = at::thaw(&self.file);
        }
        let _ = at::set_mode(&self.file, MODE);
        at::status(&self.file).is_ok_and(|found| self.is_whole(found, is_named))
    }

    /// Makes the file, which has had `before` bytes, hold these bytes, and the program read it from its beginning.
    pub(super) fn write(&mut self, bytes: &[u8], before: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, 0)?;
        if before > bytes.len() as u64 {
            self.file.set_len(bytes.len() as u64)?;
        }
        self.reader.seek(SeekFrom::Start(0)).map(drop)
    }
}

/// Makes a file that was not there before.
fn make(folder: &OwnedFd, name: &CStr) -> io::Result<(File, File)> {
    let file = at::open(folder.as_raw_fd(), name, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL)?;
    at::set_mode(&file, MODE)?;
    let reader = at::reader(&file)?;
    Ok((file.into(), reader))
}
