//! The suite on machines of other architectures, under QEMU's user mode emulation.

use crate::toolchain::{self, Gnu};
use crate::{Outcome, cargo, output, run};
use Suite::{Boards, ByProcessor, Whole};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A machine that is emulated.
pub(crate) struct Machine {
    pub(crate) name: &'static str,
    pub(crate) arch: Arch,
    /// QEMU's words for its processor.
    pub(crate) cpu: &'static str,
    pub(crate) suite: Suite,
    /// Levels whose kernels must run on it; none where every kernel may be one of any machine.
    pub(crate) requires: &'static str,
}

/// Which tests a machine runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suite {
    /// All of them.
    Whole,
    /// Those of crates that behave differently on different processors, and only what such a difference can change.
    ByProcessor(&'static [&'static str]),
    /// None but files of models: see `boards`.
    Boards,
}

#[derive(Clone, Copy)]
pub(crate) struct Arch {
    pub(crate) name: &'static str,
    pub(crate) triple: &'static str,
    pub(crate) gnu: &'static Gnu,
    emulator: &'static str,
}

const AARCH64: Arch =
    Arch { name: "aarch64", triple: "aarch64-unknown-linux-gnu", gnu: &toolchain::AARCH64, emulator: "qemu-aarch64" };
const RISCV64: Arch =
    Arch { name: "riscv64", triple: "riscv64gc-unknown-linux-gnu", gnu: &toolchain::RISCV64, emulator: "qemu-riscv64" };
pub(crate) const ARCHES: &[Arch] = &[AARCH64, RISCV64];

/// The whole suite runs on one machine of each architecture. Elements past the vector length and under a zero mask are
/// filled with ones, as the instructions may: code that counts on their old values fails.
pub(crate) const MACHINES: &[Machine] = &[
    machine("aarch64-max", AARCH64, "max", Whole, "aarch64_neon"),
    machine("aarch64-neoverse-n1", AARCH64, "neoverse-n1", ByProcessor(KERNELS), "aarch64_neon"),
    machine("aarch64-cortex-a53", AARCH64, "cortex-a53", ByProcessor(KERNELS), "aarch64_neon"),
    machine("riscv64-vlen256", RISCV64, "max,vlen=256,rvv_ta_all_1s=true,rvv_ma_all_1s=true", Whole, "riscv64_v"),
    machine(
        "riscv64-vlen128",
        RISCV64,
        "rv64,v=true,vlen=128,rvv_ta_all_1s=true,rvv_ma_all_1s=true",
        ByProcessor(KERNELS_AND_CODE),
        "riscv64_v",
    ),
    machine("riscv64-vlen512", RISCV64, "max,vlen=512,rvv_ta_all_1s=true,rvv_ma_all_1s=true", Boards, "riscv64_v"),
    machine(
        "riscv64-vlen1024",
        RISCV64,
        "max,vlen=1024,rvv_ta_all_1s=true,rvv_ma_all_1s=true",
        ByProcessor(KERNELS_AND_CODE),
        "riscv64_v",
    ),
    machine("riscv64-scalar", RISCV64, "rv64,v=false", ByProcessor(KERNELS_AND_CODE), ""),
];

const fn machine(name: &'static str, arch: Arch, cpu: &'static str, suite: Suite, requires: &'static str) -> Machine {
    Machine { name, arch, cpu, suite, requires }
}

/// Crates whose behaviour depends on the processor, where all processors get the same code for dispatches.
const KERNELS: &[&str] = &["smalti-isa", "smalti-ukernels", "smalti-runtime", "smalti"];
/// Those, and the code that is made for dispatches: it depends on whether there are vectors, and runs on any length of them.
const KERNELS_AND_CODE: &[&str] = &["smalti-isa", "smalti-ukernels", "smalti-codegen", "smalti-runtime", "smalti"];
/// Tests of those crates that one machine of an architecture answers for all, and why.
const ONCE: &[(&str, &str, &str)] =
    &[("smalti-codegen", "code", "bytes for every target are made by the same instructions on every processor")];
/// Seeds of each fuzz target, where nothing else is asked for: the developer's machine runs thousands.
const SEEDS: &str = "200";
/// Crates that run on a developer's machine only, and why.
const HOST_ONLY: &[(&str, &str)] = &[("xtask", "it builds and tests from a developer's machine")];

/// A program of tests.
pub(crate) struct Tests {
    package: String,
    name: String,
    path: PathBuf,
    /// Where cargo runs it.
    folder: PathBuf,
}

/// Builds the tests of all crates for an architecture, for all of its machines.
pub(crate) fn build(root: &Path, arch: Arch) -> Result<Vec<Tests>, String> {
    let mut command = cross(root, arch)?;
    command.args(["--no-run", "--quiet", "--message-format", "json-render-diagnostics"]);
    let mut tests = Vec::new();
    for line in output(everything(&mut command))?.lines() {
        let message: Value = serde_json::from_str(line).map_err(|e| format!("cargo printed no JSON: {e}: {line}"))?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let Some(path) = text(&message["executable"]).filter(|_| message["profile"]["test"] == true) else { continue };
        let manifest = text(&message["manifest_path"]).map(PathBuf::from);
        let folder =
            manifest.as_deref().and_then(Path::parent).ok_or_else(|| format!("no package: {line}"))?.to_owned();
        // `path+file:///folder#name@version`, or without the name where the folder is called so.
        let id = text(&message["package_id"]).unwrap_or_default();
        let package = id.rsplit('#').next().and_then(|t| t.split_once('@')).map(|t| t.0.to_owned());
        let package = package.or_else(|| Some(folder.file_name()?.to_string_lossy().into_owned())).unwrap_or_default();
        let name = text(&message["target"]["name"]).unwrap_or_default();
        tests.push(Tests { package, name, path: PathBuf::from(path), folder });
    }
    // The order of a build is not that of another.
    tests.sort_by(|a, b| (&a.package, &a.name, &a.path).cmp(&(&b.package, &b.name, &b.path)));
    if tests.is_empty() { Err(format!("there are no tests for {}", arch.name)) } else { Ok(tests) }
}

