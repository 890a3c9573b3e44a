//! Accumulators on x86-64's vectors. Source: Intel SDM volume 2.

use super::dot::{Dot, F32, Lhs, Output, sums_of_bytes};
use super::scaled::Scaled;
use core::arch::asm;
use core::arch::x86_64::*;
use core::marker::PhantomData;

/// f64 on AVX-512.
pub(super) struct F64x8;
/// i32 on AVX-512.
pub(super) struct I32x16;
/// f16 on AVX-512: widened, and rounded once.
pub(super) struct F16x16;
/// bf16 on AVX-512: widened, and rounded once.
pub(super) struct Bf16x16;
/// f64 on AVX2.
pub(super) struct F64x4;
/// i32 on AVX2.
pub(super) struct I32x8;
/// f16 on AVX2 and F16C: widened, and rounded once.
pub(super) struct F16x8;
/// bf16 on AVX2: widened, and rounded once.
pub(super) struct Bf16x8;

/// The line of `p` into the second-level cache.
#[inline(always)]
fn prefetch(p: *const u8) {
    // SAFETY: a hint, which never faults.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(p.cast()) }
}

/// The methods that are one expression each.
macro_rules! output {
    (
        $name:ident, $lanes:literal x $bytes:literal, $acc:ty, $mask:ty;
        mask($n:ident) $make:expr; zero $zero:expr;
        load($p:ident, $m:ident) $load:expr; load_all $load_all:expr;
        store($v:ident) $store:expr; store_all $store_all:expr;
        broadcast $broadcast:expr; $add:ident $min:ident $max:ident
    ) => {
        impl Output for $name {
            const LANES: usize = $lanes;
            const BYTES: usize = $bytes;
            type Acc = $acc;
            type Mask = $mask;

            #[inline(always)]
            unsafe fn mask($n: usize) -> $mask {
                $make
            }

            #[inline(always)]
            unsafe fn zero() -> $acc {
                // SAFETY: the caller's.
                unsafe { $zero }
            }

            #[inline(always)]
            unsafe fn load($p: *const u8, $m: $mask) -> $acc {
                // SAFETY: the caller's.
                unsafe { $load }
            }

            #[inline(always)]
            unsafe fn load_all($p: *const u8) -> $acc {
                // SAFETY: the caller's.
                unsafe { $load_all }
            }

            #[inline(always)]
            unsafe fn store($v: $acc, $p: *mut u8, $m: $mask) {
                // SAFETY: the caller's.
                unsafe { $store }
            }

            #[inline(always)]
            unsafe fn store_all($v: $acc, $p: *mut u8) {
                // SAFETY: the caller's.
                unsafe { $store_all }
            }

            #[inline(always)]
            unsafe fn broadcast($p: *const u8) -> $acc {
                // SAFETY: the caller's.
                unsafe { $broadcast }
            }

            #[inline(always)]
            unsafe fn add(a: $acc, b: $acc) -> $acc {
                // SAFETY: the caller's.
                unsafe { $add(a, b) }
            }

            #[inline(always)]
            unsafe fn min(a: $acc, b: $acc) -> $acc {
                // SAFETY: the caller's.
                unsafe { $min(a, b) }
            }

            #[inline(always)]
            unsafe fn max(a: $acc, b: $acc) -> $acc {
                // SAFETY: the caller's.
                unsafe { $max(a, b) }
            }

            #[inline(always)]
            unsafe fn prefetch(p: *const u8) {
                prefetch(p);
            }
        }
    };
}

/// The first `lanes` of at most sixteen bits.
#[inline(always)]
pub(super) fn bits(lanes: usize) -> u16 {
    if lanes >= 16 { !0 } else { !(!0 << lanes) }
}

output! {
    F64x8, 8 x 8, __m512d, __mmask8;
    mask(n) bits(n.min(8)) as u8; zero _mm512_setzero_pd();
    load(p, m) _mm512_maskz_loadu_pd(m, p.cast()); load_all _mm512_loadu_pd(p.cast());
    store(v) _mm512_mask_storeu_pd(p.cast(), m, v); store_all _mm512_storeu_pd(p.cast(), v);
    broadcast _mm512_set1_pd(p.cast::<f64>().read_unaligned()); _mm512_add_pd _mm512_min_pd _mm512_max_pd
}

output! {
    I32x16, 16 x 4, __m512i, __mmask16;
    mask(n) bits(n); zero _mm512_setzero_si512();
    load(p, m) _mm512_maskz_loadu_epi32(m, p.cast()); load_all _mm512_loadu_si512(p.cast());
    store(v) _mm512_mask_storeu_epi32(p.cast(), m, v); store_all _mm512_storeu_si512(p.cast(), v);
    broadcast _mm512_set1_epi32(p.cast::<i32>().read_unaligned()); _mm512_add_epi32 _mm512_min_epi32 _mm512_max_epi32
}

