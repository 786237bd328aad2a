//! xoshiro256++ (Blackman & Vigna 2021), eight generators side by side: one alone is bound by its latency, and takes
//! three to five times as long.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::Rng;

use super::simd::Simd;

/// Generators side by side.
pub const LANES: usize = 8;
/// Bytes of one number of each.
pub const ROW: usize = 8 * LANES;

/// The states of eight generators.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Generators([[u64; LANES]; 4]);

impl Generators {
    /// Returns generators that all stand at nothing: each is seeded before use.
    pub fn unseeded() -> Generators {
        Generators([[1; LANES]; 4])
    }

    /// Returns eight generators, seeded from one source.
    pub fn seeded(source: &mut SplitMix64) -> Generators {
        let mut generators = Generators::unseeded();
        (0..LANES).for_each(|lane| generators.seed(lane, source));
        generators
    }

    /// Seeds one generator.
    pub fn seed(&mut self, lane: usize, source: &mut SplitMix64) {
        for word in &mut self.0 {
            word[lane] = source.next_u64();
        }
    }

    /// Fills rows with the next numbers of each, little endian.
    pub fn fill(&mut self, rows: &mut [[u8; ROW]], simd: Simd) {
        // The caller may ask for instructions that the processor does not have.
        match simd.min(Simd::detect()) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor has it.
            Simd::Avx512 => unsafe { self.fill_avx512(rows) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Simd::Avx2 => unsafe { self.fill_avx2(rows) },
            _ => self.fill_portable(rows),
        }
    }

