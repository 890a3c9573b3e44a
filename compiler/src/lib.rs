//! From ONNX models to programs.
//!
//! Data moves one way, through types that each have a text form and a verifier:
//! model ([`onnx`]) → [`Graph`](smalti_graph::Graph) → [`TiledGraph`](tiled::TiledGraph) →
//! [`Program`](smalti_program::Program). An operation has one file in `ops/`: how it is read from ONNX and how it
//! becomes steps. Passes are functions from graph to graph, in `passes/`.
#![forbid(unsafe_code)]

mod error;
mod import;
mod lower;
pub mod module;
pub mod ops;
mod pack_constants;
pub mod passes;
pub mod tiled;

/// The ONNX schema's messages.
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::undocumented_unsafe_blocks)]
// Made by a generator from a schema that is not ours.
pub mod onnx {
    include!(concat!(env!("OUT_DIR"), "/onnx.rs"));
}

pub use error::{CompileError, Missing};
pub use import::{Model, read};

use smalti_graph::Graph;
use smalti_isa::Target;
use smalti_program::Program;

/// How to compile.
#[derive(Clone, Debug)]
pub struct Options {
    /// What for.
    pub target: Target,
    /// Whether the same bits must come out on every machine.
    pub strict: bool,
    /// Whether every named value of the outermost block is an output, for comparing node by node. Elementwise nodes still
    /// share loops, but no epilogue is fused: products are outputs too.
    pub every_value: bool,
}

/// Every stage of a compilation.
#[derive(Clone, Debug)]
pub struct Stages {
    /// The model as it was imported.
    pub graph: Graph,
    /// After folding.
    pub folded: Graph,
    /// After fusing, encoding, choosing, materializing and eliding: each pass with its name.
    pub tiled: Vec<(&'static str, tiled::TiledGraph)>,
    /// What the runtime runs.
    pub program: Program,
}

/// Compiles a graph.
///
/// # Errors
/// What the model wants and this compiler does not have, with the node's name and shapes.
pub fn compile(graph: Graph, options: &Options) -> Result<Stages, CompileError> {
    let mut folded = graph.clone();
    if options.every_value {
        passes::expose(&mut folded);
    }
    let folded = fold(folded)?;
    let mut tiled = Vec::new();
    let program = back_half(&folded, options, &mut |name, graph| tiled.push((name, graph.clone())))?;
    Ok(Stages { graph, folded, tiled, program })
}

/// Folds a graph: what later stages take, whatever their target.
///
/// # Errors
/// The graph is not well-formed.
pub fn fold(mut graph: Graph) -> Result<Graph, CompileError> {
    passes::fold(&mut graph);
    graph.verify()?;
    Ok(graph)
}

/// The program of a folded graph, without the stages between.
///
/// # Errors
/// As those of [`compile`].
pub fn program(folded: &Graph, options: &Options) -> Result<Program, CompileError> {
    back_half(folded, options, &mut |_, _| {})
}

fn back_half(
    folded: &Graph,
    options: &Options,
    stage: &mut dyn FnMut(&'static str, &tiled::TiledGraph),
) -> Result<Program, CompileError> {
    let mut current = tiled::TiledGraph(folded.clone());
    let mut done = |name, graph: &tiled::TiledGraph| -> Result<(), CompileError> {
        graph.verify()?;
        stage(name, graph);
        Ok(())
    };
    passes::fuse_elementwise(&mut current.0);
    done("fuse-elementwise", &current)?;
    passes::fuse_epilogues(&mut current.0);
    done("fuse-epilogues", &current)?;
    passes::encode(&mut current.0);
    done("encode", &current)?;
    passes::choose(&mut current.0, options)?;
    done("choose", &current)?;
    passes::materialize(&mut current.0);
    done("materialize", &current)?;
    passes::elide(&mut current.0);
    done("elide", &current)?;
    lower::lower(&current.0, options)
}
