//! What every `mmt4d` row must do.

use super::Rng;
use super::guard::{Guarded, Side};
use smalti_ukernels::elem::ElemType;
use smalti_ukernels::layout::flip;
use smalti_ukernels::mmt4d::reference::{self, Value, WithTypes};
use smalti_ukernels::mmt4d::{Args, ArgsError, Batch, Tile};
use smalti_ukernels::name::Types;
use smalti_ukernels::table::{Bound, Numerics};

/// The hash of the f32 product in [`chain`]: one for all rows that chain fused multiply-adds in order.
const FUSED_CHAIN_F32: u64 = 0xc509_e696_54bb_9559;

/// Every test of a row, with the Rust types of its operands.
pub(crate) struct All(pub(crate) Bound);

impl WithTypes for All {
    type Output = ();

    fn run<L: Value, R: Value, O: Value>(self) {
        all::<L, R, O>(self.0);
    }
}

fn all<L: Value, R: Value, O: Value>(row: Bound) {
    let odd = [(3, 5, 7usize), (1, 1, 1), (4, 8, 1), (2, 3, 4), (14, 32, 1)];
    for (m0, n0, k0) in odd {
        let tile = row.tile(Tile { m0, n0, k0: k0.next_multiple_of(R::COUNT) });
        for seed in 0..60 {
            sampled::<L, R, O>(row, tile, seed);
        }
        edges::<L, R, O>(row, tile);
        if row.row().tile[0] != smalti_ukernels::name::Dim::Runtime {
            break;
        }
    }
    nothing_is_read_where_there_is_no_element::<L, R, O>(row);
    refusals::<L, R, O>(row);
    if R::TYPE.is_float() {
        special_values::<L, R, O>(row);
    }
    if row.row().numerics == Numerics::FusedChain {
        let [got, wanted] = chain::<L, R, O>(row).map(|out| fnv1a(&out));
        assert_eq!(got, wanted);
        assert!(R::TYPE != ElemType::F32 || got == FUSED_CHAIN_F32);
    }
}

/// One problem: operands of just the length that the formula reaches, and everything optional on or off.
struct Case<L, R, O> {
    tile: Tile,
    rows: usize,
    cols: usize,
    k: usize,
    lhs: Vec<L>,
    lhs_row_stride: isize,
    lhs_k_stride: isize,
    rhs: Vec<R>,
    rhs_k_stride: isize,
    batches: Vec<Batch>,
    init: Option<Vec<O>>,
    init_row_stride: isize,
    bias: Option<Vec<O>>,
    clamp: Option<[O; 2]>,
    out: Vec<O>,
    out_row_stride: isize,
    accumulate: bool,
    /// Of the right operand, for types that have them.
    scales: Option<Vec<f32>>,
    zero_points: Option<Vec<f32>>,
    /// Sums of the left operand's rows, for rows that take them.
    sums: Option<Vec<i32>>,
}

/// The bits of a value.
fn bits<T: Value>(x: T) -> u64 {
    let mut bytes = [0; 8];
    // SAFETY: an element has at most eight bytes, none of them padding.
    unsafe { std::ptr::copy_nonoverlapping((&raw const x).cast::<u8>(), bytes.as_mut_ptr(), size_of::<T>()) };
    u64::from_le_bytes(bytes)
}

/// A value outside what may be read or written: a NaN of the float types.
fn canary<T: Value>() -> T {
    let bytes = 0x7ffe_a17e_7ffe_a17e_u64.to_le_bytes();
    // SAFETY: every pattern of bits is a value of every element type, and none is longer.
    unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }
}

/// A value that sums of a few hundred products are exact with.
fn integer<T: Value>(rng: &mut Rng) -> T {
    let low = if matches!(T::TYPE, ElemType::U8 | ElemType::U4) { 0.0 } else { -8.0 };
    let count = if T::COUNT > 1 { 16 } else { 17 };
    T::of(|_| rng.below(count) as f64 + low)
}

/// A float between -1 and 1, or any integer: sums of these wrap.
fn any<T: Value>(rng: &mut Rng) -> T {
    T::of(|_| if T::TYPE.is_float() { f64::from(rng.real()) } else { (rng.next() >> 32) as f64 })
}

