//! What textbook producers call: pooled random bytes in a static, refilled when they are used up, and stores through a
//! bare pointer. A static with one user at a time is what the published producer has; of the ways tried it is also the
//! fastest (see the package's README).

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
static mut RUN: Run =
    Run { generator: None, refills: 0, output: std::ptr::null_mut(), refills_of_input: 0, bounds: std::ptr::null() };

struct Run {
    generator: Option<Xoshiro256PlusPlus>,
    refills: u64,
    /// Where the input that is being made goes.
    output: *mut Vec<u8>,
    refills_of_input: usize,
    bounds: *const Bounds,
}

/// Upper bounds on what a producer writes.
#[derive(Debug)]
pub struct Bounds {
    /// Bytes before the first choice of an input, and those behind it that no choice accounts for.
    pub at_start: usize,
    /// Bytes that one choice accounts for.
    pub per_choice: usize,
}

/// The right to run textbook producers; there is one at a time in a process, others wait for it.
#[derive(Debug)]
pub struct Session(#[allow(dead_code)] MutexGuard<'static, ()>);

impl Session {
    /// A session whose random bytes depend on the seed alone.
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

    /// The number of random bytes that were read in this session.
    pub fn choices(&self) -> u64 {
        // SAFETY: the session excludes other users of the statics.
        unsafe { RUN.refills * POOL_BYTES as u64 + NEXT as u64 - POOL_BYTES as u64 }
    }

    /// Appends one input to `output`: `start` gets the end of what is there and returns the end of what it has written.
    ///
    /// # Safety
    ///
    /// `start` chooses by the macros below alone, writes only behind the pointer that it got or that they have left, and never
    /// more than `bounds` says.
    #[inline(always)]
    pub unsafe fn run(&mut self, output: &mut Vec<u8>, bounds: &'static Bounds, start: impl FnOnce(*mut u8) -> *mut u8) {
        output.reserve(bounds.at_start + POOL_BYTES * bounds.per_choice);
        // SAFETY: the session excludes other users of the statics. `output` is not used while `start` runs but through
        // the pointer. There is room for all that the pool's choices account for, and `refill` makes room for what comes
        // after, so that all bytes up to the returned end are inside of the capacity and were written.
        unsafe {
            RUN.output = output;
            RUN.refills_of_input = 0;
            RUN.bounds = bounds;
            let end = start(output.as_mut_ptr().add(output.len()));
            output.set_len(end.offset_from_unsigned(output.as_ptr()));
        }
    }
}

/// Fills the pool anew and makes room for what its choices account for; returns where `out` is after that. By value: if
/// its address were taken here, it could not stay in a register anywhere.
///
/// # Safety
///
/// Inside of [`Session::run`] only, with its pointer.
#[cold]
#[inline(never)]
#[doc(hidden)]
pub unsafe fn refill(out: *mut u8) -> *mut u8 {
    // SAFETY: inside of `Session::run`, which excludes other users of the statics; `RUN.output` is the vector into which
    // `out` points, and the bytes before `out` were written. The input has read at most so many choices as the pools that
    // it has touched have bytes, and that with the new pool bounds what can be written before the next refill.
    unsafe {
        let run = &mut *&raw mut RUN;
        let output = &mut *run.output;
        output.set_len(out.offset_from_unsigned(output.as_ptr()));
        run.refills += 1;
        run.refills_of_input += 1;
        let bounds = &*run.bounds;
        let choices = (run.refills_of_input + 1).saturating_mul(POOL_BYTES);
        output.reserve(choices.saturating_mul(bounds.per_choice).saturating_add(bounds.at_start));
        if let Some(generator) = &mut run.generator {
            let (words, _) = (*&raw mut POOL).as_chunks_mut::<8>();
            for word in words {
                *word = generator.next_u64().to_le_bytes();
            }
        }
        NEXT = 0;
        output.as_mut_ptr().add(output.len())
    }
}

/// The next random byte. These are macros so that the output pointer is a local variable and nothing else from the start:
/// if a function took its address, even an inlined one, the compiler would no longer turn a `match` over single bytes into
/// a table.
#[macro_export]
#[doc(hidden)]
macro_rules! random_byte {
    ($out:ident) => {{
        if $crate::textbook_runtime::NEXT == $crate::textbook_runtime::POOL_BYTES {
            $out = $crate::textbook_runtime::refill($out);
        }
        let byte = *(&raw const $crate::textbook_runtime::POOL).cast::<u8>().add($crate::textbook_runtime::NEXT);
        $crate::textbook_runtime::NEXT += 1;
        usize::from(byte)
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
    // SAFETY: what is accounted for has room behind `out`.
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
