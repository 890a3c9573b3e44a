//! The panels that rows on vectors share.

use super::{RawArgs, generic};
use crate::moves::{Machine, Moves, Runs, Transposes, is_transposed, quotient};

/// Elements of `E` bytes.
///
/// Where the source's rows are contiguous, the part of a row that is in a tile stays together: a panel is a transpose of
/// such parts, by copies where they are long. Where its columns are, a tile is a copy of its one column, or a transpose.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on elements of `E` bytes; it is the machine at hand.
pub(super) unsafe fn panels<const E: usize>(a: &RawArgs, machine: &Machine) {
    let [t0, t1] = a.tile;
    // Tiles that have all their columns in the source, and panels that have all their rows there.
    let tiles = match a.src_strides {
        [1, _] | [_, 1] if t1 == 1 => a.outer[1].min(a.size[1]),
        [1, _] | [_, 1] => a.outer[1].min(quotient(a.size[1], t1)),
        _ => 0,
    };
    let panels = a.outer[0].min(quotient(a.size[0], t0));
    let rest = if panels < a.outer[0] { a.size[0] - panels * t0 } else { 0 };
    // SAFETY: the source is read where it has rows and columns, and the tiles are inside `out`.
    unsafe {
        for (o0, panels, rows) in [(0, panels, t0), (panels, 1, rest)] {
            if tiles > 0 && panels > 0 && rows > 0 {
                moves::<E>(a, o0, panels, rows, tiles).run(machine);
            }
        }
        let first = if tiles < a.outer[1] { 0 } else { panels };
        for o0 in first..a.outer[0] {
            let rows = if o0 < panels {
                t0
            } else if o0 == panels {
                rest
            } else {
                0
            };
            for o1 in 0..if rows < t0 { tiles } else { 0 } {
                let tile = o0 as isize * a.out_strides[0] + o1 as isize * a.out_strides[1];
                let out = a.out.wrapping_offset(tile * E as isize);
                (rows * t1..t0 * t1).for_each(|i| generic::pad::<E>(a.padding, out.add(i * E)));
            }
            (tiles..a.outer[1]).for_each(|o1| generic::tile::<E>(a, o0, o1));
        }
    }
}

/// The first `rows` rows and all columns of tiles of so many panels from `o0` on.
#[inline(never)]
fn moves<const E: usize>(a: &RawArgs, o0: usize, panels: usize, rows: usize, tiles: usize) -> Moves {
    let [t0, t1] = a.tile;
    let [row, column] = a.src_strides.map(|stride| stride * E as isize);
    let [panel, tile] = a.out_strides.map(|stride| stride * E as isize);
    let (part, size) = (t1 * E, (t1 * E) as isize);
    let src = a.src.wrapping_offset((o0 * t0) as isize * row);
    let out = a.out.wrapping_offset(o0 as isize * panel);
    let next = t0 as isize * row;
    if a.src_strides[1] == 1 && is_transposed(part) && rows > 1 {
        let (src_next, out_next) = ([next, 0], [panel, 0]);
        let (src_row, out_column) = (row, tile);
        let count = [panels, 1];
        Moves::Transposes(
            part,
            Transposes { count, rows, cols: tiles, src, src_row, src_next, out, out_column, out_next },
        )
    } else if a.src_strides[1] == 1 && rows == 1 && tile == size {
        let (src_next, out_next) = ([0, 0, next], [0, 0, panel]);
        Moves::Runs(Runs { count: [1, 1, panels], bytes: tiles * part, src, src_next, out, out_next })
    } else if a.src_strides[1] == 1 {
        let (src_next, out_next) = ([next, size, row], [panel, tile, size]);
        Moves::Runs(Runs { count: [panels, tiles, rows], bytes: part, src, src_next, out, out_next })
    } else if t1 == 1 {
        let (src_next, out_next) = ([0, next, column], [0, panel, tile]);
        Moves::Runs(Runs { count: [1, panels, tiles], bytes: rows * E, src, src_next, out, out_next })
    } else {
        let (src_next, out_next) = ([next, t1 as isize * column], [panel, tile]);
        let (src_row, out_column) = (column, size);
        let count = [panels, tiles];
        Moves::Transposes(
            E,
            Transposes { count, rows: t1, cols: rows, src, src_row, src_next, out, out_column, out_next },
        )
    }
}