impl<L: Value, R: Value, O: Value> Case<L, R, O> {
    fn sample(
        types: Types,
        tile: Tile,
        rng: &mut Rng,
        k: usize,
        rows: usize,
        cols: usize,
        real: bool,
    ) -> Case<L, R, O> {
        fn value<T: Value>(rng: &mut Rng, real: bool) -> T {
            if real { any(rng) } else { integer(rng) }
        }
        let k_tiles = k.div_ceil(tile.k0);
        let packed = rng.chance(2);
        let (lhs_row_stride, lhs_k_stride) =
            if packed { (tile.k0, tile.m0 * tile.k0) } else { (k_tiles * tile.k0 + rng.below(3), tile.k0) };
        let whole = |elements: usize| elements / R::COUNT * R::COUNT;
        let rhs_k_stride =
            cols * tile.k0 + if rng.chance(2) { (tile.n0 - cols) * tile.k0 } else { whole(rng.below(5)) };
        let count = rng.below(4);
        let lhs_len = |from: usize, to: usize| {
            if from >= to || k == 0 || cols == 0 {
                0
            } else {
                (to - 1) * lhs_row_stride + (k_tiles - 1) * lhs_k_stride + (k - 1) % tile.k0 + 1
            }
        };
        let rhs_len = if k == 0 || rows == 0 || cols == 0 {
            0
        } else {
            (k_tiles - 1) * rhs_k_stride + (cols - 1) * tile.k0 + (k - 1) % tile.k0 + 1
        };
        // A tap in the padding begins before the operand: its first rows are skipped.
        let batches: Vec<Batch> = (0..count)
            .map(|_| {
                let skip_first = if rng.chance(3) { rng.below(rows + 1) } else { 0 };
                let skip_last = if rng.chance(3) { rng.below(rows + 1) } else { 0 };
                let shift = rng.below(3) as isize;
                Batch {
                    lhs: shift - (skip_first * lhs_row_stride) as isize,
                    rhs: whole(rng.below(3)) as isize,
                    skip_first,
                    skip_last,
                }
            })
            .collect();
        let reach = |b: &Batch| match lhs_len(b.skip_first, rows.saturating_sub(b.skip_last)) {
            0 => 0,
            len => len as isize + b.lhs,
        };
        let lhs_needs = batches.iter().map(reach).max().unwrap_or(0).max(0) as usize;
        let active = |b: &&Batch| b.skip_first < rows.saturating_sub(b.skip_last);
        let rhs_needs = batches
            .iter()
            .filter(active)
            .map(|b| if rhs_len == 0 { 0 } else { rhs_len + b.rhs as usize })
            .max()
            .unwrap_or(0);
        let lhs = (0..lhs_needs).map(|_| value(rng, real)).collect();
        let rhs = (0..rhs_needs.div_ceil(R::COUNT)).map(|_| value(rng, real)).collect();
        let groups = types.groups(batches.len(), k);
        // Powers of two and whole numbers keep sums of integers exact.
        let scale = |rng: &mut Rng| if real { rng.real() } else { [0.5, 1.0, 2.0, -1.0][rng.below(4)] };
        let panel = groups.map(|groups| if groups == 0 || cols == 0 { 0 } else { (groups - 1) * tile.n0 + cols });
        let scales = panel.map(|len| (0..len).map(|_| scale(rng)).collect());
        let zero_points =
            panel.filter(|_| rng.chance(2)).map(|len| (0..len).map(|_| rng.below(17) as f32 - 8.0).collect());
        let init = rng.chance(3).then(|| (0..rows * cols).map(|_| value(rng, real)).collect());
        let bias = rng.chance(3).then(|| (0..cols).map(|_| value(rng, real)).collect());
        let clamp = rng.chance(3).then(|| if real { [-0.5, 0.75] } else { [-3.0, 40.0] }.map(O::narrow));
        let out_row_stride = cols + rng.below(4);
        let mut out = vec![canary::<O>(); if rows == 0 || cols == 0 { 0 } else { (rows - 1) * out_row_stride + cols }];
        for r in 0..rows {
            for c in 0..cols {
                out[r * out_row_stride + c] = value(rng, real);
            }
        }
        let mut case = Case {
            tile,
            rows,
            cols,
            k,
            lhs,
            lhs_row_stride: lhs_row_stride as isize,
            lhs_k_stride: lhs_k_stride as isize,
            rhs,
            rhs_k_stride: rhs_k_stride as isize,
            batches,
            init,
            init_row_stride: if rows > 0 && rng.chance(3) { 0 } else { cols as isize },
            bias,
            clamp,
            out,
            out_row_stride: out_row_stride as isize,
            accumulate: rng.chance(2),
            scales,
            zero_points,
            sums: None,
        };
        case.sums = (!L::TYPE.is_float() && rng.chance(2)).then(|| case.sums(types));
        case
    }

