//! AVX-VNNI: the instructions of AVX-512 VNNI on 256 bits in an encoding of their own. Source: Intel SDM volume 2
//! (VPDPBUSD, VPDPWSSD). How signs are handled is told of the [AVX-512 rows](super::x86_64_avx512_vnni).

use super::RawArgs;
use super::dot::{Dot, Lhs, Output};
use super::scaled::{Scaled, scaled};
use super::tile::tile;
use super::x86_64::{I32x8, flipped_by, part, window};
use super::x86_64_dots::{AddFours, AddPairs, Nibbles, Pairs, PairsU4};
use core::arch::asm;
use core::arch::x86_64::*;

/// # Safety
/// As [`Kernel`](super::Kernel) on the types of `D`; the machine has what `enable` names.
#[target_feature(enable = "avx2,fma,f16c,avxvnni")]
unsafe fn run<D: Dot, const M0: usize, const NV: usize, const CHAINS: usize>(a: &RawArgs) {
    // SAFETY: the caller's.
    unsafe { tile::<D, M0, NV, CHAINS>(a) }
}

/// # Safety
/// As [`run`].
#[target_feature(enable = "avx2,fma,f16c,avxvnni")]
unsafe fn run_scaled<D: Scaled, const M0: usize, const NV: usize, const CHAINS: usize>(a: &RawArgs) {
    // SAFETY: the caller's.
    unsafe { scaled::<D, M0, NV, CHAINS>(a) }
}

/// Bytes in fours of k, `LHS` and `RHS` where they are signed.
struct Bytes<const LHS: bool, const RHS: bool>;

impl<const LHS: bool, const RHS: bool> Dot for Bytes<LHS, RHS> {
    const K0: usize = 4;
    const TWICE: usize = if LHS == RHS { 8 } else { 16 };
    const LHS_BYTES: usize = 1;
    const RHS_BITS: usize = 8;
    const SUMS: i32 = flipped_by(LHS, RHS);
    type Out = I32x8;
    type Right = __m256i;

