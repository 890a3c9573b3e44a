//! Softmax and LogSoftmax.

use super::{Lowering, OnnxOp};
use crate::import::{ImportError, NodeImport};
use crate::lower::{Lower, LowerError};
use smalti_codegen::Step;
use smalti_dims::Dim;
use smalti_graph::ops::softmax::nest;
use smalti_graph::{Attr, Attrs, Node, ValueId};

pub(super) const OPS: &[OnnxOp] = &[
    OnnxOp { name: "Softmax", import: |c| import(c, "softmax") },
    OnnxOp { name: "LogSoftmax", import: |c| import(c, "log_softmax") },
];

fn import(c: &mut NodeImport<'_, '_>, op: &str) -> Result<Vec<ValueId>, ImportError> {
    let x = c.input(0)?;
    let rank = c.rank(x)?;
    let axis = |a: i64| Attrs::none().with("axis", Attr::Int(a));
    if c.opset() >= 13 {
        return Ok(vec![c.one(op, axis(c.int("axis", -1)), &[x])?]);
    }
    // Before opset 13 all dims from `axis` on were one.
    let at = smalti_graph::ops::axis(c.int("axis", 1), rank.max(1))?;
    if at + 1 == rank {
        return Ok(vec![c.one(op, axis(-1), &[x])?]);
    }
    let flat = c.one("flatten", axis(at as i64), &[x])?;
    let y = c.one(op, axis(1), &[flat])?;
    let shape = c.one("shape", Attrs::none(), &[x])?;
    Ok(vec![c.one("reshape", Attrs::none(), &[y, shape])?])
}

pub(super) const LOWERINGS: &[(&str, Lowering)] =
    &[("softmax", |l, node| lower(l, node, false)), ("log_softmax", |l, node| lower(l, node, true))];

fn lower(l: &mut Lower<'_>, node: &Node, log: bool) -> Result<(), LowerError> {
    let (x, out) = (node.inputs[0].ok_or("there is no input")?, node.outputs[0]);
    let (mut shape, elem) = (l.shape(x)?, l.elem(x)?);
    let mut from = l.loc(x)?;
    let to = l.fresh(elem, &shape);
    let mut written = to.strides.clone();
    while shape.len() < 2 {
        shape.insert(0, Dim::from(1i64));
        from.strides.insert(0, Dim::from(0i64));
        written.insert(0, Dim::from(0i64));
    }
    let rank = l.shape(x)?.len().max(1);
    let at = smalti_graph::ops::axis(node.attrs.int("axis", -1), rank)? + shape.len() - rank;
    let last = |list: &[Dim]| {
        let mut list = list.to_vec();
        let d = list.remove(at);
        list.push(d);
        list
    };
    let (read, written) = (last(&from.strides), last(&written));
    let unit = read.last().is_some_and(|s| s.is(1)) && written.last().is_some_and(|s| s.is(1));
    let nest = nest(log, elem, shape.len() - 1, if unit { Step::Unit } else { Step::Any });
    l.dispatch(&node.name, nest, last(&shape), vec![from.view(read), to.view(written)]);
    l.set(out, to);
    Ok(())
}
