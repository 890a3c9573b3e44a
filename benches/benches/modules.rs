//! Loading .smalti files: mapped, read, checked, its machine code in place, ready to run.
#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use smalti::Tensor;
use smalti::module::{self, Build};
use smalti_graph::Graph;
use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

/// Twenty dense layers of 256 x 256 with bias, erf-GELU and residual: 5 MB of weights, in the file once for the graph and
/// once in the target's panels.
fn layers() -> Graph {
    let mut text = String::from("graph \"layers\" {\n  input %0: f32[N,256] \"x\"\n");
    let mut blobs = Vec::new();
    let (mut last, mut next) = (0, 1);
    for layer in 0..20u32 {
        for len in [vec![256, 256], vec![256]] {
            let values: Vec<f32> =
                (0..len.iter().product::<usize>()).map(|i| ((i as u32 * 97 + layer) % 31) as f32 / 512.0).collect();
            let shape: Vec<String> = len.iter().map(usize::to_string).collect();
            let _ = writeln!(text, "  %{next} = constant {{value = blob {}}}: f32[{}]", blobs.len(), shape.join(","));
            blobs.push(Arc::new(Tensor::f32(len, &values)));
            next += 1;
        }
        let [w, b, y] = [next - 2, next - 1, next];
        let _ = writeln!(text, "  %{y} = matmul (%{last}, %{w}): f32[N,256]");
        let _ = writeln!(text, "  %{} = add (%{y}, %{b}): f32[N,256]", y + 1);
        let _ = writeln!(text, "  %{} = erf (%{}): f32[N,256]", y + 2, y + 1);
        let _ = writeln!(text, "  %{} = add (%{}, %{last}): f32[N,256]", y + 3, y + 2);
        (last, next) = (y + 3, y + 4);
    }
    let _ = write!(text, "  output %{last}\n}}\n");
    Graph::parse(&text, &blobs).expect("a graph of this bench's own")
}

fn load(c: &mut Criterion) {
    let build = Build { targets: vec![smalti::Target::host()], strict: false, packed: true };
    let module = module::build(layers(), &build).expect("it compiles").module;
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("layers.smalti");
    module::save(&module, &path).expect("it is written");
    let bytes = std::fs::metadata(&path).expect("it is there").len();
    c.bench_function(&format!("load a module of {:.1} MB", bytes as f64 / 1e6), |b| {
        b.iter(|| {
            let module = module::open(black_box(&path)).expect("it is read");
            smalti::Session::load(&module, smalti::pool(1), true).expect("it loads")
        });
    });
}

criterion_group!(benches, load);
criterion_main!(benches);
