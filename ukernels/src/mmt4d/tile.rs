//! The tile that rows on vectors share: accumulators in registers, the left operand element by element from memory.

use super::dot::{Dot, Lhs, Output, rhs_bytes};
use super::lhs_rows::Rows;
use super::{Batch, RawArgs, STAGED_K};
use core::mem::MaybeUninit;
use core::ptr::copy_nonoverlapping;

/// Runs `$body` for each row `$r` below `M0`, at most 16, written out: the compiler leaves longer loops rolled, and then
/// keeps accumulators in memory.
macro_rules! each_row {
    ($r:ident, $body:block) => { each_row!(@ $r, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15) };
    (@ $r:ident, $body:block, $($n:literal)*) => {$(
        if $n < M0 {
            let $r: usize = $n;
            $body
        }
    )*};
}

/// Runs `$body` for each part `$p` of a k-tile of `$d` below `$count`, written out.
macro_rules! each_part {
    ($d:ty, $p:ident below $count:expr, $body:block) => { each_part!(@ $d, $p, $count, $body, 0 1 2 3 4 5 6 7) };
    (@ $d:ty, $p:ident, $count:expr, $body:block, $($n:literal)*) => {$(
        if $n < <$d as $crate::mmt4d::dot::Dot>::PARTS && ($n == 0 || $n < $count) {
            let $p: usize = $n;
            $body
        }
    )*};
}

/// Runs `$body` for each k-tile `$step` of a pass of `$count`, at most four, written out.
macro_rules! each_step {
    ($step:ident below $count:expr, $body:block) => { each_step!(@ $step, $count, $body, 0 1 2 3) };
    (@ $step:ident, $count:expr, $body:block, $($n:literal)*) => {$(
        if $n < $count {
            let $step: usize = $n;
            $body
        }
    )*};
}

/// Widest vector's columns times the vectors of a tile, times the bytes of a column's k-tile.
const TAIL: usize = 512;
/// Rows of a tile times the bytes of a row's k-tile.
const LHS_TAIL: usize = 16 * 32;

/// Whether the last k-tile of a tile's rows and columns has room in copies.
pub(super) const fn fits_tails<D: Dot>(m0: usize, nv: usize) -> bool {
    m0 * D::K0 * D::STEP <= LHS_TAIL && nv * O::<D>::LANES * D::RHS_TILE <= TAIL
}

/// K-tiles in one pass of the inner loop: a small tile's products don't cover the loop's own work.
pub(super) const fn k_tiles_a_pass<D: Dot>(m0: usize, nv: usize, chains: usize) -> usize {
    let least = match m0 * nv {
        n if n <= D::TWICE / 2 => 4,
        n if n <= D::TWICE && m0 < 8 => 2,
        _ => 1,
    };
    if chains > least { chains } else { least.next_multiple_of(chains) }
}

type O<D> = <D as Dot>::Out;
type Mask<D> = <<D as Dot>::Out as Output>::Mask;
type Acc<D> = <<D as Dot>::Out as Output>::Acc;

/// Copies of a last k-tile.
pub(super) type Tails = ([u8; LHS_TAIL], [u8; TAIL]);

/// Operands of a run of k-tiles. Strides count bytes.
pub(super) struct Run {
    pub(super) lhs: *const u8,
    pub(super) row_stride: isize,
    pub(super) k_stride: isize,
    pub(super) rhs: *const u8,
    pub(super) rhs_k_stride: isize,
    pub(super) steps: usize,
}

/// A tile of `M0` rows and `NV` vectors, each with `CHAINS` accumulators that k-tiles take in turns; the k-tiles that are
/// left over go to the first.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on the types of `D`; the machine has the vector's instructions.
#[inline(always)]
pub(super) unsafe fn tile<D: Dot, const M0: usize, const NV: usize, const CHAINS: usize>(a: &RawArgs) {
    if a.rows == 0 || a.cols == 0 {
        return;
    }
    if a.cols == NV * O::<D>::LANES {
        // SAFETY: the caller's; all columns are valid.
        unsafe { columns::<D, M0, NV, CHAINS, true>(a) }
    } else {
        // SAFETY: the caller's.
        unsafe { columns::<D, M0, NV, CHAINS, false>(a) }
    }
}

