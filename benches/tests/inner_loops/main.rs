//! The machine code of tuned rows is what their schedules say: the inner loop does its products, keeps its accumulators in
//! registers and divides nothing. Only optimised builds have that code, and only x86-64 can be read here.
#![cfg(target_arch = "x86_64")]
#![allow(missing_docs)]

mod code;

use code::InnerLoop;
use smalti_benches::peak::Peak;
use smalti_filetest::printed_part;
use smalti_ukernels::Host;
use smalti_ukernels::name::{Op, Place};
use smalti_ukernels::table::ROWS;
use std::fmt::Write;
use std::path::Path;

/// Rows whose loop loads a stride or an address again, a scalar that nothing waits for: there are more of them than registers.
const RELOADED: &[&str] = &[
    "mmt4d_f64f64f64_4x8x1_x86_64_avx2_fma",
    "mmt4d_f32i8f32_1x16x1_x86_64_avx2_fma",
    "mmt4d_f32i8f32_2x16x1_x86_64_avx2_fma",
    "mmt4d_f32i8f32_4x16x1_x86_64_avx2_fma",
    "mmt4d_f32i8f32_5x16x1_x86_64_avx2_fma",
    "mmt4d_f32i8f32_1x16x1_x86_64_avx2_fma_splitk2",
    "mmt4d_f32i8f32_2x16x1_x86_64_avx2_fma_splitk2",
    "mmt4d_f32i8f32_2x32x1_x86_64_avx512",
    "mmt4d_f32i8f32_4x32x1_x86_64_avx512",
    "mmt4d_f32i8f32_12x32x1_x86_64_avx512",
];

#[test]
#[cfg_attr(debug_assertions, ignore = "needs an optimised build: cargo test --release")]
fn inner_loops() {
    let host = Host::detect();
    let mut page = String::from(
        "| kernel | numerics | instruction | k-tiles a pass | instructions a k-tile | vector registers | stack accesses |\n|---|---|---|---|---|---|---|\n",
    );
    let mut wrong = String::new();
    let tuned = |r: &&smalti_ukernels::table::Row| {
        r.op == Op::Mmt4d && matches!(r.place, Place::Isa(level, _) if level.arch() == smalti_isa::Arch::X86_64)
    };
    for row in ROWS.iter().filter(tuned) {
        let peak = Peak::of(row, &host);
        let body = InnerLoop::of(row, &peak).unwrap_or_else(|| panic!("{} has no code", row.name));
        let text = body.text.join("\n");
        let target = host.target();
        let [m0, n0, k0] = row.tile.map(|d| d.on(target).unwrap());
        let products = (m0 * n0 * k0) as u64;
        let tiles = body.key as u64 * peak.macs_of_one() / products;
        let faults = [
            (!(body.key as u64 * peak.macs_of_one()).is_multiple_of(products), "has parts of a k-tile in its loop"),
            (tiles == 0, "has no loop of its instruction"),
            (body.spills != 0, "has vectors on the stack, or stores there"),
            (body.reloads != 0 && !RELOADED.contains(&row.name), "loads from the stack"),
            (body.reloads == 0 && RELOADED.contains(&row.name), "is mended: take it from the list"),
            (body.divisions != 0, "divides"),
        ];
        for (_, fault) in faults.iter().filter(|(there, _)| *there) {
            writeln!(wrong, "{} {fault}:\n{text}", row.name).unwrap();
        }
        writeln!(
            page,
            "| {} | {} | {} | {tiles} | {:.1} | {} | {} |",
            row.name,
            row.numerics,
            peak.name,
            body.text.len() as f64 / tiles.max(1) as f64,
            body.vectors,
            body.spills + body.reloads
        )
        .unwrap();
    }
    assert!(wrong.is_empty(), "{wrong}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/kernels-x86_64.md");
    printed_part(&path, "loops", &page).unwrap();
}
