//! AVX-512 BF16. Source: Intel SDM volume 2 (VDPBF16PS: round to nearest even, denormals are zero in and out).

use super::RawArgs;
use super::dot::{Dot, F32, Output};
use super::tile::tile;
use super::x86_64::Bf16x16;
use core::arch::x86_64::*;
use core::marker::PhantomData;
use core::mem::transmute;

/// # Safety
/// As [`Kernel`](super::Kernel) on the types of `D`; the machine has what `enable` names.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")]
unsafe fn run<D: Dot, const M0: usize, const NV: usize, const CHAINS: usize>(a: &RawArgs) {
    // SAFETY: the caller's.
    unsafe { tile::<D, M0, NV, CHAINS>(a) }
}

/// bf16 in pairs of k.
struct Bf16<O>(PhantomData<O>);

impl<O: Output<Acc = __m512, Mask = __mmask16>> Dot for Bf16<O> {
    const K0: usize = 2;
    const LHS_BYTES: usize = 2;
    const RHS_BITS: usize = 16;
    type Out = O;
    type Right = __m512i;

    #[inline(always)]
    unsafe fn right(p: *const u8, mask: __mmask16) -> __m512i {
        // SAFETY: the caller's.
        unsafe { _mm512_maskz_loadu_epi32(mask, p.cast()) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> __m512i {
        // SAFETY: the caller's.
        unsafe { _mm512_loadu_si512(p.cast()) }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m512; NV], lhs: *const u8, right: &[__m512i; NV]) {
        // SAFETY: the caller's; both types are 64 bytes of bf16.
        unsafe {
            let left = transmute::<__m512i, __m512bh>(_mm512_set1_epi32(lhs.cast::<i32>().read_unaligned()));
            for (acc, &right) in acc.iter_mut().zip(right) {
                *acc = _mm512_dpbf16_ps(*acc, left, transmute::<__m512i, __m512bh>(right));
            }
        }
    }
}

rows! {
    run, "AVX-512 (F, BW, DQ, VL) and BF16.", 32;
    Bf16<F32<__m512>>, 2, 32 x 2, "Bf16Dot" {
        mmt4d_bf16bf16f32_1x32x2_x86_64_avx512_bf16, 1, 4;
        mmt4d_bf16bf16f32_2x32x2_x86_64_avx512_bf16, 2, 4;
        mmt4d_bf16bf16f32_4x32x2_x86_64_avx512_bf16, 4, 2;
        mmt4d_bf16bf16f32_8x32x2_x86_64_avx512_bf16, 8, 1;
        mmt4d_bf16bf16f32_14x32x2_x86_64_avx512_bf16, 14, 1;
    }
    Bf16<Bf16x16>, 2, 32 x 2, "Bf16Dot" {
        mmt4d_bf16bf16bf16_1x32x2_x86_64_avx512_bf16, 1, 4;
        mmt4d_bf16bf16bf16_2x32x2_x86_64_avx512_bf16, 2, 4;
        mmt4d_bf16bf16bf16_4x32x2_x86_64_avx512_bf16, 4, 2;
        mmt4d_bf16bf16bf16_8x32x2_x86_64_avx512_bf16, 8, 1;
        mmt4d_bf16bf16bf16_14x32x2_x86_64_avx512_bf16, 14, 1;
    }
    Bf16<F32<__m512>>, 1, 16 x 2, "Bf16Dot" {
        mmt4d_bf16bf16f32_1x16x2_x86_64_avx512_bf16, 1, 4;
        mmt4d_bf16bf16f32_2x16x2_x86_64_avx512_bf16, 2, 4;
        mmt4d_bf16bf16f32_4x16x2_x86_64_avx512_bf16, 4, 2;
        mmt4d_bf16bf16f32_8x16x2_x86_64_avx512_bf16, 8, 1;
        mmt4d_bf16bf16f32_16x16x2_x86_64_avx512_bf16, 16, 1;
    }
    Bf16<Bf16x16>, 1, 16 x 2, "Bf16Dot" {
        mmt4d_bf16bf16bf16_1x16x2_x86_64_avx512_bf16, 1, 4;
        mmt4d_bf16bf16bf16_2x16x2_x86_64_avx512_bf16, 2, 4;
        mmt4d_bf16bf16bf16_4x16x2_x86_64_avx512_bf16, 4, 2;
        mmt4d_bf16bf16bf16_8x16x2_x86_64_avx512_bf16, 8, 1;
        mmt4d_bf16bf16bf16_16x16x2_x86_64_avx512_bf16, 16, 1;
    }
}
