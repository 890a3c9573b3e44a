//! Any tile, element by element. Also the reference: a move has only one right result.

use super::RawArgs;
use crate::pack::generic::copy;

/// Elements of `E` bytes.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on such elements.
unsafe fn run<const E: usize>(a: &RawArgs) {
    for r in 0..a.size[0] {
        // SAFETY: the caller's.
        unsafe { row::<E>(a, r, 0) }
    }
}

/// Row `r` from column `from` on. Moved as bits, so that no float register canonicalises a NaN.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on elements of `E` bytes, for that row.
#[inline(never)]
pub(super) unsafe fn row<const E: usize>(a: &RawArgs, r: usize, from: usize) {
    let [t0, t1] = a.tile;
    let bytes = |elements: isize| elements * E as isize;
    for c in from..a.size[1] {
        let tile = (r / t0) as isize * a.src_strides[0] + (c / t1) as isize * a.src_strides[1];
        let at = r as isize * a.out_strides[0] + c as isize * a.out_strides[1];
        // SAFETY: one element of each operand.
        unsafe {
            let src = a.src.offset(bytes(tile)).add((r % t0 * t1 + c % t1) * E);
            copy::<E>(src, a.out.offset(bytes(at)));
        }
    }
}

macro_rules! rows {
    ($($name:ident, $bytes:literal;)*) => {$(
        /// # Computes
        #[doc = concat!("The [operation](super) on elements of ", $bytes, " bytes.")]
        /// # Operands
        /// Tile, sizes and strides as given; no alignment.
        /// # Needs
        /// Nothing.
        /// # Numerics
        /// `Exact`.
        /// # Registers
        /// One element.
        /// # Safety
        #[doc = concat!("As [`Kernel`](super::Kernel) on elements of ", $bytes, " bytes.")]
        pub unsafe fn $name(a: &RawArgs) {
            // SAFETY: the caller's.
            unsafe { run::<$bytes>(a) }
        }
    )*};
}

rows! {
    unpack_f64f64_nxn_generic, 8;
    unpack_f32f32_nxn_generic, 4;
    unpack_f16f16_nxn_generic, 2;
    unpack_i8i8_nxn_generic, 1;
}
