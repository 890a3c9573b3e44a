//! The commands.

use crate::{Compare, Failure, Run, TargetArgs, dump, module};
use smalti_compiler::{Options, Stages, compile, read};
use smalti_graph::interp::{self, Mode};
use smalti_graph::{Elem, Graph, Tensor, Type, ValueId};
use smalti_isa::{CoreClass, Detection, Feature, Target, detect};
use smalti_module::Module;
use smalti_program::{Call, Epilogue, Program, Step};
use smalti_tensor::output::Outputs;
use smalti_tensor::value::{self, Port};
use smalti_tiling::{Plan, Problem, plan};
use smalti_ukernels::table::{Family, ROWS};
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// The model's graph, with `E…` in front of what is wrong with it.
pub(crate) fn graph(model: &Path) -> Result<Graph, Failure> {
    Ok(read(model)?.graph()?)
}

/// A file that can be run.
enum Source {
    Model(Graph),
    Module(Module),
}

impl Source {
    /// A module where the file begins like one, else a model.
    fn open(path: &Path) -> Result<Source, Failure> {
        Ok(match module::open(path)? {
            Some(module) => Source::Module(module),
            None => Source::Model(graph(path)?),
        })
    }

    /// Inputs and outputs.
    fn ports(&self) -> (Vec<Port>, Vec<Port>) {
        match self {
            Source::Model(graph) => (ports(graph, &graph.body.inputs), ports(graph, &graph.body.outputs)),
            Source::Module(m) => (module::ports(&m.inputs), module::ports(&m.outputs)),
        }
    }
}

fn compiled(graph: Graph, target: &TargetArgs, every_value: bool) -> Result<Stages, Failure> {
    let options = Options { target: target.parse()?, strict: target.strict, every_value };
    Ok(compile(graph, &options)?)
}

fn ports(graph: &Graph, ids: &[ValueId]) -> Vec<Port> {
    ids.iter()
        .map(|&id| {
            let elem = match &graph.fact(id).ty {
                Type::Tensor { elem, .. } => *elem,
                _ => Elem::F32,
            };
            Port { name: graph.values[id.0 as usize].name.clone(), elem, ty: graph.type_text(id) }
        })
        .collect()
}

fn session(program: &Program, threads: usize) -> Result<smalti::Session, Failure> {
    Ok(smalti::Session::of(Arc::new(program.clone()), smalti::pool(threads))?)
}

/// `smalti run`
pub(crate) fn run(args: &Run) -> Result<bool, Failure> {
    let started = Instant::now();
    let source = Source::open(&args.model)?;
    let (ports, outputs) = source.ports();
    let values = value::read_all(&ports, &args.input)?;
    let outputs = Outputs::new(&outputs, &args.output, &args.expected_output, args.tolerance.values(), args.most)?;
    let (mut session, made) = match source {
        Source::Model(graph) => (compiled_session(graph, args)?, "compiled and loaded"),
        Source::Module(module) => (module_session(&module, args)?, "loaded"),
    };
    let generic = session.inner().program().generic();
    if args.deny_generic && !generic.is_empty() {
        return Err(Failure(format!("{} products would run generic code: {}", generic.len(), generic.join(", "))));
    }
    for note in session.notes() {
        eprintln!("smalti: note: {note}");
    }
    let prepared = started.elapsed();
    let mut best = None;
    let mut results = Vec::new();
    for _ in 0..args.repeat.max(1) {
        let started = Instant::now();
        results = session.run(&values)?;
        let time = started.elapsed();
        best = Some(best.map_or(time, |b: std::time::Duration| b.min(time)));
    }
    let differences = outputs.take(&results)?;
    differences.iter().for_each(|d| eprintln!("smalti: {d}"));
    if let Some(best) = best {
        println!("time {:.3} ms ({made} in {:.1} ms)", ms(best), ms(prepared));
    }
    Ok(differences.is_empty())
}

fn compiled_session(graph: Graph, args: &Run) -> Result<smalti::Session, Failure> {
    let stages = compiled(graph, &args.target, false)?;
    if let Some(folder) = &args.dump {
        dump::stages(folder, &stages)?;
    }
    let mut session = session(&stages.program, args.threads)?;
    if let Some(folder) = &args.dump {
        dump::code(folder, session.inner())?;
    }
    Ok(session)
}

/// Flags that say how to compile are refused: a module was compiled already.
fn module_session(module: &Module, args: &Run) -> Result<smalti::Session, Failure> {
    let given =
        [("--target", args.target.target.is_some()), ("--strict", args.target.strict), ("--dump", args.dump.is_some())];
    if let Some((flag, _)) = given.iter().find(|g| g.1) {
        return Err(Failure(format!(
            "{flag} says how to compile, and {} was compiled before; give it to smalti compile",
            args.model.display()
        )));
    }
    Ok(smalti::Session::load(module, smalti::pool(args.threads), !args.no_native)?)
}

