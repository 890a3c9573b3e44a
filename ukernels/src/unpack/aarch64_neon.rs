//! Advanced SIMD.

use super::RawArgs;
use super::tiles::tiles;
use core::arch::aarch64::float32x4_t;

macro_rules! rows {
    ($($name:ident, $t0:literal, $nv:literal;)*) => {$(
        /// # Computes
        /// The [operation](super) on f32.
        /// # Operands
        #[doc = concat!("Tile ", $t0, " x 4·", $nv, "; sizes and strides as given; no alignment.")]
        /// # Needs
        /// Nothing: Advanced SIMD is of the architecture's baseline.
        /// # Numerics
        /// `Exact`.
        /// # Registers
        #[doc = concat!($nv, " vectors.")]
        /// # Safety
        /// As [`Kernel`](super::Kernel) on f32.
        pub unsafe fn $name(a: &RawArgs) {
            // SAFETY: the caller's.
            unsafe { tiles::<float32x4_t, $t0, $nv>(a) }
        }
    )*};
}

rows! {
    unpack_f32f32_8x8_aarch64_neon, 8, 2;
    unpack_f32f32_12x8_aarch64_neon, 12, 2;
    unpack_f32f32_8x12_aarch64_neon, 8, 3;
}
