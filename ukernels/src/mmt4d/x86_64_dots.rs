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
    /// Elements of 16 bits, shifted right by so many nibbles.
    unsafe fn halves_shifted(self, nibbles: usize) -> Self;
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

/// The methods that are one expression each.
macro_rules! ints {
    (
        $ints:ty, $out:ty, $floats:ty, $mask:ty, $float_mask:ty, $register:ident, $features:literal;
        of_bytes($byte:ident) $of_bytes:expr; of_halves($half:ident) $of_halves:expr;
        and($a:ident, $b:ident) $and:expr; and_xor($flipped:ident) $and_xor:expr;
        halves_shifted $shifted:ident;
        widened($p:ident, $m:ident) $widened:expr; widened_all $widened_all:expr;
        shuffled($order:ident) $shuffled:expr;
        floats $of_ints:expr; less($x:ident, $y:ident) $less:expr;
        floats_of_bytes $floats_of_bytes:expr; floats_of_all_bytes $floats_of_all_bytes:expr;
        of_bits($bits:ident) $of_bits:expr;
        nibble($v:ident) $nibble:expr, $shifted_words:ident;
    ) => {
        impl Ints for $ints {
            type Out = $out;
            type Floats = $floats;

            #[inline(always)]
            unsafe fn of_bytes($byte: i8) -> $ints {
                // SAFETY: the caller's.
                unsafe { $of_bytes }
            }

            #[inline(always)]
            unsafe fn of_halves($half: i16) -> $ints {
                // SAFETY: the caller's.
                unsafe { $of_halves }
            }

            #[inline(always)]
            unsafe fn and(self, $b: $ints) -> $ints {
                let $a = self;
                // SAFETY: the caller's.
                unsafe { $and }
            }

            #[inline(always)]
            unsafe fn and_xor(self, $b: $ints, $flipped: $ints) -> $ints {
                let $a = self;
                // SAFETY: the caller's.
                unsafe { $and_xor }
            }

            #[inline(always)]
            unsafe fn halves_shifted(self, nibbles: usize) -> $ints {
                // SAFETY: the caller's.
                unsafe {
                    match nibbles {
                        1 => $shifted::<4>(self),
                        2 => $shifted::<8>(self),
                        _ => $shifted::<12>(self),
                    }
                }
            }

            #[inline(always)]
            unsafe fn widened($p: *const u8, $m: $mask) -> $ints {
                // SAFETY: the caller's.
                unsafe { $widened }
            }

            #[inline(always)]
            unsafe fn widened_all($p: *const u8) -> $ints {
                // SAFETY: the caller's.
                unsafe { $widened_all }
            }

            #[inline(always)]
            unsafe fn shuffled(self, $order: __m128i) -> $ints {
                let $a = self;
                // SAFETY: the caller's.
                unsafe { $shuffled }
            }

            #[inline(always)]
            unsafe fn floats(self) -> $floats {
                let $a = self;
                // SAFETY: the caller's.
                unsafe { $of_ints }
            }

            #[inline(always)]
            unsafe fn less($x: $floats, $y: $floats) -> $floats {
                // SAFETY: the caller's.
                unsafe { $less }
            }

            #[inline(always)]
            unsafe fn floats_of_bytes($p: *const u8, $m: $float_mask) -> $floats {
                // SAFETY: the caller's.
                unsafe { $floats_of_bytes }
            }

            #[inline(always)]
            unsafe fn floats_of_all_bytes($p: *const u8) -> $floats {
                // SAFETY: the caller's.
                unsafe { $floats_of_all_bytes }
            }

            #[inline(always)]
            unsafe fn of_bits($bits: $floats) -> $ints {
                // SAFETY: the caller's.
                unsafe { $of_bits }
            }

            #[inline(always)]
            unsafe fn nibble(self, index: usize) -> $floats {
                // SAFETY: the caller's.
                unsafe {
                    let $v = match index {
                        0 => self,
                        1 => $shifted_words::<4>(self),
                        2 => $shifted_words::<8>(self),
                        3 => $shifted_words::<12>(self),
                        4 => $shifted_words::<16>(self),
                        5 => $shifted_words::<20>(self),
                        6 => $shifted_words::<24>(self),
                        _ => $shifted_words::<28>(self),
                    };
                    $nibble
                }
            }

            #[inline]
            #[target_feature(enable = $features)]
            #[allow(clippy::pointers_in_nomem_asm_block, reason = "the block is empty: it reads no memory")]
            unsafe fn after(mut p: *const u8, sums: $ints) -> *const u8 {
                // SAFETY: no instruction at all.
                unsafe {
                    asm!(
                        "/* {0} {1} */",
                        inout(reg) p,
                        in($register) sums,
                        options(pure, nomem, nostack, preserves_flags)
                    )
                };
                p
            }

            #[target_feature(enable = $features)]
            unsafe fn shuffle(order: __m128i, unit: usize, from: *const u8, to: *mut u8, count: usize) {
                // SAFETY: the caller's.
                unsafe { shuffle::<Self>(order, unit, from, to, count) }
            }
        }
    };
}

