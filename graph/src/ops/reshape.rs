//! `reshape`, `squeeze`, `unsqueeze`, `flatten`: the same elements in the same order under another shape.

use super::{Eval, OpDef, axes, axis};
use crate::Tensor;
use crate::graph::{Fact, Infer};
use smalti_dims::{Dim, product};

/// To the shape of the second input: 0 keeps a dim (unless `allowzero`), one -1 is what is left.
pub static RESHAPE: OpDef = OpDef { name: "reshape", infer: reshape, eval: eval_reshape };
/// Drops dims of extent 1: those of `axes`, or all.
pub static SQUEEZE: OpDef = OpDef {
    name: "squeeze",
    infer: |c| {
        let shape = c.shape(0)?;
        let list = c.attrs.ints("axes").to_vec();
        let drop = if list.is_empty() {
            (0..shape.len()).filter(|&d| shape[d].is(1)).collect()
        } else {
            axes(&list, shape.len())?
        };
        for &d in &drop {
            c.equal("a squeezed dim and 1", &shape[d], &Dim::from(1i64))?;
        }
        let kept = shape.into_iter().enumerate().filter(|(d, _)| !drop.contains(d)).map(|(_, dim)| dim);
        Ok(vec![Fact { known: c.input(0)?.known.clone(), ..Fact::tensor(c.elem(0)?, kept) }])
    },
    eval: |c| {
        let x = c.input(0)?;
        let list = c.attrs.ints("axes");
        let drop = if list.is_empty() {
            (0..x.shape.len()).filter(|&d| x.shape[d] == 1).collect()
        } else {
            axes(list, x.shape.len())?
        };
        if let Some(&d) = drop.iter().find(|&&d| x.shape[d] != 1) {
            return Err(format!("dim {d} of extent {} can't be dropped", x.shape[d]));
        }
        let shape: Vec<usize> = (0..x.shape.len()).filter(|d| !drop.contains(d)).map(|d| x.shape[d]).collect();
        Ok(vec![Tensor::new(x.elem, shape, x.bytes.clone())])
    },
};
/// Adds dims of extent 1 at `axes` of the result.
pub static UNSQUEEZE: OpDef = OpDef {
    name: "unsqueeze",
    infer: |c| {
        let shape = c.shape(0)?;
        let added = axes(c.attrs.ints("axes"), shape.len() + c.attrs.ints("axes").len())?;
        let shape = insert(shape, &added, Dim::from(1i64));
        Ok(vec![Fact { known: c.input(0)?.known.clone(), ..Fact::tensor(c.elem(0)?, shape) }])
    },
    eval: |c| {
        let x = c.input(0)?;
        let added = axes(c.attrs.ints("axes"), x.shape.len() + c.attrs.ints("axes").len())?;
        Ok(vec![Tensor::new(x.elem, insert(x.shape.clone(), &added, 1), x.bytes.clone())])
    },
};
/// To two dims: those before `axis`, and the others.
pub static FLATTEN: OpDef = OpDef {
    name: "flatten",
    infer: |c| {
        let shape = c.shape(0)?;
        let (before, after) = shape.split_at(split(c.attrs.int("axis", 1), shape.len())?);
        Ok(vec![Fact::tensor(c.elem(0)?, [product(before), product(after)])])
    },
    eval: |c| {
        let x = c.input(0)?;
        let (before, after) = x.shape.split_at(split(c.attrs.int("axis", 1), x.shape.len())?);
        let shape = [before.iter().product(), after.iter().product()];
        Ok(vec![Tensor::new(x.elem, shape, x.bytes.clone())])
    },
};

fn insert<T: Clone>(mut shape: Vec<T>, at: &[usize], one: T) -> Vec<T> {
    for &d in at {
        shape.insert(d, one.clone());
    }
    shape
}

/// Flatten's axis may lie behind the last dim.
fn split(at: i64, rank: usize) -> Result<usize, String> {
    if at == rank as i64 { Ok(rank) } else { axis(at, rank) }
}

fn reshape(c: &mut Infer<'_>) -> Result<Vec<Fact>, String> {
    let x = c.shape(0)?;
    let wanted = c.elements(1)?;
    let zero_is_zero = c.attrs.int("allowzero", 0) != 0;
    let (zero, minus_one) = (Dim::from(0i64), Dim::from(-1i64));
    // 0 keeps the dim at its place.
    let mut shape: Vec<Dim> = Vec::new();
    for (d, dim) in wanted.iter().enumerate() {
        shape.push(match x.get(d) {
            Some(kept) if !zero_is_zero => Dim::choose(dim, &zero, kept, dim),
            _ => dim.clone(),
        });
    }
    let total = product(&x);
    let inferred: Vec<usize> = (0..shape.len()).filter(|&d| shape[d].is(-1)).collect();
    match inferred[..] {
        [d] => {
            let others = product(shape.iter().enumerate().filter(|o| o.0 != d).map(|o| o.1));
            shape[d] = if others.is(0) { zero } else { total.div(&others) };
        }
        [] => {
            // A dim that is only known at run time may be the -1 of it.
            for d in 0..shape.len() {
                if shape[d].int().is_none() && wanted[d].as_symbol().is_some_and(|s| c.is_bound(s)) {
                    let others = product(shape.iter().enumerate().filter(|o| o.0 != d).map(|o| o.1));
                    shape[d] = Dim::choose(&wanted[d], &minus_one, &total.div(&others), &shape[d]);
                }
            }
        }
        _ => return Err("the shape has more than one -1".to_owned()),
    }
    if let Some(d) = shape.iter().find(|d| d.int().is_some_and(|v| v < 0)) {
        return Err(format!("the shape has a dim of {}", c.symbols.text(d)));
    }
    c.equal("the numbers of elements", &total, &product(&shape))?;
    let known = c.input(0)?.known.clone();
    Ok(vec![Fact { known, ..Fact::tensor(c.elem(0)?, shape) }])
}

fn eval_reshape(c: &Eval<'_>) -> Result<Vec<Tensor>, String> {
    let (x, wanted) = (c.input(0)?, c.input(1)?.ints());
    let zero_is_zero = c.attrs.int("allowzero", 0) != 0;
    let mut shape: Vec<i64> = wanted
        .iter()
        .enumerate()
        .map(|(d, &v)| if v == 0 && !zero_is_zero { x.shape.get(d).map_or(0, |&s| s as i64) } else { v })
        .collect();
    if let Some(d) = shape.iter().position(|&v| v == -1) {
        let others: i64 = shape.iter().enumerate().filter(|o| o.0 != d).map(|o| o.1).product();
        shape[d] = if others == 0 { 0 } else { x.len() as i64 / others };
    }
    let shape: Vec<usize> = shape.iter().map(|&v| usize::try_from(v).unwrap_or(usize::MAX)).collect();
    let total = shape.iter().try_fold(1usize, |p, &d| p.checked_mul(d));
    if total != Some(x.len()) {
        return Err(format!("{} elements don't fill the shape {wanted:?}", x.len()));
    }
    Ok(vec![Tensor::new(x.elem, shape, x.bytes.clone())])
}
