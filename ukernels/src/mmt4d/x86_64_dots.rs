//! Products that levels of x86-64 share, on vectors of either length: what differs is the instruction that adds them.

use super::dot::{Dot, F32, Lhs, Output, sums_of_bytes};
use super::scaled::Scaled;
use super::x86_64::{I32x8, I32x16, Lanes, part, store_part, widen_bytes};
use crate::vector::Vector;
use core::arch::asm;
use core::arch::x86_64::*;
use core::marker::PhantomData;

/// Vectors of integers, and of as many floats.
///
/// # Safety
/// Every method needs a machine with the vector's instructions; loads and stores access what they say.
pub(super) trait Ints: Copy {
    /// i32 on this vector.
    type Out: Output<Acc = Self>;
    /// f32 on a vector of this length.
    type Floats: Vector<Left = Self::Floats>;

    /// One byte everywhere.
    unsafe fn of_bytes(byte: i8) -> Self;
    /// One element of 16 bits everywhere.
    unsafe fn of_halves(half: i16) -> Self;
    /// Bits of both.
    unsafe fn and(self, other: Self) -> Self;
    /// Bits of both but for those of `flipped`, which are flipped.
    unsafe fn and_xor(self, other: Self, flipped: Self) -> Self;
    /// Elements of 16 bits, shifted right by 4, 8 or 12.
    unsafe fn halves_shifted<const BY: u32>(self) -> Self;
    /// The first bytes, signed ones, as elements of 16 bits.
    unsafe fn widened(p: *const u8, mask: <Self::Out as Output>::Mask) -> Self;
    /// As many bytes as there are elements of 16 bits, as such.
    unsafe fn widened_all(p: *const u8) -> Self;
    /// Bytes of each 16 in that order, zeros where it is negative.
    unsafe fn shuffled(self, order: __m128i) -> Self;
    /// Elements of 32 bits as floats.
    unsafe fn floats(self) -> Self::Floats;
    /// Nibble `index` of each element of 32 bits, a signed one, as a float: exact.
    unsafe fn nibble(self, index: usize) -> Self::Floats;
    /// Difference.
    unsafe fn less(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// Bytes, signed ones, as floats.
    unsafe fn floats_of_bytes(p: *const u8, mask: <Self::Floats as Vector>::Mask) -> Self::Floats;
    /// As many as there are floats.
    unsafe fn floats_of_all_bytes(p: *const u8) -> Self::Floats;
    /// The bits.
    unsafe fn of_bits(floats: Self::Floats) -> Self;
    /// `p`, which is not known before the bits of `sums` are.
    unsafe fn after(p: *const u8, sums: Self) -> *const u8;
    /// [`shuffle`] on this vector.
    unsafe fn shuffle(order: __m128i, unit: usize, from: *const u8, to: *mut u8, count: usize);
}

impl Ints for __m512i {
    type Out = I32x16;
    type Floats = __m512;

    #[inline(always)]
    unsafe fn of_bytes(byte: i8) -> __m512i {
        // SAFETY: the caller's.
        unsafe { _mm512_set1_epi8(byte) }
    }

    #[inline(always)]
    unsafe fn of_halves(half: i16) -> __m512i {
        // SAFETY: the caller's.
        unsafe { _mm512_set1_epi16(half) }
    }

    #[inline(always)]
    unsafe fn and(self, other: __m512i) -> __m512i {
        // SAFETY: the caller's.
        unsafe { _mm512_and_si512(self, other) }
    }

    #[inline(always)]
    unsafe fn and_xor(self, other: __m512i, flipped: __m512i) -> __m512i {
        // The table of `(a & b) ^ c`.
        // SAFETY: the caller's.
        unsafe { _mm512_ternarylogic_epi32::<0b0110_1010>(self, other, flipped) }
    }

    #[inline(always)]
    unsafe fn halves_shifted<const BY: u32>(self) -> __m512i {
        // SAFETY: the caller's.
        unsafe { _mm512_srli_epi16::<BY>(self) }
    }

