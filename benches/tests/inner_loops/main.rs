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

/// Rows of 4-bit integers and scaled weights that don't hold to it yet, and how: what they unpack takes registers that their
/// accumulators need. A row that is mended has to be taken from here.
const KNOWN: &[(&str, &str)] = &[
    ("mmt4d_i16u4i32_1x16x8_x86_64_avx2_fma", "accesses the stack"),
    ("mmt4d_i16u4i32_4x16x8_x86_64_avx2_fma", "accesses the stack"),
    ("mmt4d_i16u4i32_6x16x8_x86_64_avx2_fma", "accesses the stack"),
    ("mmt4d_i8i4i32_4x16x8_x86_64_avx2_fma", "accesses the stack"),
    ("mmt4d_i8i4i32_6x16x8_x86_64_avx2_fma", "accesses the stack"),
    ("mmt4d_i8i4g32f32_4x16x8_x86_64_avx2_fma", "accesses the stack"),
    ("mmt4d_i8i4g32f32_6x16x8_x86_64_avx2_fma", "accesses the stack"),
    ("mmt4d_f32i4g32f32_4x16x8_x86_64_avx2_fma", "accesses the stack"),
    ("mmt4d_f32i4g32f32_6x16x8_x86_64_avx2_fma", "accesses the stack"),
    ("mmt4d_f32i4g128f32_4x16x8_x86_64_avx2_fma", "accesses the stack"),
    ("mmt4d_f32i4g128f32_6x16x8_x86_64_avx2_fma", "accesses the stack"),
    ("mmt4d_f32i8f32_2x16x1_x86_64_avx2_fma", "accesses the stack"),
    ("mmt4d_f32i8f32_4x16x1_x86_64_avx2_fma", "accesses the stack"),
    ("mmt4d_f32i8f32_6x16x1_x86_64_avx2_fma", "accesses the stack"),
    ("mmt4d_f32i8g32f32_1x16x1_x86_64_avx2_fma", "accesses the stack"),
    ("mmt4d_i16u4i32_1x16x8_x86_64_avx_vnni", "accesses the stack"),
    ("mmt4d_i16u4i32_6x16x8_x86_64_avx_vnni", "accesses the stack"),
    ("mmt4d_i8i4i32_2x16x8_x86_64_avx_vnni", "accesses the stack"),
    ("mmt4d_i8i4i32_4x16x8_x86_64_avx_vnni", "accesses the stack"),
    ("mmt4d_i8i4i32_5x16x8_x86_64_avx_vnni", "accesses the stack"),
    ("mmt4d_i8i4g32f32_4x16x8_x86_64_avx_vnni", "has parts of a k-tile in its loop"),
    ("mmt4d_i8i4g32f32_5x16x8_x86_64_avx_vnni", "has parts of a k-tile in its loop"),
    ("mmt4d_i16u4i32_1x32x8_x86_64_avx512", "accesses the stack"),
    ("mmt4d_i16u4i32_8x32x8_x86_64_avx512", "accesses the stack"),
    ("mmt4d_i16u4i32_12x32x8_x86_64_avx512", "accesses the stack"),
    ("mmt4d_i8i4i32_8x32x8_x86_64_avx512", "accesses the stack"),
    ("mmt4d_i8i4i32_12x32x8_x86_64_avx512", "accesses the stack"),
    ("mmt4d_i8i4g32f32_8x32x8_x86_64_avx512", "accesses the stack"),
    ("mmt4d_i8i4g32f32_12x32x8_x86_64_avx512", "accesses the stack"),
    ("mmt4d_f32i4g32f32_12x32x8_x86_64_avx512", "accesses the stack"),
    ("mmt4d_f32i4g128f32_12x32x8_x86_64_avx512", "accesses the stack"),
    ("mmt4d_f32i8f32_12x32x1_x86_64_avx512", "accesses the stack"),
    ("mmt4d_f32i8g32f32_1x32x1_x86_64_avx512", "accesses the stack"),
    ("mmt4d_i16u4i32_2x32x8_x86_64_avx512_vnni", "accesses the stack"),
    ("mmt4d_i16u4i32_4x32x8_x86_64_avx512_vnni", "accesses the stack"),
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
            (body.stack != 0, "accesses the stack"),
            (body.divisions != 0, "divides"),
        ];
        for (there, fault) in faults {
            match (there, KNOWN.contains(&(row.name, fault))) {
                (true, false) => writeln!(wrong, "{} {fault}:\n{text}", row.name).unwrap(),
                (false, true) => writeln!(wrong, "{} is mended: take it from the list", row.name).unwrap(),
                _ => {}
            }
        }
        writeln!(
            page,
            "| {} | {} | {} | {tiles} | {:.1} | {} | {} |",
            row.name,
            row.numerics,
            peak.name,
            body.text.len() as f64 / tiles.max(1) as f64,
            body.vectors,
            body.stack
        )
        .unwrap();
    }
    assert!(wrong.is_empty(), "{wrong}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/kernels-x86_64.md");
    printed_part(&path, "loops", &page).unwrap();
}
