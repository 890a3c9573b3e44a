//! `cargo xtask test` and `bless`.

use crate::emulated::{self, ARCHES, Arch, MACHINES, Suite};
use crate::{
    OPTIMISED, Outcome, boards, capi, cargo, conformance, licences, output, processor_seconds, run, toolchain,
};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Crates, and features of theirs, that must build for a machine without an operating system.
const NO_STD: &[(&str, &str)] = &[
    ("smalti-isa", ""),
    ("smalti-ukernels", ""),
    ("smalti-dims", ""),
    ("smalti-tiling", ""),
    ("smalti-codegen", ""),
    ("smalti-program", ""),
    ("smalti-module", ""),
    ("smalti-runtime", ""),
];
const BARE: &str = "riscv64gc-unknown-none-elf";

/// `host` says whether this machine's own tests run, `emulated` of which architectures machines are emulated.
pub(crate) fn test(
    root: &Path,
    require: &[String],
    conformance: bool,
    host: bool,
    emulated: impl Fn(&str) -> bool,
) -> Outcome {
    if host {
        host_tests(root, require, conformance)?;
    }
    // One machine's failures don't hide those of the next. Tests of one architecture hardly fill two cores.
    let arches: Vec<&Arch> = ARCHES.iter().filter(|a| emulated(a.name)).collect();
    if !arches.is_empty() {
        // Two architectures may not fetch the same at a time.
        step("what emulation needs", || toolchain::all(root))?;
    }
    let failed: Vec<String> = std::thread::scope(|s| {
        let threads: Vec<_> = arches.iter().map(|arch| s.spawn(|| machines(root, **arch))).collect();
        threads.into_iter().flat_map(|t| t.join().unwrap_or_else(|_| vec!["a thread panicked".to_owned()])).collect()
    });
    if !failed.is_empty() {
        return Err(failed.join("\n"));
    }
    // Where both architectures are emulated, and the host's tests have fetched the models.
    if host && ARCHES.iter().all(|a| emulated(a.name)) {
        step("one file on many boards", || boards::boards(root, false))?;
    }
    println!("\nall tests passed");
    Ok(())
}

/// Builds the tests of an architecture once, and runs them on its machines, each of whose results is printed when it is
/// there. Gives what failed.
fn machines(root: &Path, arch: Arch) -> Vec<String> {
    let begin = Instant::now();
    let tests = match emulated::build(root, arch) {
        Ok(tests) => tests,
        Err(error) => return vec![error],
    };
    println!("\n== tests for {}, built: {:.0} s", arch.name, begin.elapsed().as_secs_f64());
    let mut failed = Vec::new();
    for machine in MACHINES.iter().filter(|m| m.arch.name == arch.name && m.suite != Suite::Boards) {
        let begin = Instant::now();
        let (mut text, mut outcome) = emulated::suite(root, machine, &tests);
        // The C door is the same on machines that differ in length of vectors alone.
        if machine.suite == Suite::Whole || machine.name == "riscv64-vlen128" {
            match capi::emulated(root, machine) {
                Ok(printed) => text += &printed,
                Err(error) => outcome = outcome.and(Err(format!("the C door on {}: {error}", machine.name))),
            }
        }
        println!("\n== tests on {}: {:.0} s\n{text}", machine.name, begin.elapsed().as_secs_f64());
        failed.extend(outcome.err());
    }
    failed
}

fn host_tests(root: &Path, require: &[String], conformance: bool) -> Outcome {
    for component in ["rustfmt", "clippy"] {
        let tool = component.trim_start_matches("rust");
        if output(&mut cargo(root, &[tool, "--version"])).is_err() {
            run(Command::new("rustup").args(["component", "add", component]))?;
        }
    }
    step("formatting", || run(&mut cargo(root, &["fmt", "--all", "--check"])))?;
    step("lints", || {
        run(&mut cargo(root, &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))
    })?;
    step("without an operating system", || {
        toolchain::target(BARE)?;
        for (package, features) in NO_STD {
            let args =
                ["check", "--quiet", "-p", package, "--target", BARE, "--no-default-features", "--features", features];
            run(&mut cargo(root, &args))?;
        }
        Ok(())
    })?;
    step("licences and bans", || licences::licences(root, false))?;
    step("tests", || {
        run(cargo(root, &["test", "--workspace", "--no-fail-fast"]).env("SMALTI_REQUIRE", require.join(",")))
    })?;
    if cfg!(target_arch = "x86_64") {
        step("inner loops", || run(&mut inner_loops(root)))?;
    }
    step("the external example", || {
        let example = root.join("examples/own-threads");
        // That it builds and is right, not how fast it is.
        run(cargo(&example, &["run", "--quiet"]).env("CARGO_TARGET_DIR", root.join("target/examples")))
    })?;
    step("the C door", || capi::host(root, false))?;
    step("benches run once", || {
        run(cargo(root, &["bench", "--quiet"]).args(OPTIMISED).args(["--bench", "*", "--", "--test"]))
    })?;
    if conformance {
        step("conformance", || conformance::conformance(root, false))?;
    }
    Ok(())
}

/// Machine code is read of optimised builds.
fn inner_loops(root: &Path) -> Command {
    let mut command = cargo(root, &["test", "--release", "--quiet", "--test", "inner_loops"]);
    command.args(OPTIMISED);
    command
}

pub(crate) fn bless(root: &Path) -> Outcome {
    run(cargo(root, &["test", "--workspace", "--no-fail-fast"]).env("SMALTI_BLESS", "1"))?;
    if cfg!(target_arch = "x86_64") {
        run(inner_loops(root).env("SMALTI_BLESS", "1"))?;
    }
    capi::host(root, true)?;
    licences::licences(root, true)
}

/// Runs a part of the tests, and says what it took.
fn step(name: &str, part: impl FnOnce() -> Outcome) -> Outcome {
    println!("\n== {name}");
    let (begin, before) = (Instant::now(), processor_seconds()?);
    let outcome = part();
    let seconds = processor_seconds()? - before;
    println!("== {name}: {:.0} s, {seconds:.0} s of processor time", begin.elapsed().as_secs_f64());
    outcome
}
