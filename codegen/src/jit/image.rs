//! Executable memory for machine code that is already there.

use super::{JitError, make_executable};
use crate::abi::Dispatch;
use memmap2::{Mmap, MmapMut};
use std::string::ToString;
use std::vec::Vec;

/// The dispatches of one piece of machine code, in executable memory of their own.
pub struct Image {
    /// What the entries point into.
    _memory: Mmap,
    entries: Vec<Option<Dispatch>>,
}

impl Image {
    /// Copies `code` to the beginning of a page and makes it executable. Dispatch number `i` begins at byte
    /// `entries[i]`; the interpreter has to run those that are `None`.
    ///
    /// # Errors
    /// The system gives no memory or forbids to execute it, or an entry lies outside the code.
    ///
    /// # Safety
    /// At every entry there begins a function of the [dispatch ABI](crate::abi) for this machine, complete in `code`
    /// and aligned within it as it was compiled to be.
    pub unsafe fn load(code: &[u8], entries: &[Option<u32>]) -> Result<Image, JitError> {
        if let Some(&at) = entries.iter().flatten().find(|&&at| at as usize >= code.len()) {
            return Err(JitError::Entry { at, len: code.len() });
        }
        // A mapping is never empty.
        let mut memory = MmapMut::map_anon(code.len().max(1)).map_err(|e| JitError::Memory(e.to_string()))?;
        memory[..code.len()].copy_from_slice(code);
        let memory = make_executable(memory).map_err(|e| JitError::Memory(e.to_string()))?;
        let entries = entries.iter().map(|entry| {
            entry.map(|at| {
                let address = memory[at as usize..].as_ptr();
                // SAFETY: the caller says that a function of this type begins here.
                unsafe { core::mem::transmute::<*const u8, Dispatch>(address) }
            })
        });
        Ok(Image { entries: entries.collect(), _memory: memory })
    }

    /// The entry point of dispatch number `i`, for the life of `self`; none where the interpreter has to run it.
    pub fn entry(&self, i: usize) -> Option<Dispatch> {
        self.entries.get(i).copied().flatten()
    }
}
