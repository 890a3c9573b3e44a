//! What can be wrong with a model, and what this compiler lacks.

use smalti_graph::GraphError;
use std::fmt;

/// An operation that this compiler does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Its name, with the domain where that is not ONNX's own.
    pub op: String,
    /// How many nodes want it.
    pub count: usize,
    /// One of them.
    pub node: String,
}

/// Why a model was not compiled. The display is a sentence that says whose fault it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The file can't be read.
    #[error("E001: {file}: {reason}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        reason: String,
    },
    /// The portable part of a module can't be read.
    #[error("E305: the portable part of the module: {0}")]
    Portable(String),
    /// There is no code generator for a target.
    #[error(transparent)]
    Code(#[from] smalti_codegen::clif::ClifError),
    /// The file is no ONNX model.
    #[error("E002: your model {file} is no ONNX model, or is cut off: {reason}")]
    Decode {
        /// The file.
        file: String,
        /// What the decoder says.
        reason: String,
    },
    /// The model contradicts the ONNX specification.
    #[error("E003: your model: {0}")]
    Model(String),
    /// A node's inputs contradict its operation.
    #[error("E004: your model: {op} '{node}': {reason}; inputs: {inputs}")]
    Node {
        /// ONNX's name of the operation.
        op: String,
        /// The node's name.
        node: String,
        /// What is wrong.
        reason: String,
        /// Types and shapes of the inputs.
        inputs: String,
    },
    /// Operations that are not there yet: all of them at once.
    #[error("E005: not supported yet: {}; `smalti check` lists what is", list(.0))]
    Unsupported(Vec<Missing>),
    /// A node that uses a known operation in a way that is not there yet.
    #[error("E006: not supported yet: {op} '{node}': {reason}; inputs: {inputs}")]
    UnsupportedNode {
        /// ONNX's name of the operation.
        op: String,
        /// The node's name.
        node: String,
        /// What is missing.
        reason: String,
        /// Types and shapes of the inputs.
        inputs: String,
    },
    /// Something of the whole model that is not there yet.
    #[error("E007: not supported yet: {0}")]
    UnsupportedModel(String),
    /// A stage made a graph that is not well-formed.
    #[error("E900: {0} (this is a bug in Smalti)")]
    Internal(String),
}

fn list(missing: &[Missing]) -> String {
    missing.iter().map(|m| m.to_string()).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = if self.count == 1 { "node" } else { "nodes" };
        write!(f, "{} ({} {nodes}, one is '{}')", self.op, self.count, self.node)
    }
}

impl From<GraphError> for CompileError {
    fn from(error: GraphError) -> CompileError {
        CompileError::Internal(error.to_string())
    }
}
