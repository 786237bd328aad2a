//! The capabilities of the processor. All of them make the same bytes.

/// The instructions that are used, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Simd {
    /// The instructions that every processor has.
    Portable,
    /// AVX2 and BMI2.
    Avx2,
    /// AVX-512 F, BW, VL and VBMI in addition.
    Avx512,
}

impl Simd {
    /// Returns the highest level that this processor has.
    pub fn detect() -> Simd {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
            let more = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vbmi");
            return if more { Simd::Avx512 } else { Simd::Avx2 };
        }
        Simd::Portable
    }
}
