//! `tile`: each dim repeated as often as the second input says.

use super::{OpDef, gathered};
use crate::Tensor;
use crate::graph::Fact;

/// The operation.
pub static TILE: OpDef = OpDef {
    name: "tile",
    infer: |c| {
        let shape = c.shape(0)?;
        let repeats = c.elements(1)?;
        if repeats.len() != shape.len() {
            return Err(format!("{} repeats for {} dims", repeats.len(), shape.len()));
        }
        let tiled = shape.into_iter().zip(repeats).map(|(d, r)| d * r);
        Ok(vec![Fact::tensor(c.elem(0)?, tiled.collect::<Vec<_>>())])
    },
    eval: |c| {
        let (x, repeats) = (c.input(0)?, c.input(1)?.ints());
        if repeats.len() != x.shape.len() || repeats.iter().any(|&r| r < 0) {
            return Err(format!("repeats {repeats:?} for {} dims", x.shape.len()));
        }
        // Dims of repeats stand before their own, with stride 0.
        let own = Tensor::strides(&x.shape);
        let (mut extents, mut strides) = (Vec::new(), Vec::new());
        for d in 0..x.shape.len() {
            extents.extend([repeats[d] as usize, x.shape[d]]);
            strides.extend([0, own[d] as i64]);
        }
        let bytes = gathered(x, &extents, 0, &strides).bytes;
        let shape: Vec<usize> = extents.chunks(2).map(|p| p[0] * p[1]).collect();
        Ok(vec![Tensor::new(x.elem, shape, bytes)])
    },
};
