//! Tile.

use super::{Lowering, OnnxOp};
use crate::lower::Loc;
use smalti_dims::Dim;
use smalti_graph::Attrs;

pub(super) const OPS: &[OnnxOp] = &[OnnxOp {
    name: "Tile",
    import: |c| {
        let inputs = [c.input(0)?, c.input(1)?];
        Ok(vec![c.one("tile", Attrs::none(), &inputs)?])
    },
}];

/// One copy: dims of repeats stand before their own, and read with stride 0.
pub(super) const LOWERINGS: &[(&str, Lowering)] = &[("tile", |l, node| {
    let (x, out) = (node.inputs[0].ok_or("there is no input")?, node.outputs[0]);
    let (shape, tiled, elem) = (l.shape(x)?, l.shape(out)?, l.elem(x)?);
    let repeats = node.inputs[1].and_then(|r| l.known(r)).ok_or("there are no repeats")?;
    let (from, to) = (l.loc(x)?, l.fresh(elem, &tiled));
    let (mut extents, mut read, mut written) = (Vec::new(), Vec::new(), Vec::new());
    for d in 0..shape.len() {
        extents.extend([repeats[d].clone(), shape[d].clone()]);
        read.extend([Dim::from(0i64), from.strides[d].clone()]);
        written.extend([shape[d].clone() * to.strides[d].clone(), to.strides[d].clone()]);
    }
    l.copy(&node.name, elem, &extents, &Loc { strides: read, ..from }, &Loc { strides: written, ..to.clone() });
    l.set(out, to);
    Ok(())
})];
