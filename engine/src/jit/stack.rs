//! The bound on native recursion.
//!
//! Machine code recurses on the stack of its caller as long as an input uses no more than [`CALLER_STACK`] of it.
//! Beyond that it continues on a region of its own. The system maps the region as it is touched, and it is given back
//! with the input. Where the region ends too, the machine finishes. The most stack that lowest derivations use is known
//! when the code is made, and is reserved. Slow paths, and choice sources with them, run on the caller's stack.
//!
//! Without a region the machine finishes where [`CALLER_STACK`] is used up. That takes at most [`FINISHING_HERE`] bytes
//! more: code that may need more has its region before an input begins, or does not run.

use super::pages;

/// Number of bytes of the caller's stack that an input may use: fits the smallest usual thread stacks.
pub(super) const CALLER_STACK: usize = 192 << 10;

/// The size in bytes of a region, unless the user says otherwise.
pub(super) const REGION: usize = 1 << 30;

/// Number of further bytes of the caller's stack that an input may use where there is no region.
pub(super) const FINISHING_HERE: usize = 64 << 10;

/// The part of a region that signal handlers may use, in bytes.
const SIGNALS: usize = 64 << 10;

/// Inaccessible bytes at the end of a region.
const GUARD: usize = 64 << 10;

/// Memory for a stack.
pub(super) struct Region {
    base: *mut core::ffi::c_void,
    len: usize,
    finishing: usize,
}

impl Region {
    /// Returns a new region of `len` bytes, of which `finishing` bytes are kept for machine code that finishes;
    /// smaller, if the system has no room for it. `None` if it has no room at all.
    pub fn map(len: usize, finishing: usize) -> Option<Region> {
        #[cfg(test)]
        if tests::REFUSED.get() {
            return None;
        }
        let least = finishing + SIGNALS + GUARD;
        let mut len = len.max(2 * least).next_multiple_of(GUARD);
        loop {
            match Region::map_all(len, finishing) {
                Some(region) => return Some(region),
                None if len / 2 > least => len = (len / 2).next_multiple_of(GUARD),
                None => return None,
            }
        }
    }

    fn map_all(len: usize, finishing: usize) -> Option<Region> {
        let base = pages::map(len, libc::MAP_NORESERVE).ok()?;
        let region = Region { base, len, finishing };
        // SAFETY: nothing refers to the new mapping, of which these are the first pages.
        unsafe { pages::protect(region.base, GUARD, libc::PROT_NONE) }.ok()?;
        Some(region)
    }

    /// Returns the address at which the stack begins: it grows downwards.
    pub fn top(&self) -> usize {
        self.base as usize + self.len
    }

    /// Returns the address below which the machine must finish.
    pub fn low(&self) -> usize {
        self.base as usize + GUARD + SIGNALS + self.finishing
    }

    /// Returns how many bytes below [`Region::low`] are not zero any more.
    #[cfg(test)]
    pub fn used_for_finishing(&self) -> usize {
        // SAFETY: the mapping is zeros at first, and accessible from the end of the guard on.
        let words = unsafe {
            let accessible = self.base.cast::<u8>().add(GUARD).cast::<usize>();
            std::slice::from_raw_parts(accessible, (SIGNALS + self.finishing) / 8)
        };
        words.iter().position(|&word| word != 0).map_or(0, |untouched| 8 * (words.len() - untouched))
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping is this region's own, and the run that used it as a stack is over.
        unsafe { pages::unmap(self.base, self.len) }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::Cell;

    thread_local! {
        /// Flag of this thread: true if it is refused regions, as by a system without room.
        pub static REFUSED: Cell<bool> = const { Cell::new(false) };
    }
}
