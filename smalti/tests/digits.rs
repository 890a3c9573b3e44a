//! The network of this repository on all held-out digits.
#![allow(missing_docs)]

use smalti::{Options, Session, Tensor};
use std::path::{Path, PathBuf};

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../models")
}

/// A little-endian .npy of one type: the bytes after the header, and the shape.
fn npy(name: &str) -> (Vec<usize>, Vec<u8>) {
    let bytes = std::fs::read(models().join(name)).unwrap();
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let text = String::from_utf8_lossy(&bytes[10..10 + header]).into_owned();
    let shape = text.split_once("'shape': (").unwrap().1.split_once(')').unwrap().0;
    let shape = shape.split(',').filter_map(|d| d.trim().parse().ok()).collect();
    (shape, bytes[10 + header..].to_vec())
}

fn heldout() -> Tensor {
    let (shape, bytes) = npy("heldout.npy");
    Tensor::new(smalti::Elem::F32, shape, bytes)
}

fn session(threads: usize, strict: bool) -> Session {
    let options = Options { strict, ..Options::default() };
    Session::new(&smalti::compile(&models().join("digits.onnx"), &options).unwrap(), threads).unwrap()
}

#[test]
fn more_than_97_percent_of_held_out_digits_are_right() {
    let outputs = session(1, false).run(&[heldout()]).unwrap();
    let labels = npy("labels.npy").1;
    let count = labels.len() / 8;
    assert_eq!(outputs[0].shape, [count, 10]);
    let right = (0..count)
        .filter(|&i| {
            let at = |d: usize| outputs[0].get(i * 10 + d);
            let best = (0..10).fold(0, |best, d| if at(d) > at(best) { d } else { best });
            best as u64 == u64::from_le_bytes(labels[i * 8..i * 8 + 8].try_into().unwrap())
        })
        .count();
    assert!(right * 100 > count * 97, "{right} of {count}");
}

/// The expected values are the training script's own network in f64.
#[test]
fn ten_outputs_are_right_to_1e_5() {
    let outputs = session(1, false).run(&[heldout()]).unwrap();
    let (shape, bytes) = npy("first_ten.npy");
    assert_eq!(shape, [10, 10]);
    for (i, expected) in bytes.chunks_exact(8).enumerate() {
        let expected = f64::from_le_bytes(expected.try_into().unwrap());
        assert!((outputs[0].get(i) - expected).abs() <= 1e-5, "[{i}] is {}, expected {expected}", outputs[0].get(i));
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    // One image is less work than threads.
    let image = Tensor::new(smalti::Elem::F32, [1, 1, 8, 8], heldout().bytes[..256].to_vec());
    let mut one = session(1, false);
    let inputs = [heldout(), image];
    let expected = inputs.each_ref().map(|x| one.run(std::slice::from_ref(x)).unwrap());
    for threads in [2, 3, 7] {
        let mut session = session(threads, false);
        for _ in 0..3 {
            for (x, expected) in inputs.iter().zip(&expected) {
                assert_eq!(session.run(std::slice::from_ref(x)).unwrap(), *expected);
            }
        }
    }
}

/// Strict arithmetic is the graph interpreter's as-run arithmetic, to the bit.
#[test]
fn strict_gives_the_interpreters_bits() {
    let graph = smalti_compiler::read(&models().join("digits.onnx")).unwrap().graph().unwrap();
    let image = heldout();
    let mode = smalti_graph::interp::Mode::AsRun;
    let expected = smalti_graph::interp::run(&graph, std::slice::from_ref(&image), mode, &mut |_, _| {}).unwrap();
    assert_eq!(session(1, true).run(&[image]).unwrap(), expected);
}

/// One session runs with one batch after the other: each result is what that batch alone gives.
#[test]
fn one_session_many_shapes() {
    let mut one = session(2, false);
    let image = heldout();
    for count in [1, 5, 450, 2, 1, 0, 33] {
        let part = Tensor::new(image.elem, [count, 1, 8, 8], image.bytes[..count * 256].to_vec());
        let outputs = one.run(std::slice::from_ref(&part)).unwrap();
        assert_eq!(outputs[0].shape, [count, 10]);
        assert_eq!(outputs, session(1, false).run(&[part]).unwrap(), "a batch of {count}");
    }
}

/// Rows of a batch are what they are in any other one: always under `strict`, else where k is not split, which products of
/// one or two rows may do.
#[test]
fn a_part_of_a_batch_is_that_part_of_its_result() {
    for (strict, counts) in [(true, &[1, 2, 5, 33][..]), (false, &[5, 33])] {
        let mut session = session(1, strict);
        let image = heldout();
        let whole = session.run(std::slice::from_ref(&image)).unwrap();
        for &count in counts {
            let part = Tensor::new(image.elem, [count, 1, 8, 8], image.bytes[..count * 256].to_vec());
            assert_eq!(session.run(&[part]).unwrap()[0].bytes, whole[0].bytes[..count * 40], "a batch of {count}");
        }
    }
}

#[test]
fn the_same_model_gives_the_same_program() {
    let text = || smalti::compile(&models().join("digits.onnx"), &Options::default()).unwrap().program.print();
    assert_eq!(text(), text());
}
