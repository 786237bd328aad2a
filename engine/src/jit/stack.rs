//! The bound on native recursion.
//!
//! Machine code recurses on the stack of its caller as long as an input uses no more than [`CALLER_STACK`] of it. Beyond
//! that it goes on upon a region of its own, which the system maps as it is touched and which is given back with the
//! input. Where the region ends too, or none can be had, the machine finishes on what is kept of the stack for that.

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

/// How much of the caller's stack an input may use, in bytes: fits the smallest usual thread stacks.
pub(super) const CALLER_STACK: usize = 192 << 10;

/// The size of a region in bytes.
const REGION: usize = 1 << 30;

/// What is kept of a region for finishing, in bytes.
pub(super) const FINISHING: usize = 128 << 20;

/// Inaccessible bytes at the end of a region.
const GUARD: usize = 64 << 10;

/// Memory for a stack.
pub(super) struct Region {
    base: *mut core::ffi::c_void,
}

impl Region {
    /// A new region; `None` if the system has no room.
    pub fn map() -> Option<Region> {
        // SAFETY: a new mapping at an address of the system's choice touches no memory in use; its first bytes are then
        // made inaccessible.
        unsafe {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
            let region = Region { base: mmap_anonymous(std::ptr::null_mut(), REGION, access, flags).ok()? };
            mprotect(region.base, GUARD, MprotectFlags::empty()).ok()?;
            Some(region)
        }
    }

    /// The address at which the stack begins: it grows downwards.
    pub fn top(&self) -> usize {
        self.base as usize + REGION
    }

    /// The address below which the machine must finish.
    pub fn low(&self) -> usize {
        self.base as usize + GUARD + FINISHING
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping is this region's own, and the run that used it as a stack is over. If it cannot be unmapped,
        // nothing can be done.
        unsafe {
            let _ = munmap(self.base, REGION);
        }
    }
}
