//! Rows through `wide`: vectors of whatever the build's baseline has.

use super::RawArgs;
use wide::f32x8;

/// # Safety
/// As [`Kernel`](super::Kernel) on f32.
#[inline(always)]
unsafe fn tile<const M0: usize>(a: &RawArgs) {
    let cols = a.cols.min(8);
    // SAFETY (for the closures' callers): `p` points at `cols` readable or writable elements.
    let load = |p: *const f32| {
        let mut lanes = [0.0; 8];
        // SAFETY: at most eight elements, into an array of eight.
        unsafe { core::ptr::copy_nonoverlapping(p, lanes.as_mut_ptr(), cols) };
        f32x8::from(lanes)
    };
    let load_rhs = |p: *const f32| {
        // SAFETY: all eight columns are valid.
        if cols == 8 { f32x8::from(unsafe { p.cast::<[f32; 8]>().read_unaligned() }) } else { load(p) }
    };
    let (lhs, rhs, out) = (a.lhs.cast::<f32>(), a.rhs.cast::<f32>(), a.out.cast::<f32>());
    let mut acc = [f32x8::from([0.0; 8]); M0];
    // SAFETY: every offset is one of the formula's, which the caller vouches for.
    unsafe {
        for (r, acc) in acc.iter_mut().enumerate().take(a.rows) {
            let init = a.init.cast::<f32>().wrapping_offset(r as isize * a.init_row_stride);
            match (a.accumulate, !a.init.is_null()) {
                (false, false) => {}
                (false, true) => *acc = load(init),
                (true, false) => *acc = load(out.offset(r as isize * a.out_row_stride)),
                (true, true) => *acc = load(out.offset(r as isize * a.out_row_stride)) + load(init),
            }
        }
        for b in 0..a.batch_count {
            let b = &*a.batches.add(b);
            let (first, last) = (b.skip_first, a.rows.saturating_sub(b.skip_last));
            let lhs = lhs.wrapping_offset(b.lhs);
            let rhs = rhs.wrapping_offset(b.rhs);
            for k in 0..a.k_per_batch as isize {
                if first >= last {
                    break;
                }
                let right = load_rhs(rhs.offset(k * a.rhs_k_stride));
                for (r, acc) in acc.iter_mut().enumerate() {
                    if (first..last).contains(&r) {
                        let left = lhs.wrapping_offset(r as isize * a.lhs_row_stride + k * a.lhs_k_stride).read();
                        *acc = f32x8::from([left; 8]) * right + *acc;
                    }
                }
            }
        }
        for (r, acc) in acc.iter().enumerate().take(a.rows) {
            let mut acc = *acc;
            if !a.bias.is_null() {
                acc += load(a.bias.cast());
            }
            let mut lanes = acc.to_array();
            if !a.clamp.is_null() {
                let [low, high] = a.clamp.cast::<[f32; 2]>().read();
                for x in &mut lanes {
                    *x = if *x < low { low } else { *x };
                    *x = if *x > high { high } else { *x };
                }
            }
            let out = out.offset(r as isize * a.out_row_stride);
            core::ptr::copy_nonoverlapping(lanes.as_ptr(), out, cols);
        }
    }
}

macro_rules! rows {
    ($($name:ident, $m0:literal;)*) => {$(
        /// # Computes
        /// The [operation](super) on f32.
        /// # Operands
        #[doc = concat!("Tile ", $m0, " x 8 x 1; strides as given; no alignment.")]
        /// # Needs
        /// Nothing.
        /// # Numerics
        /// `MulAdd`: product and sum are two operations, so that the bits are the same on every architecture.
        /// # Registers
        #[doc = concat!($m0, " accumulators of 256 bits, in two halves where vectors have 128.")]
        /// # Safety
        /// As [`Kernel`](super::Kernel) on f32.
        pub unsafe fn $name(a: &RawArgs) {
            if a.rows > 0 && a.cols > 0 {
                // SAFETY: the caller's; there are a row and a column, so the operands are read.
                unsafe { tile::<$m0>(a) }
            }
        }
    )*};
}

rows! {
    mmt4d_f32f32f32_1x8x1_portable, 1;
    mmt4d_f32f32f32_2x8x1_portable, 2;
    mmt4d_f32f32f32_4x8x1_portable, 4;
    mmt4d_f32f32f32_8x8x1_portable, 8;
}
