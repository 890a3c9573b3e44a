//! Rows through `wide`: vectors of whatever the build's baseline has. Product and sum are two operations, so that the
//! bits are the same on every architecture.

use super::RawArgs;
use super::scalar::{Round, Widen};
use crate::elem::{I4x2, U4x2};
use core::ops::{Add, Mul, Sub};
use wide::{f32x8, f64x8, i32x8};

/// Eight columns of accumulators, and the operands' elements as they are summed.
trait Lanes: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// A lane.
    type Lane: Copy + PartialOrd + Default;
    fn new(lanes: [Self::Lane; 8]) -> Self;
    fn lanes(self) -> [Self::Lane; 8];
    /// A scale or a zero point.
    fn of(x: f32) -> Self::Lane;
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
            #[inline(always)]
            fn of(x: f32) -> $lane {
                x as $lane
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
unsafe fn tile<
    V: Lanes,
    L: Widen<V::Lane>,
    R: Widen<V::Lane>,
    O: Round<V::Lane>,
    const M0: usize,
    const K0: usize,
    const GROUP: usize,
>(
    a: &RawArgs,
) {
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
    let (lhs, out) = (a.lhs.cast::<L>(), a.out.cast::<O>());
    let scaled = GROUP > 0;
    // Scales of one group; absent zero points are zeros.
    let panel = |p: *const f32, group: usize| {
        let mut lanes = [zero; 8];
        if !p.is_null() {
            for (c, lane) in lanes.iter_mut().enumerate().take(cols) {
                // SAFETY: there is one for each valid column.
                *lane = V::of(unsafe { p.add(group * 8 + c).read_unaligned() });
            }
        }
        V::new(lanes)
    };
    let mut acc = [V::new([zero; 8]); M0];
    // Sums before they are scaled.
    let mut sums = acc;
    let mut group = 0;
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
            for k in 0..a.k_per_batch {
                let (tile, inner) = ((k / K0) as isize, (k % K0) as isize);
                if first < last {
                    let from = b.rhs + tile * a.rhs_k_stride + inner;
                    let mut lanes = [zero; 8];
                    if K0 == 1 && cols == 8 {
                        lanes = a.rhs.cast::<R>().offset(from).cast::<[R; 8]>().read_unaligned().map(R::widen);
                    } else {
                        for (c, lane) in lanes.iter_mut().enumerate().take(cols) {
                            *lane = R::read(a.rhs, from + (c * K0) as isize);
                        }
                    }
                    let right = V::new(lanes) - if scaled { panel(a.zero_points, group) } else { V::new([zero; 8]) };
                    for (r, (acc, sum)) in acc.iter_mut().zip(&mut sums).enumerate() {
                        if (first..last).contains(&r) {
                            let at = r as isize * a.lhs_row_stride + tile * a.lhs_k_stride + inner;
                            let left = lhs.wrapping_offset(at).read_unaligned().widen();
                            let sum = if scaled { sum } else { acc };
                            *sum = V::new([left; 8]) * right + *sum;
                        }
                    }
                }
                if scaled && GROUP < usize::MAX && ((k + 1) % GROUP == 0 || k + 1 == a.k_per_batch) {
                    let scale = panel(a.scales, group);
                    for (r, (acc, sum)) in acc.iter_mut().zip(&mut sums).enumerate() {
                        if (first..last).contains(&r) {
                            *acc = scale * *sum + *acc;
                            *sum = V::new([zero; 8]);
                        }
                    }
                    group += 1;
                }
            }
        }
        if GROUP == usize::MAX {
            let scale = panel(a.scales, 0);
            for (acc, sum) in acc.iter_mut().zip(&sums).take(a.rows) {
                *acc = scale * *sum + *acc;
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
    ($v:ty, $l:ty, $r:ty, $o:ty, $numerics:literal $k0:literal $group:expr; $($name:ident, $m0:literal;)*) => {$(
        /// # Computes
        /// The [operation](super) on the types of its name.
        /// # Operands
        #[doc = concat!("Tile ", $m0, " x 8 x ", $k0, "; strides as given; no alignment.")]
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
                unsafe { tile::<$v, $l, $r, $o, $m0, $k0, { $group }>(a) }
            }
        }
    )*};
}

