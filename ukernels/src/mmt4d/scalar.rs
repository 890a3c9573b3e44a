//! Elements of operands as they are summed, one by one.

use half::{bf16, f16};

/// An element of an operand.
pub(super) trait Widen<A>: Copy {
    /// As it is summed.
    fn widen(self) -> A;
}

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
