//! Generators make cases of bytes, oracles judge them; a fuzz target is one call of both. The same bytes give the same
//! case as long as the generator and the kernel table stay; a finding becomes a named test beside the code that it was
//! found in, and its bytes a file in `regressions/<target>/`.
#![deny(unsafe_code)]

pub mod r#gen;
#[allow(unsafe_code)] // The nest oracle calls machine code on the operands that the interpreter has run on.
pub mod oracle;

use arbitrary::Unstructured;

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
