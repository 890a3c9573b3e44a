//! Advanced SIMD. Source: Arm Architecture Reference Manual, C7.2 (FMLA by element).

use super::RawArgs;
use super::dot::F32;
use super::tile::tile;
use core::arch::aarch64::float32x4_t;

/// # Safety
/// As [`Kernel`](super::Kernel) on f32.
unsafe fn run<const M0: usize, const NV: usize>(a: &RawArgs) {
    if a.rows == 0 || a.cols == 0 {
        return;
    }
    if a.cols == NV * 4 {
        // SAFETY: the caller's; all columns are valid.
        unsafe { tile::<F32<float32x4_t>, M0, NV, 1, true>(a) }
    } else {
        // SAFETY: the caller's; there are a row and a column, so the operands are read.
        unsafe { tile::<F32<float32x4_t>, M0, NV, 1, false>(a) }
    }
}

macro_rules! rows {
    ($($name:ident, $m0:literal, $nv:literal;)*) => {$(
        /// # Computes
        /// The [operation](super) on f32.
        /// # Operands
        #[doc = concat!("Tile ", $m0, " x 4·", $nv, " x 1; strides as given; no alignment.")]
        /// # Needs
        /// Nothing: Advanced SIMD is of the architecture's baseline.
        /// # Numerics
        /// `FusedChain`.
        /// # Registers
        #[doc = concat!($m0, " x ", $nv, " accumulators, ", $nv, " of the right operand, of 32; elements of the left in the rest.")]
        /// # Safety
        /// As [`Kernel`](super::Kernel) on f32.
        pub unsafe fn $name(a: &RawArgs) {
            // SAFETY: the caller's.
            unsafe { run::<$m0, $nv>(a) }
        }
    )*};
}

rows! {
    mmt4d_f32f32f32_1x8x1_aarch64_neon, 1, 2;
    mmt4d_f32f32f32_2x8x1_aarch64_neon, 2, 2;
    mmt4d_f32f32f32_4x8x1_aarch64_neon, 4, 2;
    mmt4d_f32f32f32_8x8x1_aarch64_neon, 8, 2;
    mmt4d_f32f32f32_12x8x1_aarch64_neon, 12, 2;
    mmt4d_f32f32f32_1x12x1_aarch64_neon, 1, 3;
    mmt4d_f32f32f32_2x12x1_aarch64_neon, 2, 3;
    mmt4d_f32f32f32_4x12x1_aarch64_neon, 4, 3;
    mmt4d_f32f32f32_8x12x1_aarch64_neon, 8, 3;
}