output! {
    F16x16, 16 x 2, __m512, __mmask16;
    mask(n) bits(n); zero _mm512_setzero_ps();
    load(p, m) _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(m, p.cast())); load_all _mm512_cvtph_ps(_mm256_loadu_si256(p.cast()));
    store(v) _mm256_mask_storeu_epi16(p.cast(), m, _mm512_cvtps_ph::<NEAREST>(v));
    store_all _mm256_storeu_si256(p.cast(), _mm512_cvtps_ph::<NEAREST>(v));
    broadcast _mm512_cvtph_ps(_mm256_set1_epi16(p.cast::<i16>().read_unaligned())); _mm512_add_ps _mm512_min_ps _mm512_max_ps
}

output! {
    Bf16x16, 16 x 2, __m512, __mmask16;
    mask(n) bits(n); zero _mm512_setzero_ps();
    load(p, m) bf16_to_f32x16(_mm256_maskz_loadu_epi16(m, p.cast())); load_all bf16_to_f32x16(_mm256_loadu_si256(p.cast()));
    store(v) _mm256_mask_storeu_epi16(p.cast(), m, f32x16_to_bf16(v));
    store_all _mm256_storeu_si256(p.cast(), f32x16_to_bf16(v));
    broadcast bf16_to_f32x16(_mm256_set1_epi16(p.cast::<i16>().read_unaligned())); _mm512_add_ps _mm512_min_ps _mm512_max_ps
}

output! {
    F64x4, 4 x 8, __m256d, usize;
    mask(n) n.min(4); zero _mm256_setzero_pd();
    load(p, m) _mm256_maskload_pd(p.cast(), window(2 * m)); load_all _mm256_loadu_pd(p.cast());
    store(v) _mm256_maskstore_pd(p.cast(), window(2 * m), v); store_all _mm256_storeu_pd(p.cast(), v);
    broadcast _mm256_set1_pd(p.cast::<f64>().read_unaligned()); _mm256_add_pd _mm256_min_pd _mm256_max_pd
}

output! {
    I32x8, 8 x 4, __m256i, usize;
    mask(n) n.min(8); zero _mm256_setzero_si256();
    load(p, m) _mm256_maskload_epi32(p.cast(), window(m)); load_all _mm256_loadu_si256(p.cast());
    store(v) _mm256_maskstore_epi32(p.cast(), window(m), v); store_all _mm256_storeu_si256(p.cast(), v);
    broadcast _mm256_set1_epi32(p.cast::<i32>().read_unaligned()); _mm256_add_epi32 _mm256_min_epi32 _mm256_max_epi32
}

output! {
    F16x8, 8 x 2, __m256, usize;
    mask(n) n.min(8); zero _mm256_setzero_ps();
    load(p, m) _mm256_cvtph_ps(part(p, 2 * m)); load_all _mm256_cvtph_ps(_mm_loadu_si128(p.cast()));
    store(v) store_part(_mm256_cvtps_ph::<NEAREST>(v), p, 2 * m); store_all _mm_storeu_si128(p.cast(), _mm256_cvtps_ph::<NEAREST>(v));
    broadcast _mm256_cvtph_ps(_mm_set1_epi16(p.cast::<i16>().read_unaligned())); _mm256_add_ps _mm256_min_ps _mm256_max_ps
}

output! {
    Bf16x8, 8 x 2, __m256, usize;
    mask(n) n.min(8); zero _mm256_setzero_ps();
    load(p, m) bf16_to_f32x8(part(p, 2 * m)); load_all bf16_to_f32x8(_mm_loadu_si128(p.cast()));
    store(v) store_part(f32x8_to_bf16(v), p, 2 * m); store_all _mm_storeu_si128(p.cast(), f32x8_to_bf16(v));
    broadcast bf16_to_f32x8(_mm_set1_epi16(p.cast::<i16>().read_unaligned())); _mm256_add_ps _mm256_min_ps _mm256_max_ps
}

const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT;

/// How many columns a mask selects.
pub(super) trait Lanes: Copy {
    /// # Safety
    /// The machine has AVX2.
    unsafe fn lanes(self) -> usize;
}

impl Lanes for usize {
    #[inline(always)]
    unsafe fn lanes(self) -> usize {
        self
    }
}

impl Lanes for __m256i {
    #[inline(always)]
    unsafe fn lanes(self) -> usize {
        // SAFETY: the caller's.
        unsafe { _mm256_movemask_ps(_mm256_castsi256_ps(self)).count_ones() as usize }
    }
}

/// The first `lanes` of eight, as VMASKMOV selects them.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
pub(super) unsafe fn window(lanes: usize) -> __m256i {
    static LANES: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
    // SAFETY: a window of eight inside `LANES`.
    unsafe { _mm256_loadu_si256(LANES.as_ptr().add(8 - lanes.min(8)).cast()) }
}