rows! { f32x8, f32, f32, f32, "MulAdd" 1 0;
    mmt4d_f32f32f32_1x8x1_portable, 1;
    mmt4d_f32f32f32_2x8x1_portable, 2;
    mmt4d_f32f32f32_4x8x1_portable, 4;
}
rows! { f64x8, f64, f64, f64, "MulAdd" 1 0;
    mmt4d_f64f64f64_1x8x1_portable, 1;
    mmt4d_f64f64f64_2x8x1_portable, 2;
    mmt4d_f64f64f64_4x8x1_portable, 4;
}
rows! { f32x8, half::f16, half::f16, f32, "MulAdd" 1 0;
    mmt4d_f16f16f32_1x8x1_portable, 1;
    mmt4d_f16f16f32_2x8x1_portable, 2;
    mmt4d_f16f16f32_4x8x1_portable, 4;
    mmt4d_f16f16f32_8x8x1_portable, 8;
}
rows! { f32x8, half::f16, half::f16, half::f16, "MulAdd" 1 0;
    mmt4d_f16f16f16_1x8x1_portable, 1;
    mmt4d_f16f16f16_2x8x1_portable, 2;
    mmt4d_f16f16f16_4x8x1_portable, 4;
    mmt4d_f16f16f16_8x8x1_portable, 8;
}
rows! { f32x8, half::bf16, half::bf16, f32, "MulAdd" 1 0;
    mmt4d_bf16bf16f32_1x8x1_portable, 1;
    mmt4d_bf16bf16f32_2x8x1_portable, 2;
    mmt4d_bf16bf16f32_4x8x1_portable, 4;
    mmt4d_bf16bf16f32_8x8x1_portable, 8;
}
rows! { f32x8, half::bf16, half::bf16, half::bf16, "MulAdd" 1 0;
    mmt4d_bf16bf16bf16_1x8x1_portable, 1;
    mmt4d_bf16bf16bf16_2x8x1_portable, 2;
    mmt4d_bf16bf16bf16_4x8x1_portable, 4;
    mmt4d_bf16bf16bf16_8x8x1_portable, 8;
}
rows! { i32x8, i16, i16, i32, "Exact" 1 0;
    mmt4d_i16i16i32_1x8x1_portable, 1;
    mmt4d_i16i16i32_2x8x1_portable, 2;
    mmt4d_i16i16i32_4x8x1_portable, 4;
    mmt4d_i16i16i32_8x8x1_portable, 8;
}
rows! { i32x8, i16, i8, i32, "Exact" 1 0;
    mmt4d_i16i8i32_1x8x1_portable, 1;
    mmt4d_i16i8i32_2x8x1_portable, 2;
    mmt4d_i16i8i32_4x8x1_portable, 4;
    mmt4d_i16i8i32_8x8x1_portable, 8;
}
rows! { i32x8, i8, i8, i32, "Exact" 1 0;
    mmt4d_i8i8i32_1x8x1_portable, 1;
    mmt4d_i8i8i32_2x8x1_portable, 2;
    mmt4d_i8i8i32_4x8x1_portable, 4;
    mmt4d_i8i8i32_8x8x1_portable, 8;
}
rows! { i32x8, u8, i8, i32, "Exact" 1 0;
    mmt4d_u8i8i32_1x8x1_portable, 1;
    mmt4d_u8i8i32_2x8x1_portable, 2;
    mmt4d_u8i8i32_4x8x1_portable, 4;
    mmt4d_u8i8i32_8x8x1_portable, 8;
}
rows! { i32x8, u8, u8, i32, "Exact" 1 0;
    mmt4d_u8u8i32_1x8x1_portable, 1;
    mmt4d_u8u8i32_2x8x1_portable, 2;
    mmt4d_u8u8i32_4x8x1_portable, 4;
    mmt4d_u8u8i32_8x8x1_portable, 8;
}
rows! { i32x8, i16, U4x2, i32, "Exact" 2 0;
    mmt4d_i16u4i32_1x8x2_portable, 1;
    mmt4d_i16u4i32_2x8x2_portable, 2;
    mmt4d_i16u4i32_4x8x2_portable, 4;
    mmt4d_i16u4i32_8x8x2_portable, 8;
}
rows! { i32x8, i8, I4x2, i32, "Exact" 2 0;
    mmt4d_i8i4i32_1x8x2_portable, 1;
    mmt4d_i8i4i32_2x8x2_portable, 2;
    mmt4d_i8i4i32_4x8x2_portable, 4;
    mmt4d_i8i4i32_8x8x2_portable, 8;
}
rows! { f32x8, i8, I4x2, f32, "MulAdd" 2 32;
    mmt4d_i8i4g32f32_1x8x2_portable, 1;
    mmt4d_i8i4g32f32_2x8x2_portable, 2;
    mmt4d_i8i4g32f32_4x8x2_portable, 4;
    mmt4d_i8i4g32f32_8x8x2_portable, 8;
}
rows! { f32x8, f32, I4x2, f32, "MulAdd" 2 32;
    mmt4d_f32i4g32f32_1x8x2_portable, 1;
    mmt4d_f32i4g32f32_2x8x2_portable, 2;
    mmt4d_f32i4g32f32_4x8x2_portable, 4;
    mmt4d_f32i4g32f32_8x8x2_portable, 8;
}
rows! { f32x8, f32, I4x2, f32, "MulAdd" 2 128;
    mmt4d_f32i4g128f32_1x8x2_portable, 1;
    mmt4d_f32i4g128f32_2x8x2_portable, 2;
    mmt4d_f32i4g128f32_4x8x2_portable, 4;
    mmt4d_f32i4g128f32_8x8x2_portable, 8;
}
rows! { f32x8, f32, i8, f32, "MulAdd" 1 usize::MAX;
    mmt4d_f32i8f32_1x8x1_portable, 1;
    mmt4d_f32i8f32_2x8x1_portable, 2;
    mmt4d_f32i8f32_4x8x1_portable, 4;
    mmt4d_f32i8f32_8x8x1_portable, 8;
}
rows! { f32x8, f32, i8, f32, "MulAdd" 1 32;
    mmt4d_f32i8g32f32_1x8x1_portable, 1;
    mmt4d_f32i8g32f32_2x8x1_portable, 2;
    mmt4d_f32i8g32f32_4x8x1_portable, 4;
    mmt4d_f32i8g32f32_8x8x1_portable, 8;
}
