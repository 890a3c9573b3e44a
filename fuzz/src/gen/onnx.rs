//! ONNX models with mistakes in them: fields of the messages, or bytes of the file.

use super::bytes::{mutate, number};
use arbitrary::{Result, Unstructured};
use prost::Message;
use smalti_compiler::onnx::tensor_proto::DataLocation;
use smalti_compiler::onnx::tensor_shape_proto::{Dimension, dimension};
use smalti_compiler::onnx::type_proto;
use smalti_compiler::onnx::{
    AttributeProto, GraphProto, ModelProto, NodeProto, StringStringEntryProto, TensorProto, TypeProto, ValueInfoProto,
};

/// Attributes that operations read, so that many that are added mean something.
const ATTRIBUTES: [&str; 34] = [
    "axis",
    "axes",
    "perm",
    "pads",
    "strides",
    "dilations",
    "kernel_shape",
    "group",
    "auto_pad",
    "ceil_mode",
    "count_include_pad",
    "keepdims",
    "noop_with_empty_axes",
    "to",
    "split",
    "num_outputs",
    "start",
    "end",
    "starts",
    "ends",
    "allowzero",
    "shape",
    "mode",
    "value",
    "value_int",
    "value_ints",
    "value_float",
    "epsilon",
    "transA",
    "transB",
    "alpha",
    "min",
    "max",
    "direction",
];

/// Places of data that no model may read, or that are not there.
const LOCATIONS: [&str; 9] =
    ["README.md", "", ".", "..", "../README.md", "a/../../README.md", "/etc/passwd", "none.bin", "README.md\0"];

/// A change of one graph; the last one is a graph of another model.
type Change = fn(&mut Unstructured<'_>, &mut GraphProto, &GraphProto) -> Result<()>;

const CHANGES: [Change; 14] = [
    operation, operand, operand, result, attribute, attribute, nodes, chain, nest, tensor, tensor, types, interface,
    graft,
];

/// Whether a file belongs into a corpus: it is none that is refused for its operations alone, whatever else is in it.
pub fn reaches_the_importer(bytes: &[u8]) -> bool {
    smalti_compiler::Model::decode(bytes, "", std::path::Path::new("")).map_or(true, |m| m.missing().is_empty())
}

/// A model of the corpus with one to six changes.
///
/// # Errors
/// Too few bytes, or no corpus.
pub fn case(u: &mut Unstructured<'_>, corpus: &[Vec<u8>]) -> Result<Vec<u8>> {
    let (mut bytes, donor) = (u.choose(corpus)?.clone(), u.choose(corpus)?);
    let mut raw = u.ratio(1, 5)?;
    match ModelProto::decode(&bytes[..]) {
        Ok(mut model) if !raw => {
            let other = ModelProto::decode(&donor[..]).ok().and_then(|m| m.graph).unwrap_or_default();
            let few = if u.ratio(3, 4)? { 2 } else { 6 };
            for _ in 0..u.int_in_range(1..=few)? {
                change(u, &mut model, &other)?;
            }
            bytes = model.encode_to_vec();
            raw = u.ratio(1, 16)?;
        }
        _ => raw = true,
    }
    if raw {
        mutate(u, &mut bytes, donor)?;
    }
    Ok(bytes)
}

fn change(u: &mut Unstructured<'_>, model: &mut ModelProto, donor: &GraphProto) -> Result<()> {
    match u.int_in_range(0..=40u8)? {
        0 => model.graph = None,
        1 => match u.choose_index(model.opset_import.len()) {
            Ok(i) => model.opset_import[i].version = Some(u.int_in_range(-1..=30)?),
            Err(_) => model.opset_import.push(Default::default()),
        },
        _ => {
            let change = *u.choose(&CHANGES)?;
            if let Some(graph) = &mut model.graph {
                let path = path(u)?;
                change(u, inner(&path, graph), donor)?;
            }
        }
    }
    Ok(())
}

/// How many graphs to go down, and which of them to take.
fn path(u: &mut Unstructured<'_>) -> Result<Vec<usize>> {
    let mut path = Vec::new();
    while path.len() < 30 && u.ratio(1, 2)? {
        path.push(u.int_in_range(0..=7)?);
    }
    Ok(path)
}

/// A graph inside of `graph`, as deep as `path` is and there are any.
fn inner<'a>(path: &[usize], graph: &'a mut GraphProto) -> &'a mut GraphProto {
    let count = graph.node.iter().flat_map(|n| &n.attribute).filter(|a| a.g.is_some()).count();
    match path {
        [step, rest @ ..] if count > 0 => {
            let mut graphs = graph.node.iter_mut().flat_map(|n| &mut n.attribute).filter_map(|a| a.g.as_mut());
            inner(rest, graphs.nth(step % count).expect("it was counted"))
        }
        _ => graph,
    }
}

