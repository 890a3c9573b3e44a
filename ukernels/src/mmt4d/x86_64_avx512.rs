//! AVX-512. Source: Intel SDM volume 2 (VFMADD231PS with embedded broadcast, VCVTPH2PS, VPMADDWD, masked moves).

use super::RawArgs;
use super::dot::{Dot, F32, Output};
use super::scaled::{Scaled, scaled};
use super::tile::tile;
use super::x86_64::{Bf16x16, F16x16, F64x8, I32x16, bf16_to_f32x16, bits};
use super::x86_64_dots::{AddFours, AddPairs, BytePairs, F32I4, F32I8, Nibbles, Pairs, PairsU4};
use core::arch::asm;
use core::arch::x86_64::*;
use core::marker::PhantomData;

/// # Safety
/// As [`Kernel`](super::Kernel) on the types of `D`; the machine has what `enable` names.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn run<D: Dot, const M0: usize, const NV: usize, const CHAINS: usize>(a: &RawArgs) {
    // SAFETY: the caller's.
    unsafe { tile::<D, M0, NV, CHAINS>(a) }
}

/// # Safety
/// As [`run`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn run_scaled<D: Scaled, const M0: usize, const NV: usize, const CHAINS: usize>(a: &RawArgs) {
    // SAFETY: the caller's.
    unsafe { scaled::<D, M0, NV, CHAINS>(a) }
}

/// f64.
struct F64;

impl Dot for F64 {
    const LHS_BYTES: usize = 8;
    const RHS_BITS: usize = 64;
    type Out = F64x8;
    type Right = __m512d;

    #[inline(always)]
    unsafe fn right(p: *const u8, mask: __mmask8) -> __m512d {
        // SAFETY: the caller's.
        unsafe { _mm512_maskz_loadu_pd(mask, p.cast()) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> __m512d {
        // SAFETY: the caller's.
        unsafe { _mm512_loadu_pd(p.cast()) }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m512d; NV], lhs: *const u8, right: &[__m512d; NV]) {
        // SAFETY: the caller's.
        unsafe {
            let left = _mm512_set1_pd(lhs.cast::<f64>().read_unaligned());
            for (acc, &right) in acc.iter_mut().zip(right) {
                *acc = _mm512_fmadd_pd(left, right, *acc);
            }
        }
    }
}

/// Adds one row's products of floats that are f32 by now.
///
/// # Safety
/// The element is readable, and the machine has AVX-512F.
#[inline(always)]
unsafe fn fma_row<const NV: usize>(acc: &mut [__m512; NV], lhs: *const u8, right: &[__m512; NV]) {
    // SAFETY: the caller's.
    unsafe {
        let left = _mm512_set1_ps(lhs.cast::<f32>().read_unaligned());
        for (acc, &right) in acc.iter_mut().zip(right) {
            *acc = _mm512_fmadd_ps(left, right, *acc);
        }
    }
}

/// f16: the left operand is widened once, the right one as it is loaded.
struct F16<O>(PhantomData<O>);

impl<O: Output<Acc = __m512, Mask = __mmask16>> Dot for F16<O> {
    const LHS_BYTES: usize = 2;
    const RHS_BITS: usize = 16;
    const STEP: usize = 4;
    const STAGED: bool = true;
    type Out = O;
    type Right = __m512;

    #[inline(always)]
    unsafe fn right(p: *const u8, mask: __mmask16) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, p.cast())) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_cvtph_ps(_mm256_loadu_si256(p.cast())) }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m512; NV], lhs: *const u8, right: &[__m512; NV]) {
        // SAFETY: the caller's.
        unsafe { fma_row(acc, lhs, right) }
    }

    unsafe fn stage(from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: the caller's.
        unsafe { widen::<true>(from, to, count) }
    }
}

/// bf16 in pairs of k: both are widened to f32, the even one first.
struct Bf16<O>(PhantomData<O>);

