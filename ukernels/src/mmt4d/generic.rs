//! One row a type for any tile, and one more where there are rows whose right operand comes flipped: right everywhere, and
//! the tier of last resort. Each step of a float sum is rounded once,
//! so that the bits are those of the rows that have an FMA instruction.

use super::RawArgs;
use super::scalar::{Flipped, Round, Widen};
use crate::elem::{I4x2, U4x2};

/// What products are summed in.
trait Acc: Copy {
    const ZERO: Self;
    /// `x · y + self`, rounded once; wrapping for integers.
    fn fma(self, x: Self, y: Self) -> Self;
    fn add(self, y: Self) -> Self;
    /// Clamps like `if self < low { low }`.
    fn clamp(self, low: Self, high: Self) -> Self;
    /// A scale or a zero point.
    fn of(x: f32) -> Self;
}

macro_rules! float_acc {
    ($t:ty, $fma:path) => {
        impl Acc for $t {
            const ZERO: $t = 0.0;
            fn fma(self, x: $t, y: $t) -> $t {
                $fma(x, y, self)
            }
            fn add(self, y: $t) -> $t {
                self + y
            }
            fn clamp(self, low: $t, high: $t) -> $t {
                let x = if self < low { low } else { self };
                if x > high { high } else { x }
            }
            fn of(x: f32) -> $t {
                x.into()
            }
        }
    };
}

float_acc!(f32, libm::fmaf);
float_acc!(f64, libm::fma);

impl Acc for i32 {
    const ZERO: i32 = 0;
    fn fma(self, x: i32, y: i32) -> i32 {
        self.wrapping_add(x.wrapping_mul(y))
    }
    fn add(self, y: i32) -> i32 {
        self.wrapping_add(y)
    }
    fn clamp(self, low: i32, high: i32) -> i32 {
        high.min(low.max(self))
    }
    fn of(x: f32) -> i32 {
        x as i32
    }
}

/// # Safety
/// As [`Kernel`](super::Kernel) on these types; `GROUP` is how many k share a scale, 0 where there are no scales.
unsafe fn product<A: Acc, L: Widen<A>, R: Widen<A>, O: Round<A>, const GROUP: usize>(a: &RawArgs) {
    let k0 = a.tile.k0 as isize;
    let scaled = GROUP > 0;
    let per_call = GROUP == usize::MAX;
    for r in 0..a.rows as isize {
        for c in 0..a.cols as isize {
            // SAFETY: every offset is one of the formula's, which the caller vouches for.
            unsafe {
                let at = r * a.out_row_stride + c;
                let mut acc = if a.accumulate { O::read(a.out, at) } else { A::ZERO };
                if !a.init.is_null() {
                    let init = O::read(a.init, r * a.init_row_stride + c);
                    acc = if a.accumulate { acc.add(init) } else { init };
                }
                let mut group = 0;
                let mut sum = if scaled { A::ZERO } else { acc };
                for b in 0..a.batch_count {
                    let b = &*a.batches.add(b);
                    if (r as usize) < b.skip_first || r as usize >= a.rows.saturating_sub(b.skip_last) {
                        group += if per_call || !scaled { 0 } else { a.k_per_batch.div_ceil(GROUP) };
                        continue;
                    }
                    for k in 0..a.k_per_batch as isize {
                        let lhs = b.lhs + r * a.lhs_row_stride + k / k0 * a.lhs_k_stride + k % k0;
                        let rhs = b.rhs + k / k0 * a.rhs_k_stride + c * k0 + k % k0;
                        let mut right = R::read(a.rhs, rhs);
                        let place = group * a.tile.n0 + c as usize;
                        if scaled && !a.zero_points.is_null() {
                            right = right.add(A::of(-a.zero_points.add(place).read_unaligned()));
                        }
                        sum = sum.fma(L::read(a.lhs, lhs), right);
                        let last = k as usize + 1 == a.k_per_batch || (k as usize + 1).is_multiple_of(GROUP.max(1));
                        if scaled && !per_call && last {
                            acc = acc.fma(A::of(a.scales.add(place).read_unaligned()), sum);
                            (sum, group) = (A::ZERO, group + 1);
                        }
                    }
                }
                if per_call {
                    sum = acc.fma(A::of(a.scales.add(c as usize).read_unaligned()), sum);
                }
                if per_call || !scaled {
                    acc = sum;
                }
                if !a.bias.is_null() {
                    acc = acc.add(O::read(a.bias, c));
                }
                if !a.clamp.is_null() {
                    acc = acc.clamp(O::read(a.clamp, 0), O::read(a.clamp, 1));
                }
                a.out.cast::<O>().offset(at).write_unaligned(O::round(acc));
            }
        }
    }
}

