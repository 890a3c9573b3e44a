//! How dispatches are executed.

use alloc::string::String;
use alloc::vec::Vec;
use smalti_codegen::Nest;
use smalti_codegen::abi::Dispatch;
use smalti_isa::Target;

/// Machine code for nests, where there is some; the interpreter runs the others.
pub enum Code {
    /// Everything is interpreted.
    Interpreter,
    /// Compiled in this process.
    #[cfg(feature = "jit")]
    Jit(alloc::boxed::Box<smalti_codegen::jit::JitModule>),
}

impl Code {
    /// Compiles `nests` where this build can, and says which are left to the interpreter, and why. `target` must be
    /// the machine that runs.
    pub fn new(nests: &[Nest], target: &Target) -> (Code, Vec<String>) {
        #[cfg(feature = "jit")]
        {
            use alloc::string::ToString;
            match smalti_codegen::jit::JitModule::new(nests, target) {
                Ok((module, refused)) => {
                    (Code::Jit(module.into()), refused.into_iter().map(|(_, e)| e.to_string()).collect())
                }
                Err(error) => (Code::Interpreter, alloc::vec![error.to_string()]),
            }
        }
        #[cfg(not(feature = "jit"))]
        {
            let _ = (nests, target);
            (Code::Interpreter, Vec::new())
        }
    }

    /// The entry of nest number `i`; none where it is interpreted.
    pub(crate) fn entry(&self, i: u32) -> Option<Dispatch> {
        match self {
            Code::Interpreter => {
                let _ = i;
                None
            }
            #[cfg(feature = "jit")]
            Code::Jit(module) => module.entry(i as usize),
        }
    }

    /// The instructions of nest number `i`, as text; empty where it is interpreted.
    pub fn listing(&self, i: u32) -> &str {
        match self {
            Code::Interpreter => {
                let _ = i;
                ""
            }
            #[cfg(feature = "jit")]
            Code::Jit(module) => module.listing(i as usize),
        }
    }
}
