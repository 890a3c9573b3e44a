//! What `smalti bench` measures, a line for each case.

use crate::measure::{Burst, in_turns, median_ratio};
use crate::peak::{Peak, cycles};
use crate::rows::TileCall;
use crate::{moves, products, streams, taps};
use smalti_ukernels::Host;
use smalti_ukernels::name::Op;
use smalti_ukernels::table::ROWS;
use std::borrow::Cow;

/// K-tiles of a call: in cache, and long enough to hide a tile's start and end.
const K_TILES: usize = 256;
/// Bursts of each.
pub(crate) const ROUNDS: usize = 120;
/// Cycles of a burst's call of the chain that counts them.
const CHAIN: usize = 4096;

/// What a rate counts, in a nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Operations, two a multiply-add.
    Gops,
    /// Bytes.
    Gbps,
}

impl Unit {
    /// The name in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Unit::Gops => "gops",
            Unit::Gbps => "gbps",
        }
    }

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Gops => "Gop/s",
            Unit::Gbps => "GB/s",
        }
    }
}

/// One case beside the limit of the same run.
#[derive(Clone, Debug)]
pub struct Line {
    /// The kernel's name, and the case where there are several.
    pub name: Cow<'static, str>,
    /// What the rate counts.
    pub unit: Unit,
    /// The rate.
    pub rate: f64,
    /// What the limit is the limit of.
    pub limit: &'static str,
    /// The limit, in the same unit.
    pub peak: f64,
    /// The best of one over the best of the other.
    pub ratio: f64,
    /// The median over the bursts.
    pub median_ratio: f64,
    /// Multiply-adds in a cycle, where that says something.
    pub macs_per_cycle: Option<f64>,
}

impl Line {
    /// The line of bursts that took turns: operations or bytes of a call of either.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        unit: Unit,
        (work, bursts): (f64, &Burst<'_>),
        (limit, limit_work, limit_bursts): (&'static str, f64, &Burst<'_>),
    ) -> Line {
        let (rate, peak) = (work / bursts.best(), limit_work / limit_bursts.best());
        Line {
            name: name.into(),
            unit,
            rate: 1e-9 * rate,
            limit,
            peak: 1e-9 * peak,
            ratio: rate / peak,
            median_ratio: work / limit_work * median_ratio(limit_bursts, bursts),
            macs_per_cycle: None,
        }
    }
}

/// Every case that runs here and whose name contains `filter`, measured when it is asked for.
pub fn ukernels<'a>(host: &'a Host, filter: &'a str) -> impl Iterator<Item = Line> + 'a {
    let wholes = products::lines(host, filter);
    tiles(host, filter)
        .chain(streams::lines(host, filter))
        .chain(taps::lines(host, filter))
        .chain(wholes)
        .chain(moves::lines(host, filter))
}

/// Every product row on one packed tile.
fn tiles<'a>(host: &'a Host, filter: &'a str) -> impl Iterator<Item = Line> + 'a {
    ROWS.iter().filter(move |r| r.op == Op::Mmt4d && r.name.contains(filter)).filter_map(move |row| {
        let mut tile = TileCall::new(row.bind(host).ok()?, K_TILES)?;
        let (peak, rounds) = (Peak::of(row, host), 256);
        let macs = tile.macs() as f64;
        let (mut call, mut limit, mut chain) = (|| tile.run(), || peak.run(rounds), || cycles(CHAIN));
        let mut row_bursts = Burst::new(&mut call);
        let mut peak_bursts = Burst::new(&mut limit);
        let mut cycle_bursts = Burst::new(&mut chain);
        in_turns(ROUNDS, &mut [&mut peak_bursts, &mut row_bursts, &mut cycle_bursts]);
        let peak_ops = 2.0 * peak.macs(rounds) as f64;
        let line = Line::new(row.name, Unit::Gops, (2.0 * macs, &row_bursts), (peak.name, peak_ops, &peak_bursts));
        Some(Line { macs_per_cycle: Some(macs / row_bursts.best() * cycle_bursts.best() / CHAIN as f64), ..line })
    })
}
