//! Regions: If and Loop from ONNX to numbers, made here with the schema's own messages.
#![allow(missing_docs)]

use prost::Message;
use smalti::{Elem, Options, Session, Tensor};
use smalti_compiler::onnx::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorShapeProto, TypeProto, ValueInfoProto,
    attribute_proto, tensor_proto::DataType, tensor_shape_proto, type_proto,
};
use std::path::Path;

fn info(name: &str, ty: DataType, dims: &[&str]) -> ValueInfoProto {
    use tensor_shape_proto::{Dimension, dimension::Value};
    let dim = |d: &&str| Dimension {
        value: Some(d.parse().map(Value::DimValue).unwrap_or(Value::DimParam((*d).to_owned()))),
        ..Default::default()
    };
    let shape = TensorShapeProto { dim: dims.iter().map(dim).collect() };
    let tensor = type_proto::Tensor { elem_type: Some(ty as i32), shape: Some(shape) };
    let value = Some(type_proto::Value::TensorType(tensor));
    ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: Some(TypeProto { value, ..Default::default() }),
        ..Default::default()
    }
}

fn node(op: &str, inputs: &[&str], outputs: &[&str], attribute: Vec<AttributeProto>) -> NodeProto {
    let own = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
    NodeProto {
        op_type: Some(op.to_owned()),
        name: Some(op.to_lowercase()),
        input: own(inputs),
        output: own(outputs),
        attribute,
        ..Default::default()
    }
}

fn region(name: &str, graph: GraphProto) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(attribute_proto::AttributeType::Graph as i32),
        g: Some(graph),
        ..Default::default()
    }
}

fn int(name: &str, i: i64) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(attribute_proto::AttributeType::Int as i32),
        i: Some(i),
        ..Default::default()
    }
}

fn block(input: Vec<ValueInfoProto>, node: Vec<NodeProto>, output: Vec<ValueInfoProto>) -> GraphProto {
    GraphProto { name: Some("g".to_owned()), input, node, output, ..Default::default() }
}

fn session(graph: GraphProto) -> Session {
    let opset = OperatorSetIdProto { domain: None, version: Some(17) };
    let model = ModelProto { ir_version: Some(8), opset_import: vec![opset], graph: Some(graph), ..Default::default() };
    let graph =
        smalti_compiler::Model::decode(&model.encode_to_vec(), "made here", Path::new("")).unwrap().graph().unwrap();
    let options = smalti_compiler::Options { target: Options::default().target, strict: false, every_value: false };
    Session::new(&smalti_compiler::compile(graph, &options).unwrap(), 2).unwrap()
}

fn bool(value: bool) -> Tensor {
    Tensor::new(Elem::Bool, [], vec![u8::from(value)])
}

/// The branches give different shapes, and capture values of the enclosing graph.
#[test]
fn if_with_captures_and_two_shapes() {
    let out = || vec![info("y", DataType::Float, &["M"])];
    let yes = block(vec![], vec![node("Add", &["x", "x"], &["y"], vec![])], out());
    let no = block(vec![], vec![node("Concat", &["x", "x"], &["y"], vec![int("axis", 0)])], out());
    let branch = node("If", &["c"], &["z"], vec![region("then_branch", yes), region("else_branch", no)]);
    let last = node("Neg", &["z"], &["r"], vec![]);
    let inputs = vec![info("c", DataType::Bool, &[]), info("x", DataType::Float, &["N"])];
    let mut session = session(block(inputs, vec![branch, last], vec![info("r", DataType::Float, &["M"])]));
    for _ in 0..2 {
        let x = Tensor::f32([2], &[1.0, -3.0]);
        assert_eq!(session.run(&[bool(true), x.clone()]).unwrap(), [Tensor::f32([2], &[-2.0, 6.0])]);
        assert_eq!(session.run(&[bool(false), x]).unwrap(), [Tensor::f32([4], &[-1.0, 3.0, -1.0, 3.0])]);
        let x = Tensor::f32([3], &[1.0, 2.0, 3.0]);
        assert_eq!(session.run(&[bool(true), x]).unwrap(), [Tensor::f32([3], &[-2.0, -4.0, -6.0])]);
    }
}

