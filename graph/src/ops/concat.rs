//! `concat`: tensors one after the other along `axis`.

use super::{OpDef, axis, each};
use crate::Tensor;
use crate::graph::Fact;
use smalti_dims::Dim;

/// The operation.
pub static CONCAT: OpDef = OpDef {
    name: "concat",
    infer: |c| {
        let mut shape = c.shape(0)?;
        let elem = c.elem(0)?;
        let at = axis(c.attrs.int("axis", 0), shape.len())?;
        for i in 1..c.inputs() {
            let other = c.shape(i)?;
            if other.len() != shape.len() || c.elem(i)? != elem {
                return Err(format!("input {i} has another rank or element type than input 0"));
            }
            for d in 0..shape.len() {
                shape[d] = if d == at {
                    shape[d].clone() + other[d].clone()
                } else {
                    c.equal("dims beside the axis", &shape[d].clone(), &other[d])?
                };
            }
        }
        let parts: Option<Vec<&Vec<Dim>>> = (0..c.inputs()).map(|i| c.input(i).ok()?.known.as_ref()).collect();
        let known = parts.filter(|_| shape.len() == 1).map(|parts| parts.into_iter().flatten().cloned().collect());
        Ok(vec![Fact { known, ..Fact::tensor(elem, shape) }])
    },
    eval: |c| {
        let parts = (0..c.inputs.len()).map(|i| c.input(i)).collect::<Result<Vec<_>, _>>()?;
        let first = parts.first().ok_or("there are no inputs")?;
        let at = axis(c.attrs.int("axis", 0), first.shape.len())?;
        let mut shape = first.shape.clone();
        shape[at] = parts.iter().map(|p| p.shape[at]).sum();
        let mut out = Tensor::zeros(first.elem, shape.clone());
        let (strides, size) = (Tensor::strides(&shape), first.elem.size());
        let mut before = 0;
        for part in parts {
            let fits = part.shape.iter().zip(&shape).enumerate().all(|(d, (p, s))| d == at || p == s);
            if !fits || part.shape.len() != shape.len() {
                return Err(format!("dims beside the axis differ: {:?} and {shape:?}", part.shape));
            }
            let mut i = 0;
            each(&part.shape, |index| {
                let to: usize = index.iter().zip(&strides).map(|(i, s)| i * s).sum::<usize>() + before * strides[at];
                out.bytes[to * size..(to + 1) * size].copy_from_slice(part.at(i));
                i += 1;
            });
            before += part.shape[at];
        }
        Ok(vec![out])
    },
};
