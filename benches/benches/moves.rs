//! Packs and unpacks of matrices in cache.
#![allow(missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use smalti_benches::moves;
use smalti_ukernels::Host;

fn rows(c: &mut Criterion) {
    let host = Host::detect();
    let mut group = c.benchmark_group("moves");
    for case in moves::cases(&host) {
        let (mut call, bytes) = case.call();
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(case.name(), |b| b.iter(&mut call));
    }
    group.finish();
}

criterion_group!(benches, rows);
criterion_main!(benches);
