//! AVX2 and FMA.

use super::RawArgs;
use super::panels::panels;
use core::arch::x86_64::__m256;

/// # Safety
/// As [`Kernel`](super::Kernel) on f32; the machine has what `enable` names.
#[target_feature(enable = "avx2,fma")]
unsafe fn run<const NV: usize>(a: &RawArgs) {
    // SAFETY: the caller's.
    unsafe { panels::<__m256, NV>(a) }
}

macro_rules! rows {
    ($($name:ident, $nv:literal;)*) => {$(
        /// # Computes
        /// The [operation](super) on f32.
        /// # Operands
        #[doc = concat!("Tile 8·", $nv, " x 1; sizes and strides as given; no alignment.")]
        /// # Needs
        /// AVX2.
        /// # Numerics
        /// `Exact`.
        /// # Registers
        /// 8 rows and 8 columns of a transpose.
        /// # Safety
        /// As [`Kernel`](super::Kernel) on f32; the machine has AVX2.
        pub unsafe fn $name(a: &RawArgs) {
            // SAFETY: the caller's.
            unsafe { run::<$nv>(a) }
        }
    )*};
}

rows! {
    pack_f32f32_8x1_x86_64_avx2_fma, 1;
    pack_f32f32_16x1_x86_64_avx2_fma, 2;
}
