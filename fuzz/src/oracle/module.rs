//! A .smalti file is loaded or refused with a sentence, in little memory.

use super::Verdict;
use super::onnx::MEMORY;
use crate::memory;
use bytes::Bytes;
use smalti_module::Module;
use smalti_runtime::{Inline, Session};
use smalti_ukernels::Host;
use std::sync::Arc;

/// Reads a file, loads its best variant without executing code of it, and compiles its portable part.
///
/// # Panics
/// A panic, or too much memory.
pub fn judge(file: &[u8]) -> Verdict {
    let bytes = Bytes::copy_from_slice(file);
    let (accepted, peak) = memory::peak(|| {
        let verified = Module::verify(&bytes).is_ok();
        let Ok(module) = Module::read(&bytes) else { return false };
        let host = Host::detect();
        let mut loaded = verified;
        if let Some(best) = module.best(host.target())
            && let Ok(program) = module.variants[best].program()
        {
            loaded &= Session::interpreted(Arc::new(program), host, Arc::new(Inline)).is_ok();
        }
        loaded & smalti::module::finish(&module, *host.target()).is_ok()
    });
    assert!(peak <= MEMORY, "{peak} bytes were held at a time");
    Verdict { accepted, peak }
}