/// A tile of which there are a row and a column; `FULL` where all columns are valid.
///
/// # Safety
/// As [`tile`]; there are a row and a column, and `FULL` is true only if all columns are valid.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "one row number indexes accumulators and addresses")]
unsafe fn columns<D: Dot, const M0: usize, const NV: usize, const CHAINS: usize, const FULL: bool>(a: &RawArgs) {
    const { assert!(M0 <= 16 && CHAINS >= 1 && CHAINS <= 4 && fits_tails::<D>(M0, NV)) };
    let unroll = const { k_tiles_a_pass::<D>(M0, NV, CHAINS) };
    // SAFETY: every offset is one of the formula's, which the caller vouches for; masked columns are not accessed.
    unsafe {
        let masks: [Mask<D>; NV] = core::array::from_fn(|v| O::<D>::mask(a.cols.saturating_sub(v * O::<D>::LANES)));
        let load = |p: *const u8, v: usize| {
            let p = p.wrapping_add(v * O::<D>::LANES * O::<D>::BYTES);
            if FULL { O::<D>::load_all(p) } else { O::<D>::load(p, masks[v]) }
        };
        let row_of =
            |p: *const u8, r: usize, stride: isize| p.wrapping_offset(r as isize * stride * O::<D>::BYTES as isize);
        let mut acc = [[[O::<D>::zero(); NV]; M0]; CHAINS];
        if a.accumulate || !a.init.is_null() {
            each_row!(r, {
                if r < a.rows {
                    for v in 0..NV {
                        let init = row_of(a.init, r, a.init_row_stride);
                        let old = row_of(a.out, r, a.out_row_stride);
                        acc[0][r][v] = match (a.accumulate, !a.init.is_null()) {
                            (true, false) => load(old, v),
                            (false, _) => load(init, v),
                            (true, true) => O::<D>::add(load(old, v), load(init, v)),
                        };
                    }
                }
            });
        }
        if !a.prefetch_out.is_null() {
            for r in 0..a.rows {
                O::<D>::prefetch(row_of(a.prefetch_out, r, a.out_row_stride));
            }
        }
        let mut prefetch = a.prefetch_rhs;
        for b in 0..a.batch_count {
            let b = &*a.batches.add(b);
            let (first, last) = (b.skip_first, a.rows.saturating_sub(b.skip_last));
            if first >= last {
                continue;
            }
            // Where the left operand is staged, k goes in blocks that scratch has room for.
            let mut from = 0;
            while from < a.k_per_batch {
                let depth = if D::STAGED { STAGED_K.min(a.k_per_batch - from) } else { a.k_per_batch };
                let mut run = if D::STAGED { staged::<D>(a, b, from, depth, M0) } else { in_place::<D>(a, b) };
                run.steps = depth / D::K0;
                let mut tail = depth % D::K0;
                let mut tails = MaybeUninit::uninit();
                loop {
                    let mut rhs = run.rhs;
                    let mut rows = Rows::<M0>::new(run.lhs, run.row_stride);
                    if M0 == 1 || (first == 0 && last == M0) {
                        macro_rules! step {
                            ($chain:expr) => {
                                each_part!(D, p below D::PARTS, {
                                    let right = part::<D, NV>(&right::<D, NV, FULL>(rhs, &masks), p);
                                    each_row!(r, {
                                        D::row(&mut acc[$chain][r], of_part::<D>(rows.row(r), p), &right);
                                    });
                                    rhs = D::next(rhs, acc[$chain][M0 - 1][NV - 1]);
                                });
                                rhs = rhs.wrapping_offset(run.rhs_k_stride);
                                rows.step(run.k_stride);
                            };
                        }
                        let mut steps = run.steps;
                        while steps >= unroll {
                            if !prefetch.is_null() {
                                for _ in 0..unroll {
                                    for line in 0..(NV * O::<D>::LANES * D::RHS_TILE).div_ceil(64) {
                                        O::<D>::prefetch(prefetch.wrapping_add(line * 64));
                                    }
                                    prefetch = prefetch.wrapping_offset(run.rhs_k_stride);
                                }
                            }
                            each_step!(step below unroll, {
                                step!(step % CHAINS);
                            });
                            steps -= unroll;
                        }
                        if unroll > 1 {
                            while steps > 0 {
                                step!(0);
                                steps -= 1;
                            }
                        }
                    } else if D::TAPS {
                        let acc = &mut acc[0];
                        // Rows that take no part are left out of the code where they are those of usual borders, in tiles
                        // that convolutions are usually cut into. One of eight rows also serves images that are seven wide.
                        let usual = const { matches!(M0, 6 | 8 | 14) };
                        let seven = const { M0 == 8 && NV > 1 };
                        match (first, M0 - last) {
                            (0, 1) if FULL && usual => taps::<D, M0, NV, FULL>(acc, &run, 0, M0 - 1, &masks),
                            (1, 0) if FULL && usual => taps::<D, M0, NV, FULL>(acc, &run, 1, M0, &masks),
                            (0, 2) if FULL && seven => taps::<D, M0, NV, FULL>(acc, &run, 0, M0 - 2, &masks),
                            (1, 1) if FULL && seven => taps::<D, M0, NV, FULL>(acc, &run, 1, M0 - 1, &masks),
                            _ => taps::<D, M0, NV, FULL>(acc, &run, first, last, &masks),
                        }
                    } else {
                        let mut some = acc[0];
                        some_rows::<D, M0, NV, FULL>(&mut some, &run, first, last, &masks);
                        acc[0] = some;
                    }
                    if D::SUMS != 0 && a.lhs_sums.is_null() {
                        let Run { lhs, row_stride, k_stride, steps, .. } = run;
                        let mut sums = [0; 16];
                        D::sums(&Lhs { lhs, row_stride, k_stride, steps, first, last }, &mut sums);
                        each_row!(r, {
                            if r >= first && r < last {
                                add_sum::<D, NV>(&mut acc[0][r], sums[r]);
                            }
                        });
                    }
                    if tail == 0 {
                        break;
                    }
                    run = k_tail::<D>(a, &run, tail, first, last, &mut tails);
                    tail = 0;
                }
                from += depth;
            }
        }
        each_step!(chain below CHAINS, {
            each_row!(r, {
                for v in 0..NV {
                    if chain > 0 {
                        acc[0][r][v] = O::<D>::add(acc[0][r][v], acc[chain][r][v]);
                    }
                }
            });
        });
        if D::SUMS != 0 && !a.lhs_sums.is_null() {
            each_row!(r, {
                if r < a.rows {
                    add_sum::<D, NV>(&mut acc[0][r], a.lhs_sums.add(r).read_unaligned());
                }
            });
        }
        if !a.bias.is_null() {
            for v in 0..NV {
                let bias = load(a.bias, v);
                each_row!(r, {
                    acc[0][r][v] = O::<D>::add(acc[0][r][v], bias);
                });
            }
        }
        if !a.clamp.is_null() {
            let [low, high] = [0, 1].map(|i| O::<D>::broadcast(a.clamp.add(i * O::<D>::BYTES)));
            each_row!(r, {
                for v in 0..NV {
                    acc[0][r][v] = O::<D>::min(high, O::<D>::max(low, acc[0][r][v]));
                }
            });
        }
        each_row!(r, {
            if r < a.rows {
                let out = a.out.wrapping_offset(r as isize * a.out_row_stride * O::<D>::BYTES as isize);
                for v in 0..NV {
                    let place = out.wrapping_add(v * O::<D>::LANES * O::<D>::BYTES);
                    if FULL {
                        O::<D>::store_all(acc[0][r][v], place)
                    } else {
                        O::<D>::store(acc[0][r][v], place, masks[v])
                    }
                }
            }
        });
    }
}

