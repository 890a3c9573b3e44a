//! AVX-512 VNNI. Source: Intel SDM volume 2 (VPDPBUSD, VPDPWSSD).
//!
//! VPDPBUSD multiplies unsigned bytes with signed ones. Where the operands' signs are others, one operand's sign bit is
//! flipped, which adds or takes 128, and that times the sum of the other operand is taken back in the end: exact in
//! wrapping 32-bit arithmetic. It is the right operand's, of which an instruction flips a vector for all rows of a tile: one
//! on the ports that products go to, so that rows whose panels come flipped are faster, the more the fewer rows there are.

use super::RawArgs;
use super::dot::{Dot, Lhs};
use super::scaled::{Scaled, scaled};
use super::tile::tile;
use super::x86_64::{I32x16, bits, flipped_by};
use super::x86_64_dots::{AddFours, AddPairs, BytePairs, Nibbles, Pairs, PairsU4};
use core::arch::asm;
use core::arch::x86_64::*;

/// # Safety
/// As [`Kernel`](super::Kernel) on the types of `D`; the machine has what `enable` names.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
unsafe fn run<D: Dot, const M0: usize, const NV: usize, const CHAINS: usize>(a: &RawArgs) {
    // SAFETY: the caller's.
    unsafe { tile::<D, M0, NV, CHAINS>(a) }
}

/// # Safety
/// As [`run`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
unsafe fn run_scaled<D: Scaled, const M0: usize, const NV: usize, const CHAINS: usize>(a: &RawArgs) {
    // SAFETY: the caller's.
    unsafe { scaled::<D, M0, NV, CHAINS>(a) }
}

/// Bytes in fours of k, `LHS` and `RHS` where they are signed; `FLIPPED` where the right operand comes with its sign bits
/// flipped.
struct Bytes<const LHS: bool, const RHS: bool, const FLIPPED: bool>;

impl<const LHS: bool, const RHS: bool, const FLIPPED: bool> Dot for Bytes<LHS, RHS, FLIPPED> {
    const K0: usize = 4;
    const LHS_BYTES: usize = 1;
    const RHS_BITS: usize = 8;
    const SUMS: i32 = flipped_by(LHS, RHS);
    type Out = I32x16;
    type Right = __m512i;

