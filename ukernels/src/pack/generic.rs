//! Any tile, element by element. Also the reference: a move has only one right result.

use super::RawArgs;

/// Elements of `E` bytes.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on such elements.
unsafe fn run<const E: usize>(a: &RawArgs) {
    for o0 in 0..a.outer[0] {
        for o1 in 0..a.outer[1] {
            // SAFETY: the caller's.
            unsafe { tile::<E>(a, o0, o1) }
        }
    }
}

/// One tile. Moved as bits, so that no float register canonicalises a NaN.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on elements of `E` bytes, for the tile at `(o0, o1)`.
#[inline(never)]
pub(super) unsafe fn tile<const E: usize>(a: &RawArgs, o0: usize, o1: usize) {
    let [t0, t1] = a.tile;
    let bytes = |elements: isize| elements * E as isize;
    let out = a.out.wrapping_offset(bytes(o0 as isize * a.out_strides[0] + o1 as isize * a.out_strides[1]));
    for i0 in 0..t0 {
        for i1 in 0..t1 {
            let (r, c) = (o0 * t0 + i0, o1 * t1 + i1);
            // SAFETY: the source is read where it has a row and a column; the tile is inside `out`.
            unsafe {
                let out = out.add((i0 * t1 + i1) * E);
                if r < a.size[0] && c < a.size[1] {
                    let at = r as isize * a.src_strides[0] + c as isize * a.src_strides[1];
                    copy::<E>(a.src.offset(bytes(at)), out);
                } else {
                    pad::<E>(a.padding, out);
                }
            }
        }
    }
}

/// The padding value.
///
/// # Safety
/// `out` has room for an element of `E` bytes.
#[inline(always)]
pub(super) unsafe fn pad<const E: usize>(padding: u64, out: *mut u8) {
    // SAFETY: the caller's; no element has more bytes than the padding.
    unsafe { copy::<E>(padding.to_le_bytes().as_ptr(), out) }
}

/// `B` bytes.
///
/// # Safety
/// `B` bytes of either operand.
#[inline(always)]
pub(crate) unsafe fn copy<const B: usize>(from: *const u8, to: *mut u8) {
    // SAFETY: the caller's.
    unsafe { to.cast::<[u8; B]>().write_unaligned(from.cast::<[u8; B]>().read_unaligned()) }
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
    pack_f64f64_nxn_generic, 8;
    pack_f32f32_nxn_generic, 4;
    pack_f16f16_nxn_generic, 2;
    pack_i8i8_nxn_generic, 1;
}
