//! Vectors on x86-64. Source: Intel SDM volume 2.

use crate::moves::{Halves, Machine, Runs, Transposes, of_width, tall};
use crate::vector::Vector;
use core::arch::asm;
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
}

/// AVX2.
impl Halves for __m256i {
    #[inline(always)]
    unsafe fn load(low: *const u8, high: *const u8) -> __m256i {
        // SAFETY: the caller's.
        unsafe { _mm256_loadu2_m128i(high.cast(), low.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller's.
        unsafe { _mm256_storeu_si256(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn store_halves(self, low: *mut u8, high: *mut u8) {
        // SAFETY: the caller's.
        unsafe { _mm256_storeu2_m128i(high.cast(), low.cast(), self) }
    }

    #[inline(always)]
    unsafe fn tall<const W: usize, const N: usize>(from: *const u8, src_row: isize, to: *mut u8, out_column: isize) {
        // SAFETY: the caller's.
        unsafe {
            match W {
                4 => eight(from, src_row, to, out_column),
                _ => tall::<__m256i, W, N>(from, src_row, to, out_column),
            }
        }
    }

    #[inline(always)]
    unsafe fn zip<const W: usize>(self, other: __m256i) -> [__m256i; 2] {
        // SAFETY: the caller's.
        unsafe {
            match W {
                1 => [_mm256_unpacklo_epi8(self, other), _mm256_unpackhi_epi8(self, other)],
                2 => [_mm256_unpacklo_epi16(self, other), _mm256_unpackhi_epi16(self, other)],
                4 => [_mm256_unpacklo_epi32(self, other), _mm256_unpackhi_epi32(self, other)],
                _ => [_mm256_unpacklo_epi64(self, other), _mm256_unpackhi_epi64(self, other)],
            }
        }
    }
}

/// A transpose of eight rows and columns of 4 bytes: half as [`Halves::tall`] does it. In assembly, because the compiler keeps a
/// pointer for each row, whose additions take ports from the vectors, and because it takes VUNPCKLPS for VPUNPCKLDQ, which cores
/// from Ice Lake on run on two ports.
///
/// # Safety
/// The machine has AVX2; what is read and written is inside operands that don't overlap.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn eight(from: *const u8, src_row: isize, to: *mut u8, out_column: isize) {
    macro_rules! half {
        ($at:literal) => {
            concat!(
                "vmovdqu {a:x}, [{from} + ",
                $at,
                "]\n",
                "vinserti128 {a}, {a}, [{from} + 4*{row} + ",
                $at,
                "], 1\n",
                "vmovdqu {b:x}, [{from} + {row} + ",
                $at,
                "]\n",
                "vinserti128 {b}, {b}, [{from} + {row5} + ",
                $at,
                "], 1\n",
                "vmovdqu {c:x}, [{from} + 2*{row} + ",
                $at,
                "]\n",
                "vinserti128 {c}, {c}, [{from} + 2*{row3} + ",
                $at,
                "], 1\n",
                "vmovdqu {d:x}, [{from} + {row3} + ",
                $at,
                "]\n",
                "vinserti128 {d}, {d}, [{from} + {row7} + ",
                $at,
                "], 1\n",
                "vpunpckldq {e}, {a}, {c}\n",
                "vpunpckhdq {a}, {a}, {c}\n",
                "vpunpckldq {c}, {b}, {d}\n",
                "vpunpckhdq {b}, {b}, {d}\n",
                "vpunpckldq {d}, {e}, {c}\n",
                "vpunpckhdq {e}, {e}, {c}\n",
                "vpunpckldq {c}, {a}, {b}\n",
                "vpunpckhdq {a}, {a}, {b}\n",
                "vmovdqu [{to}], {d}\n",
                "vmovdqu [{to} + {column}], {e}\n",
                "vmovdqu [{to} + 2*{column}], {c}\n",
                "vmovdqu [{to} + {column3}], {a}\n",
            )
        };
    }
    // SAFETY: the caller's.
    unsafe {
        asm!(
            half!("0"),
            "lea {to}, [{to} + 4*{column}]",
            half!("16"),
            from = in(reg) from,
            row = in(reg) src_row,
            row3 = in(reg) src_row.wrapping_mul(3),
            row5 = in(reg) src_row.wrapping_mul(5),
            row7 = in(reg) src_row.wrapping_mul(7),
            to = inout(reg) to => _,
            column = in(reg) out_column,
            column3 = in(reg) out_column.wrapping_mul(3),
            a = out(ymm_reg) _,
            b = out(ymm_reg) _,
            c = out(ymm_reg) _,
            d = out(ymm_reg) _,
            e = out(ymm_reg) _,
            options(nostack, preserves_flags),
        );
    }
}

/// Moves with AVX2.
pub(crate) static AVX2: Machine = Machine { transposes: avx2_transposes, runs: avx2_runs };

/// Moves with AVX-512: copies of 64 bytes. Transposes are those of AVX2, because vectors of 64 bytes are shuffled on one port, and
/// halves of them on two.
pub(crate) static AVX512: Machine = Machine { transposes: avx2_transposes, runs: avx512_runs };

/// # Safety
/// As [`Moves::run`](crate::moves::Moves::run); the machine has AVX2.
unsafe fn avx2_transposes(width: usize, transposes: &Transposes) {
    /// Functions of their own: what only one of them needs is not computed for the others.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn run<const W: usize, const N: usize, const D: usize>(transposes: &Transposes) {
        // SAFETY: the caller's.
        unsafe { transposes.run::<__m256i, W, N, D>() }
    }
    // SAFETY: the caller's.
    unsafe { of_width!(run, width, transposes) }
}

/// # Safety
/// As [`Moves::run`](crate::moves::Moves::run); the machine has AVX2.
#[target_feature(enable = "avx2")]
unsafe fn avx2_runs(runs: &Runs) {
    // SAFETY: the caller's.
    unsafe { runs.run() }
}

/// # Safety
/// As [`Moves::run`](crate::moves::Moves::run); the machine has AVX-512.
#[target_feature(enable = "avx512f")]
unsafe fn avx512_runs(runs: &Runs) {
    // SAFETY: the caller's; AVX2 is of AVX-512.
    unsafe { if runs.bytes.is_multiple_of(64) { runs.run_lines() } else { avx2_runs(runs) } }
}
