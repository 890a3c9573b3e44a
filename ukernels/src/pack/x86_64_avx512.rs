//! AVX-512.

use super::RawArgs;
use super::panels::panels;
use core::arch::x86_64::__m512;

/// # Safety
/// As [`Kernel`](super::Kernel) on f32; the machine has what `enable` names.
#[target_feature(enable = "avx512f")]
unsafe fn run<const NV: usize>(a: &RawArgs) {
    // SAFETY: the caller's.
    unsafe { panels::<__m512, NV>(a) }
}

macro_rules! rows {
    ($($name:ident, $nv:literal;)*) => {$(
        /// # Computes
        /// The [operation](super) on f32.
        /// # Operands
        #[doc = concat!("Tile 16·", $nv, " x 1; sizes and strides as given; no alignment.")]
        /// # Needs
        /// AVX-512F (the row's level: F, BW, DQ, VL).
        /// # Numerics
        /// `Exact`.
        /// # Registers
        /// 16 rows and 16 columns of a transpose.
        /// # Safety
        /// As [`Kernel`](super::Kernel) on f32; the machine has AVX-512F.
        pub unsafe fn $name(a: &RawArgs) {
            // SAFETY: the caller's.
            unsafe { run::<$nv>(a) }
        }
    )*};
}

rows! {
    pack_f32f32_16x1_x86_64_avx512, 1;
    pack_f32f32_32x1_x86_64_avx512, 2;
}
