//! eˣ in f32: Cody and Waite's reduction by multiples of log 2 (Muller, "Elementary Functions", 3rd edition, section
//! 11.2), then 1 + r + r²·q(r) on |r| ≤ log 2 / 2, q by Chebyshev interpolation, then two exact scalings by powers of
//! two, of which the second one rounds where the result is denormal.

use crate::nest::{BinOp, CmpOp, UnOp, Value};
use crate::{Builder, Elem};

/// Beyond these the result is 0 and infinity.
const LEAST: f32 = -104.0;
const GREATEST: f32 = 89.0;
/// log 2 as a sum of two f32.
const LOG2_HIGH: f32 = f32::from_bits(0x3f31_7218);
const LOG2_LOW: f32 = -1.904_654_3e-9;
const Q: [f32; 6] = [0.5, 0.166_666_67, 0.041_666_463, 0.008_333_310_5, 0.001_393_391, 0.000_198_912_79];

pub(super) fn exp(b: &mut Builder, x: Value) -> Value {
    let f = |b: &mut Builder, x: f32| b.bits(Elem::F32, x.to_bits().into());
    let i = |b: &mut Builder, x: i32| b.bits(Elem::I32, (x as u32).into());

    let least = f(b, LEAST);
    let below = b.cmp(CmpOp::Lt, x, least);
    let x = b.select(below, least, x);
    let greatest = f(b, GREATEST);
    let above = b.cmp(CmpOp::Gt, x, greatest);
    let x = b.select(above, greatest, x);

    let per_log2 = f(b, core::f32::consts::LOG2_E);
    let n = b.bin(BinOp::Mul, x, per_log2);
    let n = b.un(UnOp::Nearest, n);
    let high = f(b, -LOG2_HIGH);
    let r = b.fma(n, high, x);
    let low = f(b, -LOG2_LOW);
    let r = b.fma(n, low, r);

    let mut q = f(b, Q[5]);
    for c in [Q[4], Q[3], Q[2], Q[1], Q[0]] {
        let c = f(b, c);
        q = b.fma(q, r, c);
    }
    let r2 = b.bin(BinOp::Mul, r, r);
    let e = b.fma(r2, q, r);
    let one = f(b, 1.0);
    let e = b.bin(BinOp::Add, e, one);

    // 2ⁿ as two powers, so that neither leaves the range of exponents.
    let n = b.cast(Elem::I32, n);
    let shift = i(b, 1);
    let half = b.bin(BinOp::Shr, n, shift);
    let rest = b.bin(BinOp::Sub, n, half);
    let mut y = e;
    for part in [half, rest] {
        let bias = i(b, 127);
        let exponent = b.bin(BinOp::Add, part, bias);
        let place = i(b, 23);
        let bits = b.bin(BinOp::Shl, exponent, place);
        let power = b.bitcast(Elem::F32, bits);
        y = b.bin(BinOp::Mul, y, power);
    }
    y
}
