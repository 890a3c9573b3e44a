//! Calls of `mmt4d` rows on whole tiles in cache.

use smalti_ukernels::mmt4d::{Args, Batch, Tile};
use smalti_ukernels::table::Bound;

/// Packed operands of one tile of depth `k`.
pub struct TileCall {
    row: Bound,
    tile: Tile,
    k: usize,
    lhs: Vec<f32>,
    rhs: Vec<f32>,
    out: Vec<f32>,
}

impl TileCall {
    /// Operands for `row`.
    pub fn new(row: Bound, k: usize) -> TileCall {
        let tile = row.tile(Tile { m0: 8, n0: 8, k0: 1 });
        let ramp = |n: usize| (0..n).map(|i| (i % 17) as f32 / 17.0).collect();
        TileCall { row, tile, k, lhs: ramp(tile.m0 * k), rhs: ramp(tile.n0 * k), out: vec![0.0; tile.m0 * tile.n0] }
    }

    /// Multiply-adds of a call.
    pub fn macs(&self) -> u64 {
        (self.tile.m0 * self.tile.n0 * self.k) as u64
    }

    /// One call.
    ///
    /// # Panics
    /// The row refuses its operands.
    pub fn run(&mut self) {
        let Tile { m0, n0, k0 } = self.tile;
        let mut args = Args {
            tile: self.tile,
            rows: m0,
            cols: n0,
            lhs: &self.lhs,
            lhs_row_stride: k0 as isize,
            lhs_k_stride: (m0 * k0) as isize,
            rhs: &self.rhs,
            rhs_k_stride: (n0 * k0) as isize,
            batches: &[Batch::default()],
            k_per_batch: self.k,
            init: None,
            init_row_stride: 0,
            bias: None,
            clamp: None,
            out: &mut self.out,
            out_row_stride: n0 as isize,
            accumulate: false,
            scales: None,
            prefetch_rhs: None,
            prefetch_out: None,
            scratch: &mut [],
        };
        self.row.run(&mut args).expect("operands fit the tile");
    }
}
