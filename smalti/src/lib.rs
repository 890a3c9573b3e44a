//! Smalti turns a trained model into the fastest code that a CPU can run.
//!
//! ```no_run
//! use smalti::{Options, Session, Tensor};
//! let model = smalti::compile("model.onnx".as_ref(), &Options::default())?;
//! let mut session = Session::new(&model, 2)?;
//! let outputs = session.run(&[Tensor::f32([1, 3], &[1.0, 2.0, 3.0])])?;
//! println!("{:?}", outputs[0].shape);
//! # Ok::<(), smalti::Error>(())
//! ```
#![forbid(unsafe_code)]

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;

pub mod module;

use smalti_program::Program;
use smalti_runtime::{Inline, Input, Pool, Threads};
use smalti_ukernels::Host;
use std::path::Path;
use std::sync::Arc;

pub use smalti_compiler::{CompileError, Missing, Stages};
pub use smalti_graph::{Elem, Tensor};
pub use smalti_isa::Target;
pub use smalti_runtime::{LoadError, Output, RunError};

/// How to compile.
#[derive(Clone, Debug)]
pub struct Options {
    /// What for: this machine, where nothing else is said.
    pub target: Target,
    /// Whether the same bits must come out on every machine.
    pub strict: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { target: Target::host(), strict: false }
    }
}

/// What can go wrong between a model and its results.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The model was not compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// A file can't be read.
    #[error("{0}")]
    File(String),
    /// A file is no module, or damaged.
    #[error(transparent)]
    Module(#[from] smalti_module::ModuleError),
    /// The program was not loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A run stopped.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Compiles a model file. The result holds every stage; [`Session::new`] takes it.
///
/// # Errors
/// What is wrong with the model, or not supported yet, with the node's name and shapes.
pub fn compile(model: &Path, options: &Options) -> Result<Stages, Error> {
    let graph = smalti_compiler::read(model)?.graph()?;
    let options = smalti_compiler::Options { target: options.target, strict: options.strict, every_value: false };
    Ok(smalti_compiler::compile(graph, &options)?)
}

/// A compiled model with its memory and threads.
pub struct Session {
    session: smalti_runtime::Session,
    notes: Vec<String>,
}

impl Session {
    /// Loads a compiled model for this machine.
    ///
    /// # Errors
    /// It was compiled for another one.
    pub fn new(model: &Stages, threads: usize) -> Result<Session, Error> {
        Session::of(Arc::new(model.program.clone()), pool(threads))
    }

    /// Loads a program; tasks go to `pool`.
    ///
    /// # Errors
    /// It was compiled for another machine.
    pub fn of(program: Arc<Program>, pool: Arc<dyn Pool>) -> Result<Session, Error> {
        let session = smalti_runtime::Session::new(program, Host::detect(), pool)?;
        Ok(Session { session, notes: Vec::new() })
    }

    /// Loads a compiled model and makes no machine code: fused dispatches are interpreted, to the same bits, slowly.
    /// Kernels are what they always are.
    ///
    /// # Errors
    /// It was compiled for another machine.
    pub fn interpreted(model: &Stages, threads: usize) -> Result<Session, Error> {
        let program = Arc::new(model.program.clone());
        let session = smalti_runtime::Session::interpreted(program, Host::detect(), pool(threads))?;
        Ok(Session { session, notes: Vec::new() })
    }

    /// Runs the model on tensors in the order of its inputs.
    ///
    /// # Errors
    /// An input that does not fit, or sizes that contradict each other.
    pub fn run(&mut self, inputs: &[Tensor]) -> Result<Vec<Tensor>, Error> {
        let views: Vec<Input<'_>> =
            inputs.iter().map(|t| Input { elem: t.elem, shape: &t.shape, bytes: &t.bytes }).collect();
        self.session.run(&views)?;
        Ok(self.session.outputs().map(|o| Tensor::new(o.elem, o.shape, o.bytes.to_vec())).collect())
    }

    /// The session without copies: views go in and come out.
    pub fn inner(&mut self) -> &mut smalti_runtime::Session {
        &mut self.session
    }

    /// What runs slower than it could, and why.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().chain(self.session.notes()).map(String::as_str)
    }
}

/// A pool of so many threads, the caller's among them.
pub fn pool(threads: usize) -> Arc<dyn Pool> {
    if threads <= 1 { Arc::new(Inline) } else { Arc::new(Threads::new(threads)) }
}
