//! AVX2 and FMA.

use super::RawArgs;
use super::panels::panels;
use crate::x86_64::AVX2;

macro_rules! rows {
    ($($name:ident, $bytes:literal;)*) => {$(
        /// # Computes
        #[doc = concat!("The [operation](super) on elements of ", $bytes, " bytes.")]
        /// # Operands
        /// Tile, sizes and strides as given; no alignment.
        /// # Needs
        /// AVX2.
        /// # Numerics
        /// `Exact`.
        /// # Registers
        /// As many vectors as 16 bytes have elements, twice.
        /// # Safety
        #[doc = concat!("As [`Kernel`](super::Kernel) on elements of ", $bytes, " bytes; the machine has what the row needs.")]
        pub unsafe fn $name(a: &RawArgs) {
            // SAFETY: the caller's.
            unsafe { panels::<$bytes>(a, &AVX2) }
        }
    )*};
}

rows! {
    pack_f64f64_nxn_x86_64_avx2_fma, 8;
    pack_f32f32_nxn_x86_64_avx2_fma, 4;
    pack_f16f16_nxn_x86_64_avx2_fma, 2;
    pack_i8i8_nxn_x86_64_avx2_fma, 1;
}
