//! What every `pack` and `unpack` row must do: the formula, and nothing beside it.

use super::Rng;
use super::guard::{Guarded, Side};
use smalti_ukernels::elem::{Elem, ElemType, I4x2};
use smalti_ukernels::layout::Panels;
use smalti_ukernels::name::Dim;
use smalti_ukernels::table::Bound;
use smalti_ukernels::{pack, unpack};

/// Every byte differs from the others.
const PADDING: u64 = 0x8f7e_6d5c_4b3a_2918;
const CANARY: u64 = 0x7fc5_a17e_7fc5_a17e;

/// Elements as bits, so that a NaN is one of many.
trait Bits: Elem {
    fn from_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
}

macro_rules! bits {
    ($($type:ty, $unsigned:ty, $from:expr, $to:expr;)*) => {
        $(impl Bits for $type {
            fn from_bits(bits: u64) -> Self {
                $from(bits as $unsigned)
            }
            fn bits(self) -> u64 {
                u64::from($to(self))
            }
        })*
    };
}

bits! {
    f64, u64, f64::from_bits, f64::to_bits;
    f32, u32, f32::from_bits, f32::to_bits;
    half::f16, u16, half::f16::from_bits, half::f16::to_bits;
    half::bf16, u16, half::bf16::from_bits, half::bf16::to_bits;
    i32, u32, u32::cast_signed, i32::cast_unsigned;
    i16, u16, u16::cast_signed, i16::cast_unsigned;
    i8, u8, u8::cast_signed, i8::cast_unsigned;
    u8, u8, u8::from, u8::from;
    I4x2, u8, I4x2, |pair: I4x2| pair.0;
}

/// The tiles that a row is tested with: those of the table's families, and whatever else is even, odd, long or short.
fn tiles(row: Bound) -> Vec<[usize; 2]> {
    let [t0, t1, _] = row.row().tile;
    if t0 != Dim::Runtime && t1 != Dim::Runtime {
        return vec![row.panel_tile([0, 0])];
    }
    vec![
        [1, 1],
        [3, 5],
        [4, 2],
        [1, 4],
        [1, 16],
        [2, 2],
        [3, 4],
        [6, 1],
        [8, 1],
        [12, 1],
        [14, 1],
        [16, 1],
        [32, 1],
        [14, 2],
        [16, 2],
        [32, 2],
        [2, 4],
        [14, 4],
        [16, 4],
        [32, 4],
        [8, 8],
        [16, 16],
        [6, 16],
        [40, 8],
        [14, 32],
    ]
}

/// Mostly few rows and columns; now and then many of either.
fn sizes(rng: &mut Rng) -> [usize; 2] {
    let size = |rng: &mut Rng| [0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 48, 70][rng.below(13)];
    let mut size = [size(rng), size(rng)];
    if rng.chance(8) {
        let long = rng.below(2);
        size[long] = 530 + rng.below(40);
        size[1 - long] = size[1 - long].min(17);
    }
    size
}

/// Strides of a matrix in the storage orders that callers use, and how many elements it spans.
fn strides(rng: &mut Rng, [rows, cols]: [usize; 2]) -> ([usize; 2], usize) {
    let (slack, step) = (rng.below(4), 2 + rng.below(2));
    let strides = match rng.below(5) {
        0 | 1 => [cols + slack, 1],
        2 | 3 => [1, rows + slack],
        _ => [step * cols + slack, step],
    };
    (strides, span([rows, cols], strides, 1))
}

/// Strides of tiles in either order, with or without something between them.
fn tile_strides(rng: &mut Rng, outer: [usize; 2], area: usize) -> ([usize; 2], usize) {
    let (tile, slack) = (area + rng.below(2) * rng.below(5), rng.below(2) * rng.below(5));
    let strides = if rng.chance(2) { [outer[1] * tile + slack, tile] } else { [tile, outer[0] * tile + slack] };
    (strides, span(outer, strides, area))
}

fn span(size: [usize; 2], strides: [usize; 2], run: usize) -> usize {
    if size.contains(&0) { 0 } else { (size[0] - 1) * strides[0] + (size[1] - 1) * strides[1] + run }
}

fn random<T: Bits>(rng: &mut Rng, len: usize) -> Vec<T> {
    (0..len).map(|_| T::from_bits(rng.next())).collect()
}

/// Compares every element of `out`: those of `expected`, and canaries between them.
fn compare<T: Bits>(out: &[T], expected: &[Option<T>], case: &dyn Fn() -> String) {
    for (at, (found, expected)) in out.iter().zip(expected).enumerate() {
        let (found, expected) = (found.bits(), expected.unwrap_or(T::from_bits(CANARY)).bits());
        assert_eq!(found, expected, "{} at {at}: {found:#x} instead of {expected:#x}", case());
    }
}

/// Calls `$run` with the types that a row of `$row`'s width serves: on many cases with the first, on a few with the others.
macro_rules! widths {
    ($row:expr, $run:ident) => {
        match $row.row().types.list[0] {
            ElemType::F64 => $run::<f64>($row, SEEDS),
            ElemType::F32 => ($run::<f32>($row, SEEDS), $run::<i32>($row, 1)).0,
            ElemType::F16 => ($run::<i16>($row, SEEDS), $run::<half::f16>($row, 1), $run::<half::bf16>($row, 1)).0,
            ElemType::I8 => ($run::<u8>($row, SEEDS), $run::<i8>($row, 1), $run::<I4x2>($row, 1)).0,
            other => panic!("no types of the width of {}", other.name()),
        }
    };
}

