//! The fill pass: placeholder codes become bytes of their sets.
//!
//! Each byte of the text has 16 random bits of its own, whether it is a code or not: `bits * n >> 16` is the number of
//! the member, so its probability is within 2^-16 of 1/n. Members are found by arithmetic on ranges. Bytes at even
//! places get their bits from one set of generators, and bytes at odd places from another, so that both can be
//! multiplied where they are.

use super::classes::{CODES, Codes, MAX_RANGES};
#[cfg(target_arch = "x86_64")]
use gramjet::rt::random::WideGenerators;
use gramjet::rt::random::{Generators, LANES};
use gramjet::rt::simd::Simd;

/// Bytes that are filled at a time.
pub(crate) const UNIT: usize = ROW * ROWS;
/// The number of bytes that one number of each generator serves.
const ROW: usize = 64;
/// Number of numbers that are taken from each generator at a time.
const ROWS: usize = 8;

/// Random numbers for the fill pass of one block: for even and for odd places.
pub(crate) type FillRandom = [Generators; 2];

/// The numbers of a unit.
type Numbers = [[[u64; LANES]; 2]; ROWS];

/// The members that the codes stand for, by the lower half of the code.
#[derive(Clone, Debug)]
pub(crate) struct Fill {
    window: u8,
    /// The number of members less one.
    last: [u8; CODES],
    /// The first member.
    base: [u8; CODES],
    /// For each further range: the number of its first member, and by how much the gap before it moves members.
    gaps: Vec<([u8; CODES], [u8; CODES])>,
    /// The members of all sets, if they fit: those of one from its offset on.
    members: Option<Members>,
}

/// Members by number, in banks of 256.
#[derive(Clone, Debug)]
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "vector instructions read them"))]
struct Members {
    /// Place in its bank where the members of a set begin.
    offset: [u8; CODES],
    /// All bits for sets of the second bank.
    is_second: [u8; CODES],
    banks: [[u8; 256]; 2],
    /// Number of places that are taken; more than 256 if there is a second bank.
    used: usize,
}

impl Members {
    /// Returns the members of sets by code, and for the codes without a set themselves; sets may share places.
    fn new(sets: &[Vec<u8>; CODES]) -> Option<Members> {
        let mut order: Vec<usize> = (0..CODES).collect();
        order.sort_by_key(|&index| usize::MAX - sets[index].len());
        let mut banks = [Vec::new(), Vec::new()];
        let (mut offset, mut is_second) = ([0; CODES], [0; CODES]);
        for index in order {
            let set = &sets[index];
            let found = banks.iter().enumerate().find_map(|(bank, members)| {
                let place = members.windows(set.len()).position(|members| members == set)?;
                Some((bank, place))
            });
            let (bank, place) = match found {
                Some(found) => found,
                None => {
                    let bank = banks.iter().position(|members| members.len() + set.len() <= 256)?;
                    banks[bank].extend(set);
                    (bank, banks[bank].len() - set.len())
                }
            };
            offset[index] = u8::try_from(place).ok()?;
            is_second[index] = if bank == 1 { u8::MAX } else { 0 };
        }
        let used = if banks[1].is_empty() { banks[0].len() } else { 256 + banks[1].len() };
        let banks = banks.map(|members| {
            let mut bank = [0; 256];
            bank[..members.len()].copy_from_slice(&members);
            bank
        });
        Some(Members { offset, is_second, banks, used })
    }
}

