//! AVX2 and FMA: ymm accumulators, the left operand broadcast from memory, edges by VMASKMOVPS.
//! Source: Intel SDM volume 2 (VFMADD231PS, VBROADCASTSS, VMASKMOVPS).

use super::RawArgs;
use super::lhs_rows::Rows;
use core::arch::x86_64::*;

/// Sign bits select the lanes of VMASKMOVPS; a window of eight starts at `8 - lanes`.
static LANES: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

/// A tile of `M0` rows and `NV` vectors of 8 columns; `FULL` where all columns are valid.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on f32; the machine has AVX2 and FMA; `FULL` only if `cols` is the tile's.
#[target_feature(enable = "avx2,fma")]
#[inline]
#[allow(clippy::needless_range_loop, reason = "one row number indexes accumulators and addresses")]
unsafe fn tile<const M0: usize, const NV: usize, const FULL: bool>(a: &RawArgs) {
    let masks: [__m256i; NV] = core::array::from_fn(|v| {
        let lanes = a.cols.saturating_sub(v * 8).min(8);
        // SAFETY: a window of eight inside `LANES`.
        unsafe { _mm256_loadu_si256(LANES.as_ptr().add(8 - lanes).cast()) }
    });
    let load = |p: *const f32, v: usize| {
        let p = p.wrapping_add(v * 8);
        // SAFETY: the lanes that the mask admits, or all where `FULL`, are valid.
        unsafe { if FULL { _mm256_loadu_ps(p) } else { _mm256_maskload_ps(p, masks[v]) } }
    };
    let out = a.out.cast::<f32>();
    let mut acc = [[_mm256_setzero_ps(); NV]; M0];
    // SAFETY: every offset is one of the formula's, which the caller vouches for.
    unsafe {
        if a.accumulate || !a.init.is_null() {
            for r in 0..M0 {
                if r < a.rows {
                    for v in 0..NV {
                        let init = a.init.cast::<f32>().wrapping_offset(r as isize * a.init_row_stride);
                        let old = out.wrapping_offset(r as isize * a.out_row_stride);
                        acc[r][v] = match (a.accumulate, !a.init.is_null()) {
                            (true, false) => load(old, v),
                            (false, _) => load(init, v),
                            (true, true) => _mm256_add_ps(load(old, v), load(init, v)),
                        };
                    }
                }
            }
        }
        let mut prefetch = a.prefetch_rhs.cast::<f32>();
        for b in 0..a.batch_count {
            let b = &*a.batches.add(b);
            let (first, last) = (b.skip_first, a.rows.saturating_sub(b.skip_last));
            let mut rhs = a.rhs.cast::<f32>().wrapping_offset(b.rhs);
            let lhs = a.lhs.cast::<f32>().wrapping_offset(b.lhs);
            let mut rows = Rows::<M0>::new(lhs, a.lhs_row_stride);
            if first == 0 && last == M0 {
                for _ in 0..a.k_per_batch {
                    let right: [__m256; NV] = core::array::from_fn(|v| load(rhs, v));
                    for r in 0..M0 {
                        let left = _mm256_broadcast_ss(&*rows.row(r));
                        for v in 0..NV {
                            acc[r][v] = _mm256_fmadd_ps(left, right[v], acc[r][v]);
                        }
                    }
                    if !prefetch.is_null() {
                        _mm_prefetch::<_MM_HINT_T1>(prefetch.cast());
                        prefetch = prefetch.wrapping_offset(a.rhs_k_stride);
                    }
                    rhs = rhs.wrapping_offset(a.rhs_k_stride);
                    rows.step(a.lhs_k_stride);
                }
            } else if first < last {
                for _ in 0..a.k_per_batch {
                    let right: [__m256; NV] = core::array::from_fn(|v| load(rhs, v));
                    for r in 0..M0 {
                        if r >= first && r < last {
                            let left = _mm256_broadcast_ss(&*rows.row(r));
                            for v in 0..NV {
                                acc[r][v] = _mm256_fmadd_ps(left, right[v], acc[r][v]);
                            }
                        }
                    }
                    rhs = rhs.wrapping_offset(a.rhs_k_stride);
                    rows.step(a.lhs_k_stride);
                }
            }
        }
        if !a.bias.is_null() {
            for v in 0..NV {
                let bias = load(a.bias.cast(), v);
                for r in 0..M0 {
                    acc[r][v] = _mm256_add_ps(acc[r][v], bias);
                }
            }
        }
        if !a.clamp.is_null() {
            let [low, high] = a.clamp.cast::<[f32; 2]>().read().map(|x| _mm256_set1_ps(x));
            for r in 0..M0 {
                for v in 0..NV {
                    // The second operand is the result where one is a NaN or both are zeros.
                    acc[r][v] = _mm256_min_ps(high, _mm256_max_ps(low, acc[r][v]));
                }
            }
        }
        for r in 0..M0 {
            if r < a.rows {
                let out = out.wrapping_offset(r as isize * a.out_row_stride);
                for v in 0..NV {
                    if FULL {
                        _mm256_storeu_ps(out.wrapping_add(v * 8), acc[r][v]);
                    } else {
                        _mm256_maskstore_ps(out.wrapping_add(v * 8), masks[v], acc[r][v]);
                    }
                }
            }
        }
    }
}

macro_rules! rows {
    ($($name:ident, $m0:literal, $nv:literal;)*) => {$(
        /// # Computes
        /// The [operation](super) on f32.
        /// # Operands
        #[doc = concat!("Tile ", $m0, " x 8·", $nv, " x 1; strides as given; no alignment.")]
        /// # Needs
        /// AVX2 and FMA.
        /// # Numerics
        /// `FusedChain`.
        /// # Registers
        #[doc = concat!($m0, " x ", $nv, " accumulators, ", $nv, " of the right operand and 1 broadcast, of 16.")]
        /// # Safety
        /// As [`Kernel`](super::Kernel) on f32; the machine has AVX2 and FMA.
        pub unsafe fn $name(a: &RawArgs) {
            if a.cols == $nv * 8 {
                // SAFETY: the caller's; all columns are valid.
                unsafe { tile::<$m0, $nv, true>(a) }
            } else if a.cols > 0 {
                // SAFETY: the caller's; there is a column, so the left operand is read.
                unsafe { tile::<$m0, $nv, false>(a) }
            }
        }
    )*};
}

rows! {
    mmt4d_f32f32f32_1x8x1_x86_64_avx2_fma, 1, 1;
    mmt4d_f32f32f32_2x8x1_x86_64_avx2_fma, 2, 1;
    mmt4d_f32f32f32_4x8x1_x86_64_avx2_fma, 4, 1;
    mmt4d_f32f32f32_8x8x1_x86_64_avx2_fma, 8, 1;
    mmt4d_f32f32f32_12x8x1_x86_64_avx2_fma, 12, 1;
    mmt4d_f32f32f32_1x16x1_x86_64_avx2_fma, 1, 2;
    mmt4d_f32f32f32_2x16x1_x86_64_avx2_fma, 2, 2;
    mmt4d_f32f32f32_4x16x1_x86_64_avx2_fma, 4, 2;
    mmt4d_f32f32f32_6x16x1_x86_64_avx2_fma, 6, 2;
}
