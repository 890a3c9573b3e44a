//! Operations that move or rename elements: views where they can be, copies else.

use super::{Lowering, OnnxOp};
use crate::import::{ImportError, NodeImport, unsupported};
use crate::lower::{Loc, Lower, LowerError};
use smalti_dims::{Dim, product};
use smalti_graph::ops::from_end;
use smalti_graph::{Attr, Attrs, Elem, Node, Tensor, ValueId};

pub(super) const OPS: &[OnnxOp] = &[
    OnnxOp { name: "Constant", import: constant },
    OnnxOp { name: "ConstantOfShape", import: constant_of_shape },
    OnnxOp {
        name: "Identity",
        import: |c| {
            let x = c.input(0)?;
            Ok(vec![super::elementwise::alias(c, x)?])
        },
    },
    OnnxOp {
        name: "Shape",
        import: |c| {
            let x = c.input(0)?;
            let mut attrs = Attrs::none().with("start", Attr::Int(c.int("start", 0)));
            if c.has("end") {
                attrs = attrs.with("end", Attr::Int(c.int("end", 0)));
            }
            Ok(vec![c.one("shape", attrs, &[x])?])
        },
    },
    OnnxOp {
        name: "Size",
        import: |c| {
            let x = c.input(0)?;
            let shape = c.one("shape", Attrs::none(), &[x])?;
            Ok(vec![c.one("reduce_prod", Attrs::none().with("keepdims", Attr::Int(0)), &[shape])?])
        },
    },
    OnnxOp {
        name: "Reshape",
        import: |c| {
            let x = c.input(0)?;
            let shape = match c.ints("shape") {
                Some(shape) => c.constant(Tensor::i64([shape.len()], &shape)),
                None => c.input(1)?,
            };
            let attrs = Attrs::none().with("allowzero", Attr::Int(c.int("allowzero", 0)));
            Ok(vec![c.one("reshape", attrs, &[x, shape])?])
        },
    },
    OnnxOp { name: "Squeeze", import: |c| with_axes(c, "squeeze") },
    OnnxOp { name: "Unsqueeze", import: |c| with_axes(c, "unsqueeze") },
    OnnxOp {
        name: "Flatten",
        import: |c| {
            let x = c.input(0)?;
            Ok(vec![c.one("flatten", Attrs::none().with("axis", Attr::Int(c.int("axis", 1))), &[x])?])
        },
    },
    OnnxOp {
        name: "Expand",
        import: |c| {
            let inputs = [c.input(0)?, c.input(1)?];
            Ok(vec![c.one("expand", Attrs::none(), &inputs)?])
        },
    },
    OnnxOp {
        name: "Transpose",
        import: |c| {
            let x = c.input(0)?;
            let perm = c.ints("perm").unwrap_or_default();
            Ok(vec![c.one("transpose", Attrs::none().with("perm", Attr::Ints(perm)), &[x])?])
        },
    },
    OnnxOp { name: "Slice", import: slice },
    OnnxOp {
        name: "Gather",
        import: |c| {
            let inputs = [c.input(0)?, c.input(1)?];
            if c.fact(inputs[1]).known.is_none() {
                return unsupported("indices that are not known when the model is compiled");
            }
            Ok(vec![c.one("gather", Attrs::none().with("axis", Attr::Int(c.int("axis", 0))), &inputs)?])
        },
    },
    OnnxOp { name: "Pad", import: pad },
];

fn constant(c: &mut NodeImport<'_, '_>) -> Result<Vec<ValueId>, ImportError> {
    let tensor = if let Some(tensor) = c.tensor("value")? {
        tensor
    } else if c.has("value_float") {
        Tensor::f32([], &[c.float("value_float", 0.0)])
    } else if c.has("value_int") {
        Tensor::i64([], &[c.int("value_int", 0)])
    } else if let Some(values) = c.floats("value_floats") {
        Tensor::f32([values.len()], &values)
    } else if let Some(values) = c.ints("value_ints") {
        Tensor::i64([values.len()], &values)
    } else {
        return unsupported("a constant that is no tensor");
    };
    Ok(vec![c.constant(tensor)])
}