    /// Sums of the left operand's rows, for each group where there are some.
    fn sums(&self, types: Types) -> Vec<i32> {
        let (m0, active) = (self.tile.m0, if self.cols == 0 { 0 } else { self.rows });
        let group = types.scaled().unwrap_or(usize::MAX);
        let k_groups = if group == usize::MAX { 0 } else { self.k.div_ceil(group) };
        let groups = types.groups(self.batches.len(), self.k).unwrap_or(1).max(1);
        let mut sums = vec![0i32; if active == 0 { 0 } else { (groups - 1) * m0 + active }];
        for (i, b) in self.batches.iter().enumerate() {
            for r in b.skip_first..active.min(self.rows.saturating_sub(b.skip_last)) {
                for k in 0..self.k {
                    let (tile, inner) = ((k / self.tile.k0) as isize, (k % self.tile.k0) as isize);
                    let at = b.lhs + r as isize * self.lhs_row_stride + tile * self.lhs_k_stride + inner;
                    let sum = &mut sums[(i * k_groups + k / group) * m0 + r];
                    *sum = sum.wrapping_add(L::get(&self.lhs, at as usize) as i32);
                }
            }
        }
        sums
    }

    fn args<'a>(&'a self, lhs: &'a [L], rhs: &'a [R], out: &'a mut [O], scratch: &'a mut [u8]) -> Args<'a, L, R, O> {
        Args {
            tile: self.tile,
            rows: self.rows,
            cols: self.cols,
            lhs,
            lhs_row_stride: self.lhs_row_stride,
            lhs_k_stride: self.lhs_k_stride,
            rhs,
            rhs_k_stride: self.rhs_k_stride,
            batches: &self.batches,
            k_per_batch: self.k,
            init: self.init.as_deref(),
            init_row_stride: self.init_row_stride,
            bias: self.bias.as_deref(),
            clamp: self.clamp,
            out,
            out_row_stride: self.out_row_stride,
            accumulate: self.accumulate,
            scales: self.scales.as_deref(),
            zero_points: self.zero_points.as_deref(),
            lhs_sums: self.sums.as_deref().filter(|_| self.cols > 0),
            prefetch_rhs: Some(rhs),
            prefetch_out: None,
            scratch,
        }
    }

    /// Runs with guard pages on `side`, and compares each element with the reference.
    fn check(&self, row: Bound, side: Side, exact: bool, what: &str) {
        let lhs = Guarded::new(&self.lhs, side);
        let mut panels = self.rhs.clone();
        if row.row().flipped {
            flip(&mut panels);
        }
        let rhs = Guarded::new(&panels, side);
        let mut out = Guarded::new(&self.out, side);
        let mut scratch = Guarded::new(&vec![0xa5; row.row().scratch(self.tile.m0)], side);
        row.run(&mut self.args(lhs.get(), rhs.get(), out.get_mut(), scratch.get_mut()))
            .unwrap_or_else(|e| panic!("{what}: {e}"));
        let got = out.get();
        let (mut unused, mut no_scratch) = ([], []);
        let args = self.args(&self.lhs, &self.rhs, &mut unused, &mut no_scratch);
        for (i, (got, before)) in got.iter().zip(&self.out).enumerate() {
            let stride = (self.out_row_stride as usize).max(1);
            let (r, c) = (i / stride, i % stride);
            if c >= self.cols {
                assert_eq!(bits(*got), bits(canary::<O>()), "{what}: wrote beside row {r}, column {c}");
                continue;
            }
            let expected = reference::element(row.row().types, self.tile, &args, *before, r, c);
            let bound = expected.bound(row.row().numerics, O::TYPE);
            // Integers that the output's type can't hold are rounded all the same.
            let value = if exact { O::narrow(expected.value).widen() } else { expected.value };
            let (got, bound) = (got.widen(), if exact { 0.0 } else { bound });
            assert!((got - value).abs() <= bound, "{what}: [{r}][{c}] is {got}, expected {value} ± {bound:e}");
        }
    }
}

