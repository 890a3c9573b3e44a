//! AVX-512.

use super::RawArgs;
use super::tiles::tiles;
use crate::x86_64::AVX512;

macro_rules! rows {
    ($($name:ident, $bytes:literal;)*) => {$(
        /// # Computes
        #[doc = concat!("The [operation](super) on elements of ", $bytes, " bytes.")]
        /// # Operands
        /// Tile, sizes and strides as given; no alignment.
        /// # Needs
        /// AVX-512 (the row's level: F, BW, DQ, VL).
        /// # Numerics
        /// `Exact`.
        /// # Registers
        /// As many vectors as 16 bytes have elements, twice.
        /// # Safety
        #[doc = concat!("As [`Kernel`](super::Kernel) on elements of ", $bytes, " bytes; the machine has what the row needs.")]
        pub unsafe fn $name(a: &RawArgs) {
            // SAFETY: the caller's.
            unsafe { tiles::<$bytes>(a, &AVX512) }
        }
    )*};
}

rows! {
    unpack_f64f64_nxn_x86_64_avx512, 8;
    unpack_f32f32_nxn_x86_64_avx512, 4;
    unpack_f16f16_nxn_x86_64_avx512, 2;
    unpack_i8i8_nxn_x86_64_avx512, 1;
}