/// The first `count` bytes, at most 16, and zeros.
///
/// # Safety
/// They are readable.
#[inline(always)]
pub(super) unsafe fn part(p: *const u8, count: usize) -> __m128i {
    let mut bytes = [0u8; 16];
    // SAFETY: the caller's; into an array of as many.
    unsafe {
        core::ptr::copy_nonoverlapping(p, bytes.as_mut_ptr(), count.min(16));
        _mm_loadu_si128(bytes.as_ptr().cast())
    }
}

/// Writes the first `count` bytes, at most 16.
///
/// # Safety
/// They are writable.
#[inline(always)]
unsafe fn store_part(v: __m128i, p: *mut u8, count: usize) {
    let mut bytes = [0u8; 16];
    // SAFETY: the caller's; from an array of as many.
    unsafe {
        _mm_storeu_si128(bytes.as_mut_ptr().cast(), v);
        core::ptr::copy_nonoverlapping(bytes.as_ptr(), p, count.min(16));
    }
}

/// # Safety
/// The machine has AVX-512F.
#[inline(always)]
pub(super) unsafe fn bf16_to_f32x16(v: __m256i) -> __m512 {
    // SAFETY: the caller's.
    unsafe { _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(v))) }
}

/// # Safety
/// The machine has AVX2.
#[inline(always)]
pub(super) unsafe fn bf16_to_f32x8(v: __m128i) -> __m256 {
    // SAFETY: the caller's.
    unsafe { _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(v))) }
}

/// Rounds to nearest, ties to even, denormals as any other number; NaNs stay, and become quiet.
///
/// # Safety
/// The machine has AVX-512F.
#[inline(always)]
unsafe fn f32x16_to_bf16(v: __m512) -> __m256i {
    // SAFETY: the caller's.
    unsafe {
        let bits = _mm512_castps_si512(v);
        let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
        let rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
        let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(v, v);
        let quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x0040_0000));
        let bits = _mm512_mask_mov_epi32(rounded, nan, quiet);
        _mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(bits))
    }
}

/// As [`f32x16_to_bf16`].
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn f32x8_to_bf16(v: __m256) -> __m128i {
    // SAFETY: the caller's.
    unsafe {
        let bits = _mm256_castps_si256(v);
        let odd = _mm256_and_si256(_mm256_srli_epi32::<16>(bits), _mm256_set1_epi32(1));
        let rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
        let nan = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(v, v));
        let quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x0040_0000));
        let bits = _mm256_srli_epi32::<16>(_mm256_blendv_epi8(rounded, quiet, nan));
        let packed = _mm256_packus_epi32(bits, bits);
        _mm256_castsi256_si128(_mm256_permute4x64_epi64::<0b1000>(packed))
    }
}

/// The instruction that adds products of pairs of i16.
///
/// # Safety
/// Its method needs a machine that has it.
pub(super) trait AddPairs {
    /// The vector.
    type Vector: Copy;
    /// See [`Dot::TWICE`].
    const TWICE: usize;

    /// `acc` and the sums of products of pairs, wrapping.
    unsafe fn add(acc: Self::Vector, left: Self::Vector, right: Self::Vector) -> Self::Vector;
}

/// i16 in pairs of k on AVX-512, the right operand i8 where its elements have one byte: that is widened as it is loaded.
pub(super) struct Pairs512<P, const RHS: usize>(PhantomData<P>);

impl<P: AddPairs<Vector = __m512i>, const RHS: usize> Dot for Pairs512<P, RHS> {
    const K0: usize = 2;
    const TWICE: usize = P::TWICE;
    const LHS_BYTES: usize = 2;
    const RHS_BITS: usize = 8 * RHS;
    type Out = I32x16;
    type Right = __m512i;

    #[inline(always)]
    unsafe fn right(p: *const u8, mask: __mmask16) -> __m512i {
        // SAFETY: the caller's.
        unsafe {
            if RHS == 2 {
                _mm512_maskz_loadu_epi32(mask, p.cast())
            } else {
                _mm512_cvtepi8_epi16(_mm256_maskz_loadu_epi16(mask, p.cast()))
            }
        }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> __m512i {
        // SAFETY: the caller's.
        unsafe {
            if RHS == 2 { _mm512_loadu_si512(p.cast()) } else { _mm512_cvtepi8_epi16(_mm256_loadu_si256(p.cast())) }
        }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m512i; NV], lhs: *const u8, right: &[__m512i; NV]) {
        // SAFETY: the caller's.
        unsafe {
            let left = _mm512_set1_epi32(lhs.cast::<i32>().read_unaligned());
            for (acc, &right) in acc.iter_mut().zip(right) {
                *acc = P::add(*acc, left, right);
            }
        }
    }
}

/// As [`Pairs512`], on AVX2.
pub(super) struct Pairs256<P, const RHS: usize>(PhantomData<P>);

impl<P: AddPairs<Vector = __m256i>, const RHS: usize> Dot for Pairs256<P, RHS> {
    const K0: usize = 2;
    const TWICE: usize = P::TWICE;
    const LHS_BYTES: usize = 2;
    const RHS_BITS: usize = 8 * RHS;
    type Out = I32x8;
    type Right = __m256i;

