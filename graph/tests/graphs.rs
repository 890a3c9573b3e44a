//! `.graph` files: a graph, and values of its inputs. The text must print and parse to itself; then both modes of the
//! interpreter run it.
#![allow(missing_docs)]

use smalti_graph::interp::{self, Mode};
use smalti_graph::{Elem, Graph, Tensor, Type};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    smalti_filetest::run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graphs"), "graph", file)
}

fn file(input: &str) -> Result<String, String> {
    let (values, text): (Vec<&str>, Vec<&str>) = input.lines().partition(|l| l.starts_with("run "));
    let graph = match Graph::parse(&text.join("\n"), &[]) {
        Ok(graph) => graph,
        Err(error) => return Ok(format!("error: {error}")),
    };
    let printed = graph.print();
    let again = Graph::parse(&printed.text, &printed.blobs).map_err(|e| format!("{e}\n{}", printed.text))?;
    assert_eq!(again.print().text, printed.text, "the text round-trips");
    let mut out = printed.text;
    for line in values {
        let words: Vec<&str> = line.split('|').map(|w| w.trim_start_matches("run").trim()).collect();
        let inputs: Vec<Tensor> =
            graph.body.inputs.iter().zip(words).map(|(&id, w)| tensor(&graph.fact(id).ty, w)).collect();
        for mode in [Mode::AsRun, Mode::Exact] {
            match interp::run(&graph, &inputs, mode, &mut |_, _| {}) {
                Ok(outputs) => outputs.iter().for_each(|t| out += &format!("{mode:?} {}\n", show(t))),
                Err(error) => out += &format!("{mode:?} error: {error}\n"),
            }
        }
    }
    Ok(out)
}

/// `2x3=1 2 3 4 5 6`
fn tensor(ty: &Type, text: &str) -> Tensor {
    let Type::Tensor { elem, .. } = ty else { panic!("only tensors") };
    let (shape, values) = text.split_once('=').unwrap();
    let shape: Vec<usize> = shape.split('x').filter(|d| !d.is_empty()).map(|d| d.parse().unwrap()).collect();
    let values: Vec<f64> = values.split_whitespace().map(|v| v.parse().unwrap()).collect();
    match elem {
        Elem::F32 => Tensor::f32(shape, &values.iter().map(|&v| v as f32).collect::<Vec<_>>()),
        Elem::I64 => Tensor::i64(shape, &values.iter().map(|&v| v as i64).collect::<Vec<_>>()),
        Elem::I32 => Tensor::i32(shape, &values.iter().map(|&v| v as i32).collect::<Vec<_>>()),
        Elem::Bool => Tensor::new(Elem::Bool, shape, values.iter().map(|&v| u8::from(v != 0.0)).collect()),
        other => panic!("{other}"),
    }
}

fn show(t: &Tensor) -> String {
    let value = |i| if t.elem.is_float() { format!("{:?}", t.get(i)) } else { t.int(i).to_string() };
    format!("{}{:?} = {}", t.elem, t.shape, (0..t.len()).map(value).collect::<Vec<_>>().join(" "))
}
