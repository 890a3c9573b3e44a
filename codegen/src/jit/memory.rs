//! One anonymous mapping: readable and writable until it is finished, readable and executable from then on.

use cranelift_jit::{BranchProtection, JITMemoryKind, JITMemoryProvider};
use cranelift_module::{ModuleError, ModuleResult};
use memmap2::{Mmap, MmapMut};
use std::io;

pub(super) struct Mapping {
    writable: Option<MmapMut>,
    executable: Option<Mmap>,
    used: usize,
}

impl Mapping {
    pub(super) fn new(bytes: usize) -> io::Result<Mapping> {
        Ok(Mapping { writable: Some(MmapMut::map_anon(bytes.max(1))?), executable: None, used: 0 })
    }
}

impl JITMemoryProvider for Mapping {
    fn allocate(&mut self, size: usize, align: u64, _: JITMemoryKind) -> io::Result<*mut u8> {
        let map = self.writable.as_mut().ok_or_else(|| io::Error::other("the module is finished"))?;
        let at = self.used.next_multiple_of(align.max(1) as usize);
        let place = map.get_mut(at..at + size).ok_or_else(|| io::Error::other("more code than was announced"))?;
        self.used = at + size;
        Ok(place.as_mut_ptr())
    }

    unsafe fn free_memory(&mut self) {
        self.writable = None;
        self.executable = None;
    }

    fn finalize(&mut self, _: BranchProtection) -> ModuleResult<()> {
        if let Some(map) = self.writable.take() {
            let allocation = |e| ModuleError::Allocation { err: e };
            self.executable = Some(super::make_executable(map).map_err(allocation)?);
        }
        Ok(())
    }
}
