//! Nests compiled in this process.

use super::{JitError, memory};
use crate::abi::{Dispatch, DispatchArgs};
use crate::clif::{self, ClifError, Compiler};
use crate::nest::Nest;
use cranelift_codegen::ir::{AbiParam, Signature, types};
use cranelift_codegen::isa::CallConv;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module};
use smalti_isa::Target;
use std::boxed::Box;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// The compiled dispatches of one module, in executable memory.
pub struct JitModule {
    /// Freed, with the mapping, when the module is dropped. `None` only while dropping.
    module: Option<JITModule>,
    entries: Vec<Option<Dispatch>>,
    listings: Vec<String>,
}

// SAFETY: the code is immutable once finished, and entry points are plain addresses into it.
unsafe impl Send for JitModule {}
// SAFETY: as above.
unsafe impl Sync for JitModule {}

impl JitModule {
    /// Compiles `nests` for this machine, which `target` must be. A nest that has no machine code is left to the
    /// interpreter: the second result says which, and why.
    ///
    /// # Errors
    /// No executable memory, or no code generator for the architecture.
    pub fn new<'a>(
        nests: impl IntoIterator<Item = &'a Nest>,
        target: &Target,
    ) -> Result<(JitModule, Vec<(usize, ClifError)>), JitError> {
        let compiler = Compiler::new(target)?;
        let codes: Vec<_> = nests.into_iter().map(|nest| compiler.compile(nest)).collect();
        let total: u64 = codes.iter().flatten().map(|c| c.bytes.len() as u64 + 2 * c.alignment).sum();
        let failed = |e: &dyn std::fmt::Display| JitError::Memory(e.to_string());
        // The linker takes no other instruction set; it compiles nothing.
        let isa = clif::isa(target, false)?;
        let mut builder = JITBuilder::with_isa(isa, cranelift_module::default_libcall_names());
        builder.memory_provider(Box::new(memory::Mapping::new(total as usize).map_err(|e| failed(&e))?));
        let mut module = JITModule::new(builder);
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params.extend([types::I64; 4].map(AbiParam::new));
        signature.returns.push(AbiParam::new(types::I32));
        let mut refused = Vec::new();
        let mut ids: Vec<Option<FuncId>> = Vec::new();
        let mut listings = Vec::new();
        for (i, code) in codes.into_iter().enumerate() {
            match code {
                Ok(code) => {
                    let name = format!("dispatch{i}");
                    let id = module.declare_function(&name, Linkage::Local, &signature).map_err(|e| failed(&e))?;
                    module.define_function_bytes(id, code.alignment, &code.bytes, &[]).map_err(|e| failed(&e))?;
                    ids.push(Some(id));
                    listings.push(code.listing);
                }
                Err(error) => {
                    refused.push((i, error));
                    ids.push(None);
                    listings.push(String::new());
                }
            }
        }
        module.finalize_definitions().map_err(|e| failed(&e))?;
        let entries = ids
            .into_iter()
            .map(|id| {
                id.map(|id| {
                    let address = module.get_finalized_function(id);
                    // SAFETY: `address` is the entry of a function that was compiled with this signature.
                    unsafe { std::mem::transmute::<*const u8, Dispatch>(address) }
                })
            })
            .collect();
        Ok((JitModule { module: Some(module), entries, listings }, refused))
    }

    /// The entry point of dispatch number `i`; none where the interpreter has to run it.
    pub fn entry(&self, i: usize) -> Option<Dispatch> {
        self.entries.get(i).copied().flatten()
    }

    /// The instructions of dispatch number `i`, as text.
    pub fn listing(&self, i: usize) -> &str {
        self.listings.get(i).map_or("", String::as_str)
    }

    /// Calls dispatch number `i` and gives its status; none where the interpreter has to run it.
    ///
    /// # Safety
    /// `args` describes operands that hold every element of the space, for the dispatch's nest, and outputs overlap
    /// nothing else that the call reads or writes.
    pub unsafe fn call(&self, i: usize, args: &DispatchArgs, begin: u64, end: u64) -> Option<u32> {
        // SAFETY: the caller's; the code lives as long as `self`.
        self.entry(i).map(|entry| unsafe { entry(args, begin, end, std::ptr::null_mut()) })
    }
}

impl Drop for JitModule {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: entry points are only lent for the life of `self`.
            unsafe { module.free_memory() };
        }
    }
}
