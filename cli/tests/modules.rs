//! `compile`, `inspect` and `run` of .smalti files, and what a user is told when one is damaged or can't be written.
#![allow(missing_docs)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn file(name: &str) -> String {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).display().to_string()
}

fn smalti(args: &[&str]) -> Output {
    smalti_filetest::program(env!("CARGO_BIN_EXE_smalti")).current_dir(root()).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a command that must work, and gives what it prints.
fn done(args: &[&str]) -> String {
    let output = smalti(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// Runs a command that must fail, and gives its one sentence.
fn refused(args: &[&str]) -> String {
    let output = smalti(args);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    assert!(said.starts_with("smalti: ") && !said.contains("panicked"), "{said}");
    said
}

fn holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "'{part}' is missing in: {text}");
    }
}

const DIGITS: &str = "models/digits.onnx";

fn compiled(name: &str, more: &[&str]) -> String {
    let path = file(name);
    done(&[&["compile", DIGITS, "-o", &path], more].concat());
    path
}

#[test]
fn compiled_for_many_inspected_and_run() {
    let targets = ["--target=x86_64_v3", "--target", "aarch64", "--target=riscv64+v", "--target", "host"];
    let path = compiled("many.smalti", &targets);
    let shown = done(&["inspect", &path, "--verify"]);
    holds(
        &shown,
        &[
            "format 0.1",
            "model     'digits'",
            "input     'image' f32[N,1,8,8]",
            "output    'probabilities' f32[N,10]",
            "variant   x86_64_v3\n",
            "variant   aarch64\n",
            "variant   riscv64+v\n",
            "5 of 5 nests",
            "verified",
        ],
    );
    let json: serde_json::Value = serde_json::from_str(&done(&["inspect", &path, "--json"])).unwrap();
    assert_eq!(json["bytes"], std::fs::metadata(&path).unwrap().len());
    assert_eq!(json["inputs"][0]["dims"], serde_json::json!(["N", "1", "8", "8"]));
    assert_eq!(json["variants"][1]["target"], "aarch64");
    assert_eq!(json["variants"].as_array().unwrap().len(), 4);
    holds(&done(&["inspect", &path, "--graph"]), &["graph \"digits\" {", "conv"]);
    holds(&done(&["inspect", &path, "--program", "aarch64"]), &["program \"digits\" for \"aarch64\" {"]);
    holds(&refused(&["inspect", &path, "--program", "aarch64+sve"]), &["no variant is for aarch64+sve", "riscv64+v"]);
    for more in [&[][..], &["--no-native"]] {
        holds(&done(&[&["run", &path, "--input=@models/seven.npy"], more].concat()), &["arg-max 7", "(loaded in"]);
    }
    // What a module was compiled for is in the module.
    holds(&refused(&["run", &path, "--input=@models/seven.npy", "--strict"]), &["--strict", "smalti compile"]);
    holds(&refused(&["run", &path]), &["input 'image' of f32[N,1,8,8] is missing", "--input=image=@FILE.npy"]);
}

/// A module without code for this machine is finished from its portable part: said once, on stderr.
#[test]
fn a_portable_module_is_finished_and_recompiled() {
    let path = compiled("portable.smalti", &["--portable-only"]);
    let output = smalti(&["run", &path, "--input=@models/seven.npy"]);
    assert_eq!(output.status.code(), Some(0));
    holds(&text(&output.stdout), &["arg-max 7"]);
    let said = text(&output.stderr);
    assert!(said.lines().count() == 1 && said.contains("no code") && said.contains("portable part"), "{said}");
    let again = file("again.smalti");
    done(&["compile", &path, "-o", &again]);
    let output = smalti(&["run", &again, "--input=@models/seven.npy"]);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
}

/// Damage is named by file, section and byte.
#[test]
fn a_damaged_file() {
    let path = compiled("whole.smalti", &[]);
    let good = std::fs::read(&path).unwrap();
    let bad = file("damaged.smalti");
    let half = good.len() / 2;
    std::fs::write(&bad, &good[..half]).unwrap();
    let said = refused(&["run", &bad, "--input=@models/seven.npy"]);
    holds(&said, &[&bad, "E303", "header, byte 16", &format!("the file has {half} bytes")]);
    let change = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 4;
        std::fs::write(&bad, bytes).unwrap();
    };
    // The first section of the file is the manifest.
    let manifest = u64::from_le_bytes(good[40..48].try_into().unwrap()) as usize;
    change(manifest + 3);
    let said = refused(&["inspect", &bad]);
    holds(&said, &["E303", &format!("section 0 (manifest), byte {manifest}"), "checksum"]);
    // Constants are only compared where that is asked for.
    change(good.len() - 1);
    done(&["inspect", &bad]);
    holds(&refused(&["inspect", &bad, "--verify"]), &["E303", "(constants), byte", "checksum of constant"]);
    holds(&refused(&["inspect", DIGITS]), &["E301", "no .smalti file"]);
}

/// Commands of a shell that limits the size of files: the limit in KiB, and whether reaching it is an error or death.
#[cfg(unix)]
fn limited(kib: u32, killed: bool, args: &[&str]) -> Output {
    // With the signal ignored, a write beyond the limit fails like one to a full disk.
    let trap = if killed { "" } else { "trap '' XFSZ; " };
    let script = format!("ulimit -c 0; {trap}ulimit -f {kib}; \"$0\" \"$@\"");
    let program = smalti_filetest::program(env!("CARGO_BIN_EXE_smalti"));
    Command::new("bash")
        .current_dir(root())
        .args(["-c", &script])
        .arg(program.get_program())
        .args(program.get_args())
        .args(args)
        .output()
        .unwrap()
}

/// The old file stays whole when the new one can't be written, or its writer dies half-way.
#[cfg(unix)]
#[test]
fn an_old_file_stays_whole() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("full");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("kept.smalti").display().to_string();
    done(&["compile", "models/small_matmul.onnx", "-o", &path]);
    let old = std::fs::read(&path).unwrap();
    let again = ["compile", DIGITS, "-o", &path];

    let full = limited(16, false, &again);
    let said = text(&full.stderr);
    assert_eq!(full.status.code(), Some(2), "{said}");
    holds(&said, &["smalti: ", &path, "File too large"]);
    assert_eq!(std::fs::read(&path).unwrap(), old);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "no part of a file is left");

    let killed = limited(16, true, &again);
    assert!(!killed.status.success());
    assert_eq!(std::fs::read(&path).unwrap(), old);

    done(&again);
    assert_ne!(std::fs::read(&path).unwrap(), old);
    holds(
        &refused(&["compile", DIGITS, "-o", "/no/such/folder/x.smalti"]),
        &["/no/such/folder/x.smalti", "No such file"],
    );
}

/// A device is written in place: a full one says so.
#[cfg(target_os = "linux")]
#[test]
fn a_full_device() {
    holds(&refused(&["compile", DIGITS, "-o", "/dev/full"]), &["/dev/full", "No space left"]);
}
