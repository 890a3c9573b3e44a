//! Which row serves which product on eight targets: texts that a change of the table or of the rules shows up in.
#![allow(missing_docs)]

use smalti_isa::Target;
use smalti_ukernels::elem::ElemType;
use smalti_ukernels::mmt4d::Tile;
use smalti_ukernels::name::{Op, Types};
use smalti_ukernels::select::{self, Mmt4dQuery, Reason};
use smalti_ukernels::table::ROWS;
use std::fmt::Write;
use std::path::Path;

const TARGETS: [(&str, &str); 8] = [
    ("x86_64_v3", "x86_64_v3,cpu=skylake"),
    ("x86_64_v4", "x86_64_v4+avx512vnni,avx512bf16,cpu=zen4"),
    ("aarch64", "aarch64,cpu=cortex-a53"),
    ("aarch64_i8mm", "aarch64+i8mm,bf16,fp16,cpu=neoverse-v1"),
    ("riscv64", "riscv64"),
    ("riscv64_v", "riscv64+v"),
    ("riscv64_v256", "riscv64+zvfh,vlen=256,cpu=spacemit-x60"),
    ("riscv64_v512", "riscv64+v,vlen=512,cpu=sifive-x280"),
];

/// M, N, K of IREE's end-to-end matmul tests, and a few narrow ones.
const SHAPES: [[usize; 3]; 12] = [
    [1, 1, 1],
    [6, 13, 3],
    [15, 37, 7],
    [81, 19, 41],
    [1, 1000, 1000],
    [2, 512, 512],
    [4, 1000, 512],
    [8, 4096, 4096],
    [17, 1023, 511],
    [384, 512, 512],
    [457, 330, 512],
    [1024, 1024, 1024],
];

#[test]
fn snapshots() {
    for (name, text) in TARGETS {
        let target = Target::parse(text).unwrap();
        let mut out = format!("target {target}\n");
        for strict in [false, true] {
            writeln!(out, "\nmmt4d f32f32f32{}", if strict { ", strict" } else { "" }).unwrap();
            for [m, n, k] in SHAPES {
                let query = Mmt4dQuery { strict, ..Mmt4dQuery::new([ElemType::F32; 3], m, n, k) };
                let s = select::mmt4d(&query, &target).unwrap();
                let shape = format!("{m}x{n}x{k}");
                writeln!(out, "  {shape:<15} {:<8} {:>12} cycles  {}", s.tier().name(), s.cycles, s.row.name).unwrap();
            }
        }
        for types in [[ElemType::I8, ElemType::I8, ElemType::I32], [ElemType::U8, ElemType::U8, ElemType::I32]] {
            for flipped in [false, true] {
                let types_text = types.map(ElemType::name).concat();
                writeln!(out, "\nmmt4d {types_text}{}", if flipped { ", right operand packed once" } else { "" })
                    .unwrap();
                for m in [1, 2, 4, 384] {
                    let query = Mmt4dQuery { flipped, ..Mmt4dQuery::new(types, m, 512, 512) };
                    let s = select::mmt4d(&query, &target).unwrap();
                    let shape = format!("{m}x512x512");
                    writeln!(out, "  {shape:<15} {:<8} {:>12} cycles  {}", s.tier().name(), s.cycles, s.row.name)
                        .unwrap();
                }
            }
        }
        writeln!(out, "\nrejected for 384x512x512").unwrap();
        for (row, reason) in
            select::mmt4d(&Mmt4dQuery::new([ElemType::F32; 3], 384, 512, 512), &target).unwrap().rejected()
        {
            writeln!(out, "  {:<45} {reason}", row.name).unwrap();
        }
        let mappable = Mmt4dQuery { mappable: true, ..Mmt4dQuery::new([ElemType::F32; 3], 384, 512, 512) };
        let s = select::mmt4d(&mappable, &target).unwrap();
        writeln!(out, "\nwith constants that can be mapped\n  {:<45} taken", s.row.name).unwrap();
        for (row, reason) in s.rejected().filter(|r| r.1 == Reason::NotMappable) {
            writeln!(out, "  {:<45} {reason}", row.name).unwrap();
        }
        writeln!(out, "\npanels").unwrap();
        for (op, t, t0, t1) in [
            (Op::Pack, ElemType::F32, 8, 1),
            (Op::Pack, ElemType::F32, 16, 1),
            (Op::Pack, ElemType::F32, 32, 1),
            (Op::Pack, ElemType::F32, 64, 1),
            (Op::Pack, ElemType::F64, 8, 1),
            (Op::Pack, ElemType::I32, 16, 1),
            (Op::Pack, ElemType::Bf16, 16, 2),
            (Op::Pack, ElemType::I16, 32, 2),
            (Op::Pack, ElemType::U8, 16, 4),
            (Op::Pack, ElemType::I4, 32, 4),
            (Op::Unpack, ElemType::F32, 6, 16),
            (Op::Unpack, ElemType::F32, 6, 32),
            (Op::Unpack, ElemType::F32, 8, 8),
            (Op::Unpack, ElemType::I32, 14, 32),
            (Op::Unpack, ElemType::Bf16, 14, 32),
        ] {
            let row = select::panels(op, Types::pair(t, t), t0, t1, &target).unwrap();
            writeln!(out, "  {:<6} {:<4} {:<6} {}", op.name(), t.name(), format!("{t0}x{t1}"), row.name).unwrap();
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/selection/{name}.txt"));
        smalti_filetest::printed(&path, &out).unwrap();
    }
}

/// Who asks for a tile, or for any family without more, has panels that hold elements as they are.
#[test]
fn flipped_rows_are_taken_only_where_they_are_asked_for() {
    let target = Target::parse("x86_64_v4+avx512vnni").unwrap();
    for row in ROWS.iter().filter(|r| r.flipped) {
        let [m0, n0, k0] = row.tile.map(|d| d.on(&target).unwrap_or(1));
        assert!(!select::by_tile(row.types, Tile { m0, n0, k0 }, &target).unwrap().flipped, "{}", row.name);
        let query = Mmt4dQuery::new(row.types.list, m0, n0, 64 * k0);
        let plain = select::mmt4d(&query, &target).unwrap();
        assert!(!plain.row.flipped, "{}", row.name);
        assert!(plain.rejected().any(|(r, reason)| r.name == row.name && reason == Reason::Flipped), "{}", row.name);
        // A family decides for itself.
        for flipped in [false, true] {
            let of = |family| select::mmt4d(&Mmt4dQuery { family, flipped, ..query }, &target).unwrap().row;
            assert!(row.family().is_none() || of(row.family()).flipped, "{}", row.name);
            assert!(!of(plain.row.family()).flipped, "{}", row.name);
        }
    }
}
