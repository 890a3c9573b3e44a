//! One file an operation, or a kind of operations: how ONNX's nodes are read, and how graph nodes become steps.

mod concat;
mod control;
mod conv;
mod elementwise;
mod matmul;
mod normalization;
mod pool;
mod reduce;
mod shape;
mod softmax;
mod tile;

use crate::import::{ImportError, NodeImport};
use crate::lower::{Lower, LowerError};
use smalti_graph::{Node, ValueId};

type Import = fn(&mut NodeImport<'_, '_>) -> Result<Vec<ValueId>, ImportError>;

/// An operation of ONNX.
pub(crate) struct OnnxOp {
    /// ONNX's name.
    pub(crate) name: &'static str,
    /// Makes graph nodes and gives the values of its outputs.
    pub(crate) import: Import,
}

/// How a graph node becomes steps.
pub(crate) type Lowering = fn(&mut Lower<'_>, &Node) -> Result<(), LowerError>;

/// Every operation of ONNX that is read.
fn onnx_ops() -> impl Iterator<Item = &'static OnnxOp> {
    let files: [&'static [OnnxOp]; 13] = [
        concat::OPS,
        control::OPS,
        conv::OPS,
        elementwise::SAME,
        elementwise::WITH_ATTRIBUTES,
        elementwise::COMPOSED,
        matmul::OPS,
        normalization::OPS,
        pool::OPS,
        reduce::OPS,
        shape::OPS,
        softmax::OPS,
        tile::OPS,
    ];
    files.into_iter().flatten()
}

/// How each graph operation is lowered, by its name.
fn lowerings() -> impl Iterator<Item = &'static (&'static str, Lowering)> {
    let files: [&'static [(&'static str, Lowering)]; 10] = [
        concat::LOWERINGS,
        control::LOWERINGS,
        conv::LOWERINGS,
        elementwise::LOWERINGS,
        matmul::LOWERINGS,
        pool::LOWERINGS,
        reduce::LOWERINGS,
        shape::LOWERINGS,
        softmax::LOWERINGS,
        tile::LOWERINGS,
    ];
    files.into_iter().flatten()
}

/// ONNX's operation of that domain and name. A name that begins with its domain is of that domain.
pub(crate) fn find(domain: &str, name: &str) -> Option<&'static OnnxOp> {
    if !domain.is_empty() {
        return None;
    }
    onnx_ops().find(|o| o.name == name)
}

pub(crate) fn lowering(name: &str) -> Option<Lowering> {
    lowerings().find(|l| l.0 == name).map(|l| l.1)
}

/// Names of all operations of ONNX that are read, sorted.
pub fn supported() -> Vec<&'static str> {
    let mut names: Vec<&str> = onnx_ops().map(|o| o.name).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let names = supported();
        assert!(names.windows(2).all(|w| w[0] != w[1]), "{names:?}");
    }

    /// An operation of the graph that has no way to become steps is a half of an operation.
    #[test]
    fn every_graph_operation_is_lowered() {
        // Elementwise operations are inside fused regions when they are lowered.
        let inside =
            |name: &str| smalti_graph::ops::elementwise::find(name).is_some() || matches!(name, "cast" | "where");
        for op in smalti_graph::ops::all().chain(crate::tiled::ops()) {
            assert!(inside(op.name) || lowering(op.name).is_some(), "{} is never lowered", op.name);
        }
    }
}
