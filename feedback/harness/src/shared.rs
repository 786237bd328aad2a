//! Memory that is shared with the program under test, and that the kernel frees with the last process that has it.

use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::{ptr, slice};

use crate::error::Error;

/// Anonymous memory with a descriptor that the program inherits.
#[derive(Debug)]
pub(crate) struct Memory {
    descriptor: Option<OwnedFd>,
    start: *mut u8,
    len: usize,
    is_attached: bool,
}

// SAFETY: the mapping belongs to this value alone as far as this process is concerned.
unsafe impl Send for Memory {}

impl Memory {
    /// Returns memory of `len` bytes, all zero; pages that are never touched take no room.
    pub(crate) fn new(len: usize) -> Result<Memory, Error> {
        // SAFETY: system calls with a string that ends in zero; the descriptor has no other owner.
        let descriptor = unsafe {
            let descriptor = libc::memfd_create(c"gramjet".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING);
            if descriptor < 0 {
                return Err(Error::last("shared memory cannot be made"));
            }
            OwnedFd::from_raw_fd(descriptor)
        };
        use std::os::fd::AsRawFd;
        // SAFETY: maps memory of its own.
        let start = unsafe {
            if libc::ftruncate(descriptor.as_raw_fd(), len as libc::off_t) < 0 {
                return Err(Error::last("shared memory cannot be made"));
            }
            // A program that made it shorter would end this process by SIGBUS.
            let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
            if libc::fcntl(descriptor.as_raw_fd(), libc::F_ADD_SEALS, seals) < 0 {
                return Err(Error::last("shared memory cannot be sealed"));
            }
            let access = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(ptr::null_mut(), len, access, libc::MAP_SHARED, descriptor.as_raw_fd(), 0)
        };
        if start == libc::MAP_FAILED {
            return Err(Error::last("shared memory cannot be mapped"));
        }
        Ok(Memory { descriptor: Some(descriptor), start: start.cast(), len, is_attached: false })
    }

    /// Returns memory of System V with its number, as AFL++ shares it. It is marked to be removed at once, so none is
    /// left whatever happens.
    pub(crate) fn system_v(len: usize) -> Result<(Memory, i32), Error> {
        // SAFETY: attaches memory of its own.
        unsafe {
            let number = libc::shmget(libc::IPC_PRIVATE, len, libc::IPC_CREAT | 0o600);
            if number < 0 {
                return Err(Error::last("shared memory (System V) cannot be made"));
            }
            let start = libc::shmat(number, ptr::null(), 0);
            libc::shmctl(number, libc::IPC_RMID, ptr::null_mut());
            if start.addr() == usize::MAX {
                return Err(Error::last("shared memory (System V) cannot be attached"));
            }
            Ok((Memory { descriptor: None, start: start.cast(), len, is_attached: true }, number))
        }
    }

    /// Returns the descriptor, for the program.
    pub(crate) fn descriptor(&self) -> Result<OwnedFd, Error> {
        let descriptor = self.descriptor.as_ref().expect("memory with a descriptor");
        descriptor
            .try_clone()
            .map_err(|source| Error::System { what: "a file descriptor cannot be duplicated", source })
    }

    /// Returns the values from a place on.
    ///
    /// The program may write to them at any time, so this is for times when it waits.
    pub(crate) fn values<T: Word>(&mut self, from: usize, count: usize) -> &mut [T] {
        assert!(from.is_multiple_of(align_of::<T>()) && from + count * size_of::<T>() <= self.len);
        // SAFETY: within the mapping and aligned; every pattern of bits is a value.
        unsafe { slice::from_raw_parts_mut(self.start.add(from).cast(), count) }
    }

    /// Returns a number that the program may write to at any time.
    pub(crate) fn number(&self, at: usize) -> &AtomicU32 {
        assert!(at.is_multiple_of(align_of::<AtomicU32>()) && at + size_of::<AtomicU32>() <= self.len);
        // SAFETY: within the mapping and aligned; numbers are written to at once.
        unsafe { AtomicU32::from_ptr(self.start.add(at).cast()) }
    }

    /// Returns the numbers from a place on, which the program may write to at any time.
    pub(crate) fn numbers(&self, from: usize, count: usize) -> &[AtomicU32] {
        assert!(from.is_multiple_of(align_of::<AtomicU32>()) && from + count * size_of::<AtomicU32>() <= self.len);
        // SAFETY: within the mapping and aligned; they are atomic, as the program may write to them at any time.
        unsafe { slice::from_raw_parts(self.start.add(from).cast(), count) }
    }

    /// Returns a number of twice the size that the program may write to at any time.
    pub(crate) fn large_number(&self, at: usize) -> &AtomicU64 {
        assert!(at.is_multiple_of(align_of::<AtomicU64>()) && at + size_of::<AtomicU64>() <= self.len);
        // SAFETY: as above.
        unsafe { AtomicU64::from_ptr(self.start.add(at).cast()) }
    }

    /// Returns the sum of counts from a place on, which the program may write to meanwhile.
    pub(crate) fn sum<T: Count>(&self, from: usize, count: usize) -> u64 {
        assert!(from.is_multiple_of(align_of::<T>()) && from + count * size_of::<T>() <= self.len);
        // SAFETY: within the mapping and aligned; this process does not write to it meanwhile.
        let count_at = |at| unsafe { T::load(self.start.add(from).cast::<T>().add(at)) };
        // A program can write anything.
        (0..count).map(count_at).fold(0, u64::saturating_add)
    }
}

/// Numbers, of which every pattern of bits is a value.
pub(crate) trait Word: Copy {}
impl Word for u8 {}
impl Word for u32 {}
impl Word for u64 {}
impl Word for f64 {}

/// A count that another process may write to.
pub(crate) trait Count: Word {
    /// Returns the value of a count.
    ///
    /// # Safety
    ///
    /// The place is aligned and can be read; it is written to by other processes only.
    unsafe fn load(place: *mut Self) -> u64;
}

impl Count for u32 {
    unsafe fn load(place: *mut u32) -> u64 {
        // SAFETY: as the caller has promised.
        u64::from(unsafe { AtomicU32::from_ptr(place) }.load(Ordering::Relaxed))
    }
}

impl Count for u64 {
    unsafe fn load(place: *mut u64) -> u64 {
        // SAFETY: as the caller has promised.
        unsafe { AtomicU64::from_ptr(place) }.load(Ordering::Relaxed)
    }
}

impl Count for f64 {
    unsafe fn load(place: *mut f64) -> u64 {
        // SAFETY: as the caller has promised.
        f64::from_bits(unsafe { AtomicU64::from_ptr(place.cast()) }.load(Ordering::Relaxed)) as u64
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: made by the call that is undone here; nothing borrows from it any more.
        unsafe {
            if self.is_attached {
                libc::shmdt(self.start.cast());
            } else {
                libc::munmap(self.start.cast(), self.len);
            }
        }
    }
}
