//! The room that the files of a folder take which a program may have filled with anything.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::Path;

use super::at::{self, Status};

/// Words of the buffer for entries of a folder.
const BUFFER: usize = 1 << 11;
/// The most entries that are looked at. A folder with more counts as one that takes all room.
const ENTRIES: usize = 200_000;

/// The most folders without rights within each other. Where there are more, the folder counts as one that takes all
/// room: each has a descriptor.
const CLOSED: usize = 64;
/// Number of times that a folder is looked at whose parts are moved meanwhile.
const TRIES: usize = 3;

/// Returns the bytes that the files in a folder take. A part that cannot be looked at takes all room: a program can
/// move folders while they are looked at. A folder that gives this user no rights has them until it has been looked at.
///
/// Only the present folder is open, at any depth: the way back is `..`, if that is still the folder before.
pub(crate) fn taken(folder: &Path) -> u64 {
    let Ok(name) = at::c_string(folder) else { return u64::MAX };
    for _ in 0..TRIES {
        let taken = walk(&name);
        if let Ok(taken) = taken {
            return taken;
        }
        if at::status_of_entry(at::HERE, &name).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return 0;
        }
    }
    u64::MAX
}

/// A folder on the way.
struct Level {
    id: (u32, u32, u64),
    /// The folders in it that were not looked at.
    open: Vec<CString>,
    /// Rights to it that were given, and are taken away again when this is dropped.
    given: Option<Given>,
}

/// Rights to a folder that this user has while it is looked at.
struct Given {
    folder: OwnedFd,
    before: u32,
}

/// The rights that are given.
const ALL: u32 = 0o700;

impl Given {
    fn new(folder: OwnedFd, before: u32) -> io::Result<Given> {
        at::set_mode_of_path(&folder, ALL)?;
        Ok(Given { folder, before })
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        // The program may have set others meanwhile.
        if at::status(&self.folder).is_ok_and(|now| now.mode == ALL) {
            let _ = at::set_mode_of_path(&self.folder, self.before);
        }
    }
}

/// The room that entries take, and how many there were.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    bytes: u64,
    entries: usize,
}