    fn fill_portable(&mut self, rows: &mut [[u8; ROW]]) {
        // One after the other, so that each is in registers.
        for lane in 0..LANES {
            let mut one = Generator(self.0.map(|word| word[lane]));
            for row in &mut *rows {
                row[8 * lane..][..8].copy_from_slice(&one.next().to_le_bytes());
            }
            self.0.iter_mut().zip(one.0).for_each(|(word, value)| word[lane] = value);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn fill_avx2(&mut self, rows: &mut [[u8; ROW]]) {
        let mut halves = [HalfGenerators::load(self, 0), HalfGenerators::load(self, LANES / 2)];
        for row in rows {
            for (half, out) in halves.iter_mut().zip(row.as_chunks_mut::<{ ROW / 2 }>().0) {
                // SAFETY: half a row has 32 bytes.
                unsafe { std::arch::x86_64::_mm256_storeu_si256(out.as_mut_ptr().cast(), half.next()) };
            }
        }
        let [low, high] = halves;
        low.store(self, 0);
        high.store(self, LANES / 2);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    fn fill_avx512(&mut self, rows: &mut [[u8; ROW]]) {
        let mut wide = WideGenerators::load(self);
        for row in rows {
            // SAFETY: a row has 64 bytes.
            unsafe { std::arch::x86_64::_mm512_storeu_si512(row.as_mut_ptr().cast(), wide.next()) };
        }
        wide.store(self);
    }

    /// Writes the next numbers of several generators to `out`, in turn.
    pub fn side_by_side<const G: usize, const N: usize>(
        generators: &mut [Generators; G],
        out: &mut [[[u64; LANES]; G]; N],
    ) {
        for (at, generators) in generators.iter_mut().enumerate() {
            for lane in 0..LANES {
                let mut one = Generator(generators.0.map(|word| word[lane]));
                out.iter_mut().for_each(|out| out[at][lane] = one.next());
                generators.0.iter_mut().zip(one.0).for_each(|(word, value)| word[lane] = value);
            }
        }
    }

    /// Writes the next numbers of several generators to `out`, in turn, by instructions of AVX2.
    ///
    /// # Safety
    ///
    /// The processor must have AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    pub fn side_by_side_avx2<const G: usize, const N: usize>(
        generators: &mut [Generators; G],
        out: &mut [[[u64; LANES]; G]; N],
    ) {
        for half in [0, LANES / 2] {
            let mut states = generators.each_ref().map(|generators| HalfGenerators::load(generators, half));
            for out in &mut *out {
                for (state, out) in states.iter_mut().zip(out) {
                    // SAFETY: each row has eight numbers, of which four are stored from `half` on.
                    unsafe {
                        std::arch::x86_64::_mm256_storeu_si256(out.as_mut_ptr().add(half).cast(), state.next());
                    }
                }
            }
            generators.iter_mut().zip(states).for_each(|(generators, state)| state.store(generators, half));
        }
    }

    /// Writes the next numbers of several generators to `out`, in turn, by instructions of AVX-512.
    ///
    /// # Safety
    ///
    /// The processor must have AVX-512.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    pub fn side_by_side_avx512<const G: usize, const N: usize>(
        generators: &mut [Generators; G],
        out: &mut [[[u64; LANES]; G]; N],
    ) {
        let mut wide = generators.each_ref().map(|generators| WideGenerators::load(generators));
        for out in out {
            for (wide, out) in wide.iter_mut().zip(out) {
                // SAFETY: eight numbers are stored in an array of eight.
                unsafe { std::arch::x86_64::_mm512_storeu_si512(out.as_mut_ptr().cast(), wide.next()) };
            }
        }
        generators.iter_mut().zip(wide).for_each(|(generators, wide)| wide.store(generators));
    }
}

/// One generator.
struct Generator([u64; 4]);

impl Generator {
    #[inline]
    fn next(&mut self) -> u64 {
        let [a, b, c, d] = self.0;
        let mixed = d ^ b;
        self.0 = [a ^ mixed, b ^ c ^ a, c ^ a ^ (b << 17), mixed.rotate_left(45)];
        a.wrapping_add(d).rotate_left(23).wrapping_add(a)
    }
}

/// Four generators in registers.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct HalfGenerators([std::arch::x86_64::__m256i; 4]);

#[cfg(target_arch = "x86_64")]
impl HalfGenerators {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(generators: &Generators, half: usize) -> HalfGenerators {
        HalfGenerators(generators.0.each_ref().map(|row| {
            let lanes: &[u64] = &row[half..half + LANES / 2];
            // SAFETY: four numbers.
            unsafe { std::arch::x86_64::_mm256_loadu_si256(lanes.as_ptr().cast()) }
        }))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn store(self, generators: &mut Generators, half: usize) {
        for (row, value) in generators.0.iter_mut().zip(self.0) {
            let lanes: &mut [u64] = &mut row[half..half + LANES / 2];
            // SAFETY: four numbers.
            unsafe { std::arch::x86_64::_mm256_storeu_si256(lanes.as_mut_ptr().cast(), value) };
        }
    }

    /// Returns the next number of each.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn next(&mut self) -> std::arch::x86_64::__m256i {
        use std::arch::x86_64::*;
        let [a, b, c, d] = self.0;
        let sum = _mm256_add_epi64(a, d);
        let rotated = _mm256_or_si256(_mm256_slli_epi64::<23>(sum), _mm256_srli_epi64::<41>(sum));
        let (mixed, crossed) = (_mm256_xor_si256(d, b), _mm256_xor_si256(c, a));
        self.0 = [
            _mm256_xor_si256(a, mixed),
            _mm256_xor_si256(b, crossed),
            _mm256_xor_si256(crossed, _mm256_slli_epi64::<17>(b)),
            _mm256_or_si256(_mm256_slli_epi64::<45>(mixed), _mm256_srli_epi64::<19>(mixed)),
        ];
        _mm256_add_epi64(rotated, a)
    }
}

/// Eight generators in registers.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct WideGenerators([std::arch::x86_64::__m512i; 4]);

#[cfg(target_arch = "x86_64")]
impl WideGenerators {
    /// Loads the generators from memory.
    ///
    /// # Safety
    ///
    /// The processor must have AVX-512.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub fn load(generators: &Generators) -> WideGenerators {
        // SAFETY: each row has eight numbers.
        let row = |row: &[u64; LANES]| unsafe { std::arch::x86_64::_mm512_loadu_si512(row.as_ptr().cast()) };
        let [a, b, c, d] = &generators.0;
        WideGenerators([row(a), row(b), row(c), row(d)])
    }

