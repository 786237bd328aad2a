//! Removal of folders that a program may have filled with anything: any depth, any modes, links, flags, mounts.
//!
//! Names are never followed: each step is relative to the descriptor of a folder. A folder within a folder that cannot
//! be removed at once is moved up, so two descriptors suffice for any depth.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use std::{fs, io};

use super::at;

/// Words of the buffer for entries of a folder.
const BUFFER: usize = 1 << 11;

/// A file or folder that could not be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The file or folder.
    pub path: PathBuf,
    /// Reason why it could not be removed.
    pub why: String,
}

/// Files and folders that the targets of this process could not remove.
static LEFT: Mutex<Vec<Left>> = Mutex::new(Vec::new());

/// Takes the list of temporary files that targets which were dropped could not remove: a program that runs as root can
/// protect them in ways that this process cannot undo.
pub fn left_behind() -> Vec<Left> {
    std::mem::take(&mut LEFT.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Records what could not be removed.
pub(super) fn record(left: Left) {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner).push(left);
}

/// Removes a folder that was made under this name, wherever it is now.
pub(crate) fn remove(path: &Path, folder: &OwnedFd) -> Result<(), Left> {
    let failed = empty(folder, None);
    let left = |path: PathBuf, error: &io::Error| Err(Left { path, why: error.to_string() });
    let _ = at::thaw(folder);
    let is_gone = at::status(folder).is_ok_and(|status| status.links == 0);
    let now = fs::read_link(format!("/proc/self/fd/{}", folder.as_raw_fd())).unwrap_or_else(|_| path.to_path_buf());
    let removed = if is_gone { Ok(()) } else { fs::remove_dir(&now) };
    if now != path {
        // Whatever a program has put there that is no folder.
        let _ = fs::remove_file(path);
    }
    match (removed, failed.first_key_value()) {
        (Ok(()), _) => Ok(()),
        (Err(error), _) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        (Err(_), Some((name, error))) => left(now.join(OsStr::from_bytes(name.to_bytes())), error),
        (Err(error), None) => left(now, &error),
    }
}

/// Removes the entries of a folder, but no longer than until then. Returns those that cannot be removed.
pub(super) fn empty(folder: &OwnedFd, until: Option<Instant>) -> BTreeMap<CString, io::Error> {
    let folder = folder.as_raw_fd();
    let mut next = 0u64;
    clear(folder, until, &mut |name| dissolve(folder, name, until, &mut next))
}

/// Removes the entries of a folder; `nested` removes one that is a folder with entries. Returns those that cannot be
/// removed.
fn clear(
    folder: RawFd,
    until: Option<Instant>,
    nested: &mut dyn FnMut(&CStr) -> io::Result<()>,
) -> BTreeMap<CString, io::Error> {
    let mut failed = BTreeMap::new();
    let mut buffer = [0u64; BUFFER];
    loop {
        let mut is_changed = false;
        at::rewind(folder);
        loop {
            let names = at::entries(folder, &mut buffer);
            if names.is_empty() {
                break;
            }
            for name in names {
                if until.is_some_and(|until| Instant::now() >= until) {
                    return failed;
                }
                if failed.contains_key(&name) {
                    continue;
                }
                match remove_entry(folder, &name, nested) {
                    Ok(()) => is_changed = true,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => {
                        failed.insert(name, error);
                    }
                }
            }
        }
        // Folders that were moved up are entries now, and the position in a folder that changes is not exact.
        if !is_changed {
            return failed;
        }
    }
}

/// Removes one entry, and what hinders that, as far as possible.
fn remove_entry(folder: RawFd, name: &CStr, nested: &mut dyn FnMut(&CStr) -> io::Result<()>) -> io::Result<()> {
    let mut attempt = || match at::unlink(folder, name) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOTEMPTY | libc::EEXIST)) => nested(name),
        result => result,
    };
    let Err(error) = attempt() else { return Ok(()) };
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            let _ = at::thaw(&folder);
            let _ = at::set_mode(&folder, 0o700);
            let _ = at::thaw_at(folder, name);
            let _ = at::set_mode_at(folder, name);
        }
        Some(libc::EBUSY | libc::EXDEV) => at::unmount(folder, name)?,
        _ => return Err(error),
    }
    attempt()
}

/// Removes a folder with entries; folders among these that have entries become entries of the outer folder.
fn dissolve(outer: RawFd, name: &CStr, until: Option<Instant>, next: &mut u64) -> io::Result<()> {
    if !at::is_on_mount(outer, name) {
        return Err(io::Error::from_raw_os_error(libc::EXDEV));
    }
    let folder = at::open_folder(outer, name)?;
    let inner = folder.as_raw_fd();
    let failed = clear(inner, until, &mut |entry| {
        if !at::is_on_mount(inner, entry) {
            return Err(io::Error::from_raw_os_error(libc::EXDEV));
        }
        loop {
            let new = CString::new(format!("gramjet-{next}")).expect("no zero byte");
            *next += 1;
            match at::rename(inner, entry, outer, &new) {
                Err(error) if matches!(error.raw_os_error(), Some(libc::ENOTEMPTY | libc::EEXIST | libc::ENOTDIR)) => {}
                result => return result,
            }
        }
    });
    match failed.into_values().next() {
        Some(error) => Err(error),
        None => at::unlink(outer, name),
    }
}

/// Removes a file or folder of a folder, whatever it is.
pub(super) fn remove_at(folder: &OwnedFd, name: &CStr) -> io::Result<()> {
    let folder = folder.as_raw_fd();
    let mut next = 0;
    let result = remove_entry(folder, name, &mut |name| dissolve(folder, name, None, &mut next));
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn folders_of_any_depth_are_removed() {
        // A file system in memory, if there is one: this makes many folders.
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
        let path = base.join(format!("gramjet-remove-{}", std::process::id()));
        let folder = at::make_folder(at::HERE, &at::c_string(&path).expect("a path")).expect("a folder");
        let mut inner = folder.try_clone().expect("a descriptor");
        // More than there are descriptors for, and longer than a path may be.
        for _ in 0..5000 {
            let beside = at::make_folder(inner.as_raw_fd(), c"beside").expect("a folder");
            at::open(beside.as_raw_fd(), c"file", libc::O_CREAT | libc::O_WRONLY).expect("a file");
            at::set_mode(&beside, 0).expect("no rights");
            let next = at::make_folder(inner.as_raw_fd(), c"deep").expect("a folder");
            at::set_mode(&inner, 0).expect("no rights");
            inner = next;
        }
        assert_eq!(remove(&path, &folder), Ok(()));
        assert!(!path.exists());
    }

    #[test]
    fn links_are_removed_and_not_followed() {
        let base = std::env::temp_dir().join(format!("gramjet-remove-links-{}", std::process::id()));
        fs::create_dir_all(base.join("kept")).expect("a folder");
        fs::write(base.join("kept/file"), "").expect("a file");
        let path = base.join("removed");
        let folder = at::make_folder(at::HERE, &at::c_string(&path).expect("a path")).expect("a folder");
        std::os::unix::fs::symlink(base.join("kept"), path.join("link")).expect("a link");
        std::os::unix::fs::symlink(base.join("kept/file"), path.join("file")).expect("a link");
        assert_eq!(remove(&path, &folder), Ok(()));
        assert!(base.join("kept/file").exists() && !path.exists());
        fs::remove_dir_all(base).expect("the folder");
    }
}
