//! The machine: groups of eight lanes that take one step each in turn. A step takes the top of a stack, draws a record,
//! and stores its text and its open frames, whole, without a branch; the lanes' latencies overlap.

use std::hint::select_unpredictable;

use super::tables::{Record, Row, Tables};
use super::unfold::{OPEN, TEXT};
use gramjet::rt::random::{Generators, LANES};
use gramjet::rt::simd::Simd;

/// Steps between two looks at the results of the lanes.
pub(crate) const STEPS: usize = 128;
/// Bytes that a lane's text may need for that many steps.
pub(crate) const TEXT_ROOM: usize = STEPS * TEXT + 32;
/// Words that its stack may need.
pub(crate) const STACK_ROOM: usize = STEPS * (OPEN - 1) + 16;

/// Groups of lanes that take steps in turn.
pub(crate) const GROUPS: usize = 4;

/// The positions of eight lanes. All pointers are into buffers with the room above.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Group {
    /// Place where the next text goes.
    pub(crate) text: [*mut u8; LANES],
    /// The top of the stack, the next word.
    pub(crate) stack: [*mut u32; LANES],
}

impl Group {
    pub(crate) const fn nowhere() -> Group {
        use std::ptr::null_mut;
        Group { text: [null_mut(); LANES], stack: [null_mut(); LANES] }
    }
}

/// The ends of inputs, in the order of each lane's steps: the number of the lane times 2^16, plus the distance from the
/// beginning of the lane's text.
pub(crate) type Ends = [u32; GROUPS * LANES * STEPS + LANES];

const _: () = assert!(STEPS * TEXT < 1 << 16 && GROUPS * LANES < 1 << 16);

/// The number of steps for which random numbers are made at a time: two batches of a group stay in the first-level
/// cache together with the other data that steps read.
const BATCH: usize = 16;

/// Random numbers of one group for a batch of steps.
type Numbers = [[[u64; LANES]; 1]; BATCH];

/// Takes [`STEPS`] steps on each lane; returns how many `ends` there are.
///
/// # Safety
///
/// Each lane has at least [`TEXT_ROOM`] and [`STACK_ROOM`] after its pointers, no buffer belongs to two lanes, and the
/// words come from `tables`; the lowest word on a stack is one that begins or ends an input.
pub(crate) unsafe fn run(
    tables: &Tables,
    groups: &mut [Group; GROUPS],
    ends: &mut Ends,
    random: &mut [Generators; GROUPS],
    simd: Simd,
) -> usize {
    // SAFETY: `Simd` names what the processor has; the rest is this function's contract.
    unsafe {
        match simd {
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512 => super::wide::steps(tables, groups, ends, random),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 => steps_avx2(tables, groups, ends, random),
            _ => {
                let side_by_side = Generators::side_by_side::<1, BATCH>;
                steps(tables, used(groups, simd), ends, random, side_by_side)
            }
        }
    }
}

/// Returns how many groups are at work. Where lanes are independent, groups take their steps one after the other, so
/// one alone is as fast, and fewer lanes leave more of the caches to the tables. A block does not depend on the lane
/// that makes it.
pub(crate) fn groups_at_work(simd: Simd) -> usize {
    if simd == Simd::Avx512 { GROUPS } else { 1 }
}