    #[inline(always)]
    unsafe fn widened(p: *const u8, mask: __mmask16) -> __m512i {
        // SAFETY: the caller's.
        unsafe { _mm512_cvtepi8_epi16(_mm256_maskz_loadu_epi16(mask, p.cast())) }
    }

    #[inline(always)]
    unsafe fn widened_all(p: *const u8) -> __m512i {
        // SAFETY: the caller's.
        unsafe { _mm512_cvtepi8_epi16(_mm256_loadu_si256(p.cast())) }
    }

    #[inline(always)]
    unsafe fn shuffled(self, order: __m128i) -> __m512i {
        // SAFETY: the caller's.
        unsafe { _mm512_shuffle_epi8(self, _mm512_broadcast_i32x4(order)) }
    }

    #[inline(always)]
    unsafe fn floats(self) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_cvtepi32_ps(self) }
    }

    /// From a table of all there are.
    #[inline(always)]
    unsafe fn nibble(self, index: usize) -> __m512 {
        // SAFETY: the caller's.
        unsafe {
            let table =
                _mm512_setr_ps(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, -8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0);
            let first = match index {
                0 => self,
                1 => _mm512_srli_epi32::<4>(self),
                2 => _mm512_srli_epi32::<8>(self),
                3 => _mm512_srli_epi32::<12>(self),
                4 => _mm512_srli_epi32::<16>(self),
                5 => _mm512_srli_epi32::<20>(self),
                6 => _mm512_srli_epi32::<24>(self),
                _ => _mm512_srli_epi32::<28>(self),
            };
            _mm512_permutexvar_ps(first, table)
        }
    }

    #[inline(always)]
    unsafe fn less(a: __m512, b: __m512) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_sub_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn floats_of_bytes(p: *const u8, mask: __mmask16) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, p.cast()))) }
    }

    #[inline(always)]
    unsafe fn floats_of_all_bytes(p: *const u8) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(p.cast()))) }
    }

    #[inline(always)]
    unsafe fn of_bits(floats: __m512) -> __m512i {
        // SAFETY: the caller's.
        unsafe { _mm512_castps_si512(floats) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    #[allow(clippy::pointers_in_nomem_asm_block, reason = "the block is empty: it reads no memory")]
    unsafe fn after(mut p: *const u8, sums: __m512i) -> *const u8 {
        // SAFETY: no instruction at all.
        unsafe {
            asm!("/* {0} {1} */", inout(reg) p, in(zmm_reg) sums, options(pure, nomem, nostack, preserves_flags))
        };
        p
    }

    #[target_feature(enable = "avx2,avx512f,avx512bw")]
    unsafe fn shuffle(order: __m128i, unit: usize, from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: the caller's.
        unsafe { shuffle::<Self>(order, unit, from, to, count) }
    }
}

impl Ints for __m256i {
    type Out = I32x8;
    type Floats = __m256;

    #[inline(always)]
    unsafe fn of_bytes(byte: i8) -> __m256i {
        // SAFETY: the caller's.
        unsafe { _mm256_set1_epi8(byte) }
    }

    #[inline(always)]
    unsafe fn of_halves(half: i16) -> __m256i {
        // SAFETY: the caller's.
        unsafe { _mm256_set1_epi16(half) }
    }

    #[inline(always)]
    unsafe fn and(self, other: __m256i) -> __m256i {
        // SAFETY: the caller's.
        unsafe { _mm256_and_si256(self, other) }
    }

    #[inline(always)]
    unsafe fn and_xor(self, other: __m256i, flipped: __m256i) -> __m256i {
        // SAFETY: the caller's.
        unsafe { _mm256_xor_si256(_mm256_and_si256(self, other), flipped) }
    }

    #[inline(always)]
    unsafe fn halves_shifted<const BY: u32>(self) -> __m256i {
        // SAFETY: the caller's.
        unsafe {
            match BY {
                4 => _mm256_srli_epi16::<4>(self),
                8 => _mm256_srli_epi16::<8>(self),
                _ => _mm256_srli_epi16::<12>(self),
            }
        }
    }

    #[inline(always)]
    unsafe fn widened(p: *const u8, lanes: usize) -> __m256i {
        // SAFETY: the caller's.
        unsafe { _mm256_cvtepi8_epi16(part(p, 2 * lanes)) }
    }

    #[inline(always)]
    unsafe fn widened_all(p: *const u8) -> __m256i {
        // SAFETY: the caller's.
        unsafe { _mm256_cvtepi8_epi16(_mm_loadu_si128(p.cast())) }
    }

    #[inline(always)]
    unsafe fn shuffled(self, order: __m128i) -> __m256i {
        // SAFETY: the caller's.
        unsafe { _mm256_shuffle_epi8(self, _mm256_broadcastsi128_si256(order)) }
    }

    #[inline(always)]
    unsafe fn floats(self) -> __m256 {
        // SAFETY: the caller's.
        unsafe { _mm256_cvtepi32_ps(self) }
    }

    /// With its sign bit flipped in the lowest bits of 2^23, from which that and 8 more are taken.
    #[inline(always)]
    unsafe fn nibble(self, index: usize) -> __m256 {
        // SAFETY: the caller's.
        unsafe {
            let first = match index {
                0 => self,
                1 => _mm256_srli_epi32::<4>(self),
                2 => _mm256_srli_epi32::<8>(self),
                3 => _mm256_srli_epi32::<12>(self),
                4 => _mm256_srli_epi32::<16>(self),
                5 => _mm256_srli_epi32::<20>(self),
                6 => _mm256_srli_epi32::<24>(self),
                _ => _mm256_srli_epi32::<28>(self),
            };
            let bias = _mm256_set1_epi32(0x4b00_0008);
            let biased = first.and_xor(_mm256_set1_epi32(15), bias);
            _mm256_sub_ps(_mm256_castsi256_ps(biased), _mm256_castsi256_ps(bias))
        }
    }

    #[inline(always)]
    unsafe fn less(a: __m256, b: __m256) -> __m256 {
        // SAFETY: the caller's.
        unsafe { _mm256_sub_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn floats_of_bytes(p: *const u8, mask: __m256i) -> __m256 {
        // SAFETY: the caller's.
        unsafe { _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(part(p, mask.lanes()))) }
    }

    #[inline(always)]
    unsafe fn floats_of_all_bytes(p: *const u8) -> __m256 {
        // SAFETY: the caller's.
        unsafe { _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(p.cast()))) }
    }

    #[inline(always)]
    unsafe fn of_bits(floats: __m256) -> __m256i {
        // SAFETY: the caller's.
        unsafe { _mm256_castps_si256(floats) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    #[allow(clippy::pointers_in_nomem_asm_block, reason = "the block is empty: it reads no memory")]
    unsafe fn after(mut p: *const u8, sums: __m256i) -> *const u8 {
        // SAFETY: no instruction at all.
        unsafe {
            asm!("/* {0} {1} */", inout(reg) p, in(ymm_reg) sums, options(pure, nomem, nostack, preserves_flags))
        };
        p
    }

    #[target_feature(enable = "avx2")]
    unsafe fn shuffle(order: __m128i, unit: usize, from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: the caller's.
        unsafe { shuffle::<Self>(order, unit, from, to, count) }
    }
}

type Mask<V> = <<V as Ints>::Out as Output>::Mask;

/// Copies bytes, of each 16 in that order, which keeps units of so many bytes apart. What is missing of the last unit reads as
/// zeros.
///
/// # Safety
/// `count` bytes are readable, and whole units writable; the machine has the vector's instructions.
#[inline(always)]
unsafe fn shuffle<V: Ints>(order: __m128i, unit: usize, from: *const u8, to: *mut u8, count: usize) {
    let mut at = 0;
    // SAFETY: the caller's; what lies beyond is not accessed.
    unsafe {
        while at + size_of::<V>() <= count {
            let v = from.add(at).cast::<V>().read_unaligned().shuffled(order);
            to.add(at).cast::<V>().write_unaligned(v);
            at += size_of::<V>();
        }
        while at < count {
            let rest = (count - at).min(16);
            let v = _mm_shuffle_epi8(part(from.add(at), rest), order);
            store_part(v, to.add(at), rest.next_multiple_of(unit));
            at += 16;
        }
    }
}

/// The instruction that adds products of pairs of i16.
///
/// # Safety
/// Its method needs a machine that has it.
pub(super) trait AddPairs {
    /// The vector.
    type Vector: Ints;
    /// See [`Dot::TWICE`].
    const TWICE: usize;

    /// `acc` and the sums of products of pairs, wrapping.
    unsafe fn add(acc: Self::Vector, left: Self::Vector, right: Self::Vector) -> Self::Vector;
}

/// The instruction that adds products of unsigned bytes with signed ones in fours, exact as far as the unsigned ones have
/// four bits.
///
/// # Safety
/// Its method needs a machine that has it.
pub(super) trait AddFours {
    /// The vector.
    type Vector: Ints;

    /// `acc` and the sums of products of fours, wrapping.
    unsafe fn add(acc: Self::Vector, unsigned: Self::Vector, signed: Self::Vector) -> Self::Vector;
}

/// i16 in pairs of k, the right operand i8 where its elements have one byte: that is widened as it is loaded.
pub(super) struct Pairs<P, const RHS: usize>(PhantomData<P>);

impl<P: AddPairs, const RHS: usize> Dot for Pairs<P, RHS> {
    const K0: usize = 2;
    const TWICE: usize = P::TWICE;
    const LHS_BYTES: usize = 2;
    const RHS_BITS: usize = 8 * RHS;
    type Out = <P::Vector as Ints>::Out;
    type Right = P::Vector;

    #[inline(always)]
    unsafe fn right(p: *const u8, mask: Mask<P::Vector>) -> P::Vector {
        // SAFETY: the caller's.
        unsafe { if RHS == 2 { Self::Out::load(p, mask) } else { P::Vector::widened(p, mask) } }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> P::Vector {
        // SAFETY: the caller's.
        unsafe { if RHS == 2 { Self::Out::load_all(p) } else { P::Vector::widened_all(p) } }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [P::Vector; NV], lhs: *const u8, right: &[P::Vector; NV]) {
        // SAFETY: the caller's.
        unsafe {
            let left = Self::Out::broadcast(lhs);
            for (acc, &right) in acc.iter_mut().zip(right) {
                *acc = P::add(*acc, left, right);
            }
        }
    }
}

/// Bytes, signed ones, in pairs of k: as pairs of i16. The left operand is widened once.
pub(super) struct BytePairs<P>(PhantomData<P>);

impl<P: AddPairs> Dot for BytePairs<P> {
    const K0: usize = 2;
    const TWICE: usize = P::TWICE;
    const LHS_BYTES: usize = 1;
    const RHS_BITS: usize = 8;
    const STEP: usize = 2;
    const STAGED: bool = true;
    type Out = <P::Vector as Ints>::Out;
    type Right = P::Vector;

    #[inline(always)]
    unsafe fn right(p: *const u8, mask: Mask<P::Vector>) -> P::Vector {
        // SAFETY: the caller's.
        unsafe { P::Vector::widened(p, mask) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> P::Vector {
        // SAFETY: the caller's.
        unsafe { P::Vector::widened_all(p) }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [P::Vector; NV], lhs: *const u8, right: &[P::Vector; NV]) {
        // SAFETY: the caller's.
        unsafe { Pairs::<P, 2>::row(acc, lhs, right) }
    }

    unsafe fn stage(from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: the caller's.
        unsafe { widen_bytes::<true>(from, to, count) }
    }
}

/// i8 on i4 in eights of k: the nibbles of the even k and of the odd ones are a part each. Their sign bits are flipped, which
/// adds 8 that times the sum of the left operand is taken back. The left operand is staged in the order of the parts.
pub(super) struct Nibbles<P>(PhantomData<P>);

impl<P: AddFours> Dot for Nibbles<P> {
    const K0: usize = 8;
    const TWICE: usize = 0;
    const LHS_BYTES: usize = 1;
    const RHS_BITS: usize = 4;
    const PARTS: usize = 2;
    const STAGED: bool = true;
    const SUMS: i32 = -8;
    type Out = <P::Vector as Ints>::Out;
    type Right = P::Vector;

    #[inline(always)]
    unsafe fn right(p: *const u8, mask: Mask<P::Vector>) -> P::Vector {
        // SAFETY: the caller's.
        unsafe { Self::Out::load(p, mask) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> P::Vector {
        // SAFETY: the caller's.
        unsafe { Self::Out::load_all(p) }
    }

    #[inline(always)]
    unsafe fn part(right: P::Vector, index: usize) -> P::Vector {
        // SAFETY: the caller's.
        unsafe {
            let nibbles = if index == 0 { right } else { right.halves_shifted::<4>() };
            nibbles.and_xor(P::Vector::of_bytes(15), P::Vector::of_bytes(8))
        }
    }

    #[inline(always)]
    unsafe fn next(rhs: *const u8, sums: P::Vector) -> *const u8 {
        // SAFETY: the caller's.
        unsafe { P::Vector::after(rhs, sums) }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [P::Vector; NV], lhs: *const u8, right: &[P::Vector; NV]) {
        // SAFETY: the caller's.
        unsafe {
            let left = Self::Out::broadcast(lhs);
            for (acc, &right) in acc.iter_mut().zip(right) {
                *acc = P::add(*acc, right, left);
            }
        }
    }

    unsafe fn sums(lhs: &Lhs, sums: &mut [i32; 16]) {
        // SAFETY: the caller's.
        unsafe { sums_of_bytes::<Self>(lhs, sums) }
    }

    /// The even ones before the odd ones.
    unsafe fn stage(from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: the caller's.
        unsafe {
            let order = _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15);
            P::Vector::shuffle(order, 8, from, to, count)
        }
    }
}

impl<P: AddFours> Scaled for Nibbles<P> {
    const GROUP: usize = 32;
    type Sums = <P::Vector as Ints>::Floats;

    #[inline(always)]
    unsafe fn start(sum: i32) -> P::Vector {
        let sum = sum.wrapping_mul(Self::SUMS);
        // SAFETY: the caller's.
        unsafe { Self::Out::broadcast((&raw const sum).cast()) }
    }

    #[inline(always)]
    unsafe fn floats(products: P::Vector) -> Self::Sums {
        // SAFETY: the caller's.
        unsafe { products.floats() }
    }
}

/// i16 on u4 in eights of k: words of four nibbles, of which each part takes one; so its pairs are of k and k + 4. The left
/// operand is staged in the order of the parts.
pub(super) struct PairsU4<P>(PhantomData<P>);

impl<P: AddPairs> Dot for PairsU4<P> {
    const K0: usize = 8;
    const TWICE: usize = 0;
    const LHS_BYTES: usize = 2;
    const RHS_BITS: usize = 4;
    const PARTS: usize = 4;
    const STAGED: bool = true;
    type Out = <P::Vector as Ints>::Out;
    type Right = P::Vector;

    #[inline(always)]
    unsafe fn right(p: *const u8, mask: Mask<P::Vector>) -> P::Vector {
        // SAFETY: the caller's.
        unsafe { Self::Out::load(p, mask) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> P::Vector {
        // SAFETY: the caller's.
        unsafe { Self::Out::load_all(p) }
    }

    #[inline(always)]
    unsafe fn part(right: P::Vector, index: usize) -> P::Vector {
        // SAFETY: the caller's.
        unsafe {
            let low = P::Vector::of_halves(15);
            match index {
                0 => right.and(low),
                1 => right.halves_shifted::<4>().and(low),
                2 => right.halves_shifted::<8>().and(low),
                _ => right.halves_shifted::<12>(),
            }
        }
    }

    #[inline(always)]
    unsafe fn next(rhs: *const u8, sums: P::Vector) -> *const u8 {
        // SAFETY: the caller's.
        unsafe { P::Vector::after(rhs, sums) }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [P::Vector; NV], lhs: *const u8, right: &[P::Vector; NV]) {
        // SAFETY: the caller's.
        unsafe { Pairs::<P, 2>::row(acc, lhs, right) }
    }

    /// In the order 0, 4, 1, 5, 2, 6, 3, 7.
    unsafe fn stage(from: *const u8, to: *mut u8, count: usize) {
        // SAFETY: the caller's.
        unsafe {
            let order = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
            P::Vector::shuffle(order, 16, from, to, 2 * count)
        }
    }
}

/// f32 on i4 in eights of k, each k a part; `GROUP` of them share a scale.
pub(super) struct F32I4<V, const GROUP: usize>(PhantomData<V>);

impl<V: Ints, const GROUP: usize> Dot for F32I4<V, GROUP> {
    const K0: usize = 8;
    const TWICE: usize = 0;
    const LHS_BYTES: usize = 4;
    const RHS_BITS: usize = 4;
    const PARTS: usize = 8;
    type Out = F32<V::Floats>;
    type Right = V::Floats;

    #[inline(always)]
    unsafe fn right(p: *const u8, mask: <V::Floats as Vector>::Mask) -> V::Floats {
        // SAFETY: the caller's.
        unsafe { Self::Out::load(p, mask) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> V::Floats {
        // SAFETY: the caller's.
        unsafe { Self::Out::load_all(p) }
    }

    #[inline(always)]
    unsafe fn part(right: V::Floats, index: usize) -> V::Floats {
        // SAFETY: the caller's.
        unsafe { V::of_bits(right).nibble(index) }
    }

    #[inline(always)]
    unsafe fn next(rhs: *const u8, sums: V::Floats) -> *const u8 {
        // SAFETY: the caller's.
        unsafe { V::after(rhs, V::of_bits(sums)) }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [V::Floats; NV], lhs: *const u8, right: &[V::Floats; NV]) {
        // SAFETY: the caller's.
        unsafe { F32::<V::Floats>::row(acc, lhs, right) }
    }
}

impl<V: Ints, const GROUP: usize> Scaled for F32I4<V, GROUP> {
    const GROUP: usize = GROUP;
    type Sums = V::Floats;

    #[inline(always)]
    unsafe fn start(_: i32) -> V::Floats {
        // SAFETY: the caller's.
        unsafe { Self::Out::zero() }
    }

    #[inline(always)]
    unsafe fn less(right: V::Floats, zero_points: V::Floats) -> V::Floats {
        // SAFETY: the caller's.
        unsafe { V::less(right, zero_points) }
    }

    #[inline(always)]
    unsafe fn floats(products: V::Floats) -> V::Floats {
        products
    }
}

/// f32 on i8, one by one; `GROUP` of k share a scale.
pub(super) struct F32I8<V, const GROUP: usize>(PhantomData<V>);

impl<V: Ints, const GROUP: usize> Dot for F32I8<V, GROUP> {
    const TWICE: usize = 8;
    const LHS_BYTES: usize = 4;
    const RHS_BITS: usize = 8;
    type Out = F32<V::Floats>;
    type Right = V::Floats;

    #[inline(always)]
    unsafe fn right(p: *const u8, mask: <V::Floats as Vector>::Mask) -> V::Floats {
        // SAFETY: the caller's.
        unsafe { V::floats_of_bytes(p, mask) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> V::Floats {
        // SAFETY: the caller's.
        unsafe { V::floats_of_all_bytes(p) }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [V::Floats; NV], lhs: *const u8, right: &[V::Floats; NV]) {
        // SAFETY: the caller's.
        unsafe { F32::<V::Floats>::row(acc, lhs, right) }
    }
}

impl<V: Ints, const GROUP: usize> Scaled for F32I8<V, GROUP> {
    const GROUP: usize = GROUP;
    type Sums = V::Floats;

    #[inline(always)]
    unsafe fn start(_: i32) -> V::Floats {
        // SAFETY: the caller's.
        unsafe { Self::Out::zero() }
    }

    #[inline(always)]
    unsafe fn less(right: V::Floats, zero_points: V::Floats) -> V::Floats {
        // SAFETY: the caller's.
        unsafe { V::less(right, zero_points) }
    }

    #[inline(always)]
    unsafe fn floats(products: V::Floats) -> V::Floats {
        products
    }
}
