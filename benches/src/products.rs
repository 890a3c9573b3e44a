//! Whole products of f32: pack both operands, multiply, unpack; and the same on operands as they lie.

use crate::measure::{Burst, in_turns};
use crate::peak::Peak;
use crate::report::{Line, ROUNDS, Unit};
use crate::rows::{Aligned, At, Strides, Tiles};
use smalti_ukernels::Host;
use smalti_ukernels::elem::ElemType::F32;
use smalti_ukernels::mmt4d::{Batch, Tile};
use smalti_ukernels::name::{Op, Types};
use smalti_ukernels::select::{self, Mmt4dQuery};
use smalti_ukernels::table::{Bound, Row};
use smalti_ukernels::{pack, unpack};

/// Rows, columns and depth.
pub const SIZES: [usize; 4] = [32, 64, 128, 256];

/// The row that serves a product.
pub fn row(size: usize, host: &Host) -> Option<&'static Row> {
    Some(select::mmt4d(&Mmt4dQuery::new([F32; 3], size, size, size), host.target())?.row)
}

/// A product of row-major `size x size` matrices, whose sizes need not be whole tiles.
pub struct Product {
    size: usize,
    tiles: Tiles,
    packed: Option<Packed>,
}

/// What packed operands need besides.
struct Packed {
    lhs: Aligned<f32>,
    rhs: Aligned<f32>,
    out: Aligned<f32>,
    tile: Tile,
    pack: [Bound; 2],
    unpack: Bound,
}

impl Product {
    /// Operands' elements are `value(i)`, i counting from 0. None where rows that pack are missing here, or where rows can't
    /// read operands as they lie.
    pub fn new(row: Bound, size: usize, packed: bool, host: &Host, value: fn(usize) -> f32) -> Option<Product> {
        let tile @ Tile { m0, n0, k0 } = row.tile(Tile { m0: 8, n0: 8, k0: 1 });
        if k0 != 1 {
            return None;
        }
        let [m1, n1] = [m0, n0].map(|t| size.div_ceil(t));
        let matrix = || Aligned::new(size * size, 0.0, value);
        let zeros = |len: usize| Aligned::new(len, 0.0, |_| 0.0);
        let (strides, operands) = if packed {
            let strides = Strides { lhs_row: 1, lhs_k: m0, rhs_k: n0, out_row: n0, k: size, clamp: None };
            (strides, [m1 * m0 * size, n1 * n0 * size, m1 * m0 * n1 * n0].map(zeros))
        } else {
            let strides = Strides { lhs_row: size, lhs_k: 1, rhs_k: size, out_row: size, k: size, clamp: None };
            (strides, [matrix(), matrix(), zeros(size * size)])
        };
        let mut tiles = Tiles::new(row, tile, strides, operands, vec![vec![Batch::default()]]);
        for n in 0..n1 {
            for m in 0..m1 {
                let (rows, cols) = ((size - m * m0).min(m0), (size - n * n0).min(n0));
                let at = if packed {
                    // Whole tiles: padding is multiplied too.
                    At {
                        rows: m0,
                        cols: n0,
                        lhs: m * m0 * size,
                        rhs: n * n0 * size,
                        out: (m * n1 + n) * m0 * n0,
                        list: 0,
                    }
                } else {
                    At { rows, cols, lhs: m * m0 * size, rhs: n * n0, out: m * m0 * size + n * n0, list: 0 }
                };
                tiles.push(at).ok()?;
            }
        }
        let moves = |op: Op, t0: usize, t1: usize| {
            select::panels(op, Types::pair(F32, F32), t0, t1, host.target())?.bind(host).ok()
        };
        let packed = match packed {
            true => Some(Packed {
                lhs: matrix(),
                rhs: matrix(),
                out: zeros(size * size),
                tile,
                pack: [moves(Op::Pack, m0, 1)?, moves(Op::Pack, n0, 1)?],
                unpack: moves(Op::Unpack, m0, n0)?,
            }),
            false => None,
        };
        Some(Product { size, tiles, packed })
    }

