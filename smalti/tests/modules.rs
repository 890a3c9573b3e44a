//! Models as files: the same bytes from every host, the same results as without a file.
#![allow(missing_docs)]

use smalti::module::{self, Build};
use smalti::{Options, Session, Target, Tensor};
use std::path::{Path, PathBuf};

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../models")
}

const TARGETS: [&str; 6] = ["x86_64_v2", "x86_64_v3", "x86_64_v4", "aarch64", "riscv64", "riscv64+v"];

fn build(model: &str, targets: &[&str], strict: bool) -> smalti_module::Module {
    let graph = smalti_compiler::read(&models().join(model)).unwrap().graph().unwrap();
    let targets = targets.iter().map(|t| Target::parse(t).unwrap()).collect();
    let built = module::build(graph, &Build { targets, strict, packed: true }).unwrap();
    assert_eq!(built.notes, Vec::<String>::new(), "every dispatch has machine code for every target");
    built.module
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn load(module: &smalti_module::Module, native: bool) -> Session {
    Session::load(module, smalti::pool(1), native).unwrap()
}

/// Eight images of 8x8, with values from 0 to 1.
fn images() -> Tensor {
    let values: Vec<f32> = (0..8 * 64).map(|i| (i * 37 % 101) as f32 / 100.0).collect();
    Tensor::f32([8, 1, 8, 8], &values)
}

/// The committed checksums hold on every host, so the hosts agree with each other.
#[test]
fn every_host_writes_the_same_bytes() {
    let mut found = String::new();
    for (model, strict) in [("small_matmul.onnx", false), ("digits.onnx", false), ("digits.onnx", true)] {
        let bytes = build(model, &TARGETS, strict).encode().concat();
        let kind = if strict { "strict" } else { "default" };
        found += &format!("{model} {kind}: {} bytes, CRC-32 {:08x}\n", bytes.len(), crc32fast::hash(&bytes));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/modules/files.txt");
    smalti_filetest::printed(&path, &found).unwrap();
}

#[test]
fn a_module_gives_what_its_model_gives() {
    let model = smalti::compile(&models().join("digits.onnx"), &Options::default()).unwrap();
    let wanted = Session::new(&model, 1).unwrap().run(&[images()]).unwrap();
    let host = Target::host().to_string();
    let module = build("digits.onnx", &[&host], false);
    let path = file("digits.smalti");
    module::save(&module, &path).unwrap();
    let opened = module::open(&path).unwrap();
    assert_eq!(opened, module);
    for native in [true, false] {
        let mut session = load(&opened, native);
        assert_eq!(session.run(&[images()]).unwrap(), wanted, "native {native}");
        assert_eq!(session.notes().count(), 0);
    }
}

#[test]
fn without_a_variant_the_portable_part_is_finished_and_said_so() {
    let model = smalti::compile(&models().join("digits.onnx"), &Options::default()).unwrap();
    let wanted = Session::new(&model, 1).unwrap().run(&[images()]).unwrap();
    let other = if cfg!(target_arch = "x86_64") { "aarch64" } else { "x86_64_v4" };
    for (targets, says) in [(&[][..], "no code"), (&[other][..], other)] {
        let mut session = load(&build("digits.onnx", targets, false), true);
        assert_eq!(session.run(&[images()]).unwrap(), wanted);
        let notes: Vec<&str> = session.notes().collect();
        assert!(notes.len() == 1 && notes[0].contains(says) && notes[0].contains("portable part"), "{notes:?}");
    }
}

/// What is interpreted because the file has no code for it is said, and gives the same bits.
#[test]
fn dispatches_without_code_are_interpreted_and_said_so() {
    let host = Target::host().to_string();
    let mut module = build("digits.onnx", &[&host], false);
    let wanted = load(&module, true).run(&[images()]).unwrap();
    let code = module.variants[0].code.as_mut().unwrap();
    code.entries[0] = None;
    let all = code.entries.len();
    let mut session = load(&module, true);
    assert_eq!(session.run(&[images()]).unwrap(), wanted);
    let notes: Vec<&str> = session.notes().collect();
    assert!(
        notes.len() == 1 && notes[0].starts_with(&format!("1 of {all} dispatches have no machine code")),
        "{notes:?}"
    );
    // Code of an ABI that this runtime does not know is left alone.
    module.variants[0].code.as_mut().unwrap().abi = 1000;
    let mut session = load(&module, true);
    assert_eq!(session.run(&[images()]).unwrap(), wanted);
    assert!(session.notes().next().is_some_and(|n| n.contains("ABI 1000")));
}

/// The runtime alone can't finish a module: it says what there is, and what to do.
#[test]
fn without_a_variant_the_runtime_alone_refuses() {
    let other = if cfg!(target_arch = "x86_64") { "aarch64" } else { "x86_64_v4" };
    for (targets, says) in [(&[][..], "no target"), (&[other][..], other)] {
        let module = build("small_matmul.onnx", targets, false);
        let host = smalti_ukernels::Host::detect();
        let refused = smalti_runtime::Session::load(&module, host, smalti::pool(1), true);
        let error = refused.err().expect("nothing runs here").to_string();
        for part in ["E104", says, "--target", "compiler"] {
            assert!(error.contains(part), "'{part}' is missing in: {error}");
        }
    }
}

/// A module's own portable part compiles to the same module again.
#[test]
fn the_portable_part_is_the_whole_model() {
    let first = build("digits.onnx", &TARGETS, false);
    let graph = module::portable(&first).unwrap();
    let targets = TARGETS.iter().map(|t| Target::parse(t).unwrap()).collect();
    let again = module::build(graph, &Build { targets, strict: false, packed: true }).unwrap().module;
    assert_eq!(again.encode().concat(), first.encode().concat());
}

/// Packed in the file, or when it is loaded: the same numbers, and fixed tiles leave nothing to pack.
#[test]
fn packed_constants_are_an_option() {
    let host = Target::host();
    let graph = || smalti_compiler::read(&models().join("digits.onnx")).unwrap().graph().unwrap();
    let make = |packed| module::build(graph(), &Build { targets: vec![host], strict: false, packed }).unwrap().module;
    let (packed, plain) = (make(true), make(false));
    assert!(packed.variants[0].program().unwrap().once.is_empty());
    assert!(!plain.variants[0].program().unwrap().once.is_empty());
    let wanted = load(&plain, true).run(&[images()]).unwrap();
    assert_eq!(load(&packed, true).run(&[images()]).unwrap(), wanted);
}

/// Tiles that follow the vector length are packed when a program is loaded, as long as the length is not known.
#[test]
fn tiles_that_follow_the_vector_length_wait_for_it() {
    let module = build("digits.onnx", &["riscv64+v", "riscv64+v,vlen=256"], false);
    let [any, pinned] = [0, 1].map(|i| module.variants[i].program().unwrap());
    assert!(pinned.once.is_empty() && pinned.vscale.is_none());
    assert!(!any.once.is_empty() && any.vscale.is_some());
}

/// Under `strict` every target computes the same bits; the checksum is that of the products' and the loops' arithmetic,
/// which the references define.
#[test]
fn strict_results_are_the_same_bits_everywhere() {
    let host = Target::host().to_string();
    let mut session = load(&build("digits.onnx", &[&host], true), true);
    let output = session.run(&[images()]).unwrap().remove(0);
    let text = format!("digits.onnx: {:?}, CRC-32 {:08x}\n", output.shape, crc32fast::hash(&output.bytes));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/modules/strict.txt");
    smalti_filetest::printed(&path, &text).unwrap();
    if cfg!(target_arch = "x86_64") {
        for target in ["x86_64_v3", "x86_64_v2"] {
            let again = load(&build("digits.onnx", &[target], true), true).run(&[images()]).unwrap();
            assert_eq!(again[0], output, "{target}");
        }
    }
}
