//! `smalti compile` and `smalti inspect`.

use crate::{Build, Failure, Inspect, commands};
use serde_json::json;
use smalti_isa::Target;
use smalti_module::{Module, Variant};
use smalti_program::{Call, Program, Step};
use smalti_tensor::value;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The module in a file; none where the file does not begin like one.
pub(crate) fn open(path: &Path) -> Result<Option<Module>, Failure> {
    let wrong = |e: &dyn std::fmt::Display| Failure(format!("{}: {e}", path.display()));
    let mut head = Vec::new();
    // The reader of models says what is wrong with a file that is not there.
    let Ok(file) = File::open(path) else { return Ok(None) };
    if !file.metadata().is_ok_and(|about| about.is_file()) {
        // What a pipe has given can't be read again.
        return Ok(None);
    }
    file.take(smalti_module::MAGIC.len() as u64).read_to_end(&mut head).map_err(|e| wrong(&e))?;
    if !Module::begins(&head) {
        return Ok(None);
    }
    smalti::module::open(path).map(Some).map_err(|e| wrong(&e))
}

pub(crate) fn ports(list: &[smalti_module::Port]) -> Vec<value::Port> {
    list.iter().map(|p| value::Port { name: p.name.clone(), elem: p.elem, ty: p.ty() }).collect()
}

/// `smalti compile`
pub(crate) fn compile(args: &Build) -> Result<bool, Failure> {
    let graph = match open(&args.model)? {
        Some(module) => smalti::module::portable(&module)?,
        None => commands::graph(&args.model)?,
    };
    let targets = if args.target.is_empty() && !args.portable_only { &["host".to_owned()][..] } else { &args.target };
    let targets = targets.iter().map(|t| Target::parse(t).map_err(|e| Failure(e.to_string())));
    let build = smalti::module::Build {
        targets: targets.collect::<Result<_, _>>()?,
        strict: args.strict,
        packed: !args.no_packed_constants,
    };
    let built = smalti::module::build(graph, &build)?;
    for note in &built.notes {
        eprintln!("smalti: note: {note}");
    }
    let output = &args.output;
    let bytes =
        smalti::module::save(&built.module, output).map_err(|e| Failure(format!("{}: {e}", output.display())))?;
    let targets: Vec<String> = built.module.variants.iter().map(|v| v.target.to_string()).collect();
    let targets = if targets.is_empty() { "no target".to_owned() } else { targets.join(", ") };
    println!("{}: {bytes} bytes, code for {targets}", output.display());
    Ok(true)
}

/// What a variant has, in numbers.
struct Summary {
    dispatches: usize,
    products: usize,
    packs: usize,
    families: Vec<String>,
}

impl Summary {
    fn of(program: &Program) -> Summary {
        let mut summary = Summary { dispatches: 0, products: 0, packs: 0, families: Vec::new() };
        program.each_step(&mut |step| match step {
            Step::Call(Call::Dispatch(_)) => summary.dispatches += 1,
            Step::Call(Call::Matmul(m)) => {
                summary.products += 1;
                summary.families.push(m.family.to_string());
            }
            Step::Call(Call::Conv(c)) => {
                summary.products += 1;
                summary.families.push(c.family.to_string());
            }
            Step::Call(Call::Pack(_)) => summary.packs += 1,
            _ => {}
        });
        summary.families.sort_unstable();
        summary.families.dedup();
        summary
    }
}

