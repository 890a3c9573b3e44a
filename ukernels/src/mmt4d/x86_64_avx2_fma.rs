//! AVX2 and FMA. Source: Intel SDM volume 2 (VFMADD231PS, VBROADCASTSS, VMASKMOVPS).

use super::RawArgs;
use super::tile::tile;
use core::arch::x86_64::__m256;

/// # Safety
/// As [`Kernel`](super::Kernel) on f32; the machine has what `enable` names.
#[target_feature(enable = "avx2,fma")]
unsafe fn run<const M0: usize, const NV: usize>(a: &RawArgs) {
    if a.rows == 0 || a.cols == 0 {
        return;
    }
    if a.cols == NV * 8 {
        // SAFETY: the caller's; all columns are valid.
        unsafe { tile::<__m256, M0, NV, true>(a) }
    } else {
        // SAFETY: the caller's; there are a row and a column, so the operands are read.
        unsafe { tile::<__m256, M0, NV, false>(a) }
    }
}

macro_rules! rows {
    ($($name:ident, $m0:literal, $nv:literal;)*) => {$(
        /// # Computes
        /// The [operation](super) on f32.
        /// # Operands
        #[doc = concat!("Tile ", $m0, " x 8·", $nv, " x 1; strides as given; no alignment.")]
        /// # Needs
        /// AVX2 and FMA.
        /// # Numerics
        /// `FusedChain`.
        /// # Registers
        #[doc = concat!($m0, " x ", $nv, " accumulators, ", $nv, " of the right operand and 1 broadcast, of 16.")]
        /// # Safety
        /// As [`Kernel`](super::Kernel) on f32; the machine has AVX2 and FMA.
        pub unsafe fn $name(a: &RawArgs) {
            // SAFETY: the caller's.
            unsafe { run::<$m0, $nv>(a) }
        }
    )*};
}

rows! {
    mmt4d_f32f32f32_1x8x1_x86_64_avx2_fma, 1, 1;
    mmt4d_f32f32f32_2x8x1_x86_64_avx2_fma, 2, 1;
    mmt4d_f32f32f32_4x8x1_x86_64_avx2_fma, 4, 1;
    mmt4d_f32f32f32_8x8x1_x86_64_avx2_fma, 8, 1;
    mmt4d_f32f32f32_12x8x1_x86_64_avx2_fma, 12, 1;
    mmt4d_f32f32f32_1x16x1_x86_64_avx2_fma, 1, 2;
    mmt4d_f32f32f32_2x16x1_x86_64_avx2_fma, 2, 2;
    mmt4d_f32f32f32_4x16x1_x86_64_avx2_fma, 4, 2;
    mmt4d_f32f32f32_6x16x1_x86_64_avx2_fma, 6, 2;
}