fn place<T>(u: &mut Unstructured<'_>, list: &[T]) -> Option<usize> {
    u.choose_index(list.len()).ok()
}

/// A name of a value of the graph, or of none.
fn name(u: &mut Unstructured<'_>, graph: &GraphProto) -> Result<String> {
    let named = [
        graph.node.iter().flat_map(|n| &n.output).map(String::as_str).collect::<Vec<_>>(),
        graph.initializer.iter().map(TensorProto::name).collect(),
        graph.input.iter().map(ValueInfoProto::name).collect(),
        graph.node.iter().flat_map(|n| &n.input).map(String::as_str).collect(),
    ];
    let list = u.choose(&named)?;
    Ok(match place(u, list) {
        Some(i) if !u.ratio(1, 30)? => list[i].to_owned(),
        _ => (*u.choose(&["", "nowhere"])?).to_owned(),
    })
}

/// A node becomes another operation.
fn operation(u: &mut Unstructured<'_>, graph: &mut GraphProto, _: &GraphProto) -> Result<()> {
    if let Some(i) = place(u, &graph.node) {
        graph.node[i].op_type = Some((*u.choose(&smalti_compiler::ops::supported())?).to_owned());
    }
    Ok(())
}

/// An input of a node is another, goes, comes twice, or is absent.
fn operand(u: &mut Unstructured<'_>, graph: &mut GraphProto, _: &GraphProto) -> Result<()> {
    let other = name(u, graph)?;
    let Some(n) = place(u, &graph.node) else { return Ok(()) };
    let inputs = &mut graph.node[n].input;
    let Some(i) = place(u, inputs) else {
        inputs.push(other);
        return Ok(());
    };
    match u.int_in_range(0..=6u8)? {
        0 => drop(inputs.remove(i)),
        1 => inputs.push(inputs[i].clone()),
        2 => inputs.push(other),
        3 => inputs.swap(0, i),
        _ => inputs[i] = other,
    }
    Ok(())
}

/// An output of a node is named otherwise, goes, or is one more.
fn result(u: &mut Unstructured<'_>, graph: &mut GraphProto, _: &GraphProto) -> Result<()> {
    let other = name(u, graph)?;
    let Some(n) = place(u, &graph.node) else { return Ok(()) };
    let outputs = &mut graph.node[n].output;
    match place(u, outputs) {
        Some(i) if u.ratio(1, 3)? => outputs[i] = other,
        Some(i) if u.ratio(1, 2)? => drop(outputs.remove(i)),
        _ => outputs.push(format!("more {}", u.int_in_range(0..=5)?)),
    }
    Ok(())
}

