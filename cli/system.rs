//! Calls of the system that the standard library has no safe form of, each with one.

#![expect(unsafe_code, reason = "calls of the C library are unsafe by nature")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::process::Child;

/// Waits until a file that does not block takes bytes.
pub fn wait_until_writable(file: &File) -> io::Result<()> {
    let mut wanted = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
    // SAFETY: the pointer is to one element, as the count says, and `file` keeps its descriptor open.
    done(unsafe { libc::poll(&raw mut wanted, 1, -1) })
}

/// Gives a pipe room for this many bytes.
#[cfg(target_os = "linux")]
pub fn set_pipe_size(pipe: &File, size: i32) -> io::Result<()> {
    // SAFETY: the command takes a number, and `pipe` keeps its descriptor open.
    done(unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETPIPE_SZ, size) })
}

/// Allocates `len` bytes of a file from `start` on, and makes it longer if need be.
#[cfg(target_os = "linux")]
pub fn allocate(file: &File, start: u64, len: u64) -> io::Result<()> {
    let number = |value: u64| i64::try_from(value).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG));
    let (start, len) = (number(start)?, number(len)?);
    // SAFETY: the call takes numbers, and `file` keeps its descriptor open.
    done(unsafe { libc::fallocate64(file.as_raw_fd(), 0, start, len) })
}

/// Kills the process group that a child leads. The child is not waited for yet, so that no other process has its
/// number. That the group is gone already is no error.
pub fn kill_group(child: &Child) {
    // A number that does not fit or is 0 would stand for other processes.
    let Some(group) = i32::try_from(child.id()).ok().filter(|group| *group > 1) else { return };
    // SAFETY: the call takes numbers.
    unsafe { libc::kill(-group, libc::SIGKILL) };
}

/// Returns the error that a call left, if it failed.
fn done(status: i32) -> io::Result<()> {
    if status == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
