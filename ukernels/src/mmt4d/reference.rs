//! The specification: the formula of the [operation's docs](super) in plain loops.

use super::{Args, Tile};
use crate::elem::Elem;
use crate::table::Numerics;

/// A type whose products are summed exactly enough to judge a kernel: floats in f64, integers in i64.
pub trait Wide: Copy {
    /// The value.
    fn widen(self) -> f64;
}

impl Wide for f32 {
    fn widen(self) -> f64 {
        self.into()
    }
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
    /// How far a result of class `numerics` in f32 may lie from `value`: `γ_n · Σ|terms|` with `n` the number of
    /// roundings on the longest path (Higham, "Accuracy and Stability of Numerical Algorithms", section 3.1).
    pub fn bound(&self, numerics: Numerics) -> f64 {
        let roundings = match numerics {
            Numerics::Exact => 0,
            Numerics::FusedChain => self.terms,
            Numerics::MulAdd => self.terms + 1,
        };
        let nu = roundings as f64 * f64::from(f32::EPSILON) / 2.0;
        // Results below the normal range lose up to half of the least denormal in each rounding.
        nu / (1.0 - nu) * self.magnitude + roundings as f64 * f64::from(f32::from_bits(1)) / 2.0
    }
}

/// Element `(r, c)` of the output. `before` is what `out` held.
pub fn element<T: Elem + Wide>(tile: Tile, args: &Args<'_, T, T, T>, before: T, r: usize, c: usize) -> Expected {
    let mut value = if args.accumulate { before.widen() } else { 0.0 };
    let mut magnitude = value.abs();
    let mut terms = 1;
    let mut add = |term: f64| {
        value += term;
        magnitude += term.abs();
        terms += 1;
    };
    if let Some(init) = args.init {
        add(init[at(r as isize * args.init_row_stride + c as isize)].widen());
    }
    for b in args.batches {
        if r < b.skip_first || r >= args.rows.saturating_sub(b.skip_last) {
            continue;
        }
        for k in 0..args.k_per_batch {
            let (tile_at, inner) = ((k / tile.k0) as isize, (k % tile.k0) as isize);
            let lhs = b.lhs + r as isize * args.lhs_row_stride + tile_at * args.lhs_k_stride + inner;
            let rhs = b.rhs + tile_at * args.rhs_k_stride + (c * tile.k0) as isize + inner;
            add(args.lhs[at(lhs)].widen() * args.rhs[at(rhs)].widen());
        }
    }
    if let Some(bias) = args.bias {
        add(bias[c].widen());
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
