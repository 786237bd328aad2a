//! The room that the files of a folder take which a program may have filled with anything.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use super::at::{self, Status};

/// Words of the buffer for entries of a folder.
const BUFFER: usize = 1 << 11;
/// The most entries that are looked at. A folder with more counts as one that takes all room.
const ENTRIES: usize = 200_000;

/// Returns the bytes that the files in a folder take. A part that cannot be looked at takes all room: a program can
/// take away the right to it, or move folders while they are looked at.
///
/// Only the present folder is open, at any depth: the way back is `..`, if that is still the folder before.
pub(crate) fn taken(folder: &Path) -> u64 {
    let opened = at::c_string(folder).and_then(|name| at::open_folder(at::HERE, &name));
    match opened.map(walk) {
        Ok(taken) => taken.unwrap_or(u64::MAX),
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(_) => u64::MAX,
    }
}

/// A folder on the way: which it is, and its folders that were not looked at.
struct Level {
    id: (u32, u32, u64),
    open: Vec<CString>,
}

fn walk(mut folder: OwnedFd) -> io::Result<u64> {
    let (mut taken, mut looked) = (0, 0);
    let mut levels: Vec<Level> = vec![level(&folder, &mut taken, &mut looked)?];
    while let Some(level_here) = levels.last_mut() {
        let Some(name) = level_here.open.pop() else {
            levels.pop();
            if let Some(before) = levels.last() {
                folder = at::open_folder(folder.as_raw_fd(), c"..")?;
                if at::status(&folder)?.id != before.id {
                    return Err(io::Error::from(io::ErrorKind::NotFound));
                }
            }
            continue;
        };
        match at::open_folder(folder.as_raw_fd(), &name) {
            Ok(inner) => {
                folder = inner;
                levels.push(level(&folder, &mut taken, &mut looked)?);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(taken)
}

/// Adds what the entries of a folder take.
fn level(folder: &OwnedFd, taken: &mut u64, looked: &mut usize) -> io::Result<Level> {
    let mut buffer = [0u64; BUFFER];
    let mut open = Vec::new();
    loop {
        let names = at::entries(folder.as_raw_fd(), &mut buffer);
        if names.is_empty() {
            return Ok(Level { id: at::status(folder)?.id, open });
        }
        for name in names {
            *looked += 1;
            if *looked > ENTRIES {
                return Err(io::Error::other("too many files"));
            }
            match at::status_of_entry(folder.as_raw_fd(), &name) {
                Ok(Status { kind, taken: own, .. }) => {
                    *taken += own;
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
}
