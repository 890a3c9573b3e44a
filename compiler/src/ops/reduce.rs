//! Reductions.

use super::{Lowering, OnnxOp};
use crate::import::{ImportError, NodeImport};
use crate::lower::{Lower, LowerError};
use smalti_codegen::Step;
use smalti_dims::{Dim, product};
use smalti_graph::ops::reduce::{Kind, folded, kind, nest};
use smalti_graph::{Attr, Attrs, Elem, Node, ValueId};

pub(super) const OPS: &[OnnxOp] = &[
    OnnxOp { name: "ReduceSum", import: |c| Ok(vec![reduced(c, "reduce_sum", None)?]) },
    OnnxOp { name: "ReduceMean", import: |c| Ok(vec![reduced(c, "reduce_mean", None)?]) },
    OnnxOp { name: "ReduceMax", import: |c| Ok(vec![reduced(c, "reduce_max", None)?]) },
    OnnxOp { name: "ReduceMin", import: |c| Ok(vec![reduced(c, "reduce_min", None)?]) },
    OnnxOp { name: "ReduceProd", import: |c| Ok(vec![reduced(c, "reduce_prod", None)?]) },
    OnnxOp {
        name: "ReduceL1",
        import: |c| {
            let x = c.input(0)?;
            let x = c.one("abs", Attrs::none(), &[x])?;
            Ok(vec![reduced(c, "reduce_sum", Some(x))?])
        },
    },
    OnnxOp { name: "ReduceSumSquare", import: |c| Ok(vec![squares(c)?]) },
    OnnxOp {
        name: "ReduceL2",
        import: |c| {
            let sum = squares(c)?;
            Ok(vec![c.one("sqrt", Attrs::none(), &[sum])?])
        },
    },
    OnnxOp {
        name: "ReduceLogSum",
        import: |c| {
            let sum = reduced(c, "reduce_sum", None)?;
            Ok(vec![c.one("log", Attrs::none(), &[sum])?])
        },
    },
];

fn squares(c: &mut NodeImport<'_, '_>) -> Result<ValueId, ImportError> {
    let x = c.input(0)?;
    let x = c.one("mul", Attrs::none(), &[x, x])?;
    reduced(c, "reduce_sum", Some(x))
}

fn reduced(c: &mut NodeImport<'_, '_>, op: &str, of: Option<ValueId>) -> Result<ValueId, ImportError> {
    let x = match of {
        Some(x) => x,
        None => c.input(0)?,
    };
    // A bool is folded as 0 and 1, and stays a bool.
    let elem = c.elem(x)?;
    let cast = |c: &mut NodeImport<'_, '_>, v: ValueId, to: Elem| {
        c.one("cast", Attrs::none().with("to", Attr::Elem(to)), &[v])
    };
    let y = if elem == Elem::Bool { cast(c, x, Elem::U8)? } else { x };
    let axes = c.axes(1)?.unwrap_or_default();
    let none = c.int("noop_with_empty_axes", 0);
    let attrs = Attrs::none()
        .with("axes", Attr::Ints(axes))
        .with("keep_none", Attr::Int(none))
        .with("keepdims", Attr::Int(c.int("keepdims", 1)));
    let y = c.one(op, attrs, &[y])?;
    if elem == Elem::Bool { cast(c, y, Elem::Bool) } else { Ok(y) }
}

const LOWER: Lowering = lower;

pub(super) const LOWERINGS: &[(&str, Lowering)] = &[
    ("reduce_sum", LOWER),
    ("reduce_mean", LOWER),
    ("reduce_max", LOWER),
    ("reduce_min", LOWER),
    ("reduce_prod", LOWER),
];

fn lower(l: &mut Lower<'_>, node: &Node) -> Result<(), LowerError> {
    let (x, out) = (node.inputs[0].ok_or("there is no input")?, node.outputs[0]);
    let (shape, elem) = (l.shape(x)?, l.elem(x)?);
    let from = l.loc(x)?;
    let axes = folded(&node.attrs, shape.len())?;
    let kept: Vec<usize> = (0..shape.len()).filter(|d| !axes.contains(d)).collect();
    let kind = kind(node.op.name).ok_or("no kind of reduction")?;
    let pick = |dims: &[usize], of: &[Dim], or: i64| -> Vec<Dim> {
        if dims.is_empty() { vec![Dim::from(or)] } else { dims.iter().map(|&d| of[d].clone()).collect() }
    };
    // Inner dims that lie one after the other are one dim, which vectors can run along.
    let (mut inner, mut inner_strides) = (pick(&axes, &shape, 1), pick(&axes, &from.strides, 0));
    while inner.len() > 1 {
        let last = inner.len() - 1;
        if inner_strides[last - 1] != inner_strides[last].clone() * inner[last].clone() {
            break;
        }
        inner[last - 1] = inner[last - 1].clone() * inner[last].clone();
        inner_strides[last - 1] = inner_strides[last].clone();
        inner.pop();
        inner_strides.pop();
    }
    let (outer, outer_strides) = (pick(&kept, &shape, 1), pick(&kept, &from.strides, 0));
    let step = if inner.len() == 1 && inner_strides[0].is(1) { Step::Unit } else { Step::Any };
    let nest = nest(kind, elem, outer.len(), inner.len(), step, &mut |b, x| b.load(x));
    let to = l.fresh(elem, &l.shape(out)?);
    let dense = crate::lower::dense(&outer);
    let zeros = vec![Dim::from(0i64); inner.len()];
    let mut operands = vec![from.view([&outer_strides[..], &inner_strides].concat())];
    if kind == Kind::Mean {
        operands.push(l.count(&node.name, elem.widened(), product(&inner), outer.len() + inner.len()));
    }
    operands.push(to.view([&dense[..], &zeros].concat()));
    l.dispatch(&node.name, nest, [&outer[..], &inner].concat(), operands);
    l.set(out, to);
    Ok(())
}
