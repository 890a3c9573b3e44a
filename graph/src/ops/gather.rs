//! `gather`: along `axis` of the first input, the places that the second one names; negative ones count from the end.

use super::{OpDef, axis, each};
use crate::Tensor;
use crate::graph::Fact;

/// The operation.
pub static GATHER: OpDef = OpDef {
    name: "gather",
    infer: |c| {
        let (x, places) = (c.shape(0)?, c.shape(1)?);
        if !c.elem(1)?.is_int() {
            return Err("the indices must be integers".to_owned());
        }
        let at = axis(c.attrs.int("axis", 0), x.len())?;
        let shape = [&x[..at], &places[..], &x[at + 1..]].concat();
        let known = match (&c.input(0)?.known, &c.input(1)?.known) {
            (Some(from), Some(places)) if x.len() == 1 => places
                .iter()
                .map(|p| {
                    p.int()
                        .and_then(|p| from.get(usize::try_from(if p < 0 { p + from.len() as i64 } else { p }).ok()?))
                        .cloned()
                })
                .collect(),
            _ => None,
        };
        Ok(vec![Fact { known, ..Fact::tensor(c.elem(0)?, shape) }])
    },
    eval: |c| {
        let (x, places) = (c.input(0)?, c.input(1)?);
        let at = axis(c.attrs.int("axis", 0), x.shape.len())?;
        let extent = x.shape[at];
        let mut index = Vec::new();
        for p in places.ints() {
            let place = if p < 0 { p + extent as i64 } else { p };
            match usize::try_from(place) {
                Ok(i) if i < extent => index.push(i),
                _ => return Err(format!("index {p} lies outside a dim of {extent}")),
            }
        }
        let shape = [&x.shape[..at], &places.shape[..], &x.shape[at + 1..]].concat();
        let inner: usize = x.shape[at + 1..].iter().product();
        let outer: usize = x.shape[..at].iter().product();
        let size = x.elem.size();
        let mut bytes = Vec::with_capacity(shape.iter().product::<usize>() * size);
        each(&[outer, index.len()], |o| {
            let start = (o[0] * extent + index[o[1]]) * inner * size;
            bytes.extend_from_slice(&x.bytes[start..start + inner * size]);
        });
        Ok(vec![Tensor::new(x.elem, shape, bytes)])
    },
};
