//! Advanced SIMD.

use super::RawArgs;
use super::tiles::tiles;
use crate::aarch64::NEON;

macro_rules! rows {
    ($($name:ident, $bytes:literal;)*) => {$(
        /// # Computes
        #[doc = concat!("The [operation](super) on elements of ", $bytes, " bytes.")]
        /// # Operands
        /// Tile, sizes and strides as given; no alignment.
        /// # Needs
        /// Nothing: Advanced SIMD is of the architecture's baseline.
        /// # Numerics
        /// `Exact`.
        /// # Registers
        /// Two for each element of 16 bytes.
        /// # Safety
        #[doc = concat!("As [`Kernel`](super::Kernel) on elements of ", $bytes, " bytes.")]
        pub unsafe fn $name(a: &RawArgs) {
            // SAFETY: the caller's.
            unsafe { tiles::<$bytes>(a, &NEON) }
        }
    )*};
}

rows! {
    unpack_f64f64_nxn_aarch64_neon, 8;
    unpack_f32f32_nxn_aarch64_neon, 4;
    unpack_f16f16_nxn_aarch64_neon, 2;
    unpack_i8i8_nxn_aarch64_neon, 1;
}