/// An attribute has another value, name or type, goes, or comes.
fn attribute(u: &mut Unstructured<'_>, graph: &mut GraphProto, _: &GraphProto) -> Result<()> {
    let Some(n) = place(u, &graph.node) else { return Ok(()) };
    let list = &mut graph.node[n].attribute;
    let i = match place(u, list) {
        Some(i) if !u.ratio(1, 3)? => i,
        _ => {
            let name = Some((*u.choose(&ATTRIBUTES)?).to_owned());
            list.push(AttributeProto { name, ..Default::default() });
            list.len() - 1
        }
    };
    if u.ratio(1, 12)? {
        list.remove(i);
        return Ok(());
    }
    let a = &mut list[i];
    match u.int_in_range(0..=9u8)? {
        0 => a.name = Some((*u.choose(&ATTRIBUTES)?).to_owned()),
        1 => a.f = Some(f32::from_bits(u.arbitrary()?)),
        2 => a.s = Some((*u.choose(&["", "VALID", "SAME_UPPER", "SAME_LOWER", "NOTSET", "edge"])?).into()),
        3 | 4 => a.i = Some(number(u)?),
        5 => a.ints = numbers(u)?,
        6 => match &mut a.t {
            Some(t) => change_tensor(u, t)?,
            t => *t = Some(integers(u)?),
        },
        7 if !a.ints.is_empty() => a.ints.push(number(u)?),
        _ => match place(u, &a.ints) {
            Some(k) => a.ints[k] = number(u)?,
            None => a.i = Some(number(u)?),
        },
    }
    Ok(())
}

fn numbers(u: &mut Unstructured<'_>) -> Result<Vec<i64>> {
    let count = if u.ratio(1, 20)? { 70 } else { u.int_in_range(0..=8)? };
    (0..count).map(|_| number(u)).collect()
}

/// Nodes go, move, or come twice.
fn nodes(u: &mut Unstructured<'_>, graph: &mut GraphProto, _: &GraphProto) -> Result<()> {
    let (Some(a), Some(b)) = (place(u, &graph.node), place(u, &graph.node)) else { return Ok(()) };
    match u.int_in_range(0..=3u8)? {
        0 => drop(graph.node.remove(a)),
        1 => graph.node.swap(a, b),
        2 => graph.node.insert(b, graph.node[a].clone()),
        _ => graph.node.truncate(a),
    }
    Ok(())
}

/// A node is applied many times, each to the one before it: once, or in the place of every input.
fn chain(u: &mut Unstructured<'_>, graph: &mut GraphProto, _: &GraphProto) -> Result<()> {
    let Some(at) = place(u, &graph.node) else { return Ok(()) };
    let node = graph.node[at].clone();
    let (Some(first), Some(out)) = (node.input.first().cloned(), node.output.first().cloned()) else { return Ok(()) };
    let times = if u.ratio(1, 8)? { 300 } else { u.int_in_range(2..=40)? };
    let every = u.ratio(1, 2)?;
    let mut before = first.clone();
    let mut links = Vec::new();
    for k in 0..times {
        let mut link = node.clone();
        let count = if every { link.input.len() } else { 1 };
        link.input[..count].iter_mut().filter(|i| every || **i == first).for_each(|i| *i = before.clone());
        before = if k + 1 == times { out.clone() } else { format!("{out}~{k}") };
        link.output = vec![before.clone()];
        links.push(link);
    }
    graph.node.splice(at..=at, links);
    Ok(())
}

/// A node goes into a branch or a loop, which may go into another one.
fn nest(u: &mut Unstructured<'_>, graph: &mut GraphProto, _: &GraphProto) -> Result<()> {
    let Some(at) = place(u, &graph.node) else { return Ok(()) };
    let condition = name(u, graph)?;
    let carried = name(u, graph)?;
    let depth = if u.ratio(1, 8)? { u.int_in_range(20..=60)? } else { u.int_in_range(1..=4)? };
    let mut node = graph.node[at].clone();
    for level in 0..depth {
        let outputs = node.output.clone();
        let value = |n: &String| ValueInfoProto { name: Some(n.clone()), ..Default::default() };
        let copy = |from: &str, to: &str| NodeProto {
            op_type: Some("Identity".to_owned()),
            input: vec![from.to_owned()],
            output: vec![to.to_owned()],
            ..Default::default()
        };
        let region = |name: &str, g: GraphProto| AttributeProto {
            name: Some(name.to_owned()),
            g: Some(g),
            ..Default::default()
        };
        let inside = GraphProto { node: vec![node], output: outputs.iter().map(value).collect(), ..Default::default() };
        node = if u.ratio(2, 3)? {
            let other = if level < 4 && u.ratio(1, 8)? {
                inside.clone()
            } else {
                let node = outputs.iter().map(|o| copy(&carried, o)).collect();
                GraphProto { node, output: inside.output.clone(), ..Default::default() }
            };
            NodeProto {
                op_type: Some("If".to_owned()),
                input: vec![condition.clone()],
                output: outputs,
                attribute: vec![region("then_branch", inside), region("else_branch", other)],
                ..Default::default()
            }
        } else {
            let own = [format!("round{level}"), format!("go{level}"), format!("carried{level}")];
            let mut body = inside;
            body.input = own.iter().map(value).collect();
            let on = format!("on{level}");
            body.node.insert(0, copy(&own[1], &on));
            body.output.insert(0, value(&on));
            NodeProto {
                op_type: Some("Loop".to_owned()),
                input: vec![String::new(), condition.clone(), carried.clone()],
                output: outputs,
                attribute: vec![region("body", body)],
                ..Default::default()
            }
        };
    }
    graph.node[at] = node;
    Ok(())
}

