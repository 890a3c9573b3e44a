//! Programs that are well-formed but reach outside their buffers, or write one element twice: an error, or the right
//! result, and never a fault.
#![allow(missing_docs)]

use smalti_codegen::Elem;
use smalti_program::Program;
use smalti_runtime::{Input, RunError, Session, Threads};
use smalti_ukernels::Host;
use std::sync::Arc;

const SUM: &str = "
  | nest @sum outer 1 inner 1 {
  |   in x: f32
  |   out y: f32
  |   loop {
  |     %0 = load x
  |     %1 = reduce_sum.f32 %0
  |   }
  |   once {
  |     store y %1
  |   }
  | }";
const ADD: &str = "
  | nest @add outer 0 inner 1 {
  |   in x: f32
  |   inout y: f32
  |   loop {
  |     %0 = load x
  |     %1 = load y
  |     %2 = add.f32 %0 %1
  |     store y %2
  |   }
  | }
  | nest @zero outer 0 inner 1 {
  |   out y: f32
  |   loop {
  |     %0 = const.f32 0.0
  |     store y %0
  |   }
  | }";

fn session(text: &str) -> Session {
    let program = Program::parse(text, &[]).unwrap_or_else(|e| panic!("{e}"));
    Session::new(Arc::new(program), Host::detect(), Arc::new(Threads::new(2))).unwrap()
}

fn run(session: &mut Session, x: &[f32]) -> Result<Vec<f32>, RunError> {
    let bytes: Vec<u8> = x.iter().flat_map(|v| v.to_le_bytes()).collect();
    session.run(&[Input { elem: Elem::F32, shape: &[x.len()], bytes: &bytes }])?;
    let y = session.output(0).unwrap();
    Ok(y.bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect())
}

fn program(nests: &str, y: &str, steps: &str) -> String {
    format!(
        "program \"p\" for \"x86_64\" {{
  input \"x\" = %0 [N]
  output \"y\" = %1 [{y}]
  buffer %0: f32[N] in input 0
  buffer %1: f32[{y}] in slot 0{nests}
  once {{
  }}
  run {{
{steps}
  }}
}}"
    )
}

/// A reduction over nothing still writes its result, of which bounds hold too, and reads nothing.
#[test]
fn a_reduction_over_nothing_is_checked() {
    let steps = "    dispatch \"s\" nest 0 [100000000, N]\n      (%0 at 0 by [0, 1])\n      (%1 at 0 by [1, 0])";
    let error = run(&mut session(&program(SUM, "1", steps)), &[]).unwrap_err();
    assert!(matches!(error, RunError::Bounds { .. }), "{error}");
    let steps = "    dispatch \"s\" nest 0 [3, N]\n      (%0 at 0 by [0, 1])\n      (%1 at 0 by [1, 0])";
    assert_eq!(run(&mut session(&program(SUM, "3", steps)), &[5.0]).unwrap(), [5.0; 3]);
    assert_eq!(run(&mut session(&program(SUM, "3", steps)), &[]).unwrap(), [0.0; 3]);
}

#[test]
fn views_outside_their_buffer_are_refused() {
    for view in
        ["%0 at 1 by [1]", "%0 at -1 by [1]", "%0 at 0 by [2]", "%0 at 0 by [-1]", "%0 at 9223372036854775807 by [1]"]
    {
        let steps = format!(
            "    dispatch \"z\" nest 1 [N]\n      (%1 at 0 by [1])\n    dispatch \"a\" nest 0 [N]\n      ({view})\n      (%1 at 0 by [1])"
        );
        let result = run(&mut session(&program(ADD, "N", &steps)), &[1.0, 2.0, 3.0]);
        assert!(result.is_err(), "{view} gives {result:?}");
    }
}

/// Every point adds to one element: no two tasks may do that at a time.
#[test]
fn an_output_that_stays_where_it_is_is_not_split() {
    let steps = "    dispatch \"z\" nest 1 [1]\n      (%1 at 0 by [1])\n    dispatch \"a\" nest 0 [N]\n      (%0 at 0 by [1])\n      (%1 at 0 by [0])";
    let mut session = session(&program(ADD, "1", steps));
    for _ in 0..3 {
        assert_eq!(run(&mut session, &vec![1.0; 1 << 20]).unwrap(), [1048576.0]);
    }
}

