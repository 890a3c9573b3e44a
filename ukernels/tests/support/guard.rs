//! Operands that end, or begin, at a page that may not be touched.

use std::cell::RefCell;
use std::ptr;

/// Which end of the operand lies at the guard page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

/// Memory between two guard pages.
struct Map {
    start: *mut u8,
    /// Without the guard pages.
    bytes: usize,
    page: usize,
}

impl Map {
    fn new(bytes: usize) -> Map {
        // SAFETY: an anonymous mapping of our own, whose first and last pages are then taken away.
        unsafe {
            let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
            let bytes = bytes.div_ceil(page).next_power_of_two() * page;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let map = libc::mmap(ptr::null_mut(), bytes + 2 * page, protection, flags, -1, 0);
            assert_ne!(map, libc::MAP_FAILED);
            let start = map.cast::<u8>().add(page);
            assert_eq!(libc::mprotect(map, page, libc::PROT_NONE), 0);
            assert_eq!(libc::mprotect(start.add(bytes).cast(), page, libc::PROT_NONE), 0);
            Map { start, bytes, page }
        }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`.
        unsafe { libc::munmap(self.start.sub(self.page).cast(), self.bytes + 2 * self.page) };
    }
}

thread_local! {
    /// Maps that no operand is in: to make one takes longer than most tests of a kernel.
    static FREE: RefCell<Vec<Map>> = const { RefCell::new(Vec::new()) };
}

/// `len` elements between two guard pages, flush with one of them.
pub(crate) struct Guarded<T> {
    /// There until the operand is dropped.
    map: Option<Map>,
    data: *mut T,
    len: usize,
}

impl<T: Copy> Guarded<T> {
    pub(crate) fn new(values: &[T], side: Side) -> Guarded<T> {
        let bytes = size_of_val(values);
        let map = FREE.with_borrow_mut(|free| {
            let place = free.iter().position(|m| m.bytes >= bytes)?;
            Some(free.swap_remove(place))
        });
        let map = map.unwrap_or_else(|| Map::new(bytes));
        let offset = match side {
            Side::Before => 0,
            Side::After => map.bytes - bytes,
        };
        // SAFETY: the map has so many bytes, and nothing else is in it; both of its ends are aligned to pages, and a slice's
        // length in bytes is a multiple of its alignment.
        let data = unsafe { map.start.add(offset).cast::<T>() };
        // SAFETY: as said.
        unsafe { ptr::copy_nonoverlapping(values.as_ptr(), data, values.len()) };
        Guarded { map: Some(map), data, len: values.len() }
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
        FREE.with_borrow_mut(|free| free.extend(self.map.take()));
    }
}
