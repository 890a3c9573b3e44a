//! The specification: the formula of the [operation's docs](super) in plain loops.

use super::{Args, Tile};
use crate::elem::{Elem, ElemType, I4x2, U4x2};
use crate::name::Types;
use crate::table::Numerics;
use half::{bf16, f16};

/// A type whose elements are also f64s.
pub trait Value: Elem {
    /// Element `i` of a value's `COUNT`.
    fn element(self, i: usize) -> f64;
    /// The value whose elements are the nearest ones; those of the same low bits for integers, in which sums wrap.
    fn of(elements: impl FnMut(usize) -> f64) -> Self;

    /// The first element.
    fn widen(self) -> f64 {
        self.element(0)
    }
    /// A value with nothing but that element.
    fn narrow(element: f64) -> Self {
        Self::of(|_| element)
    }
    /// The element at `at` of many values.
    fn get(values: &[Self], at: usize) -> f64 {
        values[at / Self::COUNT].element(at % Self::COUNT)
    }
}

macro_rules! values {
    ($($t:ty, $x:ident: $widen:expr, $narrow:expr;)*) => {$(
        impl Value for $t {
            fn element(self, _: usize) -> f64 {
                let $x = self;
                $widen
            }
            fn of(mut elements: impl FnMut(usize) -> f64) -> $t {
                let $x = elements(0);
                $narrow
            }
        }
    )*};
}

macro_rules! nibbles {
    ($($t:ident, $x:ident: $widen:expr;)*) => {$(
        impl Value for $t {
            fn element(self, i: usize) -> f64 {
                let $x = self.0 >> (4 * i) & 15;
                $widen
            }
            fn of(mut elements: impl FnMut(usize) -> f64) -> $t {
                let [low, high] = [0, 1].map(|i| elements(i) as i128 as u8 & 15);
                $t(low | high << 4)
            }
        }
    )*};
}

nibbles! {
    I4x2, x: f64::from((x << 4) as i8 >> 4);
    U4x2, x: f64::from(x);
}

values! {
    f64, x: x, x;
    f32, x: x.into(), x as f32;
    f16, x: x.to_f64(), f16::from_f64(x);
    bf16, x: x.to_f64(), bf16::from_f64(x);
    i32, x: x.into(), x as i128 as i32;
    i16, x: x.into(), x as i128 as i16;
    i8, x: x.into(), x as i128 as i8;
    u8, x: x.into(), x as i128 as u8;
}

/// What is done for the Rust types of a row.
pub trait WithTypes {
    /// What comes of it.
    type Output;
    /// Does it.
    fn run<L: Value, R: Value, O: Value>(self) -> Self::Output;
}

/// Does something with the Rust types that stand for the operands' types: none where no row has them.
pub fn with_types<W: WithTypes>(types: Types, what: W) -> Option<W::Output> {
    use ElemType::{Bf16, F16, F32, F64, I4, I8, I16, I32, U4, U8};
    Some(match types.list {
        [I8, I4, I32] => what.run::<i8, I4x2, i32>(),
        [I16, U4, I32] => what.run::<i16, U4x2, i32>(),
        [I8, I4, F32] => what.run::<i8, I4x2, f32>(),
        [F32, I4, F32] => what.run::<f32, I4x2, f32>(),
        [F32, I8, F32] => what.run::<f32, i8, f32>(),
        [F32, F32, F32] => what.run::<f32, f32, f32>(),
        [F64, F64, F64] => what.run::<f64, f64, f64>(),
        [F16, F16, F32] => what.run::<f16, f16, f32>(),
        [F16, F16, F16] => what.run::<f16, f16, f16>(),
        [Bf16, Bf16, F32] => what.run::<bf16, bf16, f32>(),
        [Bf16, Bf16, Bf16] => what.run::<bf16, bf16, bf16>(),
        [I16, I16, I32] => what.run::<i16, i16, i32>(),
        [I16, I8, I32] => what.run::<i16, i8, i32>(),
        [I8, I8, I32] => what.run::<i8, i8, i32>(),
        [U8, I8, I32] => what.run::<u8, i8, i32>(),
        [U8, U8, I32] => what.run::<u8, u8, i32>(),
        _ => return None,
    })
}

/// What one element should be, and what its error may be measured against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// The value, in f64.
    pub value: f64,
    /// The sum of the absolute values of all terms.
    pub magnitude: f64,
    /// How many terms.
    pub terms: usize,
}

