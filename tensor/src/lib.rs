//! Tensors of a caller: in memory, as the texts of a command line, in `.npy` files.
#![forbid(unsafe_code)]

#[cfg(feature = "text")]
pub mod npy;
#[cfg(feature = "text")]
pub mod output;
mod tensor;
#[cfg(feature = "text")]
pub mod value;

pub use tensor::Tensor;
