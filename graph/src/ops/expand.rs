//! `expand`: broadcasts to the shape of the second input, both ways: a 1 there keeps the dim.

use super::{OpDef, broadcast, broadcast_strides, gathered};
use crate::graph::Fact;

/// The operation.
pub static EXPAND: OpDef = OpDef {
    name: "expand",
    infer: |c| {
        let x = c.shape(0)?;
        let wanted = c.elements(1)?;
        let shape = c.broadcast(&x, &wanted)?;
        Ok(vec![Fact::tensor(c.elem(0)?, shape)])
    },
    eval: |c| {
        let (x, wanted) = (c.input(0)?, c.input(1)?.ints());
        let wanted: Option<Vec<usize>> = wanted.into_iter().map(|d| usize::try_from(d).ok()).collect();
        let shape = broadcast(&x.shape, &wanted.ok_or("the shape has a negative dim")?)?;
        Ok(vec![gathered(x, &shape, 0, &broadcast_strides(&x.shape, &shape)?)])
    },
};