/// Runs the tests that a machine is there for, and gives what they print.
pub(crate) fn suite(root: &Path, machine: &Machine, tests: &[Tests]) -> (String, Outcome) {
    let mut text = String::new();
    let mut failed = Vec::new();
    for (package, reason) in HOST_ONLY {
        text += &format!("ignored {package}: {reason}\n");
    }
    for Tests { package, name, path, folder } in tests {
        if let ByProcessor(packages) = machine.suite {
            if !packages.contains(&package.as_str()) {
                continue;
            }
            if let Some((.., reason)) = ONCE.iter().find(|t| t.0 == package && t.1 == name) {
                text += &format!("ignored {package}, {name}: {reason}\n");
                continue;
            }
        }
        text += &format!("\n{package}, {name}:\n");
        let outcome = program(root, machine, path).and_then(|mut command| {
            environment(root, machine, &mut command)?;
            heard(command.current_dir(folder), &mut text)
        });
        failed.extend(outcome.err().map(|e| format!("{package}, {name}: {e}")));
    }
    if machine.suite == Whole {
        // Examples in documentation are the same on every processor.
        text += "\nexamples in documentation:\n";
        let outcome = command(root, machine).and_then(|mut c| heard(everything(c.arg("--doc")), &mut text));
        failed.extend(outcome.err());
    }
    let outcome = if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) };
    (text, outcome.map_err(|e| format!("tests on {}:\n{e}", machine.name)))
}

/// Runs a command, and adds what it prints to a text.
fn heard(command: &mut Command, text: &mut String) -> Outcome {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    for bytes in [&output.stderr, &output.stdout] {
        *text += &String::from_utf8_lossy(bytes);
    }
    if output.status.success() { Ok(()) } else { Err(output.status.to_string()) }
}

/// All crates but those that run on a developer's machine only.
fn everything(command: &mut Command) -> &mut Command {
    command.arg("--workspace");
    for (package, _) in HOST_ONLY {
        command.args(["--exclude", package]);
    }
    command
}

/// `cargo test` with what `args` say, on a machine.
pub(crate) fn emulate(root: &Path, name: &str, args: &[String]) -> Outcome {
    let machine = MACHINES.iter().find(|m| m.name == name).ok_or_else(|| format!("there is no machine '{name}'"))?;
    run(command(root, machine)?.args(args))
}

/// A program on a machine.
pub(crate) fn program(root: &Path, machine: &Machine, program: &Path) -> Result<Command, String> {
    let mut command = Command::new(toolchain::emulators(root)?.join(machine.arch.emulator));
    command.args(["-L", &machine.arch.gnu.sysroot()?, "-cpu", machine.cpu]).arg(program);
    Ok(command)
}

/// What tests on a machine are told.
fn environment(root: &Path, machine: &Machine, command: &mut Command) -> Outcome {
    // A runner is cut at spaces, which a folder's name may have: so the search path leads to it.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([toolchain::emulators(root)?].into_iter().chain(std::env::split_paths(&path)));
    command
        .env("PATH", path.map_err(|e| e.to_string())?)
        // For tests that start a program of this build.
        .env("SMALTI_RUNNER", runner(machine)?)
        .env("SMALTI_REQUIRE", machine.requires);
    if machine.suite == Whole {
        command.env("SMALTI_FUZZ_CASES", std::env::var("SMALTI_FUZZ_CASES").unwrap_or(SEEDS.to_owned()));
    } else {
        command.env("SMALTI_ROWS", "tuned");
    }
    Ok(())
}

fn runner(machine: &Machine) -> Result<String, String> {
    Ok(format!("{} -L {} -cpu {}", machine.arch.emulator, machine.arch.gnu.sysroot()?, machine.cpu))
}

/// `cargo test` for an architecture.
fn cross(root: &Path, arch: Arch) -> Result<Command, String> {
    toolchain::target(arch.triple)?;
    // The C library that programs are linked with.
    arch.gnu.sysroot()?;
    let mut command = cargo(root, &["test", "--target", arch.triple]);
    command.env(format!("{}_LINKER", variable(arch)), arch.gnu.compiler);
    Ok(command)
}

/// `cargo test` on a machine.
fn command(root: &Path, machine: &Machine) -> Result<Command, String> {
    let mut command = cross(root, machine.arch)?;
    environment(root, machine, &mut command)?;
    command.arg("--no-fail-fast").env(format!("{}_RUNNER", variable(machine.arch)), runner(machine)?);
    Ok(command)
}

fn variable(arch: Arch) -> String {
    format!("CARGO_TARGET_{}", arch.triple.replace('-', "_").to_uppercase())
}
