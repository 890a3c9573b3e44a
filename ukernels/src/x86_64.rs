//! Vectors of f32 on x86-64. Source: Intel SDM volume 2.

use crate::vector::Vector;
use core::arch::x86_64::*;

/// Sign bits select the lanes of VMASKMOVPS; a window of eight starts at `8 - lanes`.
static LANES: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

/// AVX2 and FMA.
impl Vector for __m256 {
    const LANES: usize = 8;
    type Mask = __m256i;
    type Left = __m256;

    #[inline(always)]
    unsafe fn mask(lanes: usize) -> __m256i {
        // SAFETY: a window of eight inside `LANES`.
        unsafe { _mm256_loadu_si256(LANES.as_ptr().add(8 - lanes.min(8)).cast()) }
    }

    #[inline(always)]
    unsafe fn load(p: *const f32, mask: __m256i) -> __m256 {
        // SAFETY: the caller's.
        unsafe { _mm256_maskload_ps(p, mask) }
    }

    #[inline(always)]
    unsafe fn load_all(p: *const f32) -> __m256 {
        // SAFETY: the caller's.
        unsafe { _mm256_loadu_ps(p) }
    }

    #[inline(always)]
    unsafe fn store(self, p: *mut f32, mask: __m256i) {
        // SAFETY: the caller's.
        unsafe { _mm256_maskstore_ps(p, mask, self) }
    }

    #[inline(always)]
    unsafe fn store_all(self, p: *mut f32) {
        // SAFETY: the caller's.
        unsafe { _mm256_storeu_ps(p, self) }
    }

    #[inline(always)]
    unsafe fn broadcast(p: *const f32) -> __m256 {
        // SAFETY: the caller's.
        unsafe { _mm256_broadcast_ss(&*p) }
    }

    #[inline(always)]
    unsafe fn left(p: *const f32) -> __m256 {
        // SAFETY: the caller's.
        unsafe { Self::broadcast(p) }
    }

    #[inline(always)]
    unsafe fn fma(left: __m256, right: __m256, acc: __m256) -> __m256 {
        // SAFETY: the caller's.
        unsafe { _mm256_fmadd_ps(left, right, acc) }
    }

    #[inline(always)]
    unsafe fn add(self, b: __m256) -> __m256 {
        // SAFETY: the caller's.
        unsafe { _mm256_add_ps(self, b) }
    }

    #[inline(always)]
    unsafe fn min(self, b: __m256) -> __m256 {
        // SAFETY: the caller's.
        unsafe { _mm256_min_ps(self, b) }
    }

    #[inline(always)]
    unsafe fn max(self, b: __m256) -> __m256 {
        // SAFETY: the caller's.
        unsafe { _mm256_max_ps(self, b) }
    }

    #[inline(always)]
    unsafe fn prefetch(p: *const f32) {
        // SAFETY: a hint, which never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(p.cast()) }
    }

    #[inline(always)]
    unsafe fn transpose(rows: *const f32, row_stride: isize, columns: *mut f32, column_stride: isize) {
        // SAFETY: the caller's: eight rows of eight, eight columns of eight.
        unsafe {
            let r: [__m256; 8] =
                core::array::from_fn(|i| _mm256_loadu_ps(rows.wrapping_offset(i as isize * row_stride)));
            let pair = |i: usize| (_mm256_unpacklo_ps(r[i], r[i + 1]), _mm256_unpackhi_ps(r[i], r[i + 1]));
            let [(a0, a1), (a2, a3), (a4, a5), (a6, a7)] = [pair(0), pair(2), pair(4), pair(6)];
            let four = |lo, hi| (_mm256_shuffle_ps::<0x44>(lo, hi), _mm256_shuffle_ps::<0xee>(lo, hi));
            let [(b0, b1), (b2, b3), (b4, b5), (b6, b7)] = [four(a0, a2), four(a1, a3), four(a4, a6), four(a5, a7)];
            for (i, (x, y)) in [(b0, b4), (b1, b5), (b2, b6), (b3, b7)].into_iter().enumerate() {
                let place = |i: usize| columns.wrapping_offset(i as isize * column_stride);
                _mm256_storeu_ps(place(i), _mm256_permute2f128_ps::<0x20>(x, y));
                _mm256_storeu_ps(place(i + 4), _mm256_permute2f128_ps::<0x31>(x, y));
            }
        }
    }
}

