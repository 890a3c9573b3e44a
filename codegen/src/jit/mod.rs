//! Executable memory for compiled nests. Pages are written first and made executable then, never both at a time; one
//! mapping a module, freed with it.

mod memory;

use crate::abi::{Dispatch, DispatchArgs};
use crate::clif::{ClifError, Compiler, Relocation};
use crate::nest::Nest;
use cranelift_codegen::FinalizedRelocTarget;
use cranelift_codegen::ir::{AbiParam, ExternalName, Signature, types};
use cranelift_codegen::isa::CallConv;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleReloc, ModuleRelocTarget};
use smalti_isa::Target;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// Why there is no executable code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JitError {
    /// There is no machine code.
    #[error(transparent)]
    Compile(#[from] ClifError),
    /// The system gives no memory, or forbids to execute it.
    #[error("no executable memory: {0}; dispatches can be interpreted instead")]
    Memory(String),
}

/// The address of a function.
struct Address(*const u8);

// SAFETY: an address of code, which is immutable.
unsafe impl Sync for Address {}

macro_rules! math {
    ($($name:literal = $f:expr, ($($arg:ident),*) $ty:ty;)*) => {
        /// Functions of the C math library that Cranelift calls where a target lacks the instruction, by name.
        static MATH: &[(&str, &Address)] = &[$(($name, &{
            extern "C" fn function($($arg: $ty),*) -> $ty {
                $f($($arg),*)
            }
            Address(function as *const u8)
        })),*];
    };
}

math! {
    "floorf" = libm::floorf, (x) f32;
    "ceilf" = libm::ceilf, (x) f32;
    "truncf" = libm::truncf, (x) f32;
    "nearbyintf" = libm::rintf, (x) f32;
    "fmaf" = libm::fmaf, (x, y, z) f32;
    "floor" = libm::floor, (x) f64;
    "ceil" = libm::ceil, (x) f64;
    "trunc" = libm::trunc, (x) f64;
    "nearbyint" = libm::rint, (x) f64;
    "fma" = libm::fma, (x, y, z) f64;
}

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
        let mut builder = JITBuilder::with_isa(compiler.isa().clone(), cranelift_module::default_libcall_names());
        // Targets without the instruction call these; they are the interpreter's own.
        builder.symbols(MATH.iter().map(|&(name, address)| (name.to_string(), address.0)));
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
                    let mut relocations = Vec::new();
                    for Relocation(r) in &code.relocations {
                        let name = match &r.target {
                            FinalizedRelocTarget::ExternalName(ExternalName::LibCall(call)) => {
                                ModuleRelocTarget::LibCall(*call)
                            }
                            FinalizedRelocTarget::Func(offset) => ModuleRelocTarget::FunctionOffset(id, *offset),
                            other => return Err(failed(&format!("a relocation to {other:?}"))),
                        };
                        relocations.push(ModuleReloc { offset: r.offset, kind: r.kind, name, addend: r.addend });
                    }
                    module
                        .define_function_bytes(id, code.alignment, &code.bytes, &relocations)
                        .map_err(|e| failed(&e))?;
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
