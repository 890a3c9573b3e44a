//! `transpose`: dims in the order of `perm`, or reversed.

use super::{OpDef, gathered};
use crate::Tensor;
use crate::graph::{Attrs, Fact};

/// The operation.
pub static TRANSPOSE: OpDef = OpDef {
    name: "transpose",
    infer: |c| {
        let shape = c.shape(0)?;
        let order = order(c.attrs, shape.len())?;
        Ok(vec![Fact::tensor(c.elem(0)?, order.iter().map(|&d| shape[d].clone()))])
    },
    eval: |c| {
        let x = c.input(0)?;
        let order = order(c.attrs, x.shape.len())?;
        let own = Tensor::strides(&x.shape);
        let shape: Vec<usize> = order.iter().map(|&d| x.shape[d]).collect();
        let strides: Vec<i64> = order.iter().map(|&d| own[d] as i64).collect();
        Ok(vec![gathered(x, &shape, 0, &strides)])
    },
};

/// For each dim of the output, the input's.
///
/// # Errors
/// `perm` is no permutation of the dims.
pub fn order(attrs: &Attrs, rank: usize) -> Result<Vec<usize>, String> {
    let perm = attrs.ints("perm");
    if perm.is_empty() {
        return Ok((0..rank).rev().collect());
    }
    let order: Vec<usize> = perm.iter().map(|&p| usize::try_from(p).unwrap_or(usize::MAX)).collect();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if sorted != (0..rank).collect::<Vec<_>>() {
        return Err(format!("'perm' is {perm:?}, no permutation of {rank} dims"));
    }
    Ok(order)
}
