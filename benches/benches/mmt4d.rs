//! Every `mmt4d` row that runs here, next to the peak loop of its instruction; rows as drivers call them, on streamed weights,
//! in convolutions and in whole products.
#![allow(missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use smalti_benches::peak::Peak;
use smalti_benches::rows::TileCall;
use smalti_benches::{products, streams, taps};
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

fn matrix_vector(c: &mut Criterion) {
    let host = Host::detect();
    let Some(stream) = streams::Stream::new(&host) else { return };
    let mut group = c.benchmark_group("matrix-vector");
    for row in streams::cases(&host) {
        let bound = row.bind(&host).ok().and_then(|row| streams::Product::new(row, &stream));
        let Some(mut product) = bound else { continue };
        group.throughput(Throughput::Bytes(product.bytes() as u64));
        group.bench_function(row.name, |b| b.iter(|| product.run()));
    }
    group.finish();
}

fn convolutions(c: &mut Criterion) {
    let host = Host::detect();
    let mut group = c.benchmark_group("convolutions");
    for (row, layer) in taps::cases(&host) {
        let Ok(bound) = row.bind(&host) else { continue };
        let Ok(mut convolution) = taps::Convolution::new(bound, layer, |i| (i % 17) as f32 / 17.0) else { continue };
        group.throughput(Throughput::Elements(layer.nominal_macs()));
        group.bench_function(taps::name(row, layer), |b| b.iter(|| convolution.run()));
    }
    group.finish();
}

fn whole_products(c: &mut Criterion) {
    let host = Host::detect();
    let mut group = c.benchmark_group("products");
    for (row, size, packed) in products::cases(&host) {
        let Ok(bound) = row.bind(&host) else { continue };
        let product = products::Product::new(bound, size, packed, &host, |i| (i % 17) as f32 / 17.0);
        let Some(mut product) = product else { continue };
        group.throughput(Throughput::Elements((size * size * size) as u64));
        group.bench_function(products::name(row, size, packed), |b| b.iter(|| product.run()));
    }
    group.finish();
}

criterion_group!(benches, rows, matrix_vector, convolutions, whole_products);
criterion_main!(benches);
