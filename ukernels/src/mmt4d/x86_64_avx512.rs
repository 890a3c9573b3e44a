//! AVX-512: zmm accumulators, the left operand broadcast from memory, edges by masks.
//! Source: Intel SDM volume 2 (VFMADD231PS with embedded broadcast, masked moves).

use super::RawArgs;
use super::lhs_rows::Rows;
use core::arch::x86_64::*;

/// A tile of `M0` rows and `NV` vectors of 16 columns.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on f32; the machine has AVX-512F.
#[target_feature(enable = "avx512f")]
#[inline]
#[allow(clippy::needless_range_loop, reason = "one row number indexes accumulators and addresses")]
unsafe fn tile<const M0: usize, const NV: usize>(a: &RawArgs) {
    let masks: [__mmask16; NV] = core::array::from_fn(|v| {
        let lanes = a.cols.saturating_sub(v * 16).min(16);
        ((1u32 << lanes) - 1) as u16
    });
    let out = a.out.cast::<f32>();
    let mut acc = [[_mm512_setzero_ps(); NV]; M0];
    // SAFETY: every offset is one of the formula's, which the caller vouches for; masked lanes are not accessed.
    unsafe {
        if a.accumulate || !a.init.is_null() {
            for r in 0..M0 {
                if r < a.rows {
                    for v in 0..NV {
                        let init = a.init.cast::<f32>().wrapping_offset(r as isize * a.init_row_stride);
                        let init = init.wrapping_add(v * 16);
                        let old = out.wrapping_offset(r as isize * a.out_row_stride).wrapping_add(v * 16);
                        acc[r][v] = match (a.accumulate, !a.init.is_null()) {
                            (true, false) => _mm512_maskz_loadu_ps(masks[v], old),
                            (false, _) => _mm512_maskz_loadu_ps(masks[v], init),
                            (true, true) => _mm512_add_ps(
                                _mm512_maskz_loadu_ps(masks[v], old),
                                _mm512_maskz_loadu_ps(masks[v], init),
                            ),
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
                    let right: [__m512; NV] =
                        core::array::from_fn(|v| _mm512_maskz_loadu_ps(masks[v], rhs.wrapping_add(v * 16)));
                    for r in 0..M0 {
                        let left = _mm512_set1_ps(rows.row(r).read());
                        for v in 0..NV {
                            acc[r][v] = _mm512_fmadd_ps(left, right[v], acc[r][v]);
                        }
                    }
                    if !prefetch.is_null() {
                        for v in 0..NV {
                            _mm_prefetch::<_MM_HINT_T1>(prefetch.wrapping_add(v * 16).cast());
                        }
                        prefetch = prefetch.wrapping_offset(a.rhs_k_stride);
                    }
                    rhs = rhs.wrapping_offset(a.rhs_k_stride);
                    rows.step(a.lhs_k_stride);
                }
            } else if first < last {
                for _ in 0..a.k_per_batch {
                    let right: [__m512; NV] =
                        core::array::from_fn(|v| _mm512_maskz_loadu_ps(masks[v], rhs.wrapping_add(v * 16)));
                    for r in 0..M0 {
                        if r >= first && r < last {
                            let left = _mm512_set1_ps(rows.row(r).read());
                            for v in 0..NV {
                                acc[r][v] = _mm512_fmadd_ps(left, right[v], acc[r][v]);
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
                let bias = _mm512_maskz_loadu_ps(masks[v], a.bias.cast::<f32>().wrapping_add(v * 16));
                for r in 0..M0 {
                    acc[r][v] = _mm512_add_ps(acc[r][v], bias);
                }
            }
        }
        if !a.clamp.is_null() {
            let [low, high] = a.clamp.cast::<[f32; 2]>().read().map(|x| _mm512_set1_ps(x));
            for r in 0..M0 {
                for v in 0..NV {
                    // The second operand is the result where one is a NaN or both are zeros.
                    acc[r][v] = _mm512_min_ps(high, _mm512_max_ps(low, acc[r][v]));
                }
            }
        }
        for r in 0..M0 {
            if r < a.rows {
                for v in 0..NV {
                    let out = out.wrapping_offset(r as isize * a.out_row_stride).wrapping_add(v * 16);
                    _mm512_mask_storeu_ps(out, masks[v], acc[r][v]);
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
        #[doc = concat!("Tile ", $m0, " x 16·", $nv, " x 1; strides as given; no alignment.")]
        /// # Needs
        /// AVX-512F (the row's level: F, BW, DQ, VL).
        /// # Numerics
        /// `FusedChain`.
        /// # Registers
        #[doc = concat!($m0, " x ", $nv, " accumulators and ", $nv, " of the right operand, of 32.")]
        /// # Safety
        /// As [`Kernel`](super::Kernel) on f32; the machine has AVX-512F.
        pub unsafe fn $name(a: &RawArgs) {
            if a.cols > 0 {
                // SAFETY: the caller's; there is a column, so the left operand is read.
                unsafe { tile::<$m0, $nv>(a) }
            }
        }
    )*};
}

rows! {
    mmt4d_f32f32f32_1x32x1_x86_64_avx512, 1, 2;
    mmt4d_f32f32f32_2x32x1_x86_64_avx512, 2, 2;
    mmt4d_f32f32f32_4x32x1_x86_64_avx512, 4, 2;
    mmt4d_f32f32f32_8x32x1_x86_64_avx512, 8, 2;
    mmt4d_f32f32f32_14x32x1_x86_64_avx512, 14, 2;
}