fn sampled<L: Value, R: Value, O: Value>(row: Bound, tile: Tile, seed: u64) {
    let mut rng = Rng::new(seed);
    // Rows that convert the left operand do so in blocks of k; generic ones are slow, and have none.
    let runtime = row.row().tile[0] == smalti_ukernels::name::Dim::Runtime;
    let k = [0, 1, 2, 3, 7, 13, 31, 64, 97, 300][rng.below(if runtime { 9 } else { 10 })];
    let (rows, cols) =
        if rng.chance(2) { (tile.m0, tile.n0) } else { (1 + rng.below(tile.m0), 1 + rng.below(tile.n0)) };
    let real = rng.chance(2);
    let case = Case::<L, R, O>::sample(row.row().types, tile, &mut rng, k, rows, cols, real);
    for side in [Side::Before, Side::After] {
        let what = format!("{} {tile:?} seed {seed} {side:?} rows {rows} cols {cols} k {k}", row.row().name);
        case.check(row, side, !real, &what);
    }
}

/// Every valid part of the tile, with k = 0 and a few others, at least one batch, and a guard page on either side.
fn edges<L: Value, R: Value, O: Value>(row: Bound, tile: Tile) {
    let mut rng = Rng::new(7);
    for rows in 0..=tile.m0 {
        for cols in 0..=tile.n0 {
            for k in [0, 1, 5] {
                let case = loop {
                    let case = Case::<L, R, O>::sample(row.row().types, tile, &mut rng, k, rows, cols, false);
                    if !case.batches.is_empty() {
                        break case;
                    }
                };
                for side in [Side::Before, Side::After] {
                    let what = format!("{} {tile:?} rows {rows} cols {cols} k {k} {side:?}", row.row().name);
                    case.check(row, side, true, &what);
                }
            }
        }
    }
}

/// A tile without columns or without rows reads no operand: they end at a guard page before their first element, and
/// slices may be empty.
fn nothing_is_read_where_there_is_no_element<L: Value, R: Value, O: Value>(row: Bound) {
    let tile = row.tile(Tile { m0: 2, n0: 8, k0: R::COUNT });
    for [rows, cols] in [[tile.m0, 0], [0, tile.n0]] {
        let mut case = Case::<L, R, O>::sample(row.row().types, tile, &mut Rng::new(1), 5, rows, cols, false);
        case.batches = vec![Batch::default()];
        (case.lhs, case.rhs, case.bias, case.init) = (Vec::new(), Vec::new(), None, None);
        case.check(row, Side::After, true, row.row().name);
        // An address that nothing may be read at.
        let (bias, init): (&[O], &[O]) = (&[], &[]);
        let mut scratch = vec![0; row.row().scratch(tile.m0)];
        let mut args = case.args(&case.lhs, &case.rhs, &mut [], &mut scratch);
        (args.bias, args.init, args.out_row_stride) = (Some(bias), Some(init), tile.n0 as isize);
        row.run(&mut args).unwrap();
    }
}

