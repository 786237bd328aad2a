//! The runtime of textbook producers: pooled random bytes in a static, refilled when they are used up, and stores
//! through a bare pointer. The published producer, too, has a static with one user at a time; of the ways tried it is
//! also the fastest (see the package's README).

use std::sync::{Mutex, MutexGuard, PoisonError};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Size in bytes of the pool of random bytes.
pub const POOL_BYTES: usize = 1 << 16;

/// Held by the one session that may touch the statics below.
static IN_USE: Mutex<()> = Mutex::new(());

/// The pool; see the macros below.
#[doc(hidden)]
pub static mut POOL: [u8; POOL_BYTES] = [0; POOL_BYTES];
/// Index in the pool of the next byte; [`POOL_BYTES`] if all are used.
#[doc(hidden)]
pub static mut NEXT: usize = POOL_BYTES;
static mut RUN: Run = Run { generator: None, refills: 0, limit: std::ptr::null_mut() };

struct Run {
    generator: Option<Xoshiro256PlusPlus>,
    refills: u64,
    /// A refill with the output past this pointer fails.
    limit: *mut u8,
}

/// Room for an input; an input that needs more makes the producer panic. It is virtual memory as long as it is not
/// written, like the four gigabytes of the published producer, and spares it all other checks.
const INPUT_ROOM: usize = 1 << 29;

/// Upper bounds on what a producer writes.
#[derive(Debug)]
pub struct Bounds {
    /// Bytes that one choice accounts for.
    pub per_choice: usize,
    /// Bytes that follow the rules on a level of depth without a further choice.
    pub per_level: usize,
}