/// AVX-512F.
impl Vector for __m512 {
    const LANES: usize = 16;
    type Mask = __mmask16;
    type Left = __m512;

    #[inline(always)]
    unsafe fn mask(lanes: usize) -> __mmask16 {
        ((1u32 << lanes.min(16)) - 1) as u16
    }

    #[inline(always)]
    unsafe fn load(p: *const f32, mask: __mmask16) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_maskz_loadu_ps(mask, p) }
    }

    #[inline(always)]
    unsafe fn load_all(p: *const f32) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_loadu_ps(p) }
    }

    #[inline(always)]
    unsafe fn store(self, p: *mut f32, mask: __mmask16) {
        // SAFETY: the caller's.
        unsafe { _mm512_mask_storeu_ps(p, mask, self) }
    }

    #[inline(always)]
    unsafe fn store_all(self, p: *mut f32) {
        // SAFETY: the caller's.
        unsafe { _mm512_storeu_ps(p, self) }
    }

    #[inline(always)]
    unsafe fn broadcast(p: *const f32) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_set1_ps(p.read()) }
    }

    #[inline(always)]
    unsafe fn left(p: *const f32) -> __m512 {
        // SAFETY: the caller's.
        unsafe { Self::broadcast(p) }
    }

    #[inline(always)]
    unsafe fn fma(left: __m512, right: __m512, acc: __m512) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_fmadd_ps(left, right, acc) }
    }

    #[inline(always)]
    unsafe fn add(self, b: __m512) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_add_ps(self, b) }
    }

    #[inline(always)]
    unsafe fn min(self, b: __m512) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_min_ps(self, b) }
    }

    #[inline(always)]
    unsafe fn max(self, b: __m512) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_max_ps(self, b) }
    }

    #[inline(always)]
    unsafe fn prefetch(p: *const f32) {
        // SAFETY: a hint, which never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(p.cast()) }
    }

    #[inline(always)]
    unsafe fn transpose(rows: *const f32, row_stride: isize, columns: *mut f32, column_stride: isize) {
        // SAFETY: the caller's: sixteen rows of sixteen, sixteen columns of sixteen.
        unsafe {
            let place = |i: usize| columns.wrapping_offset(i as isize * column_stride);
            // Within each 128-bit lane, 4 x 4 transposes of four rows.
            let mut quads = [[_mm512_setzero_ps(); 4]; 4];
            for (q, quad) in quads.iter_mut().enumerate() {
                let row = |i: usize| _mm512_loadu_ps(rows.wrapping_offset((q * 4 + i) as isize * row_stride));
                let (r0, r1, r2, r3) = (row(0), row(1), row(2), row(3));
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
            let [first, second, third, fourth] = quads;
            for (i, (((q0, q1), q2), q3)) in first.into_iter().zip(second).zip(third).zip(fourth).enumerate() {
                let even01 = _mm512_shuffle_f32x4::<0x88>(q0, q1);
                let odd01 = _mm512_shuffle_f32x4::<0xdd>(q0, q1);
                let even23 = _mm512_shuffle_f32x4::<0x88>(q2, q3);
                let odd23 = _mm512_shuffle_f32x4::<0xdd>(q2, q3);
                _mm512_storeu_ps(place(i), _mm512_shuffle_f32x4::<0x88>(even01, even23));
                _mm512_storeu_ps(place(i + 4), _mm512_shuffle_f32x4::<0x88>(odd01, odd23));
                _mm512_storeu_ps(place(i + 8), _mm512_shuffle_f32x4::<0xdd>(even01, even23));
                _mm512_storeu_ps(place(i + 12), _mm512_shuffle_f32x4::<0xdd>(odd01, odd23));
            }
        }
    }
}
