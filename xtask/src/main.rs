//! Development tasks. `cargo xtask --help` lists them.
#![forbid(unsafe_code)]

mod conformance;
mod licences;
mod tests;

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
    },
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
        #[arg(value_parser = ["mmt4d", "nest", "onnx_import"])]
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
        Task::Test { require, no_conformance } => tests::test(&root, &require, no_conformance),
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
    command.current_dir(root).args(args);
    command
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

/// What a command prints.
fn output(command: &mut Command) -> Result<String, String> {
    let text = format!("{command:?}");
    let output = command.output().map_err(|e| format!("{text}: {e}"))?;
    if !output.status.success() {
        return Err(format!("{text}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
