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

/// A program for the architecture that runs the test, where its text says `any`.
fn parse(text: &str) -> Program {
    let text = text.replace("\"any\"", &format!("\"{}\"", std::env::consts::ARCH));
    Program::parse(&text, &[]).unwrap_or_else(|e| panic!("{e}"))
}

fn session(text: &str) -> Session {
    Session::new(Arc::new(parse(text)), Host::detect(), Arc::new(Threads::new(2))).unwrap()
}

fn run(session: &mut Session, x: &[f32]) -> Result<Vec<f32>, RunError> {
    let bytes: Vec<u8> = x.iter().flat_map(|v| v.to_le_bytes()).collect();
    session.run(&[Input { elem: Elem::F32, shape: &[x.len()], bytes: &bytes }])?;
    let y = session.output(0).unwrap();
    Ok(y.bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect())
}

fn program(nests: &str, y: &str, steps: &str) -> String {
    format!(
        "program \"p\" for \"any\" {{
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

/// Four bytes of constants may not take the machine's memory when they are packed.
#[test]
fn constants_that_grow_out_of_all_proportion_are_refused() {
    let text = format!(
        "program \"p\" for \"{}\" {{
  output \"y\" = %2 [1]
  constant \"w\" 4 bytes
  buffer %0: f32[1] in constant 0
  buffer %1: f32[1000000000000] in once 0
  buffer %2: i64[1] in slot 0
  once {{
    pack \"w\" tile (1) [] rows (1) cols (1)
      from (%0 at 0 by [1, 1])
      to %1 at (0) panel (1) batch (1)
  }}
  run {{
    dims %2 [1]
  }}
}}",
        std::env::consts::ARCH
    );
    let program = Program::parse(&text, &[vec![0; 4].into()]).unwrap();
    let error = Session::new(Arc::new(program), Host::detect(), Arc::new(Threads::new(1))).err().unwrap().to_string();
    for part in ["E103", "4 bytes of constants", "4000000000000"] {
        assert!(error.contains(part), "'{part}' is missing in: {error}");
    }
}

/// Eight by eight by eight, with a nest for finished tiles where there is one.
fn product(lhs: &str, out: &str, epilogue: bool) -> Arc<Program> {
    let double = "
  | nest @double outer 1 inner 1 {
  |   inout tile: f32 unit
  |   loop {
  |     %0 = load tile
  |     %1 = add.f32 %0 %0
  |     store tile %1
  |   }
  | }";
    let (nest, use_nest) = if epilogue { (double, "\n      epilogue 0") } else { ("", "") };
    let text = format!(
        "program \"p\" for \"any\" {{
  input \"x\" = %0 [64]
  output \"y\" = %1 [64]
  buffer %0: f32[64] in input 0
  buffer %1: f32[64] in slot 0{nest}
  once {{
  }}
  run {{
    matmul \"mm\" \"f32f32f32_8x1\" [] m (8) n (8) k (8)
      lhs (%0 {lhs})
      rhs (%0 at 0 by [8, 1])
      out (%1 {out}){use_nest}
  }}
}}"
    );
    Arc::new(parse(&text))
}

/// 0, 1, … 7 on the diagonal of an 8 x 8 matrix.
fn diagonal() -> [f32; 64] {
    core::array::from_fn(|i| if i % 9 == 0 { (i / 9) as f32 } else { 0.0 })
}

/// With machine code, and interpreted.
fn both(program: &Arc<Program>) -> [Session; 2] {
    let pool = || Arc::new(Threads::new(2));
    [
        Session::new(program.clone(), Host::detect(), pool()).unwrap(),
        Session::interpreted(program.clone(), Host::detect(), pool()).unwrap(),
    ]
}

/// Rows of the output overlap: refused, since tiles are written at the same time.
#[test]
fn a_matmul_whose_output_rows_overlap_is_refused() {
    for out in ["at 0 by [4, 1]", "at 0 by [0, 1]"] {
        for mut session in both(&product("at 0 by [8, 1]", out, false)) {
            let error = run(&mut session, &[1.0; 64]).unwrap_err().to_string();
            assert!(error.contains("overlap"), "{out}: {error}");
        }
    }
}

#[test]
fn a_matmul_whose_output_rows_run_backwards() {
    // Twice the squares on the diagonal, the last row first.
    let expected: [f32; 64] =
        core::array::from_fn(|i| if i / 8 == 7 - i % 8 { 2.0 * (i % 8 * (i % 8)) as f32 } else { 0.0 });
    for mut session in both(&product("at 0 by [8, 1]", "at 56 by [-8, 1]", true)) {
        assert_eq!(run(&mut session, &diagonal()).unwrap(), expected);
    }
}

/// Rows of the left operand run backwards, or are all one.
#[test]
fn left_rows_of_any_stride() {
    let squares = |row: fn(usize) -> usize| -> [f32; 64] {
        core::array::from_fn(|i| if row(i / 8) == i % 8 { (i % 8 * (i % 8)) as f32 } else { 0.0 })
    };
    for (lhs, expected) in [("at 56 by [-8, 1]", squares(|r| 7 - r)), ("at 40 by [0, 1]", squares(|_| 5))] {
        for mut session in both(&product(lhs, "at 0 by [8, 1]", false)) {
            assert_eq!(run(&mut session, &diagonal()).unwrap(), expected, "{lhs}");
        }
    }
}

#[test]
fn an_empty_condition_is_an_error() {
    let text = "program \"p\" for \"any\" {
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