macro_rules! rows {
    ($($name:ident, $acc:ty, $l:ty, $r:ty, $o:ty, $numerics:literal$(, groups of $group:expr)?;)*) => {$(
        /// # Computes
        /// The [operation](super) on the types of its name.
        /// # Operands
        /// Tile, rows, columns and strides as given; no alignment.
        /// # Needs
        /// Nothing.
        /// # Numerics
        #[doc = concat!("`", $numerics, "`.")]
        /// # Registers
        /// One accumulator.
        /// # Safety
        /// As [`Kernel`](super::Kernel) on these types.
        pub unsafe fn $name(a: &RawArgs) {
            // SAFETY: the caller's.
            unsafe { product::<$acc, $l, $r, $o, { 0 $(+ $group)? }>(a) }
        }
    )*};
}

rows! {
    mmt4d_f32f32f32_nxnxn_generic, f32, f32, f32, f32, "FusedChain";
    mmt4d_f64f64f64_nxnxn_generic, f64, f64, f64, f64, "FusedChain";
    mmt4d_f16f16f32_nxnxn_generic, f32, half::f16, half::f16, f32, "FusedChain";
    mmt4d_f16f16f16_nxnxn_generic, f32, half::f16, half::f16, half::f16, "FusedChain";
    mmt4d_bf16bf16f32_nxnxn_generic, f32, half::bf16, half::bf16, f32, "FusedChain";
    mmt4d_bf16bf16bf16_nxnxn_generic, f32, half::bf16, half::bf16, half::bf16, "FusedChain";
    mmt4d_i16i16i32_nxnxn_generic, i32, i16, i16, i32, "Exact";
    mmt4d_i16i8i32_nxnxn_generic, i32, i16, i8, i32, "Exact";
    mmt4d_i8i8i32_nxnxn_generic, i32, i8, i8, i32, "Exact";
    mmt4d_i8i8i32_nxnxn_generic_flipped, i32, i8, Flipped<i8>, i32, "Exact";
    mmt4d_u8i8i32_nxnxn_generic, i32, u8, i8, i32, "Exact";
    mmt4d_u8u8i32_nxnxn_generic, i32, u8, u8, i32, "Exact";
    mmt4d_u8u8i32_nxnxn_generic_flipped, i32, u8, Flipped<u8>, i32, "Exact";
    mmt4d_i16u4i32_nxnxn_generic, i32, i16, U4x2, i32, "Exact";
    mmt4d_i8i4i32_nxnxn_generic, i32, i8, I4x2, i32, "Exact";
    mmt4d_i8i4g32f32_nxnxn_generic, f32, i8, I4x2, f32, "FusedChain", groups of 32;
    mmt4d_f32i4g32f32_nxnxn_generic, f32, f32, I4x2, f32, "FusedChain", groups of 32;
    mmt4d_f32i4g128f32_nxnxn_generic, f32, f32, I4x2, f32, "FusedChain", groups of 128;
    mmt4d_f32i8f32_nxnxn_generic, f32, f32, i8, f32, "FusedChain", groups of usize::MAX;
    mmt4d_f32i8g32f32_nxnxn_generic, f32, f32, i8, f32, "FusedChain", groups of 32;
}
