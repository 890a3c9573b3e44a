//! `pack`: a strided matrix to panels.
//!
//! # Computes
//! ```text
//! out[o0·out_strides[0] + o1·out_strides[1] + i0·T1 + i1] = src[(o0·T0+i0)·src_strides[0] + (o1·T1+i1)·src_strides[1]]
//! ```
//! for each tile `(o0, o1)` of `outer`, with the padding value where the source has no such row or column. Offsets
//! count elements. Any transpose is a choice of strides: of the order of the tiles, `out_strides` the other way round; of a
//! tile, `size`, `src_strides`, `outer`, `out_strides` and the tile, each the other way round.
//!
//! Bits are moved, so there is a row for each width, and it serves every type of the width: that of f32 also i32, that of
//! f16 also bf16 and i16, that of i8 also u8. Two 4-bit integers in a byte are one element of that of i8, for strides, sizes
//! and tiles too: they stay together.
//!
//! Source: IREE's `iree_uk_pack`; the layout is that of [`crate::layout`].

#[cfg(target_arch = "aarch64")]
pub mod aarch64_neon;
pub mod generic;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod panels;
#[cfg(target_arch = "riscv64")]
pub mod riscv64_v;
#[cfg(target_arch = "x86_64")]
pub mod x86_64_avx2_fma;
#[cfg(target_arch = "x86_64")]
pub mod x86_64_avx512;

use crate::elem::{Elem, ElemType};
use crate::mmt4d::{ArgsError, Tile};
use crate::table::{Bound, Code};

/// Arguments as a kernel takes them.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RawArgs {
    /// The tile, for rows whose tile is given at run time.
    pub tile: [usize; 2],
    /// Rows and columns of the source.
    pub size: [usize; 2],
    /// The source.
    pub src: *const u8,
    /// From one row, and one column, to the next.
    pub src_strides: [isize; 2],
    /// How many tiles.
    pub outer: [usize; 2],
    /// The panels.
    pub out: *mut u8,
    /// From one tile to the next, in either outer dim.
    pub out_strides: [isize; 2],
    /// The padding value's bits, in the low bytes.
    pub padding: u64,
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
    /// Rows and columns of the source.
    pub size: [usize; 2],
    /// The source.
    pub src: &'a [I],
    /// From one row, and one column, to the next.
    pub src_strides: [isize; 2],
    /// How many tiles.
    pub outer: [usize; 2],
    /// The panels.
    pub out: &'a mut [O],
    /// From one tile to the next, in either outer dim.
    pub out_strides: [isize; 2],
    /// What stands where the source has no row or column: its bits, in the low bytes.
    pub padding: u64,
}

impl Bound {
    /// The panel's tile of this row on the machine, with `given` for the dims that are given at run time.
    pub fn panel_tile(&self, given: [usize; 2]) -> [usize; 2] {
        core::array::from_fn(|d| self.tile[d].unwrap_or(given[d]))
    }

    /// Packs.
    ///
    /// # Errors
    /// Operands of the wrong type or too short for what would be accessed; nothing is written then.
    pub fn pack<I: Elem, O: Elem>(&self, args: &mut Args<'_, I, O>) -> Result<(), ArgsError> {
        let row = self.row.name;
        let Code::Pack(Some(_)) = self.row.code else { return Err(ArgsError::Operation(row)) };
        let types = self.row.types.list;
        check_types::<I, O>(row, types)?;
        let tile = self.panel_tile(args.tile);
        check_tile(row, tile, args.size)?;
        let matrix = Grid { size: args.size, strides: args.src_strides, run: 1 };
        matrix.check(row, "src", args.src.len())?;
        let panels = Grid { size: args.outer, strides: args.out_strides, run: tile[0].saturating_mul(tile[1]) };
        panels.check(row, "out", args.out.len())?;
        let raw = RawArgs {
            tile,
            size: args.size,
            src: args.src.as_ptr().cast(),
            src_strides: args.src_strides,
            outer: args.outer,
            out: args.out.as_mut_ptr().cast(),
            out_strides: args.out_strides,
            padding: args.padding,
        };
        // SAFETY: the grids of both operands are inside their slices, and `out` is borrowed alone.
        unsafe { self.pack_raw(&raw) };
        Ok(())
    }

    /// Packs through raw pointers.
    ///
    /// # Safety
    /// As [`Kernel`], with the element types of the row.
    pub unsafe fn pack_raw(&self, args: &RawArgs) {
        if let Code::Pack(Some(kernel)) = self.row.code {
            // SAFETY: the caller's, and binding has shown that the machine has what the row needs.
            unsafe { kernel(args) }
        }
    }
}

pub(crate) fn check_tile(row: &'static str, tile: [usize; 2], size: [usize; 2]) -> Result<(), ArgsError> {
    let [m0, n0] = tile;
    if m0 == 0 || n0 == 0 {
        return Err(ArgsError::Tile { row, rows: size[0], cols: size[1], tile: Tile { m0, n0, k0: 1 } });
    }
    Ok(())
}

/// Bits are moved, so a row serves every type of its width.
pub(crate) fn check_types<I: Elem, O: Elem>(row: &'static str, types: [ElemType; 3]) -> Result<(), ArgsError> {
    let operands = [("src", types[0], I::TYPE, size_of::<I>()), ("out", types[1], O::TYPE, size_of::<O>())];
    for (operand, expected, found, bytes) in operands {
        if expected.bits() != 8 * bytes {
            return Err(ArgsError::Type { row, operand, expected, found });
        }
    }
    Ok(())
}

/// Accesses at `i·strides[0] + j·strides[1] .. + run` for all `i`, `j` below `size`.
pub(crate) struct Grid {
    pub(crate) size: [usize; 2],
    pub(crate) strides: [isize; 2],
    pub(crate) run: usize,
}

impl Grid {
    pub(crate) fn check(&self, row: &'static str, operand: &'static str, len: usize) -> Result<(), ArgsError> {
        if self.size.contains(&0) || self.run == 0 {
            return Ok(());
        }
        let (mut low, mut high) = (0i128, self.run as i128 - 1);
        for (size, stride) in self.size.into_iter().zip(self.strides) {
            let span = (size as i128 - 1) * stride as i128;
            low += span.min(0);
            high += span.max(0);
        }
        let at = if low < 0 { low } else { high };
        if low < 0 || high >= len as i128 { Err(ArgsError::Bounds { row, operand, len, at }) } else { Ok(()) }
    }
}
