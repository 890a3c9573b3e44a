//! Cases of bytes.

pub mod bytes;
pub mod mmt4d;
pub mod module;
pub mod nest;
pub mod onnx;
