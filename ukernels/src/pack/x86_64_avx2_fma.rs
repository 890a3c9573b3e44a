//! AVX2: panels one column deep. Rows of the source that are contiguous along the panel are copied; those that are
//! contiguous across it go through an 8 x 8 transpose in registers.

use super::{RawArgs, generic};
use core::arch::x86_64::*;

/// Panels of `8·NV x 1`.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on f32; the machine has AVX2.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn panels<const NV: usize>(a: &RawArgs) {
    let t0 = NV * 8;
    let a = &RawArgs { tile: [t0, 1], ..*a };
    let src = a.src.cast::<f32>();
    for o0 in 0..a.outer[0] {
        let whole_rows = (o0 + 1) * t0 <= a.size[0];
        let row = src.wrapping_offset((o0 * t0) as isize * a.src_strides[0]);
        let out = a.out.cast::<f32>().wrapping_offset(o0 as isize * a.out_strides[0]);
        let columns = a.outer[1].min(a.size[1]);
        let mut done = 0;
        // SAFETY: whole tiles of the source, and tiles of `out` that the caller vouches for.
        unsafe {
            if whole_rows && a.src_strides[0] == 1 {
                while done < columns {
                    let from = row.wrapping_offset(done as isize * a.src_strides[1]);
                    let to = out.wrapping_offset(done as isize * a.out_strides[1]);
                    for v in 0..NV {
                        _mm256_storeu_ps(to.add(v * 8), _mm256_loadu_ps(from.add(v * 8)));
                    }
                    done += 1;
                }
            } else if whole_rows && a.src_strides[1] == 1 {
                while done + 8 <= columns {
                    for v in 0..NV {
                        let from = row.wrapping_offset((v * 8) as isize * a.src_strides[0]).wrapping_add(done);
                        let rows = core::array::from_fn(|i| {
                            _mm256_loadu_ps(from.wrapping_offset(i as isize * a.src_strides[0]))
                        });
                        for (i, column) in transpose(rows).into_iter().enumerate() {
                            let to = out.wrapping_offset((done + i) as isize * a.out_strides[1]);
                            _mm256_storeu_ps(to.wrapping_add(v * 8), column);
                        }
                    }
                    done += 8;
                }
            }
            for o1 in done..a.outer[1] {
                generic::tile(a, o0, o1);
            }
        }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn transpose(r: [__m256; 8]) -> [__m256; 8] {
    let pair = |i: usize| (_mm256_unpacklo_ps(r[i], r[i + 1]), _mm256_unpackhi_ps(r[i], r[i + 1]));
    let [(a0, a1), (a2, a3), (a4, a5), (a6, a7)] = [pair(0), pair(2), pair(4), pair(6)];
    let four = |lo: __m256, hi: __m256| (_mm256_shuffle_ps::<0x44>(lo, hi), _mm256_shuffle_ps::<0xee>(lo, hi));
    let [(b0, b1), (b2, b3), (b4, b5), (b6, b7)] = [four(a0, a2), four(a1, a3), four(a4, a6), four(a5, a7)];
    let low = |x, y| _mm256_permute2f128_ps::<0x20>(x, y);
    let high = |x, y| _mm256_permute2f128_ps::<0x31>(x, y);
    [low(b0, b4), low(b1, b5), low(b2, b6), low(b3, b7), high(b0, b4), high(b1, b5), high(b2, b6), high(b3, b7)]
}

macro_rules! rows {
    ($($name:ident, $nv:literal;)*) => {$(
        /// # Computes
        /// The [operation](super) on f32.
        /// # Operands
        #[doc = concat!("Tile 8·", $nv, " x 1; sizes and strides as given; no alignment.")]
        /// # Needs
        /// AVX2.
        /// # Numerics
        /// `Exact`.
        /// # Registers
        /// 8 rows and 8 columns of a transpose.
        /// # Safety
        /// As [`Kernel`](super::Kernel) on f32; the machine has AVX2.
        pub unsafe fn $name(a: &RawArgs) {
            // SAFETY: the caller's.
            unsafe { panels::<$nv>(a) }
        }
    )*};
}

rows! {
    pack_f32f32_8x1_x86_64_avx2_fma, 1;
    pack_f32f32_16x1_x86_64_avx2_fma, 2;
}