/// The right to run textbook producers; there is one at a time in a process, others wait for it.
#[derive(Debug)]
pub struct Session(#[allow(dead_code)] MutexGuard<'static, ()>);

impl Session {
    /// Returns a session whose random bytes depend on the seed alone.
    pub fn new(seed: u64) -> Session {
        let guard = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the guard excludes other users of the statics as long as the session lives.
        unsafe {
            NEXT = POOL_BYTES;
            RUN.generator = Some(Xoshiro256PlusPlus::seed_from_u64(seed));
            RUN.refills = 0;
        }
        Session(guard)
    }

    /// Returns the number of random bytes that were read in this session.
    pub fn choices(&self) -> u64 {
        // SAFETY: the session excludes other users of the statics.
        unsafe { RUN.refills * POOL_BYTES as u64 + NEXT as u64 - POOL_BYTES as u64 }
    }

    /// Appends one input to `output`: `start` gets the end of its contents and returns the end of the new input.
    ///
    /// # Safety
    ///
    /// `start` chooses by the macros below alone, writes only after the pointer that it got or that they have left, and
    /// never more than `bounds` says.
    ///
    /// # Panics
    ///
    /// If the input is longer than about half a gigabyte.
    #[inline(always)]
    pub unsafe fn run(
        &mut self,
        output: &mut Vec<u8>,
        max_depth: u32,
        bounds: &'static Bounds,
        start: impl FnOnce(*mut u8) -> *mut u8,
    ) {
        let levels = max_depth as usize + 2;
        let margin =
            levels.saturating_mul(bounds.per_level).saturating_add(POOL_BYTES.saturating_mul(bounds.per_choice));
        assert!(margin < INPUT_ROOM, "the grammar's literals are too long for the depth limit");
        if output.capacity() - output.len() < INPUT_ROOM {
            output.reserve(2 * INPUT_ROOM);
        }
        // SAFETY: the session excludes other users of the statics. `output` is not used while `start` runs but through
        // the pointer. Between two refills the pool's choices and what pends on the levels account for no more than the
        // margin, and that much room is there now and, as `refill` checks, after each refill; so all bytes up to the
        // returned end are inside of the capacity and were written.
        unsafe {
            let begin = output.as_mut_ptr().add(output.len());
            RUN.limit = begin.add(INPUT_ROOM - margin);
            let end = start(begin);
            output.set_len(end.offset_from_unsigned(output.as_ptr()));
        }
    }
}

/// Fills the pool anew, if there is room for what its choices account for. It must not move the output: if the pointer
/// could change here, the compiler would no longer turn a `match` over single bytes into a table.
///
/// # Safety
///
/// Inside of [`Session::run`] only, with its pointer.
#[cold]
#[inline(never)]
#[doc(hidden)]
pub unsafe fn refill(out: *mut u8) {
    let (run, pool) = (&raw mut RUN, &raw mut POOL);
    // SAFETY: inside of `Session::run`, which excludes other users of the statics.
    let (run, pool) = unsafe { (&mut *run, &mut *pool) };
    assert!(out <= run.limit, "an input of the textbook producer is too long");
    if let Some(generator) = &mut run.generator {
        for word in pool.as_chunks_mut::<8>().0 {
            *word = generator.next_u64().to_le_bytes();
        }
    }
    run.refills += 1;
    // SAFETY: as above.
    unsafe { NEXT = 0 };
}

/// The next random byte. These are macros so that the output pointer is a local variable and nothing else from the
/// start: if a function took its address, even an inlined one, the compiler would no longer turn a `match` over single
/// bytes into a table.
#[macro_export]
#[doc(hidden)]
macro_rules! random_byte {
    ($out:ident) => {{
        if $crate::textbook_runtime::NEXT == $crate::textbook_runtime::POOL_BYTES {
            $crate::textbook_runtime::refill($out);
        }
        let byte = *(&raw const $crate::textbook_runtime::POOL).cast::<u8>().add($crate::textbook_runtime::NEXT);
        $crate::textbook_runtime::NEXT += 1;
        u32::from(byte)
    }};
}

/// One of at most 256 options, from one random byte. To be used inside of [`Session::run`] only, with its pointer.
#[macro_export]
macro_rules! choose {
    ($out:ident, $options:expr) => {
        ($crate::random_byte!($out) * $options) >> 8
    };
}

/// One of many options, from two random bytes, or three if there are more than 65536. As [`choose!`].
#[macro_export]
macro_rules! choose_wide {
    ($out:ident, $options:expr) => {{
        let low = $crate::random_byte!($out) | $crate::random_byte!($out) << 8;
        let wide = $options > 1 << 16;
        if wide { ((low | $crate::random_byte!($out) << 16) * $options) >> 24 } else { (low * $options) >> 16 }
    }};
}

/// Writes member `index` of a class of characters, given as pairs of first member and size of its ranges, as UTF-8;
/// returns the new end.
///
/// # Safety
///
/// Inside of [`Session::run`] only, with its pointer, where the bytes are accounted for.
#[inline(always)]
pub unsafe fn write_member(out: *mut u8, mut index: u32, ranges: &[(u32, u32)]) -> *mut u8 {
    for &(first, size) in ranges {
        if index < size {
            // SAFETY: the same contract.
            return unsafe { write_character(out, first + index) };
        }
        index -= size;
    }
    out
}

#[inline(always)]
unsafe fn write_character(out: *mut u8, code: u32) -> *mut u8 {
    let continuation = |shift: u32| 0x80 | (code >> shift & 0x3F) as u8;
    // SAFETY: the bytes that are accounted for have room after `out`.
    unsafe {
        match code {
            0..0x80 => write(out, [code as u8]),
            0x80..0x800 => write(out, [0xC0 | (code >> 6) as u8, continuation(0)]),
            0x800..0x1_0000 => write(out, [0xE0 | (code >> 12) as u8, continuation(6), continuation(0)]),
            _ => write(out, [0xF0 | (code >> 18) as u8, continuation(12), continuation(6), continuation(0)]),
        }
    }
}

#[inline(always)]
unsafe fn write<const N: usize>(out: *mut u8, bytes: [u8; N]) -> *mut u8 {
    // SAFETY: the caller knows that there is room for N bytes.
    unsafe {
        out.cast::<[u8; N]>().write_unaligned(bytes);
        out.add(N)
    }
}
