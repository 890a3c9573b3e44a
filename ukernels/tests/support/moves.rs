//! What every `pack` and `unpack` row must do: the formula, and nothing beside it.

use super::Rng;
use super::guard::{Guarded, Side};
use smalti_ukernels::layout::Panels;
use smalti_ukernels::table::Bound;
use smalti_ukernels::{pack, unpack};

const PADDING: f32 = -7.5;
const CANARY: f32 = f32::from_bits(0x7fc5_a17e);

/// A matrix of `rows x cols` in one of the three storage orders that callers use.
fn strides(rng: &mut Rng, rows: usize, cols: usize) -> ([isize; 2], usize) {
    let slack = rng.below(4);
    let (strides, len) = match rng.below(3) {
        0 => ([cols + slack, 1], (rows.max(1) - 1) * (cols + slack) + cols),
        1 => ([1, rows + slack], (cols.max(1) - 1) * (rows + slack) + rows),
        _ => ([2 * cols + slack, 2], (rows.max(1) - 1) * (2 * cols + slack) + 2 * cols.max(1) - 1),
    };
    (strides.map(|s| s as isize), if rows == 0 || cols == 0 { 0 } else { len })
}

fn tiles(row: Bound) -> Vec<[usize; 2]> {
    let odd = [[3, 5], [1, 1], [16, 1], [4, 2]];
    let mut tiles: Vec<_> = odd.iter().map(|&t| row.panel_tile(t)).collect();
    tiles.dedup();
    tiles
}

fn sizes(rng: &mut Rng) -> [usize; 2] {
    let size = |rng: &mut Rng| [0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 48, 70][rng.below(12)];
    [size(rng), size(rng)]
}

pub(crate) fn pack(row: Bound) {
    for tile in tiles(row) {
        for seed in 0..120 {
            let mut rng = Rng::new(seed);
            let size = sizes(&mut rng);
            let (src_strides, len) = strides(&mut rng, size[0], size[1]);
            let src: Vec<f32> = (0..len).map(|_| rng.real()).collect();
            let panels = Panels { rows: size[0], cols: size[1], t0: tile[0], t1: tile[1] };
            let outer = panels.outer();
            let area = tile[0] * tile[1];
            // Either order of the outer dims.
            let out_strides = if rng.chance(2) { [outer[1] * area, area] } else { [area, outer[0] * area] };
            for side in [Side::Before, Side::After] {
                let guarded = Guarded::new(&src, side);
                let mut out = Guarded::new(&vec![CANARY; panels.len().unwrap()], side);
                row.pack(&mut pack::Args {
                    tile,
                    size,
                    src: guarded.get(),
                    src_strides,
                    outer,
                    out: out.get_mut(),
                    out_strides: out_strides.map(|s| s as isize),
                    padding: PADDING.to_bits().into(),
                })
                .unwrap();
                for r in 0..outer[0] * tile[0] {
                    for c in 0..outer[1] * tile[1] {
                        let at = r / tile[0] * out_strides[0]
                            + c / tile[1] * out_strides[1]
                            + r % tile[0] * tile[1]
                            + c % tile[1];
                        let expected = if r < size[0] && c < size[1] {
                            src[r * src_strides[0] as usize + c * src_strides[1] as usize]
                        } else {
                            PADDING
                        };
                        assert_eq!(
                            out.get()[at],
                            expected,
                            "{} seed {seed} {tile:?} {size:?} [{r}][{c}]",
                            row.row().name
                        );
                    }
                }
            }
        }
        let short = row.pack(&mut pack::Args {
            tile,
            size: [4, 4],
            src: &[0.0f32; 15],
            src_strides: [4, 1],
            outer: [1, 1],
            out: &mut vec![0.0f32; tile[0] * tile[1]],
            out_strides: [0, 0],
            padding: 0,
        });
        assert!(short.is_err(), "a source that is too short is refused");
    }
}

pub(crate) fn unpack(row: Bound) {
    for tile in tiles(row) {
        for seed in 0..120 {
            let mut rng = Rng::new(seed);
            let size = sizes(&mut rng);
            let (out_strides, len) = strides(&mut rng, size[0], size[1]);
            let panels = Panels { rows: size[0], cols: size[1], t0: tile[0], t1: tile[1] };
            let src: Vec<f32> = (0..panels.len().unwrap()).map(|_| rng.real()).collect();
            let outer = panels.outer();
            let area = tile[0] * tile[1];
            for side in [Side::Before, Side::After] {
                let guarded = Guarded::new(&src, side);
                let mut out = Guarded::new(&vec![CANARY; len], side);
                row.unpack(&mut unpack::Args {
                    tile,
                    size,
                    src: guarded.get(),
                    src_strides: [(outer[1] * area) as isize, area as isize],
                    out: out.get_mut(),
                    out_strides,
                })
                .unwrap();
                let mut left = vec![true; len];
                for r in 0..size[0] {
                    for c in 0..size[1] {
                        let at = r * out_strides[0] as usize + c * out_strides[1] as usize;
                        left[at] = false;
                        assert_eq!(
                            out.get()[at],
                            src[panels.offset(r, c)],
                            "{} seed {seed} [{r}][{c}]",
                            row.row().name
                        );
                    }
                }
                for (at, _) in left.iter().enumerate().filter(|l| *l.1) {
                    assert_eq!(out.get()[at].to_bits(), CANARY.to_bits(), "wrote between the rows, at {at}");
                }
            }
        }
        let short = row.unpack(&mut unpack::Args {
            tile,
            size: [4, 4],
            src: &vec![0.0f32; 4 * 4 * tile[0] * tile[1]],
            src_strides: [(4 * tile[0] * tile[1]) as isize, (tile[0] * tile[1]) as isize],
            out: &mut [0.0f32; 15],
            out_strides: [4, 1],
        });
        assert!(short.is_err(), "an output that is too short is refused");
    }
}
