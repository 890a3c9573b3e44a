//! Runs .smalti files: the runtime alone, without compiler and JIT.
//!
//! Exit codes: 0 done, 1 outputs differ, 2 could not.
#![forbid(unsafe_code)]

use lexopt::prelude::*;
use smalti_isa::detect;
use smalti_module::Module;
use smalti_runtime::{Inline, Input, Pool, Session, Threads};
use smalti_tensor::Tensor;
use smalti_tensor::output::{Outputs, Tolerance};
use smalti_tensor::value::{self, Port};
use smalti_ukernels::Host;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

const HELP: &str = "\
Runs a .smalti file: the runtime alone, without compiler.

Usage: smalti-run [OPTIONS] FILE

Options:
  --input [NAME=]VALUE            @x.npy, 2x3xf32=1 2 3 4 5 6, or a splat such as 2x3xf32=0; in order, or by name
  --output [NAME=]PLACE           @y.npy, +y.npy (append), @y.bin, - (print), or empty (ignore)
  --expected_output [NAME=]VALUE  what an output should be, as for --input; (ignored) takes anything
  --expected_f32_threshold X      largest absolute difference of f32 and f64 outputs [default: 1e-4]
  --expected_f16_threshold X      … of f16 outputs [default: 1e-3]
  --expected_bf16_threshold X     … of bf16 outputs [default: 1e-2]
  --expected_rtol X               relative difference that is added [default: 1e-5]
  --output_max_element_count N    elements of an output that are printed [default: 1024]
  --threads N                     threads that work; results don't depend on it [default: 1]
  --repeat N                      runs before the outputs are taken; the time is the shortest [default: 1]
  --no-native                     execute no machine code of the file: interpret its dispatches
  --info                          print what this machine can do
  --version
  --help
";

/// A sentence for the user; the exit code is 2.
struct Failure(String);

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.to_string())
    }
}

struct Arguments {
    file: PathBuf,
    input: Vec<String>,
    output: Vec<String>,
    expected: Vec<String>,
    tolerance: Tolerance,
    most: usize,
    threads: usize,
    repeat: usize,
    native: bool,
}

/// What the command line asks for; none where it is answered already.
fn arguments() -> Result<Option<Arguments>, Failure> {
    let mut parser = lexopt::Parser::from_env();
    let mut file = None;
    let mut a = Arguments {
        file: PathBuf::new(),
        input: Vec::new(),
        output: Vec::new(),
        expected: Vec::new(),
        tolerance: Tolerance::DEFAULT,
        most: 1024,
        threads: 1,
        repeat: 1,
        native: true,
    };
    while let Some(argument) = parser.next()? {
        match argument {
            Value(path) if file.is_none() => file = Some(PathBuf::from(path)),
            Long("input") => a.input.push(parser.value()?.string()?),
            Long("output") => a.output.push(parser.value()?.string()?),
            Long("expected_output" | "expected-output") => a.expected.push(parser.value()?.string()?),
            Long("expected_f32_threshold" | "expected-f32-threshold") => a.tolerance.f32 = parser.value()?.parse()?,
            Long("expected_f16_threshold" | "expected-f16-threshold") => a.tolerance.f16 = parser.value()?.parse()?,
            Long("expected_bf16_threshold" | "expected-bf16-threshold") => {
                a.tolerance.bf16 = parser.value()?.parse()?
            }
            Long("expected_rtol" | "expected-rtol") => a.tolerance.rtol = parser.value()?.parse()?,
            Long("output_max_element_count" | "output-max-element-count") => a.most = parser.value()?.parse()?,
            Long("threads") => a.threads = parser.value()?.parse()?,
            Long("repeat") => a.repeat = parser.value()?.parse()?,
            Long("no-native") => a.native = false,
            Long("info") => {
                let found = detect();
                println!("target   {}", found.target);
                found.note.iter().for_each(|n| println!("note     {n}"));
                return Ok(None);
            }
            Long("version") => {
                println!("smalti-run {}", env!("CARGO_PKG_VERSION"));
                return Ok(None);
            }
            Short('h') | Long("help") => {
                print!("{HELP}");
                return Ok(None);
            }
            other => return Err(other.unexpected().into()),
        }
    }
    match file {
        Some(file) => Ok(Some(Arguments { file, ..a })),
        None => Err(Failure("no file is given; smalti-run --help says how to use it".to_owned())),
    }
}

fn ports(list: &[smalti_module::Port]) -> Vec<Port> {
    list.iter().map(|p| Port { name: p.name.clone(), elem: p.elem, ty: p.ty() }).collect()
}

fn run(a: &Arguments) -> Result<bool, Failure> {
    let started = Instant::now();
    let wrong = |e: &dyn std::fmt::Display| Failure(format!("{}: {e}", a.file.display()));
    let bytes = smalti_runtime::map(&a.file).map_err(|e| wrong(&e))?;
    let module = Module::read(&bytes).map_err(|e| wrong(&e))?;
    let (inputs, outputs) = (ports(&module.inputs), ports(&module.outputs));
    let values = value::read_all(&inputs, &a.input)?;
    let outputs = Outputs::new(&outputs, &a.output, &a.expected, a.tolerance, a.most)?;
    let pool: Arc<dyn Pool> = if a.threads > 1 { Arc::new(Threads::new(a.threads)) } else { Arc::new(Inline) };
    let mut session = Session::load(&module, Host::detect(), pool, a.native).map_err(|e| wrong(&e))?;
    session.notes().iter().for_each(|note| eprintln!("smalti-run: note: {note}"));
    let loaded = started.elapsed();
    let views: Vec<Input<'_>> =
        values.iter().map(|t| Input { elem: t.elem, shape: &t.shape, bytes: &t.bytes }).collect();
    let mut best = Duration::MAX;
    for _ in 0..a.repeat.max(1) {
        let started = Instant::now();
        session.run(&views)?;
        best = best.min(started.elapsed());
    }
    let results: Vec<Tensor> = session.outputs().map(|o| Tensor::new(o.elem, o.shape, o.bytes.to_vec())).collect();
    let differences = outputs.take(&results)?;
    differences.iter().for_each(|d| eprintln!("smalti-run: {d}"));
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!("time {:.3} ms (loaded in {:.1} ms)", ms(best), ms(loaded));
    Ok(differences.is_empty())
}

fn main() -> ExitCode {
    match arguments().and_then(|a| a.map_or(Ok(true), |a| run(&a))) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(Failure(sentence)) => {
            eprintln!("smalti-run: {sentence}");
            ExitCode::from(2)
        }
    }
}
