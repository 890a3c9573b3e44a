//! AVX-512. Source: Intel SDM volume 2 (VFMADD231PS with embedded broadcast, masked moves).

use super::RawArgs;
use super::tile::tile;
use core::arch::x86_64::__m512;

/// # Safety
/// As [`Kernel`](super::Kernel) on f32; the machine has what `enable` names.
#[target_feature(enable = "avx512f")]
unsafe fn run<const M0: usize, const NV: usize>(a: &RawArgs) {
    if a.rows == 0 || a.cols == 0 {
        return;
    }
    if a.cols == NV * 16 {
        // SAFETY: the caller's; all columns are valid.
        unsafe { tile::<__m512, M0, NV, true>(a) }
    } else {
        // SAFETY: the caller's; there are a row and a column, so the operands are read.
        unsafe { tile::<__m512, M0, NV, false>(a) }
    }
}

macro_rules! rows {
    ($($name:ident, $m0:literal, $nv:literal;)*) => {$(
        /// # Computes
        /// The [operation](super) on f32.
        /// # Operands
        #[doc = concat!("Tile ", $m0, " x 16·", $nv, " x 1; strides as given; no alignment.")]
        /// # Needs
        /// AVX-512F (the row's level: F, BW, DQ, VL).
        /// # Numerics
        /// `FusedChain`.
        /// # Registers
        #[doc = concat!($m0, " x ", $nv, " accumulators, ", $nv, " of the right operand, of 32.")]
        /// # Safety
        /// As [`Kernel`](super::Kernel) on f32; the machine has AVX-512.
        pub unsafe fn $name(a: &RawArgs) {
            // SAFETY: the caller's.
            unsafe { run::<$m0, $nv>(a) }
        }
    )*};
}

rows! {
    mmt4d_f32f32f32_1x32x1_x86_64_avx512, 1, 2;
    mmt4d_f32f32f32_2x32x1_x86_64_avx512, 2, 2;
    mmt4d_f32f32f32_4x32x1_x86_64_avx512, 4, 2;
    mmt4d_f32f32f32_8x32x1_x86_64_avx512, 8, 2;
    mmt4d_f32f32f32_12x32x1_x86_64_avx512, 12, 2;
    mmt4d_f32f32f32_14x32x1_x86_64_avx512, 14, 2;
}