/// Adds what a row's sum stands for.
///
/// # Safety
/// The machine has the vector's instructions.
#[inline(always)]
unsafe fn add_sum<D: Dot, const NV: usize>(acc: &mut [Acc<D>; NV], sum: i32) {
    let sum = sum.wrapping_mul(D::SUMS);
    // SAFETY: the caller's; the output is i32.
    unsafe {
        let sum = O::<D>::broadcast((&raw const sum).cast());
        for acc in acc {
            *acc = O::<D>::add(*acc, sum);
        }
    }
}

/// A k-tile of the tile's columns.
///
/// # Safety
/// The valid columns are readable.
#[inline(always)]
pub(super) unsafe fn right<D: Dot, const NV: usize, const FULL: bool>(
    rhs: *const u8,
    masks: &[Mask<D>; NV],
) -> [D::Right; NV] {
    core::array::from_fn(|v| {
        let p = rhs.wrapping_add(v * O::<D>::LANES * D::RHS_TILE);
        // SAFETY: the caller's.
        unsafe { if FULL { D::right_all(p) } else { D::right(p, masks[v]) } }
    })
}

/// Part `index` of the columns' k-tiles.
///
/// # Safety
/// The machine has the vector's instructions.
#[inline(always)]
pub(super) unsafe fn part<D: Dot, const NV: usize>(right: &[D::Right; NV], index: usize) -> [D::Right; NV] {
    // A closure would stay a function of its own where parts are long.
    let mut parts = *right;
    for part in &mut parts {
        // SAFETY: the caller's.
        *part = unsafe { D::part(*part, index) };
    }
    parts
}

