//! Pages of memory from the system: the calls that machine code and stacks are mapped by.

use std::ffi::c_void;
use std::io;
use std::ptr;

/// Memory that is readable and writable.
pub(super) const WRITABLE: i32 = libc::PROT_READ | libc::PROT_WRITE;

/// Maps `len` bytes of zeros, readable and writable, at an address of the system's choice. `flags` are added to those
/// of a private mapping.
pub(super) fn map(len: usize, flags: i32) -> io::Result<*mut c_void> {
    // SAFETY: a new mapping at an address of the system's choice touches no memory in use.
    let base = unsafe { libc::mmap(ptr::null_mut(), len, WRITABLE, libc::MAP_PRIVATE | libc::MAP_ANON | flags, -1, 0) };
    if base == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(base) }
}

/// Changes what may be done with `len` bytes from `base` on.
///
/// # Safety
///
/// They are whole pages of a mapping from [`map`], and no reference to them allows more.
pub(super) unsafe fn protect(base: *mut c_void, len: usize, access: i32) -> io::Result<()> {
    // SAFETY: the caller promises it.
    if unsafe { libc::mprotect(base, len, access) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Gives a mapping of `len` bytes back. If that fails, nothing can be done.
///
/// # Safety
///
/// The mapping is from [`map`], as long as it was mapped, and nothing refers to it any more.
pub(super) unsafe fn unmap(base: *mut c_void, len: usize) {
    // SAFETY: the caller promises it.
    unsafe { libc::munmap(base, len) };
}
