//! System calls on files by the descriptor of their folder: no name is followed that a program may have changed.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Attributes of a file that keep everyone from changing it.
const FROZEN: u64 = (libc::STATX_ATTR_IMMUTABLE | libc::STATX_ATTR_APPEND) as u64;
/// Flags that keep everyone from changing a file (`FS_IMMUTABLE_FL`, `FS_APPEND_FL` of linux/fs.h), and the requests
/// that read and set them.
const FROZEN_FLAGS: libc::c_int = 0x10 | 0x20;
const GET_FLAGS: libc::Ioctl = 0x8008_6601u32 as libc::Ioctl;
const SET_FLAGS: libc::Ioctl = 0x4008_6602u32 as libc::Ioctl;

/// The folder that names without a folder begin in; absolute names ignore it.
pub(super) const HERE: RawFd = libc::AT_FDCWD;

/// The facts about a file that a program can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status {
    /// Identifies the file.
    pub(super) id: (u32, u32, u64),
    pub(super) kind: u32,
    pub(super) mode: u32,
    pub(super) links: u32,
    pub(super) len: u64,
    /// Number of bytes that it takes.
    pub(super) taken: u64,
    /// Whether a flag of the file system keeps it from being changed or removed.
    pub(super) is_frozen: bool,
}

pub(super) fn c_string(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Returns the status of an open file.
pub(super) fn status(file: &impl AsRawFd) -> io::Result<Status> {
    statx(file.as_raw_fd(), c"", libc::AT_EMPTY_PATH)
}

/// Returns the status of what a name leads to; links are followed.
pub(super) fn status_at(folder: RawFd, name: &CStr) -> io::Result<Status> {
    statx(folder, name, 0)
}

/// Returns the status of an entry of a folder itself, also of a link.
pub(super) fn status_of_entry(folder: RawFd, name: &CStr) -> io::Result<Status> {
    statx(folder, name, libc::AT_SYMLINK_NOFOLLOW)
}

fn statx(folder: RawFd, name: &CStr, flags: libc::c_int) -> io::Result<Status> {
    // SAFETY: zeroes are a value of this type, and the pointers are to live values.
    let found = unsafe {
        let mut found: libc::statx = mem::zeroed();
        check(libc::statx(folder, name.as_ptr(), flags, libc::STATX_BASIC_STATS, &mut found))?;
        found
    };
    let mode = u32::from(found.stx_mode);
    Ok(Status {
        id: (found.stx_dev_major, found.stx_dev_minor, found.stx_ino),
        kind: mode & libc::S_IFMT,
        mode: mode & 0o7777,
        links: found.stx_nlink,
        len: found.stx_size,
        taken: found.stx_blocks * 512,
        is_frozen: found.stx_attributes & FROZEN != 0,
    })
}

/// Opens a file of a folder; a link is never followed.
pub(super) fn open(folder: RawFd, name: &CStr, flags: libc::c_int) -> io::Result<OwnedFd> {
    let flags = flags | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    // SAFETY: a string that ends in a zero byte; the descriptor has no other owner.
    unsafe { check(libc::openat(folder, name.as_ptr(), flags, 0o600)).map(|file| OwnedFd::from_raw_fd(file)) }
}

/// Opens a folder to read its entries.
pub(super) fn open_folder(folder: RawFd, name: &CStr) -> io::Result<OwnedFd> {
    open(folder, name, libc::O_RDONLY | libc::O_DIRECTORY)
}

/// Makes a folder that other users may not read, whatever the umask is.
pub(super) fn make_folder(folder: RawFd, name: &CStr) -> io::Result<OwnedFd> {
    // SAFETY: a string that ends in a zero byte.
    check(unsafe { libc::mkdirat(folder, name.as_ptr(), 0o700) })?;
    let made = open_folder(folder, name)?;
    set_mode(&made, 0o700)?;
    Ok(made)
}

/// Opens an open file another time, for reading, with a place in it of its own.
pub(super) fn reader(file: &impl AsRawFd) -> io::Result<File> {
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

pub(super) fn set_mode(file: &impl AsRawFd, mode: u32) -> io::Result<()> {
    // SAFETY: a system call without pointers.
    check(unsafe { libc::fchmod(file.as_raw_fd(), mode) }).map(drop)
}

/// Gives this user all rights to a file or folder of a folder, without opening it, which it may not allow.
pub(super) fn set_mode_at(folder: RawFd, name: &CStr) -> io::Result<()> {
    let file = open(folder, name, libc::O_PATH)?;
    if status(&file)?.kind == libc::S_IFLNK {
        return Ok(());
    }
    set_mode_of_path(&file, 0o700)
}

/// Sets the rights to a file or folder that was opened by `O_PATH` and is no link.
pub(super) fn set_mode_of_path(file: &impl AsRawFd, mode: u32) -> io::Result<()> {
    let path = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd())).expect("no zero byte");
    // SAFETY: a string that ends in a zero byte.
    check(unsafe { libc::chmod(path.as_ptr(), mode) }).map(drop)
}