/// Where part `index` of a row's k-tile begins.
#[inline(always)]
pub(super) fn of_part<D: Dot>(row: *const u8, index: usize) -> *const u8 {
    row.wrapping_add(index * (D::K0 / D::PARTS * D::STEP))
}

/// A run in a tile of which only the rows from `first` to `last` take part, k-tile by k-tile: other rows are branches that go
/// one way for the whole run, or no code at all where they are constants.
///
/// # Safety
/// As [`tile`].
#[inline(always)]
unsafe fn taps<D: Dot, const M0: usize, const NV: usize, const FULL: bool>(
    acc: &mut [[Acc<D>; NV]; M0],
    run: &Run,
    first: usize,
    last: usize,
    masks: &[Mask<D>; NV],
) {
    let mut rhs = run.rhs;
    let mut rows = Rows::<M0>::new(run.lhs, run.row_stride);
    for _ in 0..run.steps {
        // SAFETY: the caller's.
        unsafe {
            let right = right::<D, NV, FULL>(rhs, masks);
            each_row!(r, {
                if r >= first && r < last {
                    D::row(&mut acc[r], rows.row(r), &right);
                }
            });
        }
        rhs = rhs.wrapping_offset(run.rhs_k_stride);
        rows.step(run.k_stride);
    }
}

/// As [`taps`], row by row.
///
/// # Safety
/// As [`tile`].
#[inline(always)]
unsafe fn some_rows<D: Dot, const M0: usize, const NV: usize, const FULL: bool>(
    acc: &mut [[Acc<D>; NV]; M0],
    run: &Run,
    first: usize,
    last: usize,
    masks: &[Mask<D>; NV],
) {
    for (r, acc) in acc.iter_mut().enumerate().take(last).skip(first) {
        let mut lhs = run.lhs.wrapping_offset(r as isize * run.row_stride);
        let mut rhs = run.rhs;
        for _ in 0..run.steps {
            // SAFETY: the caller's.
            unsafe {
                let right = right::<D, NV, FULL>(rhs, masks);
                each_part!(D, p below D::PARTS, {
                    D::row(acc, of_part::<D>(lhs, p), &part::<D, NV>(&right, p));
                });
            }
            rhs = rhs.wrapping_offset(run.rhs_k_stride);
            lhs = lhs.wrapping_offset(run.k_stride);
        }
    }
}

/// The operands of a batch as they lie.
#[inline(always)]
pub(super) fn in_place<D: Dot>(a: &RawArgs, b: &Batch) -> Run {
    Run {
        lhs: a.lhs.wrapping_offset(b.lhs * D::LHS_BYTES as isize),
        row_stride: a.lhs_row_stride * D::LHS_BYTES as isize,
        k_stride: a.lhs_k_stride * D::LHS_BYTES as isize,
        rhs: a.rhs.wrapping_offset(rhs_bytes::<D>(b.rhs)),
        rhs_k_stride: rhs_bytes::<D>(a.rhs_k_stride),
        steps: 0,
    }
}

