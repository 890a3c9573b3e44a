//! Addresses of the left operand's rows.

use core::arch::asm;

/// Pointers to the rows of a left operand: one base for three rows, reached as base, base + stride and
/// base + 2·stride, so that fourteen rows need five registers. Strides count bytes.
pub(super) struct Rows<const M0: usize> {
    bases: [*const u8; 6],
    stride: isize,
}

impl<const M0: usize> Rows<M0> {
    #[inline(always)]
    pub(super) fn new(lhs: *const u8, stride: isize) -> Rows<M0> {
        const { assert!(M0 <= 18) };
        let mut rows = Rows { bases: core::array::from_fn(|i| lhs.wrapping_offset(3 * i as isize * stride)), stride };
        rows.hide();
        rows
    }

    #[inline(always)]
    pub(super) fn row(&self, r: usize) -> *const u8 {
        self.bases[r / 3].wrapping_offset((r % 3) as isize * self.stride)
    }

    #[inline(always)]
    pub(super) fn step(&mut self, by: isize) {
        for base in &mut self.bases[..M0.div_ceil(3)] {
            *base = base.wrapping_offset(by);
        }
        self.hide();
    }

    /// Hides how the bases relate and that they step alike, which keeps the compiler from deriving one address a row and
    /// spilling them.
    #[inline(always)]
    #[allow(clippy::pointers_in_nomem_asm_block, reason = "the block is empty: it reads no memory")]
    fn hide(&mut self) {
        for base in &mut self.bases[..M0.div_ceil(3)] {
            // SAFETY: no instruction at all.
            unsafe { asm!("/* {0} */", inout(reg) * base, options(pure, nomem, nostack, preserves_flags)) };
        }
    }
}
