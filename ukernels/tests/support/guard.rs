//! Operands that end, or begin, at a page that may not be touched.

use std::ptr;

/// Which end of the operand lies at the guard page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

/// `len` elements between two guard pages, flush with one of them.
pub(crate) struct Guarded<T> {
    map: *mut u8,
    bytes: usize,
    data: *mut T,
    len: usize,
}

impl<T: Copy> Guarded<T> {
    pub(crate) fn new(values: &[T], side: Side) -> Guarded<T> {
        // SAFETY: an anonymous mapping of our own, whose first and last pages are then taken away; the data lies
        // between them.
        unsafe {
            let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
            let inner = size_of_val(values).div_ceil(page).max(1) * page;
            let bytes = inner + 2 * page;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let map = libc::mmap(ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            assert_ne!(map, libc::MAP_FAILED);
            let map = map.cast::<u8>();
            assert_eq!(libc::mprotect(map.cast(), page, libc::PROT_NONE), 0);
            assert_eq!(libc::mprotect(map.add(page + inner).cast(), page, libc::PROT_NONE), 0);
            let start = match side {
                Side::Before => map.add(page),
                Side::After => map.add(page + inner - size_of_val(values)),
            };
            let data = start.cast::<T>();
            ptr::copy_nonoverlapping(values.as_ptr(), data, values.len());
            Guarded { map, bytes, data, len: values.len() }
        }
    }

    pub(crate) fn get(&self) -> &[T] {
        // SAFETY: initialised in `new`, and alive as long as `self`.
        unsafe { std::slice::from_raw_parts(self.data, self.len) }
    }

    pub(crate) fn get_mut(&mut self) -> &mut [T] {
        // SAFETY: initialised in `new`, alive as long as `self`, and borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.data, self.len) }
    }
}

impl<T> Drop for Guarded<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`.
        unsafe { libc::munmap(self.map.cast(), self.bytes) };
    }
}