impl Fill {
    pub(crate) fn new(codes: &Codes) -> Fill {
        let mut fill =
            Fill { window: codes.window(), last: [0; CODES], base: [0; CODES], gaps: Vec::new(), members: None };
        let mut members: [Vec<u8>; CODES] = std::array::from_fn(|index| vec![fill.window << 4 | index as u8]);
        for (set, code) in codes.sets() {
            let index = usize::from(code & 15);
            let ranges = set.ranges();
            debug_assert!(code >> 4 == fill.window && ranges.len() <= MAX_RANGES);
            fill.last[index] = (set.len() - 1) as u8;
            fill.base[index] = ranges[0].0;
            members[index] = set.iter().collect();
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
        // Other bytes of the window stay: they are members that stand for themselves.
        let coded: Vec<u8> = codes.sets().map(|(_, code)| code & 15).collect();
        for index in (0..CODES as u8).filter(|index| !coded.contains(index)) {
            fill.base[usize::from(index)] = fill.window << 4 | index;
        }
        fill.members = Members::new(&members);
        fill
    }

    /// Replaces the codes in `text`, whose length is a multiple of [`UNIT`].
    #[inline]
    pub(crate) fn run(&self, random: &mut FillRandom, text: &mut [u8], simd: Simd) {
        debug_assert!(text.len().is_multiple_of(UNIT));
        match simd {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Simd` names what the processor has.
            Simd::Avx512 => unsafe {
                match &self.members {
                    Some(members) => match members.used {
                        ..=128 => self.run_avx512::<1>(members, random, text),
                        129..=256 => self.run_avx512::<2>(members, random, text),
                        _ => self.run_avx512::<4>(members, random, text),
                    },
                    None => self.run_avx2(random, text),
                }
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Simd::Avx2 => unsafe { self.run_avx2(random, text) },
            _ => self.run_portable(random, text),
        }
    }

    fn run_portable(&self, random: &mut FillRandom, text: &mut [u8]) {
        let mut numbers: Numbers = [[[0; LANES]; 2]; ROWS];
        for unit in text.chunks_exact_mut(UNIT) {
            Generators::side_by_side(random, &mut numbers);
            for (row, words) in unit.chunks_exact_mut(ROW).zip(&numbers) {
                for (at, byte) in row.iter_mut().enumerate().filter(|(_, byte)| **byte >> 4 == self.window) {
                    let index = usize::from(*byte & 15);
                    let bits = (words[at % 2][at / 8] >> (16 * (at / 2 % 4))) as u16;
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

    /// Looks members up in `HALVES` halves of banks, of 128 places each.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn run_avx512<const HALVES: usize>(&self, members: &Members, random: &mut FillRandom, text: &mut [u8]) {
        use std::arch::x86_64::*;
        #[inline]
        #[target_feature(enable = "avx512f")]
        fn table(table: &[u8; CODES]) -> __m512i {
            // SAFETY: sixteen bytes are read from an array of sixteen.
            _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
        }
        let (last, offset) = (table(&self.last), table(&members.offset));
        let is_second = table(&members.is_second);
        let banks: [[__m512i; 4]; 2] = std::array::from_fn(|bank| {
            // SAFETY: quarters of 256 bytes.
            std::array::from_fn(|quarter| unsafe {
                _mm512_loadu_si512(members.banks[bank].as_ptr().add(64 * quarter).cast())
            })
        });
        let window = _mm512_set1_epi8((self.window << 4) as i8);
        let codes = _mm512_set1_epi8(CODES as i8);
        let (low, high) = (_mm512_set1_epi16(0x00FF), _mm512_set1_epi16(0xFF00u16 as i16));
        let (low_one, high_one) = (_mm512_set1_epi16(0x0001), _mm512_set1_epi16(0x0100));
        let mut generators = [WideGenerators::load(&random[0]), WideGenerators::load(&random[1])];
        for unit in text.chunks_exact_mut(UNIT) {
            for row in unit.chunks_exact_mut(ROW) {
                let (even_bits, odd_bits) = (generators[0].next(), generators[1].next());
                // SAFETY: a row has 64 bytes.
                let bytes = unsafe { _mm512_loadu_si512(row.as_ptr().cast()) };
                // For a byte within the window, the result is the index; for other bytes it does not matter.
                let index = _mm512_xor_si512(bytes, window);
                let is_code = _mm512_cmplt_epu8_mask(index, codes);
                let last = _mm512_shuffle_epi8(last, index);
                // At odd places the products are eight bits higher, so their upper halves end in the upper byte.
                let even = _mm512_add_epi16(_mm512_and_si512(last, low), low_one);
                let odd = _mm512_add_epi16(_mm512_and_si512(last, high), high_one);
                let even = _mm512_mulhi_epu16(even_bits, even);
                let odd = _mm512_mulhi_epu16(odd_bits, odd);
                // Those bits of `odd` that `high` has, the others of `even`.
                let member = _mm512_ternarylogic_epi64::<0xCA>(high, odd, even);
                let place = _mm512_add_epi8(_mm512_shuffle_epi8(offset, index), member);
                let look_up = |bank: &[__m512i; 4]| {
                    let lower = _mm512_permutex2var_epi8(bank[0], place, bank[1]);
                    if HALVES == 1 {
                        return lower;
                    }
                    let upper = _mm512_permutex2var_epi8(bank[2], place, bank[3]);
                    _mm512_mask_blend_epi8(_mm512_movepi8_mask(place), lower, upper)
                };
                let mut byte = look_up(&banks[0]);
                if HALVES > 2 {
                    let is_second = _mm512_movepi8_mask(_mm512_shuffle_epi8(is_second, index));
                    byte = _mm512_mask_blend_epi8(is_second, byte, look_up(&banks[1]));
                }
                // SAFETY: a row has 64 bytes.
                unsafe {
                    _mm512_storeu_si512(row.as_mut_ptr().cast(), _mm512_mask_blend_epi8(is_code, bytes, byte));
                }
            }
        }
        random.iter_mut().zip(generators).for_each(|(random, generators)| generators.store(random));
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
        let low_bytes = _mm256_set1_epi16(0xFF);
        let mut numbers: Numbers = [[[0; LANES]; 2]; ROWS];
        for unit in text.chunks_exact_mut(UNIT) {
            Generators::side_by_side_avx2(random, &mut numbers);
            for (at, row) in unit.chunks_exact_mut(ROW / 2).enumerate() {
                let numbers = &numbers[at / 2];
                // SAFETY: half a row has 32 bytes, and so has half of the numbers of each set of generators.
                let (bytes, even_bits, odd_bits) = unsafe {
                    let half = |words: &[u64; LANES]| _mm256_loadu_si256(words.as_ptr().add(at % 2 * LANES / 2).cast());
                    (_mm256_loadu_si256(row.as_ptr().cast()), half(&numbers[0]), half(&numbers[1]))
                };
                let is_code = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, upper), window);
                let index = _mm256_and_si256(bytes, lower);
                let last = _mm256_shuffle_epi8(last, index);
                let even = _mm256_add_epi16(_mm256_and_si256(last, low_bytes), one);
                // At odd places the products are eight bits higher, so their upper halves end in the upper byte.
                let odd = _mm256_add_epi16(_mm256_andnot_si256(low_bytes, last), _mm256_slli_epi16::<8>(one));
                let even = _mm256_mulhi_epu16(even_bits, even);
                let odd = _mm256_mulhi_epu16(odd_bits, odd);
                let member = _mm256_or_si256(even, _mm256_andnot_si256(low_bytes, odd));
                let mut byte = _mm256_add_epi8(_mm256_shuffle_epi8(base, index), member);
                for (first, moved) in &self.gaps {
                    let first = _mm256_shuffle_epi8(table(first), index);
                    let moved = _mm256_shuffle_epi8(table(moved), index);
                    let behind = _mm256_cmpeq_epi8(_mm256_max_epu8(member, first), member);
                    byte = _mm256_add_epi8(byte, _mm256_and_si256(moved, behind));
                }
                let filled = _mm256_blendv_epi8(bytes, byte, is_code);
                // SAFETY: half a row has 32 bytes.
                unsafe { _mm256_storeu_si256(row.as_mut_ptr().cast(), filled) };
            }
        }
    }
}
