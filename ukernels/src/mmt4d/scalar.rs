//! Elements of operands as they are summed, one by one.

use crate::elem::{Elem, I4x2, U4x2};
use half::{bf16, f16};

/// An element of an operand, or a byte of two.
pub(super) trait Widen<A>: Copy {
    /// As it is summed; the first one of two.
    fn widen(self) -> A;

    /// The element at `at` from `p`, as it is summed.
    ///
    /// # Safety
    /// It is readable.
    #[inline(always)]
    unsafe fn read(p: *const u8, at: isize) -> A {
        // SAFETY: the caller's.
        unsafe { p.cast::<Self>().offset(at).read_unaligned() }.widen()
    }
}

/// An element whose sign bit is flipped.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Flipped<T>(T);

/// An element of the output.
pub(super) trait Round<A>: Widen<A> {
    /// The nearest element to a sum.
    fn round(sum: A) -> Self;
}

macro_rules! widen {
    ($($t:ty => $sum:ty, $x:ident: $widen:expr;)*) => {$(
        impl Widen<$sum> for $t {
            #[inline(always)]
            fn widen(self) -> $sum {
                let $x = self;
                $widen
            }
        }
    )*};
}

widen! {
    f64 => f64, x: x;
    f32 => f32, x: x;
    f16 => f32, x: x.to_f32();
    bf16 => f32, x: x.to_f32();
    i32 => i32, x: x;
    i16 => i32, x: x.into();
    i8 => i32, x: x.into();
    u8 => i32, x: x.into();
    i8 => f32, x: x.into();
    Flipped<i8> => i32, x: x.0.flipped().into();
    Flipped<u8> => i32, x: x.0.flipped().into();
}

macro_rules! widen_nibbles {
    ($($t:ident => $sum:ty, $x:ident: $widen:expr;)*) => {$(
        impl Widen<$sum> for $t {
            #[inline(always)]
            fn widen(self) -> $sum {
                let $x = self.0;
                $widen
            }
            #[inline(always)]
            unsafe fn read(p: *const u8, at: isize) -> $sum {
                // SAFETY: the caller's; two elements share a byte.
                let byte = unsafe { p.offset(at >> 1).read() };
                Self(byte >> (4 * (at & 1))).widen()
            }
        }
    )*};
}

widen_nibbles! {
    I4x2 => i32, x: i32::from((x << 4) as i8 >> 4);
    I4x2 => f32, x: f32::from((x << 4) as i8 >> 4);
    U4x2 => i32, x: i32::from(x & 15);
}

macro_rules! round {
    ($($t:ty => $sum:ty, $x:ident: $round:expr;)*) => {$(
        impl Round<$sum> for $t {
            #[inline(always)]
            fn round($x: $sum) -> $t {
                $round
            }
        }
    )*};
}

round! {
    f64 => f64, x: x;
    f32 => f32, x: x;
    f16 => f32, x: f16::from_f32(x);
    bf16 => f32, x: bf16::from_f32(x);
    i32 => i32, x: x;
}
