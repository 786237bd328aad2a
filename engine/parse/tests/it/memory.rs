//! An allocator that counts what this thread has allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static IN_USE: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

fn count(change: isize) {
    // While a thread ends, nothing is counted.
    let _ = IN_USE.try_with(|in_use| {
        in_use.set(in_use.get().wrapping_add_signed(change));
        let _ = PEAK
            .try_with(|peak| peak.set(peak.get().max(if in_use.get() > usize::MAX / 2 { 0 } else { in_use.get() })));
    });
}

// SAFETY: all is done by the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as for this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as for this function.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Large blocks are moved by the system without a copy of their memory.
        count(size as isize - layout.size() as isize);
        // SAFETY: as for this function.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Begins to measure; returns the memory in use now.
pub fn begin() -> usize {
    let in_use = IN_USE.with(Cell::get);
    PEAK.with(|peak| peak.set(in_use));
    in_use
}

/// Returns the most memory in use since then.
pub fn peak() -> usize {
    PEAK.with(Cell::get)
}
