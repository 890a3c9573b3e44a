//! AVX2: whole rows of a tile are copied by vectors where the output's columns are contiguous.

use super::{RawArgs, generic};
use core::arch::x86_64::*;

/// Tiles of `T0 x 8·NV`.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on f32; the machine has what the row needs.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn tiles<const T0: usize, const NV: usize>(a: &RawArgs) {
    let t1 = NV * 8;
    let a = &RawArgs { tile: [T0, t1], ..*a };
    let whole = if a.out_strides[1] == 1 { a.size[1] / t1 } else { 0 };
    for r in 0..a.size[0] {
        let from = a.src.cast::<f32>().wrapping_offset((r / T0) as isize * a.src_strides[0]).wrapping_add(r % T0 * t1);
        let to = a.out.cast::<f32>().wrapping_offset(r as isize * a.out_strides[0]);
        // SAFETY: whole tiles by vectors, the rest element by element; the caller vouches for both operands.
        unsafe {
            for o1 in 0..whole {
                let from = from.wrapping_offset(o1 as isize * a.src_strides[1]);
                for v in 0..NV {
                    _mm256_storeu_ps(to.add(o1 * t1 + v * 8), _mm256_loadu_ps(from.add(v * 8)));
                }
            }
            generic::row(a, r, whole * t1);
        }
    }
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
            unsafe { tiles::<$t0, $nv>(a) }
        }
    )*};
}

rows! {
    unpack_f32f32_8x8_x86_64_avx2_fma, 8, 1;
    unpack_f32f32_6x16_x86_64_avx2_fma, 6, 2;
}
