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

#[test]
#[cfg_attr(debug_assertions, ignore = "needs an optimised build: cargo test --release")]
fn inner_loops() {
    let host = Host::detect();
    let mut page = String::from(
        "| kernel | numerics | instruction | k-tiles a pass | instructions a k-tile | vector registers |\n|---|---|---|---|---|---|\n",
    );
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
        assert_eq!(body.key as u64 * peak.macs_of_one() % products, 0, "{}: whole k-tiles\n{text}", row.name);
        let tiles = body.key as u64 * peak.macs_of_one() / products;
        assert!(tiles > 0, "{} has no loop of {}\n{text}", row.name, peak.name);
        assert_eq!(body.stack, 0, "{} accesses the stack\n{text}", row.name);
        assert_eq!(body.divisions, 0, "{} divides\n{text}", row.name);
        writeln!(
            page,
            "| {} | {} | {} | {tiles} | {:.1} | {} |",
            row.name,
            row.numerics,
            peak.name,
            body.text.len() as f64 / tiles as f64,
            body.vectors
        )
        .unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/kernels-x86_64.md");
    printed_part(&path, "loops", &page).unwrap();
}