    /// Puts them back.
    ///
    /// # Safety
    ///
    /// The processor must have AVX-512.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub fn store(self, generators: &mut Generators) {
        for (row, value) in generators.0.iter_mut().zip(self.0) {
            // SAFETY: each row has eight numbers.
            unsafe { std::arch::x86_64::_mm512_storeu_si512(row.as_mut_ptr().cast(), value) };
        }
    }

    /// Returns the next number of each.
    ///
    /// # Safety
    ///
    /// The processor must have AVX-512.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub fn next(&mut self) -> std::arch::x86_64::__m512i {
        use std::arch::x86_64::*;
        /// The exclusive or of three.
        const XOR: i32 = 0x96;
        let [a, b, c, d] = self.0;
        let number = _mm512_add_epi64(_mm512_rol_epi64::<23>(_mm512_add_epi64(a, d)), a);
        let mixed = _mm512_xor_si512(d, b);
        self.0 = [
            _mm512_xor_si512(a, mixed),
            _mm512_ternarylogic_epi64::<XOR>(a, b, c),
            _mm512_ternarylogic_epi64::<XOR>(a, c, _mm512_slli_epi64::<17>(b)),
            _mm512_rol_epi64::<45>(mixed),
        ];
        number
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;

    /// Rows are the numbers of eight generators of the `rand_xoshiro` crate, whatever the processor.
    #[test]
    fn lanes_are_the_generator() {
        for simd in [Simd::Portable, Simd::Avx2, Simd::Avx512].map(|simd| simd.min(Simd::detect())) {
            let mut generators = Generators::seeded(&mut SplitMix64::seed_from_u64(7));
            let mut source = SplitMix64::seed_from_u64(7);
            let mut singles: Vec<Xoshiro256PlusPlus> = (0..LANES)
                .map(|_| {
                    let mut seed = [0; 32];
                    seed.as_chunks_mut::<8>().0.iter_mut().for_each(|word| *word = source.next_u64().to_le_bytes());
                    Xoshiro256PlusPlus::from_seed(seed)
                })
                .collect();
            for count in [1, 2, 500] {
                let mut rows = vec![[0; ROW]; count];
                generators.fill(&mut rows, simd);
                for row in rows {
                    let numbers = row.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
                    assert!(numbers.eq(singles.iter_mut().map(Rng::next_u64)), "{simd:?}");
                }
            }
        }
    }

    type Numbers = [[[u64; LANES]; 2]; 40];

    /// All ways to make numbers make the same.
    #[test]
    fn several_side_by_side_are_each_alone() {
        let seeded = |seed| Generators::seeded(&mut SplitMix64::seed_from_u64(seed));
        let mut alone = [seeded(1), seeded(2)];
        let mut out = [[[0; LANES]; 2]; 40];
        let mut rows = [[[0; ROW]; 40]; 2];
        alone.iter_mut().zip(&mut rows).for_each(|(alone, rows)| alone.fill(rows, Simd::Portable));
        let mut check = |make: fn(&mut [Generators; 2], &mut Numbers)| {
            let mut generators = [seeded(1), seeded(2)];
            make(&mut generators, &mut out);
            for (at, out) in out.iter().enumerate() {
                for (numbers, rows) in out.iter().zip(&rows) {
                    assert_eq!(numbers.map(u64::to_le_bytes).as_flattened(), rows[at]);
                }
            }
            assert!(generators.iter().zip(&alone).all(|(a, b)| a.0 == b.0));
        };
        check(Generators::side_by_side);
        #[cfg(target_arch = "x86_64")]
        {
            if Simd::detect() >= Simd::Avx2 {
                // SAFETY: the processor has it.
                check(|generators, out| unsafe { Generators::side_by_side_avx2(generators, out) });
            }
            if Simd::detect() >= Simd::Avx512 {
                // SAFETY: as above.
                check(|generators, out| unsafe { Generators::side_by_side_avx512(generators, out) });
            }
        }
    }
}
