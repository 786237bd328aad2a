//! xoshiro256++ (Blackman & Vigna 2021), eight generators side by side in a form that vectorises.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Generators side by side.
pub(crate) const LANES: usize = 8;

/// The states of eight generators.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Generators([[u64; LANES]; 4]);

/// What a block's generators are seeded from: the run's seed, the number of the block, and what they are for.
pub(crate) fn seeds(seed: u64, block: u64, purpose: u64) -> SplitMix64 {
    let mixed = |value: u64| SplitMix64::seed_from_u64(value).next_u64();
    SplitMix64::seed_from_u64(mixed(mixed(seed) ^ mixed(block).rotate_left(32)) ^ purpose)
}

impl Generators {
    /// Generators that all stand at nothing: each is seeded before use.
    pub(crate) fn unseeded() -> Generators {
        Generators([[1; LANES]; 4])
    }

    /// All eight, seeded from one source.
    pub(crate) fn seeded(source: &mut SplitMix64) -> Generators {
        let mut generators = Generators::unseeded();
        (0..LANES).for_each(|lane| generators.seed(lane, source));
        generators
    }

    /// Seeds one generator.
    pub(crate) fn seed(&mut self, lane: usize, source: &mut SplitMix64) {
        for word in &mut self.0 {
            word[lane] = source.next_u64();
        }
    }

    /// The next number of each.
    #[inline]
    fn next(&mut self) -> [u64; LANES] {
        let [a, b, c, d] = &mut self.0;
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = a[lane].wrapping_add(d[lane]).rotate_left(23).wrapping_add(a[lane]);
            let shifted = b[lane] << 17;
            c[lane] ^= a[lane];
            d[lane] ^= b[lane];
            b[lane] ^= c[lane];
            a[lane] ^= d[lane];
            c[lane] ^= shifted;
            d[lane] = d[lane].rotate_left(45);
        }
        out
    }

    /// The next numbers of several, in turn.
    pub(crate) fn side_by_side<const G: usize, const N: usize>(
        generators: &mut [Generators; G],
        out: &mut [[[u64; LANES]; G]; N],
    ) {
        for out in out {
            generators.iter_mut().zip(out).for_each(|(generators, out)| *out = generators.next());
        }
    }

    /// The same.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    pub(crate) fn side_by_side_avx2<const G: usize, const N: usize>(
        generators: &mut [Generators; G],
        out: &mut [[[u64; LANES]; G]; N],
    ) {
        use std::arch::x86_64::*;
        // Halves of four lanes.
        for half in [0, 4] {
            let mut states: [[__m256i; 4]; G] = std::array::from_fn(|of| {
                // SAFETY: each row has eight numbers, of which four are loaded or stored from `half` on.
                std::array::from_fn(|row| unsafe {
                    _mm256_loadu_si256(generators[of].0[row].as_ptr().add(half).cast())
                })
            });
            for out in &mut *out {
                for ([a, b, c, d], out) in states.iter_mut().zip(out) {
                    let sum = _mm256_add_epi64(*a, *d);
                    let rotated = _mm256_or_si256(_mm256_slli_epi64::<23>(sum), _mm256_srli_epi64::<41>(sum));
                    // SAFETY: as above.
                    unsafe { _mm256_storeu_si256(out.as_mut_ptr().add(half).cast(), _mm256_add_epi64(rotated, *a)) };
                    let shifted = _mm256_slli_epi64::<17>(*b);
                    *c = _mm256_xor_si256(*c, *a);
                    *d = _mm256_xor_si256(*d, *b);
                    *b = _mm256_xor_si256(*b, *c);
                    *a = _mm256_xor_si256(*a, *d);
                    *c = _mm256_xor_si256(*c, shifted);
                    *d = _mm256_or_si256(_mm256_slli_epi64::<45>(*d), _mm256_srli_epi64::<19>(*d));
                }
            }
            for (generators, state) in generators.iter_mut().zip(states) {
                for (row, value) in state.into_iter().enumerate() {
                    // SAFETY: as above.
                    unsafe { _mm256_storeu_si256(generators.0[row].as_mut_ptr().add(half).cast(), value) };
                }
            }
        }
    }

    /// The same. One alone would be bound by its latency.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn side_by_side_avx512<const G: usize, const N: usize>(
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

/// Eight generators in registers.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct WideGenerators([std::arch::x86_64::__m512i; 4]);

#[cfg(target_arch = "x86_64")]
impl WideGenerators {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn load(generators: &Generators) -> WideGenerators {
        // SAFETY: each row has eight numbers.
        let row = |row: &[u64; LANES]| unsafe { std::arch::x86_64::_mm512_loadu_si512(row.as_ptr().cast()) };
        let [a, b, c, d] = &generators.0;
        WideGenerators([row(a), row(b), row(c), row(d)])
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn store(self, generators: &mut Generators) {
        for (row, value) in generators.0.iter_mut().zip(self.0) {
            // SAFETY: each row has eight numbers.
            unsafe { std::arch::x86_64::_mm512_storeu_si512(row.as_mut_ptr().cast(), value) };
        }
    }

    /// The next number of each.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn next(&mut self) -> std::arch::x86_64::__m512i {
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

    use super::*;

    #[test]
    fn lanes_are_the_generator() {
        let mut generators = Generators::seeded(&mut seeds(7, 3, 1));
        let mut source = seeds(7, 3, 1);
        let mut singles: Vec<Xoshiro256PlusPlus> = (0..LANES)
            .map(|_| {
                let mut seed = [0; 32];
                seed.chunks_exact_mut(8).for_each(|word| word.copy_from_slice(&source.next_u64().to_le_bytes()));
                Xoshiro256PlusPlus::from_seed(seed)
            })
            .collect();
        for _ in 0..1000 {
            let numbers = generators.next();
            assert_eq!(numbers.to_vec(), singles.iter_mut().map(Rng::next_u64).collect::<Vec<u64>>());
        }
    }
}