ints! {
    __m512i, I32x16, __m512, __mmask16, __mmask16, zmm_reg, "avx2,avx512f,avx512bw";
    of_bytes(byte) _mm512_set1_epi8(byte); of_halves(half) _mm512_set1_epi16(half);
    // The table of `(a & b) ^ c`.
    and(a, b) _mm512_and_si512(a, b); and_xor(flipped) _mm512_ternarylogic_epi32::<0b0110_1010>(a, b, flipped);
    halves_shifted _mm512_srli_epi16;
    widened(p, mask) _mm512_cvtepi8_epi16(_mm256_maskz_loadu_epi16(mask, p.cast()));
    widened_all _mm512_cvtepi8_epi16(_mm256_loadu_si256(p.cast()));
    shuffled(order) _mm512_shuffle_epi8(a, _mm512_broadcast_i32x4(order));
    floats _mm512_cvtepi32_ps(a); less(x, y) _mm512_sub_ps(x, y);
    floats_of_bytes _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, p.cast())));
    floats_of_all_bytes _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(p.cast())));
    of_bits(floats) _mm512_castps_si512(floats);
    // From a table of all there are.
    nibble(v) _mm512_permutexvar_ps(
        v,
        _mm512_setr_ps(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, -8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0),
    ), _mm512_srli_epi32;
}

/// 2^23, whose lowest bit counts ones, and 8 more: a nibble with its sign bit flipped is put there, and they are taken from it.
const NIBBLE: i32 = 0x4b00_0008;

ints! {
    __m256i, I32x8, __m256, usize, __m256i, ymm_reg, "avx2";
    of_bytes(byte) _mm256_set1_epi8(byte); of_halves(half) _mm256_set1_epi16(half);
    and(a, b) _mm256_and_si256(a, b); and_xor(flipped) _mm256_xor_si256(_mm256_and_si256(a, b), flipped);
    halves_shifted _mm256_srli_epi16;
    widened(p, lanes) _mm256_cvtepi8_epi16(part(p, 2 * lanes)); widened_all _mm256_cvtepi8_epi16(_mm_loadu_si128(p.cast()));
    shuffled(order) _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(order));
    floats _mm256_cvtepi32_ps(a); less(x, y) _mm256_sub_ps(x, y);
    floats_of_bytes _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(part(p, lanes.lanes())));
    floats_of_all_bytes _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(p.cast())));
    of_bits(floats) _mm256_castps_si256(floats);
    nibble(v) _mm256_sub_ps(
        _mm256_castsi256_ps(v.and_xor(_mm256_set1_epi32(15), _mm256_set1_epi32(NIBBLE))),
        _mm256_castsi256_ps(_mm256_set1_epi32(NIBBLE)),
    ), _mm256_srli_epi32;
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
            let nibbles = if index == 0 { right } else { right.halves_shifted(1) };
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
                1 => right.halves_shifted(1).and(low),
                2 => right.halves_shifted(2).and(low),
                _ => right.halves_shifted(3),
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