    #[inline(always)]
    unsafe fn right(p: *const u8, lanes: usize) -> __m256i {
        // SAFETY: the caller's.
        unsafe { flipped::<LHS, RHS>(I32x8::load(p, lanes)) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> __m256i {
        // SAFETY: the caller's.
        unsafe { flipped::<LHS, RHS>(_mm256_loadu_si256(p.cast())) }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m256i; NV], lhs: *const u8, right: &[__m256i; NV]) {
        // SAFETY: the caller's.
        unsafe {
            let left = _mm256_set1_epi32(lhs.cast::<i32>().read_unaligned());
            for (acc, &right) in acc.iter_mut().zip(right) {
                *acc = if LHS {
                    _mm256_dpbusd_avx_epi32(*acc, right, left)
                } else {
                    _mm256_dpbusd_avx_epi32(*acc, left, right)
                };
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
/// The machine has AVX2.
#[inline(always)]
unsafe fn flipped<const LHS: bool, const RHS: bool>(v: __m256i) -> __m256i {
    // SAFETY: the caller's.
    unsafe { if LHS == RHS { _mm256_xor_si256(v, _mm256_set1_epi8(-128)) } else { v } }
}

/// Sums of each row's bytes.
///
/// # Safety
/// The rows are readable; the machine has what `enable` names.
#[target_feature(enable = "avx2,fma,f16c,avxvnni")]
unsafe fn sums_of_bytes<const SIGNED: bool>(lhs: &Lhs, sums: &mut [i32; 16]) {
    let ones = _mm256_set1_epi8(1);
    let add =
        |acc, v| if SIGNED { _mm256_dpbusd_avx_epi32(acc, ones, v) } else { _mm256_dpbusd_avx_epi32(acc, v, ones) };
    let mut lanes = [0i32; 8];
    // SAFETY: the caller's; what lies beyond is not accessed.
    unsafe {
        if lhs.row_stride == 4 && lhs.k_stride != 4 && lhs.last <= 8 {
            // Each lane is a row.
            let mask = _mm256_andnot_si256(window(lhs.first), window(lhs.last));
            let mut acc = [_mm256_setzero_si256(); 4];
            for t in 0..lhs.steps {
                let from = lhs.lhs.wrapping_offset(t as isize * lhs.k_stride);
                acc[t % 4] = add(acc[t % 4], _mm256_maskload_epi32(from.cast(), mask));
            }
            let all = _mm256_add_epi32(_mm256_add_epi32(acc[0], acc[1]), _mm256_add_epi32(acc[2], acc[3]));
            _mm256_storeu_si256(sums.as_mut_ptr().cast(), all);
            return;
        }
        for (r, sum) in sums.iter_mut().enumerate().take(lhs.last).skip(lhs.first) {
            let mut acc = _mm256_setzero_si256();
            let mut done = 0;
            if lhs.k_stride == 4 {
                while done + 8 <= lhs.steps {
                    acc = add(acc, _mm256_loadu_si256(lhs.row(r).add(4 * done).cast()));
                    done += 8;
                }
            }
            while done < lhs.steps {
                let four = part(lhs.row(r).wrapping_offset(done as isize * lhs.k_stride), 4);
                acc = add(acc, _mm256_zextsi128_si256(four));
                done += 1;
            }
            _mm256_storeu_si256(lanes.as_mut_ptr().cast(), acc);
            *sum = lanes.iter().fold(0, |sum, &lane| sum.wrapping_add(lane));
        }
    }
}

/// VPDPBUSD.
struct Busd;

impl AddFours for Busd {
    type Vector = __m256i;

    #[inline(always)]
    unsafe fn add(acc: __m256i, unsigned: __m256i, signed: __m256i) -> __m256i {
        // SAFETY: the caller's.
        unsafe { _mm256_dpbusd_avx_epi32(acc, unsigned, signed) }
    }
}

/// VPDPWSSD, as assembly: the compiler takes the intrinsic apart, into a product and a sum.
struct Wssd;

impl AddPairs for Wssd {
    type Vector = __m256i;
    const TWICE: usize = 16;

    #[inline]
    #[target_feature(enable = "avx2,avxvnni")]
    unsafe fn add(mut acc: __m256i, left: __m256i, right: __m256i) -> __m256i {
        // SAFETY: registers alone.
        unsafe {
            asm!(
                "{{vex}} vpdpwssd {0}, {1}, {2}",
                inout(ymm_reg) acc,
                in(ymm_reg) left,
                in(ymm_reg) right,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        acc
    }
}

rows! {
    run, "AVX2, FMA, F16C and AVX-VNNI.", 16;
    Bytes<true, true>, 2, 16 x 4, "Exact" {
        mmt4d_i8i8i32_1x16x4_x86_64_avx_vnni, 1, 4;
        mmt4d_i8i8i32_2x16x4_x86_64_avx_vnni, 2, 2;
        mmt4d_i8i8i32_4x16x4_x86_64_avx_vnni, 4, 1;
        mmt4d_i8i8i32_6x16x4_x86_64_avx_vnni, 6, 1;
    }
    Bytes<false, true>, 2, 16 x 4, "Exact" {
        mmt4d_u8i8i32_1x16x4_x86_64_avx_vnni, 1, 4;
        mmt4d_u8i8i32_2x16x4_x86_64_avx_vnni, 2, 2;
        mmt4d_u8i8i32_4x16x4_x86_64_avx_vnni, 4, 1;
        mmt4d_u8i8i32_6x16x4_x86_64_avx_vnni, 6, 1;
    }
    Bytes<false, false>, 2, 16 x 4, "Exact" {
        mmt4d_u8u8i32_1x16x4_x86_64_avx_vnni, 1, 4;
        mmt4d_u8u8i32_2x16x4_x86_64_avx_vnni, 2, 2;
        mmt4d_u8u8i32_4x16x4_x86_64_avx_vnni, 4, 1;
        mmt4d_u8u8i32_6x16x4_x86_64_avx_vnni, 6, 1;
    }
    Pairs<Wssd, 2>, 2, 16 x 2, "Exact" {
        mmt4d_i16i16i32_1x16x2_x86_64_avx_vnni, 1, 4;
        mmt4d_i16i16i32_2x16x2_x86_64_avx_vnni, 2, 2;
        mmt4d_i16i16i32_4x16x2_x86_64_avx_vnni, 4, 1;
        mmt4d_i16i16i32_6x16x2_x86_64_avx_vnni, 6, 1;
    }
    Pairs<Wssd, 1>, 2, 16 x 2, "Exact" {
        mmt4d_i16i8i32_1x16x2_x86_64_avx_vnni, 1, 4;
        mmt4d_i16i8i32_2x16x2_x86_64_avx_vnni, 2, 2;
        mmt4d_i16i8i32_4x16x2_x86_64_avx_vnni, 4, 1;
        mmt4d_i16i8i32_6x16x2_x86_64_avx_vnni, 6, 1;
    }
    PairsU4<Wssd>, 2, 16 x 8, "Exact" {
        mmt4d_i16u4i32_1x16x8_x86_64_avx_vnni, 1, 2;
        mmt4d_i16u4i32_2x16x8_x86_64_avx_vnni, 2, 1;
        mmt4d_i16u4i32_4x16x8_x86_64_avx_vnni, 4, 1;
        mmt4d_i16u4i32_6x16x8_x86_64_avx_vnni, 6, 1;
    }
    Nibbles<Busd>, 2, 16 x 8, "Exact" {
        mmt4d_i8i4i32_1x16x8_x86_64_avx_vnni, 1, 4;
        mmt4d_i8i4i32_2x16x8_x86_64_avx_vnni, 2, 2;
        mmt4d_i8i4i32_4x16x8_x86_64_avx_vnni, 4, 1;
        mmt4d_i8i4i32_5x16x8_x86_64_avx_vnni, 5, 1;
    }
}

rows! {
    run_scaled, "AVX2, FMA, F16C and AVX-VNNI.", 16;
    Nibbles<Busd>, 2, 16 x 8, "FusedChain" {
        mmt4d_i8i4g32f32_1x16x8_x86_64_avx_vnni, 1, 4;
        mmt4d_i8i4g32f32_2x16x8_x86_64_avx_vnni, 2, 2;
        mmt4d_i8i4g32f32_4x16x8_x86_64_avx_vnni, 4, 1;
    }
}