/// `smalti inspect`
pub(crate) fn inspect(args: &Inspect) -> Result<bool, Failure> {
    let path = &args.file;
    let wrong = |e: &dyn std::fmt::Display| Failure(format!("{}: {e}", path.display()));
    let file = smalti_runtime::map(path).map_err(|e| wrong(&e))?;
    let module = Module::read(&file).map_err(|e| wrong(&e))?;
    if args.verify {
        Module::verify(&file).map_err(|e| wrong(&e))?;
        smalti::module::portable(&module).map_err(|e| wrong(&e))?;
    }
    if args.graph {
        print!("{}", String::from_utf8_lossy(&module.graph.text));
        return Ok(true);
    }
    if let Some(target) = &args.program {
        let target = Target::parse(target).map_err(|e| Failure(e.to_string()))?;
        let same = |v: &&Variant| v.target.to_string() == target.to_string();
        let variant = module.variants.iter().find(same).ok_or_else(|| {
            let has: Vec<String> = module.variants.iter().map(|v| v.target.to_string()).collect();
            Failure(format!("{}: no variant is for {target}; it has {}", path.display(), has.join(", ")))
        })?;
        print!("{}", variant.program().map_err(|e| wrong(&e))?.print());
        return Ok(true);
    }
    let programs =
        module.variants.iter().map(Variant::program).collect::<Result<Vec<_>, _>>().map_err(|e| wrong(&e))?;
    let summaries: Vec<Summary> = programs.iter().map(Summary::of).collect();
    if args.json {
        println!("{:#}", as_json(&module, file.len(), &summaries, args.verify));
    } else {
        print_text(&module, file.len(), &summaries);
        if args.verify {
            println!("verified  every checksum, every program, the portable part");
        }
    }
    Ok(true)
}

fn total(constants: &[bytes::Bytes]) -> usize {
    constants.iter().map(|c| c.len()).sum()
}

fn print_text(module: &Module, bytes: usize, summaries: &[Summary]) {
    let (major, minor) = module.version;
    println!("file      {bytes} bytes, format {major}.{minor}, written by {}", module.producer);
    let strict = if module.strict { ", strict: the same bits on every machine" } else { "" };
    println!("model     '{}'{strict}", module.name);
    for (what, list) in [("input", &module.inputs), ("output", &module.outputs)] {
        for port in list {
            println!("{what:<9} '{}' {}", port.name, port.ty());
        }
    }
    let blobs = &module.graph.blobs;
    let held: usize = blobs.iter().map(|b| b.bytes.len()).sum();
    println!("portable  graph of {} bytes, {} tensors of {held} bytes", module.graph.text.len(), blobs.len());
    for (variant, s) in module.variants.iter().zip(summaries) {
        println!("variant   {}", variant.target);
        println!("  program    {} bytes, {} dispatches, {} products", variant.text.len(), s.dispatches, s.products);
        if !s.families.is_empty() {
            println!("  families   {}", s.families.join(", "));
        }
        let packs = if s.packs > 0 { format!(", {} packed when it is loaded or run", s.packs) } else { String::new() };
        println!("  constants  {} of {} bytes{packs}", variant.constants.len(), total(&variant.constants));
        match &variant.code {
            Some(code) => {
                let there = code.entries.iter().flatten().count();
                let all = code.entries.len();
                println!("  code       {} bytes, {there} of {all} nests, ABI {}", code.bytes.len(), code.abi);
            }
            None => println!("  code       none: dispatches are interpreted"),
        }
    }
}

fn as_json(module: &Module, bytes: usize, summaries: &[Summary], verified: bool) -> serde_json::Value {
    let ports = |list: &[smalti_module::Port]| -> Vec<serde_json::Value> {
        list.iter().map(|p| json!({"name": p.name, "elem": p.elem.to_string(), "dims": p.dims})).collect()
    };
    let variants: Vec<serde_json::Value> = module
        .variants
        .iter()
        .zip(summaries)
        .map(|(v, s)| {
            let code = v.code.as_ref().map(|c| {
                json!({"bytes": c.bytes.len(), "abi": c.abi, "nests": c.entries.len(),
                    "compiled": c.entries.iter().flatten().count()})
            });
            json!({
                "target": v.target.to_string(),
                "program_bytes": v.text.len(),
                "dispatches": s.dispatches,
                "products": s.products,
                "packs": s.packs,
                "families": s.families,
                "constants": v.constants.len(),
                "constant_bytes": total(&v.constants),
                "code": code,
            })
        })
        .collect();
    let held: usize = module.graph.blobs.iter().map(|b| b.bytes.len()).sum();
    json!({
        "bytes": bytes,
        "format": [module.version.0, module.version.1],
        "producer": module.producer,
        "name": module.name,
        "strict": module.strict,
        "verified": verified,
        "inputs": ports(&module.inputs),
        "outputs": ports(&module.outputs),
        "graph": {"bytes": module.graph.text.len(), "tensors": module.graph.blobs.len(), "tensor_bytes": held},
        "variants": variants,
    })
}