/// Rows of the output overlap: refused, since tiles are written at the same time.
#[test]
fn a_matmul_whose_output_rows_overlap_is_refused() {
    let text = "program \"p\" for \"x86_64\" {
  input \"x\" = %0 [64]
  output \"y\" = %1 [64]
  buffer %0: f32[64] in input 0
  buffer %1: f32[64] in slot 0
  once {
  }
  run {
    matmul \"mm\" \"f32f32f32_8x1\" [] m (8) n (8) k (8)
      lhs (%0 at 0 by [8, 1])
      rhs (%0 at 0 by [8, 1])
      out (%1 at 0 by [4, 1])
  }
}";
    let error = run(&mut session(text), &[1.0; 64]).unwrap_err().to_string();
    assert!(error.contains("overlap"), "{error}");
}

/// Rows of the output lie backwards in memory, for machine code and for the interpreter.
#[test]
fn a_matmul_whose_output_rows_run_backwards() {
    let text = "program \"p\" for \"x86_64\" {
  input \"x\" = %0 [64]
  output \"y\" = %1 [64]
  buffer %0: f32[64] in input 0
  buffer %1: f32[64] in slot 0
  | nest @double outer 1 inner 1 {
  |   inout tile: f32 unit
  |   loop {
  |     %0 = load tile
  |     %1 = add.f32 %0 %0
  |     store tile %1
  |   }
  | }
  once {
  }
  run {
    matmul \"mm\" \"f32f32f32_8x1\" [] m (8) n (8) k (8)
      lhs (%0 at 0 by [8, 1])
      rhs (%0 at 0 by [8, 1])
      out (%1 at 56 by [-8, 1])
      epilogue 0
  }
}";
    let mut diagonal = [0.0; 64];
    (0..8).for_each(|i| diagonal[9 * i] = i as f32);
    // Twice the squares on the diagonal, the last row first.
    let mut expected = [0.0; 64];
    (0..8).for_each(|i| expected[8 * (7 - i) + i] = 2.0 * (i * i) as f32);
    let program = Arc::new(Program::parse(text, &[]).unwrap_or_else(|e| panic!("{e}")));
    for load in [Session::new, Session::interpreted] {
        let mut session = load(program.clone(), Host::detect(), Arc::new(Threads::new(2))).unwrap();
        assert_eq!(run(&mut session, &diagonal).unwrap(), expected);
    }
}

#[test]
fn an_empty_condition_is_an_error() {
    let text = "program \"p\" for \"x86_64\" {
  input \"c\" = %0 [M]
  output \"y\" = %1 [1]
  buffer %0: bool[M] in input 0
  buffer %1: i64[1] in slot 0
  once {
  }
  run {
    branch %0 {
      dims %1 [1]
    } else {
      dims %1 [2]
    }
  }
}";
    let mut session = session(text);
    let error = session.run(&[Input { elem: Elem::Bool, shape: &[0], bytes: &[] }]).unwrap_err();
    assert!(matches!(error, RunError::Bounds { .. }), "{error}");
    session.run(&[Input { elem: Elem::Bool, shape: &[1], bytes: &[0] }]).unwrap();
    assert_eq!(session.output(0).unwrap().bytes, 2i64.to_le_bytes());
}

/// Inputs may lie at any address.
#[test]
fn unaligned_inputs() {
    let steps = "    dispatch \"z\" nest 1 [N]\n      (%1 at 0 by [1])\n    dispatch \"a\" nest 0 [N]\n      (%0 at 0 by [1])\n      (%1 at 0 by [1])";
    let mut session = session(&program(ADD, "N", steps));
    let bytes: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let mut moved = [0u8; 16];
    let shift = (0..4).find(|s| (moved.as_ptr().addr() + s) % 4 == 1).unwrap();
    moved[shift..shift + 8].copy_from_slice(&bytes);
    session.run(&[Input { elem: Elem::F32, shape: &[2], bytes: &moved[shift..shift + 8] }]).unwrap();
    assert_eq!(session.output(0).unwrap().bytes, bytes);
}
