//! `mmt4d` as a batch-reduce: the one product behind matmul and convolution.
//!
//! # Computes
//! For each row `r < rows` and column `c < cols` of one tile of `M0 x N0` (element offsets throughout):
//!
//! ```text
//! acc      = (accumulate ? out[r][c] : 0) + init[r][c]
//! for each batch b, for each k < k_per_batch, in order:
//!     acc += lhs[b.lhs + r·lhs_row_stride + k/K0·lhs_k_stride + k%K0]
//!          · rhs[b.rhs + k/K0·rhs_k_stride + c·K0 + k%K0]
//! out[r][c] = min(max(acc + bias[c], clamp.low), clamp.high)
//! ```
//!
//! Where the right operand is of integers and the output of floats, its elements stand for `scale · (element − zero point)`,
//! with a scale and a zero point for each column and, if the types name a group, for each so many k of a batch (the last
//! group may be shorter), else for all k of the call. With `g` counting groups over all batches, the sum becomes
//!
//! ```text
//! for each group g, in order:
//!     d = Σ lhs · (rhs − zero_points[g·N0 + c]), in order of k from 0
//!     acc += scales[g·N0 + c] · d
//! ```
//!
//! Zero points are whole numbers; where there are none they are 0. `d` is exact where the left operand is of integers.
//!
//! A batch leaves out its first `skip_first` and last `skip_last` rows: a convolution tap that lies in the padding
//! for the first or last pixels of a tile. Absent `init`, `bias` and `clamp` cost nothing. The two maxima compare
//! like `if acc < low { low }`: a NaN stays, and so does the sign of a zero.
//!
//! # Layouts
//! A packed panel `[K1][M0][K0]` is one batch with `lhs_row_stride = K0`, `lhs_k_stride = M0·K0`; a row-major left
//! operand is read in place with `lhs_row_stride` its row length and `lhs_k_stride = K0`. A packed right panel
//! `[K1][N0][K0]` has `rhs_k_stride = N0·K0`; where `K0 = 1` a row-major right operand is read in place with its
//! row length. Of 4-bit elements two share a byte, the one of the even k in the low nibble: K0, `rhs_k_stride` and offsets
//! of batches are even. Rows whose names end in `_flipped` take a right operand whose elements have their sign bits
//! [flipped](crate::layout::flip), and multiply what they were before.
//!
//! # What no row does
//! Read beyond `rows`, `cols`, k or a skipped row; touch `out` outside the valid part; allocate; keep state.
//!
//! Source of the tile's shape: IREE's `linalg.mmt4d`; of the batch-reduce form: Georganas et al., "Harnessing Deep
//! Learning via a Single Building Block", IPDPS 2020.

/// Rows of a file on vectors: the function that enables its instructions, what a machine must have, and its registers;
/// then for each type what it computes with, the vectors and columns of a tile, K0 and how it rounds; then the rows, each with
/// its number of rows and of chains.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! rows {
    (
        $run:ident, $needs:literal, $registers:literal;
        $($dot:ty, $nv:literal, $n0:literal x $k0:literal, $numerics:literal {
            $($name:ident, $m0:literal, $chains:literal;)*
        })*
    ) => {$($(
        /// # Computes
        /// The [operation](super) on the types of its name.
        /// # Operands
        #[doc = concat!("Tile ", $m0, " x ", $n0, " x ", $k0, "; strides as given; no alignment.")]
        /// # Needs
        #[doc = $needs]
        /// # Numerics
        #[doc = concat!("`", $numerics, "`.")]
        /// # Registers
        #[doc = concat!($chains, " x ", $m0, " x ", $nv, " accumulators and ", $nv, " of the right operand, of ", $registers, ".")]
        /// # Safety
        /// As [`Kernel`](super::Kernel) on these types, on a machine that has what the row needs.
        pub unsafe fn $name(a: &RawArgs) {
            // SAFETY: the caller's.
            unsafe { $run::<$dot, $m0, $nv, $chains>(a) }
        }
    )*)*};
}

