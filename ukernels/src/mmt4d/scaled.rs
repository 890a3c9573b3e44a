//! The tile of rows whose right operand has scales: products of a group of k in registers, scaled sums in scratch.

use super::dot::{Dot, Lhs, Output};
use super::lhs_rows::Rows;
use super::tile::{Run, fits_tails, in_place, k_tail, k_tiles_a_pass, of_part, part, right, staged};
use super::{RawArgs, STAGED_K};
use crate::vector::Vector;
use core::arch::asm;
use core::mem::MaybeUninit;

/// Products that are scaled, group by group of k.
///
/// # Safety
/// As [`Dot`].
pub(super) trait Scaled: Dot {
    /// Elements of k in a group, whole k-tiles, as many as divide a staged block; `usize::MAX` where the whole call is one.
    const GROUP: usize;
    /// A vector of scaled sums; as many columns as one of products.
    type Sums: Vector<Left = Self::Sums>;

    /// What the products of a row begin with, whose elements have that sum: it is made up for what products leave out.
    unsafe fn start(sum: i32) -> <Self::Out as Output>::Acc;
    /// A part of a k-tile less the zero points; where products are of integers, these are taken from sums instead.
    #[inline(always)]
    unsafe fn less(right: Self::Right, zero_points: Self::Sums) -> Self::Right {
        let _ = zero_points;
        right
    }
    /// Products as floats: exact.
    unsafe fn floats(products: <Self::Out as Output>::Acc) -> Self::Sums;
}

type O<D> = <D as Dot>::Out;

/// A tile of `M0` rows and `NV` vectors.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on the types of `D`; the machine has the vector's instructions.
#[inline(always)]
pub(super) unsafe fn scaled<D: Scaled, const M0: usize, const NV: usize, const CHAINS: usize>(a: &RawArgs) {
    if a.rows == 0 || a.cols == 0 {
        return;
    }
    // SAFETY: the caller's; all columns are valid, there are zero points, where it is so said.
    unsafe {
        match (a.cols == NV * D::Sums::LANES, D::SUMS != 0 || a.zero_points.is_null()) {
            (true, true) => columns::<D, M0, NV, CHAINS, true, false>(a),
            (true, false) => columns::<D, M0, NV, CHAINS, true, true>(a),
            (false, true) => columns::<D, M0, NV, CHAINS, false, false>(a),
            (false, false) => columns::<D, M0, NV, CHAINS, false, true>(a),
        }
    }
}

/// A tile of which there are a row and a column; `FULL` where all columns are valid, `ZERO` where zero points are
/// reckoned with.
///
/// # Safety
/// As [`scaled`].
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "one row number indexes accumulators and addresses")]
unsafe fn columns<
    D: Scaled,
    const M0: usize,
    const NV: usize,
    const CHAINS: usize,
    const FULL: bool,
    const ZERO: bool,
