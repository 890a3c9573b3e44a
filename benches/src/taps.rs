//! Batch-reduce rows as direct convolutions drive them: 3x3, stride 1, a border of one pixel that no copy of the image has.

use crate::measure::{Burst, in_turns};
use crate::peak::Peak;
use crate::report::{Line, ROUNDS, Unit};
use crate::rows::{Aligned, At, Strides, Tiles};
use smalti_ukernels::Host;
use smalti_ukernels::elem::ElemType::F32;
use smalti_ukernels::mmt4d::{ArgsError, Batch, Tile};
use smalti_ukernels::name::{Op, Types};
use smalti_ukernels::select::{self, Mmt4dQuery};
use smalti_ukernels::table::{Bound, Family, ROWS, Row, Tier};

/// Channels whose products are summed before the next tap's.
const GROUP: usize = 16;
/// The tile of rows that take any.
const TILE: Tile = Tile { m0: 8, n0: 16, k0: 1 };
/// Taps of a side.
const SIDE: usize = 3;

/// A layer of as many output channels as input channels.
#[derive(Clone, Copy, Debug)]
pub struct Layer {
    /// Pixels of a side of the image.
    pub size: usize,
    /// Channels, whole blocks of them.
    pub channels: usize,
}

/// Those of ResNets.
pub const LAYERS: [Layer; 4] = [
    Layer { size: 56, channels: 64 },
    Layer { size: 28, channels: 128 },
    Layer { size: 14, channels: 256 },
    Layer { size: 7, channels: 512 },
];

impl Layer {
    /// Multiply-adds with taps in the border counted, as is usual.
    pub fn nominal_macs(&self) -> u64 {
        (self.size * self.size * self.channels * self.channels * SIDE * SIDE) as u64
    }

    /// The row of a family that serves lines of pixels of the image.
    fn row(&self, family: Family, host: &Host) -> Option<&'static Row> {
        let k = self.channels * SIDE * SIDE;
        let query = Mmt4dQuery { family: Some(family), ..Mmt4dQuery::new([F32; 3], self.size, self.channels, k) };
        Some(select::mmt4d(&query, host.target())?.row)
    }
}

/// A convolution. Images are `[channels/block][pixels][block]`, a block being what a tile has of columns, or a group where
/// that is more; weights are `[channels/N0][groups][taps][channels in the group][N0]`.
pub struct Convolution {
    tiles: Tiles,
    block: usize,
}

impl Convolution {
    /// Elements are `value(i)`, i counting from 0 in the image and in the weights as they lie; negative results become 0.
    ///
    /// # Errors
    /// The row does not serve the layer.
    pub fn new(row: Bound, layer: Layer, value: fn(usize) -> f32) -> Result<Convolution, ArgsError> {
        let Layer { size, channels } = layer;
        let tile @ Tile { m0, n0, .. } = row.tile(TILE);
        let block = n0.max(GROUP);
        let groups = channels / GROUP;
        let plane = size * size * block;
        let taps = SIDE * SIDE;
        let operand = |len: usize| Aligned::new(len, 0.0, value);
        let operands = [channels * size * size, channels * channels * taps, channels * size * size].map(operand);
        let strides = Strides {
            lhs_row: block,
            lhs_k: 1,
            rhs_k: n0,
            out_row: block,
            k: GROUP,
            clamp: Some([0.0, f32::INFINITY]),
        };
        // Lines are cut into pieces of about the same length, none longer than a tile.
        let pieces = size.div_ceil(m0);
        let cuts: Vec<usize> = (0..=pieces).map(|i| i * size / pieces).collect();
        let list = |y: usize, x: usize, rows: usize| -> Vec<Batch> {
            let tap = |group: usize, tap: usize| {
                let [dy, dx] = [tap / SIDE, tap % SIDE].map(|d| d as isize - 1);
                if !(0..size as isize).contains(&(y as isize + dy)) {
                    return None;
                }
                let channel = group * GROUP;
                let image = (channel / block * plane + channel % block) as isize;
                Some(Batch {
                    lhs: image + (dy * size as isize + dx) * block as isize,
                    rhs: ((group * taps + tap) * GROUP * n0) as isize,
                    skip_first: usize::from(x == 0 && dx < 0),
                    skip_last: usize::from(x + rows == size && dx > 0),
                })
            };
            (0..groups).flat_map(|group| (0..taps).filter_map(move |t| tap(group, t))).collect()
        };
        // Tiles of the first, of the last and of all lines between have the same batches.
        let lists = [0, size / 2, size - 1];
        let lists = lists.iter().flat_map(|&y| cuts.windows(2).map(move |x| list(y, x[0], x[1] - x[0]))).collect();
        let mut tiles = Tiles::new(row, tile, strides, operands, lists);
        for column in 0..channels / n0 {
            for y in 0..size {
                let line = if y == 0 { 0 } else { 1 + usize::from(y + 1 == size) };
                for (i, x) in cuts.windows(2).enumerate() {
                    let pixel = (y * size + x[0]) * block;
                    tiles.push(At {
                        rows: x[1] - x[0],
                        cols: n0,
                        lhs: pixel,
                        rhs: column * groups * taps * GROUP * n0,
                        out: column * n0 / block * plane + pixel + column * n0 % block,
                        list: line * pieces + i,
                    })?;
                }
            }
        }
        Ok(Convolution { tiles, block })
    }

