//! The fill pass: placeholder codes become bytes of their sets.
//!
//! Each byte of the text has 16 random bits of its own, whether it is a code or not: `bits * n >> 16` is the number of the
//! member, so its probability is within 2^-16 of 1/n. Members are found by arithmetic on ranges.

use super::classes::{CODES, Codes, MAX_RANGES};
use super::random::{Generators, LANES};
use super::simd::Simd;

/// Bytes that are filled at a time.
pub(crate) const UNIT: usize = ROW * ROWS;
/// Bytes that one number of each generator is for.
const ROW: usize = 32;
/// How often the generators are asked at a time.
const ROWS: usize = 16;

/// Random numbers for the fill pass of one block.
pub(crate) type FillRandom = Generators;

/// What the codes stand for, by the lower half of the code.
#[derive(Clone, Debug)]
pub(crate) struct Fill {
    window: u8,
    /// The number of members less one.
    last: [u8; CODES],
    /// The first member.
    base: [u8; CODES],
    /// For each further range: the number of its first member, and by how much the gap before it moves members.
    gaps: Vec<([u8; CODES], [u8; CODES])>,
}

impl Fill {
    pub(crate) fn new(codes: &Codes) -> Fill {
        let mut fill = Fill { window: codes.window(), last: [0; CODES], base: [0; CODES], gaps: Vec::new() };
        for (set, code) in codes.sets() {
            let index = usize::from(code & 15);
            let ranges = set.ranges();
            debug_assert!(code >> 4 == fill.window && ranges.len() <= MAX_RANGES);
            fill.last[index] = (set.len() - 1) as u8;
            fill.base[index] = ranges[0].0;
            let mut before = 0;
            for (gap, pair) in ranges.windows(2).enumerate() {
                before += pair[0].1 - pair[0].0 + 1;
                if fill.gaps.len() <= gap {
                    // Where there is no such range, nothing moves.
                    fill.gaps.push(([0; CODES], [0; CODES]));
                }
                fill.gaps[gap].0[index] = before;
                fill.gaps[gap].1[index] = pair[1].0 - pair[0].1 - 1;
            }
        }
        // What is in the window without being a code stays: such bytes are members of themselves.
        let coded: Vec<u8> = codes.sets().map(|(_, code)| code & 15).collect();
        for index in (0..CODES as u8).filter(|index| !coded.contains(index)) {
            fill.base[usize::from(index)] = fill.window << 4 | index;
        }
        fill
    }

