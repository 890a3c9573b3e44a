//! Advanced SIMD.

use super::RawArgs;
use super::panels::panels;
use core::arch::aarch64::float32x4_t;

macro_rules! rows {
    ($($name:ident, $nv:literal;)*) => {$(
        /// # Computes
        /// The [operation](super) on f32.
        /// # Operands
        #[doc = concat!("Tile 4·", $nv, " x 1; sizes and strides as given; no alignment.")]
        /// # Needs
        /// Nothing: Advanced SIMD is of the architecture's baseline.
        /// # Numerics
        /// `Exact`.
        /// # Registers
        /// 4 rows and 4 columns of a transpose.
        /// # Safety
        /// As [`Kernel`](super::Kernel) on f32.
        pub unsafe fn $name(a: &RawArgs) {
            // SAFETY: the caller's.
            unsafe { panels::<float32x4_t, $nv>(a) }
        }
    )*};
}

rows! {
    pack_f32f32_8x1_aarch64_neon, 2;
    pack_f32f32_12x1_aarch64_neon, 3;
}
