//! The temporary folder of a target, and the file in it that the program reads.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Error;

/// The name of the file that the program reads.
const INPUT: &str = "input";

/// A folder that is removed when this is dropped; the guard removes it if this process is killed.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: PathBuf,
    file: File,
}

impl Scratch {
    pub(crate) fn new() -> Result<Scratch, Error> {
        let failed = |source| Error::System { what: "a temporary folder cannot be made", source };
        let folder = new_folder().map_err(failed)?;
        let file = open(&folder.join(INPUT)).map_err(failed)?;
        Ok(Scratch { folder, file })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn input(&self) -> PathBuf {
        self.folder.join(INPUT)
    }

    /// A descriptor of the file for the program, with the place in it that [`Scratch::write`] sets.
    pub(crate) fn descriptor(&self) -> Result<std::os::fd::OwnedFd, Error> {
        let source = self.file.try_clone();
        source.map(Into::into).map_err(|source| Error::System { what: "a file cannot be duplicated", source })
    }

    /// Makes the file hold the input, and the program read it from its beginning. Whether the file is a new one, as the
    /// program has removed the last.
    pub(crate) fn write(&mut self, input: &[u8]) -> Result<bool, Error> {
        let failed = |source| Error::System { what: "the input cannot be written to the temporary folder", source };
        let mut known = self.file.metadata().map_err(failed)?;
        let is_new = known.nlink() == 0;
        if is_new {
            let _ = fs::remove_dir_all(self.input());
            self.file = open(&self.input()).map_err(failed)?;
            known = self.file.metadata().map_err(failed)?;
        }
        self.file.write_all_at(input, 0).map_err(failed)?;
        if known.len() > input.len() as u64 {
            self.file.set_len(input.len() as u64).map_err(failed)?;
        }
        self.file.seek(SeekFrom::Start(0)).map_err(failed)?;
        Ok(is_new)
    }

    /// Removes the files that the program has left.
    pub(crate) fn tidy(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten().filter(|entry| entry.file_name() != INPUT) {
            let path = entry.path();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let _ = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.flush()?;
    Ok(file)
}

/// A new folder that other users may not read.
fn new_folder() -> io::Result<PathBuf> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let base = std::env::temp_dir();
    loop {
        let path = base.join(format!("gramjet-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
        let mut builder = fs::DirBuilder::new();
        match std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700).create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result.map(|()| path),
        }
    }
}