#[cfg(target_arch = "aarch64")]
pub mod aarch64_neon;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod dot;
pub mod generic;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod lhs_rows;
pub mod portable;
pub mod reference;
#[cfg(target_arch = "riscv64")]
pub mod riscv64_v;
mod scalar;
#[cfg(target_arch = "x86_64")]
#[macro_use]
mod tile;
#[cfg(target_arch = "x86_64")]
mod scaled;
#[cfg(target_arch = "aarch64")]
mod tile;
#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub mod x86_64_avx2_fma;
#[cfg(target_arch = "x86_64")]
pub mod x86_64_avx512;
#[cfg(target_arch = "x86_64")]
pub mod x86_64_avx512_bf16;
#[cfg(target_arch = "x86_64")]
pub mod x86_64_avx512_vnni;
#[cfg(target_arch = "x86_64")]
pub mod x86_64_avx_vnni;
#[cfg(target_arch = "x86_64")]
mod x86_64_dots;

use crate::elem::Elem;
use crate::elem::ElemType;
use crate::name::Types;
use crate::table::{Bound, Code};

/// Elements of k that rows convert into scratch at a time, where they convert the left operand.
pub const STAGED_K: usize = 256;

/// The dims of a tile. Rows of fixed tile ignore the argument's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Tile {
    /// Rows.
    pub m0: usize,
    /// Columns.
    pub n0: usize,
    /// Depth of a k-tile.
    pub k0: usize,
}

/// One of the products that are summed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Batch {
    /// Offset of row 0's first element. It may lie outside the operand where row 0 is skipped.
    pub lhs: isize,
    /// Offset of column 0's first element.
    pub rhs: isize,
    /// Leading rows that take no part.
    pub skip_first: usize,
    /// Trailing rows (counted from `rows`) that take no part.
    pub skip_last: usize,
}

/// Arguments as a kernel takes them. Element types are the row's own; strides and offsets count elements.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RawArgs {
    /// The tile, for rows whose tile is given at run time.
    pub tile: Tile,
    /// Valid rows, at most M0.
    pub rows: usize,
    /// Valid columns, at most N0.
    pub cols: usize,
    /// Left operand.
    pub lhs: *const u8,
    /// From one row to the next.
    pub lhs_row_stride: isize,
    /// From one k-tile to the next.
    pub lhs_k_stride: isize,
    /// Right operand.
    pub rhs: *const u8,
    /// From one k-tile to the next.
    pub rhs_k_stride: isize,
    /// The products to sum.
    pub batches: *const Batch,
    /// How many.
    pub batch_count: usize,
    /// Depth of each, in elements.
    pub k_per_batch: usize,
    /// Starting values, or null.
    pub init: *const u8,
    /// From one row of starting values to the next; 0 where all rows share them.
    pub init_row_stride: isize,
    /// One value a column, or null.
    pub bias: *const u8,
    /// Low and high, of the output's type, or null.
    pub clamp: *const u8,
    /// Output.
    pub out: *mut u8,
    /// From one row to the next.
    pub out_row_stride: isize,
    /// Whether `out` is added to.
    pub accumulate: bool,
    /// Scales of the right operand, for types that have them: f32, `[groups][N0]`.
    pub scales: *const f32,
    /// Its zero points, of the same shape, or null where they are 0.
    pub zero_points: *const f32,
    /// Sums of the left operand's elements, for rows that [take them](crate::table::Row::sums): `[groups][M0]`, one group
    /// where there are no scales; or null, then the row sums them itself.
    pub lhs_sums: *const i32,
    /// Where the next right operand begins, to be brought into the second-level cache, or null.
    pub prefetch_rhs: *const u8,
    /// Where the next output begins, or null.
    pub prefetch_out: *const u8,
    /// Workspace, of the size that the plan says.
    pub scratch: *mut u8,
}

/// A kernel.
///
/// # Safety
/// Every element that the formula in the [module's docs](self) reads or writes is inside an operand that the
/// caller may read or write for the call, `out` overlaps no other operand, and the machine has what the row needs.
pub type Kernel = unsafe fn(&RawArgs);

