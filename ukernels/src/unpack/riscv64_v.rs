//! RVV 1.0.

use super::RawArgs;
use crate::riscv64::{Columns, Scaled, Sixteen, copy, vlenb};

/// Tiles of `T0` rows and the columns of `C`.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on f32; the machine has V.
unsafe fn run<const T0: usize, C: Columns>(a: &RawArgs) {
    // SAFETY: the caller's.
    let t1 = C::count(unsafe { vlenb() });
    for r in 0..a.size[0] {
        let from = a.src.cast::<u32>().wrapping_offset((r / T0) as isize * a.src_strides[0]).wrapping_add(r % T0 * t1);
        let to = a.out.cast::<u32>().wrapping_offset(r as isize * a.out_strides[0]);
        for o1 in 0..a.size[1].div_ceil(t1) {
            let valid = (a.size[1] - o1 * t1).min(t1);
            let from = from.wrapping_offset(o1 as isize * a.src_strides[1]);
            let to = to.wrapping_offset((o1 * t1) as isize * a.out_strides[1]);
            // SAFETY: the valid columns of one row of a tile; the caller vouches for both operands.
            unsafe { copy(valid, from, 1, to, a.out_strides[1]) }
        }
    }
}

macro_rules! rows {
    ($($name:ident, $t0:literal, $columns:ident, $t1:literal;)*) => {$(
        /// # Computes
        /// The [operation](super) on f32.
        /// # Operands
        #[doc = concat!("Tile ", $t0, " x ", $t1, "; sizes and strides as given; elements aligned to their size.")]
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
            unsafe { run::<$t0, $columns>(a) }
        }
    )*};
}

rows! {
    unpack_f32f32_6x16_riscv64_v, 6, Sixteen, "16";
    unpack_f32f32_6x16vs_riscv64_v, 6, Scaled, "16·VLEN/128";
}
