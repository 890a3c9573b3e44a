//! Whole models that lie in the repository.
#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use smalti::{Options, Session, Tensor};
use std::path::Path;

fn digits(c: &mut Criterion) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/digits.onnx");
    let model = smalti::compile(&path, &Options::default()).expect("the model compiles");
    let mut session = Session::new(&model, 1).expect("the model loads");
    let image = [Tensor::f32([1, 1, 8, 8], &[0.5; 64])];
    c.bench_function("digits, one image", |b| b.iter(|| session.run(&image).expect("the model runs")));
}

criterion_group!(benches, digits);
criterion_main!(benches);