fn ms(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A size, or a typical one where it is not known.
fn typical(dim: &smalti_dims::Dim) -> Result<usize, Infallible> {
    Ok(dim.size().unwrap_or(256))
}

/// A step that calls kernels, as the planner is asked for it.
struct KernelCall<'a> {
    name: &'a str,
    problem: Problem,
    family: Family,
    epilogue: Option<&'a Epilogue>,
}

fn kernel_call(step: &Step) -> Option<KernelCall<'_>> {
    let (name, problem, family, epilogue) = match step {
        Step::Call(Call::Matmul(m)) => {
            let Ok(problem) = m.problem(typical);
            (&m.name, Problem::Matmul(problem), m.family, m.epilogue.as_ref())
        }
        Step::Call(Call::Conv(c)) => {
            let Ok(problem) = c.problem(typical);
            (&c.name, Problem::Conv2d(problem), c.family, Some(&c.epilogue))
        }
        _ => return None,
    };
    Some(KernelCall { name, problem, family, epilogue })
}

/// `smalti explain`
pub(crate) fn explain(what: &str, target: &TargetArgs, rejected: bool) -> Result<bool, Failure> {
    let print = |plan: &Plan| if rejected { println!("{plan:#}\n") } else { println!("{plan}\n") };
    if what.contains(' ') && !Path::new(what).exists() {
        let mut problem = Problem::parse(what)?;
        match &mut problem {
            Problem::Matmul(m) => m.strict |= target.strict,
            Problem::Conv2d(c) => c.strict |= target.strict,
        }
        print(&plan(&problem, None, &target.parse()?)?);
        return Ok(true);
    }
    let stages = compiled(graph(Path::new(what))?, target, false)?;
    let mut failure = None;
    stages.program.each_step(&mut |step| {
        let Some(call) = kernel_call(step) else { return };
        match plan(&call.problem, Some(call.family), &stages.program.target) {
            Ok(plan) => {
                println!("'{}'", call.name);
                print(&plan);
                if let Some(e) = call.epilogue {
                    let ops = stages.program.nests[e.nest as usize].insts().count();
                    println!("  epilogue   nest {} of {ops} operations on finished tiles\n", e.nest);
                }
            }
            Err(error) => failure = Some(Failure(error.to_string())),
        }
    });
    let mut dispatches = 0;
    stages.program.each_step(&mut |s| dispatches += usize::from(matches!(s, Step::Call(Call::Dispatch(_)))));
    println!(
        "{dispatches} dispatches of {} nests; sizes that are not known are taken for 256",
        stages.program.nests.len()
    );
    failure.map_or(Ok(true), Err)
}

/// `smalti kernels`
pub(crate) fn kernels(target: Option<&str>, filter: Option<&str>) -> Result<bool, Failure> {
    let target = target.map(|t| Target::parse(t).map_err(|e| Failure(e.to_string()))).transpose()?;
    for row in ROWS {
        let fits = target.as_ref().is_none_or(|t| row.runs_on(t)) && filter.is_none_or(|f| row.name.contains(f));
        if fits {
            let features = row.place.features().to_string();
            let needs = if features.is_empty() { "nothing" } else { &features };
            println!("{:<46} {:<8} {:<10} needs {needs}", row.name, row.tier().name(), row.numerics);
        }
    }
    Ok(true)
}

/// `smalti info`
pub(crate) fn info(features: bool) -> Result<bool, Failure> {
    let Detection { target: host, note } = detect();
    println!("smalti {}", env!("CARGO_PKG_VERSION"));
    println!("target   {host}");
    let c = host.caches;
    println!("core     {}", host.core.name());
    println!(
        "caches   L1d {} KiB, L2 {} KiB, L3 {} KiB, lines of {} bytes",
        c.l1d >> 10,
        c.l2 >> 10,
        c.l3 >> 10,
        c.line
    );
    println!("kernels  {} of {} rows run here", ROWS.iter().filter(|r| r.runs_on(&host)).count(), ROWS.len());
    let list: Vec<&str> = host.features.iter().map(Feature::name).collect();
    println!("features {}", list.join(" "));
    if let Some(note) = note {
        println!("note     {note}");
    }
    if features {
        println!("\nfeatures that targets may name:");
        for f in Feature::ALL {
            println!("  {:<8} {}", f.arch().name(), f.name());
        }
        println!("\ncore classes for cpu=:");
        for c in CoreClass::ALL {
            println!("  {}", c.name());
        }
    }
    Ok(true)
}

/// `smalti check`
pub(crate) fn check(model: Option<&Path>) -> Result<bool, Failure> {
    let Some(path) = model else {
        for name in smalti_compiler::ops::supported() {
            println!("{name}");
        }
        return Ok(true);
    };
    let model = read(path)?;
    let counts = model.histogram();
    println!("opset {}, {} nodes of {} operations", model.opset(), counts.values().sum::<usize>(), counts.len());
    let missing = model.missing();
    if !missing.is_empty() {
        let list: Vec<String> = missing.iter().map(|m| format!("  {m}")).collect();
        return Err(Failure(format!("not supported yet:\n{}", list.join("\n"))));
    }
    let graph = model.graph()?;
    compile(graph, &Options { target: Target::host(), strict: false, every_value: false })?;
    println!("it compiles");
    Ok(true)
}

