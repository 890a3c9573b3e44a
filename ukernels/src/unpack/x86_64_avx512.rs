//! AVX-512.

use super::RawArgs;
use super::tiles::tiles;
use core::arch::x86_64::__m512;

/// # Safety
/// As [`Kernel`](super::Kernel) on f32; the machine has what `enable` names.
#[target_feature(enable = "avx512f")]
unsafe fn run<const T0: usize, const NV: usize>(a: &RawArgs) {
    // SAFETY: the caller's.
    unsafe { tiles::<__m512, T0, NV>(a) }
}

macro_rules! rows {
    ($($name:ident, $t0:literal, $nv:literal;)*) => {$(
        /// # Computes
        /// The [operation](super) on f32.
        /// # Operands
        #[doc = concat!("Tile ", $t0, " x 16·", $nv, "; sizes and strides as given; no alignment.")]
        /// # Needs
        /// AVX-512.
        /// # Numerics
        /// `Exact`.
        /// # Registers
        #[doc = concat!($nv, " vectors.")]
        /// # Safety
        /// As [`Kernel`](super::Kernel) on f32; the machine has AVX-512.
        pub unsafe fn $name(a: &RawArgs) {
            // SAFETY: the caller's.
            unsafe { run::<$t0, $nv>(a) }
        }
    )*};
}

rows! {
    unpack_f32f32_8x32_x86_64_avx512, 8, 2;
    unpack_f32f32_14x32_x86_64_avx512, 14, 2;
}