>(
    a: &RawArgs,
) {
    const {
        assert!(
            M0 <= 16
                && CHAINS >= 1
                && CHAINS <= 4
                && fits_tails::<D>(M0, NV)
                && D::Sums::LANES == O::<D>::LANES
                && D::GROUP.is_multiple_of(D::K0)
        );
        assert!(!D::STAGED || STAGED_K.is_multiple_of(D::GROUP));
    }
    let per_call = D::GROUP == usize::MAX;
    let unroll = const { k_tiles_a_pass::<D>(M0, NV, CHAINS) };
    // SAFETY: every offset is one of the formula's, which the caller vouches for; masked columns are not accessed, and
    // scratch is as large as the row says.
    unsafe {
        let masks: [_; NV] = core::array::from_fn(|v| O::<D>::mask(a.cols.saturating_sub(v * O::<D>::LANES)));
        let float_masks: [_; NV] = core::array::from_fn(|v| D::Sums::mask(a.cols.saturating_sub(v * D::Sums::LANES)));
        let load = |p: *const f32, v: usize| {
            let p = p.wrapping_add(v * D::Sums::LANES);
            if FULL { D::Sums::load_all(p) } else { D::Sums::load(p, float_masks[v]) }
        };
        let row_of = |p: *const u8, r: usize, stride: isize| p.cast::<f32>().wrapping_offset(r as isize * stride);
        let sums = a.scratch.wrapping_add(M0 * STAGED_K * if D::STAGED { D::STEP } else { 0 }).cast::<f32>();
        let sum_at = |r: usize, v: usize| sums.wrapping_add((r * NV + v) * D::Sums::LANES);
        for r in 0..a.rows {
            let (init, old) = (row_of(a.init, r, a.init_row_stride), row_of(a.out, r, a.out_row_stride));
            for v in 0..NV {
                let start = match (a.accumulate, !a.init.is_null()) {
                    (false, false) => D::Sums::broadcast(&0.0),
                    (false, true) => load(init, v),
                    (true, false) => load(old, v),
                    (true, true) => load(old, v).add(load(init, v)),
                };
                start.store_all(sum_at(r, v));
            }
        }
        if !a.prefetch_out.is_null() {
            for r in 0..a.rows {
                D::Sums::prefetch(row_of(a.prefetch_out, r, a.out_row_stride));
            }
        }
        let mut prefetch = a.prefetch_rhs;
        let mut group = 0;
        let mut acc = [[[O::<D>::zero(); NV]; M0]; CHAINS];
        // Adds a finished group's products, scaled, for rows that take part.
        macro_rules! flush {
            ($group:expr, $row_sums:expr, $rows:expr) => {{
                let at = $group * NV * D::Sums::LANES;
                let scales: [D::Sums; NV] = core::array::from_fn(|v| load(a.scales.wrapping_add(at), v));
                let zero_points = D::SUMS != 0 && !a.zero_points.is_null();
                each_row!(r, {
                    if $rows.contains(&r) {
                        for v in 0..NV {
                            let mut products = acc[0][r][v];
                            each_step!(chain below CHAINS, {
                                if chain > 0 {
                                    products = O::<D>::add(products, acc[chain][r][v]);
                                }
                            });
                            let mut sum = D::floats(products);
                            if zero_points {
                                let less = D::Sums::broadcast(&-($row_sums[r] as f32));
                                sum = D::Sums::fma(less, load(a.zero_points.wrapping_add(at), v), sum);
                            }
                            let place = sum_at(r, v);
                            D::Sums::fma(scales[v], sum, D::Sums::load_all(place)).store_all(place);
                        }
                    }
                });
                #[allow(unused_assignments, reason = "after the last group, nothing is left to add to")]
                {
                    acc = [[[O::<D>::zero(); NV]; M0]; CHAINS];
                }
            }};
        }
        for b in 0..a.batch_count {
            let b = &*a.batches.add(b);
            let (first, last) = (b.skip_first, a.rows.saturating_sub(b.skip_last));
            if first >= last {
                group += if per_call { 0 } else { a.k_per_batch.div_ceil(D::GROUP) };
                continue;
            }
            let mut from = 0;
            while from < a.k_per_batch {
                // Where the left operand is staged, k goes in blocks that scratch has room for.
                let block = if D::STAGED { STAGED_K.min(a.k_per_batch - from) } else { a.k_per_batch };
                let mut run = if D::STAGED { staged::<D>(a, b, from, block, M0) } else { in_place::<D>(a, b) };
                let mut done = 0;
                while done < block {
                    let a = opaque(a);
                    let depth = D::GROUP.min(block - done);
                    run.steps = depth / D::K0;
                    let mut row_sums = [0; 16];
                    if D::SUMS != 0 {
                        if a.lhs_sums.is_null() {
                            let Run { lhs, row_stride, k_stride, .. } = run;
                            // What is missing of the last k-tile is zeros.
                            D::sums(
                                &Lhs { lhs, row_stride, k_stride, steps: depth.div_ceil(D::K0), first, last },
                                &mut row_sums,
                            );
                        } else {
                            for (r, sum) in row_sums.iter_mut().enumerate().take(last).skip(first) {
                                *sum = a.lhs_sums.add(group * M0 + r).read_unaligned();
                            }
                        }
                        each_row!(r, {
                            acc[0][r] = [D::start(row_sums[r]); NV];
                        });
                    }
                    let mut zero_points = [D::Sums::broadcast(&0.0); NV];
                    if ZERO {
                        for v in 0..NV {
                            zero_points[v] = load(a.zero_points.wrapping_add(group * NV * D::Sums::LANES), v);
                        }
                    }
                    let mut rows = Rows::<M0>::new(run.lhs, run.row_stride);
                    let mut rhs = run.rhs;
                    macro_rules! step {
                        ($chain:expr, $parts:expr, $rows:expr) => {{
                            each_part!(D, p below $parts, {
                                let mut right = part::<D, NV>(&right::<D, NV, FULL>(rhs, &masks), p);
                                if ZERO {
                                    for v in 0..NV {
                                        right[v] = D::less(right[v], zero_points[v]);
                                    }
                                }
                                each_row!(r, {
                                    if $rows.contains(&r) {
                                        D::row(&mut acc[$chain][r], of_part::<D>(rows.row(r), p), &right);
                                    }
                                });
                                rhs = D::next(rhs, acc[$chain][M0 - 1][NV - 1]);
                            });
                            rhs = rhs.wrapping_offset(run.rhs_k_stride);
                            rows.step(run.k_stride);
                        }};
                    }
                    let mut left = run.steps;
                    while (M0 == 1 || (first == 0 && last == M0)) && left >= unroll {
                        if !prefetch.is_null() {
                            for _ in 0..unroll {
                                for line in 0..(NV * O::<D>::LANES * D::RHS_TILE).div_ceil(64) {
                                    D::Sums::prefetch(prefetch.wrapping_add(line * 64).cast());
                                }
                                prefetch = prefetch.wrapping_offset(run.rhs_k_stride);
                            }
                        }
                        each_step!(step below unroll, {
                            step!(step % CHAINS, D::PARTS, (..M0));
                        });
                        left -= unroll;
                    }
                    // K-tiles that are left over, those of a tile of which some rows take no part, and an unfinished one.
                    let tail = depth % D::K0;
                    let mut tails = MaybeUninit::uninit();
                    let mut parts = D::PARTS;
                    for step in 0..left + usize::from(tail > 0) {
                        if step == left {
                            let unfinished = k_tail::<D>(a, &run, tail, first, last, &mut tails);
                            rows = Rows::<M0>::new(unfinished.lhs, unfinished.row_stride);
                            rhs = unfinished.rhs;
                            // A part of one k that does not exist is no product: not even one with 0, which has a sign.
                            parts = if D::K0 == D::PARTS { tail } else { D::PARTS };
                        }
                        step!(0, parts, (first..last));
                    }
                    if !per_call {
                        flush!(group, row_sums, first..last);
                        group += 1;
                    }
                    run.lhs = run.lhs.wrapping_offset(run.steps as isize * run.k_stride);
                    run.rhs = run.rhs.wrapping_offset(run.steps as isize * run.rhs_k_stride);
                    done += depth;
                }
                from += block;
            }
        }
        if per_call {
            flush!(0, [0i32; 16], ..a.rows);
        }
        let clamp = if a.clamp.is_null() {
            None
        } else {
            let clamp = a.clamp.cast::<f32>();
            Some([0, 1].map(|i| D::Sums::broadcast(clamp.add(i))))
        };
        for r in 0..a.rows {
            let out = a.out.cast::<f32>().wrapping_offset(r as isize * a.out_row_stride);
            for v in 0..NV {
                let mut sum = D::Sums::load_all(sum_at(r, v));
                if !a.bias.is_null() {
                    sum = sum.add(load(a.bias.cast(), v));
                }
                if let Some([low, high]) = clamp {
                    sum = high.min(low.max(sum));
                }
                let place = out.wrapping_add(v * D::Sums::LANES);
                if FULL { sum.store_all(place) } else { sum.store(place, float_masks[v]) }
            }
        }
    }
}

/// The same, of which the compiler knows nothing more: what is read of it is read where it is used, and takes no register in
/// loops between.
#[inline(always)]
#[allow(clippy::pointers_in_nomem_asm_block, reason = "the block is empty: it reads no memory")]
fn opaque<T>(x: &T) -> &T {
    let mut p: *const T = x;
    // Not pure: that could move out of the loops around.
    // SAFETY: no instruction at all, so the pointer is that of `x`.
    unsafe {
        asm!("/* {0} */", inout(reg) p, options(nomem, nostack, preserves_flags));
        &*p
    }
}
