//! The temporary folder of a target, and the files in it that the program reads.
//!
//! | in `gramjet-PID-N/`, which is not for the program | |
//! |---|---|
//! | `in/input` | the input: the program may write to it, but not remove or replace it |
//! | `in/output` | another file, for programs that get two |
//! | `tmp/` | the program's own, `TMPDIR` |
//!
//! A program that is not confined can do anything to these. So files are written through descriptors that this process
//! holds, and a name is used only to make a file that was not there, relative to the descriptor of its folder. What the
//! program has changed is mended; where that cannot be done, the folder is left and another one made.

mod at;
mod held;
mod measure;
mod remove;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::error::Error;
use held::{Held, Settled};
pub(crate) use measure::taken;
pub(crate) use remove::remove;
pub use remove::{Left, left_behind};

/// The longest time for removing the files that runs have left; what remains is removed after the next one.
const TIDYING: Duration = Duration::from_secs(2);
/// The errors of a full disk.
const FULL: [i32; 2] = [libc::ENOSPC, libc::EDQUOT];

/// Way in which the program is given its files.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Giving {
    /// The program finds its input by name, and not as its standard input.
    pub(crate) by_name: bool,
    /// Whether it gets another file beside its input, by name.
    pub(crate) has_second: bool,
    /// The rules that the program runs under are about these files and no others.
    pub(crate) has_rules: bool,
    /// Nothing keeps the program from moving and replacing these files.
    pub(crate) is_exposed: bool,
}

/// A folder that is removed when this is dropped; the guard removes it if this process is killed.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    folder: OwnedFd,
    temporary: OwnedFd,
    inner: OwnedFd,
    input: Held,
    second: Option<Held>,
    giving: Giving,
    /// The folder can no longer be put right.
    is_lost: bool,
}

impl Scratch {
    pub(crate) fn new(giving: Giving) -> Result<Scratch, Error> {
        let failed = |source| Error::System { what: "a temporary folder cannot be made", source };
        Scratch::make(giving).map_err(failed)
    }

    fn make(giving: Giving) -> io::Result<Scratch> {
        let (path, folder) = new_folder()?;
        let inner = at::make_folder(folder.as_raw_fd(), c"in")?;
        let temporary = at::make_folder(folder.as_raw_fd(), c"tmp")?;
        let files = path.join("in");
        let input = Held::new(&inner, &files, c"input")?;
        let second = giving.has_second.then(|| Held::new(&inner, &files, c"output")).transpose()?;
        Ok(Scratch { path, folder, temporary, inner, input, second, giving, is_lost: false })
    }

    /// Returns the whole folder and a descriptor of it, for the guard.
    pub(crate) fn folder(&self) -> Result<(PathBuf, OwnedFd), Error> {
        let folder = self.folder.try_clone();
        let folder = folder.map_err(|source| Error::System { what: "a file cannot be duplicated", source })?;
        Ok((self.path.clone(), folder))
    }

    /// Returns the folder for the program's own files.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// Returns the file of the input.
    pub(crate) fn input(&self) -> &Path {
        self.input.path()
    }

    /// Returns the path of the other file, if the program gets one.
    pub(crate) fn second(&self) -> Option<&Path> {
        self.second.as_ref().map(Held::path)
    }

    /// Returns a descriptor of the input for the program, with the place in it that [`Scratch::write`] sets. It cannot
    /// be written through.
    pub(crate) fn descriptor(&self) -> Result<OwnedFd, Error> {
        self.input.reader().map_err(|source| Error::System { what: "a file cannot be duplicated", source })
    }

    /// Makes the file hold the input, and the program read it from its beginning. Returns true if the program must be
    /// started anew, in another folder: the one of its files that it knows is no longer theirs.
    pub(crate) fn write(&mut self, input: &[u8]) -> Result<bool, Error> {
        self.write_both(input, None)
    }

    /// Writes the input as `write` does, and the content of the other file.
    pub(crate) fn write_both(&mut self, input: &[u8], second: Option<&[u8]>) -> Result<bool, Error> {
        let Giving { by_name, has_rules, is_exposed, .. } = self.giving;
        self.settle();
        let mut is_stale = self.is_lost;
        let second = self.second.as_mut().zip(second).map(|(held, bytes)| (held, bytes, true));
        for (held, bytes, by_name) in [(&mut self.input, input, by_name)].into_iter().chain(second) {
            if is_stale {
                break;
            }
            let mut before = u64::MAX;
            match held.settle(&self.inner, by_name && is_exposed) {
                Ok(Settled::Kept(len)) => before = len,
                Ok(Settled::Made) => is_stale = has_rules || !by_name,
                Err(_) => is_stale = true,
            }
            match held.write(bytes, before) {
                Err(error) if error.raw_os_error().is_some_and(|error| FULL.contains(&error)) => {
                    // The program may have filled the disk.
                    remove::empty(&self.temporary, Some(Instant::now() + TIDYING));
                    held.write(bytes, u64::MAX).map_err(unwritten)?;
                }
                result => is_stale |= result.is_err(),
            }
        }
        self.is_lost |= is_stale;
        Ok(is_stale)
    }

    /// Removes the files that the program has left. Returns false if the folder does not serve any more.
    pub(crate) fn tidy(&mut self) -> bool {
        self.settle();
        remove::empty(&self.temporary, Some(Instant::now() + TIDYING));
        !self.is_lost
    }

    /// Gives the folders back the rights that the program may have taken away.
    fn settle(&mut self) {
        let mut temporary = None;
        for folder in [&self.folder, &self.inner, &self.temporary] {
            let Ok(found) = at::status(folder) else { continue };
            temporary = Some(found.id);
            if found.is_frozen {
                let _ = at::thaw(folder);
            }
            if found.mode != 0o700 {
                let _ = at::set_mode(folder, 0o700);
            }
            if found.links == 0 || (found.is_frozen || found.mode != 0o700) && !is_whole(folder) {
                self.is_lost = true;
            }
        }
        if self.giving.is_exposed && !self.is_lost {
            let path = at::c_string(&self.temporary());
            let named = path.and_then(|path| at::status_at(at::HERE, &path));
            let is_there = named.is_ok_and(|named| temporary == Some(named.id));
            self.is_lost = !is_there;
        }
    }
}

/// Returns the error where an input cannot be written.
pub(crate) fn unwritten(source: io::Error) -> Error {
    Error::System { what: "the input cannot be written to the temporary folder", source }
}

fn is_whole(folder: &OwnedFd) -> bool {
    at::status(folder).is_ok_and(|found| found.mode == 0o700 && !found.is_frozen)
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(left) = remove(&self.path, &self.folder) {
            remove::record(left);
        }
    }
}

/// Returns a new folder that other users may not read.
fn new_folder() -> io::Result<(PathBuf, OwnedFd)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let base = std::path::absolute(std::env::temp_dir())?;
    loop {
        let path = base.join(format!("gramjet-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
        match at::make_folder(at::HERE, &at::c_string(&path)?) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result.map(|folder| (path, folder)),
        }
    }
}
