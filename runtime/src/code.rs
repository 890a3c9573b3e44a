//! How dispatches are executed.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use smalti_codegen::Nest;
use smalti_codegen::abi::{self, Dispatch};
use smalti_isa::Target;
use smalti_module as module;

/// Machine code for nests, where there is some; the interpreter runs the others.
pub enum Code {
    /// Everything is interpreted.
    Interpreter,
    /// From a module.
    #[cfg(feature = "native")]
    Image(smalti_codegen::jit::Image),
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

    /// The code of a module, where this build can execute it, and why it can't otherwise.
    pub(crate) fn of(code: &module::Code) -> Result<Code, String> {
        if code.abi == 0 || code.abi > abi::VERSION {
            return Err(alloc::format!(
                "the machine code follows ABI {}, this runtime knows {}; dispatches are not run by it",
                code.abi,
                abi::VERSION
            ));
        }
        #[cfg(feature = "native")]
        return crate::map::image(code).map(Code::Image).map_err(|e| e.to_string());
        #[cfg(not(feature = "native"))]
        return Err("this build executes no machine code of files".to_string());
    }

    /// The entry of nest number `i`; none where it is interpreted.
    pub(crate) fn entry(&self, i: u32) -> Option<Dispatch> {
        match self {
            Code::Interpreter => {
                let _ = i;
                None
            }
            #[cfg(feature = "native")]
            Code::Image(image) => image.entry(i as usize),
            #[cfg(feature = "jit")]
            Code::Jit(module) => module.entry(i as usize),
        }
    }

    /// The instructions of nest number `i`, as text; empty where they were not made here.
    pub fn listing(&self, i: u32) -> &str {
        match self {
            #[cfg(feature = "jit")]
            Code::Jit(module) => module.listing(i as usize),
            _ => {
                let _ = i;
                ""
            }
        }
    }
}
