//! AVX-512: panels one column deep. Rows of the source that are contiguous along the panel are copied; those that
//! are contiguous across it go through a 16 x 16 transpose in registers.

use super::{RawArgs, generic};
use core::arch::x86_64::*;

/// Panels of `16·NV x 1`.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on f32; the machine has AVX-512F.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn panels<const NV: usize>(a: &RawArgs) {
    let t0 = NV * 16;
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
                        _mm512_storeu_ps(to.add(v * 16), _mm512_loadu_ps(from.add(v * 16)));
                    }
                    done += 1;
                }
            } else if whole_rows && a.src_strides[1] == 1 {
                while done + 16 <= columns {
                    for v in 0..NV {
                        let from = row.wrapping_offset((v * 16) as isize * a.src_strides[0]).wrapping_add(done);
                        let rows = core::array::from_fn(|i| {
                            _mm512_loadu_ps(from.wrapping_offset(i as isize * a.src_strides[0]))
                        });
                        for (i, column) in transpose(rows).into_iter().enumerate() {
                            let to = out.wrapping_offset((done + i) as isize * a.out_strides[1]);
                            _mm512_storeu_ps(to.wrapping_add(v * 16), column);
                        }
                    }
                    done += 16;
                }
            }
            for o1 in done..a.outer[1] {
                generic::tile(a, o0, o1);
            }
        }
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn transpose(r: [__m512; 16]) -> [__m512; 16] {
    // Within each 128-bit lane, 4 x 4 transposes of four rows.
    let mut quads = [[_mm512_setzero_ps(); 4]; 4];
    for (q, quad) in quads.iter_mut().enumerate() {
        let (r0, r1, r2, r3) = (r[q * 4], r[q * 4 + 1], r[q * 4 + 2], r[q * 4 + 3]);
        let (lo01, hi01) = (_mm512_unpacklo_ps(r0, r1), _mm512_unpackhi_ps(r0, r1));
        let (lo23, hi23) = (_mm512_unpacklo_ps(r2, r3), _mm512_unpackhi_ps(r2, r3));
        *quad = [
            _mm512_shuffle_ps::<0x44>(lo01, lo23),
            _mm512_shuffle_ps::<0xee>(lo01, lo23),
            _mm512_shuffle_ps::<0x44>(hi01, hi23),
            _mm512_shuffle_ps::<0xee>(hi01, hi23),
        ];
    }
    // Then a 4 x 4 transpose of lanes for each column of a quad.
    let mut columns = [_mm512_setzero_ps(); 16];
    for i in 0..4 {
        let [q0, q1, q2, q3] = [quads[0][i], quads[1][i], quads[2][i], quads[3][i]];
        let even01 = _mm512_shuffle_f32x4::<0x88>(q0, q1);
        let odd01 = _mm512_shuffle_f32x4::<0xdd>(q0, q1);
        let even23 = _mm512_shuffle_f32x4::<0x88>(q2, q3);
        let odd23 = _mm512_shuffle_f32x4::<0xdd>(q2, q3);
        columns[i] = _mm512_shuffle_f32x4::<0x88>(even01, even23);
        columns[i + 4] = _mm512_shuffle_f32x4::<0x88>(odd01, odd23);
        columns[i + 8] = _mm512_shuffle_f32x4::<0xdd>(even01, even23);
        columns[i + 12] = _mm512_shuffle_f32x4::<0xdd>(odd01, odd23);
    }
    columns
}

macro_rules! rows {
    ($($name:ident, $nv:literal;)*) => {$(
        /// # Computes
        /// The [operation](super) on f32.
        /// # Operands
        #[doc = concat!("Tile 16·", $nv, " x 1; sizes and strides as given; no alignment.")]
        /// # Needs
        /// AVX-512F (the row's level: F, BW, DQ, VL).
        /// # Numerics
        /// `Exact`.
        /// # Registers
        /// 16 rows and 16 columns of a transpose.
        /// # Safety
        /// As [`Kernel`](super::Kernel) on f32; the machine has AVX-512F.
        pub unsafe fn $name(a: &RawArgs) {
            // SAFETY: the caller's.
            unsafe { panels::<$nv>(a) }
        }
    )*};
}

rows! {
    pack_f32f32_16x1_x86_64_avx512, 1;
    pack_f32f32_32x1_x86_64_avx512, 2;
}
