//! The room that a run takes on the file system of its temporary folder.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{self, Metadata};
use std::mem::MaybeUninit;
use std::os::fd::FromRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::scratch::taken;

/// Bytes of a block of `st_blocks`.
const BLOCK: u64 = 512;
/// The folder itself, and an input that the program has copied, are within any limit on a disk that is nearly full.
const LEAST: u64 = 1 << 20;
/// Watches how much a run writes to its temporary folder.
///
/// To look at all of its files takes long. The file system says at once how much room it has left, so they are looked
/// at only if it has lost as much as the run may take.
#[derive(Debug)]
pub(crate) struct Disk {
    folder: PathBuf,
    name: CString,
    limit: Option<u64>,
    /// Most bytes that were free since the files were looked at last.
    free: u64,
}

impl Disk {
    /// Begins to watch a folder, which has nothing in it yet.
    pub(crate) fn new(folder: &Path, limit: Option<u64>) -> Disk {
        let name = CString::new(folder.as_os_str().as_bytes()).unwrap_or_default();
        let mut disk = Disk { folder: folder.to_path_buf(), name, limit, free: 0 };
        if limit.is_some() {
            disk.free = disk.free().unwrap_or(0);
            // A nearly full disk is not filled up.
            disk.limit = limit.map(|limit| limit.min(disk.free / 2));
        }
        disk
    }

    /// Returns true if the run has taken more room than it may. These are its processes: they may have files open that
    /// have no name any more.
    pub(crate) fn is_exceeded(&mut self, processes: &[libc::pid_t]) -> bool {
        let Some(limit) = self.limit else { return false };
        let Some(free) = self.free() else { return false };
        self.free = self.free.max(free);
        if self.free - free < limit {
            return false;
        }
        let used = taken(&self.folder).saturating_add(without_name(&self.folder, processes));
        // Where a disk was full before, nothing is the fault of a run that takes no room.
        let is_exceeded = used >= limit.max(LEAST);
        if !is_exceeded {
            // Others have taken it.
            self.free = free;
        }
        is_exceeded
    }

    /// Returns the bytes that are free for users.
    fn free(&self) -> Option<u64> {
        let mut found = MaybeUninit::<libc::statvfs>::uninit();
        // SAFETY: a string that ends in zero, and room for the answer.
        let answer = unsafe { libc::statvfs(self.name.as_ptr(), found.as_mut_ptr()) };
        // SAFETY: the call has filled it.
        (answer == 0).then(|| unsafe { found.assume_init() }).map(|found| found.f_bavail * found.f_frsize)
    }
}

/// Returns the bytes of the files beside a folder that processes have open and that have no name.
fn without_name(folder: &Path, processes: &[libc::pid_t]) -> u64 {
    let Ok(device) = fs::metadata(folder).map(|facts| facts.dev()) else { return 0 };
    nameless(processes, |facts| facts.dev() == device && !is_in_memory(facts))
}

/// Returns the bytes of the files in memory that processes have open and that have no name (`memfd_create`). What is
/// written to them is part of no process's memory.
pub(crate) fn in_memory(processes: &[libc::pid_t]) -> u64 {
    nameless(processes, is_in_memory)
}

/// Returns true for a file of the file system that `memfd_create` uses, which is mounted nowhere and has no device.
fn is_in_memory(facts: &Metadata) -> bool {
    static DEVICE: OnceLock<Option<u64>> = OnceLock::new();
    let device = DEVICE.get_or_init(|| {
        // SAFETY: a string that ends in zero; the descriptor has no other owner.
        let file = unsafe {
            let descriptor = libc::memfd_create(c"gramjet".as_ptr(), libc::MFD_CLOEXEC);
            (descriptor >= 0).then(|| fs::File::from_raw_fd(descriptor))
        };
        file.and_then(|file| file.metadata().ok()).map(|facts| facts.dev())
    });
    *device == Some(facts.dev())
}

fn nameless(processes: &[libc::pid_t], is_meant: impl Fn(&Metadata) -> bool) -> u64 {
    let folders = processes.iter().flat_map(|process| fs::read_dir(format!("/proc/{process}/fd")));
    let facts = folders.flatten().flatten().filter_map(|descriptor| fs::metadata(descriptor.path()).ok());
    // A file that several processes have open takes its room once.
    let files: BTreeMap<u64, u64> = facts
        .filter(|facts| facts.is_file() && facts.nlink() == 0 && is_meant(facts))
        .map(|facts| (facts.ino(), facts.blocks() * BLOCK))
        .collect();
    files.values().sum()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn files_are_counted_whether_or_not_they_have_a_name() {
        let folder = std::env::temp_dir().join(format!("gramjet-disk-{}", std::process::id()));
        fs::create_dir_all(folder.join("a/b")).expect("folders");
        let mut named = fs::File::create(folder.join("a/b/c")).expect("a file");
        named.write_all(&[1; 1 << 20]).expect("room");
        named.sync_all().expect("room");
        assert!(taken(&folder) >= 1 << 20);
        fs::remove_file(folder.join("a/b/c")).expect("a file");
        assert!(taken(&folder) < 1 << 20);
        let own = std::process::id() as libc::pid_t;
        let used = without_name(&folder, &[own, own]);
        assert!((1 << 20..2 << 20).contains(&used), "{used}");
        fs::remove_dir_all(&folder).expect("a folder");
    }

    #[test]
    fn files_in_memory_are_counted() {
        let own = [std::process::id() as libc::pid_t];
        let before = in_memory(&own);
        // SAFETY: a string that ends in zero; the descriptor has no other owner.
        let mut file = unsafe { fs::File::from_raw_fd(libc::memfd_create(c"test".as_ptr(), libc::MFD_CLOEXEC)) };
        file.write_all(&[1; 4 << 20]).expect("memory");
        assert!(in_memory(&own) >= before + (3 << 20));
    }

    #[test]
    fn without_a_limit_nothing_is_looked_at() {
        let mut disk = Disk::new(Path::new("/"), None);
        assert!(!disk.is_exceeded(&[]));
    }
}
