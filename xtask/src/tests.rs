//! `cargo xtask test` and `bless`.

use crate::{Outcome, cargo, conformance, licences, output, run};
use std::path::Path;
use std::process::Command;

/// Crates, and features of theirs, that must build for a machine without an operating system.
const NO_STD: &[(&str, &str)] = &[
    ("smalti-isa", ""),
    ("smalti-ukernels", ""),
    ("smalti-dims", ""),
    ("smalti-tiling", ""),
    ("smalti-codegen", ""),
    ("smalti-program", ""),
    ("smalti-runtime", ""),
];
const BARE: &str = "riscv64gc-unknown-none-elf";

pub(crate) fn test(root: &Path, require: &[String], no_conformance: bool) -> Outcome {
    for component in ["rustfmt", "clippy"] {
        let tool = component.trim_start_matches("rust");
        if output(&mut cargo(root, &[tool, "--version"])).is_err() {
            run(Command::new("rustup").args(["component", "add", component]))?;
        }
    }
    step("formatting");
    run(&mut cargo(root, &["fmt", "--all", "--check"]))?;
    step("lints");
    run(&mut cargo(root, &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))?;
    step("without an operating system");
    add_target()?;
    for (package, features) in NO_STD {
        let args =
            ["check", "--quiet", "-p", package, "--target", BARE, "--no-default-features", "--features", features];
        run(&mut cargo(root, &args))?;
    }
    step("licences and bans");
    licences::licences(root, false)?;
    step("tests");
    run(cargo(root, &["test", "--workspace", "--no-fail-fast"]).env("SMALTI_REQUIRE", require.join(",")))?;
    step("the external example");
    let example = root.join("examples/own-threads");
    run(cargo(&example, &["run", "--release", "--quiet"]).env("CARGO_TARGET_DIR", root.join("target/examples")))?;
    step("benches run once");
    run(&mut cargo(root, &["bench", "--quiet", "-p", "smalti-benches", "--", "--test"]))?;
    if !no_conformance {
        step("conformance");
        conformance::conformance(root, false)?;
    }
    println!("\nall tests passed");
    Ok(())
}

pub(crate) fn bless(root: &Path) -> Outcome {
    run(cargo(root, &["test", "--workspace", "--no-fail-fast"]).env("SMALTI_BLESS", "1"))?;
    licences::licences(root, true)
}

fn step(name: &str) {
    println!("\n== {name}");
}

/// Makes sure that the bare target's library is there.
fn add_target() -> Outcome {
    let sysroot = output(Command::new("rustc").args(["--print", "sysroot"]))?;
    if Path::new(sysroot.trim()).join("lib/rustlib").join(BARE).exists() {
        return Ok(());
    }
    run(Command::new("rustup").args(["target", "add", BARE]))
}
