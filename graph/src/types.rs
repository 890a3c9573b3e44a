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

/// The most bytes that the integer dims of a tensor may make, zeros counted as ones: strides are products of dims, too.
/// No machine has more, and products of a few such sizes don't leave 64 bits.
pub const LARGEST: i64 = 1 << 47;

/// The most dims that a tensor may have.
pub const DIMS: usize = 64;

/// Whether a tensor of these dims, as far as they are integers, can be.
pub fn fits(elem: Elem, dims: impl IntoIterator<Item = i64>) -> bool {
    let bytes = dims.into_iter().try_fold(elem.size() as i64, |p, d| p.checked_mul(d.max(1)));
    bytes.is_some_and(|b| b <= LARGEST)
}

impl Type {
    /// A tensor type.
    pub fn tensor(elem: Elem, shape: impl IntoIterator<Item = Dim>) -> Type {
        Type::Tensor { elem, shape: shape.into_iter().collect() }
    }

    /// Checks that a value of this type can be.
    ///
    /// # Errors
    /// More dims than [`DIMS`], one that is negative or an expression that is too long, or too many elements.
    pub fn check(&self, symbols: &Symbols) -> Result<(), String> {
        let (elem, shape) = match self {
            Type::Tensor { elem, shape } => (elem, shape),
            Type::Sequence(of) | Type::Optional(of) => return of.check(symbols),
        };
        if shape.len() > DIMS {
            return Err(format!("a tensor would have {} dims; {DIMS} are the most", shape.len()));
        }
        if let Some(d) = shape.iter().filter_map(Dim::int).find(|&d| d < 0) {
            return Err(format!("a tensor would have a dim of {d}"));
        }
        if smalti_dims::product(shape).is_too_long() {
            return Err(
                "the sizes are too long expressions of sizes that are known at run time only; fix some of them"
                    .to_owned(),
            );
        }
        if !fits(*elem, shape.iter().filter_map(Dim::int)) {
            return Err(format!("{} would be too many elements for any machine", self.text(symbols)));
        }
        Ok(())
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
