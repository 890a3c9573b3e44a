//! A row's result is the reference's: operands are sixteenths below 8, so that sums of as many products as a case has are
//! exact in f32, in whatever order and however they are rounded.

use crate::r#gen::mmt4d::Case;
use smalti_ukernels::Host;
use smalti_ukernels::mmt4d::{Args, Tile, reference};
use smalti_ukernels::table::ROWS;

/// Runs a case.
///
/// # Panics
/// The row is wrong.
pub fn judge(case: &Case) {
    let row = &ROWS[case.row];
    let bound = row.bind(&Host::detect()).unwrap_or_else(|e| panic!("{e}"));
    let [m0, n0, k0] = case.tile;
    let mut out = case.out.clone();
    let mut args = args(case, Tile { m0, n0, k0 }, &mut out);
    bound.run(&mut args).unwrap_or_else(|e| panic!("{case:?}: {e}"));
    let mut unused = [];
    let args = self::args(case, Tile { m0, n0, k0 }, &mut unused);
    for (i, (got, before)) in out.iter().zip(&case.out).enumerate() {
        let stride = (case.out_stride as usize).max(1);
        let (r, c) = (i / stride, i % stride);
        if c >= case.size[1] {
            assert_eq!(got.to_bits(), before.to_bits(), "{}: wrote beside row {r}", row.name);
            continue;
        }
        let expected = reference::element(Tile { m0, n0, k0 }, &args, *before, r, c);
        assert_eq!(f64::from(*got), expected.value, "{}: [{r}][{c}]", row.name);
    }
}

fn args<'a>(case: &'a Case, tile: Tile, out: &'a mut [f32]) -> Args<'a, f32, f32, f32> {
    Args {
        tile,
        rows: case.size[0],
        cols: case.size[1],
        lhs: &case.lhs,
        lhs_row_stride: case.lhs_strides[0],
        lhs_k_stride: case.lhs_strides[1],
        rhs: &case.rhs,
        rhs_k_stride: case.rhs_stride,
        batches: &case.batches,
        k_per_batch: case.k,
        init: case.init.as_deref(),
        init_row_stride: case.size[1] as isize,
        bias: case.bias.as_deref(),
        clamp: case.clamp,
        out,
        out_row_stride: case.out_stride,
        accumulate: case.accumulate,
        scales: None,
        prefetch_rhs: None,
        prefetch_out: None,
        scratch: &mut [],
    }
}