/// Arguments of a safe call: [`RawArgs`] with slices.
#[derive(Debug)]
pub struct Args<'a, L, R, O> {
    /// The tile, for rows whose tile is given at run time.
    pub tile: Tile,
    /// Valid rows, at most M0.
    pub rows: usize,
    /// Valid columns, at most N0.
    pub cols: usize,
    /// Left operand.
    pub lhs: &'a [L],
    /// From one row to the next.
    pub lhs_row_stride: isize,
    /// From one k-tile to the next.
    pub lhs_k_stride: isize,
    /// Right operand.
    pub rhs: &'a [R],
    /// From one k-tile to the next.
    pub rhs_k_stride: isize,
    /// The products to sum.
    pub batches: &'a [Batch],
    /// Depth of each, in elements.
    pub k_per_batch: usize,
    /// Starting values.
    pub init: Option<&'a [O]>,
    /// From one row of starting values to the next; 0 where all rows share them.
    pub init_row_stride: isize,
    /// One value a column.
    pub bias: Option<&'a [O]>,
    /// Low and high.
    pub clamp: Option<[O; 2]>,
    /// Output.
    pub out: &'a mut [O],
    /// From one row to the next.
    pub out_row_stride: isize,
    /// Whether `out` is added to.
    pub accumulate: bool,
    /// Scales of the right operand, for types that have them: `[groups][N0]`.
    pub scales: Option<&'a [f32]>,
    /// Its zero points, of the same shape.
    pub zero_points: Option<&'a [f32]>,
    /// Sums of the left operand's elements, for rows that [take them](crate::table::Row::sums): `[groups][M0]`.
    pub lhs_sums: Option<&'a [i32]>,
    /// The right operand of the next call.
    pub prefetch_rhs: Option<&'a [R]>,
    /// The output of the next call.
    pub prefetch_out: Option<&'a [O]>,
    /// Workspace.
    pub scratch: &'a mut [u8],
}

impl<L: Elem, R: Elem, O: Elem> Args<'_, L, R, O> {
    /// The same for a kernel, with the row's own tile: pointers that live as long as the operands.
    pub fn raw(&mut self, tile: Tile) -> RawArgs {
        let pointer = |p: Option<*const u8>| p.unwrap_or(core::ptr::null());
        RawArgs {
            tile,
            rows: self.rows,
            cols: self.cols,
            lhs: self.lhs.as_ptr().cast(),
            lhs_row_stride: self.lhs_row_stride,
            lhs_k_stride: self.lhs_k_stride,
            rhs: self.rhs.as_ptr().cast(),
            rhs_k_stride: self.rhs_k_stride,
            batches: self.batches.as_ptr(),
            batch_count: self.batches.len(),
            k_per_batch: self.k_per_batch,
            init: pointer(self.init.map(|s| s.as_ptr().cast())),
            init_row_stride: self.init_row_stride,
            bias: pointer(self.bias.map(|s| s.as_ptr().cast())),
            clamp: pointer(self.clamp.as_ref().map(|s| s.as_ptr().cast())),
            out: self.out.as_mut_ptr().cast(),
            out_row_stride: self.out_row_stride,
            accumulate: self.accumulate,
            scales: self.scales.map_or(core::ptr::null(), <[f32]>::as_ptr),
            zero_points: self.zero_points.map_or(core::ptr::null(), <[f32]>::as_ptr),
            lhs_sums: self.lhs_sums.map_or(core::ptr::null(), <[i32]>::as_ptr),
            prefetch_rhs: pointer(self.prefetch_rhs.map(|s| s.as_ptr().cast())),
            prefetch_out: pointer(self.prefetch_out.map(|s| s.as_ptr().cast())),
            scratch: self.scratch.as_mut_ptr(),
        }
    }
}

