//! The command line of Smalti.
//!
//! Exit codes: 0 done, 1 outputs differ, 2 could not.
#![forbid(unsafe_code)]

mod bench;
mod commands;
mod dump;
mod module;

use clap::{Args, Parser, Subcommand};
use smalti_isa::Target;
use smalti_tensor::output;
use std::path::PathBuf;
use std::process::ExitCode;

const DEFAULT: output::Tolerance = output::Tolerance::DEFAULT;

/// Turns a trained model into the fastest code that a CPU can run.
#[derive(Parser)]
#[command(name = "smalti", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compile a model for one or many targets into one .smalti file.
    Compile(Build),
    /// Print what a .smalti file holds.
    Inspect(Inspect),
    /// Run a .smalti file, or compile a model for this machine and run it.
    Run(Run),
    /// Print how each product and convolution of a model, or of a problem text, is planned.
    Explain {
        /// A model.onnx, or a problem such as "matmul f32f32f32 m=384 n=512 k=512".
        what: String,
        #[command(flatten)]
        target: TargetArgs,
        /// Also print the kernels that were not taken, and why.
        #[arg(long)]
        rejected: bool,
    },
    /// List the kernels of the table.
    Kernels {
        /// Only those that this target runs.
        #[arg(long)]
        target: Option<String>,
        /// Only those whose name holds this text.
        #[arg(long)]
        filter: Option<String>,
    },
    /// Print what this machine can do.
    Info {
        /// Also list every feature and core class that targets may name.
        #[arg(long)]
        features: bool,
    },
    /// Say whether a model compiles: every operation that is missing, at once, with counts.
    Check {
        /// The model; without it, the supported operations are listed.
        model: Option<PathBuf>,
    },
    /// Measure on this machine, as ratios to its limits in the same run.
    Bench {
        #[command(subcommand)]
        what: Bench,
    },
    /// Run a model and compare it with the reference interpreter, node by node.
    Compare(Compare),
}