fn constant_of_shape(c: &mut NodeImport<'_, '_>) -> Result<Vec<ValueId>, ImportError> {
    let shape = c.input(0)?;
    let value = c.tensor("value")?.unwrap_or(Tensor::f32([1], &[0.0]));
    if value.len() != 1 {
        return Err("attribute 'value' must have one element".into());
    }
    let value = c.constant(Tensor::new(value.elem, [], value.bytes));
    Ok(vec![c.one("expand", Attrs::none(), &[value, shape])?])
}

fn with_axes(c: &mut NodeImport<'_, '_>, op: &str) -> Result<Vec<ValueId>, ImportError> {
    let x = c.input(0)?;
    let axes = c.axes(1)?.unwrap_or_default();
    Ok(vec![c.one(op, Attrs::none().with("axes", Attr::Ints(axes)), &[x])?])
}

fn slice(c: &mut NodeImport<'_, '_>) -> Result<Vec<ValueId>, ImportError> {
    if c.opset() >= 10 {
        let inputs: Vec<Option<ValueId>> = (0..c.count()).map(|i| c.optional(i)).collect();
        return c.emit(&smalti_graph::ops::slice::SLICE, Attrs::none(), inputs, Vec::new());
    }
    let x = c.input(0)?;
    let list = |name: &str| c.ints(name).ok_or(ImportError::Node(format!("attribute '{name}' is missing")));
    let (starts, ends) = (list("starts")?, list("ends")?);
    let axes = c.ints("axes").unwrap_or((0..starts.len() as i64).collect());
    let lists = [starts, ends, axes].map(|l| c.constant(Tensor::i64([l.len()], &l)));
    Ok(vec![c.one("slice", Attrs::none(), &[x, lists[0], lists[1], lists[2]])?])
}

fn pad(c: &mut NodeImport<'_, '_>) -> Result<Vec<ValueId>, ImportError> {
    let x = c.input(0)?;
    let (rank, elem) = (c.rank(x)?, c.elem(x)?);
    let mode = c.text("mode");
    if !matches!(mode.as_str(), "" | "constant") {
        return unsupported(format!("mode '{mode}'"));
    }
    let given = match c.optional(1) {
        Some(id) => c.ints_of(id, "pads")?,
        None => c.ints("pads").or(c.ints("paddings")).ok_or("attribute 'pads' is missing")?,
    };
    let axes = match c.optional(3) {
        Some(id) => smalti_graph_axes(&c.ints_of(id, "axes")?, rank)?,
        None => (0..rank).collect(),
    };
    if given.len() != 2 * axes.len() {
        return Err(format!("{} pads for {} axes", given.len(), axes.len()).into());
    }
    let mut pads = vec![0; 2 * rank];
    for (i, &d) in axes.iter().enumerate() {
        (pads[d], pads[d + rank]) = (given[i], given[i + axes.len()]);
    }
    let mut attrs = Attrs::none().with("pads", Attr::Ints(pads));
    if let Some(value) = c.optional(2) {
        let tensor =
            c.tensor_of(value).ok_or(ImportError::Unsupported("a padding value that is no constant".to_owned()))?;
        attrs = attrs.with("value", Attr::Tensor(tensor));
    } else if c.has("value") {
        let value = Tensor::f32([], &[c.float("value", 0.0)]);
        if elem != Elem::F32 {
            return unsupported(format!("a padding value for {elem} as an attribute"));
        }
        attrs = attrs.with("value", Attr::Tensor(value.into()));
    }
    Ok(vec![c.one("pad", attrs, &[x])?])
}

/// Axes in the order in which they are given.
fn smalti_graph_axes(list: &[i64], rank: usize) -> Result<Vec<usize>, ImportError> {
    Ok(list.iter().map(|&a| smalti_graph::ops::axis(a, rank)).collect::<Result<_, _>>()?)
}

