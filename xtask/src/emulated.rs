//! The suite on machines of other architectures, under QEMU's user mode emulation.

use crate::toolchain::{self, Gnu};
use crate::{Outcome, cargo, run};
use Suite::{Boards, ByProcessor, Whole};
use std::path::Path;
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
    /// Those of crates that behave differently on different processors.
    ByProcessor,
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
    machine("aarch64-neoverse-n1", AARCH64, "neoverse-n1", ByProcessor, "aarch64_neon"),
    machine("aarch64-cortex-a53", AARCH64, "cortex-a53", ByProcessor, "aarch64_neon"),
    machine("riscv64-vlen256", RISCV64, "max,vlen=256,rvv_ta_all_1s=true,rvv_ma_all_1s=true", Whole, "riscv64_v"),
    machine(
        "riscv64-vlen128",
        RISCV64,
        "rv64,v=true,vlen=128,rvv_ta_all_1s=true,rvv_ma_all_1s=true",
        ByProcessor,
        "riscv64_v",
    ),
    machine("riscv64-vlen512", RISCV64, "max,vlen=512,rvv_ta_all_1s=true,rvv_ma_all_1s=true", Boards, "riscv64_v"),
    machine(
        "riscv64-vlen1024",
        RISCV64,
        "max,vlen=1024,rvv_ta_all_1s=true,rvv_ma_all_1s=true",
        ByProcessor,
        "riscv64_v",
    ),
    machine("riscv64-scalar", RISCV64, "rv64,v=false", ByProcessor, ""),
];

const fn machine(name: &'static str, arch: Arch, cpu: &'static str, suite: Suite, requires: &'static str) -> Machine {
    Machine { name, arch, cpu, suite, requires }
}

/// Crates whose behaviour depends on the processor.
const BY_PROCESSOR: &[&str] = &["smalti-isa", "smalti-ukernels", "smalti-codegen", "smalti-runtime", "smalti"];
/// Seeds of each fuzz target, where nothing else is asked for: the developer's machine runs thousands.
const SEEDS: &str = "200";
/// Crates that run on a developer's machine only, and why.
const HOST_ONLY: &[(&str, &str)] = &[("xtask", "it builds and tests from a developer's machine")];

/// Runs the tests that a machine is there for, and gives what they print.
pub(crate) fn suite(root: &Path, machine: &Machine) -> (String, Outcome) {
    let mut command = match command(root, machine) {
        Ok(command) => command,
        Err(error) => return (String::new(), Err(error)),
    };
    let mut text = String::new();
    command.arg("--no-fail-fast");
    if machine.suite == Whole {
        command.arg("--workspace");
        for (package, reason) in HOST_ONLY {
            text += &format!("ignored {package}: {reason}\n");
            command.args(["--exclude", package]);
        }
        command.env("SMALTI_FUZZ_CASES", std::env::var("SMALTI_FUZZ_CASES").unwrap_or(SEEDS.to_owned()));
    } else {
        // Examples in documentation are the same on every processor.
        command.arg("--tests");
        for package in BY_PROCESSOR {
            command.args(["-p", package]);
        }
    }
    match command.output() {
        Ok(output) => {
            for bytes in [&output.stderr, &output.stdout] {
                text += &String::from_utf8_lossy(bytes);
            }
            let failed = format!("tests on {}: {}", machine.name, output.status);
            (text, if output.status.success() { Ok(()) } else { Err(failed) })
        }
        Err(error) => (text, Err(format!("{command:?}: {error}"))),
    }
}

/// `cargo test` with what `args` say, on a machine.
pub(crate) fn emulate(root: &Path, name: &str, args: &[String]) -> Outcome {
    let machine = MACHINES.iter().find(|m| m.name == name).ok_or_else(|| format!("there is no machine '{name}'"))?;
    run(command(root, machine)?.args(args))
}

/// A static program on a machine.
pub(crate) fn program(root: &Path, machine: &Machine, program: &Path) -> Result<Command, String> {
    let mut command = Command::new(toolchain::emulators(root)?.join(machine.arch.emulator));
    command.args(["-cpu", machine.cpu]).arg(program);
    Ok(command)
}

fn command(root: &Path, machine: &Machine) -> Result<Command, String> {
    let Machine { arch, cpu, .. } = machine;
    toolchain::target(arch.triple)?;
    let sysroot = arch.gnu.sysroot()?;
    let runner = format!("{} -L {sysroot} -cpu {cpu}", arch.emulator);
    // A runner is cut at spaces, which a folder's name may have: so the search path leads to it.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([toolchain::emulators(root)?].into_iter().chain(std::env::split_paths(&path)));
    let variable = format!("CARGO_TARGET_{}", arch.triple.replace('-', "_").to_uppercase());
    let mut command = cargo(root, &["test", "--target", arch.triple]);
    command
        .env("PATH", path.map_err(|e| e.to_string())?)
        .env(format!("{variable}_LINKER"), arch.gnu.compiler)
        .env(format!("{variable}_RUNNER"), &runner)
        // For tests that start a program of this build.
        .env("SMALTI_RUNNER", runner)
        .env("SMALTI_REQUIRE", machine.requires);
    Ok(command)
}
