//! Vectors on x86-64. Source: Intel SDM volume 2.

use crate::moves::{Halves, Machine, Runs, Transposes, of_width};
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
    unsafe fn store_half(self, last: bool, to: *mut u8) {
        // SAFETY: the caller's.
        unsafe {
            let half = if last { _mm256_extracti128_si256::<1>(self) } else { _mm256_castsi256_si128(self) };
            _mm_storeu_si128(to.cast(), half);
        }
    }

    #[inline(always)]
    unsafe fn eight(from: *const u8, src_row: isize, to: *mut u8, out_column: isize) {
        // SAFETY: the caller's.
        unsafe { eight(from, src_row, to, out_column) }
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

/// [`Halves::eight`]. Halves of vectors are stored, because to put them together takes a shuffle more, and there are stores to
/// spare: a cache takes two at once where they are of one line, so that halves of one column follow each other.
///
/// In assembly, because the compiler would put them together, would keep a pointer for each row, whose additions take ports from
/// the vectors, and would take VUNPCKLPS for VPUNPCKLDQ, which cores from Ice Lake on run on two ports.
///
/// # Safety
/// The machine has AVX2; what is read and written is inside operands that don't overlap.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn eight(from: *const u8, src_row: isize, to: *mut u8, out_column: isize) {
    /// Loads four rows, and leaves columns in `$d $e $c $a`: the first four in the first halves.
    macro_rules! four {
        ($a:literal $b:literal $c:literal $d:literal $e:literal, $row0:literal $row1:literal $row2:literal $row3:literal) => {
            concat!(
                four!("vmovdqu", $a, $row0),
                four!("vmovdqu", $b, $row1),
                four!("vmovdqu", $c, $row2),
                four!("vmovdqu", $d, $row3),
                four!("vpunpckldq", $e, $a, $c),
                four!("vpunpckhdq", $a, $a, $c),
                four!("vpunpckldq", $c, $b, $d),
                four!("vpunpckhdq", $b, $b, $d),
                four!("vpunpckldq", $d, $e, $c),
                four!("vpunpckhdq", $e, $e, $c),
                four!("vpunpckldq", $c, $a, $b),
                four!("vpunpckhdq", $a, $a, $b),
            )
        };
        ($load:literal, $a:literal, $row:literal) => {
            concat!($load, " {", $a, "}, [{from} + ", $row, "]\n")
        };
        ($zip:literal, $to:literal, $a:literal, $b:literal) => {
            concat!($zip, " {", $to, "}, {", $a, "}, {", $b, "}\n")
        };
    }
    /// Stores a half of each vector: `$low` of the first four rows, `$high` of the last.
    macro_rules! column {
        ($store:literal, $at:literal, $low:literal, $high:literal, $half:literal) => {
            concat!(
                $store,
                " [{to} + ",
                $at,
                "], {",
                $low,
                $half,
                "\n",
                $store,
                " [{to} + ",
                $at,
                " + 16], {",
                $high,
                $half,
                "\n",
            )
        };
        ($store:literal, $half:literal) => {
            concat!(
                column!($store, "0", "d", "i", $half),
                column!($store, "{column}", "e", "j", $half),
                column!($store, "2*{column}", "c", "h", $half),
                column!($store, "{column3}", "a", "f", $half),
            )
        };
    }
    // SAFETY: the caller's.
    unsafe {
        asm!(
            four!("a" "b" "c" "d" "e", "0" "{row}" "2*{row}" "{row3}"),
            four!("f" "g" "h" "i" "j", "4*{row}" "{row5}" "2*{row3}" "{row7}"),
            column!("vmovdqu", ":x}"),
            "lea {to}, [{to} + 4*{column}]",
            column!("vextracti128", "}, 1"),
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
            f = out(ymm_reg) _,
            g = out(ymm_reg) _,
            h = out(ymm_reg) _,
            i = out(ymm_reg) _,
            j = out(ymm_reg) _,
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
    unsafe fn run<const W: usize, const N: usize, const G: usize>(transposes: &Transposes) {
        // SAFETY: the caller's.
        unsafe { transposes.run::<__m256i, W, N, G>() }
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