fn used(groups: &mut [Group; GROUPS], simd: Simd) -> &mut [Group] {
    &mut groups[..groups_at_work(simd)]
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi2")]
unsafe fn steps_avx2(
    tables: &Tables,
    groups: &mut [Group; GROUPS],
    ends: &mut Ends,
    random: &mut [Generators; GROUPS],
) -> usize {
    // SAFETY: the contract of `run`.
    unsafe {
        steps(tables, used(groups, Simd::Avx2), ends, random, |one, numbers| {
            Generators::side_by_side_avx2(one, numbers);
        })
    }
}

/// Takes the steps, for any target, group by group.
///
/// A step has three parts: it draws a record, decides between it and its alternative, and does what the record says.
/// Each part prefetches the data of the next one, several steps of other lanes ahead, so that no part waits.
///
/// # Safety
///
/// That of [`run`].
#[inline(always)]
unsafe fn steps(
    tables: &Tables,
    groups: &mut [Group],
    ends: &mut Ends,
    random: &mut [Generators; GROUPS],
    side_by_side: impl Fn(&mut [Generators; 1], &mut Numbers),
) -> usize {
    let (records, rows) = (tables.records.as_ptr(), tables.rows.as_ptr());
    let mut end = ends.as_mut_ptr();
    // Two batches in turn, since draws are ahead of steps.
    let mut numbers: [Numbers; 2] = [[[[0; LANES]; 1]; BATCH]; 2];
    for (number, (group, random)) in groups.iter_mut().zip(random.as_chunks_mut::<1>().0).enumerate() {
        let start = group.text;
        let mut ahead = [records; LANES];
        side_by_side(random, &mut numbers[0]);
        // Through pointers, so that each lane is kept in memory: there are more lanes than registers.
        let (group, ahead) = (std::ptr::from_mut(group), ahead.as_mut_ptr());
        // SAFETY: this function's contract; there are as many lanes as numbers in a row.
        unsafe {
            for (lane, &number) in numbers[0][0][0].iter().enumerate() {
                draw(records, rows, *(*group).stack[lane], ahead.add(lane), number);
            }
            for (lane, &number) in numbers[0][0][0][..LANES / 2].iter().enumerate() {
                decide(records, ahead.add(lane), number);
            }
            for batch in 0..STEPS / BATCH {
                if batch + 1 < STEPS / BATCH {
                    side_by_side(random, &mut numbers[(batch + 1) % 2]);
                }
                for step in 0..BATCH {
                    let now = &numbers[batch % 2][step][0];
                    // Records drawn after the last step are not used.
                    let next = &numbers[(batch + (step + 1) / BATCH) % 2][(step + 1) % BATCH][0];
                    // Written out, so that the lanes' places are known to the compiler. The lane that is decided was
                    // drawn half a step ago.
                    macro_rules! step_each {
                        ($($lane:literal $other:literal $numbers:ident,)*) => {
                            $(
                                let note = ((number * LANES + $lane) << 16) as u32;
                                *end = note + ((*group).text[$lane].addr() - start[$lane].addr()) as u32;
                                let (word, ended) = act(group, $lane, *ahead.add($lane), end);
                                end = end.add(ended);
                                draw(records, rows, word, ahead.add($lane), next[$lane]);
                                decide(records, ahead.add($other), $numbers[$other]);
                            )*
                        };
                    }
                    step_each!(0 4 now, 1 5 now, 2 6 now, 3 7 now, 4 0 next, 5 1 next, 6 2 next, 7 3 next,);
                }
            }
        }
    }
    (end.addr() - ends.as_ptr().addr()) / size_of::<u32>()
}

/// Draws a record for a word.
///
/// # Safety
///
/// That of [`run`].
#[inline(always)]
unsafe fn draw(records: *const Record, rows: *const Row, word: u32, drawn: *mut *const Record, number: u64) {
    // SAFETY: a word has a row, and a row its records (`Tables::verify`).
    unsafe {
        let Row { count, first } = *rows.add(word as usize);
        let own = first + ((u64::from(number as u32) * u64::from(count)) >> 32) as u32;
        *drawn = records.add(own as usize);
        prefetch(*drawn);
    }
}

/// Decides between the drawn record and its other.
///
/// # Safety
///
/// That of [`run`].
#[inline(always)]
unsafe fn decide(records: *const Record, chosen: *mut *const Record, number: u64) {
    // SAFETY: the drawn word is a record, and so is its alternative (`Tables::verify`).
    unsafe {
        let drawn = *chosen;
        let alias = (*drawn).alias;
        let other = records.add(alias as u32 as usize);
        *chosen = select_unpredictable(number < alias, drawn, other);
        prefetch(*chosen);
    }
}

/// Takes the step of a record; returns the next word, and whether an input ends, which is added to `end`.
///
/// # Safety
///
/// That of [`run`].
#[inline(always)]
unsafe fn act(group: *mut Group, lane: usize, record: *const Record, end: *mut u32) -> (u32, usize) {
    // SAFETY: the room is the caller's, and a record takes at most TEXT bytes, OPEN words, one end.
    unsafe {
        let (text, stack, record) = ((*group).text[lane], (*group).stack[lane], &*record);
        // The bytes after the text are stored with it; the next text overwrites them.
        text.cast::<[u8; TEXT]>().write_unaligned(record.text);
        *end += u32::from(record.end);
        let base = *stack & record.relative;
        stack.cast::<[u32; OPEN]>().write_unaligned(record.pushes.map(|push| push.wrapping_add(base)));
        let stack = stack.add(usize::from(record.open)).sub(1);
        (*group).stack[lane] = stack;
        (*group).text[lane] = text.add(usize::from(record.text_len));
        (*stack, usize::from(record.ends))
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
