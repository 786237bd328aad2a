//! The machine with AVX-512: common operations of a group's lanes are done for all eight at once.

use std::arch::x86_64::*;

use super::lanes::{Ends, GROUPS, Group, STEPS};
use super::tables::{LENGTHS, Record, Row, Tables};
use gramjet::rt::random::{Generators, LANES};

/// The data in flight for the next step of a group's lanes.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Ahead {
    /// The records that were drawn.
    drawn: [*const Record; LANES],
    /// Records that are the chosen ones.
    chosen: [*const Record; LANES],
}

/// For each of eight places one value.
macro_rules! each {
    ($lane:ident => $value:expr) => {{
        macro_rules! at {
            ($at:literal) => {{
                let $lane: usize = $at;
                $value
            }};
        }
        [at!(0), at!(1), at!(2), at!(3), at!(4), at!(5), at!(6), at!(7)]
    }};
}

/// Returns eight numbers from eight places.
///
/// # Safety
///
/// They can be read.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn collect(places: [*const u64; LANES]) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe {
        let pair = |low: *const u64, high: *const u64| {
            let low = _mm_castsi128_pd(_mm_loadl_epi64(low.cast()));
            _mm_castpd_si128(_mm_loadh_pd(low, high.cast()))
        };
        let half = |at: usize| {
            let low = _mm256_castsi128_si256(pair(places[at], places[at + 1]));
            _mm256_inserti128_si256::<1>(low, pair(places[at + 2], places[at + 3]))
        };
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(half(0)), half(4))
    }
}

/// Takes steps as [`super::lanes::run`] does, which has the contract.
///
/// # Safety
///
/// The contract is that of [`super::lanes::run`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,bmi2")]
pub(super) unsafe fn steps(
    tables: &Tables,
    groups: &mut [Group; GROUPS],
    ends: &mut Ends,
    random: &mut [Generators; GROUPS],
) -> usize {
    let (records, rows) = (tables.records.as_ptr(), tables.rows.as_ptr());
    let mut ahead = [Ahead { drawn: [records; LANES], chosen: [records; LANES] }; GROUPS];
    let mut end = ends.as_mut_ptr();
    let starts = groups.map(|group| group.text);
    // Two batches in turn, since draws are ahead of steps.
    let mut numbers = Numbers([[[[0; LANES]; GROUPS]; BATCH]; 2]);
    Generators::side_by_side_avx512(random, &mut numbers.0[0]);
    // SAFETY: the contract.
    unsafe {
        for group in 0..GROUPS {
            draw(records, rows, &groups[group], &mut ahead[group], &numbers.0[0][0][group]);
            decide(records, &mut ahead[group], &numbers.0[0][0][group]);
        }
        for batch in 0..STEPS / BATCH {
            if batch + 1 < STEPS / BATCH {
                Generators::side_by_side_avx512(random, &mut numbers.0[(batch + 1) % 2]);
            }
            let numbers: &[[[u64; LANES]; GROUPS]] = numbers.0.as_flattened();
            for step in 0..BATCH {
                let now = &numbers[batch % 2 * BATCH + step];
                // Records drawn after the last step are not used.
                let next = &numbers[(batch % 2 * BATCH + step + 1) % (2 * BATCH)];
                for group in 0..GROUPS {
                    end = act(&mut groups[group], &ahead[group], &starts[group], group, end);
                    // The data of a part were written a group's turn before.
                    let (drawing, row) = if group >= 1 { (group - 1, next) } else { (GROUPS - 1, now) };
                    draw(records, rows, &groups[drawing], &mut ahead[drawing], &row[drawing]);
                    let (deciding, row) = if group >= 2 { (group - 2, next) } else { (group + GROUPS - 2, now) };
                    decide(records, &mut ahead[deciding], &row[deciding]);
                }
            }
        }
    }
    (end.addr() - ends.as_ptr().addr()) / size_of::<u32>()
}

/// Steps for which random numbers are made at a time.
const BATCH: usize = 16;

/// Random numbers for two batches.
#[repr(C, align(64))]
struct Numbers([[[[u64; LANES]; GROUPS]; BATCH]; 2]);

/// Draws a record for the word on top of each stack.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn draw(records: *const Record, rows: *const Row, group: &Group, ahead: &mut Ahead, numbers: &[u64; LANES]) {
    // SAFETY: a word has a row, and a row its records (`Tables::verify`).
    unsafe {
        let words = each!(lane => *group.stack[lane]);
        let rows = collect(each!(lane => rows.add(words[lane] as usize).cast()));
        let numbers = _mm512_loadu_si512(numbers.as_ptr().cast());
        let offset = _mm512_srli_epi64::<32>(_mm512_mul_epu32(numbers, rows));
        let index = _mm512_add_epi64(_mm512_srli_epi64::<32>(rows), offset);
        let records = _mm512_set1_epi64(records.expose_provenance() as i64);
        let drawn = _mm512_add_epi64(records, _mm512_slli_epi64::<6>(index));
        _mm512_store_si512(ahead.drawn.as_mut_ptr().cast(), drawn);
    }
}

