//! Normalisations, read as elementwise operations and reductions.

use super::OnnxOp;
use crate::import::{ImportError, NodeImport, unsupported};
use smalti_graph::{Attr, Attrs, Elem, ValueId};

pub(super) const OPS: &[OnnxOp] = &[
    OnnxOp { name: "BatchNormalization", import: batch },
    OnnxOp { name: "LayerNormalization", import: layer },
    OnnxOp { name: "InstanceNormalization", import: instance },
    OnnxOp { name: "Dropout", import: dropout },
];

fn none() -> Attrs {
    Attrs::none()
}

/// `[channels]` as `[channels, 1, …]`, for an input of `rank` dims.
fn channels(c: &mut NodeImport<'_, '_>, value: ValueId, rank: usize) -> Result<ValueId, ImportError> {
    let axes = Attr::Ints((1..rank as i64 - 1).collect());
    c.one("unsqueeze", none().with("axes", axes), &[value])
}

/// x·s + (b - mean·s) with s = scale / √(variance + ε): constants fold to one product and one sum.
fn batch(c: &mut NodeImport<'_, '_>) -> Result<Vec<ValueId>, ImportError> {
    let x = c.input(0)?;
    let (rank, elem) = (c.rank(x)?, c.elem(x)?);
    if c.int("training_mode", 0) != 0 {
        return unsupported("training mode");
    }
    let [scale, bias, mean, variance] = [c.input(1)?, c.input(2)?, c.input(3)?, c.input(4)?];
    let epsilon = c.float("epsilon", 1e-5).into();
    let epsilon = c.scalar(elem, epsilon);
    let sum = c.one("add", none(), &[variance, epsilon])?;
    let deviation = c.one("sqrt", none(), &[sum])?;
    let scale = c.one("div", none(), &[scale, deviation])?;
    let moved = c.one("mul", none(), &[mean, scale])?;
    let shift = c.one("sub", none(), &[bias, moved])?;
    let (scale, shift) = (channels(c, scale, rank.max(2))?, channels(c, shift, rank.max(2))?);
    let y = c.one("mul", none(), &[x, scale])?;
    Ok(vec![c.one("add", none(), &[y, shift])?])
}

/// (x - mean) / √(mean of squares of that + ε) over `axes`; mean and 1/deviation come with it, which are taken in f32
/// where the input is narrower.
fn normalised(
    c: &mut NodeImport<'_, '_>,
    x: ValueId,
    axes: Vec<i64>,
    epsilon: f64,
) -> Result<[ValueId; 3], ImportError> {
    let elem = c.elem(x)?;
    let to = |c: &mut NodeImport<'_, '_>, v: ValueId, e: Elem| c.one("cast", none().with("to", Attr::Elem(e)), &[v]);
    let wide = elem.widened();
    let x = if wide == elem { x } else { to(c, x, wide)? };
    let axes = none().with("axes", Attr::Ints(axes)).with("keep_none", Attr::Int(1)).with("keepdims", Attr::Int(1));
    let mean = c.one("reduce_mean", axes.clone(), &[x])?;
    let centred = c.one("sub", none(), &[x, mean])?;
    let square = c.one("mul", none(), &[centred, centred])?;
    let variance = c.one("reduce_mean", axes, &[square])?;
    let epsilon = c.scalar(wide, epsilon);
    let sum = c.one("add", none(), &[variance, epsilon])?;
    let deviation = c.one("sqrt", none(), &[sum])?;
    let inverse = c.one("reciprocal", none(), &[deviation])?;
    let y = c.one("mul", none(), &[centred, inverse])?;
    Ok([if wide == elem { y } else { to(c, y, elem)? }, mean, inverse])
}

fn layer(c: &mut NodeImport<'_, '_>) -> Result<Vec<ValueId>, ImportError> {
    let x = c.input(0)?;
    let rank = c.rank(x)?;
    let axis = smalti_graph::ops::axis(c.int("axis", -1), rank)?;
    let epsilon = c.float("epsilon", 1e-5).into();
    let [mut y, mean, inverse] = normalised(c, x, (axis as i64..rank as i64).collect(), epsilon)?;
    let scale = c.input(1)?;
    y = c.one("mul", none(), &[y, scale])?;
    if let Some(bias) = c.optional(2) {
        y = c.one("add", none(), &[y, bias])?;
    }
    Ok(vec![y, mean, inverse])
}

fn instance(c: &mut NodeImport<'_, '_>) -> Result<Vec<ValueId>, ImportError> {
    let (x, scale, bias) = (c.input(0)?, c.input(1)?, c.input(2)?);
    let rank = c.rank(x)?;
    let epsilon = c.float("epsilon", 1e-5).into();
    let [y, _, _] = normalised(c, x, (2..rank as i64).collect(), epsilon)?;
    let (scale, bias) = (channels(c, scale, rank)?, channels(c, bias, rank)?);
    let y = c.one("mul", none(), &[y, scale])?;
    Ok(vec![c.one("add", none(), &[y, bias])?])
}

/// Nothing is dropped when a model is used.
fn dropout(c: &mut NodeImport<'_, '_>) -> Result<Vec<ValueId>, ImportError> {
    if c.outputs() > 1 {
        return unsupported("the mask as an output");
    }
    if let Some(training) = c.optional(2)
        && c.tensor_of(training).is_none_or(|t| t.len() != 1 || t.int(0) != 0)
    {
        return unsupported("training mode");
    }
    let x = c.input(0)?;
    Ok(vec![super::elementwise::alias(c, x)?])
}
