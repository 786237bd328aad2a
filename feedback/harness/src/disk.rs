//! The room that a run takes on the file system of its temporary folder.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Bytes of a block of `st_blocks`.
const BLOCK: u64 = 512;
/// The folder itself, and an input that the program has copied, are within any limit on a disk that is nearly full.
const LEAST: u64 = 1 << 20;
/// The most files of a folder that are looked at. A run that has more is stopped, if the file system has lost the room.
const FILES: usize = 200_000;

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
    pub(crate) fn is_exceeded<I: Iterator<Item = libc::pid_t>>(&mut self, processes: impl FnOnce() -> I) -> bool {
        let Some(limit) = self.limit else { return false };
        let Some(free) = self.free() else { return false };
        self.free = self.free.max(free);
        if self.free - free < limit {
            return false;
        }
        let used = in_folder(&self.folder).saturating_add(without_name(&self.folder, processes()));
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

/// Returns the bytes that the files in a folder take.
fn in_folder(folder: &Path) -> u64 {
    let (mut open, mut used, mut files) = (vec![folder.to_path_buf()], 0, 0);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            files += 1;
            if files > FILES {
                return u64::MAX;
            }
            // Links are not followed.
            let Ok(facts) = entry.metadata() else { continue };
            used += facts.blocks() * BLOCK;
            if facts.is_dir() {
                open.push(entry.path());
            }
        }
    }
    used
}

/// Returns the bytes of the files beside a folder that processes have open and that have no name.
fn without_name(folder: &Path, processes: impl Iterator<Item = libc::pid_t>) -> u64 {
    let Ok(device) = fs::metadata(folder).map(|facts| facts.dev()) else { return 0 };
    let descriptors = processes.flat_map(|process| fs::read_dir(format!("/proc/{process}/fd"))).flatten().flatten();
    let facts = descriptors.filter_map(|descriptor| fs::metadata(descriptor.path()).ok());
    // A file that several processes have open takes its room once.
    let files: BTreeMap<u64, u64> = facts
        .filter(|facts| facts.is_file() && facts.nlink() == 0 && facts.dev() == device)
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
        assert!(in_folder(&folder) >= 1 << 20);
        fs::remove_file(folder.join("a/b/c")).expect("a file");
        assert!(in_folder(&folder) < 1 << 20);
        let own = std::process::id() as libc::pid_t;
        let used = without_name(&folder, [own, own].into_iter());
        assert!((1 << 20..2 << 20).contains(&used), "{used}");
        fs::remove_dir_all(&folder).expect("a folder");
    }

    #[test]
    fn without_a_limit_nothing_is_looked_at() {
        let mut disk = Disk::new(Path::new("/"), None);
        assert!(!disk.is_exceeded(|| -> std::iter::Empty<libc::pid_t> { unreachable!("nothing is looked at") }));
    }
}
