//! The tile that rows on vectors share: accumulators in registers, the left operand element by element from memory.

use super::RawArgs;
use super::lhs_rows::Rows;
use crate::vector::Vector;

/// Runs `$body` for each row `$r` below `M0`, at most 14, written out: the compiler leaves longer loops rolled, and then
/// keeps accumulators in memory.
macro_rules! each_row {
    ($r:ident, $body:block) => { each_row!(@ $r, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13) };
    (@ $r:ident, $body:block, $($n:literal)*) => {$(
        if $n < M0 {
            let $r: usize = $n;
            $body
        }
    )*};
}

/// A tile of `M0` rows and `NV` vectors; `FULL` where all columns are valid.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on f32; the machine has the vector's instructions; there are a row and a column; `FULL` only if
/// all columns are valid.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "one row number indexes accumulators and addresses")]
pub(super) unsafe fn tile<V: Vector, const M0: usize, const NV: usize, const FULL: bool>(a: &RawArgs) {
    const { assert!(M0 <= 14) };
    // SAFETY: every offset is one of the formula's, which the caller vouches for; masked lanes are not accessed.
    unsafe {
        let masks: [V::Mask; NV] = core::array::from_fn(|v| V::mask(a.cols.saturating_sub(v * V::LANES)));
        let load = |p: *const f32, v: usize| {
            let p = p.wrapping_add(v * V::LANES);
            if FULL { V::load_all(p) } else { V::load(p, masks[v]) }
        };
        let out = a.out.cast::<f32>();
        let zero = 0.0f32;
        let mut acc = [[V::broadcast(&zero); NV]; M0];
        if a.accumulate || !a.init.is_null() {
            each_row!(r, {
                if r < a.rows {
                    for v in 0..NV {
                        let init = a.init.cast::<f32>().wrapping_offset(r as isize * a.init_row_stride);
                        let old = out.wrapping_offset(r as isize * a.out_row_stride);
                        acc[r][v] = match (a.accumulate, !a.init.is_null()) {
                            (true, false) => load(old, v),
                            (false, _) => load(init, v),
                            (true, true) => load(old, v).add(load(init, v)),
                        };
                    }
                }
            });
        }
        if !a.prefetch_out.is_null() {
            for r in 0..a.rows {
                let row = a.prefetch_out.cast::<f32>().wrapping_offset(r as isize * a.out_row_stride);
                V::prefetch(row);
            }
        }
        let mut prefetch = a.prefetch_rhs.cast::<f32>();
        for b in 0..a.batch_count {
            let b = &*a.batches.add(b);
            let (first, last) = (b.skip_first, a.rows.saturating_sub(b.skip_last));
            let mut rhs = a.rhs.cast::<f32>().wrapping_offset(b.rhs);
            let mut rows = Rows::<M0>::new(a.lhs.cast::<f32>().wrapping_offset(b.lhs), a.lhs_row_stride);
            if first == 0 && last == M0 {
                for _ in 0..a.k_per_batch {
                    if !prefetch.is_null() {
                        // One line of 16 elements a hint.
                        for line in 0..(NV * V::LANES).div_ceil(16) {
                            V::prefetch(prefetch.wrapping_add(line * 16));
                        }
                        prefetch = prefetch.wrapping_offset(a.rhs_k_stride);
                    }
                    let right: [V; NV] = core::array::from_fn(|v| load(rhs, v));
                    each_row!(r, {
                        let left = V::left(rows.row(r));
                        for v in 0..NV {
                            acc[r][v] = V::fma(left, right[v], acc[r][v]);
                        }
                    });
                    rhs = rhs.wrapping_offset(a.rhs_k_stride);
                    rows.step(a.lhs_k_stride);
                }
            } else if first < last {
                // Rows that take no part are left out by branches that go one way for a whole batch.
                for _ in 0..a.k_per_batch {
                    let right: [V; NV] = core::array::from_fn(|v| load(rhs, v));
                    each_row!(r, {
                        if r >= first && r < last {
                            let left = V::left(rows.row(r));
                            for v in 0..NV {
                                acc[r][v] = V::fma(left, right[v], acc[r][v]);
                            }
                        }
                    });
                    rhs = rhs.wrapping_offset(a.rhs_k_stride);
                    rows.step(a.lhs_k_stride);
                }
            }
        }
        if !a.bias.is_null() {
            for v in 0..NV {
                let bias = load(a.bias.cast(), v);
                each_row!(r, {
                    acc[r][v] = acc[r][v].add(bias);
                });
            }
        }
        if !a.clamp.is_null() {
            let [low, high] = [0, 1].map(|i| V::broadcast(a.clamp.cast::<f32>().add(i)));
            each_row!(r, {
                for v in 0..NV {
                    acc[r][v] = high.min(low.max(acc[r][v]));
                }
            });
        }
        each_row!(r, {
            if r < a.rows {
                let out = out.wrapping_offset(r as isize * a.out_row_stride);
                for v in 0..NV {
                    let place = out.wrapping_add(v * V::LANES);
                    if FULL { acc[r][v].store_all(place) } else { acc[r][v].store(place, masks[v]) }
                }
            }
        });
    }
}