    #[inline(always)]
    unsafe fn right(p: *const u8, mask: __mmask16) -> __m512i {
        // SAFETY: the caller's.
        unsafe { flipped::<LHS, RHS, FLIPPED>(_mm512_maskz_loadu_epi32(mask, p.cast())) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> __m512i {
        // SAFETY: the caller's.
        unsafe { flipped::<LHS, RHS, FLIPPED>(_mm512_loadu_si512(p.cast())) }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m512i; NV], lhs: *const u8, right: &[__m512i; NV]) {
        // SAFETY: the caller's.
        unsafe {
            let left = _mm512_set1_epi32(lhs.cast::<i32>().read_unaligned());
            for (acc, &right) in acc.iter_mut().zip(right) {
                *acc =
                    if LHS { _mm512_dpbusd_epi32(*acc, right, left) } else { _mm512_dpbusd_epi32(*acc, left, right) };
            }
        }
    }

    unsafe fn sums(lhs: &Lhs, sums: &mut [i32; 16]) {
        // SAFETY: the caller's.
        unsafe { sums_of_bytes::<LHS>(lhs, sums) }
    }
}

/// The right operand as its part in the product wants it.
///
/// # Safety
/// The machine has AVX-512F.
#[inline(always)]
unsafe fn flipped<const LHS: bool, const RHS: bool, const FLIPPED: bool>(v: __m512i) -> __m512i {
    // SAFETY: the caller's.
    unsafe { if LHS == RHS && !FLIPPED { _mm512_xor_si512(v, _mm512_set1_epi8(-128)) } else { v } }
}

/// Sums of each row's bytes.
///
/// # Safety
/// The rows are readable; the machine has what `enable` names.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
unsafe fn sums_of_bytes<const SIGNED: bool>(lhs: &Lhs, sums: &mut [i32; 16]) {
    let ones = _mm512_set1_epi8(1);
    let add = |acc, v| if SIGNED { _mm512_dpbusd_epi32(acc, ones, v) } else { _mm512_dpbusd_epi32(acc, v, ones) };
    // SAFETY: the caller's; what lies beyond is masked.
    unsafe {
        if lhs.k_stride == 4 {
            for (r, sum) in sums.iter_mut().enumerate().take(lhs.last).skip(lhs.first) {
                let (from, count) = (lhs.row(r), 4 * lhs.steps);
                let mut acc = [_mm512_setzero_si512(); 2];
                let mut at = 0;
                while at < count {
                    for (i, acc) in acc.iter_mut().enumerate() {
                        let left = count.saturating_sub(at + 64 * i);
                        let mask = if left >= 64 { !0 } else { !(!0u64 << left) };
                        *acc = add(*acc, _mm512_maskz_loadu_epi8(mask, from.wrapping_add(at + 64 * i).cast()));
                    }
                    at += 128;
                }
                *sum = _mm512_reduce_add_epi32(_mm512_add_epi32(acc[0], acc[1]));
            }
        } else if lhs.row_stride == 4 {
            // Each lane is a row: several k-tiles at once where they follow each other and fill a vector.
            let rows = lhs.last - lhs.first;
            let dense = lhs.first == 0 && lhs.k_stride == 4 * rows as isize && 16 % rows == 0;
            let (tiles, lanes) = if dense { (16 / rows, 16) } else { (1, lhs.last) };
            let mut acc = [_mm512_setzero_si512(); 4];
            let whole = lhs.steps / tiles;
            for t in 0..whole {
                let from = lhs.lhs.wrapping_offset((t * tiles) as isize * lhs.k_stride);
                let v = if lanes == 16 {
                    _mm512_loadu_si512(from.cast())
                } else {
                    _mm512_maskz_loadu_epi32(bits(lanes) & !bits(lhs.first), from.cast())
                };
                acc[t % 4] = add(acc[t % 4], v);
            }
            let rest = lhs.lhs.wrapping_offset((whole * tiles) as isize * lhs.k_stride);
            acc[0] = add(acc[0], _mm512_maskz_loadu_epi32(bits((lhs.steps - whole * tiles) * rows), rest.cast()));
            let all = _mm512_add_epi32(_mm512_add_epi32(acc[0], acc[1]), _mm512_add_epi32(acc[2], acc[3]));
            _mm512_storeu_si512(sums.as_mut_ptr().cast(), all);
            for lane in lhs.last..if dense { 16 } else { 0 } {
                sums[lane % rows] = sums[lane % rows].wrapping_add(sums[lane]);
            }
        } else {
            for (r, sum) in sums.iter_mut().enumerate().take(lhs.last).skip(lhs.first) {
                let mut acc = _mm512_setzero_si512();
                for t in 0..lhs.steps {
                    let from = lhs.row(r).wrapping_offset(t as isize * lhs.k_stride);
                    acc = add(acc, _mm512_maskz_loadu_epi32(1, from.cast()));
                }
                *sum = _mm512_reduce_add_epi32(acc);
            }
        }
    }
}

/// VPDPBUSD.
struct Busd;

impl AddFours for Busd {
    type Vector = __m512i;

    #[inline(always)]
    unsafe fn add(acc: __m512i, unsigned: __m512i, signed: __m512i) -> __m512i {
        // SAFETY: the caller's.
        unsafe { _mm512_dpbusd_epi32(acc, unsigned, signed) }
    }
}

/// VPDPWSSD, as assembly: the compiler takes the intrinsic apart, into a product and a sum.
struct Wssd;

impl AddPairs for Wssd {
    type Vector = __m512i;
    const TWICE: usize = 16;