    /// Replaces the codes in `text`, whose length is a multiple of [`UNIT`].
    #[inline]
    pub(crate) fn run(&self, random: &mut FillRandom, text: &mut [u8], simd: Simd) {
        debug_assert!(text.len().is_multiple_of(UNIT));
        match simd {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Simd` names what the processor has.
            Simd::Avx512 => unsafe { self.run_avx512(random, text) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Simd::Avx2 => unsafe { self.run_avx2(random, text) },
            _ => self.run_portable(random, text),
        }
    }

    fn run_portable(&self, random: &mut FillRandom, text: &mut [u8]) {
        let mut numbers = [[0; LANES]; ROWS];
        for unit in text.chunks_exact_mut(UNIT) {
            random.numbers(&mut numbers);
            for (row, words) in unit.chunks_exact_mut(ROW).zip(&numbers) {
                for (at, byte) in row.iter_mut().enumerate().filter(|(_, byte)| **byte >> 4 == self.window) {
                    let index = usize::from(*byte & 15);
                    let bits = (words[at / 4] >> (16 * (at % 4))) as u16;
                    let member = ((u32::from(bits) * (u32::from(self.last[index]) + 1)) >> 16) as u8;
                    *byte = self.base[index].wrapping_add(member);
                    for (first, moved) in &self.gaps {
                        if member >= first[index] {
                            *byte = byte.wrapping_add(moved[index]);
                        }
                    }
                }
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn run_avx512(&self, random: &mut FillRandom, text: &mut [u8]) {
        use std::arch::x86_64::*;
        #[inline]
        #[target_feature(enable = "avx512f")]
        fn table(table: &[u8; CODES]) -> __m512i {
            // SAFETY: sixteen bytes are read from an array of sixteen.
            _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
        }
        let (last, base) = (table(&self.last), table(&self.base));
        let gaps: [(__m512i, __m512i); MAX_RANGES] = std::array::from_fn(|gap| match self.gaps.get(gap) {
            Some((first, moved)) => (table(first), table(moved)),
            None => (_mm512_setzero_si512(), _mm512_setzero_si512()),
        });
        let gaps = &gaps[..self.gaps.len()];
        let window = _mm512_set1_epi8((self.window << 4) as i8);
        let (upper, lower) = (_mm512_set1_epi8(0xF0u8 as i8), _mm512_set1_epi8(0x0F));
        let one = _mm512_set1_epi16(1);
        let mut numbers = [[0; LANES]; ROWS];
        for unit in text.chunks_exact_mut(UNIT) {
            random.numbers_avx512(&mut numbers);
            for (rows, numbers) in unit.chunks_exact_mut(2 * ROW).zip(numbers.chunks_exact(2)) {
                // SAFETY: two rows have 64 bytes, and the numbers of each have 64.
                let (bytes, low_bits, high_bits) = unsafe {
                    (
                        _mm512_loadu_si512(rows.as_ptr().cast()),
                        _mm512_loadu_si512(numbers[0].as_ptr().cast()),
                        _mm512_loadu_si512(numbers[1].as_ptr().cast()),
                    )
                };
                let is_code = _mm512_cmpeq_epi8_mask(_mm512_and_si512(bytes, upper), window);
                let index = _mm512_and_si512(bytes, lower);
                let last = _mm512_shuffle_epi8(last, index);
                let count = |half: __m256i| _mm512_add_epi16(_mm512_cvtepu8_epi16(half), one);
                let low = _mm512_mulhi_epu16(low_bits, count(_mm512_castsi512_si256(last)));
                let high = _mm512_mulhi_epu16(high_bits, count(_mm512_extracti64x4_epi64::<1>(last)));
                let member = _mm512_inserti64x4::<1>(
                    _mm512_castsi256_si512(_mm512_cvtepi16_epi8(low)),
                    _mm512_cvtepi16_epi8(high),
                );
                let mut byte = _mm512_add_epi8(_mm512_shuffle_epi8(base, index), member);
                for (first, moved) in gaps {
                    let behind = _mm512_cmpge_epu8_mask(member, _mm512_shuffle_epi8(*first, index));
                    byte = _mm512_mask_add_epi8(byte, behind, byte, _mm512_shuffle_epi8(*moved, index));
                }
                let filled = _mm512_mask_blend_epi8(is_code, bytes, byte);
                // SAFETY: two rows have 64 bytes.
                unsafe { _mm512_storeu_si512(rows.as_mut_ptr().cast(), filled) };
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn run_avx2(&self, random: &mut FillRandom, text: &mut [u8]) {
        use std::arch::x86_64::*;
        #[inline(always)]
        fn table(table: &[u8; CODES]) -> __m256i {
            // SAFETY: sixteen bytes are read from an array of sixteen.
            unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast())) }
        }
        let (last, base) = (table(&self.last), table(&self.base));
        let window = _mm256_set1_epi8((self.window << 4) as i8);
        let (upper, lower) = (_mm256_set1_epi8(0xF0u8 as i8), _mm256_set1_epi8(0x0F));
        let one = _mm256_set1_epi16(1);
        let mut numbers = [[0; LANES]; ROWS];
        let rows = text.chunks_exact_mut(UNIT).flat_map(|unit| unit.chunks_exact_mut(ROW));
        for (at, row) in rows.enumerate() {
            if at % ROWS == 0 {
                random.numbers_avx2(&mut numbers);
            }
            // SAFETY: a row has 32 bytes, its numbers 64.
            let (bytes, low_bits, high_bits) = unsafe {
                let words: *const __m256i = numbers[at % ROWS].as_ptr().cast();
                (_mm256_loadu_si256(row.as_ptr().cast()), _mm256_loadu_si256(words), _mm256_loadu_si256(words.add(1)))
            };
            let is_code = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, upper), window);
            let index = _mm256_and_si256(bytes, lower);
            let last = _mm256_shuffle_epi8(last, index);
            let count = |half: __m128i| _mm256_add_epi16(_mm256_cvtepu8_epi16(half), one);
            let low = _mm256_mulhi_epu16(low_bits, count(_mm256_castsi256_si128(last)));
            let high = _mm256_mulhi_epu16(high_bits, count(_mm256_extracti128_si256::<1>(last)));
            // Packing works within halves of the register; the permutation puts the quarters in order again.
            let member = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi16(low, high));
            let mut byte = _mm256_add_epi8(_mm256_shuffle_epi8(base, index), member);
            for (first, moved) in &self.gaps {
                let first = _mm256_shuffle_epi8(table(first), index);
                let moved = _mm256_shuffle_epi8(table(moved), index);
                let behind = _mm256_cmpeq_epi8(_mm256_max_epu8(member, first), member);
                byte = _mm256_add_epi8(byte, _mm256_and_si256(moved, behind));
            }
            let filled = _mm256_blendv_epi8(bytes, byte, is_code);
            // SAFETY: a row has 32 bytes.
            unsafe { _mm256_storeu_si256(row.as_mut_ptr().cast(), filled) };
        }
    }
}