    #[inline(always)]
    unsafe fn right(p: *const u8, lanes: usize) -> __m256i {
        // SAFETY: the caller's.
        unsafe { if RHS == 2 { I32x8::load(p, lanes) } else { _mm256_cvtepi8_epi16(part(p, 2 * lanes)) } }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> __m256i {
        // SAFETY: the caller's.
        unsafe { if RHS == 2 { _mm256_loadu_si256(p.cast()) } else { _mm256_cvtepi8_epi16(_mm_loadu_si128(p.cast())) } }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m256i; NV], lhs: *const u8, right: &[__m256i; NV]) {
        // SAFETY: the caller's.
        unsafe {
            let left = _mm256_set1_epi32(lhs.cast::<i32>().read_unaligned());
            for (acc, &right) in acc.iter_mut().zip(right) {
                *acc = P::add(*acc, left, right);
            }
        }
    }
}

/// Bytes, signed ones, in pairs of k: as pairs of i16. The left operand is widened once.
pub(super) struct BytePairs512<P>(PhantomData<P>);

impl<P: AddPairs<Vector = __m512i>> Dot for BytePairs512<P> {
    const K0: usize = 2;
    const TWICE: usize = P::TWICE;
    const LHS_BYTES: usize = 1;
    const RHS_BITS: usize = 8;
    const STEP: usize = 2;
    const STAGED: bool = true;
    type Out = I32x16;
    type Right = __m512i;

    #[inline(always)]
    unsafe fn right(p: *const u8, mask: __mmask16) -> __m512i {
        // SAFETY: the caller's.
        unsafe { Pairs512::<P, 1>::right(p, mask) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> __m512i {
        // SAFETY: the caller's.
        unsafe { Pairs512::<P, 1>::right_all(p) }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m512i; NV], lhs: *const u8, right: &[__m512i; NV]) {
        // SAFETY: the caller's.
        unsafe { Pairs512::<P, 2>::row(acc, lhs, right) }
    }

    unsafe fn stage(from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: the caller's.
        unsafe { widen_bytes::<true>(from, to, count) }
    }
}

/// # Safety
/// The machine has AVX2.
#[inline(always)]
pub(super) unsafe fn widened_bytes<const SIGNED: bool>(v: __m128i) -> __m256i {
    // SAFETY: the caller's.
    unsafe { if SIGNED { _mm256_cvtepi8_epi16(v) } else { _mm256_cvtepu8_epi16(v) } }
}

/// Widens bytes to i16.
///
/// # Safety
/// `count` elements are readable and writable; the machine has what `enable` names.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn widen_bytes<const SIGNED: bool>(from: *const u8, to: *mut u8, count: usize) {
    let mut at = 0;
    // SAFETY: the caller's.
    unsafe {
        while at + 16 <= count {
            let v = _mm_loadu_si128(from.add(at).cast());
            _mm256_storeu_si256(to.add(2 * at).cast(), widened_bytes::<SIGNED>(v));
            at += 16;
        }
        while at < count {
            let x = from.add(at).read();
            let wide = if SIGNED { i16::from(x as i8) } else { i16::from(x) };
            to.cast::<i16>().add(at).write_unaligned(wide);
            at += 1;
        }
    }
}

/// What the sum of a left row's bytes is taken times where VPDPBUSD multiplies bytes, `LHS` and `RHS` where they are signed.
/// Operands of one kind are no unsigned and signed one: the right one's sign bit is flipped, and plays the other part.
pub(super) const fn flipped_by(lhs: bool, rhs: bool) -> i32 {
    match (lhs, rhs) {
        (true, true) => -128,
        (false, false) => 128,
        _ => 0,
    }
}

/// The instruction that adds products of unsigned bytes with signed ones in fours, exact as far as the unsigned ones have
/// four bits.
///
/// # Safety
/// Its method needs a machine that has it.
pub(super) trait AddFours {
    /// The vector.
    type Vector: Copy;

    /// `acc` and the sums of products of fours, wrapping.
    unsafe fn add(acc: Self::Vector, unsigned: Self::Vector, signed: Self::Vector) -> Self::Vector;
}

/// i8 on i4 in eights of k: the nibbles of the even k and of the odd ones are a part each. Their sign bits are flipped, which
/// adds 8 that times the sum of the left operand is taken back. The left operand is staged in the order of the parts.
pub(super) struct Nibbles512<P>(PhantomData<P>);