/// Decides between the drawn records and their others.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn decide(records: *const Record, ahead: &mut Ahead, numbers: &[u64; LANES]) {
    // SAFETY: the drawn word is a record, and so is its alternative (`Tables::verify`).
    unsafe {
        let drawn = _mm512_load_si512(ahead.drawn.as_ptr().cast());
        let alias = collect(each!(lane => &raw const (*ahead.drawn[lane]).alias));
        let numbers = _mm512_loadu_si512(numbers.as_ptr().cast());
        let is_drawn = _mm512_cmplt_epu64_mask(numbers, alias);
        let records = _mm512_set1_epi64(records.expose_provenance() as i64);
        let other = _mm512_srli_epi64::<26>(_mm512_slli_epi64::<32>(alias));
        let chosen = _mm512_mask_blend_epi64(is_drawn, _mm512_add_epi64(records, other), drawn);
        _mm512_store_si512(ahead.chosen.as_mut_ptr().cast(), chosen);
    }
}

/// Takes the steps of the records, and stores the ends of inputs from `end` on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn act(group: &mut Group, ahead: &Ahead, starts: &[*mut u8; LANES], number: usize, end: *mut u32) -> *mut u32 {
    // SAFETY: the room is the caller's, and a record takes at most TEXT bytes, OPEN words, one end.
    unsafe {
        macro_rules! copy {
            ($($lane:literal)*) => {
                $(
                    let record = ahead.chosen[$lane];
                    // The bytes after the text are stored with it; the next text overwrites them.
                    _mm256_storeu_si256(group.text[$lane].cast(), _mm256_load_si256((&raw const (*record).text).cast()));
                    let pushes: __m128i;
                    std::arch::asm!(
                        "vpbroadcastd {pushes}, dword ptr [{top}]",
                        "vpandd {pushes}, {pushes}, dword ptr [{record} + {relative}]{{1to4}}",
                        "vpaddd {pushes}, {pushes}, xmmword ptr [{record} + {open}]",
                        pushes = out(xmm_reg) pushes,
                        top = in(reg) group.stack[$lane],
                        record = in(reg) record,
                        relative = const std::mem::offset_of!(Record, relative),
                        open = const std::mem::offset_of!(Record, pushes),
                        options(nostack, readonly, preserves_flags),
                    );
                    _mm_storeu_si128(group.stack[$lane].cast(), pushes);
                )*
            };
        }
        let lengths = collect(each!(lane => ahead.chosen[lane].byte_add(LENGTHS).cast::<u64>()));
        copy!(0 1 2 3 4 5 6 7);
        let byte = |at: i8| {
            let of = |half: i8| i64::from_le_bytes([(half + at) as u8, 128, 128, 128, 128, 128, 128, 128]);
            _mm512_shuffle_epi8(lengths, _mm512_set_epi64(of(8), of(0), of(8), of(0), of(8), of(0), of(8), of(0)))
        };
        let text = _mm512_load_si512(group.text.as_ptr().cast());
        let stack = _mm512_load_si512(group.stack.as_ptr().cast());
        let stack = _mm512_add_epi64(stack, _mm512_slli_epi64::<2>(byte(1)));
        _mm512_store_si512(group.text.as_mut_ptr().cast(), _mm512_add_epi64(text, byte(0)));
        _mm512_store_si512(group.stack.as_mut_ptr().cast(), _mm512_sub_epi64(stack, _mm512_set1_epi64(4)));
        // The ends of all lanes whose inputs end, in a row.
        let behind = _mm512_sub_epi64(_mm512_add_epi64(text, byte(3)), _mm512_loadu_si512(starts.as_ptr().cast()));
        let lanes = _mm256_slli_epi32::<16>(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        let lanes = _mm256_add_epi32(lanes, _mm256_set1_epi32(((number * LANES) << 16) as i32));
        let has_end = _mm512_test_epi64_mask(lengths, _mm512_set1_epi64(0xFF << 16));
        let noted = _mm256_maskz_compress_epi32(has_end, _mm256_add_epi32(_mm512_cvtepi64_epi32(behind), lanes));
        _mm256_storeu_si256(end.cast(), noted);
        end.add(has_end.count_ones() as usize)
    }
}