    /// The whole product.
    pub fn run(&mut self) {
        let size = self.size;
        let Some(p) = &mut self.packed else { return self.tiles.run() };
        let Tile { m0, n0, .. } = p.tile;
        let [m1, n1] = [m0, n0].map(|t| size.div_ceil(t));
        let sides = [(m0, m1, [size, 1]), (n0, n1, [1, size])];
        for (side, (t0, outer, strides)) in sides.into_iter().enumerate() {
            let (src, out) =
                if side == 0 { (p.lhs.get(), self.tiles.lhs_mut()) } else { (p.rhs.get(), self.tiles.rhs_mut()) };
            let mut args = pack::Args {
                tile: [t0, 1],
                size: [size, size],
                src,
                src_strides: strides.map(|s| s as isize),
                outer: [outer, size],
                out,
                out_strides: [(t0 * size) as isize, t0 as isize],
                padding: 0,
            };
            p.pack[side].pack(&mut args).expect("operands fit the panels");
        }
        self.tiles.run();
        let mut args = unpack::Args {
            tile: [m0, n0],
            size: [size, size],
            src: self.tiles.out(),
            src_strides: [(n1 * m0 * n0) as isize, (m0 * n0) as isize],
            out: p.out.get_mut(),
            out_strides: [size as isize, 1],
        };
        p.unpack.unpack(&mut args).expect("tiles fit the output");
    }

    /// The row-major output.
    pub fn out(&self) -> &[f32] {
        self.packed.as_ref().map_or(self.tiles.out(), |p| p.out.get())
    }
}

/// The cases: a row, a size, whether operands are packed.
pub fn cases(host: &Host) -> impl Iterator<Item = (&'static Row, usize, bool)> + '_ {
    let rows = SIZES.into_iter().filter_map(|size| Some((row(size, host)?, size)));
    rows.flat_map(|(row, size)| [(row, size, true), (row, size, false)])
}

/// The name of a case.
pub fn name(row: &Row, size: usize, packed: bool) -> String {
    let how = if packed { "packed" } else { "in place" };
    format!("{} {size}x{size}x{size} {how}", row.name)
}

/// The cases whose names contain `filter`.
pub(crate) fn lines<'a>(host: &'a Host, filter: &'a str) -> impl Iterator<Item = Line> + 'a {
    cases(host).filter_map(move |(row, size, packed)| {
        let name = name(row, size, packed);
        if !name.contains(filter) {
            return None;
        }
        let mut product = Product::new(row.bind(host).ok()?, size, packed, host, |i| (i % 17) as f32 / 17.0)?;
        let (peak, rounds) = (Peak::of(row, host), 256);
        let (mut call, mut limit) = (|| product.run(), || peak.run(rounds));
        let (mut bursts, mut limits) = (Burst::new(&mut call), Burst::new(&mut limit));
        in_turns(ROUNDS, &mut [&mut limits, &mut bursts]);
        let (ops, peak_ops) = (2.0 * (size * size * size) as f64, 2.0 * peak.macs(rounds) as f64);
        Some(Line::new(name, Unit::Gops, (ops, &bursts), (peak.name, peak_ops, &limits)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use smalti_ukernels::table::ROWS;

    /// Small integers, whose sums f32 holds exactly.
    fn value(i: usize) -> f32 {
        (i * 7 % 11) as f32 - 5.0
    }

    #[test]
    fn both_ways_make_the_product() {
        let (host, size) = (Host::detect(), 37);
        for row in ROWS.iter().filter(|r| r.op == Op::Mmt4d && r.types == Types::new([F32; 3])) {
            let Ok(bound) = row.bind(&host) else { continue };
            for packed in [true, false] {
                let mut product = Product::new(bound, size, packed, &host, value).expect(row.name);
                product.run();
                for (m, n) in (0..size).flat_map(|m| (0..size).map(move |n| (m, n))) {
                    let sum: f32 = (0..size).map(|k| value(m * size + k) * value(k * size + n)).sum();
                    assert_eq!(product.out()[m * size + n], sum, "{} packed: {packed}: {m}, {n}", row.name);
                }
            }
        }
    }
}
