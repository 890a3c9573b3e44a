//! How much memory a case takes: an allocator that counts what each thread holds.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// More than a case may ask for at once, so that one that is wrong does not take the machine's memory with it.
const REFUSED: isize = 4 << 30;

thread_local! {
    /// Bytes that this thread has allocated and not freed; less than nothing where it frees what another one made.
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// Runs `case` and gives the most bytes that it held at a time, on this thread.
pub fn peak<T>(case: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    PEAK.set(before);
    let result = case();
    (result, PEAK.get().saturating_sub(before).max(0) as usize)
}

/// Counts `more` bytes; whether that is too much.
fn grow(more: isize) -> bool {
    let held = HELD.get().wrapping_add(more);
    if held > REFUSED {
        return true;
    }
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
    false
}

/// The system's allocator, counted.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call goes on to the system's allocator, or gives null, which says that there is no memory. Cells of
// constant value without a destructor allocate nothing and are there as long as their thread.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if grow(layout.size() as isize) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if grow(layout.size() as isize) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        grow(-(layout.size() as isize));
        // SAFETY: the caller's.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if grow(size as isize - layout.size() as isize) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_most_at_a_time_is_counted() {
        let (kept, peak) = super::peak(|| {
            drop(vec![0u8; 1 << 20]);
            let mut grown = vec![1u8; 1 << 10];
            grown.reserve_exact((1 << 12) - (1 << 10));
            grown
        });
        assert_eq!((kept.len(), peak), (1 << 10, 1 << 20));
        assert_eq!(super::peak(|| drop(kept)).1, 0);
    }
}