/// NaN, infinities and the sign of zero go through accumulation, bias and clamp as IEEE 754 says.
fn special_values<L: Value, R: Value, O: Value>(row: Bound) {
    let tile = row.tile(Tile { m0: 2, n0: 8, k0: R::COUNT });
    let all = |lhs: f64, rhs: f64, init: f64, bias: Option<f64>, clamp: Option<[f64; 2]>, accumulate: bool| {
        let lhs = vec![L::narrow(lhs); tile.m0 * tile.k0];
        let rhs = vec![R::narrow(rhs); tile.n0 * tile.k0];
        let (start, bias) = (vec![O::narrow(init); tile.n0], bias.map(|b| vec![O::narrow(b); tile.n0]));
        let mut out = vec![if accumulate { O::narrow(init) } else { canary() }; tile.m0 * tile.n0];
        let scales = vec![1.0; tile.n0];
        let mut args = Args {
            tile,
            rows: tile.m0,
            cols: tile.n0,
            lhs: &lhs,
            lhs_row_stride: tile.k0 as isize,
            lhs_k_stride: (tile.m0 * tile.k0) as isize,
            rhs: &rhs,
            rhs_k_stride: (tile.n0 * tile.k0) as isize,
            batches: &[Batch::default()],
            k_per_batch: 1,
            init: (!accumulate).then_some(&start[..]),
            init_row_stride: 0,
            bias: bias.as_deref(),
            clamp: clamp.map(|c| c.map(O::narrow)),
            out: &mut out,
            out_row_stride: tile.n0 as isize,
            accumulate,
            scales: Some(&scales),
            zero_points: None,
            lhs_sums: None,
            prefetch_rhs: None,
            prefetch_out: None,
            scratch: &mut vec![0; row.row().scratch(tile.m0)],
        };
        row.run(&mut args).unwrap();
        let nan = |x: O| x.widen().is_nan();
        assert!(out.iter().all(|&x| bits(x) == bits(out[0]) || nan(x) && nan(out[0])));
        out[0].widen()
    };
    let run = |lhs, rhs, init, clamp| {
        let (fresh, added) = (all(lhs, rhs, init, None, clamp, false), all(lhs, rhs, init, None, clamp, true));
        assert!(fresh.to_bits() == added.to_bits() || fresh.is_nan() && added.is_nan(), "{fresh} and {added}");
        fresh
    };
    let inf = f64::INFINITY;
    assert!(all(1.0, 1.0, 0.0, Some(f64::NAN), Some([0.0, 6.0]), false).is_nan(), "a NaN in the bias stays");
    assert!(all(1.0, inf, 0.0, Some(-inf), None, false).is_nan(), "inf - inf is NaN");
    assert!(run(0.0, f64::NAN, 1.0, None).is_nan(), "0 · NaN is NaN");
    assert!(run(0.0, inf, 1.0, None).is_nan(), "0 · inf is NaN");
    assert_eq!(run(1.0, inf, 1.0, None), inf);
    assert!(run(1.0, f64::NAN, 1.0, Some([0.0, 6.0])).is_nan(), "clamp keeps NaN");
    assert_eq!(run(1.0, inf, 1.0, Some([0.0, 6.0])), 6.0);
    assert_eq!(run(-1.0, inf, 1.0, Some([0.0, 6.0])), 0.0);
    // A chain that begins with 0 takes the sign away, and so may an instruction for pairs.
    if !matches!(row.row().numerics, Numerics::SplitK(_) | Numerics::Bf16Dot) {
        assert_eq!(
            run(0.0, -1.0, -0.0, Some([0.0, 6.0])).to_bits(),
            (-0.0f64).to_bits(),
            "-0 stays, also in the clamp"
        );
    }
    let tiny = least::<R>();
    let expected = if row.row().numerics == Numerics::Bf16Dot { 0.0 } else { O::narrow(tiny).widen() };
    assert_eq!(run(1.0, tiny, 0.0, None), expected, "denormals are what the class says");
}

/// The least denormal.
fn least<T: Value>() -> f64 {
    match T::TYPE {
        ElemType::F64 => f64::from_bits(1),
        ElemType::F32 => f32::from_bits(1).into(),
        ElemType::F16 => 2.0f64.powi(-24),
        ElemType::Bf16 => 2.0f64.powi(-133),
        other => panic!("{} has no denormals", other.name()),
    }
}