impl<O: Output<Acc = __m512, Mask = __mmask16>> Dot for Bf16<O> {
    const K0: usize = 2;
    const LHS_BYTES: usize = 2;
    const RHS_BITS: usize = 16;
    const STEP: usize = 4;
    const STAGED: bool = true;
    const NOTHING: [u8; 4] = (-0.0f32).to_ne_bytes();
    type Out = O;
    type Right = [__m512; 2];

    #[inline(always)]
    unsafe fn right(p: *const u8, mask: __mmask16) -> [__m512; 2] {
        // SAFETY: the caller's.
        unsafe { pairs(_mm512_maskz_loadu_epi32(mask, p.cast())) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> [__m512; 2] {
        // SAFETY: the caller's.
        unsafe { pairs(_mm512_loadu_si512(p.cast())) }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m512; NV], lhs: *const u8, right: &[[__m512; 2]; NV]) {
        // SAFETY: the caller's.
        unsafe {
            fma_row(acc, lhs, &right.map(|r| r[0]));
            fma_row(acc, lhs.wrapping_add(4), &right.map(|r| r[1]));
        }
    }

    unsafe fn stage(from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: the caller's.
        unsafe { widen::<false>(from, to, count) }
    }
}

/// Even and odd k of pairs of bf16, as f32.
///
/// # Safety
/// The machine has AVX-512F.
#[inline(always)]
unsafe fn pairs(v: __m512i) -> [__m512; 2] {
    // SAFETY: the caller's.
    unsafe {
        let odd = _mm512_and_si512(v, _mm512_set1_epi32(0xffff_0000_u32 as i32));
        [_mm512_castsi512_ps(_mm512_slli_epi32::<16>(v)), _mm512_castsi512_ps(odd)]
    }
}

/// Converts f16, or else bf16, to f32.
///
/// # Safety
/// `count` elements are readable and writable; the machine has what `enable` names.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn widen<const HALF: bool>(from: *const u8, to: *mut u8, count: usize) {
    let (from, to) = (from.cast::<i16>(), to.cast::<f32>());
    // SAFETY: the caller's; elements from `count` on are masked.
    unsafe {
        let mut at = 0;
        while at + 16 <= count {
            _mm512_storeu_ps(to.add(at), wide::<HALF>(_mm256_loadu_si256(from.add(at).cast())));
            at += 16;
        }
        let mask = bits(count - at);
        _mm512_mask_storeu_ps(to.add(at), mask, wide::<HALF>(_mm256_maskz_loadu_epi16(mask, from.add(at))));
    }
}

/// # Safety
/// The machine has AVX-512F.
#[inline(always)]
unsafe fn wide<const HALF: bool>(v: __m256i) -> __m512 {
    // SAFETY: the caller's.
    unsafe { if HALF { _mm512_cvtph_ps(v) } else { bf16_to_f32x16(v) } }
}

/// VPMADDWD and a sum.
struct Madd;

impl AddPairs for Madd {
    type Vector = __m512i;
    const TWICE: usize = 8;

    #[inline(always)]
    unsafe fn add(acc: __m512i, left: __m512i, right: __m512i) -> __m512i {
        // SAFETY: the caller's.
        unsafe { _mm512_add_epi32(acc, _mm512_madd_epi16(left, right)) }
    }
}

/// VPMADDWD and its sum as assembly: the compiler would add products of several parts of a k-tile first, and keep them in
/// registers that there are not.
struct MaddAtOnce;