/// Fibonacci: two carried values change places, each round's sum is stacked, and the loop ends above a limit.
#[test]
fn loop_that_swaps_and_stacks() {
    let body = block(
        vec![
            info("round", DataType::Int64, &[]),
            info("go", DataType::Bool, &[]),
            info("a", DataType::Float, &["1"]),
            info("b", DataType::Float, &["1"]),
        ],
        vec![
            node("Add", &["a", "b"], &["sum"], vec![]),
            node("Identity", &["b"], &["next_a"], vec![]),
            node("ReduceMax", &["sum"], &["largest"], vec![int("keepdims", 0)]),
            node("Less", &["largest", "limit"], &["more"], vec![]),
        ],
        vec![
            info("more", DataType::Bool, &[]),
            info("next_a", DataType::Float, &["1"]),
            info("sum", DataType::Float, &["1"]),
            info("sum", DataType::Float, &["1"]),
        ],
    );
    let rounds = node("Loop", &["most", "", "zero", "one"], &["fa", "fb", "all"], vec![region("body", body)]);
    let inputs = vec![
        info("most", DataType::Int64, &[]),
        info("zero", DataType::Float, &["1"]),
        info("one", DataType::Float, &["1"]),
        info("limit", DataType::Float, &[]),
    ];
    let outputs = vec![
        info("fa", DataType::Float, &["1"]),
        info("fb", DataType::Float, &["1"]),
        info("all", DataType::Float, &["R", "1"]),
    ];
    let mut session = session(block(inputs, vec![rounds], outputs));
    let mut run = |most: i64, limit: f32| {
        session
            .run(&[
                Tensor::i64([], &[most]),
                Tensor::f32([1], &[0.0]),
                Tensor::f32([1], &[1.0]),
                Tensor::f32([], &[limit]),
            ])
            .unwrap()
    };
    let outputs = run(100, 50.0);
    assert_eq!(outputs[2], Tensor::f32([9, 1], &[1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 34.0, 55.0]));
    assert_eq!(outputs[0], Tensor::f32([1], &[34.0]));
    assert_eq!(outputs[1], Tensor::f32([1], &[55.0]));
    assert_eq!(run(3, 50.0)[2], Tensor::f32([3, 1], &[1.0, 2.0, 3.0]));
    assert_eq!(run(0, 50.0)[2].shape, [0, 1]);
}

/// A shape that is an input: dims are bound when the run reads it.
#[test]
fn reshape_to_a_shape_that_is_given() {
    let reshape = node("Reshape", &["x", "s"], &["r"], vec![]);
    let last = node("Relu", &["r"], &["y"], vec![]);
    let inputs = vec![info("x", DataType::Float, &["N"]), info("s", DataType::Int64, &["2"])];
    let mut session = session(block(inputs, vec![reshape, last], vec![info("y", DataType::Float, &["a", "b"])]));
    let x = || Tensor::f32([6], &[1.0, -2.0, 3.0, -4.0, 5.0, -6.0]);
    let y = |shape: [usize; 2]| Tensor::f32(shape, &[1.0, 0.0, 3.0, 0.0, 5.0, 0.0]);
    assert_eq!(session.run(&[x(), Tensor::i64([2], &[2, 3])]).unwrap(), [y([2, 3])]);
    assert_eq!(session.run(&[x(), Tensor::i64([2], &[-1, 1])]).unwrap(), [y([6, 1])]);
    let error = session.run(&[x(), Tensor::i64([2], &[4, 2])]).unwrap_err().to_string();
    assert!(error.contains("'reshape'") && error.contains('6') && error.contains('8'), "{error}");
}