impl<P: AddFours<Vector = __m512i>> Dot for Nibbles512<P> {
    const K0: usize = 8;
    const MASKED: bool = true;
    const TWICE: usize = 0;
    const LHS_BYTES: usize = 1;
    const RHS_BITS: usize = 4;
    const PARTS: usize = 2;
    const STAGED: bool = true;
    const SUMS: i32 = -8;
    type Out = I32x16;
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
    unsafe fn part(right: __m512i, index: usize) -> __m512i {
        // SAFETY: the caller's.
        unsafe {
            let nibbles = if index == 0 { right } else { _mm512_srli_epi32::<4>(right) };
            _mm512_ternarylogic_epi32::<AND_XOR>(nibbles, _mm512_set1_epi8(15), _mm512_set1_epi8(8))
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn next(mut right: __m512i, sums: __m512i) -> __m512i {
        // SAFETY: no instruction at all.
        unsafe {
            asm!("/* {0} {1} */", inout(zmm_reg) right, in(zmm_reg) sums, options(pure, nomem, nostack, preserves_flags))
        };
        right
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m512i; NV], lhs: *const u8, right: &[__m512i; NV]) {
        // SAFETY: the caller's.
        unsafe {
            let left = _mm512_set1_epi32(lhs.cast::<i32>().read_unaligned());
            for (acc, &right) in acc.iter_mut().zip(right) {
                *acc = P::add(*acc, right, left);
            }
        }
    }

    unsafe fn sums(lhs: &Lhs, sums: &mut [i32; 16]) {
        // SAFETY: the caller's.
        unsafe { sums_of_bytes::<Self>(lhs, sums) }
    }

    unsafe fn stage(from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: the caller's.
        unsafe { even_and_odd_512(from, to, count) }
    }
}

impl<P: AddFours<Vector = __m512i>> Scaled for Nibbles512<P> {
    const GROUP: usize = 32;
    type Sums = __m512;

    #[inline(always)]
    unsafe fn part_less(right: __m512i, index: usize, _: __m512) -> __m512i {
        // SAFETY: the caller's.
        unsafe { Self::part(right, index) }
    }

    #[inline(always)]
    unsafe fn start(sum: i32) -> __m512i {
        // SAFETY: the caller's.
        unsafe { _mm512_set1_epi32(sum.wrapping_mul(Self::SUMS)) }
    }

    #[inline(always)]
    unsafe fn floats(products: __m512i) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_cvtepi32_ps(products) }
    }
}

/// VPTERNLOG's table of `(a & b) ^ c`.
const AND_XOR: i32 = 0b0110_1010;

/// As [`Nibbles512`], on AVX2.
pub(super) struct Nibbles256<P>(PhantomData<P>);

impl<P: AddFours<Vector = __m256i>> Dot for Nibbles256<P> {
    const K0: usize = 8;
    const MASKED: bool = true;
    const TWICE: usize = 0;
    const LHS_BYTES: usize = 1;
    const RHS_BITS: usize = 4;
    const PARTS: usize = 2;
    const STAGED: bool = true;
    const SUMS: i32 = -8;
    type Out = I32x8;
    type Right = __m256i;

