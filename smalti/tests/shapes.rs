//! Arithmetic on sizes and indices gives what the same arithmetic on tensors does, whether it is folded or followed.
#![allow(missing_docs)]

use smalti::{Elem, Session, Target, Tensor};
use smalti_compiler::{Options, compile};
use smalti_dims::Dim;
use smalti_graph::ops::{OpDef, constant, elementwise, reduce, shape, slice};
use smalti_graph::{Attr, Attrs, Fact, Graph, ValueId};
use std::sync::Arc;

fn node(graph: &mut Graph, op: &'static OpDef, attrs: Attrs, inputs: &[ValueId]) -> Result<ValueId, String> {
    let inputs = inputs.iter().copied().map(Some).collect();
    let node = graph.node(op.name, op, attrs, inputs, Vec::new()).map_err(|e| e.to_string())?;
    let out = node.outputs[0];
    graph.body.nodes.push(node);
    Ok(out)
}

fn constant(graph: &mut Graph, tensor: Tensor) -> ValueId {
    let attrs = Attrs::none().with("value", Attr::Tensor(Arc::new(tensor)));
    node(graph, &constant::CONSTANT, attrs, &[]).unwrap()
}

fn input(graph: &mut Graph, elem: Elem, shape: &[usize]) -> ValueId {
    let id = graph.value("x", Fact::tensor(elem, shape.iter().map(|&d| Dim::from(d))));
    graph.body.inputs.push(id);
    id
}

fn session(mut graph: Graph, output: ValueId) -> Session {
    graph.body.outputs.push(output);
    let options = Options { target: Target::host(), strict: false, every_value: false };
    Session::new(&compile(graph, &options).unwrap(), 1).unwrap()
}

/// The result of an operation on two constants.
fn folded(op: &str, a: Tensor, b: Tensor) -> Tensor {
    let mut graph = Graph::new("folded");
    let (a, b) = (constant(&mut graph, a), constant(&mut graph, b));
    let y = node(&mut graph, &elementwise::find(op).unwrap().def, Attrs::none(), &[a, b]).unwrap();
    session(graph, y).run(&[]).unwrap().remove(0)
}

#[test]
fn constants_divide_and_broadcast_as_tensors_do() {
    assert_eq!(folded("div", Tensor::i64([2], &[-7, 7]), Tensor::i64([1], &[2])).ints(), [-3, 3], "truncated");
    let sums = folded("add", Tensor::i64([2, 1], &[10, 20]), Tensor::i64([1, 2], &[1, 2]));
    assert_eq!((&sums.shape[..], &sums.ints()[..]), (&[2, 2][..], &[11, 12, 21, 22][..]));
    let wrapped = folded("add", Tensor::i64([1], &[i64::MAX]), Tensor::i64([1], &[1]));
    assert_eq!(wrapped.ints(), [i64::MIN]);
    let byte = |v: u8| Tensor::new(Elem::U8, [1], vec![v]);
    assert_eq!(folded("add", byte(200), byte(100)).bytes, [44], "u8 wraps");
}

#[test]
fn ends_that_are_known_at_run_time_count_from_the_end_where_they_are_negative() {
    let mut graph = Graph::new("slice");
    let x = input(&mut graph, Elem::F32, &[5]);
    let end = input(&mut graph, Elem::I64, &[1]);
    let start = constant(&mut graph, Tensor::i64([1], &[1]));
    let y = node(&mut graph, &slice::SLICE, Attrs::none(), &[x, start, end]).unwrap();
    let mut session = session(graph, y);
    let x = Tensor::f32([5], &[0.0, 1.0, 2.0, 3.0, 4.0]);
    for (end, expected) in [(-1, &[1.0, 2.0, 3.0][..]), (3, &[1.0, 2.0]), (-9, &[]), (9, &[1.0, 2.0, 3.0, 4.0])] {
        let y = session.run(&[x.clone(), Tensor::i64([1], &[end])]).unwrap().remove(0);
        let values: Vec<f64> = (0..y.len()).map(|i| y.get(i)).collect();
        assert_eq!((&y.shape[..], &values[..]), (&[expected.len()][..], expected), "end {end}");
    }
}

/// Of a slice only the shape is read: its end, an elementwise result, is what a symbol stands for, and no node's input.
#[test]
fn an_elementwise_result_that_only_a_symbol_stands_for_is_computed() {
    let mut graph = Graph::new("shape");
    let x = input(&mut graph, Elem::F32, &[5]);
    let end = input(&mut graph, Elem::I64, &[1]);
    let start = constant(&mut graph, Tensor::i64([1], &[1]));
    let end = node(&mut graph, &elementwise::find("max").unwrap().def, Attrs::none(), &[end, start]).unwrap();
    let part = node(&mut graph, &slice::SLICE, Attrs::none(), &[x, start, end]).unwrap();
    let y = node(&mut graph, &shape::SHAPE, Attrs::none(), &[part]).unwrap();
    let mut session = session(graph, y);
    for (end, expected) in [(3, 2), (0, 0), (9, 4)] {
        let y = session.run(&[Tensor::f32([5], &[0.0; 5]), Tensor::i64([1], &[end])]).unwrap().remove(0);
        assert_eq!(y, Tensor::i64([1], &[expected]), "end {end}");
    }
}

#[test]
fn a_slice_that_names_a_dim_twice_or_steps_too_far_is_refused() {
    let refused = |axes: &[i64], steps: &[i64]| {
        let mut graph = Graph::new("slice");
        let x = input(&mut graph, Elem::F32, &[3]);
        let lists = [&vec![2; axes.len()][..], &vec![3; axes.len()], axes, steps];
        let lists = lists.map(|l| constant(&mut graph, Tensor::i64([l.len()], l)));
        node(&mut graph, &slice::SLICE, Attrs::none(), &[&[x][..], &lists].concat()).unwrap_err()
    };
    assert!(refused(&[0, 0], &[1, 1]).contains("twice"));
    assert!(refused(&[0], &[i64::MIN]).contains("step"));
    assert!(refused(&[0], &[0]).contains("a step of 0"));
}

/// 76,800 is no f16: sums and counts are f32.
#[test]
fn the_mean_of_more_elements_than_f16_counts() {
    let mut graph = Graph::new("mean");
    let x = input(&mut graph, Elem::F16, &[256, 300]);
    let y = node(&mut graph, &reduce::REDUCE_MEAN, Attrs::none(), &[x]).unwrap();
    let ones = Tensor::new(Elem::F16, [256, 300], 0x3c00u16.to_le_bytes().repeat(76_800));
    assert_eq!(session(graph, y).run(&[ones]).unwrap()[0].get(0), 1.0);
}
