//! What is right.

pub mod mmt4d;
pub mod module;
pub mod nest;
pub mod onnx;

/// What became of a file that may be damaged or hostile.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// Whether it was taken for a good one.
    pub accepted: bool,
    /// The most bytes that were held at a time while it was read.
    pub peak: usize,
}
