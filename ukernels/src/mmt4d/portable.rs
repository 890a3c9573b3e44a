//! Rows through `wide`: vectors of whatever the build's baseline has. Product and sum are two operations, so that the
//! bits are the same on every architecture.

use super::RawArgs;
use super::scalar::{Round, Widen};
use wide::{f32x8, f64x8, i32x8};

/// Eight columns of accumulators, and the operands' elements as they are summed.
trait Lanes: Copy + core::ops::Add<Output = Self> + core::ops::Mul<Output = Self> {
    /// A lane.
    type Lane: Copy + PartialOrd + Default;
    fn new(lanes: [Self::Lane; 8]) -> Self;
    fn lanes(self) -> [Self::Lane; 8];
}

macro_rules! lanes {
    ($($wide:ty, $lane:ty;)*) => {$(
        impl Lanes for $wide {
            type Lane = $lane;
            #[inline(always)]
            fn new(lanes: [$lane; 8]) -> $wide {
                <$wide>::from(lanes)
            }
            #[inline(always)]
            fn lanes(self) -> [$lane; 8] {
                self.to_array()
            }
        }
    )*};
}

lanes! {
    f32x8, f32;
    f64x8, f64;
    i32x8, i32;
}

/// # Safety
/// As [`Kernel`](super::Kernel) on these types.
#[inline(always)]
unsafe fn tile<V: Lanes, L: Widen<V::Lane>, R: Widen<V::Lane>, O: Round<V::Lane>, const M0: usize>(a: &RawArgs) {
    let cols = a.cols.min(8);
    let zero = V::Lane::default();
    // The first columns at `p`, and zeros.
    macro_rules! load {
        ($t:ty, $p:expr) => {{
            let p: *const $t = $p;
            let mut lanes = [zero; 8];
            for (c, lane) in lanes.iter_mut().enumerate().take(cols) {
                *lane = p.add(c).read_unaligned().widen();
            }
            V::new(lanes)
        }};
    }
    let (lhs, rhs, out) = (a.lhs.cast::<L>(), a.rhs.cast::<R>(), a.out.cast::<O>());
    let mut acc = [V::new([zero; 8]); M0];
    // SAFETY: every offset is one of the formula's, which the caller vouches for.
    unsafe {
        for (r, acc) in acc.iter_mut().enumerate().take(a.rows) {
            let init = a.init.cast::<O>().wrapping_offset(r as isize * a.init_row_stride);
            let old = out.wrapping_offset(r as isize * a.out_row_stride);
            match (a.accumulate, !a.init.is_null()) {
                (false, false) => {}
                (false, true) => *acc = load!(O, init),
                (true, false) => *acc = load!(O, old),
                (true, true) => *acc = load!(O, old) + load!(O, init),
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
                let right = rhs.offset(k * a.rhs_k_stride);
                let right = if cols == 8 {
                    V::new(right.cast::<[R; 8]>().read_unaligned().map(R::widen))
                } else {
                    load!(R, right)
                };
                for (r, acc) in acc.iter_mut().enumerate() {
                    if (first..last).contains(&r) {
                        let at = r as isize * a.lhs_row_stride + k * a.lhs_k_stride;
                        let left = lhs.wrapping_offset(at).read_unaligned().widen();
                        *acc = V::new([left; 8]) * right + *acc;
                    }
                }
            }
        }
        for (r, acc) in acc.iter().enumerate().take(a.rows) {
            let mut acc = *acc;
            if !a.bias.is_null() {
                acc = acc + load!(O, a.bias.cast());
            }
            let mut lanes = acc.lanes();
            if !a.clamp.is_null() {
                let [low, high] = a.clamp.cast::<[O; 2]>().read_unaligned().map(O::widen);
                for x in &mut lanes {
                    *x = if *x < low { low } else { *x };
                    *x = if *x > high { high } else { *x };
                }
            }
            let out = out.offset(r as isize * a.out_row_stride);
            for (c, &lane) in lanes.iter().enumerate().take(cols) {
                out.add(c).write_unaligned(O::round(lane));
            }
        }
    }
}

