//! A session allocates nothing in a run whose sizes it has seen, on one thread and on a pool.
#![allow(missing_docs)]

use smalti::{Options, Session, Tensor};
use smalti_runtime::Input;
use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Allocations of all threads. Tests of this file take turns, so that one does not count another's.
static COUNT: AtomicUsize = AtomicUsize::new(0);
static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn count() -> usize {
    COUNT.load(Ordering::Relaxed)
}

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

/// Branches, loops that stack, dims that are bound at run time.
#[test]
fn regions_allocate_nothing_in_a_second_run() {
    let _turn = TURN.lock().unwrap();
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../graph/tests/graphs/loop-stacks.graph"))
            .unwrap();
    let text: Vec<&str> = text.split("\n====\n").next().unwrap().lines().filter(|l| !l.starts_with("run ")).collect();
    let graph = smalti_graph::Graph::parse(&text.join("\n"), &[]).unwrap();
    let options = smalti_compiler::Options { target: Options::default().target, strict: false, every_value: false };
    let model = smalti_compiler::compile(graph, &options).unwrap();
    let mut session = Session::new(&model, 2).unwrap();
    let rounds = [4i64, 2, 3].map(|n| n.to_le_bytes());
    let x = 0.5f32.to_le_bytes();
    let inputs = rounds.each_ref().map(|n| {
        [
            Input { elem: smalti::Elem::I64, shape: &[], bytes: n },
            Input { elem: smalti::Elem::F32, shape: &[], bytes: &x },
        ]
    });
    for input in &inputs {
        session.inner().run(input).unwrap();
    }
    let before = count();
    for _ in 0..50 {
        for input in &inputs {
            session.inner().run(input).unwrap();
        }
    }
    assert_eq!(count() - before, 0);
    assert_eq!(session.inner().output(1).unwrap().shape, [3]);
}

#[test]
fn a_second_run_allocates_nothing() {
    let _turn = TURN.lock().unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/digits.onnx");
    let model = smalti::compile(&path, &Options::default()).unwrap();
    for threads in [1, 2] {
        let mut session = Session::new(&model, threads).unwrap();
        let batches = [1usize, 8, 3].map(|n| Tensor::f32([n, 1, 8, 8], &vec![0.25; n * 64]));
        let inputs = batches.each_ref().map(|t| [Input { elem: t.elem, shape: &t.shape, bytes: &t.bytes }]);
        for input in &inputs {
            session.inner().run(input).unwrap();
        }
        let before = count();
        for _ in 0..50 {
            for input in &inputs {
                session.inner().run(input).unwrap();
            }
        }
        assert_eq!(count() - before, 0, "{threads} threads");
    }
}
