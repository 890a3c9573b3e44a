//! The tensor graph.
//!
//! A [`Graph`] is a block of nodes over typed values. Types are tensors with dims that are integers or expressions
//! over symbols, sequences, and optionals; nodes may hold regions with explicit captures. Each operation has one
//! [definition](ops::OpDef): its shape rule and its reference, in `ops/<op>.rs`. The [interpreter](interp) runs the
//! references, `exact` (f64: the oracle of all tests) or `as-run` (the arithmetic that machine code has: the constant
//! folder).
#![forbid(unsafe_code)]

mod graph;
pub mod interp;
pub mod ops;
mod text;
mod types;
mod verify;

pub use graph::{Attr, Attrs, Binding, Block, Check, Fact, Graph, GraphError, Infer, Node, Region, ValueId, ValueInfo};
pub use smalti_codegen::Elem;
pub use smalti_tensor::Tensor;
pub use text::{Find, Parsed};
pub use types::{DIMS, LARGEST, Type, fits};