#[derive(Subcommand)]
enum Bench {
    /// Every kernel that runs here, on one tile in cache, beside the peak of its instruction.
    Ukernels {
        /// Only those whose name holds this text.
        #[arg(long, default_value = "")]
        filter: String,
        /// Print one JSON object a line.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
struct TargetArgs {
    /// What to compile for: host (the default), x86_64_v3, x86_64_v4+avx512vnni, aarch64+dotprod, riscv64+v, …
    #[arg(long)]
    target: Option<String>,
    /// Only arithmetic that gives the same bits on every machine.
    #[arg(long)]
    strict: bool,
}

#[derive(Args)]
struct Build {
    /// The model, or a .smalti file whose portable part is compiled anew.
    model: PathBuf,
    /// The file that is written. An old one stays whole until the new one is.
    #[arg(long, short)]
    output: PathBuf,
    /// What to compile for, once or many times: x86_64_v3, x86_64_v4+avx512vnni, aarch64+dotprod, riscv64+v, … This
    /// machine, where none is given.
    #[arg(long)]
    target: Vec<String>,
    /// Only arithmetic that gives the same bits on every machine.
    #[arg(long)]
    strict: bool,
    /// Leave out constants as the targets' kernels read them: a smaller file, which packs them when it is loaded.
    #[arg(long)]
    no_packed_constants: bool,
    /// Write no code for any target.
    #[arg(long, conflicts_with = "target")]
    portable_only: bool,
}

#[derive(Args)]
struct Inspect {
    /// The .smalti file.
    file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Check what loading leaves out, too: checksums of constants, every program, the portable part.
    #[arg(long)]
    verify: bool,
    /// Print the graph's text.
    #[arg(long)]
    graph: bool,
    /// Print the text of the program for this target.
    #[arg(long, value_name = "TARGET", conflicts_with = "graph")]
    program: Option<String>,
}

#[derive(Args)]
struct Run {
    /// The .smalti file, or the model.
    model: PathBuf,
    /// A value of an input: [NAME=]@x.npy, [NAME=]2x3xf32=1 2 3 4 5 6, or a splat such as 2x3xf32=0. In order, or by
    /// name.
    #[arg(long, value_name = "[NAME=]VALUE")]
    input: Vec<String>,
    /// Where an output goes: [NAME=]@y.npy, [NAME=]+y.npy (append), [NAME=]@y.bin, - (print), or empty (ignore).
    #[arg(long, value_name = "[NAME=]PLACE")]
    output: Vec<String>,
    /// What an output should be, as for --input; (ignored) takes anything. Exit 1 where one differs.
    #[arg(long = "expected_output", alias = "expected-output", value_name = "[NAME=]VALUE")]
    expected_output: Vec<String>,
    #[command(flatten)]
    tolerance: Tolerance,
    #[command(flatten)]
    target: TargetArgs,
    /// Threads that work; results don't depend on it.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Runs before the outputs are taken; the time is the shortest.
    #[arg(long, default_value_t = 1)]
    repeat: usize,
    /// Refuse products that have no tuned kernel, instead of noting them.
    #[arg(long)]
    deny_generic: bool,
    /// Execute no machine code of a .smalti file: make it anew from its dispatches.
    #[arg(long)]
    no_native: bool,
    /// Writes every stage of the compilation, and the machine code, as text files.
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
    /// Elements of an output that are printed.
    #[arg(long = "output_max_element_count", alias = "output-max-element-count", default_value_t = 1024)]
    most: usize,
}

#[derive(Args)]
struct Tolerance {
    /// Largest absolute difference of f32 and f64 outputs.
    #[arg(long = "expected_f32_threshold", alias = "expected-f32-threshold", default_value_t = DEFAULT.f32)]
    f32: f64,
    /// Largest absolute difference of f16 outputs.
    #[arg(long = "expected_f16_threshold", alias = "expected-f16-threshold", default_value_t = DEFAULT.f16)]
    f16: f64,
    /// Largest absolute difference of bf16 outputs.
    #[arg(long = "expected_bf16_threshold", alias = "expected-bf16-threshold", default_value_t = DEFAULT.bf16)]
    bf16: f64,
    /// Relative difference that is added to the absolute one.
    #[arg(long = "expected_rtol", alias = "expected-rtol", default_value_t = DEFAULT.rtol)]
    rtol: f64,
}

impl Tolerance {
    fn values(&self) -> output::Tolerance {
        output::Tolerance { f32: self.f32, f16: self.f16, bf16: self.bf16, rtol: self.rtol }
    }
}

#[derive(Args)]
struct Compare {
    /// The model.
    model: PathBuf,
    /// A value of an input, as for run.
    #[arg(long, value_name = "[NAME=]VALUE")]
    input: Vec<String>,
    #[command(flatten)]
    target: TargetArgs,
    /// Threads that work.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Largest difference, relative to the greatest magnitude in the tensor, of one node's f32 output.
    #[arg(long, default_value_t = 1e-5)]
    rtol: f64,
    /// Print every node, not only the first that differs.
    #[arg(long)]
    all: bool,
}

/// A sentence for the user; the exit code is 2.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.to_string())
    }
}

impl TargetArgs {
    fn parse(&self) -> Result<Target, Failure> {
        Target::parse(self.target.as_deref().unwrap_or("host")).map_err(|e| Failure(e.to_string()))
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Compile(args) => module::compile(&args),
        Command::Inspect(args) => module::inspect(&args),
        Command::Run(args) => commands::run(&args),
        Command::Explain { what, target, rejected } => commands::explain(&what, &target, rejected),
        Command::Kernels { target, filter } => commands::kernels(target.as_deref(), filter.as_deref()),
        Command::Info { features } => commands::info(features),
        Command::Check { model } => commands::check(model.as_deref()),
        Command::Compare(args) => commands::compare(&args),
        Command::Bench { what: Bench::Ukernels { filter, json } } => bench::ukernels(&filter, json),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(Failure(sentence)) => {
            eprintln!("smalti: {sentence}");
            ExitCode::from(2)
        }
    }
}