/// Arguments that don't fit are refused, and nothing is written.
fn refusals<L: Value, R: Value, O: Value>(row: Bound) {
    let tile = row.tile(Tile { m0: 2, n0: 8, k0: R::COUNT });
    let k0 = tile.k0;
    let case = {
        let mut rng = Rng::new(3);
        let mut case = Case::<L, R, O>::sample(row.row().types, tile, &mut rng, 4 * k0, tile.m0, tile.n0, false);
        case.batches = vec![Batch::default()];
        case.lhs = vec![L::narrow(1.0); 4 * tile.m0 * k0];
        (case.lhs_row_stride, case.lhs_k_stride) = (k0 as isize, (tile.m0 * k0) as isize);
        case.rhs = vec![R::narrow(1.0); 4 * tile.n0 * k0 / R::COUNT];
        case.scales = case.scales.map(|_| vec![1.0; case.k.max(1) * tile.n0]);
        (case.zero_points, case.sums) = (None, None);
        case.rhs_k_stride = (tile.n0 * k0) as isize;
        case
    };
    let before = case.out.clone();
    let refused = |change: &dyn Fn(&mut Args<'_, L, R, O>)| {
        let mut out = before.clone();
        let mut scratch = vec![0; row.row().scratch(tile.m0)];
        let mut args = case.args(&case.lhs, &case.rhs, &mut out, &mut scratch);
        change(&mut args);
        let error = row.run(&mut args).unwrap_err();
        let bits = |v: &[O]| v.iter().map(|x| bits(*x)).collect::<Vec<_>>();
        assert_eq!(bits(&out), bits(&before));
        error
    };
    let operand = |e: ArgsError| match e {
        ArgsError::Bounds { operand, .. } => operand,
        other => panic!("{other}"),
    };
    assert_eq!(operand(refused(&|a| a.k_per_batch += 1)), "lhs");
    assert_eq!(operand(refused(&|a| a.lhs = &a.lhs[1..])), "lhs");
    assert_eq!(operand(refused(&|a| a.rhs = &a.rhs[1..])), "rhs");
    assert_eq!(operand(refused(&|a| a.lhs_k_stride = isize::MIN)), "lhs");
    assert_eq!(operand(refused(&|a| a.rhs_k_stride = isize::MAX - 1)), "rhs");
    assert_eq!(operand(refused(&|a| a.bias = Some(&[]))), "bias");
    assert_eq!(operand(refused(&|a| a.init = Some(&[]))), "init");
    assert!(matches!(refused(&|a| a.rows += 1), ArgsError::Tile { .. }));
    // A depth of a tile so large that products of sizes wrap.
    let huge = |a: &mut Args<'_, L, R, O>| {
        a.tile.k0 = usize::MAX / 3 + 1;
        a.k_per_batch = 1;
        a.rhs = &a.rhs[..1];
    };
    if row.row().tile[0] == smalti_ukernels::name::Dim::Runtime {
        assert_eq!(operand(refused(&huge)), "rhs");
    }
    if row.row().sums {
        assert_eq!(operand(refused(&|a| a.lhs_sums = Some(&[]))), "lhs_sums");
    }
    if row.row().types.scaled().is_some() {
        assert_eq!(operand(refused(&|a| a.scales = Some(&[]))), "scales");
        assert_eq!(operand(refused(&|a| a.zero_points = Some(&[]))), "zero_points");
        assert!(matches!(refused(&|a| a.scales = None), ArgsError::Scales { .. }));
    }
    if R::COUNT > 1 {
        assert!(matches!(refused(&|a| a.rhs_k_stride += 1), ArgsError::Nibble { .. }));
        let batches = [Batch { rhs: 1, ..Batch::default() }];
        let mut out = before.clone();
        let mut scratch = vec![0; row.row().scratch(tile.m0)];
        let args = case.args(&case.lhs, &case.rhs, &mut out, &mut scratch);
        assert!(matches!(row.run(&mut Args { batches: &batches, ..args }), Err(ArgsError::Nibble { .. })));
    }
    if row.row().scratch(tile.m0) > 0 {
        assert!(matches!(refused(&|a| a.scratch = &mut []), ArgsError::Scratch { .. }));
    }
    if tile.m0 > 1 {
        assert!(matches!(refused(&|a| a.out_row_stride = a.cols as isize - 1), ArgsError::OutStride { .. }));
    }
}

/// A product whose hash is committed.
struct Chain<L> {
    lhs: Vec<L>,
    /// The elements of the right operand, `[K][N]`.
    rhs: Vec<f64>,
    /// For types that have them, `[groups][N]`.
    scales: Vec<f32>,
    zero_points: Vec<f32>,
    /// Elements of k that share one.
    group: usize,
}

const CHAIN_M: usize = 29;
const CHAIN_N: usize = 67;
const CHAIN_K: usize = 53;

impl<L: Value> Chain<L> {
    fn new<R: Value>(types: Types) -> Chain<L> {
        let mut rng = Rng::new(2024);
        let lhs = (0..CHAIN_M * CHAIN_K).map(|_| any(&mut rng)).collect();
        let rhs = (0..CHAIN_K * CHAIN_N).map(|_| any::<R>(&mut rng).widen()).collect();
        let group = types.scaled().unwrap_or(usize::MAX);
        let panel = types.groups(1, CHAIN_K).unwrap_or(0) * CHAIN_N;
        let scales = (0..panel).map(|_| rng.real()).collect();
        Chain { lhs, rhs, scales, zero_points: (0..panel).map(|_| rng.below(17) as f32 - 8.0).collect(), group }
    }