/// Cases of a tile.
const SEEDS: u64 = 40;

pub(crate) fn pack(row: Bound) {
    widths!(row, pack_as);
    let refused = |tile: [usize; 2], src: &[f64]| {
        let mut out = vec![0.0f64; 64];
        let (size, src_strides, outer, out_strides) = ([4, 4], [4, 1], [1, 1], [0, 0]);
        row.pack(&mut pack::Args { tile, size, src, src_strides, outer, out: &mut out, out_strides, padding: 0 })
            .is_err()
    };
    assert_eq!(refused([8, 8], &[0.0; 16]), row.row().types.list[0] != ElemType::F64, "a row serves its own width");
    assert!(refused([8, 8], &[0.0; 15]), "a source that is too short is refused");
    if row.row().tile[0] == Dim::Runtime {
        assert!(refused([0, 8], &[0.0; 16]) && refused([8, 0], &[0.0; 16]), "a tile of nothing is refused");
    }
}

fn pack_as<T: Bits>(row: Bound, seeds: u64) {
    for tile in tiles(row) {
        for seed in 0..seeds {
            let mut rng = Rng::new(seed);
            let size = sizes(&mut rng);
            let (mut src_strides, mut len) = strides(&mut rng, size);
            if rng.chance(10) {
                // One row or column stands for all.
                src_strides[rng.below(2)] = 0;
                len = span(size, src_strides, 1);
            }
            let src = random::<T>(&mut rng, len);
            let panels = Panels { rows: size[0], cols: size[1], t0: tile[0], t1: tile[1] };
            let outer = panels.outer().map(|n| if rng.chance(4) { (n + rng.below(3)).saturating_sub(1) } else { n });
            let (out_strides, len) = tile_strides(&mut rng, outer, tile[0] * tile[1]);
            let mut expected = vec![None; len];
            for r in 0..outer[0] * tile[0] {
                for c in 0..outer[1] * tile[1] {
                    let at = r / tile[0] * out_strides[0] + c / tile[1] * out_strides[1];
                    let inside = r < size[0] && c < size[1];
                    expected[at + r % tile[0] * tile[1] + c % tile[1]] = Some(match inside {
                        true => src[r * src_strides[0] + c * src_strides[1]],
                        false => T::from_bits(PADDING),
                    });
                }
            }
            for side in [Side::Before, Side::After] {
                let guarded = Guarded::new(&src, side);
                let mut out = Guarded::new(&vec![T::from_bits(CANARY); len], side);
                row.pack(&mut pack::Args {
                    tile,
                    size,
                    src: guarded.get(),
                    src_strides: src_strides.map(|s| s as isize),
                    outer,
                    out: out.get_mut(),
                    out_strides: out_strides.map(|s| s as isize),
                    padding: PADDING,
                })
                .unwrap();
                let name = row.row().name;
                let case = || format!("{name} seed {seed} {tile:?} {size:?} {src_strides:?} {outer:?} {out_strides:?}");
                compare(out.get(), &expected, &case);
            }
        }
    }
}

pub(crate) fn unpack(row: Bound) {
    widths!(row, unpack_as);
    let refused = |tile: [usize; 2], out: &mut [f64]| {
        let src = vec![0.0f64; 4 * 4 * 64];
        let (size, src_strides, out_strides) = ([4, 4], [256, 64], [4, 1]);
        row.unpack(&mut unpack::Args { tile, size, src: &src, src_strides, out, out_strides }).is_err()
    };
    let other = row.row().types.list[0] != ElemType::F64;
    assert_eq!(refused([8, 8], &mut [0.0; 16]), other, "a row serves its own width");
    assert!(refused([8, 8], &mut [0.0; 15]), "an output that is too short is refused");
    if row.row().tile[0] == Dim::Runtime {
        assert!(refused([0, 8], &mut [0.0; 16]) && refused([8, 0], &mut [0.0; 16]), "a tile of nothing is refused");
    }
}

fn unpack_as<T: Bits>(row: Bound, seeds: u64) {
    for tile in tiles(row) {
        for seed in 0..seeds {
            let mut rng = Rng::new(seed);
            let size = sizes(&mut rng);
            let (out_strides, len) = strides(&mut rng, size);
            let panels = Panels { rows: size[0], cols: size[1], t0: tile[0], t1: tile[1] };
            let (src_strides, src_len) = tile_strides(&mut rng, panels.outer(), tile[0] * tile[1]);
            let src = random::<T>(&mut rng, src_len);
            let mut expected = vec![None; len];
            for r in 0..size[0] {
                for c in 0..size[1] {
                    let at = r / tile[0] * src_strides[0] + c / tile[1] * src_strides[1];
                    let value = src[at + r % tile[0] * tile[1] + c % tile[1]];
                    expected[r * out_strides[0] + c * out_strides[1]] = Some(value);
                }
            }
            for side in [Side::Before, Side::After] {
                let guarded = Guarded::new(&src, side);
                let mut out = Guarded::new(&vec![T::from_bits(CANARY); len], side);
                row.unpack(&mut unpack::Args {
                    tile,
                    size,
                    src: guarded.get(),
                    src_strides: src_strides.map(|s| s as isize),
                    out: out.get_mut(),
                    out_strides: out_strides.map(|s| s as isize),
                })
                .unwrap();
                let name = row.row().name;
                let case = || format!("{name} seed {seed} {tile:?} {size:?} {src_strides:?} {out_strides:?}");
                compare(out.get(), &expected, &case);
            }
        }
    }
}
