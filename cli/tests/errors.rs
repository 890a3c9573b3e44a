//! What users are told: one sentence that names node, operation, shapes and what to do, and exit 2.
#![allow(missing_docs)]

use std::path::{Path, PathBuf};
use std::process::Output;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn smalti(args: &[&str]) -> Output {
    smalti_filetest::program(env!("CARGO_BIN_EXE_smalti")).current_dir(root()).args(args).output().unwrap()
}

/// Runs a command that must fail, and gives what it says.
fn refused(args: &[&str]) -> String {
    let output = smalti(args);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
    assert!(text.starts_with("smalti: ") && !text.contains("panicked"), "{text}");
    text
}

fn holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "'{part}' is missing in: {text}");
    }
}

const DIGITS: &str = "models/digits.onnx";

/// A model in a file of the test's own folder, made by changing bytes of digits.onnx.
fn changed(name: &str, change: impl Fn(&mut Vec<u8>)) -> String {
    let mut bytes = std::fs::read(root().join(DIGITS)).unwrap();
    change(&mut bytes);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

fn replace(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    assert_eq!(from.len(), to.len());
    let at = bytes.windows(from.len()).position(|w| w == from).unwrap();
    bytes[at..at + to.len()].copy_from_slice(to);
}

#[test]
fn an_unknown_operation() {
    let model = changed("unknown.onnx", |b| replace(b, b"Softmax", b"Hardmix"));
    let text = refused(&["run", &model, "--input=@models/seven.npy"]);
    holds(&text, &["E005", "Hardmix", "softmax", "1 node", "smalti check"]);
    holds(&refused(&["check", &model]), &["Hardmix (1 node, one is 'softmax')"]);
}

/// All of them at once, each with its count.
#[test]
fn many_unknown_operations() {
    let model = changed("many.onnx", |b| {
        replace(b, b"Softmax", b"Hardmix");
        for _ in 0..3 {
            replace(b, b"Relu", b"Rexu");
        }
    });
    holds(&refused(&["check", &model]), &["Hardmix (1 node, one is 'softmax')", "Rexu (3 nodes, one is 'relu1')"]);
    holds(&refused(&["run", &model, "--input=@models/seven.npy"]), &["Hardmix (1 node", "Rexu (3 nodes"]);
}

#[test]
fn listings() {
    let printed = |args: &[&str]| {
        let output = smalti(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    holds(&printed(&["kernels"]), &["mmt4d_f32f32f32_nxnxn_generic", "generic", "FusedChain"]);
    assert!(!printed(&["kernels", "--target", "aarch64"]).contains("x86_64"));
    holds(&printed(&["info", "--features"]), &["target", "caches", "L1d", "avx512vnni", "spacemit-x60"]);
    holds(&printed(&["check"]), &["Conv", "Loop", "Softmax"]);
    holds(&printed(&["check", DIGITS]), &["opset 17", "11 nodes of 6 operations", "it compiles"]);
    let plans = printed(&["explain", DIGITS, "--target", "x86_64_v3"]);
    holds(&plans, &["'conv1'", "algorithm  direct", "'dense1'", "family     f32f32f32_16x1", "epilogue   nest"]);
    let plan = printed(&["explain", "matmul f32f32f32 m=17 n=512 k=512", "--target", "x86_64_v4", "--rejected"]);
    holds(&plan, &["tiles      8+8+1", "rejected", "cycles predicted"]);
    holds(&refused(&["explain", "matmul f32f32f32 z=3"]), &["'z=3' is not a field of matmul"]);
}

#[test]
fn benches_print_ratios_to_the_limit_of_the_same_run() {
    let output = smalti(&["bench", "ukernels", "--json", "--filter", "f32f32f32_4x8x1_portable"]);
    assert_eq!(output.status.code(), Some(0));
    // Where there is no other row, this one also serves whole products.
    let first = String::from_utf8(output.stdout).unwrap();
    let line: serde_json::Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    assert_eq!(line["name"], "mmt4d_f32f32f32_4x8x1_portable");
    for field in ["gops", "peak", "ratio", "median_ratio", "macs_per_cycle"] {
        assert!(line[field].as_f64().is_some_and(|x| x > 0.0), "{field}: {line}");
    }
    holds(
        &refused(&["bench", "ukernels", "--filter", "z80"]),
        &["no kernel that runs here", "'z80'", "smalti kernels"],
    );
}

#[test]
fn products_of_generic_code_are_noted_and_can_be_denied() {
    let small = ["run", "models/small_matmul.onnx", "--input=2x3xf32=1", "--target", "x86_64"];
    if cfg!(target_arch = "x86_64") {
        // The bare architecture has portable kernels, which are no diagnostic.
        assert_eq!(smalti(&[&small[..], &["--deny-generic"]].concat()).status.code(), Some(0));
        // Strict arithmetic has only the generic one.
        let strict = [&small[..], &["--strict"]].concat();
        holds(&String::from_utf8_lossy(&smalti(&strict).stderr), &["note: 1 products", "product"]);
        holds(&refused(&[&strict[..], &["--deny-generic"]].concat()), &["generic code", "product"]);
    }
}

#[test]
fn a_file_that_is_cut_off() {
    let model = changed("cut.onnx", |b| b.truncate(b.len() / 2));
    holds(&refused(&["run", &model]), &["E002", "cut.onnx", "cut off"]);
}

#[test]
fn an_empty_file_and_a_text() {
    let model = changed("empty.onnx", Vec::clear);
    holds(&refused(&["run", &model]), &["E002", "empty"]);
    holds(&refused(&["run", "README.md"]), &["E002", "README.md", "no ONNX model"]);
    holds(&refused(&["run", "no-such-file.onnx"]), &["E001", "no-such-file.onnx"]);
}

#[test]
fn an_input_of_the_wrong_shape_or_type() {
    let text = refused(&["run", DIGITS, "--input=1x1x8x7xf32=0"]);
    holds(&text, &["input 'image'", "f32[1,1,8,7]", "f32[N,1,8,8]", "dim 3 must be 8", "it is 7"]);
    holds(&refused(&["run", DIGITS, "--input=1x8x8xf32=0"]), &["input 'image'", "f32[1,8,8]", "f32[N,1,8,8]"]);
    holds(&refused(&["run", DIGITS, "--input=1x1x8x8xi32=0"]), &["input 'image'", "i32[1,1,8,8]", "f32[N,1,8,8]"]);
}

#[test]
fn a_missing_input() {
    holds(&refused(&["run", DIGITS]), &["input 'image'", "f32[N,1,8,8]", "missing", "--input=image=@FILE.npy"]);
    holds(&refused(&["run", DIGITS, "--input=picture=@models/seven.npy"]), &["no input 'picture'", "image"]);
}

#[test]
fn values_that_are_no_values() {
    holds(&refused(&["run", DIGITS, "--input=1x1x8x8xf32=1 2 3"]), &["3 values", "64"]);
    holds(&refused(&["run", DIGITS, "--input=@models/no.npy"]), &["models/no.npy"]);
    holds(&refused(&["run", DIGITS, "--input=@README.md"]), &["README.md", "no .npy file"]);
    holds(&refused(&["run", DIGITS, "--input=1x1x8x8xf32=x"]), &["'x' is no f32"]);
}

#[test]
fn a_target_that_does_not_exist_or_is_another_machine() {
    holds(&refused(&["explain", DIGITS, "--target", "sparc"]), &["sparc", "riscv64"]);
    let other = if cfg!(target_arch = "riscv64") { "aarch64" } else { "riscv64" };
    let text = refused(&["run", DIGITS, "--input=@models/seven.npy", "--target", other]);
    holds(&text, &[other, "this machine is"]);
}

#[test]
fn outputs_that_differ_are_exit_1() {
    let run = |expected: &str| {
        let args = ["run", DIGITS, "--input=@models/seven.npy", "--output=", &format!("--expected_output={expected}")];
        smalti(&args)
    };
    let output = run("1x10xf32=0 0 0 0 0 0 0 1 0 0");
    assert_eq!(output.status.code(), Some(1));
    holds(&String::from_utf8_lossy(&output.stderr), &["output 'probabilities' differs", "[7] is", "expected 1"]);
    let infinite = run("1x10xf32=inf inf inf inf inf inf inf inf inf inf");
    assert_eq!(infinite.status.code(), Some(1), "no number is near infinity");
    assert_eq!(run("(ignored)").status.code(), Some(0));
    let loose = [
        "run",
        DIGITS,
        "--input=@models/seven.npy",
        "--expected_output=1x10xf32=0 0 0 0 0 0 0 1 0 0",
        "--expected_f32_threshold=0.1",
    ];
    assert_eq!(smalti(&loose).status.code(), Some(0));
}

#[test]
fn run_prints_the_output_its_arg_max_and_the_time() {
    let output = smalti(&["run", DIGITS, "--input=@models/seven.npy"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    holds(&text, &["probabilities: 1x10xf32=", "arg-max 7", "time "]);
}

/// `--output` writes what `--input` reads.
#[test]
fn outputs_round_trip_through_files() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (npy, bin) = (folder.join("y.npy").display().to_string(), folder.join("y.bin").display().to_string());
    for (place, value) in [(format!("@{npy}"), format!("@{npy}")), (format!("@{bin}"), format!("1x10xf32=@{bin}"))] {
        let output = format!("--output=probabilities={place}");
        assert_eq!(smalti(&["run", DIGITS, "--input=image=@models/three.npy", &output]).status.code(), Some(0));
        let expected = format!("--expected_output=probabilities={value}");
        let args = [
            "run",
            DIGITS,
            "--input=@models/three.npy",
            "--output=",
            &expected,
            "--expected_f32_threshold=0",
            "--expected_rtol=0",
        ];
        assert_eq!(smalti(&args).status.code(), Some(0));
    }
}

#[test]
fn compare_is_clean() {
    let output = smalti(&["compare", DIGITS, "--input=@models/heldout.npy", "--threads", "2"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    holds(&text, &["0 differ"]);
}

#[test]
fn dump_writes_every_stage_and_the_machine_code() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dump");
    let _ = std::fs::remove_dir_all(&folder);
    let args = ["run", DIGITS, "--input=@models/seven.npy", "--dump", &folder.display().to_string()];
    assert_eq!(smalti(&args).status.code(), Some(0));
    let mut names: Vec<String> =
        std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let stages = [
        "01-import.graph",
        "02-fold.graph",
        "03-fuse-elementwise.tiled",
        "04-fuse-epilogues.tiled",
        "05-encode.tiled",
        "06-choose.tiled",
        "07-materialize.tiled",
        "08-elide.tiled",
        "09-lower.program",
    ];
    assert_eq!(names[..9], stages);
    assert!(names[9..].iter().all(|n| n.starts_with("nest")) && names.len() > 10);
    let code = std::fs::read_to_string(folder.join(&names[9])).unwrap();
    assert!(code.contains("nest @") && code.lines().count() > 20, "{code}");
}