    /// One fused multiply-add per k, in ascending k, in f32 or f64; where there are scales, from 0 for each group, which one
    /// more multiply-add adds. Then one rounding.
    fn definition<O: Value>(&self) -> Vec<O> {
        let element = |at: usize| {
            let (i, j) = (at / CHAIN_N, at % CHAIN_N);
            let pair = |k: usize| (self.lhs[i * CHAIN_K + k].widen(), self.rhs[k * CHAIN_N + j]);
            let chain = |ks: std::ops::Range<usize>, zero_point: f32| {
                ks.map(pair).fold(0.0f32, |acc, (x, y)| (x as f32).mul_add(y as f32 - zero_point, acc))
            };
            if O::TYPE == ElemType::F64 {
                return (0..CHAIN_K).map(pair).fold(0.0, |acc, (x, y)| x.mul_add(y, acc));
            }
            if self.scales.is_empty() {
                return chain(0..CHAIN_K, 0.0).into();
            }
            let groups = self.scales.chunks(CHAIN_N).zip(self.zero_points.chunks(CHAIN_N)).enumerate();
            let sum = groups.fold(0.0f32, |acc, (g, (scales, zero_points))| {
                let end = (g + 1).saturating_mul(self.group).min(CHAIN_K);
                scales[j].mul_add(chain(g * self.group.min(CHAIN_K)..end, zero_points[j]), acc)
            });
            sum.into()
        };
        (0..CHAIN_M * CHAIN_N).map(|at| O::narrow(element(at))).collect()
    }
}

/// The committed hash is that of the definition, by the standard library's `mul_add`.
pub(crate) fn hash_is_that_of_the_definition() {
    let chain = Chain::<f32>::new::<f32>(Types::new([ElemType::F32; 3]));
    assert_eq!(fnv1a(&chain.definition::<f32>()), FUSED_CHAIN_F32);
}

fn fnv1a<T: Value>(values: &[T]) -> u64 {
    values
        .iter()
        .flat_map(|&x| bits(x).to_le_bytes().into_iter().take(size_of::<T>()))
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// A 29 x 67 product of depth 53, tile by tile with the row's own tile, and what it should be.
fn chain<L: Value, R: Value, O: Value>(row: Bound) -> [Vec<O>; 2] {
    let (m, n, k) = (CHAIN_M, CHAIN_N, CHAIN_K);
    let chain = Chain::<L>::new::<R>(row.row().types);
    let mut out = vec![O::narrow(0.0); m * n];
    let tile = row.tile(Tile { m0: 3, n0: 5, k0: R::COUNT });
    let k_tiles = k.div_ceil(tile.k0);
    for j in (0..n).step_by(tile.n0) {
        // Columns of the right operand as panels; nothing reads what is not there.
        let cols = tile.n0.min(n - j);
        let mut elements = vec![None; k_tiles * tile.n0 * tile.k0];
        for at in 0..k * cols {
            let (kk, c) = (at / cols, at % cols);
            elements[(kk / tile.k0 * tile.n0 + c) * tile.k0 + kk % tile.k0] = Some(chain.rhs[kk * n + j + c]);
        }
        let value = |v: &[Option<f64>]| v[0].map_or(canary(), |_| R::of(|i| v[i].unwrap_or(5.0)));
        let panel: Vec<R> = elements.chunks(R::COUNT).map(value).collect();
        let columns = |v: &[f32]| -> Vec<f32> {
            v.chunks(n)
                .flat_map(|group| (0..tile.n0).map(move |c| if c < cols { group[j + c] } else { f32::NAN }))
                .collect()
        };
        let (scales, zero_points) = (columns(&chain.scales), columns(&chain.zero_points));
        for i in (0..m).step_by(tile.m0) {
            let mut args = Args {
                tile,
                rows: tile.m0.min(m - i),
                cols,
                lhs: &chain.lhs[i * k..],
                lhs_row_stride: k as isize,
                lhs_k_stride: tile.k0 as isize,
                rhs: &panel,
                rhs_k_stride: (tile.n0 * tile.k0) as isize,
                batches: &[Batch::default()],
                k_per_batch: k,
                init: None,
                init_row_stride: 0,
                bias: None,
                clamp: None,
                out: &mut out[i * n + j..],
                out_row_stride: n as isize,
                accumulate: false,
                scales: Some(&scales),
                zero_points: Some(&zero_points),
                lhs_sums: None,
                prefetch_rhs: None,
                prefetch_out: None,
                scratch: &mut vec![0; row.row().scratch(tile.m0)],
            };
            row.run(&mut args).unwrap();
        }
    }
    [out, chain.definition()]
}