impl AddPairs for MaddAtOnce {
    type Vector = __m512i;
    const TWICE: usize = Madd::TWICE;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn add(mut acc: __m512i, left: __m512i, right: __m512i) -> __m512i {
        // SAFETY: registers alone.
        unsafe {
            asm!(
                "vpmaddwd {3}, {1}, {2}",
                "vpaddd {0}, {0}, {3}",
                inout(zmm_reg) acc,
                in(zmm_reg) left,
                in(zmm_reg) right,
                out(zmm_reg) _,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        acc
    }
}

/// VPMADDUBSW, VPMADDWD with ones and their sum, as [`MaddAtOnce`].
struct MaddubsAtOnce;

impl AddFours for MaddubsAtOnce {
    type Vector = __m512i;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn add(mut acc: __m512i, unsigned: __m512i, signed: __m512i) -> __m512i {
        // SAFETY: registers alone; pairs of products of four and eight bits fit 16 bits.
        unsafe {
            asm!(
                "vpmaddubsw {3}, {1}, {2}",
                "vpmaddwd {3}, {3}, {4}",
                "vpaddd {0}, {0}, {3}",
                inout(zmm_reg) acc,
                in(zmm_reg) unsigned,
                in(zmm_reg) signed,
                out(zmm_reg) _,
                in(zmm_reg) _mm512_set1_epi16(1),
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        acc
    }
}

/// Bytes in fours of k, `LHS` and `RHS` where they are signed: both operands are widened to i16, in the order of k
/// 0, 2, 1, 3, so that no sum of products can saturate.
struct Bytes<const LHS: bool, const RHS: bool>;

impl<const LHS: bool, const RHS: bool> Dot for Bytes<LHS, RHS> {
    const K0: usize = 4;
    const TWICE: usize = 4;
    const LHS_BYTES: usize = 1;
    const RHS_BITS: usize = 8;
    const STEP: usize = 2;
    const STAGED: bool = true;
    type Out = I32x16;
    type Right = [__m512i; 2];

    #[inline(always)]
    unsafe fn right(p: *const u8, mask: __mmask16) -> [__m512i; 2] {
        // SAFETY: the caller's.
        unsafe { halves::<RHS>(_mm512_maskz_loadu_epi32(mask, p.cast())) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> [__m512i; 2] {
        // SAFETY: the caller's.
        unsafe { halves::<RHS>(_mm512_loadu_si512(p.cast())) }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m512i; NV], lhs: *const u8, right: &[[__m512i; 2]; NV]) {
        // SAFETY: the caller's.
        unsafe {
            Pairs::<Madd, 2>::row(acc, lhs, &right.map(|r| r[0]));
            Pairs::<Madd, 2>::row(acc, lhs.wrapping_add(4), &right.map(|r| r[1]));
        }
    }

    unsafe fn stage(from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: the caller's.
        unsafe { widen_bytes::<LHS>(from, to, count) }
    }
}

/// Even and odd bytes as i16.
///
/// # Safety
/// The machine has AVX-512BW.
#[inline(always)]
unsafe fn halves<const SIGNED: bool>(v: __m512i) -> [__m512i; 2] {
    // SAFETY: the caller's.
    unsafe {
        if SIGNED {
            [_mm512_srai_epi16::<8>(_mm512_slli_epi16::<8>(v)), _mm512_srai_epi16::<8>(v)]
        } else {
            [_mm512_and_si512(v, _mm512_set1_epi16(0xff)), _mm512_srli_epi16::<8>(v)]
        }
    }
}

/// Widens bytes to i16, fours of them in the order 0, 2, 1, 3. What is missing of the last four reads as zeros.
///
/// # Safety
/// `count` elements are readable, and whole fours writable; the machine has what `enable` names.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn widen_bytes<const SIGNED: bool>(from: *const u8, to: *mut u8, count: usize) {
    let order = _mm256_setr_epi8(
        0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15, 0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15,
    );
    let ones = |n: usize| !(!0u32).checked_shl(n as u32).unwrap_or(0);
    let order = |v| _mm256_shuffle_epi8(v, order);
    let wide = |v| if SIGNED { _mm512_cvtepi8_epi16(v) } else { _mm512_cvtepu8_epi16(v) };
    // SAFETY: the caller's; what lies beyond is masked.
    unsafe {
        let mut at = 0;
        while at + 32 <= count {
            let v = order(_mm256_loadu_si256(from.add(at).cast()));
            _mm512_storeu_si512(to.add(2 * at).cast(), wide(v));
            at += 32;
        }
        let valid = count - at;
        let v = order(_mm256_maskz_loadu_epi8(ones(valid), from.add(at).cast()));
        _mm512_mask_storeu_epi16(to.cast::<i16>().add(at), ones(valid.next_multiple_of(4)), wide(v));
    }
}

rows! {
    run, "AVX-512 (F, BW, DQ, VL).", 32;
    F32<__m512>, 2, 32 x 1, "FusedChain" {
        mmt4d_f32f32f32_1x32x1_x86_64_avx512, 1, 1;
        mmt4d_f32f32f32_2x32x1_x86_64_avx512, 2, 1;
        mmt4d_f32f32f32_4x32x1_x86_64_avx512, 4, 1;
        mmt4d_f32f32f32_8x32x1_x86_64_avx512, 8, 1;
        mmt4d_f32f32f32_12x32x1_x86_64_avx512, 12, 1;
        mmt4d_f32f32f32_14x32x1_x86_64_avx512, 14, 1;
    }
    F32<__m512>, 2, 32 x 1, "SplitK4" {
        mmt4d_f32f32f32_1x32x1_x86_64_avx512_splitk4, 1, 4;
        mmt4d_f32f32f32_2x32x1_x86_64_avx512_splitk4, 2, 4;
    }
    F64, 2, 16 x 1, "FusedChain" {
        mmt4d_f64f64f64_1x16x1_x86_64_avx512, 1, 1;
        mmt4d_f64f64f64_2x16x1_x86_64_avx512, 2, 1;
        mmt4d_f64f64f64_4x16x1_x86_64_avx512, 4, 1;
        mmt4d_f64f64f64_8x16x1_x86_64_avx512, 8, 1;
        mmt4d_f64f64f64_12x16x1_x86_64_avx512, 12, 1;
    }
    F64, 2, 16 x 1, "SplitK4" {
        mmt4d_f64f64f64_1x16x1_x86_64_avx512_splitk4, 1, 4;
        mmt4d_f64f64f64_2x16x1_x86_64_avx512_splitk4, 2, 4;
    }
    F16<F32<__m512>>, 2, 32 x 1, "FusedChain" {
        mmt4d_f16f16f32_1x32x1_x86_64_avx512, 1, 1;
        mmt4d_f16f16f32_2x32x1_x86_64_avx512, 2, 1;
        mmt4d_f16f16f32_4x32x1_x86_64_avx512, 4, 1;
        mmt4d_f16f16f32_8x32x1_x86_64_avx512, 8, 1;
        mmt4d_f16f16f32_14x32x1_x86_64_avx512, 14, 1;
    }
    F16<F32<__m512>>, 2, 32 x 1, "SplitK2" {
        mmt4d_f16f16f32_1x32x1_x86_64_avx512_splitk2, 1, 2;
    }
    F16<F16x16>, 2, 32 x 1, "FusedChain" {
        mmt4d_f16f16f16_1x32x1_x86_64_avx512, 1, 1;
        mmt4d_f16f16f16_2x32x1_x86_64_avx512, 2, 1;
        mmt4d_f16f16f16_4x32x1_x86_64_avx512, 4, 1;
        mmt4d_f16f16f16_8x32x1_x86_64_avx512, 8, 1;
        mmt4d_f16f16f16_14x32x1_x86_64_avx512, 14, 1;
    }
    F16<F16x16>, 2, 32 x 1, "SplitK2" {
        mmt4d_f16f16f16_1x32x1_x86_64_avx512_splitk2, 1, 2;
    }
    Bf16<F32<__m512>>, 2, 32 x 2, "FusedChain" {
        mmt4d_bf16bf16f32_1x32x2_x86_64_avx512, 1, 1;
        mmt4d_bf16bf16f32_2x32x2_x86_64_avx512, 2, 1;
        mmt4d_bf16bf16f32_4x32x2_x86_64_avx512, 4, 1;
        mmt4d_bf16bf16f32_8x32x2_x86_64_avx512, 8, 1;
        mmt4d_bf16bf16f32_12x32x2_x86_64_avx512, 12, 1;
    }
    Bf16<F32<__m512>>, 2, 32 x 2, "SplitK2" {
        mmt4d_bf16bf16f32_1x32x2_x86_64_avx512_splitk2, 1, 2;
        mmt4d_bf16bf16f32_2x32x2_x86_64_avx512_splitk2, 2, 2;
    }
    Bf16<Bf16x16>, 2, 32 x 2, "FusedChain" {
        mmt4d_bf16bf16bf16_1x32x2_x86_64_avx512, 1, 1;
        mmt4d_bf16bf16bf16_2x32x2_x86_64_avx512, 2, 1;
        mmt4d_bf16bf16bf16_4x32x2_x86_64_avx512, 4, 1;
        mmt4d_bf16bf16bf16_8x32x2_x86_64_avx512, 8, 1;
        mmt4d_bf16bf16bf16_12x32x2_x86_64_avx512, 12, 1;
    }
    Bf16<Bf16x16>, 2, 32 x 2, "SplitK2" {
        mmt4d_bf16bf16bf16_1x32x2_x86_64_avx512_splitk2, 1, 2;
        mmt4d_bf16bf16bf16_2x32x2_x86_64_avx512_splitk2, 2, 2;
    }
    Pairs<Madd, 2>, 2, 32 x 2, "Exact" {
        mmt4d_i16i16i32_1x32x2_x86_64_avx512, 1, 4;
        mmt4d_i16i16i32_2x32x2_x86_64_avx512, 2, 2;
        mmt4d_i16i16i32_4x32x2_x86_64_avx512, 4, 1;
        mmt4d_i16i16i32_8x32x2_x86_64_avx512, 8, 1;
        mmt4d_i16i16i32_12x32x2_x86_64_avx512, 12, 1;
    }
    Pairs<Madd, 1>, 2, 32 x 2, "Exact" {
        mmt4d_i16i8i32_1x32x2_x86_64_avx512, 1, 4;
        mmt4d_i16i8i32_2x32x2_x86_64_avx512, 2, 2;
        mmt4d_i16i8i32_4x32x2_x86_64_avx512, 4, 1;
        mmt4d_i16i8i32_8x32x2_x86_64_avx512, 8, 1;
        mmt4d_i16i8i32_12x32x2_x86_64_avx512, 12, 1;
    }
    Bytes<true, true>, 2, 32 x 4, "Exact" {
        mmt4d_i8i8i32_1x32x4_x86_64_avx512, 1, 2;
        mmt4d_i8i8i32_2x32x4_x86_64_avx512, 2, 2;
        mmt4d_i8i8i32_4x32x4_x86_64_avx512, 4, 1;
        mmt4d_i8i8i32_8x32x4_x86_64_avx512, 8, 1;
        mmt4d_i8i8i32_10x32x4_x86_64_avx512, 10, 1;
    }
    Bytes<false, true>, 2, 32 x 4, "Exact" {
        mmt4d_u8i8i32_1x32x4_x86_64_avx512, 1, 2;
        mmt4d_u8i8i32_2x32x4_x86_64_avx512, 2, 2;
        mmt4d_u8i8i32_4x32x4_x86_64_avx512, 4, 1;
        mmt4d_u8i8i32_8x32x4_x86_64_avx512, 8, 1;
        mmt4d_u8i8i32_10x32x4_x86_64_avx512, 10, 1;
    }
    Bytes<false, false>, 2, 32 x 4, "Exact" {
        mmt4d_u8u8i32_1x32x4_x86_64_avx512, 1, 2;
        mmt4d_u8u8i32_2x32x4_x86_64_avx512, 2, 2;
        mmt4d_u8u8i32_4x32x4_x86_64_avx512, 4, 1;
        mmt4d_u8u8i32_8x32x4_x86_64_avx512, 8, 1;
        mmt4d_u8u8i32_10x32x4_x86_64_avx512, 10, 1;
    }
    PairsU4<MaddAtOnce>, 2, 32 x 8, "Exact" {
        mmt4d_i16u4i32_1x32x8_x86_64_avx512, 1, 2;
        mmt4d_i16u4i32_2x32x8_x86_64_avx512, 2, 2;
        mmt4d_i16u4i32_4x32x8_x86_64_avx512, 4, 1;
        mmt4d_i16u4i32_8x32x8_x86_64_avx512, 8, 1;
        mmt4d_i16u4i32_12x32x8_x86_64_avx512, 12, 1;
    }
    Nibbles<MaddubsAtOnce>, 2, 32 x 8, "Exact" {
        mmt4d_i8i4i32_1x32x8_x86_64_avx512, 1, 2;
        mmt4d_i8i4i32_2x32x8_x86_64_avx512, 2, 2;
        mmt4d_i8i4i32_4x32x8_x86_64_avx512, 4, 1;
        mmt4d_i8i4i32_8x32x8_x86_64_avx512, 8, 1;
        mmt4d_i8i4i32_12x32x8_x86_64_avx512, 12, 1;
    }
    F32<__m512>, 1, 16 x 1, "FusedChain" {
        mmt4d_f32f32f32_1x16x1_x86_64_avx512, 1, 1;
        mmt4d_f32f32f32_2x16x1_x86_64_avx512, 2, 1;
        mmt4d_f32f32f32_4x16x1_x86_64_avx512, 4, 1;
        mmt4d_f32f32f32_8x16x1_x86_64_avx512, 8, 1;
        mmt4d_f32f32f32_16x16x1_x86_64_avx512, 16, 1;
    }
    F16<F32<__m512>>, 1, 16 x 1, "FusedChain" {
        mmt4d_f16f16f32_1x16x1_x86_64_avx512, 1, 1;
        mmt4d_f16f16f32_2x16x1_x86_64_avx512, 2, 1;
        mmt4d_f16f16f32_4x16x1_x86_64_avx512, 4, 1;
        mmt4d_f16f16f32_8x16x1_x86_64_avx512, 8, 1;
        mmt4d_f16f16f32_16x16x1_x86_64_avx512, 16, 1;
    }
    F16<F16x16>, 1, 16 x 1, "FusedChain" {
        mmt4d_f16f16f16_1x16x1_x86_64_avx512, 1, 1;
        mmt4d_f16f16f16_2x16x1_x86_64_avx512, 2, 1;
        mmt4d_f16f16f16_4x16x1_x86_64_avx512, 4, 1;
        mmt4d_f16f16f16_8x16x1_x86_64_avx512, 8, 1;
        mmt4d_f16f16f16_16x16x1_x86_64_avx512, 16, 1;
    }
    Pairs<Madd, 2>, 1, 16 x 2, "Exact" {
        mmt4d_i16i16i32_1x16x2_x86_64_avx512, 1, 4;
        mmt4d_i16i16i32_2x16x2_x86_64_avx512, 2, 4;
        mmt4d_i16i16i32_4x16x2_x86_64_avx512, 4, 2;
        mmt4d_i16i16i32_8x16x2_x86_64_avx512, 8, 1;
        mmt4d_i16i16i32_16x16x2_x86_64_avx512, 16, 1;
    }
    BytePairs<Madd>, 1, 16 x 2, "Exact" {
        mmt4d_i8i8i32_1x16x2_x86_64_avx512, 1, 4;
        mmt4d_i8i8i32_2x16x2_x86_64_avx512, 2, 4;
        mmt4d_i8i8i32_4x16x2_x86_64_avx512, 4, 2;
        mmt4d_i8i8i32_8x16x2_x86_64_avx512, 8, 1;
        mmt4d_i8i8i32_16x16x2_x86_64_avx512, 16, 1;
    }
}

rows! {
    run_scaled, "AVX-512 (F, BW, DQ, VL).", 32;
    Nibbles<MaddubsAtOnce>, 2, 32 x 8, "FusedChain" {
        mmt4d_i8i4g32f32_1x32x8_x86_64_avx512, 1, 2;
        mmt4d_i8i4g32f32_2x32x8_x86_64_avx512, 2, 2;
        mmt4d_i8i4g32f32_4x32x8_x86_64_avx512, 4, 1;
        mmt4d_i8i4g32f32_8x32x8_x86_64_avx512, 8, 1;
        mmt4d_i8i4g32f32_12x32x8_x86_64_avx512, 12, 1;
    }
    F32I4<__m512i, 32>, 2, 32 x 8, "FusedChain" {
        mmt4d_f32i4g32f32_1x32x8_x86_64_avx512, 1, 1;
        mmt4d_f32i4g32f32_2x32x8_x86_64_avx512, 2, 1;
        mmt4d_f32i4g32f32_4x32x8_x86_64_avx512, 4, 1;
        mmt4d_f32i4g32f32_8x32x8_x86_64_avx512, 8, 1;
        mmt4d_f32i4g32f32_12x32x8_x86_64_avx512, 12, 1;
    }
    F32I4<__m512i, 32>, 2, 32 x 8, "SplitK2" {
        mmt4d_f32i4g32f32_1x32x8_x86_64_avx512_splitk2, 1, 2;
    }
    F32I4<__m512i, 128>, 2, 32 x 8, "FusedChain" {
        mmt4d_f32i4g128f32_1x32x8_x86_64_avx512, 1, 1;
        mmt4d_f32i4g128f32_2x32x8_x86_64_avx512, 2, 1;
        mmt4d_f32i4g128f32_4x32x8_x86_64_avx512, 4, 1;
        mmt4d_f32i4g128f32_8x32x8_x86_64_avx512, 8, 1;
        mmt4d_f32i4g128f32_12x32x8_x86_64_avx512, 12, 1;
    }
    F32I4<__m512i, 128>, 2, 32 x 8, "SplitK2" {
        mmt4d_f32i4g128f32_1x32x8_x86_64_avx512_splitk2, 1, 2;
    }
    F32I8<__m512i, { usize::MAX }>, 2, 32 x 1, "FusedChain" {
        mmt4d_f32i8f32_1x32x1_x86_64_avx512, 1, 1;
        mmt4d_f32i8f32_2x32x1_x86_64_avx512, 2, 1;
        mmt4d_f32i8f32_4x32x1_x86_64_avx512, 4, 1;
        mmt4d_f32i8f32_8x32x1_x86_64_avx512, 8, 1;
        mmt4d_f32i8f32_12x32x1_x86_64_avx512, 12, 1;
    }
    F32I8<__m512i, { usize::MAX }>, 2, 32 x 1, "SplitK2" {
        mmt4d_f32i8f32_1x32x1_x86_64_avx512_splitk2, 1, 2;
    }
    F32I8<__m512i, 32>, 2, 32 x 1, "FusedChain" {
        mmt4d_f32i8g32f32_1x32x1_x86_64_avx512, 1, 1;
        mmt4d_f32i8g32f32_2x32x1_x86_64_avx512, 2, 1;
        mmt4d_f32i8g32f32_4x32x1_x86_64_avx512, 4, 1;
        mmt4d_f32i8g32f32_8x32x1_x86_64_avx512, 8, 1;
        mmt4d_f32i8g32f32_12x32x1_x86_64_avx512, 12, 1;
    }
}
