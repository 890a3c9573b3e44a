//! Every `mmt4d` row that runs here, next to the peak loop of its instruction.
#![allow(missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use smalti_benches::peak::Peak;
use smalti_benches::rows::TileCall;
use smalti_ukernels::Host;
use smalti_ukernels::name::Op;
use smalti_ukernels::table::ROWS;
use std::collections::BTreeMap;

/// K-tiles of a call: in cache, and long enough to hide a tile's start and end.
const K_TILES: usize = 256;

fn rows(c: &mut Criterion) {
    let host = Host::detect();
    let mut group = c.benchmark_group("mmt4d");
    let mut peaks = BTreeMap::new();
    for row in ROWS.iter().filter(|r| r.op == Op::Mmt4d) {
        let Ok(bound) = row.bind(&host) else { continue };
        let Some(mut call) = TileCall::new(bound, K_TILES) else { continue };
        group.throughput(Throughput::Elements(call.macs()));
        group.bench_function(row.name, |b| b.iter(|| call.run()));
        let peak = Peak::of(row, &host);
        peaks.insert(peak.name, peak);
    }
    let rounds = 256;
    for peak in peaks.values() {
        group.throughput(Throughput::Elements(peak.macs(rounds)));
        group.bench_function(peak.name, |b| b.iter(|| peak.run(rounds)));
    }
    group.finish();
}

criterion_group!(benches, rows);
criterion_main!(benches);
