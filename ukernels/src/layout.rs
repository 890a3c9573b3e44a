//! How panels lie in memory.
//!
//! A matrix `[rows][cols]` packed with tile `t0 x t1` is an array `[rows/t0][cols/t1][t0][t1]`, both outer dims
//! rounded up and the excess filled with a padding value. The left operand of a product packs `M x K` with
//! `M0 x K0`, the right one `N x K` with `N0 x K0`, the output is `M x N` with `M0 x N0`.
//!
//! ```
//! use smalti_ukernels::layout::Panels;
//! let p = Panels { rows: 3, cols: 4, t0: 2, t1: 1 };
//! assert_eq!(format!("{p}"), "
//!      c0  c1  c2  c3
//! r0    0   2   4   6
//! r1    1   3   5   7
//!     ---------------
//! r2    8  10  12  14
//!  .    9  11  13  15
//! ");
//! ```

use crate::elem::Elem;
use core::fmt::{self, Write};

/// A packed matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panels {
    /// Rows of the matrix.
    pub rows: usize,
    /// Columns of the matrix.
    pub cols: usize,
    /// Rows of a tile.
    pub t0: usize,
    /// Columns of a tile.
    pub t1: usize,
}

impl Panels {
    /// The two outer dims.
    pub const fn outer(&self) -> [usize; 2] {
        [self.rows.div_ceil(self.t0), self.cols.div_ceil(self.t1)]
    }

    /// Elements of the whole array, padding counted; none where that overflows.
    pub const fn len(&self) -> Option<usize> {
        let [o0, o1] = self.outer();
        let Some(tiles) = o0.checked_mul(o1) else { return None };
        let Some(tile) = self.t0.checked_mul(self.t1) else { return None };
        tiles.checked_mul(tile)
    }

    /// Whether there are no elements.
    pub const fn is_empty(&self) -> bool {
        matches!(self.len(), Some(0))
    }

    /// The offset in elements of row `r`, column `c`.
    pub const fn offset(&self, r: usize, c: usize) -> usize {
        let outer = r / self.t0 * self.outer()[1] + c / self.t1;
        outer * self.t0 * self.t1 + r % self.t0 * self.t1 + c % self.t1
    }
}

/// Flips the sign bit of each element of packed panels, padding too: what rows and families want of their right operand that
/// are [flipped](crate::table::Row::flipped).
///
/// ```
/// # use smalti_ukernels::layout::flip;
/// let mut panels = [-128i8, -1, 0, 1, 127];
/// flip(&mut panels);
/// assert_eq!(panels, [0, 127, -128, -127, -1]);
/// ```
pub fn flip<T: Elem>(panels: &mut [T]) {
    for element in panels {
        *element = element.flipped();
    }
}

/// Draws the matrix with each element's offset in memory; padding has no row or column number.
impl fmt::Display for Panels {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [o0, o1] = self.outer();
        out.write_str("\n   ")?;
        for c in 0..o1 * self.t1 {
            if c > 0 && c % self.t1 == 0 && self.t1 > 1 {
                out.write_str(" |")?;
            }
            if c < self.cols { write!(out, "{:>4}", Label('c', c))? } else { out.write_str("   .")? }
        }
        for r in 0..o0 * self.t0 {
            if r > 0 && r % self.t0 == 0 {
                out.write_str("\n    ")?;
                let bars = if self.t1 > 1 { (o1 - 1) * 2 } else { 0 };
                for _ in 0..(o1 * self.t1) * 4 + bars - 1 {
                    out.write_char('-')?;
                }
            }
            out.write_char('\n')?;
            if r < self.rows {
                write!(out, "{:<3}", Label('r', r))?
            } else {
                out.write_str(" . ")?
            }
            for c in 0..o1 * self.t1 {
                if c > 0 && c % self.t1 == 0 && self.t1 > 1 {
                    out.write_str(" |")?;
                }
                write!(out, " {:>3}", self.offset(r, c))?;
            }
        }
        out.write_char('\n')
    }
}

struct Label(char, usize);

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Text { bytes: [0; 8], len: 0 };
        write!(text, "{}{}", self.0, self.1)?;
        f.pad(core::str::from_utf8(&text.bytes[..text.len]).map_err(|_| fmt::Error)?)
    }
}

struct Text {
    bytes: [u8; 8],
    len: usize,
}

impl Write for Text {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let end = self.len + s.len();
        self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?.copy_from_slice(s.as_bytes());
        self.len = end;
        Ok(())
    }
}
