//! What `smalti bench` measures, a line for each case.

use crate::measure::{Burst, in_turns, median_ratio};
use crate::peak::{Peak, cycles};
use crate::rows::TileCall;
use smalti_ukernels::Host;
use smalti_ukernels::name::Op;
use smalti_ukernels::table::ROWS;

/// K-tiles of a call: in cache, and long enough to hide a tile's start and end.
const K_TILES: usize = 256;
/// Bursts of each.
const ROUNDS: usize = 120;
/// Cycles of a burst's call of the chain that counts them.
const CHAIN: usize = 4096;

/// One kernel beside the limit of the same run.
#[derive(Clone, Debug)]
pub struct Line {
    /// The kernel's name.
    pub name: &'static str,
    /// Operations (two a multiply-add) in a nanosecond.
    pub gops: f64,
    /// What the limit is the limit of.
    pub limit: &'static str,
    /// The limit, in the same unit.
    pub peak: f64,
    /// The best of one over the best of the other.
    pub ratio: f64,
    /// The median over the bursts.
    pub median_ratio: f64,
    /// Multiply-adds in a cycle.
    pub macs_per_cycle: f64,
}

/// Every row that runs here and whose name contains `filter`, one after the other.
pub fn ukernels<'a>(host: &'a Host, filter: &'a str) -> impl Iterator<Item = Line> + 'a {
    ROWS.iter().filter(move |r| r.op == Op::Mmt4d && r.name.contains(filter)).filter_map(move |row| {
        let mut tile = TileCall::new(row.bind(host).ok()?, K_TILES)?;
        let (peak, rounds) = (Peak::of(row, host), 256);
        let macs = tile.macs() as f64;
        let (mut call, mut limit, mut chain) = (|| tile.run(), || peak.run(rounds), || cycles(CHAIN));
        let mut row_bursts = Burst::new(&mut call);
        let mut peak_bursts = Burst::new(&mut limit);
        let mut cycle_bursts = Burst::new(&mut chain);
        in_turns(ROUNDS, &mut [&mut peak_bursts, &mut row_bursts, &mut cycle_bursts]);
        let (rate, limit) = (macs / row_bursts.best(), peak.macs(rounds) as f64 / peak_bursts.best());
        let scale = macs / peak.macs(rounds) as f64;
        Some(Line {
            name: row.name,
            gops: 2e-9 * rate,
            limit: peak.name,
            peak: 2e-9 * limit,
            ratio: rate / limit,
            median_ratio: scale * median_ratio(&peak_bursts, &row_bursts),
            macs_per_cycle: rate * cycle_bursts.best() / CHAIN as f64,
        })
    })
}
