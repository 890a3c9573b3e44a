//! tanh in f32: x + x³·p(x²) where |x| is small, by Chebyshev interpolation; beyond, 1 - 2 / (e^(2|x|) + 1) with the
//! sign of x (Muller, "Elementary Functions", 3rd edition, section 11.4, for the split).

use super::exp::exp;
use crate::nest::{BinOp, CmpOp, UnOp, Value};
use crate::{Builder, Elem};

/// Below this the polynomial is used.
const SMALL: f32 = 0.625;
const P: [f32; 6] = [-0.333_333_34, 0.133_333_04, -0.053_959_258, 0.021_768_918, -0.008_343_945, 0.002_292_744_8];

pub(super) fn tanh(b: &mut Builder, x: Value) -> Value {
    let f = |b: &mut Builder, x: f32| b.bits(Elem::F32, x.to_bits().into());

    let x2 = b.bin(BinOp::Mul, x, x);
    let mut p = f(b, P[5]);
    for c in [P[4], P[3], P[2], P[1], P[0]] {
        let c = f(b, c);
        p = b.fma(p, x2, c);
    }
    let x3 = b.bin(BinOp::Mul, x, x2);
    let near = b.fma(x3, p, x);

    let magnitude = b.un(UnOp::Abs, x);
    let twice = b.bin(BinOp::Add, magnitude, magnitude);
    let e = exp(b, twice);
    let one = f(b, 1.0);
    let below = b.bin(BinOp::Add, e, one);
    let two = f(b, 2.0);
    let quotient = b.bin(BinOp::Div, two, below);
    let far = b.bin(BinOp::Sub, one, quotient);

    let small = f(b, SMALL);
    let is_small = b.cmp(CmpOp::Lt, magnitude, small);
    let y = b.select(is_small, near, far);
    // The sign of x: also where the polynomial's result is a zero.
    let sign = b.bitcast(Elem::I32, x);
    let mask = b.bits(Elem::I32, 0x8000_0000);
    let sign = b.bin(BinOp::And, sign, mask);
    let y = b.bitcast(Elem::I32, y);
    let y = b.bin(BinOp::Or, y, sign);
    b.bitcast(Elem::F32, y)
}