    #[inline]
    #[target_feature(enable = "avx512f,avx512vnni")]
    unsafe fn add(mut acc: __m512i, left: __m512i, right: __m512i) -> __m512i {
        // SAFETY: registers alone.
        unsafe {
            asm!(
                "vpdpwssd {0}, {1}, {2}",
                inout(zmm_reg) acc,
                in(zmm_reg) left,
                in(zmm_reg) right,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        acc
    }
}

rows! {
    run, "AVX-512 (F, BW, DQ, VL) and VNNI.", 32;
    Bytes<true, true, false>, 2, 32 x 4, "Exact" {
        mmt4d_i8i8i32_1x32x4_x86_64_avx512_vnni, 1, 4;
        mmt4d_i8i8i32_2x32x4_x86_64_avx512_vnni, 2, 4;
        mmt4d_i8i8i32_4x32x4_x86_64_avx512_vnni, 4, 2;
        mmt4d_i8i8i32_8x32x4_x86_64_avx512_vnni, 8, 1;
        mmt4d_i8i8i32_14x32x4_x86_64_avx512_vnni, 14, 1;
    }
    Bytes<true, true, true>, 2, 32 x 4, "Exact" {
        mmt4d_i8i8i32_1x32x4_x86_64_avx512_vnni_flipped, 1, 4;
        mmt4d_i8i8i32_2x32x4_x86_64_avx512_vnni_flipped, 2, 4;
        mmt4d_i8i8i32_4x32x4_x86_64_avx512_vnni_flipped, 4, 2;
        mmt4d_i8i8i32_8x32x4_x86_64_avx512_vnni_flipped, 8, 1;
        mmt4d_i8i8i32_14x32x4_x86_64_avx512_vnni_flipped, 14, 1;
    }
    Bytes<false, true, false>, 2, 32 x 4, "Exact" {
        mmt4d_u8i8i32_1x32x4_x86_64_avx512_vnni, 1, 4;
        mmt4d_u8i8i32_2x32x4_x86_64_avx512_vnni, 2, 4;
        mmt4d_u8i8i32_4x32x4_x86_64_avx512_vnni, 4, 2;
        mmt4d_u8i8i32_8x32x4_x86_64_avx512_vnni, 8, 1;
        mmt4d_u8i8i32_14x32x4_x86_64_avx512_vnni, 14, 1;
    }
    Bytes<false, false, false>, 2, 32 x 4, "Exact" {
        mmt4d_u8u8i32_1x32x4_x86_64_avx512_vnni, 1, 4;
        mmt4d_u8u8i32_2x32x4_x86_64_avx512_vnni, 2, 4;
        mmt4d_u8u8i32_4x32x4_x86_64_avx512_vnni, 4, 2;
        mmt4d_u8u8i32_8x32x4_x86_64_avx512_vnni, 8, 1;
        mmt4d_u8u8i32_14x32x4_x86_64_avx512_vnni, 14, 1;
    }
    Bytes<false, false, true>, 2, 32 x 4, "Exact" {
        mmt4d_u8u8i32_1x32x4_x86_64_avx512_vnni_flipped, 1, 4;
        mmt4d_u8u8i32_2x32x4_x86_64_avx512_vnni_flipped, 2, 4;
        mmt4d_u8u8i32_4x32x4_x86_64_avx512_vnni_flipped, 4, 2;
        mmt4d_u8u8i32_8x32x4_x86_64_avx512_vnni_flipped, 8, 1;
        mmt4d_u8u8i32_14x32x4_x86_64_avx512_vnni_flipped, 14, 1;
    }
    Pairs<Wssd, 2>, 2, 32 x 2, "Exact" {
        mmt4d_i16i16i32_1x32x2_x86_64_avx512_vnni, 1, 4;
        mmt4d_i16i16i32_2x32x2_x86_64_avx512_vnni, 2, 4;
        mmt4d_i16i16i32_4x32x2_x86_64_avx512_vnni, 4, 2;
        mmt4d_i16i16i32_8x32x2_x86_64_avx512_vnni, 8, 1;
        mmt4d_i16i16i32_14x32x2_x86_64_avx512_vnni, 14, 1;
    }
    Pairs<Wssd, 1>, 2, 32 x 2, "Exact" {
        mmt4d_i16i8i32_1x32x2_x86_64_avx512_vnni, 1, 4;
        mmt4d_i16i8i32_2x32x2_x86_64_avx512_vnni, 2, 4;
        mmt4d_i16i8i32_4x32x2_x86_64_avx512_vnni, 4, 2;
        mmt4d_i16i8i32_8x32x2_x86_64_avx512_vnni, 8, 1;
        mmt4d_i16i8i32_14x32x2_x86_64_avx512_vnni, 14, 1;
    }
    PairsU4<Wssd>, 2, 32 x 8, "Exact" {
        mmt4d_i16u4i32_1x32x8_x86_64_avx512_vnni, 1, 4;
        mmt4d_i16u4i32_2x32x8_x86_64_avx512_vnni, 2, 4;
        mmt4d_i16u4i32_4x32x8_x86_64_avx512_vnni, 4, 2;
        mmt4d_i16u4i32_8x32x8_x86_64_avx512_vnni, 8, 1;
        mmt4d_i16u4i32_12x32x8_x86_64_avx512_vnni, 12, 1;
    }
    Nibbles<Busd>, 2, 32 x 8, "Exact" {
        mmt4d_i8i4i32_1x32x8_x86_64_avx512_vnni, 1, 4;
        mmt4d_i8i4i32_2x32x8_x86_64_avx512_vnni, 2, 4;
        mmt4d_i8i4i32_4x32x8_x86_64_avx512_vnni, 4, 2;
        mmt4d_i8i4i32_8x32x8_x86_64_avx512_vnni, 8, 1;
        mmt4d_i8i4i32_12x32x8_x86_64_avx512_vnni, 12, 1;
    }
    Pairs<Wssd, 2>, 1, 16 x 2, "Exact" {
        mmt4d_i16i16i32_1x16x2_x86_64_avx512_vnni, 1, 4;
        mmt4d_i16i16i32_2x16x2_x86_64_avx512_vnni, 2, 4;
        mmt4d_i16i16i32_4x16x2_x86_64_avx512_vnni, 4, 2;
        mmt4d_i16i16i32_8x16x2_x86_64_avx512_vnni, 8, 1;
        mmt4d_i16i16i32_16x16x2_x86_64_avx512_vnni, 16, 1;
    }
    BytePairs<Wssd>, 1, 16 x 2, "Exact" {
        mmt4d_i8i8i32_1x16x2_x86_64_avx512_vnni, 1, 4;
        mmt4d_i8i8i32_2x16x2_x86_64_avx512_vnni, 2, 4;
        mmt4d_i8i8i32_4x16x2_x86_64_avx512_vnni, 4, 2;
        mmt4d_i8i8i32_8x16x2_x86_64_avx512_vnni, 8, 1;
        mmt4d_i8i8i32_16x16x2_x86_64_avx512_vnni, 16, 1;
    }
}

rows! {
    run_scaled, "AVX-512 (F, BW, DQ, VL) and VNNI.", 32;
    Nibbles<Busd>, 2, 32 x 8, "FusedChain" {
        mmt4d_i8i4g32f32_1x32x8_x86_64_avx512_vnni, 1, 4;
        mmt4d_i8i4g32f32_2x32x8_x86_64_avx512_vnni, 2, 4;
        mmt4d_i8i4g32f32_4x32x8_x86_64_avx512_vnni, 4, 2;
        mmt4d_i8i4g32f32_8x32x8_x86_64_avx512_vnni, 8, 1;
        mmt4d_i8i4g32f32_12x32x8_x86_64_avx512_vnni, 12, 1;
    }
}
