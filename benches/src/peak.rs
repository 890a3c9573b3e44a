//! Loops of independent instructions: the machine's limit, in the same run as what is measured against it.

use smalti_ukernels::Host;
use smalti_ukernels::table::Row;
use std::hint::black_box;

const ACCUMULATORS: usize = 12;

/// Lanes of the widest vectors that have rows.
fn lanes(host: &Host) -> usize {
    let runs = |row: &str| Row::find(row).is_some_and(|r| r.runs_on(host.target()));
    if runs("mmt4d_f32f32f32_14x32x1_x86_64_avx512") {
        16
    } else if runs("mmt4d_f32f32f32_6x16x1_x86_64_avx2_fma") {
        8
    } else {
        1
    }
}

/// Twelve independent chains of fused multiply-adds on the widest vectors that the machine has.
#[derive(Clone, Copy, Debug)]
pub struct FmaPeak {
    lanes: usize,
}

impl FmaPeak {
    /// The loop for this machine: found once, since a search takes as long as many rounds.
    pub fn new(host: &Host) -> FmaPeak {
        FmaPeak { lanes: lanes(host) }
    }

    /// Multiply-adds of so many rounds.
    pub fn macs(&self, rounds: usize) -> u64 {
        (rounds * ACCUMULATORS * self.lanes) as u64
    }

    /// Runs the loop.
    pub fn run(&self, rounds: usize) {
        f32_fma(rounds, self.lanes);
    }
}

fn f32_fma(rounds: usize, lanes: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::*;
        #[target_feature(enable = "avx512f")]
        fn zmm(rounds: usize) {
            let mut acc = [_mm512_set1_ps(1.0); ACCUMULATORS];
            let (x, y) = (_mm512_set1_ps(black_box(0.999)), _mm512_set1_ps(black_box(0.001)));
            for _ in 0..rounds {
                acc = acc.map(|a| _mm512_fmadd_ps(a, x, y));
            }
            black_box(acc);
        }
        #[target_feature(enable = "avx2,fma")]
        fn ymm(rounds: usize) {
            let mut acc = [_mm256_set1_ps(1.0); ACCUMULATORS];
            let (x, y) = (_mm256_set1_ps(black_box(0.999)), _mm256_set1_ps(black_box(0.001)));
            for _ in 0..rounds {
                acc = acc.map(|a| _mm256_fmadd_ps(a, x, y));
            }
            black_box(acc);
        }
        match lanes {
            // SAFETY: there are so many lanes only where a row of that level runs on the host.
            16 => return unsafe { zmm(rounds) },
            // SAFETY: there are so many lanes only where a row of that level runs on the host.
            8 => return unsafe { ymm(rounds) },
            _ => {}
        }
    }
    let _ = lanes;
    let mut acc = [black_box(1.0f32); ACCUMULATORS];
    for _ in 0..rounds {
        acc = acc.map(|a| a * 0.999 + 0.001);
    }
    black_box(acc);
}