    #[inline(always)]
    unsafe fn right(p: *const u8, lanes: usize) -> __m256i {
        // SAFETY: the caller's.
        unsafe { I32x8::load(p, lanes) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> __m256i {
        // SAFETY: the caller's.
        unsafe { _mm256_loadu_si256(p.cast()) }
    }

    #[inline(always)]
    unsafe fn part(right: __m256i, index: usize) -> __m256i {
        // SAFETY: the caller's.
        unsafe {
            let nibbles = if index == 0 { right } else { _mm256_srli_epi32::<4>(right) };
            _mm256_xor_si256(_mm256_and_si256(nibbles, _mm256_set1_epi8(15)), _mm256_set1_epi8(8))
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn next(mut right: __m256i, sums: __m256i) -> __m256i {
        // SAFETY: no instruction at all.
        unsafe {
            asm!("/* {0} {1} */", inout(ymm_reg) right, in(ymm_reg) sums, options(pure, nomem, nostack, preserves_flags))
        };
        right
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m256i; NV], lhs: *const u8, right: &[__m256i; NV]) {
        // SAFETY: the caller's.
        unsafe {
            let left = _mm256_set1_epi32(lhs.cast::<i32>().read_unaligned());
            for (acc, &right) in acc.iter_mut().zip(right) {
                *acc = P::add(*acc, right, left);
            }
        }
    }

    unsafe fn sums(lhs: &Lhs, sums: &mut [i32; 16]) {
        // SAFETY: the caller's.
        unsafe { sums_of_bytes::<Self>(lhs, sums) }
    }

    unsafe fn stage(from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: the caller's.
        unsafe { even_and_odd(from, to, count) }
    }
}

impl<P: AddFours<Vector = __m256i>> Scaled for Nibbles256<P> {
    const GROUP: usize = 32;
    type Sums = __m256;

    #[inline(always)]
    unsafe fn part_less(right: __m256i, index: usize, _: __m256) -> __m256i {
        // SAFETY: the caller's.
        unsafe { Self::part(right, index) }
    }

    #[inline(always)]
    unsafe fn start(sum: i32) -> __m256i {
        // SAFETY: the caller's.
        unsafe { _mm256_set1_epi32(sum.wrapping_mul(Self::SUMS)) }
    }

    #[inline(always)]
    unsafe fn floats(products: __m256i) -> __m256 {
        // SAFETY: the caller's.
        unsafe { _mm256_cvtepi32_ps(products) }
    }
}

/// Copies bytes, of each eight the even ones before the odd ones. What is missing of the last eight reads as zeros.
///
/// # Safety
/// `count` bytes are readable, and whole eights writable; the machine has AVX2.
#[target_feature(enable = "avx2")]
unsafe fn even_and_odd(from: *const u8, to: *mut u8, count: usize) {
    let order = _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15);
    // SAFETY: the caller's; what lies beyond is not accessed.
    unsafe {
        let mut at = 0;
        while at + 32 <= count {
            let v = _mm256_loadu_si256(from.add(at).cast());
            let v = _mm256_shuffle_epi8(v, _mm256_broadcastsi128_si256(order));
            _mm256_storeu_si256(to.add(at).cast(), v);
            at += 32;
        }
        while at < count {
            let v = _mm_shuffle_epi8(part(from.add(at), (count - at).min(8)), order);
            _mm_storel_epi64(to.add(at).cast(), v);
            at += 8;
        }
    }
}

/// As [`even_and_odd`], on AVX-512.
///
/// # Safety
/// As that one; the machine has what `enable` names.
#[target_feature(enable = "avx2,avx512f,avx512bw")]
unsafe fn even_and_odd_512(from: *const u8, to: *mut u8, count: usize) {
    let order = _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15);
    let order = _mm512_broadcast_i32x4(order);
    // SAFETY: the caller's; what lies beyond is not accessed.
    unsafe {
        let mut at = 0;
        while at + 64 <= count {
            _mm512_storeu_si512(to.add(at).cast(), _mm512_shuffle_epi8(_mm512_loadu_si512(from.add(at).cast()), order));
            at += 64;
        }
        even_and_odd(from.add(at), to.add(at), count - at);
    }
}

/// i16 on u4 in eights of k: words of four nibbles, of which each part takes one; so its pairs are of k and k + 4. The left
/// operand is staged in the order of the parts.
pub(super) struct PairsU4x512<P>(PhantomData<P>);

impl<P: AddPairs<Vector = __m512i>> Dot for PairsU4x512<P> {
    const K0: usize = 8;
    const MASKED: bool = true;
    const TWICE: usize = 0;
    const LHS_BYTES: usize = 2;
    const RHS_BITS: usize = 4;
    const PARTS: usize = 4;
    const STAGED: bool = true;
    type Out = I32x16;
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
    unsafe fn part(right: __m512i, index: usize) -> __m512i {
        // SAFETY: the caller's.
        unsafe {
            let low = _mm512_set1_epi16(15);
            match index {
                0 => _mm512_and_si512(right, low),
                1 => _mm512_and_si512(_mm512_srli_epi16::<4>(right), low),
                2 => _mm512_and_si512(_mm512_srli_epi16::<8>(right), low),
                _ => _mm512_srli_epi16::<12>(right),
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn next(mut right: __m512i, sums: __m512i) -> __m512i {
        // SAFETY: no instruction at all.
        unsafe {
            asm!("/* {0} {1} */", inout(zmm_reg) right, in(zmm_reg) sums, options(pure, nomem, nostack, preserves_flags))
        };
        right
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m512i; NV], lhs: *const u8, right: &[__m512i; NV]) {
        // SAFETY: the caller's.
        unsafe { Pairs512::<P, 2>::row(acc, lhs, right) }
    }

    unsafe fn stage(from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: the caller's.
        unsafe { halves_in_pairs(from, to, count) }
    }
}

/// As [`PairsU4x512`], on AVX2.
pub(super) struct PairsU4x256<P>(PhantomData<P>);

impl<P: AddPairs<Vector = __m256i>> Dot for PairsU4x256<P> {
    const K0: usize = 8;
    const MASKED: bool = true;
    const TWICE: usize = 0;
    const LHS_BYTES: usize = 2;
    const RHS_BITS: usize = 4;
    const PARTS: usize = 4;
    const STAGED: bool = true;
    type Out = I32x8;
    type Right = __m256i;

    #[inline(always)]
    unsafe fn right(p: *const u8, lanes: usize) -> __m256i {
        // SAFETY: the caller's.
        unsafe { I32x8::load(p, lanes) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> __m256i {
        // SAFETY: the caller's.
        unsafe { _mm256_loadu_si256(p.cast()) }
    }

    #[inline(always)]
    unsafe fn part(right: __m256i, index: usize) -> __m256i {
        // SAFETY: the caller's.
        unsafe {
            let low = _mm256_set1_epi16(15);
            match index {
                0 => _mm256_and_si256(right, low),
                1 => _mm256_and_si256(_mm256_srli_epi16::<4>(right), low),
                2 => _mm256_and_si256(_mm256_srli_epi16::<8>(right), low),
                _ => _mm256_srli_epi16::<12>(right),
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn next(mut right: __m256i, sums: __m256i) -> __m256i {
        // SAFETY: no instruction at all.
        unsafe {
            asm!("/* {0} {1} */", inout(ymm_reg) right, in(ymm_reg) sums, options(pure, nomem, nostack, preserves_flags))
        };
        right
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m256i; NV], lhs: *const u8, right: &[__m256i; NV]) {
        // SAFETY: the caller's.
        unsafe { Pairs256::<P, 2>::row(acc, lhs, right) }
    }

    unsafe fn stage(from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: the caller's.
        unsafe { halves_in_pairs(from, to, count) }
    }
}

/// Copies i16, of each eight in the order 0, 4, 1, 5, 2, 6, 3, 7. What is missing of the last eight reads as zeros.
///
/// # Safety
/// `count` elements are readable, and whole eights writable; the machine has AVX2.
#[target_feature(enable = "avx2")]
unsafe fn halves_in_pairs(from: *const u8, to: *mut u8, count: usize) {
    let order = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
    let bytes = 2 * count;
    // SAFETY: the caller's; what lies beyond is not accessed.
    unsafe {
        let mut at = 0;
        while at < bytes {
            let v =
                if at + 16 <= bytes { _mm_loadu_si128(from.add(at).cast()) } else { part(from.add(at), bytes - at) };
            _mm_storeu_si128(to.add(at).cast(), _mm_shuffle_epi8(v, order));
            at += 16;
        }
    }
}

/// f32 on i4 in eights of k, each k a part; `GROUP` of them share a scale.
pub(super) struct F32I4x512<const GROUP: usize>;

/// 2^23, whose lowest bit counts ones, and 8 more: what a nibble with its sign bit flipped is put into, and taken from. So is
/// a zero point, at no cost.
const NIBBLE: i32 = 0x4b00_0008;

impl<const GROUP: usize> Dot for F32I4x512<GROUP> {
    const K0: usize = 8;
    const MASKED: bool = true;
    const LHS_BYTES: usize = 4;
    const RHS_BITS: usize = 4;
    const PARTS: usize = 8;
    type Out = F32<__m512>;
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

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn next(mut right: __m512i, sums: __m512) -> __m512i {
        // SAFETY: no instruction at all.
        unsafe {
            asm!("/* {0} {1} */", inout(zmm_reg) right, in(zmm_reg) sums, options(pure, nomem, nostack, preserves_flags))
        };
        right
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m512; NV], lhs: *const u8, right: &[__m512i; NV]) {
        // SAFETY: the caller's.
        unsafe {
            let left = _mm512_set1_ps(lhs.cast::<f32>().read_unaligned());
            for (acc, &right) in acc.iter_mut().zip(right) {
                *acc = _mm512_fmadd_ps(left, _mm512_castsi512_ps(right), *acc);
            }
        }
    }
}

impl<const GROUP: usize> Scaled for F32I4x512<GROUP> {
    const GROUP: usize = GROUP;
    type Sums = __m512;

    #[inline(always)]
    unsafe fn start(_: i32) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_setzero_ps() }
    }

    #[inline(always)]
    unsafe fn part_less(right: __m512i, index: usize, zero_points: __m512) -> __m512i {
        // SAFETY: the caller's.
        unsafe {
            let v = match index {
                0 => right,
                1 => _mm512_srli_epi32::<4>(right),
                2 => _mm512_srli_epi32::<8>(right),
                3 => _mm512_srli_epi32::<12>(right),
                4 => _mm512_srli_epi32::<16>(right),
                5 => _mm512_srli_epi32::<20>(right),
                6 => _mm512_srli_epi32::<24>(right),
                _ => _mm512_srli_epi32::<28>(right),
            };
            let bias = _mm512_set1_epi32(NIBBLE);
            let biased = _mm512_ternarylogic_epi32::<AND_XOR>(v, _mm512_set1_epi32(15), bias);
            let zero = _mm512_add_ps(_mm512_castsi512_ps(bias), zero_points);
            _mm512_castps_si512(_mm512_sub_ps(_mm512_castsi512_ps(biased), zero))
        }
    }

    #[inline(always)]
    unsafe fn floats(products: __m512) -> __m512 {
        products
    }
}

/// As [`F32I4x512`], on AVX2.
pub(super) struct F32I4x256<const GROUP: usize>;

impl<const GROUP: usize> Dot for F32I4x256<GROUP> {
    const K0: usize = 8;
    const MASKED: bool = true;
    const LHS_BYTES: usize = 4;
    const RHS_BITS: usize = 4;
    const PARTS: usize = 8;
    type Out = F32<__m256>;
    type Right = __m256i;

    #[inline(always)]
    unsafe fn right(p: *const u8, mask: __m256i) -> __m256i {
        // SAFETY: the caller's.
        unsafe { _mm256_maskload_epi32(p.cast(), mask) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> __m256i {
        // SAFETY: the caller's.
        unsafe { _mm256_loadu_si256(p.cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn next(mut right: __m256i, sums: __m256) -> __m256i {
        // SAFETY: no instruction at all.
        unsafe {
            asm!("/* {0} {1} */", inout(ymm_reg) right, in(ymm_reg) sums, options(pure, nomem, nostack, preserves_flags))
        };
        right
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m256; NV], lhs: *const u8, right: &[__m256i; NV]) {
        // SAFETY: the caller's.
        unsafe {
            let left = _mm256_set1_ps(lhs.cast::<f32>().read_unaligned());
            for (acc, &right) in acc.iter_mut().zip(right) {
                *acc = _mm256_fmadd_ps(left, _mm256_castsi256_ps(right), *acc);
            }
        }
    }
}

impl<const GROUP: usize> Scaled for F32I4x256<GROUP> {
    const GROUP: usize = GROUP;
    type Sums = __m256;

    #[inline(always)]
    unsafe fn start(_: i32) -> __m256 {
        // SAFETY: the caller's.
        unsafe { _mm256_setzero_ps() }
    }

    #[inline(always)]
    unsafe fn part_less(right: __m256i, index: usize, zero_points: __m256) -> __m256i {
        // SAFETY: the caller's.
        unsafe {
            let v = match index {
                0 => right,
                1 => _mm256_srli_epi32::<4>(right),
                2 => _mm256_srli_epi32::<8>(right),
                3 => _mm256_srli_epi32::<12>(right),
                4 => _mm256_srli_epi32::<16>(right),
                5 => _mm256_srli_epi32::<20>(right),
                6 => _mm256_srli_epi32::<24>(right),
                _ => _mm256_srli_epi32::<28>(right),
            };
            let bias = _mm256_set1_epi32(NIBBLE);
            let biased = _mm256_xor_si256(_mm256_and_si256(v, _mm256_set1_epi32(15)), bias);
            let zero = _mm256_add_ps(_mm256_castsi256_ps(bias), zero_points);
            _mm256_castps_si256(_mm256_sub_ps(_mm256_castsi256_ps(biased), zero))
        }
    }

    #[inline(always)]
    unsafe fn floats(products: __m256) -> __m256 {
        products
    }
}

/// f32 on i8, one by one; `GROUP` of k share a scale.
pub(super) struct F32I8x512<const GROUP: usize>;

impl<const GROUP: usize> Dot for F32I8x512<GROUP> {
    const LHS_BYTES: usize = 4;
    const RHS_BITS: usize = 8;
    type Out = F32<__m512>;
    type Right = __m512;

    #[inline(always)]
    unsafe fn right(p: *const u8, mask: __mmask16) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, p.cast()))) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(p.cast()))) }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m512; NV], lhs: *const u8, right: &[__m512; NV]) {
        // SAFETY: the caller's.
        unsafe { F32::<__m512>::row(acc, lhs, right) }
    }
}

