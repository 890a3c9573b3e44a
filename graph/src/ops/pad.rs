//! `pad`: adds elements of `value` before and after each dim (attribute `pads`: all begins, then all ends); negative
//! ones take elements away.

use super::{Eval, OpDef, each};
use crate::graph::{Fact, Infer};
use crate::{LARGEST, Tensor};
use smalti_dims::Dim;

/// The operation.
pub static PAD: OpDef = OpDef { name: "pad", infer, eval };

fn infer(c: &mut Infer<'_>) -> Result<Vec<Fact>, String> {
    let mut shape = c.shape(0)?;
    let pads = c.attrs.ints("pads");
    let rank = shape.len();
    if pads.len() != 2 * rank {
        return Err(format!("'pads' has {} values, {} are needed", pads.len(), 2 * rank));
    }
    if let Some(p) = pads.iter().find(|p| p.unsigned_abs() > LARGEST as u64) {
        return Err(format!("'pads' has {p}, more elements than any machine can hold"));
    }
    for d in 0..rank {
        shape[d] = shape[d].clone() + Dim::from(pads[d] + pads[d + rank]);
        if shape[d].int().is_some_and(|v| v < 0) {
            return Err(format!("'pads' leaves dim {d} with {} elements", c.symbols.text(&shape[d])));
        }
    }
    if let Some(value) = c.attrs.tensor("value")
        && value.elem != c.elem(0)?
    {
        return Err(format!("the padding value is of {}, the input of {}", value.elem, c.elem(0)?));
    }
    Ok(vec![Fact::tensor(c.elem(0)?, shape)])
}

fn eval(c: &Eval<'_>) -> Result<Vec<Tensor>, String> {
    let x = c.input(0)?;
    let pads = c.attrs.ints("pads");
    let rank = x.shape.len();
    let shape: Option<Vec<usize>> =
        (0..rank).map(|d| usize::try_from(x.shape[d] as i64 + pads[d] + pads[d + rank]).ok()).collect();
    let shape = shape.ok_or("'pads' takes away more than there is")?;
    let value = match c.attrs.tensor("value") {
        Some(value) if c.exact => value.promoted().bytes,
        Some(value) => value.bytes.clone(),
        None => vec![0; x.elem.size()],
    };
    let strides = Tensor::strides(&x.shape);
    let mut bytes = Vec::new();
    each(&shape, |at| {
        let mut offset = Some(0);
        for d in 0..rank {
            let position = at[d] as i64 - pads[d];
            let inside = usize::try_from(position).ok().filter(|&p| p < x.shape[d]);
            offset = offset.zip(inside).map(|(o, p)| o + p * strides[d]);
        }
        bytes.extend_from_slice(offset.map_or(&value[..], |o| x.at(o)));
    });
    Ok(vec![Tensor::new(x.elem, shape, bytes)])
}