/// Why arguments were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgsError {
    /// The row is of another operation.
    #[error("{0} is not a row of this operation")]
    Operation(&'static str),
    /// An operand's type is not the row's.
    #[error("{row}: {operand} must be {}, it is {}", expected.name(), found.name())]
    Type {
        /// The row.
        row: &'static str,
        /// Which operand.
        operand: &'static str,
        /// The row's type.
        expected: ElemType,
        /// The caller's.
        found: ElemType,
    },
    /// More rows or columns than the tile has.
    #[error("{row}: {rows} x {cols} does not fit its tile of {} x {}", tile.m0, tile.n0)]
    Tile {
        /// The row.
        row: &'static str,
        /// Rows asked for.
        rows: usize,
        /// Columns asked for.
        cols: usize,
        /// The tile.
        tile: Tile,
    },
    /// An access outside an operand.
    #[error("{row}: {operand} of {len} elements would be accessed at {at}")]
    Bounds {
        /// The row.
        row: &'static str,
        /// Which operand.
        operand: &'static str,
        /// Its length.
        len: usize,
        /// The offending element.
        at: i128,
    },
    /// Less workspace than the row needs.
    #[error("{row}: scratch has {len} bytes, {needed} are needed")]
    Scratch {
        /// The row.
        row: &'static str,
        /// Its length.
        len: usize,
        /// What the row needs.
        needed: usize,
    },
    /// No scales for types that have them.
    #[error("{row} has scales, none are given")]
    Scales {
        /// The row.
        row: &'static str,
    },
    /// Part of a byte.
    #[error("{row}: {what} is {value}, which parts a byte of two elements; it must be even")]
    Nibble {
        /// The row.
        row: &'static str,
        /// Which argument.
        what: &'static str,
        /// What it is.
        value: isize,
    },
    /// Two rows of the output share elements.
    #[error("{row}: an output row stride of {stride} is less than the {cols} columns of a row")]
    OutStride {
        /// The row.
        row: &'static str,
        /// The stride.
        stride: isize,
        /// Columns of a row.
        cols: usize,
    },
}

impl Bound {
    /// The tile of this row on the machine, with `given` for the dims that are given at run time.
    pub fn tile(&self, given: Tile) -> Tile {
        let [m0, n0, k0] = self.tile;
        Tile { m0: m0.unwrap_or(given.m0), n0: n0.unwrap_or(given.n0), k0: k0.unwrap_or(given.k0) }
    }

    /// Runs one tile.
    ///
    /// # Errors
    /// Operands of the wrong type or too short for what would be accessed; nothing is written then.
    pub fn run<L: Elem, R: Elem, O: Elem>(&self, args: &mut Args<'_, L, R, O>) -> Result<(), ArgsError> {
        let row = self.row.name;
        let Code::Mmt4d(Some(_)) = self.row.code else { return Err(ArgsError::Operation(row)) };
        let tile = self.tile(args.tile);
        check(self.row.types, row, tile, args)?;
        let needed = self.row.scratch(tile.m0);
        if args.scratch.len() < needed {
            return Err(ArgsError::Scratch { row, len: args.scratch.len(), needed });
        }
        let raw = args.raw(tile);
        // SAFETY: `check` has compared every access of the formula with the operands' lengths, `out` is borrowed
        // alone, and the types are the row's.
        unsafe { self.run_raw(&raw) };
        Ok(())
    }

    /// Runs one tile on raw pointers, for drivers whose threads write interleaved tiles of one output.
    ///
    /// # Safety
    /// As [`Kernel`], with the element types of the row.
    pub unsafe fn run_raw(&self, args: &RawArgs) {
        if let Code::Mmt4d(Some(kernel)) = self.row.code {
            // SAFETY: the caller's, and binding has shown that the machine has what the row needs.
            unsafe { kernel(args) }
        }
    }
}

