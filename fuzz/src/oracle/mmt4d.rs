//! A row's result is the reference's.

use crate::r#gen::mmt4d::Case;
use smalti_ukernels::Host;
use smalti_ukernels::layout::flip;
use smalti_ukernels::mmt4d::reference::{self, Value, WithTypes, with_types};
use smalti_ukernels::mmt4d::{Args, Tile};
use smalti_ukernels::table::{ROWS, Row};
use std::sync::OnceLock;

/// Runs a case.
///
/// # Panics
/// The row is wrong.
pub fn judge(case: &Case) {
    let row = &ROWS[case.row];
    with_types(row.types, Judge { row, case }).unwrap_or_else(|| panic!("{}: types of no row", row.name));
}

/// The machine: found once, since that takes longer than a case.
pub(crate) fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(Host::detect)
}

struct Judge<'a> {
    row: &'static Row,
    case: &'a Case,
}

impl WithTypes for Judge<'_> {
    type Output = ();

    fn run<L: Value, R: Value, O: Value>(self) {
        let Judge { row, case } = self;
        let bound = row.bind(host()).unwrap_or_else(|e| panic!("{e}"));
        let mut operands = Operands {
            lhs: typed::<L>(&case.lhs),
            rhs: typed::<R>(&case.rhs),
            init: case.init.as_deref().map(typed::<O>),
            bias: case.bias.as_deref().map(typed::<O>),
            scales: case.scales.iter().map(|&x| x.into()).collect(),
            zero_points: case.zero_points.as_ref().map(|z| z.iter().map(|&x| x.into()).collect()),
        };
        let before = typed::<O>(&case.out);
        let (mut out, mut scratch) = (before.clone(), vec![0; row.scratch(case.tile[0])]);
        // The reference takes elements as they are.
        if row.flipped {
            flip(&mut operands.rhs);
        }
        let mut args = args(case, &operands, &mut out, &mut scratch);
        bound.run(&mut args).unwrap_or_else(|e| panic!("{case:?}: {e}"));
        if row.flipped {
            flip(&mut operands.rhs);
        }
        let (mut unused, mut no_scratch) = ([], []);
        let args = self::args(case, &operands, &mut unused, &mut no_scratch);
        for (i, (got, &before)) in out.iter().zip(&before).enumerate() {
            let stride = (case.out_stride as usize).max(1);
            let (r, c) = (i / stride, i % stride);
            if c >= case.size[1] {
                assert_eq!(got.widen(), before.widen(), "{}: wrote beside row {r}", row.name);
                continue;
            }
            let expected = reference::element(row.types, args.tile, &args, before, r, c);
            assert_eq!(got.widen(), expected.value, "{}: [{r}][{c}]", row.name);
        }
    }
}

struct Operands<L, R, O> {
    lhs: Vec<L>,
    rhs: Vec<R>,
    init: Option<Vec<O>>,
    bias: Option<Vec<O>>,
    scales: Vec<f32>,
    zero_points: Option<Vec<f32>>,
}

fn typed<T: Value>(values: &[i8]) -> Vec<T> {
    values.chunks(T::COUNT).map(|v| T::of(|i| v.get(i).copied().unwrap_or(0).into())).collect()
}

fn args<'a, L, R, O: Value>(
    case: &'a Case,
    operands: &'a Operands<L, R, O>,
    out: &'a mut [O],
    scratch: &'a mut [u8],
) -> Args<'a, L, R, O> {
    let [m0, n0, k0] = case.tile;
    Args {
        tile: Tile { m0, n0, k0 },
        rows: case.size[0],
        cols: case.size[1],
        lhs: &operands.lhs,
        lhs_row_stride: case.lhs_strides[0],
        lhs_k_stride: case.lhs_strides[1],
        rhs: &operands.rhs,
        rhs_k_stride: case.rhs_stride,
        batches: &case.batches,
        k_per_batch: case.k,
        init: operands.init.as_deref(),
        init_row_stride: case.size[1] as isize,
        bias: operands.bias.as_deref(),
        clamp: case.clamp.map(|c| c.map(|x| O::narrow(x.into()))),
        out,
        out_row_stride: case.out_stride,
        accumulate: case.accumulate,
        scales: Some(&operands.scales),
        zero_points: operands.zero_points.as_deref(),
        lhs_sums: None,
        prefetch_rhs: None,
        prefetch_out: None,
        scratch,
    }
}