/// Clears the flags that keep a file from being changed.
pub(super) fn thaw(file: &impl AsRawFd) -> io::Result<()> {
    let mut flags: libc::c_int = 0;
    // SAFETY: pointers to a live value.
    unsafe {
        check(libc::ioctl(file.as_raw_fd(), GET_FLAGS, &mut flags))?;
        flags &= !FROZEN_FLAGS;
        check(libc::ioctl(file.as_raw_fd(), SET_FLAGS, &flags)).map(drop)
    }
}

/// Clears the flags that keep a file or folder of a folder from being removed.
pub(super) fn thaw_at(folder: RawFd, name: &CStr) -> io::Result<()> {
    let found = status(&open(folder, name, libc::O_PATH)?)?;
    // To open others may wait, or do something.
    if !found.is_frozen || !matches!(found.kind, libc::S_IFREG | libc::S_IFDIR) {
        return Ok(());
    }
    thaw(&open(folder, name, libc::O_RDONLY | libc::O_NONBLOCK)?)
}

/// Removes a file, or a folder without entries.
pub(super) fn unlink(folder: RawFd, name: &CStr) -> io::Result<()> {
    let unlink = |flags| {
        // SAFETY: a string that ends in a zero byte.
        check(unsafe { libc::unlinkat(folder, name.as_ptr(), flags) }).map(drop)
    };
    match unlink(0) {
        Err(error) if error.raw_os_error() == Some(libc::EISDIR) => unlink(libc::AT_REMOVEDIR),
        result => result,
    }
}

/// Moves an entry of one folder to another one, under another name.
pub(super) fn rename(from: RawFd, name: &CStr, to: RawFd, new: &CStr) -> io::Result<()> {
    // SAFETY: strings that end in a zero byte.
    check(unsafe { libc::renameat(from, name.as_ptr(), to, new.as_ptr()) }).map(drop)
}

/// Takes away what is mounted on an entry of a folder.
pub(super) fn unmount(folder: RawFd, name: &CStr) -> io::Result<()> {
    let mut path = format!("/proc/self/fd/{folder}/").into_bytes();
    path.extend_from_slice(name.to_bytes());
    let path = CString::new(path).expect("no zero byte");
    // SAFETY: a string that ends in a zero byte.
    check(unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH | libc::UMOUNT_NOFOLLOW) }).map(drop)
}

/// Returns true if a folder is on the same mount as the one that it is an entry of: else its files may be those of
/// others.
pub(super) fn is_on_mount(folder: RawFd, name: &CStr) -> bool {
    #[repr(C)]
    struct How {
        flags: u64,
        mode: u64,
        resolve: u64,
    }
    const NO_XDEV: u64 = 1;
    const NO_SYMLINKS: u64 = 4;
    let how = How { flags: (libc::O_PATH | libc::O_CLOEXEC) as u64, mode: 0, resolve: NO_XDEV | NO_SYMLINKS };
    // SAFETY: pointers to live values; the descriptor has no other owner.
    let opened = unsafe {
        let opened =
            libc::syscall(libc::SYS_openat2, folder, name.as_ptr(), std::ptr::from_ref(&how), size_of::<How>());
        check(opened as libc::c_int).map(|file| OwnedFd::from_raw_fd(file))
    };
    match opened {
        Ok(_) => true,
        // Before Linux 5.6: a mount of the same file system is not seen.
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
            let device = |status: io::Result<Status>| status.ok().map(|status| (status.id.0, status.id.1));
            let inner = open(folder, name, libc::O_PATH).and_then(|inner| status(&inner));
            device(inner) == device(statx(folder, c"", libc::AT_EMPTY_PATH))
        }
        Err(_) => false,
    }
}

/// Begins to read the entries of a folder anew.
pub(super) fn rewind(folder: RawFd) {
    // SAFETY: a system call without pointers.
    unsafe { libc::lseek(folder, 0, libc::SEEK_SET) };
}

/// Returns the next names of a folder's entries; none at the end. `buffer` is for the system call.
pub(super) fn entries(folder: RawFd, buffer: &mut [u64]) -> Vec<CString> {
    let len = size_of_val(buffer);
    // SAFETY: room for that many bytes.
    let got = unsafe { libc::syscall(libc::SYS_getdents64, folder, buffer.as_mut_ptr(), len) };
    let Ok(got @ 1..) = usize::try_from(got) else { return Vec::new() };
    // SAFETY: every pattern of bits is a value, and the buffer has that many bytes.
    let mut rest = unsafe { std::slice::from_raw_parts(buffer.as_ptr().cast::<u8>(), got.min(len)) };
    let mut names = Vec::new();
    // `struct linux_dirent64`: inode and offset of 8 bytes, the length of the record in 2, the type in 1, the name.
    while let Some(&[low, high]) = rest.get(16..18) {
        let (record, after) = rest.split_at(usize::from(u16::from_ne_bytes([low, high])).clamp(19, rest.len()));
        rest = after;
        let name = CStr::from_bytes_until_nul(&record[19..]).unwrap_or_default();
        if !matches!(name.to_bytes(), b"" | b"." | b"..") {
            names.push(name.to_owned());
        }
    }
    names
}