fn walk(name: &CStr) -> io::Result<u64> {
    let mut sum = Sum::default();
    let (mut folder, level) = enter(at::HERE, name, &mut sum)?;
    let (mut closed, mut levels) = (usize::from(level.given.is_some()), vec![level]);
    while let Some(here) = levels.last_mut() {
        if let Some(name) = here.open.pop() {
            match enter(folder.as_raw_fd(), &name, &mut sum) {
                Ok((inner, level)) => {
                    folder = inner;
                    closed += usize::from(level.given.is_some());
                    levels.push(level);
                    if closed > CLOSED {
                        return Err(io::Error::other("too many folders without rights"));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            continue;
        }
        let done = levels.pop();
        let outer = levels.last().map(|_| at::open_folder(folder.as_raw_fd(), c"..")).transpose()?;
        closed -= usize::from(done.is_some_and(|done| done.given.is_some()));
        if let Some((outer, before)) = outer.zip(levels.last()) {
            if at::status(&outer)?.id != before.id {
                return Err(io::Error::from(io::ErrorKind::NotFound));
            }
            folder = outer;
        }
    }
    Ok(sum.bytes)
}

/// Opens a folder and adds what its entries take, whatever rights it gives.
fn enter(outer: RawFd, name: &CStr, sum: &mut Sum) -> io::Result<(OwnedFd, Level)> {
    let found = at::open(outer, name, libc::O_PATH | libc::O_DIRECTORY)?;
    // To open it by a name in it asks for all rights that are needed on the way.
    let look = || -> io::Result<(OwnedFd, Level, Sum)> {
        let folder = at::open_folder(found.as_raw_fd(), c".")?;
        let mut sum = *sum;
        let level = level(&folder, &mut sum)?;
        Ok((folder, level, sum))
    };
    match look() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let given = Given::new(found.try_clone()?, at::status(&found)?.mode)?;
            let (folder, level, added) = look()?;
            *sum = added;
            Ok((folder, Level { given: Some(given), ..level }))
        }
        looked => {
            let (folder, level, added) = looked?;
            *sum = added;
            Ok((folder, level))
        }
    }
}

/// Adds what the entries of a folder take.
fn level(folder: &OwnedFd, sum: &mut Sum) -> io::Result<Level> {
    let mut buffer = [0u64; BUFFER];
    let mut open = Vec::new();
    loop {
        let names = at::entries(folder.as_raw_fd(), &mut buffer);
        if names.is_empty() {
            return Ok(Level { id: at::status(folder)?.id, open, given: None });
        }
        for name in names {
            sum.entries += 1;
            if sum.entries > ENTRIES {
                return Err(io::Error::other("too many files"));
            }
            match at::status_of_entry(folder.as_raw_fd(), &name) {
                Ok(Status { kind, taken, .. }) => {
                    sum.bytes += taken;
                    if kind == libc::S_IFDIR {
                        open.push(name);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn files_are_counted_at_any_depth_and_links_are_not_followed() {
        let base = std::env::temp_dir().join(format!("gramjet-measure-{}", std::process::id()));
        let path = base.join("folder");
        fs::create_dir_all(&path).expect("a folder");
        assert_eq!(taken(&base.join("not-there")), 0);
        fs::write(base.join("outside"), vec![1; 8 << 20]).expect("a file");
        std::os::unix::fs::symlink(&base, path.join("link")).expect("a link");
        let folder = at::c_string(&path).and_then(|name| at::open_folder(at::HERE, &name)).expect("the folder");
        let mut inner = folder.try_clone().expect("a descriptor");
        // Longer than a path may be, and deeper than there are descriptors for.
        for _ in 0..3000 {
            at::make_folder(inner.as_raw_fd(), c"beside").expect("a folder");
            inner = at::make_folder(inner.as_raw_fd(), c"deep").expect("a folder");
        }
        let mut file =
            fs::File::from(at::open(inner.as_raw_fd(), c"file", libc::O_CREAT | libc::O_WRONLY).expect("a file"));
        file.write_all(&[1; 1 << 20]).expect("room");
        file.sync_all().expect("room");
        let found = taken(&path);
        assert!((1 << 20..1 << 26).contains(&found), "{found}");
        assert!(found < (1 << 20) + 6010 * 4096 + (1 << 20), "{found}");
        super::super::remove(&path, &folder).expect("no rest");
        fs::remove_dir_all(base).expect("a folder");
    }

    /// Number of the user `nobody`.
    const NOBODY: libc::uid_t = 65534;

    #[test]
    fn folders_without_rights_are_looked_at_and_have_none_afterwards() {
        let look = || {
            // SAFETY: a system call without pointers. It is about this thread alone, and does nothing without rights.
            unsafe { libc::setfsuid(NOBODY) };
            let path = std::env::temp_dir().join(format!("gramjet-closed-{}", std::process::id()));
            let folders = ["closed/inner", "closed", "listed", "empty", ""].map(|name| path.join(name));
            let modes = [0, 0, 0o400, 0o600, 0o100];
            folders.iter().for_each(|folder| fs::create_dir_all(folder).expect("folders"));
            for folder in [&folders[0], &folders[2]] {
                let mut file = fs::File::create(folder.join("file")).expect("a file");
                file.write_all(&[1; 1 << 20]).and_then(|()| file.sync_all()).expect("room");
            }
            let mode = |folder, mode| fs::set_permissions(folder, fs::Permissions::from_mode(mode)).expect("rights");
            for (folder, rights) in folders.iter().zip(modes) {
                mode(folder, rights);
            }
            let found = taken(&path);
            assert!((2 << 20..3 << 20).contains(&found), "{found}");
            for (folder, rights) in folders.iter().zip(modes).rev() {
                assert_eq!(fs::metadata(folder).expect("a folder").permissions().mode() & 0o777, rights);
                mode(folder, 0o700);
            }
            fs::remove_dir_all(&path).expect("a folder");
        };
        std::thread::spawn(look).join().expect("no panic");
    }
}
