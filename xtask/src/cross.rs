//! Static release binaries for other machines. Nothing of the target is run.

use crate::toolchain::{self, Gnu};
use crate::{Outcome, cargo, processor_seconds, run};
use std::fs;
use std::path::{Path, PathBuf};

/// What is built for an architecture.
pub(crate) struct Target {
    pub(crate) arch: &'static str,
    pub(crate) triple: &'static str,
    /// None: the linker that comes with Rust, and the C library that comes with the target.
    gnu: Option<&'static Gnu>,
    flags: &'static str,
    /// Bytes that the runtime alone may have, and whether an empty program's bytes are left out.
    runtime: (u64, bool),
}

pub(crate) const TARGETS: &[Target] = &[
    Target { arch: "x86_64", triple: "x86_64-unknown-linux-musl", gnu: None, flags: LLD, runtime: (1_000_000, false) },
    Target {
        arch: "aarch64",
        triple: "aarch64-unknown-linux-musl",
        gnu: None,
        flags: LLD,
        runtime: (1_000_000, false),
    },
    Target {
        arch: "riscv64",
        triple: "riscv64gc-unknown-linux-gnu",
        gnu: Some(&toolchain::RISCV64),
        flags: "-C target-feature=+crt-static",
        // GNU's C library is most of an empty program.
        runtime: (600_000, true),
    },
];
/// Relocations of position-independent programs in their short form, and functions that are the same once: Rust gives
/// functions no addresses of their own.
const LLD: &str = "-C link-arg=--pack-dyn-relocs=relr -C link-arg=--icf=all";
/// Bytes that compiler and runtime together may have.
const FULL: u64 = 15_000_000;
/// Seconds of processor time that a build from clean may take.
const SECONDS: f64 = 480.0;

/// A program: its file, its profile, and what else cargo is told to build it.
type Program = (&'static str, &'static str, &'static [&'static str]);
const PROGRAMS: &[Program] = &[
    ("smalti", "dist", &["-p", "smalti-cli", "--bin", "smalti"]),
    (
        "smalti-run",
        "dist-small",
        &["-p", "smalti-runtime", "--bin", "smalti-run", "--no-default-features", "--features", "bin"],
    ),
];
/// What the runtime alone is compared with.
const EMPTY: Program = ("examples/empty", "dist-small", &["-p", "smalti-isa", "--example", "empty"]);

pub(crate) fn cross(root: &Path, arch: &str, clean: bool, check_time: bool) -> Outcome {
    let target = TARGETS.iter().find(|t| t.arch == arch).ok_or_else(|| format!("there is no target '{arch}'"))?;
    prepare(target)?;
    let folder = root.join("target/cross").join(arch);
    if clean && folder.exists() {
        fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let place = root.join("target/dist").join(arch);
    fs::create_dir_all(&place).map_err(|e| format!("{}: {e}", place.display()))?;

    let before = processor_seconds()?;
    let mut sizes = Vec::new();
    for program in PROGRAMS {
        let built = build(root, target, &folder, program)?;
        let path = place.join(program.0);
        sizes.push(fs::copy(&built, &path).map_err(|e| format!("{}: {e}", path.display()))?);
    }
    let seconds = processor_seconds()? - before;
    let empty = build(root, target, &folder, &EMPTY)?;
    let empty = fs::metadata(&empty).map_err(|e| format!("{}: {e}", empty.display()))?.len();

    let (most, beside_empty) = target.runtime;
    let limits = [FULL, if beside_empty { most + empty } else { most }];
    println!("{:12} {:>12} {:>12}", arch, "bytes", "at most");
    for (((name, ..), size), limit) in PROGRAMS.iter().zip(&sizes).zip(limits) {
        println!("{name:12} {size:>12} {limit:>12}");
    }
    println!("{:12} {empty:>12}", "(empty)");
    println!("{seconds:.0} s of processor time{}", if clean { " from clean" } else { "" });

    let mut wrong: Vec<String> = PROGRAMS
        .iter()
        .zip(&sizes)
        .zip(limits)
        .filter(|((_, size), limit)| *size > limit)
        .map(|(((name, ..), size), limit)| format!("{name} for {arch} has {size} bytes, at most {limit} are allowed"))
        .collect();
    if check_time && seconds > SECONDS {
        wrong.push(format!("the build took {seconds:.0} s of processor time, at most {SECONDS} s are allowed"));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Builds one program for an architecture as [`cross`] does, and gives its file.
pub(crate) fn program(root: &Path, arch: &str, name: &str) -> Result<PathBuf, String> {
    let target = TARGETS.iter().find(|t| t.arch == arch).ok_or_else(|| format!("there is no target '{arch}'"))?;
    let program = PROGRAMS.iter().find(|p| p.0 == name).ok_or_else(|| format!("there is no program '{name}'"))?;
    prepare(target)?;
    build(root, target, &root.join("target/cross").join(arch), program)
}

/// Makes sure that there is what a build needs.
fn prepare(target: &Target) -> Outcome {
    toolchain::target(target.triple)?;
    if let Some(gnu) = target.gnu {
        gnu.sysroot()?;
    }
    Ok(())
}

/// Builds one program, and gives its file.
fn build(root: &Path, target: &Target, folder: &Path, (name, profile, args): &Program) -> Result<PathBuf, String> {
    let variable = format!("CARGO_TARGET_{}", target.triple.replace('-', "_").to_uppercase());
    let mut command = cargo(root, &["build", "--profile", profile, "--target", target.triple, "--target-dir"]);
    command
        .arg(folder)
        .args(*args)
        .env(format!("{variable}_LINKER"), target.gnu.map_or("rust-lld", |g| g.compiler))
        .env(format!("{variable}_RUSTFLAGS"), target.flags);
    run(&mut command)?;
    let path = folder.join(target.triple).join(profile).join(name);
    if loads_libraries(&path)? {
        return Err(format!("{} is not static: it asks for a program loader", path.display()));
    }
    Ok(path)
}

/// Whether a 64-bit little-endian ELF file has a program header of type PT_INTERP.
fn loads_libraries(path: &Path) -> Result<bool, String> {
    let bytes = fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let number = |at: usize, size: usize| -> Option<usize> {
        let field = bytes.get(at..at.checked_add(size)?)?;
        Some(field.iter().rev().fold(0, |n, b| n << 8 | usize::from(*b)))
    };
    let headers = || Some((number(32, 8)?, number(54, 2)?, number(56, 2)?));
    let (first, size, count) = headers().ok_or_else(|| format!("{} is no ELF file", path.display()))?;
    Ok((0..count).any(|i| number(first + i * size, 4) == Some(3)))
}
