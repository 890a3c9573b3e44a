//! From graphs to modules, and back from a module's portable part.

use crate::error::CompileError;
use crate::pack_constants::pack_constants;
use crate::tiled::DIMS;
use crate::{Options, fold, passes, program};
use bytes::Bytes;
use smalti_codegen::clif::{ClifError, Compiler};
use smalti_graph::{Elem, Graph, Tensor, Type, ValueId};
use smalti_isa::Target;
use smalti_module::{Blob, Code, Module, Port, Portable, Variant};
use smalti_program::Program;
use std::sync::Arc;

/// What a module is made for.
#[derive(Clone, Debug)]
pub struct Build {
    /// Its variants. A module without one has its portable part alone.
    pub targets: Vec<Target>,
    /// Whether the same bits must come out on every machine.
    pub strict: bool,
    /// Whether constants are also stored as the targets' kernels read them: such a module is larger, and is loaded
    /// without packing anything.
    pub packed: bool,
}

/// A module, and what runs slower in it than it could, and why.
pub struct Built {
    /// The module.
    pub module: Module,
    /// Dispatches without machine code, by target.
    pub notes: Vec<String>,
}

/// Compiles a model for all targets of `build`. The same model and targets give the same module on every machine.
///
/// # Errors
/// What is wrong with the model, or not supported yet.
pub fn build(graph: Graph, build: &Build) -> Result<Built, CompileError> {
    let graph = fold(graph)?;
    let mut notes = Vec::new();
    let mut variants = Vec::new();
    for target in &build.targets {
        let options = Options { target: *target, strict: build.strict, every_value: false };
        let mut program = program(&graph, &options)?;
        if build.packed {
            pack_constants(&mut program);
        }
        let (code, refused) = machine_code(&program)?;
        notes.extend(refused.into_iter().map(|e| format!("{target}: {e}")));
        variants.push(Variant::new(&program, Some(code)));
    }
    let ports = |ids: &[ValueId]| ids.iter().map(|&id| port(&graph, id)).collect();
    let printed = graph.print();
    let blobs = printed.blobs.into_iter().map(|t| {
        let t = Arc::unwrap_or_clone(t);
        Blob { elem: t.elem, shape: t.shape, bytes: Bytes::from(t.bytes) }
    });
    let module = Module {
        version: smalti_module::VERSION,
        producer: concat!("smalti ", env!("CARGO_PKG_VERSION")).to_owned(),
        name: graph.name.clone(),
        strict: build.strict,
        inputs: ports(&graph.body.inputs),
        outputs: ports(&graph.body.outputs),
        graph: Portable { text: Bytes::from(printed.text), blobs: blobs.collect() },
        variants,
    };
    Ok(Built { module, notes })
}

fn port(graph: &Graph, id: ValueId) -> Port {
    let (elem, dims) = match &graph.fact(id).ty {
        Type::Tensor { elem, shape } => (*elem, shape.iter().map(|d| graph.symbols.text(d)).collect()),
        _ => (Elem::F32, Vec::new()),
    };
    Port { name: graph.values[id.0 as usize].name.clone(), elem, dims }
}

/// Code for all nests of a program, one function after the other, and those that have none.
fn machine_code(program: &Program) -> Result<(Code, Vec<ClifError>), CompileError> {
    let compiler = Compiler::new(&program.target)?;
    let (mut bytes, mut entries, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    for nest in &program.nests {
        match compiler.compile(nest) {
            Ok(code) => {
                let at = bytes.len().next_multiple_of(code.alignment.max(1) as usize);
                bytes.resize(at, 0);
                bytes.extend_from_slice(&code.bytes);
                entries.push(Some(at as u32));
            }
            Err(error) => {
                refused.push(error);
                entries.push(None);
            }
        }
    }
    let code = Code { abi: smalti_codegen::abi::VERSION, entries, bytes: Bytes::from(bytes) };
    Ok((code, refused))
}

/// The graph of a module's portable part. Nothing in it is trusted.
///
/// # Errors
/// The first line that is wrong, what makes the graph ill-formed, or a value whose type is not what its node gives.
pub fn portable(module: &Module) -> Result<Graph, CompileError> {
    let wrong = |reason: String| CompileError::Portable(reason);
    let text = std::str::from_utf8(&module.graph.text).map_err(|e| wrong(e.to_string()))?;
    let blobs: Vec<Arc<Tensor>> =
        module.graph.blobs.iter().map(|b| Arc::new(Tensor::new(b.elem, b.shape.clone(), b.bytes.to_vec()))).collect();
    // A folded graph has one operation that no model has.
    let find = |name: &str| smalti_graph::ops::find(name).or_else(|| (name == DIMS.name).then_some(&DIMS));
    let mut graph = Graph::parse_with(text, &blobs, &find).map_err(|e| wrong(e.to_string()))?;
    graph.verify_types(&|node| node.op.name == DIMS.name).map_err(|e| wrong(e.to_string()))?;
    passes::drop_unused(&mut graph);
    Ok(graph)
}

/// A program for `target` from a module's portable part.
///
/// # Errors
/// What is wrong with the portable part, or not supported yet.
pub fn finish(module: &Module, target: Target) -> Result<Program, CompileError> {
    program(&portable(module)?, &Options { target, strict: module.strict, every_value: false })
}
