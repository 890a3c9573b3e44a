//! MaxPool, AveragePool and the global ones.

use super::{Lowering, OnnxOp};
use crate::import::{ImportError, NodeImport, unsupported};
use crate::lower::{Loc, Lower, LowerError};
use smalti_codegen::{Access, BinOp, Builder, Op, RedOp, Step};
use smalti_dims::Dim;
use smalti_graph::ops::conv::Window;
use smalti_graph::ops::pool::window;
use smalti_graph::{Attr, Attrs, Node, Tensor, ValueId};
use smalti_program::View;

pub(super) const OPS: &[OnnxOp] = &[
    OnnxOp { name: "MaxPool", import: |c| import(c, "max_pool") },
    OnnxOp { name: "AveragePool", import: |c| import(c, "average_pool") },
    OnnxOp { name: "GlobalMaxPool", import: |c| global(c, "reduce_max") },
    OnnxOp { name: "GlobalAveragePool", import: |c| global(c, "reduce_mean") },
];

fn import(c: &mut NodeImport<'_, '_>, op: &str) -> Result<Vec<ValueId>, ImportError> {
    let x = c.input(0)?;
    let shape = c.shape(x)?;
    let kernel = c.ints("kernel_shape").ok_or("attribute 'kernel_shape' is missing")?;
    if c.int("ceil_mode", 0) != 0 {
        return unsupported("ceil_mode");
    }
    if c.outputs() > 1 {
        return unsupported("the indices as an output");
    }
    if !c.elem(x)?.is_float() {
        return unsupported(format!("element type {}", c.elem(x)?));
    }
    let attrs = super::conv::window(c, &shape, &kernel)?
        .with("kernel_shape", Attr::Ints(kernel))
        .with("count_include_pad", Attr::Int(c.int("count_include_pad", 0)));
    Ok(vec![c.one(op, attrs, &[x])?])
}

fn global(c: &mut NodeImport<'_, '_>, op: &str) -> Result<Vec<ValueId>, ImportError> {
    let x = c.input(0)?;
    let axes = Attr::Ints((2..c.rank(x)? as i64).collect());
    Ok(vec![c.one(
        op,
        Attrs::none().with("axes", axes).with("keep_none", Attr::Int(1)).with("keepdims", Attr::Int(1)),
        &[x],
    )?])
}

pub(super) const LOWERINGS: &[(&str, Lowering)] =
    &[("max_pool", |l, node| lower(l, node, true)), ("average_pool", |l, node| lower(l, node, false))];

/// Windows of up to so many elements are read as so many operands: a reduction's start and end cost more than they do.
const MAX_TAPS: usize = 9;

/// Windows along one dim whose elements are counted one by one.
const MAX_COUNTS: usize = 1 << 16;

/// A padded copy where there is padding, then a reduction over windows, which are strides.
fn lower(l: &mut Lower<'_>, node: &Node, max: bool) -> Result<(), LowerError> {
    let (x, out) = (node.inputs[0].ok_or("there is no input")?, node.outputs[0]);
    let window = window(&node.attrs)?;
    let n = window.kernel.len();
    let (shape, elem, result) = (l.shape(x)?, l.elem(x)?, l.shape(out)?);
    let mut from = l.loc(x)?;
    if let Some(pads) = window.all_pads() {
        // The least value takes no part in a maximum; an average divides by what is counted.
        let value = if max { f64::NEG_INFINITY } else { 0.0 };
        from = l.padded(&node.name, elem, &shape, &from, &pads, value);
    }
    if max && window.kernel.iter().product::<usize>() <= MAX_TAPS {
        return max_of_taps(l, node, &window, &from);
    }
    let counts = if max { Vec::new() } else { counts(l, node, &shape, &result, &window)? };
    let mut b = Builder::new(node.op.name, n + 2, n);
    let operand = b.operand("x", elem, Access::In, Step::Any);
    let mut factors = Vec::new();
    for d in 0..counts.len() {
        factors.push(b.operand(format!("count{d}"), elem, Access::In, Step::Zero));
    }
    let y = b.operand("y", elem, Access::Out, Step::Zero);
    b.inner_loop();
    let value = b.load(operand);
    let folded = b.reduce(if max { RedOp::Max } else { RedOp::Sum }, value);
    b.once();
    let mut count = None;
    for factor in factors {
        let factor = b.load(factor);
        count = Some(count.map_or(factor, |c| b.bin(BinOp::Mul, c, factor)));
    }
    let value = count.map_or(folded, |c| b.bin(BinOp::Div, folded, c));
    b.inst(Op::Store(y), b.type_of(value), &[value]);
    let nest = b.finish();

    let taps: Vec<Dim> = window.kernel.iter().map(|&k| Dim::from(k)).collect();
    let extents = [&result[..], &taps].concat();
    let scaled = |d: usize, by: usize| from.strides[d].clone() * Dim::from(by);
    let mut strides = from.strides[..2].to_vec();
    strides.extend((0..n).map(|d| scaled(d + 2, window.strides[d])));
    strides.extend((0..n).map(|d| scaled(d + 2, window.dilations[d])));
    let mut operands = vec![from.view(strides)];
    operands.extend(counts);
    let to = l.fresh(elem, &result);
    let mut strides = to.strides.clone();
    strides.extend(vec![Dim::from(0i64); n]);
    operands.push(to.view(strides));
    l.dispatch(&node.name, nest, extents, operands);
    l.set(out, to);
    Ok(())
}

