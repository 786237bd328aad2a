//! The machine: eight lanes that take one step each in turn. A step pops a word, draws, and stores a record's text and
//! what it leaves open, whole, without a branch; the lanes' latencies overlap.

use std::hint::select_unpredictable;

use super::random::{Generators, LANES};
use super::simd::Simd;
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
    pub(crate) ends: *mut usize,
}

/// What is on the way to a lane's next step.
#[derive(Clone, Copy)]
struct Ahead {
    /// The record that was drawn, and which of it or its other is the one.
    drawn: *const Record,
    below: u32,
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
pub(crate) unsafe fn run(tables: &Tables, lanes: &mut [Lane; LANES], random: &mut Generators, simd: Simd) {
    let mut numbers = [[0; LANES]; STEPS];
    match simd {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Simd` names what the processor has; the rest is this function's contract.
        Simd::Avx512 => unsafe {
            random.numbers_avx512(&mut numbers);
            steps_avx2(tables, lanes, &numbers);
        },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Simd::Avx2 => unsafe {
            random.numbers_avx2(&mut numbers);
            steps_avx2(tables, lanes, &numbers);
        },
        _ => {
            random.numbers(&mut numbers);
            // SAFETY: this function's contract.
            unsafe { steps(tables, lanes, &numbers) }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi2")]
unsafe fn steps_avx2(tables: &Tables, lanes: &mut [Lane; LANES], numbers: &[[u64; LANES]; STEPS]) {
    // SAFETY: the contract of `run`.
    unsafe { steps(tables, lanes, numbers) }
}

/// The steps, for any target.
///
/// A step is three parts: to draw a record, to decide between it and its other, and to do what it says. What a part reads was
/// asked for by the part before, several steps of other lanes ago, so it waits for nothing.
///
/// # Safety
///
/// That of [`run`].
#[inline(always)]
unsafe fn steps(tables: &Tables, lanes: &mut [Lane; LANES], numbers: &[[u64; LANES]; STEPS]) {
    let view = View { records: tables.records.as_ptr(), rows: tables.rows.as_ptr() };
    let mut ahead = [Ahead { drawn: view.records, below: 0 }; LANES];
    // Through pointers, so that each lane is kept in memory: there are more lanes than registers.
    let (lanes, ahead) = (lanes.as_mut_ptr(), ahead.as_mut_ptr());
    // SAFETY: this function's contract; there are as many lanes as numbers in a row.
    unsafe {
        for (lane, &number) in numbers[0].iter().enumerate() {
            draw(view, (*lanes.add(lane)).word, ahead.add(lane), number);
        }
        for lane in 0..LANES / 2 {
            decide(view, ahead.add(lane));
        }
        for step in 0..STEPS {
            // What is drawn behind the last step is not used.
            let numbers = &numbers[(step + 1) % STEPS];
            // Written out, so that the lanes' places are known to the compiler.
            macro_rules! step_each {
                ($($lane:literal)*) => {
                    $(
                        let word = act(lanes.add($lane), ahead.add($lane));
                        draw(view, word, ahead.add($lane), numbers[$lane]);
                        decide(view, ahead.add(($lane + LANES / 2) % LANES));
                    )*
                };
            }
            step_each!(0 1 2 3 4 5 6 7);
        }
    }
}

/// Draws a record for a word.
///
/// # Safety
///
/// That of [`run`].
#[inline(always)]
unsafe fn draw(view: View, word: u32, ahead: *mut Ahead, number: u64) {
    // SAFETY: a word has a row, and a row its records (`Tables::verify`).
    unsafe {
        let Row { first, count } = *view.rows.add(word as usize);
        let own = first + (((number >> 32) * u64::from(count)) >> 32) as u32;
        let drawn = view.records.add(own as usize);
        prefetch(drawn);
        (*ahead).drawn = drawn;
        (*ahead).below = number as u32;
    }
}

/// Decides between the drawn record and its other.
///
/// # Safety
///
/// That of [`run`].
#[inline(always)]
unsafe fn decide(view: View, ahead: *mut Ahead) {
    // SAFETY: what was drawn is a record, and its other is one (`Tables::verify`).
    unsafe {
        let drawn = (*ahead).drawn;
        let other = view.records.add((*drawn).other as usize);
        let chosen = select_unpredictable((*ahead).below < (*drawn).threshold, drawn, other);
        prefetch(chosen);
        (*ahead).drawn = chosen;
    }
}

/// Does what the record says; returns the next word.
///
/// # Safety
///
/// That of [`run`].
#[inline(always)]
unsafe fn act(lane: *mut Lane, ahead: *mut Ahead) -> u32 {
    // SAFETY: the room is the caller's, and a record takes at most TEXT bytes, OPEN words, one end.
    unsafe {
        let Lane { word, stack, text, ends } = *lane;
        let record = (*ahead).drawn;
        // What is next if nothing is left open, long before that is known.
        let below = *stack.sub(1);
        let next = &(*record).next;
        // What stands behind the text goes with it and is overwritten by the next.
        text.cast::<[u8; 32]>().write_unaligned(record.cast::<[u8; 32]>().read());
        *ends = text.addr() + usize::from(next.end);
        let base = word & next.relative;
        // The lengths are behind the pushes and are stored too: above the top of the stack.
        let mut words: [u32; 8] = *std::ptr::from_ref(next).cast();
        for word in &mut words {
            *word = word.wrapping_add(base);
        }
        stack.cast::<[u32; 8]>().write_unaligned(words);
        let word = select_unpredictable(next.open == 0, below, next.next.wrapping_add(base));
        (*lane).word = word;
        (*lane).stack = stack.add(usize::from(next.open)).sub(1);
        (*lane).text = text.add(usize::from(next.text_len));
        (*lane).ends = ends.add(usize::from(next.ends));
        word
    }
}

/// Asks for a record.
#[inline(always)]
fn prefetch(record: *const Record) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which reads nothing.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(record.cast());
    }
    let _ = record;
}
