//! `unpack`: panels to a strided matrix.
//!
//! # Computes
//! ```text
//! out[(o0·T0+i0)·out_strides[0] + (o1·T1+i1)·out_strides[1]] = src[o0·src_strides[0] + o1·src_strides[1] + i0·T1 + i1]
//! ```
//! for each row and column below `size`. Offsets count elements. Padding is dropped. Transposes are choices of strides, and rows
//! serve every type of their width, as for [`pack`](mod@crate::pack).
//!
//! Source: IREE's `iree_uk_unpack`; the layout is that of [`crate::layout`].

#[cfg(target_arch = "aarch64")]
pub mod aarch64_neon;
pub mod generic;
#[cfg(target_arch = "riscv64")]
pub mod riscv64_v;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod tiles;
#[cfg(target_arch = "x86_64")]
pub mod x86_64_avx2_fma;
#[cfg(target_arch = "x86_64")]
pub mod x86_64_avx512;

use crate::elem::Elem;
use crate::mmt4d::ArgsError;
use crate::pack::{Grid, check_tile, check_types};
use crate::table::{Bound, Code};

/// Arguments as a kernel takes them.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RawArgs {
    /// The tile, for rows whose tile is given at run time.
    pub tile: [usize; 2],
    /// Rows and columns of the output.
    pub size: [usize; 2],
    /// The panels.
    pub src: *const u8,
    /// From one tile to the next, in either outer dim.
    pub src_strides: [isize; 2],
    /// The output.
    pub out: *mut u8,
    /// From one row, and one column, to the next.
    pub out_strides: [isize; 2],
}

/// A kernel.
///
/// # Safety
/// Every element that the formula in the [module's docs](self) reads or writes is inside `src` or `out`, which do
/// not overlap, and the machine has what the row needs.
pub type Kernel = unsafe fn(&RawArgs);

/// Arguments of a safe call.
#[derive(Debug)]
pub struct Args<'a, I, O> {
    /// The tile, for rows whose tile is given at run time.
    pub tile: [usize; 2],
    /// Rows and columns of the output.
    pub size: [usize; 2],
    /// The panels.
    pub src: &'a [I],
    /// From one tile to the next, in either outer dim.
    pub src_strides: [isize; 2],
    /// The output.
    pub out: &'a mut [O],
    /// From one row, and one column, to the next.
    pub out_strides: [isize; 2],
}

impl Bound {
    /// Unpacks.
    ///
    /// # Errors
    /// Operands of the wrong type or too short for what would be accessed; nothing is written then.
    pub fn unpack<I: Elem, O: Elem>(&self, args: &mut Args<'_, I, O>) -> Result<(), ArgsError> {
        let row = self.row.name;
        let Code::Unpack(Some(_)) = self.row.code else { return Err(ArgsError::Operation(row)) };
        let types = self.row.types.list;
        check_types::<I, O>(row, types)?;
        let tile = self.panel_tile(args.tile);
        check_tile(row, tile, args.size)?;
        let outer = [args.size[0].div_ceil(tile[0]), args.size[1].div_ceil(tile[1])];
        let panels = Grid { size: outer, strides: args.src_strides, run: tile[0].saturating_mul(tile[1]) };
        panels.check(row, "src", args.src.len())?;
        Grid { size: args.size, strides: args.out_strides, run: 1 }.check(row, "out", args.out.len())?;
        let raw = RawArgs {
            tile,
            size: args.size,
            src: args.src.as_ptr().cast(),
            src_strides: args.src_strides,
            out: args.out.as_mut_ptr().cast(),
            out_strides: args.out_strides,
        };
        // SAFETY: the grids of both operands are inside their slices, and `out` is borrowed alone.
        unsafe { self.unpack_raw(&raw) };
        Ok(())
    }

    /// Unpacks through raw pointers.
    ///
    /// # Safety
    /// As [`Kernel`], with the element types of the row.
    pub unsafe fn unpack_raw(&self, args: &RawArgs) {
        if let Code::Unpack(Some(kernel)) = self.row.code {
            // SAFETY: the caller's, and binding has shown that the machine has what the row needs.
            unsafe { kernel(args) }
        }
    }
}