macro_rules! rows {
    ($v:ty, $l:ty, $r:ty, $o:ty, $numerics:literal; $($name:ident, $m0:literal;)*) => {$(
        /// # Computes
        /// The [operation](super) on the types of its name.
        /// # Operands
        #[doc = concat!("Tile ", $m0, " x 8 x 1; strides as given; no alignment.")]
        /// # Needs
        /// Nothing.
        /// # Numerics
        #[doc = concat!("`", $numerics, "`.")]
        /// # Registers
        #[doc = concat!($m0, " accumulators of eight columns, in parts where vectors are shorter.")]
        /// # Safety
        /// As [`Kernel`](super::Kernel) on these types.
        pub unsafe fn $name(a: &RawArgs) {
            if a.rows > 0 && a.cols > 0 {
                // SAFETY: the caller's; there are a row and a column, so the operands are read.
                unsafe { tile::<$v, $l, $r, $o, $m0>(a) }
            }
        }
    )*};
}

rows! { f32x8, f32, f32, f32, "MulAdd";
    mmt4d_f32f32f32_1x8x1_portable, 1;
    mmt4d_f32f32f32_2x8x1_portable, 2;
    mmt4d_f32f32f32_4x8x1_portable, 4;
    mmt4d_f32f32f32_8x8x1_portable, 8;
}
rows! { f64x8, f64, f64, f64, "MulAdd";
    mmt4d_f64f64f64_1x8x1_portable, 1;
    mmt4d_f64f64f64_2x8x1_portable, 2;
    mmt4d_f64f64f64_4x8x1_portable, 4;
    mmt4d_f64f64f64_8x8x1_portable, 8;
}
rows! { f32x8, half::f16, half::f16, f32, "MulAdd";
    mmt4d_f16f16f32_1x8x1_portable, 1;
    mmt4d_f16f16f32_2x8x1_portable, 2;
    mmt4d_f16f16f32_4x8x1_portable, 4;
    mmt4d_f16f16f32_8x8x1_portable, 8;
}
rows! { f32x8, half::f16, half::f16, half::f16, "MulAdd";
    mmt4d_f16f16f16_1x8x1_portable, 1;
    mmt4d_f16f16f16_2x8x1_portable, 2;
    mmt4d_f16f16f16_4x8x1_portable, 4;
    mmt4d_f16f16f16_8x8x1_portable, 8;
}
rows! { f32x8, half::bf16, half::bf16, f32, "MulAdd";
    mmt4d_bf16bf16f32_1x8x1_portable, 1;
    mmt4d_bf16bf16f32_2x8x1_portable, 2;
    mmt4d_bf16bf16f32_4x8x1_portable, 4;
    mmt4d_bf16bf16f32_8x8x1_portable, 8;
}
rows! { f32x8, half::bf16, half::bf16, half::bf16, "MulAdd";
    mmt4d_bf16bf16bf16_1x8x1_portable, 1;
    mmt4d_bf16bf16bf16_2x8x1_portable, 2;
    mmt4d_bf16bf16bf16_4x8x1_portable, 4;
    mmt4d_bf16bf16bf16_8x8x1_portable, 8;
}
rows! { i32x8, i16, i16, i32, "Exact";
    mmt4d_i16i16i32_1x8x1_portable, 1;
    mmt4d_i16i16i32_2x8x1_portable, 2;
    mmt4d_i16i16i32_4x8x1_portable, 4;
    mmt4d_i16i16i32_8x8x1_portable, 8;
}
rows! { i32x8, i16, i8, i32, "Exact";
    mmt4d_i16i8i32_1x8x1_portable, 1;
    mmt4d_i16i8i32_2x8x1_portable, 2;
    mmt4d_i16i8i32_4x8x1_portable, 4;
    mmt4d_i16i8i32_8x8x1_portable, 8;
}
rows! { i32x8, i8, i8, i32, "Exact";
    mmt4d_i8i8i32_1x8x1_portable, 1;
    mmt4d_i8i8i32_2x8x1_portable, 2;
    mmt4d_i8i8i32_4x8x1_portable, 4;
    mmt4d_i8i8i32_8x8x1_portable, 8;
}
rows! { i32x8, u8, i8, i32, "Exact";
    mmt4d_u8i8i32_1x8x1_portable, 1;
    mmt4d_u8i8i32_2x8x1_portable, 2;
    mmt4d_u8i8i32_4x8x1_portable, 4;
    mmt4d_u8i8i32_8x8x1_portable, 8;
}
rows! { i32x8, u8, u8, i32, "Exact";
    mmt4d_u8u8i32_1x8x1_portable, 1;
    mmt4d_u8u8i32_2x8x1_portable, 2;
    mmt4d_u8u8i32_4x8x1_portable, 4;
    mmt4d_u8u8i32_8x8x1_portable, 8;
}