/// Compares every access of the formula with the operands' lengths.
fn check<L: Elem, R: Elem, O: Elem>(
    types: Types,
    row: &'static str,
    tile: Tile,
    a: &Args<'_, L, R, O>,
) -> Result<(), ArgsError> {
    for (operand, expected, found) in
        [("lhs", types.list[0], L::TYPE), ("rhs", types.list[1], R::TYPE), ("out", types.list[2], O::TYPE)]
    {
        if expected != found {
            return Err(ArgsError::Type { row, operand, expected, found });
        }
    }
    if a.rows > tile.m0 || a.cols > tile.n0 || tile.k0 == 0 {
        return Err(ArgsError::Tile { row, rows: a.rows, cols: a.cols, tile });
    }
    if a.rows == 0 || a.cols == 0 {
        return Ok(());
    }
    if a.rows > 1 && a.out_row_stride < a.cols as isize {
        return Err(ArgsError::OutStride { row, stride: a.out_row_stride, cols: a.cols });
    }
    if R::COUNT > 1 {
        let strides = [("K0", tile.k0 as isize), ("rhs_k_stride", a.rhs_k_stride)];
        let offsets = a.batches.iter().map(|b| ("a batch's offset of rhs", b.rhs));
        if let Some((what, value)) = strides.into_iter().chain(offsets).find(|(_, value)| value % 2 != 0) {
            return Err(ArgsError::Nibble { row, what, value });
        }
    }
    // Each operand is accessed on a grid whose corners are the extremes.
    let grid = |operand, len: usize, base: i128, steps: [(usize, isize); 2], run: i128| {
        let span = |pick: fn(i128, i128) -> i128| {
            steps.iter().map(|&(count, stride)| pick(0, (count as i128 - 1) * stride as i128)).sum::<i128>()
        };
        let (low, high) = (base + span(i128::min), base + span(i128::max) + run - 1);
        match (low < 0, high >= len as i128) {
            (true, _) => Err(ArgsError::Bounds { row, operand, len, at: low }),
            (_, true) => Err(ArgsError::Bounds { row, operand, len, at: high }),
            _ => Ok(()),
        }
    };
    let k_tiles = a.k_per_batch / tile.k0;
    let k_tail = a.k_per_batch % tile.k0;
    let rhs_len = a.rhs.len().saturating_mul(R::COUNT);
    for b in a.batches {
        let (first, last) = (b.skip_first, a.rows.saturating_sub(b.skip_last));
        if first >= last {
            continue;
        }
        let lhs = b.lhs as i128 + first as i128 * a.lhs_row_stride as i128;
        let rhs = b.rhs as i128;
        if k_tiles > 0 {
            let steps = [(last - first, a.lhs_row_stride), (k_tiles, a.lhs_k_stride)];
            grid("lhs", a.lhs.len(), lhs, steps, tile.k0 as i128)?;
            grid("rhs", rhs_len, rhs, [(k_tiles, a.rhs_k_stride), (1, 0)], a.cols as i128 * tile.k0 as i128)?;
        }
        if k_tail > 0 {
            let step = k_tiles as i128;
            let steps = [(last - first, a.lhs_row_stride), (1, 0)];
            grid("lhs", a.lhs.len(), lhs + step * a.lhs_k_stride as i128, steps, k_tail as i128)?;
            let run = (a.cols as i128 - 1) * tile.k0 as i128 + k_tail as i128;
            grid("rhs", rhs_len, rhs + step * a.rhs_k_stride as i128, [(1, 0); 2], run)?;
        }
    }
    if let Some(init) = a.init {
        grid("init", init.len(), 0, [(a.rows, a.init_row_stride), (1, 0)], a.cols as i128)?;
    }
    let groups = types.groups(a.batches.len(), a.k_per_batch);
    if let Some(groups) = groups.filter(|g| *g > 0) {
        let panel = |operand, len| grid(operand, len, 0, [(groups, tile.n0 as isize), (1, 0)], a.cols as i128);
        panel("scales", a.scales.ok_or(ArgsError::Scales { row })?.len())?;
        a.zero_points.map_or(Ok(()), |z| panel("zero_points", z.len()))?;
    }
    if let Some(sums) = a.lhs_sums {
        let groups = groups.unwrap_or(1).max(1);
        grid("lhs_sums", sums.len(), 0, [(groups, tile.m0 as isize), (1, 0)], a.rows as i128)?;
    }
    if let Some(bias) = a.bias {
        grid("bias", bias.len(), 0, [(1, 0); 2], a.cols as i128)?;
    }
    grid("out", a.out.len(), 0, [(a.rows, a.out_row_stride), (1, 0)], a.cols as i128)
}
