//! Any tile, element by element. Also the reference: a move has only one right result.

use super::RawArgs;

/// # Computes
/// The [operation](super) on 32-bit elements.
/// # Operands
/// Tile, sizes and strides as given; no alignment.
/// # Needs
/// Nothing.
/// # Numerics
/// `Exact`.
/// # Registers
/// One element.
/// # Safety
/// As [`Kernel`](super::Kernel) on f32.
pub unsafe fn unpack_f32f32_nxn_generic(a: &RawArgs) {
    for r in 0..a.size[0] {
        // SAFETY: the caller's.
        unsafe { row(a, r, 0) }
    }
}

/// Row `r` from column `from` on.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on f32, for that row.
pub(super) unsafe fn row(a: &RawArgs, r: usize, from: usize) {
    let [t0, t1] = a.tile;
    for c in from..a.size[1] {
        let tile = (r / t0) as isize * a.src_strides[0] + (c / t1) as isize * a.src_strides[1];
        let at = r as isize * a.out_strides[0] + c as isize * a.out_strides[1];
        // SAFETY: one element of each operand; moved as bits, so that no float register canonicalises a NaN.
        unsafe {
            let value = a.src.cast::<u32>().offset(tile).add(r % t0 * t1 + c % t1).read_unaligned();
            a.out.cast::<u32>().offset(at).write_unaligned(value);
        }
    }
}
