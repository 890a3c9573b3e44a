//! A file is compiled or refused with a sentence, in little memory.

use super::Verdict;
use crate::memory;
use smalti_compiler::{CompileError, Model, Options, compile};
use smalti_isa::Target;
use std::path::Path;

/// The most bytes that reading and compiling a file of a few megabytes may hold at a time.
pub const MEMORY: usize = 256 << 20;

/// The targets take turns.
const TARGETS: [&str; 3] = ["x86_64_v3", "aarch64", "riscv64+v"];

/// Imports and compiles a model; `folder` is where its external data may lie.
///
/// # Panics
/// A panic of the compiler, a graph or a program of its own making that it refuses, or too much memory.
pub fn judge(bytes: &[u8], folder: &Path) -> Verdict {
    let turn = bytes.len();
    let target = Target::parse(TARGETS[turn % TARGETS.len()]).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { target, strict: turn.is_multiple_of(5), every_value: turn.is_multiple_of(7) };
    let (result, peak) = memory::peak(|| {
        let model = Model::decode(bytes, "fuzzed.onnx", folder)?;
        compile(model.graph()?, &options)
    });
    assert!(peak <= MEMORY, "{peak} bytes were held at a time");
    if let Err(error) = &result {
        assert!(!matches!(error, CompileError::Internal(_)), "{error}");
    }
    Verdict { accepted: result.is_ok(), peak }
}