/// One operand for each element of a window: a maximum is the same in any order.
fn max_of_taps(l: &mut Lower<'_>, node: &Node, window: &Window, from: &Loc) -> Result<(), LowerError> {
    let (out, n) = (node.outputs[0], window.kernel.len());
    let (elem, result) = (l.elem(out)?, l.shape(out)?);
    let mut strides = from.strides.clone();
    for d in 0..n {
        strides[d + 2] = from.strides[d + 2].clone() * Dim::from(window.strides[d]);
    }
    let mut b = Builder::new(node.op.name, 0, n + 2);
    let (mut operands, mut largest) = (Vec::new(), None);
    for tap in 0..window.kernel.iter().product() {
        let (mut rest, mut offset) = (tap, from.offset.clone());
        for d in (0..n).rev() {
            let at = rest % window.kernel[d] * window.dilations[d];
            offset = offset + from.strides[d + 2].clone() * Dim::from(at);
            rest /= window.kernel[d];
        }
        let x = b.operand(format!("x{tap}"), elem, Access::In, Step::Any);
        operands.push(View { buffer: from.buffer, offset, strides: strides.clone() });
        let value = b.load(x);
        largest = Some(largest.map_or(value, |l| b.bin(BinOp::Max, l, value)));
    }
    let value = largest.ok_or("a window of no elements")?;
    let to = l.fresh(elem, &result);
    let y = b.operand("y", elem, Access::Out, Step::Any);
    b.inst(Op::Store(y), b.type_of(value), &[value]);
    operands.push(to.view(to.strides.clone()));
    l.dispatch(&node.name, b.finish(), result, operands);
    l.set(out, to);
    Ok(())
}

/// How many elements each window counts: one constant, or where padding is left out, one a dim, whose product it is.
fn counts(
    l: &mut Lower<'_>,
    node: &Node,
    shape: &[Dim],
    result: &[Dim],
    window: &Window,
) -> Result<Vec<View>, LowerError> {
    let n = window.kernel.len();
    let elem = l.elem(node.outputs[0])?;
    let zeros = vec![Dim::from(0i64); 2 * n + 2];
    if node.attrs.int("count_include_pad", 0) != 0 || window.pads.iter().all(|&p| p == 0) {
        let whole: usize = window.kernel.iter().product();
        return Ok(vec![l.constant_as(&Tensor::f64([], &[whole as f64]), elem).view(zeros)]);
    }
    let mut views = Vec::new();
    for d in 0..n {
        let (input, output) =
            shape[d + 2].size().zip(result[d + 2].size()).ok_or("padding of dims that are not known")?;
        if output > MAX_COUNTS {
            return Err(format!("padding that is not counted, of {output} windows; {MAX_COUNTS} are the most").into());
        }
        let values: Vec<f64> = (0..output).map(|o| window.inside(d, o, input) as f64).collect();
        let mut strides = zeros.clone();
        strides[d + 2] = Dim::from(1i64);
        views.push(l.constant_as(&Tensor::f64([output], &values), elem).view(strides));
    }
    Ok(views)
}
