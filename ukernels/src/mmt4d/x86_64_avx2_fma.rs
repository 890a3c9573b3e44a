//! AVX2 and FMA. Source: Intel SDM volume 2 (VFMADD231PS, VBROADCASTSS, VMASKMOVPS, VCVTPH2PS, VPMADDWD).

use super::RawArgs;
use super::dot::{Dot, F32, Output};
use super::scaled::{Scaled, scaled};
use super::tile::tile;
use super::x86_64::{Bf16x8, F16x8, F64x4, I32x8, Lanes, bf16_to_f32x8, part, widen_bytes, widened_bytes, window};
use super::x86_64_dots::{AddFours, AddPairs, F32I4, F32I8, Nibbles, Pairs, PairsU4};
use core::arch::asm;
use core::arch::x86_64::*;
use core::marker::PhantomData;

/// # Safety
/// As [`Kernel`](super::Kernel) on the types of `D`; the machine has what `enable` names.
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn run<D: Dot, const M0: usize, const NV: usize, const CHAINS: usize>(a: &RawArgs) {
    // SAFETY: the caller's.
    unsafe { tile::<D, M0, NV, CHAINS>(a) }
}

/// # Safety
/// As [`run`].
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn run_scaled<D: Scaled, const M0: usize, const NV: usize, const CHAINS: usize>(a: &RawArgs) {
    // SAFETY: the caller's.
    unsafe { scaled::<D, M0, NV, CHAINS>(a) }
}

/// f64.
struct F64;

impl Dot for F64 {
    const LHS_BYTES: usize = 8;
    const RHS_BITS: usize = 64;
    type Out = F64x4;
    type Right = __m256d;

    #[inline(always)]
    unsafe fn right(p: *const u8, lanes: usize) -> __m256d {
        // SAFETY: the caller's.
        unsafe { F64x4::load(p, lanes) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> __m256d {
        // SAFETY: the caller's.
        unsafe { _mm256_loadu_pd(p.cast()) }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m256d; NV], lhs: *const u8, right: &[__m256d; NV]) {
        // SAFETY: the caller's.
        unsafe {
            let left = _mm256_set1_pd(lhs.cast::<f64>().read_unaligned());
            for (acc, &right) in acc.iter_mut().zip(right) {
                *acc = _mm256_fmadd_pd(left, right, *acc);
            }
        }
    }
}

/// f16 where `HALF`, else bf16: the left operand is widened once, the right one as it is loaded.
struct Widened<O, const HALF: bool>(PhantomData<O>);

impl<O: Output<Acc = __m256, Mask: Lanes>, const HALF: bool> Dot for Widened<O, HALF> {
    const LHS_BYTES: usize = 2;
    const RHS_BITS: usize = 16;
    const STEP: usize = 4;
    const STAGED: bool = true;
    type Out = O;
    type Right = __m256;

    #[inline(always)]
    unsafe fn right(p: *const u8, mask: O::Mask) -> __m256 {
        // SAFETY: the caller's.
        unsafe { wide::<HALF>(part(p, 2 * mask.lanes())) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> __m256 {
        // SAFETY: the caller's.
        unsafe { wide::<HALF>(_mm_loadu_si128(p.cast())) }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m256; NV], lhs: *const u8, right: &[__m256; NV]) {
        // SAFETY: the caller's.
        unsafe {
            let left = _mm256_set1_ps(lhs.cast::<f32>().read_unaligned());
            for (acc, &right) in acc.iter_mut().zip(right) {
                *acc = _mm256_fmadd_ps(left, right, *acc);
            }
        }
    }

    unsafe fn stage(from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: the caller's.
        unsafe { widen::<HALF>(from, to, count) }
    }
}

/// # Safety
/// The machine has AVX2 and F16C.
#[inline(always)]
unsafe fn wide<const HALF: bool>(v: __m128i) -> __m256 {
    // SAFETY: the caller's.
    unsafe { if HALF { _mm256_cvtph_ps(v) } else { bf16_to_f32x8(v) } }
}

/// Converts f16, or else bf16, to f32.
///
/// # Safety
/// `count` elements are readable and writable; the machine has what `enable` names.
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn widen<const HALF: bool>(from: *const u8, to: *mut u8, count: usize) {
    let mut at = 0;
    while at < count {
        let lanes = (count - at).min(8);
        // SAFETY: the caller's; what lies beyond is not accessed.
        unsafe {
            let (from, to) = (from.add(2 * at), to.cast::<f32>().add(at));
            if lanes == 8 {
                _mm256_storeu_ps(to, wide::<HALF>(_mm_loadu_si128(from.cast())));
            } else {
                _mm256_maskstore_ps(to, window(lanes), wide::<HALF>(part(from, 2 * lanes)));
            }
        }
        at += 8;
    }
}

/// VPMADDWD and a sum.
struct Madd;

impl AddPairs for Madd {
    type Vector = __m256i;
    const TWICE: usize = 4;