/// A tensor is changed, goes, or a list of integers comes in the place of an input.
fn tensor(u: &mut Unstructured<'_>, graph: &mut GraphProto, _: &GraphProto) -> Result<()> {
    if u.ratio(1, 3)? {
        let Some(n) = place(u, &graph.node) else { return Ok(()) };
        let Some(i) = place(u, &graph.node[n].input) else { return Ok(()) };
        let name = format!("integers {}", graph.initializer.len());
        graph.initializer.push(TensorProto { name: Some(name.clone()), ..integers(u)? });
        graph.node[n].input[i] = name;
        return Ok(());
    }
    let constants = graph.node.iter_mut().flat_map(|n| &mut n.attribute).filter_map(|a| a.t.as_mut());
    let mut all: Vec<&mut TensorProto> = graph.initializer.iter_mut().chain(constants).collect();
    match u.choose_index(all.len()) {
        Ok(i) => change_tensor(u, all[i]),
        Err(_) => Ok(()),
    }
}

/// Integers such as sizes and axes are.
fn integers(u: &mut Unstructured<'_>) -> Result<TensorProto> {
    let values = numbers(u)?;
    let dims = if values.len() == 1 && u.ratio(1, 2)? { vec![] } else { vec![values.len() as i64] };
    let raw: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    Ok(TensorProto { dims, data_type: Some(7), raw_data: Some(raw.into()), ..Default::default() })
}

fn change_tensor(u: &mut Unstructured<'_>, t: &mut TensorProto) -> Result<()> {
    match u.int_in_range(0..=8u8)? {
        0 => t.data_type = Some(u.int_in_range(-1..=25)?),
        1 => t.dims.push(number(u)?),
        2 => drop(t.dims.pop()),
        3 => t.raw_data = None,
        4 => {
            let entry =
                |key: &str, value: String| StringStringEntryProto { key: Some(key.to_owned()), value: Some(value) };
            t.data_location = Some(DataLocation::External as i32);
            t.external_data = vec![entry("location", (*u.choose(&LOCATIONS)?).to_owned())];
            for key in ["offset", "length"] {
                if u.ratio(1, 2)? {
                    t.external_data.push(entry(key, number(u)?.to_string()));
                }
            }
        }
        5 => match place(u, &t.dims) {
            Some(d) => t.dims[d] = number(u)?,
            None => t.dims.push(number(u)?),
        },
        // A tensor of no elements may say that its other dims are as large as they like.
        6 => {
            t.dims = vec![0, number(u)?, number(u)?];
            t.raw_data = Some(Default::default());
        }
        // Elements of a tensor of integers, which may be sizes.
        _ => {
            let mut raw = t.raw_data.as_ref().map(|r| r.to_vec()).unwrap_or_default();
            if let (Some(7), Some(i)) = (t.data_type, place(u, &raw)) {
                let value = number(u)?;
                raw.iter_mut().skip(i / 8 * 8).zip(value.to_le_bytes()).for_each(|(r, v)| *r = v);
                t.raw_data = Some(raw.into());
            } else if let Some(i) = place(u, &t.int64_data) {
                t.int64_data[i] = number(u)?;
            } else {
                raw.pop();
                t.raw_data = Some(raw.into());
            }
        }
    }
    Ok(())
}

