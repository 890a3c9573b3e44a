//! Types of values.

use smalti_codegen::Elem;
use smalti_dims::{Dim, Symbols};

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A tensor.
    Tensor {
        /// Its elements.
        elem: Elem,
        /// Its dims.
        shape: Vec<Dim>,
    },
    /// Any number of values of one type.
    Sequence(Box<Type>),
    /// A value or none.
    Optional(Box<Type>),
}

impl Type {
    /// A tensor type.
    pub fn tensor(elem: Elem, shape: impl IntoIterator<Item = Dim>) -> Type {
        Type::Tensor { elem, shape: shape.into_iter().collect() }
    }

    /// The type in words: `f32[N,3]`, `seq<f32[]>`, `opt<i64[2]>`.
    pub fn text(&self, symbols: &Symbols) -> String {
        match self {
            Type::Tensor { elem, shape } => {
                let dims: Vec<String> = shape.iter().map(|d| symbols.text(d)).collect();
                format!("{elem}[{}]", dims.join(","))
            }
            Type::Sequence(of) => format!("seq<{}>", of.text(symbols)),
            Type::Optional(of) => format!("opt<{}>", of.text(symbols)),
        }
    }
}
