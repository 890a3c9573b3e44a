//! Multiplies 384x512 by 512x512 with Smalti's kernels alone: the program's own loops, threads and memory.

use smalti_ukernels::Host;
use smalti_ukernels::elem::ElemType::F32;
use smalti_ukernels::layout::Panels;
use smalti_ukernels::mmt4d::{Args, Batch, Tile};
use smalti_ukernels::name::{Op, Types};
use smalti_ukernels::pack;
use smalti_ukernels::select::{self, Mmt4dQuery};

const M: usize = 384;
const N: usize = 512;
const K: usize = 512;

fn main() {
    let host = Host::detect();
    // Small integers, whose products and sums are exact.
    let lhs: Vec<f32> = (0..M * K).map(|i| (i % 7) as f32 - 3.0).collect();
    let rhs: Vec<f32> = (0..K * N).map(|i| (i % 5) as f32 - 2.0).collect();

    let choice = select::mmt4d(&Mmt4dQuery::new([F32; 3], M, N, K), host.target()).expect("f32 has rows");
    let kernel = choice.row.bind(&host).expect("selection gives rows that run on the target");
    let tile = kernel.tile(Tile { m0: 8, n0: 8, k0: 1 });
    println!("kernel {} ({})", choice.row.name, choice.tier().name());

    // The right operand as panels, once.
    let panels = Panels { rows: N, cols: K, t0: tile.n0, t1: tile.k0 };
    let [n1, k1] = panels.outer();
    let mut packed = vec![0.0f32; panels.len().expect("512 x 512 fits memory")];
    let row = select::panels(Op::Pack, Types::pair(F32, F32), tile.n0, tile.k0, host.target()).expect("f32 has rows");
    row.bind(&host)
        .expect("selection gives rows that run on the target")
        .pack(&mut pack::Args {
            tile: [tile.n0, tile.k0],
            size: [N, K],
            src: &rhs,
            src_strides: [1, N as isize],
            outer: [n1, k1],
            out: &mut packed,
            out_strides: [(k1 * tile.n0 * tile.k0) as isize, (tile.n0 * tile.k0) as isize],
            padding: 0,
        })
        .expect("operands fit");

    // Two threads, each with a run of whole tiles of rows.
    let mut out = vec![0.0f32; M * N];
    let share = M.div_ceil(2).next_multiple_of(tile.m0);
    std::thread::scope(|scope| {
        for (part, out) in out.chunks_mut(share * N).enumerate() {
            let (lhs, packed) = (&lhs[part * share * K..], &packed);
            scope.spawn(move || {
                let rows = out.len() / N;
                for j in 0..n1 {
                    for i in (0..rows).step_by(tile.m0) {
                        let mut args = Args {
                            tile,
                            rows: tile.m0.min(rows - i),
                            cols: tile.n0.min(N - j * tile.n0),
                            lhs: &lhs[i * K..],
                            lhs_row_stride: K as isize,
                            lhs_k_stride: tile.k0 as isize,
                            rhs: &packed[j * k1 * tile.n0 * tile.k0..],
                            rhs_k_stride: (tile.n0 * tile.k0) as isize,
                            batches: &[Batch::default()],
                            k_per_batch: K,
                            init: None,
                            init_row_stride: 0,
                            bias: None,
                            clamp: None,
                            out: &mut out[i * N + j * tile.n0..],
                            out_row_stride: N as isize,
                            accumulate: false,
                            scales: None,
                            zero_points: None,
                            lhs_sums: None,
                            prefetch_rhs: None,
                            prefetch_out: None,
                            scratch: &mut [],
                        };
                        kernel.run(&mut args).expect("operands fit");
                    }
                }
            });
        }
    });

    let expected = |i: usize, j: usize| (0..K).map(|k| lhs[i * K + k] * rhs[k * N + j]).sum::<f32>();
    for i in 0..M {
        for j in 0..N {
            assert_eq!(out[i * N + j], expected(i, j), "row {i}, column {j}");
        }
    }
    println!("{M}x{N}x{K} on two threads: every element is right");
}
