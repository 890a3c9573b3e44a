//! Executable memory for dispatches. Pages are written first and made executable then, never both at a time; one
//! mapping a module, freed with it.

mod image;
#[cfg(feature = "jit")]
mod memory;
#[cfg(feature = "jit")]
mod module;

pub use image::Image;
#[cfg(feature = "jit")]
pub use module::JitModule;

use memmap2::{Mmap, MmapMut};
use std::io;
use std::string::String;
use wasmtime_internal_jit_icache_coherence::{clear_cache, pipeline_flush_mt};

/// Why there is no executable code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JitError {
    /// There is no machine code.
    #[cfg(feature = "cranelift")]
    #[error(transparent)]
    Compile(#[from] crate::clif::ClifError),
    /// The system gives no memory, or forbids to execute it.
    #[error("no executable memory: {0}; dispatches can be interpreted instead")]
    Memory(String),
    /// A dispatch begins outside its code.
    #[error("a dispatch begins at byte {at} of its code, which has {len} bytes")]
    Entry {
        /// Where it would begin.
        at: u32,
        /// How long the code is.
        len: usize,
    },
}

/// Makes written memory executable, and no longer writable, on every core.
fn make_executable(memory: MmapMut) -> io::Result<Mmap> {
    let memory = memory.make_exec()?;
    // SAFETY: the range is the mapping's own.
    unsafe { clear_cache(memory.as_ptr().cast(), memory.len())? };
    pipeline_flush_mt()?;
    Ok(memory)
}