pub(super) const LOWERINGS: &[(&str, Lowering)] = &[
    ("constant", |l, node| {
        let tensor = node.attrs.tensor("value").ok_or("a constant without a value")?;
        let loc = l.constant(tensor, &node.name);
        l.set(node.outputs[0], loc);
        Ok(())
    }),
    ("dims", |l, node| l.dims(node)),
    ("shape", |l, node| l.dims(node)),
    ("reshape", renamed),
    ("squeeze", renamed),
    ("unsqueeze", renamed),
    ("flatten", renamed),
    ("expand", |l, node| {
        let x = input(node)?;
        let (shape, to) = (l.shape(x)?, l.shape(node.outputs[0])?);
        let loc = l.loc(x)?.broadcast(&shape, &to);
        l.set(node.outputs[0], loc);
        Ok(())
    }),
    ("transpose", |l, node| {
        let x = input(node)?;
        let from = l.loc(x)?;
        let order = smalti_graph::ops::transpose::order(&node.attrs, from.strides.len())?;
        let strides = order.iter().map(|&d| from.strides[d].clone()).collect();
        l.set(node.outputs[0], Loc { strides, ..from });
        Ok(())
    }),
    ("slice", |l, node| {
        let x = input(node)?;
        let mut loc = l.loc(x)?;
        for (d, taken) in l.taken(node)?.into_iter().enumerate() {
            loc.offset = loc.offset.clone() + taken.start * loc.strides[d].clone();
            loc.strides[d] = loc.strides[d].clone() * Dim::from(taken.step);
        }
        l.set(node.outputs[0], loc);
        Ok(())
    }),
    ("gather", gather),
    ("pad", |l, node| {
        let x = input(node)?;
        let (shape, elem) = (l.shape(x)?, l.elem(x)?);
        let from = l.loc(x)?;
        let value = node.attrs.tensor("value").map_or(0.0, |t| t.get(0));
        let to = l.padded(&node.name, elem, &shape, &from, node.attrs.ints("pads"), value);
        l.set(node.outputs[0], to);
        Ok(())
    }),
];

fn input(node: &Node) -> Result<ValueId, LowerError> {
    Ok(node.inputs.first().copied().flatten().ok_or("there is no input")?)
}

/// The same elements under another shape: a view of elements that lie densely.
fn renamed(l: &mut Lower<'_>, node: &Node) -> Result<(), LowerError> {
    let (x, out) = (input(node)?, node.outputs[0]);
    let from = l.contiguous(&node.name, x)?;
    let shape = l.shape(out)?;
    l.set(out, Loc { strides: crate::lower::dense(&shape), ..from });
    Ok(())
}

/// Known indices: one is a view, more are copies one after the other.
fn gather(l: &mut Lower<'_>, node: &Node) -> Result<(), LowerError> {
    let (x, out) = (input(node)?, node.outputs[0]);
    let places = node.inputs[1].ok_or("there are no indices")?;
    let (shape, elem) = (l.shape(x)?, l.elem(x)?);
    let at = smalti_graph::ops::axis(node.attrs.int("axis", 0), shape.len())?;
    let known = l.known(places).ok_or("indices that are not known")?;
    let known: Vec<Dim> = known.iter().map(|p| from_end(p, &shape[at], l.is_size(p))).collect();
    let from = l.loc(x)?;
    let part = |p: &Dim| {
        let mut loc = from.clone();
        loc.offset = loc.offset.clone() + p.clone() * loc.strides.remove(at);
        loc
    };
    if l.shape(places)?.is_empty() {
        let loc = part(&known[0]);
        l.set(out, loc);
        return Ok(());
    }
    let to = l.fresh(elem, &l.shape(out)?);
    let rest: Vec<Dim> = shape.iter().enumerate().filter(|d| d.0 != at).map(|d| d.1.clone()).collect();
    let inner = product(&shape[at + 1..]);
    let dense = to.strides.clone();
    let index_rank = l.shape(places)?.len();
    if known.is_empty() {
        // Of no parts nothing is copied, but what comes later reads what this step has written.
        let (empty, nothing) =
            (l.shape(out)?, Loc { strides: vec![Dim::from(0i64); to.strides.len()], ..from.clone() });
        l.copy(&node.name, elem, &empty, &nothing, &to);
    }
    for (i, p) in known.iter().enumerate() {
        let strides = [&dense[..at], &dense[at + index_rank..]].concat();
        let place = Loc { offset: to.offset.clone() + inner.clone() * Dim::from(i), strides, ..to.clone() };
        let part = part(p);
        l.copy(&node.name, elem, &rest, &part, &place);
    }
    l.set(out, to);
    Ok(())
}