/// The operands of a block of `depth` elements of k from `from`, the left one converted into scratch: row by row where
/// rows are contiguous, else k-tile by k-tile. What is left of a row's last k-tile is filled
/// with `D::NOTHING`.
///
/// # Safety
/// The rows that take part are readable, and scratch is as large as the row of `m0` rows says.
#[inline(never)]
pub(super) unsafe fn staged<D: Dot>(a: &RawArgs, b: &Batch, from: usize, depth: usize, m0: usize) -> Run {
    let plain = in_place::<D>(a, b);
    let (k0, tile) = (D::K0, D::K0 * D::STEP);
    let (whole, tail) = (depth / k0, depth % k0);
    let first_tile = (from / k0) as isize;
    let (first, last) = (b.skip_first, a.rows.saturating_sub(b.skip_last));
    let lhs = plain.lhs.wrapping_offset(first_tile * plain.k_stride);
    let in_rows = a.lhs_k_stride == k0 as isize;
    let panel = a.lhs_row_stride == k0 as isize && a.lhs_k_stride == (m0 * k0) as isize;
    let (row_stride, k_stride) = if in_rows { (STAGED_K * D::STEP, tile) } else { (tile, m0 * tile) };
    let source = |r: usize, t: usize| lhs.wrapping_offset(r as isize * plain.row_stride + t as isize * plain.k_stride);
    let place = |r: usize, t: usize| a.scratch.wrapping_add(r * row_stride + t * k_stride);
    // SAFETY: the caller's: the valid elements of k-tiles, into a row's part of scratch.
    unsafe {
        if in_rows {
            for r in first..last {
                D::stage(source(r, 0), place(r, 0), whole * k0);
            }
        } else if panel && first == 0 && last == m0 {
            D::stage(source(0, 0), place(0, 0), whole * k0 * m0);
        } else {
            for t in 0..whole {
                for r in first..last {
                    D::stage(source(r, t), place(r, t), k0);
                }
            }
        }
        if tail > 0 {
            for r in first..last {
                for k in 0..k0 {
                    copy_nonoverlapping(D::NOTHING.as_ptr(), place(r, whole).add(k * D::STEP), D::STEP);
                }
                D::stage(source(r, whole), place(r, whole), tail);
            }
        }
    }
    Run {
        lhs: a.scratch,
        row_stride: row_stride as isize,
        k_stride: k_stride as isize,
        rhs: plain.rhs.wrapping_offset(first_tile * plain.rhs_k_stride),
        ..plain
    }
}

/// The k-tile after those of `run`, of which only `valid` elements exist: copies that are filled with zeros.
///
/// # Safety
/// The valid elements are readable.
#[inline(never)]
pub(super) unsafe fn k_tail<D: Dot>(
    a: &RawArgs,
    run: &Run,
    valid: usize,
    first: usize,
    last: usize,
    tails: &mut MaybeUninit<Tails>,
) -> Run {
    let tails = tails.write(([0; LHS_TAIL], [0; TAIL]));
    let done = run.steps as isize;
    let lhs = run.lhs.wrapping_offset(done * run.k_stride);
    let rhs = run.rhs.wrapping_offset(done * run.rhs_k_stride);
    let (lhs_tile, rhs_tile) = (D::K0 * D::STEP, D::RHS_TILE);
    // SAFETY: the caller's; a tile's rows and columns fit the copies.
    unsafe {
        for r in first..last {
            let from = lhs.wrapping_offset(r as isize * run.row_stride);
            // What was converted is filled already, and may be in another order.
            let count = if D::STAGED { lhs_tile } else { valid * D::STEP };
            copy_nonoverlapping(from, tails.0.as_mut_ptr().add(r * lhs_tile), count);
        }
        for c in 0..a.cols {
            let (from, to) = (rhs.wrapping_add(c * rhs_tile), tails.1.as_mut_ptr().add(c * rhs_tile));
            copy_nonoverlapping(from, to, (valid * D::RHS_BITS).div_ceil(8));
        }
    }
    Run {
        lhs: tails.0.as_ptr(),
        row_stride: lhs_tile as isize,
        k_stride: 0,
        rhs: tails.1.as_ptr(),
        rhs_k_stride: 0,
        steps: 1,
    }
}
