//! Generators make cases of bytes, oracles judge them; a fuzz target is one call of both. The same bytes give the same
//! case as long as the generator and the kernel table stay; a finding becomes a named test beside the code that it was
//! found in, and its bytes a file in `regressions/<target>/`. Targets that read files judge the bytes as they are:
//! their generators make files, and so does a fuzzer that starts from a folder of good ones.
#![deny(unsafe_code)]

pub mod r#gen;
#[allow(unsafe_code)] // An allocator is one.
pub mod memory;
#[allow(unsafe_code)] // The nest oracle calls machine code on the operands that the interpreter has run on.
pub mod oracle;

use arbitrary::Unstructured;
use oracle::Verdict;
use std::path::Path;

/// One case of rows of `mmt4d` against the reference.
///
/// # Panics
/// A row is wrong.
pub fn mmt4d(bytes: &[u8]) {
    if let Ok(case) = r#gen::mmt4d::case(&mut Unstructured::new(bytes)) {
        oracle::mmt4d::judge(&case);
    }
}

/// One loop nest, on the interpreter and as machine code.
///
/// # Panics
/// They disagree.
pub fn nest(bytes: &[u8]) {
    if let Ok(case) = r#gen::nest::case(&mut Unstructured::new(bytes)) {
        oracle::nest::judge(&case);
    }
}

/// One model file, imported and compiled. Its external data may lie in the folder of regressions.
///
/// # Panics
/// It is neither compiled nor refused, or takes too much memory.
pub fn onnx_import(bytes: &[u8]) -> Verdict {
    oracle::onnx::judge(bytes, &Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions/onnx_import"))
}

/// One .smalti file, read, loaded without executing code of it, and its portable part compiled.
///
/// # Panics
/// It is neither loaded nor refused, or takes too much memory.
pub fn module_load(bytes: &[u8]) -> Verdict {
    oracle::module::judge(bytes)
}
