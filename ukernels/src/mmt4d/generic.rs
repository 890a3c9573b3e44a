//! One row a type for any tile: right everywhere, and the tier of last resort. Each step of a float sum is rounded once,
//! so that the bits are those of the rows that have an FMA instruction.

use super::RawArgs;
use super::scalar::{Round, Widen};

/// What products are summed in.
trait Acc: Copy {
    const ZERO: Self;
    /// `x · y + self`, rounded once; wrapping for integers.
    fn fma(self, x: Self, y: Self) -> Self;
    fn add(self, y: Self) -> Self;
    /// Clamps like `if self < low { low }`.
    fn clamp(self, low: Self, high: Self) -> Self;
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
}

/// # Safety
/// The element is readable.
unsafe fn read<A, T: Widen<A>>(p: *const u8, at: isize) -> A {
    // SAFETY: the caller's.
    unsafe { p.cast::<T>().offset(at).read_unaligned() }.widen()
}

/// # Safety
/// As [`Kernel`](super::Kernel) on these types.
unsafe fn product<A: Acc, L: Widen<A>, R: Widen<A>, O: Round<A>>(a: &RawArgs) {
    let k0 = a.tile.k0 as isize;
    for r in 0..a.rows as isize {
        for c in 0..a.cols as isize {
            // SAFETY: every offset is one of the formula's, which the caller vouches for.
            unsafe {
                let at = r * a.out_row_stride + c;
                let mut acc = if a.accumulate { read::<A, O>(a.out, at) } else { A::ZERO };
                if !a.init.is_null() {
                    let init = read::<A, O>(a.init, r * a.init_row_stride + c);
                    acc = if a.accumulate { acc.add(init) } else { init };
                }
                for b in 0..a.batch_count {
                    let b = &*a.batches.add(b);
                    if (r as usize) < b.skip_first || r as usize >= a.rows.saturating_sub(b.skip_last) {
                        continue;
                    }
                    for k in 0..a.k_per_batch as isize {
                        let lhs = b.lhs + r * a.lhs_row_stride + k / k0 * a.lhs_k_stride + k % k0;
                        let rhs = b.rhs + k / k0 * a.rhs_k_stride + c * k0 + k % k0;
                        acc = acc.fma(read::<A, L>(a.lhs, lhs), read::<A, R>(a.rhs, rhs));
                    }
                }
                if !a.bias.is_null() {
                    acc = acc.add(read::<A, O>(a.bias, c));
                }
                if !a.clamp.is_null() {
                    acc = acc.clamp(read::<A, O>(a.clamp, 0), read::<A, O>(a.clamp, 1));
                }
                a.out.cast::<O>().offset(at).write_unaligned(O::round(acc));
            }
        }
    }
}

macro_rules! rows {
    ($($name:ident, $acc:ty, $l:ty, $r:ty, $o:ty, $numerics:literal;)*) => {$(
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
            unsafe { product::<$acc, $l, $r, $o>(a) }
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
    mmt4d_u8i8i32_nxnxn_generic, i32, u8, i8, i32, "Exact";
    mmt4d_u8u8i32_nxnxn_generic, i32, u8, u8, i32, "Exact";
}
