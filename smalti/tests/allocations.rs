//! A session allocates nothing in a run whose sizes it has seen, on one thread and on a pool.
#![allow(missing_docs)]

use smalti::{Options, Session, Tensor};
use smalti_runtime::Input;
use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

static COUNT: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call goes on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_second_run_allocates_nothing() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/digits.onnx");
    let model = smalti::compile(&path, &Options::default()).unwrap();
    for threads in [1, 2] {
        let mut session = Session::new(&model, threads).unwrap();
        let batches = [1usize, 8, 3].map(|n| Tensor::f32([n, 1, 8, 8], &vec![0.25; n * 64]));
        let inputs = batches.each_ref().map(|t| [Input { elem: t.elem, shape: &t.shape, bytes: &t.bytes }]);
        for input in &inputs {
            session.inner().run(input).unwrap();
        }
        let before = COUNT.load(Ordering::Relaxed);
        for _ in 0..50 {
            for input in &inputs {
                session.inner().run(input).unwrap();
            }
        }
        assert_eq!(COUNT.load(Ordering::Relaxed) - before, 0, "{threads} threads");
    }
}