    #[inline(always)]
    unsafe fn add(acc: __m256i, left: __m256i, right: __m256i) -> __m256i {
        // SAFETY: the caller's.
        unsafe { _mm256_add_epi32(acc, _mm256_madd_epi16(left, right)) }
    }
}

/// VPMADDWD and its sum as assembly: the compiler would add products of several parts of a k-tile first, and keep them in
/// registers that there are not.
struct MaddAtOnce;

impl AddPairs for MaddAtOnce {
    type Vector = __m256i;
    const TWICE: usize = Madd::TWICE;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn add(mut acc: __m256i, left: __m256i, right: __m256i) -> __m256i {
        // SAFETY: registers alone.
        unsafe {
            asm!(
                "vpmaddwd {3}, {1}, {2}",
                "vpaddd {0}, {0}, {3}",
                inout(ymm_reg) acc,
                in(ymm_reg) left,
                in(ymm_reg) right,
                out(ymm_reg) _,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        acc
    }
}

/// VPMADDUBSW, VPMADDWD with ones and their sum, as [`MaddAtOnce`].
struct MaddubsAtOnce;

impl AddFours for MaddubsAtOnce {
    type Vector = __m256i;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn add(mut acc: __m256i, unsigned: __m256i, signed: __m256i) -> __m256i {
        // SAFETY: registers alone; pairs of products of four and eight bits fit 16 bits.
        unsafe {
            asm!(
                "vpmaddubsw {3}, {1}, {2}",
                "vpmaddwd {3}, {3}, {4}",
                "vpaddd {0}, {0}, {3}",
                inout(ymm_reg) acc,
                in(ymm_reg) unsigned,
                in(ymm_reg) signed,
                out(ymm_reg) _,
                in(ymm_reg) _mm256_set1_epi16(1),
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        acc
    }
}

/// Bytes, `LHS` and `RHS` where they are signed, as pairs of i16: no sum of products can saturate. The left operand is
/// widened once.
struct Bytes<const LHS: bool, const RHS: bool>;

impl<const LHS: bool, const RHS: bool> Dot for Bytes<LHS, RHS> {
    const K0: usize = 2;
    const TWICE: usize = 4;
    const LHS_BYTES: usize = 1;
    const RHS_BITS: usize = 8;
    const STEP: usize = 2;
    const STAGED: bool = true;
    type Out = I32x8;
    type Right = __m256i;

    #[inline(always)]
    unsafe fn right(p: *const u8, lanes: usize) -> __m256i {
        // SAFETY: the caller's.
        unsafe { widened_bytes::<RHS>(part(p, 2 * lanes)) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> __m256i {
        // SAFETY: the caller's.
        unsafe { widened_bytes::<RHS>(_mm_loadu_si128(p.cast())) }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m256i; NV], lhs: *const u8, right: &[__m256i; NV]) {
        // SAFETY: the caller's.
        unsafe { Pairs::<Madd, 2>::row(acc, lhs, right) }
    }

    unsafe fn stage(from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: the caller's.
        unsafe { widen_bytes::<LHS>(from, to, count) }
    }
}

rows! {
    run, "AVX2, FMA and F16C.", 16;
    F32<__m256>, 1, 8 x 1, "FusedChain" {
        mmt4d_f32f32f32_1x8x1_x86_64_avx2_fma, 1, 1;
        mmt4d_f32f32f32_2x8x1_x86_64_avx2_fma, 2, 1;
        mmt4d_f32f32f32_4x8x1_x86_64_avx2_fma, 4, 1;
        mmt4d_f32f32f32_8x8x1_x86_64_avx2_fma, 8, 1;
        mmt4d_f32f32f32_12x8x1_x86_64_avx2_fma, 12, 1;
    }
    F32<__m256>, 2, 16 x 1, "FusedChain" {
        mmt4d_f32f32f32_1x16x1_x86_64_avx2_fma, 1, 1;
        mmt4d_f32f32f32_2x16x1_x86_64_avx2_fma, 2, 1;
        mmt4d_f32f32f32_4x16x1_x86_64_avx2_fma, 4, 1;
        mmt4d_f32f32f32_6x16x1_x86_64_avx2_fma, 6, 1;
    }
    F32<__m256>, 2, 16 x 1, "SplitK4" {
        mmt4d_f32f32f32_1x16x1_x86_64_avx2_fma_splitk4, 1, 4;
    }
    F32<__m256>, 2, 16 x 1, "SplitK2" {
        mmt4d_f32f32f32_2x16x1_x86_64_avx2_fma_splitk2, 2, 2;
    }
    F64, 2, 8 x 1, "FusedChain" {
        mmt4d_f64f64f64_1x8x1_x86_64_avx2_fma, 1, 1;
        mmt4d_f64f64f64_2x8x1_x86_64_avx2_fma, 2, 1;
        mmt4d_f64f64f64_4x8x1_x86_64_avx2_fma, 4, 1;
        mmt4d_f64f64f64_6x8x1_x86_64_avx2_fma, 6, 1;
    }
    F64, 2, 8 x 1, "SplitK4" {
        mmt4d_f64f64f64_1x8x1_x86_64_avx2_fma_splitk4, 1, 4;
    }
    F64, 2, 8 x 1, "SplitK2" {
        mmt4d_f64f64f64_2x8x1_x86_64_avx2_fma_splitk2, 2, 2;
    }
    Widened<F32<__m256>, true>, 2, 16 x 1, "FusedChain" {
        mmt4d_f16f16f32_1x16x1_x86_64_avx2_fma, 1, 1;
        mmt4d_f16f16f32_2x16x1_x86_64_avx2_fma, 2, 1;
        mmt4d_f16f16f32_4x16x1_x86_64_avx2_fma, 4, 1;
        mmt4d_f16f16f32_6x16x1_x86_64_avx2_fma, 6, 1;
    }
    Widened<F32<__m256>, true>, 2, 16 x 1, "SplitK2" {
        mmt4d_f16f16f32_1x16x1_x86_64_avx2_fma_splitk2, 1, 2;
        mmt4d_f16f16f32_2x16x1_x86_64_avx2_fma_splitk2, 2, 2;
    }
    Widened<F16x8, true>, 2, 16 x 1, "FusedChain" {
        mmt4d_f16f16f16_1x16x1_x86_64_avx2_fma, 1, 1;
        mmt4d_f16f16f16_2x16x1_x86_64_avx2_fma, 2, 1;
        mmt4d_f16f16f16_4x16x1_x86_64_avx2_fma, 4, 1;
        mmt4d_f16f16f16_6x16x1_x86_64_avx2_fma, 6, 1;
    }
    Widened<F16x8, true>, 2, 16 x 1, "SplitK2" {
        mmt4d_f16f16f16_1x16x1_x86_64_avx2_fma_splitk2, 1, 2;
        mmt4d_f16f16f16_2x16x1_x86_64_avx2_fma_splitk2, 2, 2;
    }
    Widened<F32<__m256>, false>, 2, 16 x 1, "FusedChain" {
        mmt4d_bf16bf16f32_1x16x1_x86_64_avx2_fma, 1, 1;
        mmt4d_bf16bf16f32_2x16x1_x86_64_avx2_fma, 2, 1;
        mmt4d_bf16bf16f32_4x16x1_x86_64_avx2_fma, 4, 1;
        mmt4d_bf16bf16f32_6x16x1_x86_64_avx2_fma, 6, 1;
    }
    Widened<F32<__m256>, false>, 2, 16 x 1, "SplitK2" {
        mmt4d_bf16bf16f32_1x16x1_x86_64_avx2_fma_splitk2, 1, 2;
        mmt4d_bf16bf16f32_2x16x1_x86_64_avx2_fma_splitk2, 2, 2;
    }
    Widened<Bf16x8, false>, 2, 16 x 1, "FusedChain" {
        mmt4d_bf16bf16bf16_1x16x1_x86_64_avx2_fma, 1, 1;
        mmt4d_bf16bf16bf16_2x16x1_x86_64_avx2_fma, 2, 1;
        mmt4d_bf16bf16bf16_4x16x1_x86_64_avx2_fma, 4, 1;
        mmt4d_bf16bf16bf16_6x16x1_x86_64_avx2_fma, 6, 1;
    }
    Widened<Bf16x8, false>, 2, 16 x 1, "SplitK2" {
        mmt4d_bf16bf16bf16_1x16x1_x86_64_avx2_fma_splitk2, 1, 2;
        mmt4d_bf16bf16bf16_2x16x1_x86_64_avx2_fma_splitk2, 2, 2;
    }
    Pairs<Madd, 2>, 2, 16 x 2, "Exact" {
        mmt4d_i16i16i32_1x16x2_x86_64_avx2_fma, 1, 4;
        mmt4d_i16i16i32_2x16x2_x86_64_avx2_fma, 2, 2;
        mmt4d_i16i16i32_4x16x2_x86_64_avx2_fma, 4, 1;
        mmt4d_i16i16i32_6x16x2_x86_64_avx2_fma, 6, 1;
    }
    Pairs<Madd, 1>, 2, 16 x 2, "Exact" {
        mmt4d_i16i8i32_1x16x2_x86_64_avx2_fma, 1, 4;
        mmt4d_i16i8i32_2x16x2_x86_64_avx2_fma, 2, 2;
        mmt4d_i16i8i32_4x16x2_x86_64_avx2_fma, 4, 1;
        mmt4d_i16i8i32_6x16x2_x86_64_avx2_fma, 6, 1;
    }
    Bytes<true, true>, 2, 16 x 2, "Exact" {
        mmt4d_i8i8i32_1x16x2_x86_64_avx2_fma, 1, 4;
        mmt4d_i8i8i32_2x16x2_x86_64_avx2_fma, 2, 2;
        mmt4d_i8i8i32_4x16x2_x86_64_avx2_fma, 4, 1;
        mmt4d_i8i8i32_6x16x2_x86_64_avx2_fma, 6, 1;
    }
    Bytes<false, true>, 2, 16 x 2, "Exact" {
        mmt4d_u8i8i32_1x16x2_x86_64_avx2_fma, 1, 4;
        mmt4d_u8i8i32_2x16x2_x86_64_avx2_fma, 2, 2;
        mmt4d_u8i8i32_4x16x2_x86_64_avx2_fma, 4, 1;
        mmt4d_u8i8i32_6x16x2_x86_64_avx2_fma, 6, 1;
    }
    Bytes<false, false>, 2, 16 x 2, "Exact" {
        mmt4d_u8u8i32_1x16x2_x86_64_avx2_fma, 1, 4;
        mmt4d_u8u8i32_2x16x2_x86_64_avx2_fma, 2, 2;
        mmt4d_u8u8i32_4x16x2_x86_64_avx2_fma, 4, 1;
        mmt4d_u8u8i32_6x16x2_x86_64_avx2_fma, 6, 1;
    }
    PairsU4<MaddAtOnce>, 2, 16 x 8, "Exact" {
        mmt4d_i16u4i32_1x16x8_x86_64_avx2_fma, 1, 2;
        mmt4d_i16u4i32_2x16x8_x86_64_avx2_fma, 2, 1;
        mmt4d_i16u4i32_4x16x8_x86_64_avx2_fma, 4, 1;
        mmt4d_i16u4i32_5x16x8_x86_64_avx2_fma, 5, 1;
    }
    Nibbles<MaddubsAtOnce>, 2, 16 x 8, "Exact" {
        mmt4d_i8i4i32_1x16x8_x86_64_avx2_fma, 1, 2;
        mmt4d_i8i4i32_2x16x8_x86_64_avx2_fma, 2, 1;
        mmt4d_i8i4i32_4x16x8_x86_64_avx2_fma, 4, 1;
    }
    Widened<F32<__m256>, true>, 1, 8 x 1, "FusedChain" {
        mmt4d_f16f16f32_1x8x1_x86_64_avx2_fma, 1, 1;
        mmt4d_f16f16f32_2x8x1_x86_64_avx2_fma, 2, 1;
        mmt4d_f16f16f32_4x8x1_x86_64_avx2_fma, 4, 1;
        mmt4d_f16f16f32_8x8x1_x86_64_avx2_fma, 8, 1;
    }
    Widened<F16x8, true>, 1, 8 x 1, "FusedChain" {
        mmt4d_f16f16f16_1x8x1_x86_64_avx2_fma, 1, 1;
        mmt4d_f16f16f16_2x8x1_x86_64_avx2_fma, 2, 1;
        mmt4d_f16f16f16_4x8x1_x86_64_avx2_fma, 4, 1;
        mmt4d_f16f16f16_8x8x1_x86_64_avx2_fma, 8, 1;
    }
    Pairs<Madd, 2>, 1, 8 x 2, "Exact" {
        mmt4d_i16i16i32_1x8x2_x86_64_avx2_fma, 1, 4;
        mmt4d_i16i16i32_2x8x2_x86_64_avx2_fma, 2, 2;
        mmt4d_i16i16i32_4x8x2_x86_64_avx2_fma, 4, 1;
        mmt4d_i16i16i32_8x8x2_x86_64_avx2_fma, 8, 1;
    }
    Bytes<true, true>, 1, 8 x 2, "Exact" {
        mmt4d_i8i8i32_1x8x2_x86_64_avx2_fma, 1, 4;
        mmt4d_i8i8i32_2x8x2_x86_64_avx2_fma, 2, 2;
        mmt4d_i8i8i32_4x8x2_x86_64_avx2_fma, 4, 1;
        mmt4d_i8i8i32_8x8x2_x86_64_avx2_fma, 8, 1;
    }
}

rows! {
    run_scaled, "AVX2, FMA and F16C.", 16;
    Nibbles<MaddubsAtOnce>, 2, 16 x 8, "FusedChain" {
        mmt4d_i8i4g32f32_1x16x8_x86_64_avx2_fma, 1, 2;
        mmt4d_i8i4g32f32_2x16x8_x86_64_avx2_fma, 2, 1;
        mmt4d_i8i4g32f32_4x16x8_x86_64_avx2_fma, 4, 1;
    }
    F32I4<__m256i, 32>, 2, 16 x 8, "FusedChain" {
        mmt4d_f32i4g32f32_1x16x8_x86_64_avx2_fma, 1, 1;
        mmt4d_f32i4g32f32_2x16x8_x86_64_avx2_fma, 2, 1;
        mmt4d_f32i4g32f32_4x16x8_x86_64_avx2_fma, 4, 1;
    }
    F32I4<__m256i, 128>, 2, 16 x 8, "FusedChain" {
        mmt4d_f32i4g128f32_1x16x8_x86_64_avx2_fma, 1, 1;
        mmt4d_f32i4g128f32_2x16x8_x86_64_avx2_fma, 2, 1;
        mmt4d_f32i4g128f32_4x16x8_x86_64_avx2_fma, 4, 1;
    }
    F32I4<__m256i, 128>, 2, 16 x 8, "SplitK2" {
        mmt4d_f32i4g128f32_1x16x8_x86_64_avx2_fma_splitk2, 1, 2;
        mmt4d_f32i4g128f32_2x16x8_x86_64_avx2_fma_splitk2, 2, 2;
    }
    F32I8<__m256i, { usize::MAX }>, 2, 16 x 1, "FusedChain" {
        mmt4d_f32i8f32_1x16x1_x86_64_avx2_fma, 1, 1;
        mmt4d_f32i8f32_2x16x1_x86_64_avx2_fma, 2, 1;
        mmt4d_f32i8f32_4x16x1_x86_64_avx2_fma, 4, 1;
        mmt4d_f32i8f32_5x16x1_x86_64_avx2_fma, 5, 1;
    }
    F32I8<__m256i, { usize::MAX }>, 2, 16 x 1, "SplitK2" {
        mmt4d_f32i8f32_1x16x1_x86_64_avx2_fma_splitk2, 1, 2;
        mmt4d_f32i8f32_2x16x1_x86_64_avx2_fma_splitk2, 2, 2;
    }
    F32I8<__m256i, 32>, 2, 16 x 1, "FusedChain" {
        mmt4d_f32i8g32f32_1x16x1_x86_64_avx2_fma, 1, 1;
        mmt4d_f32i8g32f32_2x16x1_x86_64_avx2_fma, 2, 1;
        mmt4d_f32i8g32f32_4x16x1_x86_64_avx2_fma, 4, 1;
        mmt4d_f32i8g32f32_5x16x1_x86_64_avx2_fma, 5, 1;
    }
    F32I8<__m256i, 32>, 2, 16 x 1, "SplitK2" {
        mmt4d_f32i8g32f32_1x16x1_x86_64_avx2_fma_splitk2, 1, 2;
    }
}
