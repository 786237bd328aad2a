//! The machine: eight lanes that take one step each in turn. A step pops a word, draws, and stores a record's text and
//! what it leaves open, whole, without a branch; the lanes' latencies overlap.

use std::hint::select_unpredictable;

use super::random::{Generators, LANES};
use super::tables::{Record, Row, Tables};
use super::unfold::{OPEN, TEXT};

/// Steps between two looks at what the lanes have done.
pub(crate) const STEPS: usize = 128;
/// Bytes that a lane's text may need for that many steps.
pub(crate) const TEXT_ROOM: usize = STEPS * TEXT + 32;
/// Words that its stack may need.
pub(crate) const STACK_ROOM: usize = STEPS * (OPEN - 1) + 16;
/// Ends of inputs that it may note.
pub(crate) const END_ROOM: usize = STEPS + 1;

/// Where a lane is. All pointers are into buffers with the room above.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane {
    /// What is next.
    pub(crate) word: u32,
    /// Behind the top of the stack of what follows.
    pub(crate) stack: *mut u32,
    /// Where the next text goes.
    pub(crate) text: *mut u8,
    /// Where the next end of an input is noted, as the address behind its last byte.
    pub(crate) ends: *mut u64,
}

/// What steps read, with pointers to the tables.
#[derive(Clone, Copy)]
struct View {
    records: *const Record,
    rows: *const Row,
}

/// Takes [`STEPS`] steps on each lane.
///
/// # Safety
///
/// Each lane has at least [`TEXT_ROOM`], [`STACK_ROOM`] and [`END_ROOM`] behind its pointers, no buffer belongs to two
/// lanes, and the words come from `tables`; the lowest one on a stack, above which
/// there is another that is never used, being one that begins or ends an input.
pub(crate) unsafe fn run(tables: &Tables, lanes: &mut [Lane; LANES], random: &mut Generators, simd: bool) {
    #[cfg(target_arch = "x86_64")]
    if simd {
        // SAFETY: the caller found AVX2 and BMI2; the rest is this function's contract.
        return unsafe { run_avx2(tables, lanes, random) };
    }
    let _ = simd;
    let mut numbers = [[0; LANES]; STEPS];
    random.numbers(&mut numbers);
    // SAFETY: this function's contract.
    unsafe { steps(tables, lanes, &numbers) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi2")]
unsafe fn run_avx2(tables: &Tables, lanes: &mut [Lane; LANES], random: &mut Generators) {
    let mut numbers = [[0; LANES]; STEPS];
    random.numbers_avx2(&mut numbers);
    // SAFETY: the contract of `run`.
    unsafe { steps(tables, lanes, &numbers) }
}

/// Whether this processor has what [`run`] can use.
pub(crate) fn has_simd() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The steps, for any target.
///
/// # Safety
///
/// That of [`run`].
#[inline(always)]
unsafe fn steps(tables: &Tables, lanes: &mut [Lane; LANES], numbers: &[[u64; LANES]; STEPS]) {
    // Through a pointer, so that each lane is kept in memory: there are more lanes than registers.
    let lanes = lanes.as_mut_ptr();
    let view = View {
        records: tables.records.as_ptr(),
        rows: tables.rows.as_ptr(),
    };
    for numbers in numbers {
        // Written out, so that the lanes' places are known to the compiler.
        macro_rules! step_each {
            ($($lane:literal)*) => {
                // SAFETY: this function's contract.
                $(unsafe { step(view, lanes.add($lane), numbers[$lane]) };)*
            };
        }
        step_each!(0 1 2 3 4 5 6 7);
    }
}

/// One step of one lane.
///
/// # Safety
///
/// That of [`run`].
#[inline(always)]
unsafe fn step(view: View, lane: *mut Lane, number: u64) {
    // SAFETY: a word of the tables has a place in `rows`, a row its records and cells, a cell another record
    // (`Tables::verify`); the room is the caller's, and a record takes at most TEXT bytes, OPEN words, one end.
    unsafe {
        let Lane { word, stack, text, ends } = *lane;
        // What is next if nothing is left open, long before that is known.
        let below = *stack.sub(1);
        let Row { first, count } = *view.rows.add(word as usize);
        let own = first + ((number >> 32) * u64::from(count) >> 32) as u32;
        let drawn = &*view.records.add(own as usize);
        let chosen = select_unpredictable((number as u32) < drawn.threshold, own, drawn.other);
        let record: *const Record = view.records.add(chosen as usize);
        let next = &(*record).next;
        // What stands behind the text goes with it and is overwritten by the next.
        text.cast::<[u8; 32]>().write_unaligned(record.cast::<[u8; 32]>().read());
        *ends = text.addr() as u64 + u64::from(next.end);
        let base = word & next.relative;
        // The lengths are behind the pushes and are stored too: above the top of the stack.
        let mut words: [u32; 8] = *std::ptr::from_ref(next).cast();
        for word in &mut words {
            *word = word.wrapping_add(base);
        }
        stack.cast::<[u32; 8]>().write_unaligned(words);
        (*lane).word = select_unpredictable(next.open == 0, below, next.next.wrapping_add(base));
        (*lane).stack = stack.add(usize::from(next.open)).sub(1);
        (*lane).text = text.add(usize::from(next.text_len));
        (*lane).ends = ends.add(usize::from(next.ends));
    }
}
