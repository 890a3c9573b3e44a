//! Every `mmt4d` row that runs here, next to the peak loop of the same run.
#![allow(missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use smalti_benches::peak::FmaPeak;
use smalti_benches::rows::TileCall;
use smalti_ukernels::Host;
use smalti_ukernels::name::Op;
use smalti_ukernels::table::ROWS;

/// Depth of a tile: in cache, and long enough to hide its start and end.
const K: usize = 256;

fn rows(c: &mut Criterion) {
    let host = Host::detect();
    let mut group = c.benchmark_group("mmt4d");
    for row in ROWS.iter().filter(|r| r.op == Op::Mmt4d) {
        let Ok(bound) = row.bind(&host) else { continue };
        let mut call = TileCall::new(bound, K);
        group.throughput(Throughput::Elements(call.macs()));
        group.bench_function(row.name, |b| b.iter(|| call.run()));
    }
    let (rounds, peak) = (256, FmaPeak::new(&host));
    group.throughput(Throughput::Elements(peak.macs(rounds)));
    group.bench_function("peak of fused multiply-adds", |b| b.iter(|| peak.run(rounds)));
    group.finish();
}

criterion_group!(benches, rows);
criterion_main!(benches);