/// The type of an input is another.
fn types(u: &mut Unstructured<'_>, graph: &mut GraphProto, _: &GraphProto) -> Result<()> {
    let Some(i) = place(u, &graph.input) else { return Ok(()) };
    let ty = &mut graph.input[i].r#type;
    let Some(type_proto::Value::TensorType(tensor)) = ty.as_mut().and_then(|t| t.value.as_mut()) else {
        *ty = None;
        return Ok(());
    };
    let dim = |value| Dimension { value: Some(value), ..Default::default() };
    let new = match u.int_in_range(0..=2u8)? {
        0 => dim(dimension::Value::DimParam((*u.choose(&["N", "M", "?", "N.1", "a b"])?).to_owned())),
        1 => Dimension::default(),
        _ => dim(dimension::Value::DimValue(number(u)?)),
    };
    match (u.int_in_range(0..=9u8)?, &mut tensor.shape) {
        (0, _) => tensor.elem_type = Some(u.int_in_range(-1..=25)?),
        (1, shape) => *shape = None,
        (2, Some(shape)) => drop(shape.dim.pop()),
        (3, Some(shape)) => shape.dim.push(new),
        (4, _) => {
            let inner = TypeProto { value: ty.take().and_then(|t| t.value), ..Default::default() };
            let sequence = type_proto::Sequence { elem_type: Some(Box::new(inner)) };
            *ty = Some(TypeProto {
                value: Some(type_proto::Value::SequenceType(Box::new(sequence))),
                ..Default::default()
            });
        }
        (_, Some(shape)) => match place(u, &shape.dim) {
            Some(d) => shape.dim[d] = new,
            None => shape.dim.push(new),
        },
        (_, None) => {}
    }
    Ok(())
}

/// Inputs, outputs and initializers of the graph are named otherwise, go, or come twice.
fn interface(u: &mut Unstructured<'_>, graph: &mut GraphProto, _: &GraphProto) -> Result<()> {
    let other = name(u, graph)?;
    let pick = u.int_in_range(0..=6u8)?;
    let list = if u.ratio(1, 2)? { &mut graph.input } else { &mut graph.output };
    match (pick, place(u, list)) {
        (0, _) => {
            if let Some(i) = place(u, &graph.initializer) {
                graph.initializer.remove(i);
            }
        }
        (1, _) => {
            if let Some(i) = place(u, &graph.initializer) {
                graph.initializer[i].name = Some(other);
            }
        }
        (2, Some(i)) => drop(list.remove(i)),
        (3, Some(i)) => list[i].name = Some(other),
        (4, Some(i)) => list.push(list[i].clone()),
        _ => graph.output.push(ValueInfoProto { name: Some(other), ..Default::default() }),
    }
    Ok(())
}

/// Nodes and tensors of another model come in.
fn graft(u: &mut Unstructured<'_>, graph: &mut GraphProto, donor: &GraphProto) -> Result<()> {
    let Some(from) = place(u, &donor.node) else { return Ok(()) };
    let at = u.int_in_range(0..=graph.node.len())?;
    let end = (from + u.int_in_range(1..=6)?).min(donor.node.len());
    let mut come = donor.node[from..end].to_vec();
    for node in &mut come {
        for i in 0..node.input.len() {
            match donor.initializer.iter().find(|t| t.name() == node.input[i]) {
                Some(t) if t.encoded_len() < 1 << 16 && !u.ratio(1, 4)? => {
                    let new = graph.initializer.iter().all(|own| own.name() != t.name());
                    graph.initializer.extend(new.then(|| t.clone()));
                }
                _ if u.ratio(2, 3)? => node.input[i] = name(u, graph)?,
                _ => {}
            }
        }
    }
    graph.output.extend(
        come.iter()
            .flat_map(|n| n.output.first())
            .take(1)
            .map(|o| ValueInfoProto { name: Some(o.clone()), ..Default::default() }),
    );
    graph.node.splice(at..at, come);
    Ok(())
}