/// `smalti compare`
pub(crate) fn compare(args: &Compare) -> Result<bool, Failure> {
    let graph = graph(&args.model)?;
    let values = value::read_all(&ports(&graph, &graph.body.inputs), &args.input)?;
    let stages = compiled(graph.clone(), &args.target, true)?;
    let mut session = session(&stages.program, args.threads)?;
    let results = session.run(&values)?;
    let names: Vec<&str> = stages.program.outputs.iter().map(|p| p.name.as_str()).collect();
    let (mut compared, mut wrong) = (0usize, 0usize);
    let mut worst = (0.0f64, String::new());
    interp::run(&graph, &values, Mode::Exact, &mut |node, outputs| {
        for (&id, exact) in node.outputs.iter().zip(outputs) {
            let name = &graph.values[id.0 as usize].name;
            let Some(at) = names.iter().position(|n| n == name).filter(|_| !name.is_empty()) else { continue };
            compared += 1;
            let (error, line) = distance(&results[at], exact, args.rtol);
            if error > worst.0 {
                worst = (error, name.clone());
            }
            // Later nodes are judged on what this one really gave, so that errors don't add up.
            *exact = results[at].promoted();
            if line.is_some() {
                wrong += 1;
            }
            let first = line.is_some() && wrong == 1;
            if args.all || first {
                let verdict = line.unwrap_or("ok".to_owned());
                println!("{} '{}' -> {name}: {verdict} (error {error:.2e})", node.op.name, node.name);
            }
        }
    })?;
    println!("{compared} values compared, {wrong} differ; the largest error is {:.2e}, of {}", worst.0, worst.1);
    let inside: usize = graph.body.nodes.iter().map(regions).sum();
    if inside > 0 {
        println!("{inside} nodes inside branches and loops are judged by what leaves them");
    }
    if compared == 0 {
        return Err(Failure("the model has no named value to compare".to_owned()));
    }
    // The program that `run` runs is fused further: its outputs are judged against the reference of the whole model.
    let fused = compiled(graph.clone(), &args.target, false)?;
    let outputs = self::session(&fused.program, args.threads)?.run(&values)?;
    let exact = interp::run(&graph, &values, Mode::Exact, &mut |_, _| {})?;
    for ((port, got), exact) in fused.program.outputs.iter().zip(&outputs).zip(&exact) {
        // Errors of all nodes add up here.
        let (error, line) = distance(got, exact, args.rtol * 100.0);
        println!("output {} as run: {} (error {error:.2e})", port.name, line.as_deref().unwrap_or("ok"));
        wrong += usize::from(line.is_some());
    }
    Ok(wrong == 0)
}

/// Nodes inside a node's regions.
fn regions(node: &smalti_graph::Node) -> usize {
    let blocks = node.regions.iter().flat_map(|r| &r.block.nodes);
    blocks.map(|n| 1 + regions(n)).sum()
}

/// The largest difference, relative to the greatest magnitude of the tensor, and what is wrong where that is too
/// large.
fn distance(got: &Tensor, exact: &Tensor, rtol: f64) -> (f64, Option<String>) {
    if got.shape != exact.shape {
        return (f64::INFINITY, Some(format!("shape {:?}, the reference has {:?}", got.shape, exact.shape)));
    }
    if !got.elem.is_float() {
        let wrong = (0..got.len()).find(|&i| got.int(i) != exact.int(i));
        let line = wrong.map(|i| format!("[{i}] is {}, the reference says {}", got.int(i), exact.int(i)));
        return (if wrong.is_some() { f64::INFINITY } else { 0.0 }, line);
    }
    let finite = (0..exact.len()).map(|i| exact.get(i).abs()).filter(|x| x.is_finite());
    let scale = finite.fold(f64::from(f32::MIN_POSITIVE), f64::max);
    let unit = match got.elem {
        Elem::F16 => 1e-3 / 1e-5,
        Elem::Bf16 => 1e-2 / 1e-5,
        _ => 1.0,
    };
    let mut worst = (0.0f64, 0);
    for i in 0..got.len() {
        let (a, b) = (got.get(i), exact.get(i));
        let error = if a == b || a.is_nan() && b.is_nan() {
            0.0
        } else if a.is_finite() && b.is_finite() {
            (a - b).abs() / scale / unit
        } else {
            f64::INFINITY
        };
        if error > worst.0 {
            worst = (error, i);
        }
    }
    let (error, i) = worst;
    let line = (error > rtol).then(|| format!("[{i}] is {}, the reference says {}", got.get(i), exact.get(i)));
    (error, line)
}