impl<const GROUP: usize> Scaled for F32I8x512<GROUP> {
    const GROUP: usize = GROUP;
    const ZERO_COSTS: bool = true;
    type Sums = __m512;

    #[inline(always)]
    unsafe fn start(_: i32) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_setzero_ps() }
    }

    #[inline(always)]
    unsafe fn part_less(right: __m512, _: usize, zero_points: __m512) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_sub_ps(right, zero_points) }
    }

    #[inline(always)]
    unsafe fn floats(products: __m512) -> __m512 {
        products
    }
}

/// As [`F32I8x512`], on AVX2.
pub(super) struct F32I8x256<const GROUP: usize>;

impl<const GROUP: usize> Dot for F32I8x256<GROUP> {
    const LHS_BYTES: usize = 4;
    const RHS_BITS: usize = 8;
    type Out = F32<__m256>;
    type Right = __m256;

    #[inline(always)]
    unsafe fn right(p: *const u8, mask: __m256i) -> __m256 {
        // SAFETY: the caller's.
        unsafe { _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(part(p, mask.lanes()))) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> __m256 {
        // SAFETY: the caller's.
        unsafe { _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(p.cast()))) }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [__m256; NV], lhs: *const u8, right: &[__m256; NV]) {
        // SAFETY: the caller's.
        unsafe { F32::<__m256>::row(acc, lhs, right) }
    }
}

impl<const GROUP: usize> Scaled for F32I8x256<GROUP> {
    const GROUP: usize = GROUP;
    const ZERO_COSTS: bool = true;
    type Sums = __m256;

    #[inline(always)]
    unsafe fn start(_: i32) -> __m256 {
        // SAFETY: the caller's.
        unsafe { _mm256_setzero_ps() }
    }

    #[inline(always)]
    unsafe fn part_less(right: __m256, _: usize, zero_points: __m256) -> __m256 {
        // SAFETY: the caller's.
        unsafe { _mm256_sub_ps(right, zero_points) }
    }

    #[inline(always)]
    unsafe fn floats(products: __m256) -> __m256 {
        products
    }
}
