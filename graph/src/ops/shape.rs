//! `shape`: the dims of the input from `start` to `end`, as i64.

use super::OpDef;
use crate::graph::Fact;
use crate::{Elem, Tensor};
use smalti_dims::Dim;
use std::ops::Range;

/// The operation.
pub static SHAPE: OpDef = OpDef {
    name: "shape",
    infer: |c| {
        let shape = c.shape(0)?;
        let part = shape[range(c.attrs, shape.len())].to_vec();
        Ok(vec![Fact { known: Some(part.clone()), ..Fact::tensor(Elem::I64, [Dim::from(part.len())]) }])
    },
    eval: |c| {
        let x = c.input(0)?;
        let part: Vec<i64> = x.shape[range(c.attrs, x.shape.len())].iter().map(|&d| d as i64).collect();
        Ok(vec![Tensor::i64([part.len()], &part)])
    },
};

fn range(attrs: &crate::Attrs, rank: usize) -> Range<usize> {
    let at = |v: i64| (if v < 0 { v + rank as i64 } else { v }).clamp(0, rank as i64) as usize;
    let (start, end) = (at(attrs.int("start", 0)), at(attrs.int("end", rank as i64)));
    start..end.max(start)
}
