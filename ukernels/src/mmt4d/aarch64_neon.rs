//! Advanced SIMD. Source: Arm Architecture Reference Manual, C7.2 (FMLA by element).

use super::RawArgs;
use super::dot::{Dot, F32};
use super::tile::tile;
use core::arch::aarch64::float32x4_t;

/// # Safety
/// As [`Kernel`](super::Kernel) on the types of `D`.
unsafe fn run<D: Dot, const M0: usize, const NV: usize, const CHAINS: usize>(a: &RawArgs) {
    // SAFETY: the caller's.
    unsafe { tile::<D, M0, NV, CHAINS>(a) }
}

rows! {
    run, "Nothing: Advanced SIMD is of the architecture's baseline.", 32;
    F32<float32x4_t>, 2, 8 x 1, "FusedChain" {
        mmt4d_f32f32f32_1x8x1_aarch64_neon, 1, 1;
        mmt4d_f32f32f32_2x8x1_aarch64_neon, 2, 1;
        mmt4d_f32f32f32_4x8x1_aarch64_neon, 4, 1;
        mmt4d_f32f32f32_8x8x1_aarch64_neon, 8, 1;
        mmt4d_f32f32f32_12x8x1_aarch64_neon, 12, 1;
    }
    F32<float32x4_t>, 3, 12 x 1, "FusedChain" {
        mmt4d_f32f32f32_1x12x1_aarch64_neon, 1, 1;
        mmt4d_f32f32f32_2x12x1_aarch64_neon, 2, 1;
        mmt4d_f32f32f32_4x12x1_aarch64_neon, 4, 1;
        mmt4d_f32f32f32_8x12x1_aarch64_neon, 8, 1;
    }
}
