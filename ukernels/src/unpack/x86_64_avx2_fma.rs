//! AVX2 and FMA.

use super::RawArgs;
use super::tiles::tiles;
use core::arch::x86_64::__m256;

/// # Safety
/// As [`Kernel`](super::Kernel) on f32; the machine has what `enable` names.
#[target_feature(enable = "avx2,fma")]
unsafe fn run<const T0: usize, const NV: usize>(a: &RawArgs) {
    // SAFETY: the caller's.
    unsafe { tiles::<__m256, T0, NV>(a) }
}

macro_rules! rows {
    ($($name:ident, $t0:literal, $nv:literal;)*) => {$(
        /// # Computes
        /// The [operation](super) on f32.
        /// # Operands
        #[doc = concat!("Tile ", $t0, " x 8·", $nv, "; sizes and strides as given; no alignment.")]
        /// # Needs
        /// AVX2.
        /// # Numerics
        /// `Exact`.
        /// # Registers
        #[doc = concat!($nv, " vectors.")]
        /// # Safety
        /// As [`Kernel`](super::Kernel) on f32; the machine has AVX2.
        pub unsafe fn $name(a: &RawArgs) {
            // SAFETY: the caller's.
            unsafe { run::<$t0, $nv>(a) }
        }
    )*};
}

rows! {
    unpack_f32f32_8x8_x86_64_avx2_fma, 8, 1;
    unpack_f32f32_6x16_x86_64_avx2_fma, 6, 2;
}
