//! Development tasks. `cargo xtask --help` lists them.
#![forbid(unsafe_code)]

mod boards;
mod capi;
mod conformance;
mod cross;
mod emulated;
mod licences;
mod tests;
mod toolchain;

use clap::builder::PossibleValuesParser;
use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Development tasks of Smalti.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run every test; fetch what they need. What can't run here is listed as ignored with its reason.
    Test {
        /// Levels whose kernels must run, such as x86_64_avx512: a missing feature is a failure then.
        #[arg(long, value_delimiter = ',')]
        require: Vec<String>,
        /// Without the suites that need Python packages.
        #[arg(long)]
        no_conformance: bool,
        /// Without the architectures that are emulated.
        #[arg(long, conflicts_with = "target")]
        host: bool,
        /// The suite on emulated machines of this architecture alone.
        #[arg(long, value_parser = PossibleValuesParser::new(emulated::ARCHES.iter().map(|a| a.name)))]
        target: Vec<String>,
    },
    /// Run `cargo test` with the arguments that follow, on an emulated machine.
    Emulate {
        /// Which.
        #[arg(value_parser = PossibleValuesParser::new(emulated::MACHINES.iter().map(|m| m.name)))]
        machine: String,
        /// Arguments of `cargo test`, such as `-p smalti-isa`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Build static release binaries for an architecture into target/dist, and check their sizes.
    Cross {
        /// Which.
        #[arg(value_parser = PossibleValuesParser::new(cross::TARGETS.iter().map(|t| t.arch)))]
        arch: String,
        /// Remove what was built before.
        #[arg(long)]
        clean: bool,
        /// Fail if a build from clean takes more processor time than it may.
        #[arg(long, requires = "clean")]
        check_time: bool,
    },
    /// Compile models on this machine, each into one file for many targets, and run the files by static runtimes on
    /// emulated machines: outputs must be as expected and, under `strict`, of the same bits everywhere.
    Boards {
        /// Also compile them by the static compiler for riscv64, which must write the same files.
        #[arg(long)]
        compiler: bool,
    },
    /// Build libsmalti_ukernels, and run its C tests.
    Capi {
        /// Write the header anew.
        #[arg(long)]
        bless: bool,
    },
    /// Fetch what tests and builds for other architectures need, and say where it is.
    Toolchain,
    /// Run the shared cases, the core slice of ONNX's backend tests and the real models on the release command line,
    /// and compare with the committed floor.
    Conformance {
        /// Write the floor anew, where it has risen.
        #[arg(long)]
        bless: bool,
    },
    /// Check the licences of all dependencies, and write the notices.
    Licences {
        /// Write THIRD-PARTY.md instead of comparing it.
        #[arg(long)]
        bless: bool,
    },
    /// Write anew every text that the code prints: docs, README parts, expected outputs of file tests.
    Bless,
    /// Run a fuzz target on more seeds than the tests do, from the first on (needs no nightly toolchain). Targets that
    /// read files also start from those in .cache, or in the folders that `SMALTI_FUZZ_CORPUS` names.
    Fuzz {
        /// Which target.
        #[arg(value_parser = ["mmt4d", "nest", "onnx_import", "module_load"])]
        target: String,
        /// How many cases.
        #[arg(default_value_t = 100_000)]
        cases: u64,
    },
}

/// A sentence for whoever called.
type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let root = root();
    let result = match Cli::parse().task {
        Task::Test { require, no_conformance, host, target } => {
            let emulated = |arch: &str| !host && (target.is_empty() || target.iter().any(|t| t == arch));
            tests::test(&root, &require, !no_conformance, target.is_empty(), emulated)
        }
        Task::Emulate { machine, args } => emulated::emulate(&root, &machine, &args),
        Task::Cross { arch, clean, check_time } => cross::cross(&root, &arch, clean, check_time),
        Task::Boards { compiler } => boards::boards(&root, compiler),
        Task::Capi { bless } => capi::host(&root, bless),
        Task::Toolchain => toolchain::all(&root),
        Task::Conformance { bless } => conformance::conformance(&root, bless),
        Task::Licences { bless } => licences::licences(&root, bless),
        Task::Bless => tests::bless(&root),
        Task::Fuzz { target, cases } => {
            let args =
                ["test", "--profile", "fuzz", "-p", "smalti-fuzz", "--test", "replay", "--", "--nocapture", "--exact"];
            let mut command = cargo(&root, &args);
            command.arg(&target).env("SMALTI_FUZZ_CASES", cases.to_string());
            // Models that conformance has fetched are good to start from.
            let cache = root.join(".cache");
            if std::env::var_os("SMALTI_FUZZ_CORPUS").is_none() && cache.is_dir() {
                command.env("SMALTI_FUZZ_CORPUS", cache);
            }
            run(&mut command)
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("xtask: {sentence}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace's folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

fn cargo(root: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    // What changes between two runs of a task is seldom little, and pieces that are kept for the next cost time.
    command.current_dir(root).args(args).env("CARGO_INCREMENTAL", "0");
    command
}

/// Whose optimised builds are run: always asked for together, so that all have the same features and none is made twice.
const OPTIMISED: [&str; 4] = ["-p", "smalti-benches", "-p", "smalti-cli"];

/// Builds the release command line, and gives its file.
fn command_line(root: &Path) -> Result<PathBuf, String> {
    run(cargo(root, &["build", "--release", "--quiet"]).args(OPTIMISED))?;
    Ok(root.join("target/release/smalti"))
}

/// Runs a command to its end.
fn run(command: &mut Command) -> Outcome {
    let text = format!("{command:?}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{text}: {status}")),
        Err(error) => Err(format!("{text}: {error}")),
    }
}

/// Processor time of all commands that have ended, in seconds: fields 16 and 17 of Linux's `/proc/self/stat`.
fn processor_seconds() -> Result<f64, String> {
    let text = std::fs::read_to_string("/proc/self/stat").map_err(|e| format!("/proc/self/stat: {e}"))?;
    // The second field, a name in parentheses, may hold spaces.
    let fields = text.rsplit_once(')').map_or("", |t| t.1).split_whitespace();
    let ticks: Vec<f64> = fields.skip(13).take(2).filter_map(|f| f.parse().ok()).collect();
    if ticks.len() < 2 {
        return Err(format!("/proc/self/stat is cut off: {text}"));
    }
    // Linux counts in hundredths wherever this runs.
    Ok(ticks.iter().sum::<f64>() / 100.0)
}

/// What a command prints.
fn output(command: &mut Command) -> Result<String, String> {
    let text = format!("{command:?}");
    let output = command.output().map_err(|e| format!("{text}: {e}"))?;
    if !output.status.success() {
        return Err(format!("{text}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
