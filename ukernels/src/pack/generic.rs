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
pub unsafe fn pack_f32f32_nxn_generic(a: &RawArgs) {
    for o0 in 0..a.outer[0] {
        for o1 in 0..a.outer[1] {
            // SAFETY: the caller's.
            unsafe { tile(a, o0, o1) }
        }
    }
}

/// One tile.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on f32, for the tile at `(o0, o1)`.
pub(super) unsafe fn tile(a: &RawArgs, o0: usize, o1: usize) {
    let [t0, t1] = a.tile;
    // Moved as bits, so that no float register canonicalises a NaN.
    let out = a.out.cast::<u32>().wrapping_offset(o0 as isize * a.out_strides[0] + o1 as isize * a.out_strides[1]);
    for i0 in 0..t0 {
        for i1 in 0..t1 {
            let (r, c) = (o0 * t0 + i0, o1 * t1 + i1);
            // SAFETY: the source is read where it has a row and a column; the tile is inside `out`.
            unsafe {
                let value = if r < a.size[0] && c < a.size[1] {
                    let at = r as isize * a.src_strides[0] + c as isize * a.src_strides[1];
                    a.src.cast::<u32>().offset(at).read_unaligned()
                } else {
                    a.padding as u32
                };
                out.add(i0 * t1 + i1).write_unaligned(value);
            }
        }
    }
}
