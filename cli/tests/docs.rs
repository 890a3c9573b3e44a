//! What docs show is what the code prints. `SMALTI_BLESS=1` writes the parts anew.
#![allow(missing_docs)]

use smalti_filetest::printed_part;
use smalti_isa::Target;
use smalti_program::{Call, Step};
use smalti_tiling::{Problem, plan};
use smalti_ukernels::layout::Panels;
use smalti_ukernels::name::Place;
use smalti_ukernels::table::ROWS;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn fenced(text: &str) -> String {
    format!("```text\n{}\n```", text.trim_end())
}

#[test]
fn kernel_matrix() {
    let mut lines: BTreeMap<(usize, String), BTreeMap<Place, Vec<String>>> = BTreeMap::new();
    let places: BTreeSet<Place> = ROWS.iter().map(|r| r.place).collect();
    for (i, row) in ROWS.iter().enumerate() {
        let fields = row.fields();
        let types: String = fields.types.list[..fields.op.type_count()].iter().map(|t| t.name()).collect();
        let key = format!("{} {types}", fields.op.name());
        let order = lines.keys().find(|k| k.1 == key).map_or(i, |k| k.0);
        let tile: Vec<String> = fields.tile[..fields.op.tile_arity()].iter().map(|d| d.to_string()).collect();
        let chains = fields.chains.map_or(String::new(), |n| format!(" splitk{n}"));
        let flipped = if fields.flipped { " flipped" } else { "" };
        lines.entry((order, key)).or_default().entry(row.place).or_default().push(tile.join("x") + &chains + flipped);
    }
    let names: Vec<String> = places.iter().map(Place::to_string).collect();
    let mut out = format!("| | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(places.len()));
    for ((_, key), cells) in lines {
        let cell = |p: &Place| cells.get(p).map_or(String::new(), |t| t.join(", "));
        let cells: Vec<String> = places.iter().map(cell).collect();
        writeln!(out, "| {key} | {} |", cells.join(" | ")).unwrap();
    }
    printed_part(&root().join("README.md"), "kernels", &out).unwrap();
}

#[test]
fn names() {
    let list: Vec<&str> = ROWS.iter().map(|r| r.name).collect();
    printed_part(&root().join("docs/naming.md"), "names", &fenced(&list.join("\n"))).unwrap();
}

#[test]
fn layouts() {
    let page = root().join("docs/layouts.md");
    for (name, panels) in [
        ("rhs", Panels { rows: 5, cols: 4, t0: 4, t1: 1 }),
        ("rhs-k0", Panels { rows: 5, cols: 4, t0: 4, t1: 2 }),
        ("lhs", Panels { rows: 3, cols: 4, t0: 2, t1: 1 }),
    ] {
        printed_part(&page, name, &fenced(panels.to_string().trim_start_matches('\n'))).unwrap();
    }
}

#[test]
fn operations() {
    let text = smalti_compiler::ops::supported().join(", ");
    printed_part(&root().join("docs/operations.md"), "operations", &text).unwrap();
}

/// Dependencies between the crates of the workspace, from their manifests.
#[test]
fn crate_picture() {
    let rooms = [
        "isa", "ukernels", "dims", "tiling", "codegen", "tensor", "graph", "program", "module", "compiler", "runtime",
        "smalti", "cli", "benches", "fuzz",
    ];
    let mut out = String::new();
    for room in rooms {
        let text = std::fs::read_to_string(root().join(room).join("Cargo.toml")).unwrap();
        let section = text.split("\n[").find_map(|s| s.strip_prefix("dependencies]")).unwrap_or("");
        let names = section.lines().filter_map(|l| {
            let name = l.split(['=', '.', ' ']).next()?;
            let name = if name == "smalti" { "smalti" } else { name.strip_prefix("smalti-")? };
            rooms.contains(&name).then_some(name)
        });
        let names: Vec<&str> = names.collect();
        assert!(!(room == "runtime" && names.contains(&"compiler")), "the runtime does without the compiler");
        writeln!(out, "{room:<9} -> {}", if names.is_empty() { "nothing".to_owned() } else { names.join(", ") })
            .unwrap();
    }
    printed_part(&root().join("docs/architecture.md"), "crates", &fenced(&out)).unwrap();
}

#[test]
fn one_matmul_through_every_stage() {
    let page = root().join("docs/architecture.md");
    let target = Target::parse("x86_64_v3").unwrap();
    let graph = smalti_compiler::read(&root().join("models/small_matmul.onnx")).unwrap().graph().unwrap();
    let options = smalti_compiler::Options { target, strict: false, every_value: false };
    let stages = smalti_compiler::compile(graph, &options).unwrap();
    printed_part(&page, "import", &fenced(&stages.graph.print().text)).unwrap();
    printed_part(&page, "fold", &fenced(&stages.folded.print().text)).unwrap();
    for (pass, tiled) in &stages.tiled {
        let printed = tiled.print();
        let again = smalti_compiler::tiled::TiledGraph::parse(&printed.text, &printed.blobs).unwrap();
        assert_eq!(again.print().text, printed.text, "the text of {pass} round-trips");
        printed_part(&page, pass, &fenced(&printed.text)).unwrap();
    }
    let mut plans = String::new();
    stages.program.each_step(&mut |step| {
        let Step::Call(Call::Matmul(m)) = step else { return };
        let n = stages.program.symbols.find("N").unwrap().0 as usize;
        let mut values = vec![None; stages.program.symbols.len()];
        values[n] = Some(100);
        let problem = m.problem(|d| d.eval(&values).map(|size| size as usize)).unwrap();
        plans += &plan(&Problem::Matmul(problem), Some(m.family), &target).unwrap().to_string();
    });
    printed_part(&page, "plan", &fenced(&plans)).unwrap();
    let text = stages.program.print();
    let constants: Vec<_> = stages.program.constants.iter().map(|c| c.bytes.clone()).collect();
    assert_eq!(
        smalti_program::Program::parse(&text, &constants).unwrap().print(),
        text,
        "the program's text round-trips"
    );
    printed_part(&page, "program", &fenced(&text)).unwrap();
    // The same model for this machine, whichever it is.
    let own = smalti::compile(&root().join("models/small_matmul.onnx"), &smalti::Options::default()).unwrap();
    let mut session = smalti::Session::new(&own, 1).unwrap();
    let x = smalti::Tensor::f32([2, 3], &[1.0, 2.0, 3.0, -1.0, 0.0, 1.0]);
    // 1·w[0] + 2·w[1] + 3·w[2] + b = (7.5, -2, 1, 2), and (1.5, -2, 1, 0) for the second row; negative ones become 0.
    let expected = smalti::Tensor::f32([2, 4], &[7.5, 0.0, 1.0, 2.0, 1.5, 0.0, 1.0, 0.0]);
    let outputs = session.run(&[x]).unwrap();
    assert_eq!(outputs, [expected]);
    let row = |r: usize| (0..4).map(|c| outputs[0].get(r * 4 + c).to_string()).collect::<Vec<_>>().join(" ");
    printed_part(&page, "run", &fenced(&format!("{}\n{}", row(0), row(1)))).unwrap();
}