impl Expected {
    /// How far a result of class `numerics` and type `out` may lie from `value`: `γ_n · Σ|terms|` with `n` the number of
    /// roundings on the longest path (Higham, "Accuracy and Stability of Numerical Algorithms", section 3.1), and the
    /// rounding to `out` where sums are wider.
    pub fn bound(&self, numerics: Numerics, out: ElemType) -> f64 {
        let f32s = (f64::from(f32::EPSILON), f64::from(f32::from_bits(1)), f64::from(f32::MIN_POSITIVE));
        let (epsilon, least, normal) =
            if out == ElemType::F64 { (f64::EPSILON, f64::from_bits(1), f64::MIN_POSITIVE) } else { f32s };
        let (roundings, flushed) = match numerics {
            Numerics::Exact => return 0.0,
            Numerics::FusedChain => (self.terms, 0.0),
            Numerics::MulAdd => (self.terms + 1, 0.0),
            Numerics::SplitK(chains) => (self.terms + usize::from(chains), 0.0),
            // A product and a sum per term; what is no normal number may become zero.
            Numerics::Bf16Dot => (2 * self.terms + 4, normal),
        };
        let nu = roundings as f64 * epsilon / 2.0;
        // Results below the normal range lose up to half of the least denormal in each rounding.
        let summed = nu / (1.0 - nu) * self.magnitude + roundings as f64 * (least / 2.0 + flushed);
        let (relative, absolute) = match out {
            ElemType::F16 => (f64::from(f16::EPSILON), f16::from_bits(1).to_f64()),
            ElemType::Bf16 => (f64::from(bf16::EPSILON), bf16::from_bits(1).to_f64()),
            _ => (0.0, 0.0),
        };
        summed + relative / 2.0 * (self.value.abs() + summed) + absolute / 2.0
    }
}

/// A sum in twice the precision (Dekker; Knuth's exact sum of two).
#[derive(Clone, Copy, Default)]
struct Sum {
    high: f64,
    low: f64,
}

impl Sum {
    fn add(&mut self, term: f64, error: f64) {
        let sum = self.high + term;
        let shadow = sum - self.high;
        // Infinities and NaNs leave no error.
        let lost = (self.high - (sum - shadow)) + (term - shadow) + error;
        self.low += if sum.is_finite() { lost } else { 0.0 };
        self.high = sum;
    }
}

/// Element `(r, c)` of the output of a row on `types`. `before` is what `out` held.
pub fn element<L: Value, R: Value, O: Value>(
    types: Types,
    tile: Tile,
    args: &Args<'_, L, R, O>,
    before: O,
    r: usize,
    c: usize,
) -> Expected {
    let mut sum = Sum::default();
    let (mut magnitude, mut terms) = (0.0, 0);
    let mut add = |x: f64, y: f64| {
        let term = x * y;
        sum.add(term, if term.is_finite() { libm::fma(x, y, -term) } else { 0.0 });
        magnitude += term.abs();
        terms += 1;
    };
    let scaled = types.scaled();
    let k_groups = scaled.map_or(0, |group| args.k_per_batch.div_ceil(group));
    add(if args.accumulate { before.widen() } else { 0.0 }, 1.0);
    if let Some(init) = args.init {
        add(init[at(r as isize * args.init_row_stride + c as isize)].widen(), 1.0);
    }
    for (i, b) in args.batches.iter().enumerate() {
        if r < b.skip_first || r >= args.rows.saturating_sub(b.skip_last) {
            continue;
        }
        for k in 0..args.k_per_batch {
            let (tile_at, inner) = ((k / tile.k0) as isize, (k % tile.k0) as isize);
            let lhs = b.lhs + r as isize * args.lhs_row_stride + tile_at * args.lhs_k_stride + inner;
            let rhs = b.rhs + tile_at * args.rhs_k_stride + (c * tile.k0) as isize + inner;
            let (left, right) = (L::get(args.lhs, at(lhs)), R::get(args.rhs, at(rhs)));
            let Some(group) = scaled else {
                add(left, right);
                continue;
            };
            if k % group == 0 {
                // The scaled sum is one more term, and one more rounding.
                add(0.0, 0.0);
            }
            // The product of two f32 is an f64.
            let place = (if group == usize::MAX { 0 } else { i * k_groups + k / group }) * tile.n0 + c;
            let scale = f64::from(args.scales.map_or(1.0, |s| s[place]));
            add(left * scale, right);
            if let Some(zero_points) = args.zero_points {
                add(left * scale, -f64::from(zero_points[place]));
            }
        }
    }
    if let Some(bias) = args.bias {
        add(bias[c].widen(), 1.0);
    }
    let mut value = sum.high + sum.low;
    if O::TYPE == ElemType::I32 {
        value = O::narrow(value).widen();
    }
    if let Some([low, high]) = args.clamp {
        let (low, high) = (low.widen(), high.widen());
        value = if value < low {
            low
        } else if value > high {
            high
        } else {
            value
        };
    }
    Expected { value, magnitude, terms }
}

fn at(offset: isize) -> usize {
    usize::try_from(offset).expect("an offset before the operand")
}
