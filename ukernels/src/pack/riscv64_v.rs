//! RVV 1.0.

use super::RawArgs;
use crate::riscv64::{Columns, Scaled, Sixteen, copy, vlenb};

/// Panels of as many rows as a tile of `C` has columns, one column deep.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on f32; the machine has V.
unsafe fn run<C: Columns>(a: &RawArgs) {
    // SAFETY: the caller's.
    let t0 = C::count(unsafe { vlenb() });
    for o0 in 0..a.outer[0] {
        let valid = a.size[0].saturating_sub(o0 * t0).min(t0);
        let row = a.src.cast::<u32>().wrapping_offset((o0 * t0) as isize * a.src_strides[0]);
        let panel = a.out.cast::<u32>().wrapping_offset(o0 as isize * a.out_strides[0]);
        for o1 in 0..a.outer[1] {
            let valid = if o1 < a.size[1] { valid } else { 0 };
            let from = row.wrapping_offset(o1 as isize * a.src_strides[1]);
            let to = panel.wrapping_offset(o1 as isize * a.out_strides[1]);
            // SAFETY: the source is read where it has a row and a column; the tile is inside `out`.
            unsafe {
                copy(valid, from, a.src_strides[0], to, 1);
                for i0 in valid..t0 {
                    to.add(i0).write(a.padding as u32);
                }
            }
        }
    }
}

macro_rules! rows {
    ($($name:ident, $columns:ident, $t0:literal;)*) => {$(
        /// # Computes
        /// The [operation](super) on f32.
        /// # Operands
        #[doc = concat!("Tile ", $t0, " x 1; sizes and strides as given; elements aligned to their size.")]
        /// # Needs
        /// V, at any VLEN.
        /// # Numerics
        /// `Exact`.
        /// # Registers
        /// A group of 4.
        /// # Safety
        /// As [`Kernel`](super::Kernel) on f32; the machine has V.
        pub unsafe fn $name(a: &RawArgs) {
            // SAFETY: the caller's.
            unsafe { run::<$columns>(a) }
        }
    )*};
}

rows! {
    pack_f32f32_16x1_riscv64_v, Sixteen, "16";
    pack_f32f32_16vsx1_riscv64_v, Scaled, "16·VLEN/128";
}
