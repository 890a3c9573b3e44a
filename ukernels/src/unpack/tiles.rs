//! The tiles that rows on vectors share.

use super::{RawArgs, generic};
use crate::moves::{Machine, Moves, Runs, Transposes, is_transposed, quotient};

/// Elements of `E` bytes.
///
/// Where the output's rows are contiguous, a tile's row stays together: a panel is a transpose of such rows, by copies where
/// they are long. Where its columns are, a tile is a copy of its one column, or a transpose.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on elements of `E` bytes; it is the machine at hand.
pub(super) unsafe fn tiles<const E: usize>(a: &RawArgs, machine: &Machine) {
    let [t0, t1] = a.tile;
    // Tiles that have all their columns in the output, and panels that have all their rows there.
    let tiles = match a.out_strides {
        [1, _] | [_, 1] if t1 == 1 => a.size[1],
        [1, _] | [_, 1] => quotient(a.size[1], t1),
        _ => 0,
    };
    let panels = quotient(a.size[0], t0);
    let rest = a.size[0] - panels * t0;
    // SAFETY: rows and columns of the output, from tiles of which the caller vouches.
    unsafe {
        for (o0, panels, rows) in [(0, panels, t0), (panels, 1, rest)] {
            if tiles > 0 && panels > 0 && rows > 0 {
                moves::<E>(a, o0, panels, rows, tiles).run(machine);
            }
        }
        if tiles * t1 < a.size[1] {
            (0..a.size[0]).for_each(|r| generic::row::<E>(a, r, tiles * t1));
        }
    }
}

/// The first `rows` rows and all columns of tiles of so many panels from `o0` on.
#[inline(never)]
fn moves<const E: usize>(a: &RawArgs, o0: usize, panels: usize, rows: usize, tiles: usize) -> Moves {
    let [t0, t1] = a.tile;
    let [row, column] = a.out_strides.map(|stride| stride * E as isize);
    let [panel, tile] = a.src_strides.map(|stride| stride * E as isize);
    let (part, size) = (t1 * E, (t1 * E) as isize);
    let src = a.src.wrapping_offset(o0 as isize * panel);
    let out = a.out.wrapping_offset((o0 * t0) as isize * row);
    let next = t0 as isize * row;
    if a.out_strides[1] == 1 && is_transposed(part) && rows > 1 {
        let (src_next, out_next) = ([panel, 0], [next, 0]);
        let (src_row, out_column) = (tile, row);
        let count = [panels, 1];
        Moves::Transposes(
            part,
            Transposes { count, rows: tiles, cols: rows, src, src_row, src_next, out, out_column, out_next },
        )
    } else if a.out_strides[1] == 1 && rows == 1 && tile == size {
        let (src_next, out_next) = ([0, 0, panel], [0, 0, next]);
        Moves::Runs(Runs { count: [1, 1, panels], bytes: tiles * part, src, src_next, out, out_next })
    } else if a.out_strides[1] == 1 {
        let (src_next, out_next) = ([panel, tile, size], [next, size, row]);
        Moves::Runs(Runs { count: [panels, tiles, rows], bytes: part, src, src_next, out, out_next })
    } else if t1 == 1 {
        let (src_next, out_next) = ([0, panel, tile], [0, next, column]);
        Moves::Runs(Runs { count: [1, panels, tiles], bytes: rows * E, src, src_next, out, out_next })
    } else {
        let (src_next, out_next) = ([panel, tile], [next, t1 as isize * column]);
        let (src_row, out_column) = (size, column);
        let count = [panels, tiles];
        Moves::Transposes(E, Transposes { count, rows, cols: t1, src, src_row, src_next, out, out_column, out_next })
    }
}