    /// The whole layer.
    pub fn run(&mut self) {
        self.tiles.run();
    }

    /// Channels of a block of the image.
    pub fn block(&self) -> usize {
        self.block
    }

    /// The output image.
    pub fn out(&self) -> &[f32] {
        self.tiles.out()
    }
}

/// Families of tuned rows on f32 that run here and whose tiles are whole parts of a block, each with the layers and the rows
/// that serve them.
pub fn cases(host: &Host) -> impl Iterator<Item = (&'static Row, Layer)> + '_ {
    let target = host.target();
    let mut families: Vec<Family> = Vec::new();
    for row in ROWS.iter().filter(|r| r.op == Op::Mmt4d && r.types == Types::new([F32; 3])) {
        let fits = row.tier() == Tier::Tuned && row.runs_on(target);
        let whole = row.tile[1].on(target).is_some_and(|n0| LAYERS.iter().all(|l| l.channels % n0.max(GROUP) == 0));
        families.extend(row.family().filter(|f| fits && whole && !families.contains(f)));
    }
    families.into_iter().flat_map(|f| LAYERS.map(|layer| (f, layer))).filter_map(|(f, l)| Some((l.row(f, host)?, l)))
}

/// The name of a case.
pub fn name(row: &Row, layer: Layer) -> String {
    let Layer { size, channels } = layer;
    format!("{} 3x3 {size}x{size}x{channels}", row.name)
}

/// The cases whose names contain `filter`.
pub(crate) fn lines<'a>(host: &'a Host, filter: &'a str) -> impl Iterator<Item = Line> + 'a {
    cases(host).filter_map(move |(row, layer)| {
        let name = name(row, layer);
        if !name.contains(filter) {
            return None;
        }
        let mut convolution = Convolution::new(row.bind(host).ok()?, layer, |i| (i % 17) as f32 / 17.0).ok()?;
        let (peak, rounds) = (Peak::of(row, host), 256);
        let (mut call, mut limit) = (|| convolution.run(), || peak.run(rounds));
        let (mut bursts, mut limits) = (Burst::new(&mut call), Burst::new(&mut limit));
        in_turns(ROUNDS, &mut [&mut limits, &mut bursts]);
        let peak_ops = 2.0 * peak.macs(rounds) as f64;
        Some(Line::new(name, Unit::Gops, (2.0 * layer.nominal_macs() as f64, &bursts), (peak.name, peak_ops, &limits)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small integers, whose sums f32 holds exactly.
    fn value(i: usize) -> f32 {
        (i * 7 % 11) as f32 - 5.0
    }

    #[test]
    fn tiles_make_the_convolution() {
        let host = Host::detect();
        let layer = Layer { size: 7, channels: 32 };
        let Layer { size, channels } = layer;
        for row in ROWS.iter().filter(|r| r.op == Op::Mmt4d && r.types == Types::new([F32; 3])) {
            let Ok(bound) = row.bind(&host) else { continue };
            let Tile { n0, .. } = bound.tile(TILE);
            if 32 % n0 != 0 {
                continue;
            }
            let mut convolution = Convolution::new(bound, layer, value).unwrap();
            convolution.run();
            let block = convolution.block();
            let pixel = |c: usize, y: usize, x: usize| (c / block * size * size + y * size + x) * block + c % block;
            let weight = |to: usize, from: usize, tap: usize| {
                let (panel, group) = (to / n0, from / GROUP);
                (((panel * channels / GROUP + group) * 9 + tap) * GROUP + from % GROUP) * n0 + to % n0
            };
            for (to, y, x) in (0..channels).flat_map(|c| (0..size * size).map(move |p| (c, p / size, p % size))) {
                let mut sum = 0.0;
                for (from, tap) in (0..channels).flat_map(|c| (0..9).map(move |t| (c, t))) {
                    let (y, x) = ((y + tap / 3).wrapping_sub(1), (x + tap % 3).wrapping_sub(1));
                    if y < size && x < size {
                        sum += value(pixel(from, y, x)) * value(weight(to, from, tap));
                    }
                }
                assert_eq!(convolution.out()[pixel(to, y, x)], sum.max(0.0), "{}: {to} at {y}, {x}", row.name);
            }
        }
    }
}
