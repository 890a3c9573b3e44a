//! The C door: builds `libsmalti_ukernels`, and runs its C tests.

use crate::emulated::Machine;
use crate::{Outcome, cargo, output, run, toolchain};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the library may leave to the program that it is linked into.
const ALLOWED: &[&str] = &["memcpy", "memmove", "memset", "memcmp", "bcmp"];
/// IREE's bits of processor features of x86_64_v3, in hexadecimal: as far as valgrind goes.
const V3: &str = "cc08";

/// On this machine: the header is that of the source, nothing but `ALLOWED` is undefined, and the C tests pass, also under
/// AddressSanitizer and, where there is AVX2, under valgrind. `bless` writes the header anew.
pub(crate) fn host(root: &Path, bless: bool) -> Outcome {
    let folder = root.join("capi/ukernels");
    run(&mut cargo_in(root, &folder, &["fmt", "--all", "--check"]))?;
    run(&mut cargo_in(root, &folder, &["clippy", "--all", "--quiet", "--", "-D", "warnings"]))?;
    header(root, &folder, bless)?;
    let built = build(root, None)?;
    undefined(&built.join("libsmalti_ukernels.so"))?;
    example(&folder, &built)?;
    for options in [&["-O1"][..], &["-O1", "-g", "-fsanitize=address,undefined"]] {
        for program in programs(&folder, &built, "cc", options)? {
            run(&mut Command::new(program))?;
        }
    }
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        toolchain::valgrind()?;
        let [native, iree] = programs(&folder, &built, "cc", &["-O1", "-g"])?;
        for (program, level) in [(native, "x86_64_v3"), (iree, V3)] {
            run(Command::new("valgrind").args(["--quiet", "--error-exitcode=3"]).arg(program).arg(level))?;
        }
    }
    Ok(())
}

/// The C tests on an emulated machine, and what they print.
pub(crate) fn emulated(root: &Path, machine: &Machine) -> Result<String, String> {
    let arch = machine.arch;
    toolchain::target(arch.triple)?;
    arch.gnu.sysroot()?;
    let built = build(root, Some((arch.triple, arch.gnu.compiler)))?;
    let programs = programs(&root.join("capi/ukernels"), &built, arch.gnu.compiler, &["-O1", "-static"])?;
    programs.iter().map(|p| output(&mut crate::emulated::program(root, machine, p)?)).collect()
}

fn cargo_in(root: &Path, folder: &Path, args: &[&str]) -> Command {
    let mut command = cargo(folder, args);
    command.env("CARGO_TARGET_DIR", root.join("target/capi"));
    command
}

/// The folder with the libraries.
fn build(root: &Path, cross: Option<(&str, &str)>) -> Result<PathBuf, String> {
    let mut command = cargo_in(root, &root.join("capi/ukernels"), &["build", "--release", "--quiet"]);
    let built = root.join("target/capi");
    let Some((triple, compiler)) = cross else {
        run(&mut command)?;
        return Ok(built.join("release"));
    };
    let variable = format!("CARGO_TARGET_{}_LINKER", triple.replace('-', "_").to_uppercase());
    run(command.args(["--target", triple]).env(variable, compiler))?;
    Ok(built.join(triple).join("release"))
}

/// The tests of the native functions and of IREE's, beside the library that they are linked to.
fn programs(folder: &Path, built: &Path, compiler: &str, options: &[&str]) -> Result<[PathBuf; 2], String> {
    let [mut native, mut iree] = ["native", "iree"].map(|name| built.join(format!("test-{name}")));
    for (name, program) in [("native", &mut native), ("iree", &mut iree)] {
        let mut command = Command::new(compiler);
        command.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror"]).args(options).arg("-I").arg(folder.join("include"));
        command.arg(folder.join(format!("tests/{name}.c"))).arg(built.join("libsmalti_ukernels.a"));
        run(command.arg("-o").arg(program.as_path()))?;
    }
    Ok([native, iree])
}

/// The program of the README is one.
fn example(folder: &Path, built: &Path) -> Outcome {
    let readme = folder.join("README.md");
    let text = std::fs::read_to_string(&readme).map_err(|e| format!("{}: {e}", readme.display()))?;
    let code = text.split_once("```c\n").and_then(|(_, rest)| rest.split_once("```"));
    let source = built.join("example.c");
    let code = code.ok_or(format!("{} has no program in C", readme.display()))?.0;
    std::fs::write(&source, code).map_err(|e| format!("{}: {e}", source.display()))?;
    let mut command = Command::new("cc");
    command.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-c"]).arg("-I").arg(folder.join("include"));
    run(command.arg(&source).arg("-o").arg(built.join("example.o")))
}

/// The committed header is what the source says, or is written anew.
fn header(root: &Path, folder: &Path, bless: bool) -> Outcome {
    let path = folder.join("include/smalti_ukernels.h");
    let printed = output(&mut cargo_in(root, folder, &["run", "--quiet", "-p", "header"]))?;
    if bless {
        return std::fs::write(&path, printed).map_err(|e| format!("{}: {e}", path.display()));
    }
    match std::fs::read_to_string(&path) {
        Ok(text) if text == printed => Ok(()),
        _ => Err(format!("{} is not what the source says; cargo xtask bless writes it anew", path.display())),
    }
}

/// Weak symbols, and those of the start files, are the linker's own.
fn undefined(library: &Path) -> Outcome {
    let symbols = output(Command::new("nm").args(["-D", "--undefined-only"]).arg(library))?;
    let wrong = symbols.lines().filter_map(|l| l.trim().strip_prefix("U ")).filter(|s| {
        let name = s.split('@').next().unwrap_or(s);
        !ALLOWED.contains(&name)
    });
    let wrong: Vec<&str> = wrong.collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("{} asks for {}", library.display(), wrong.join(", "))) }
}
