//! `matmul`: products of matrices, with leading dims broadcast as NumPy does; `trans_a` and `trans_b` read an operand
//! as its transpose (of the last two dims).
//!
//! As-run arithmetic: one fused multiply-add per k, in ascending order, from 0 (f32); integers wrap in i32.

use super::{Eval, OpDef, broadcast, broadcast_strides, each};
use crate::graph::{Fact, Infer};
use crate::{Elem, Tensor};
use smalti_dims::Dim;

/// The operation.
pub static MATMUL: OpDef = OpDef { name: "matmul", infer, eval };

fn infer(c: &mut Infer<'_>) -> Result<Vec<Fact>, String> {
    let elem = c.elem(0)?;
    if elem != c.elem(1)? {
        return Err(format!("element types differ: {elem} and {}", c.elem(1)?));
    }
    if elem == Elem::Bool {
        return Err("element type bool is not allowed; allowed: a float or an integer type".to_owned());
    }
    let (mut a, mut b) = (c.shape(0)?, c.shape(1)?);
    let (row, column) = (a.len() == 1, b.len() == 1);
    if a.is_empty() || b.is_empty() {
        return Err("a scalar has no matrix product".to_owned());
    }
    if row {
        a.insert(0, Dim::from(1i64));
    }
    if column {
        b.push(Dim::from(1i64));
    }
    let (i, j) = (a.len() - 2, b.len() - 2);
    if c.attrs.int("trans_a", 0) != 0 {
        a.swap(i, i + 1);
    }
    if c.attrs.int("trans_b", 0) != 0 {
        b.swap(j, j + 1);
    }
    c.equal("K dims", &a[i + 1], &b[j])?;
    let mut shape = c.broadcast(&a[..i], &b[..j])?;
    if !row {
        shape.push(a[i].clone());
    }
    if !column {
        shape.push(b[j + 1].clone());
    }
    Ok(vec![Fact::tensor(elem, shape)])
}

fn eval(c: &Eval<'_>) -> Result<Vec<Tensor>, String> {
    let (a, b) = (c.input(0)?, c.input(1)?);
    let (mut left, mut right) = (a.shape.clone(), b.shape.clone());
    let (row, column) = (left.len() == 1, right.len() == 1);
    if row {
        left.insert(0, 1);
    }
    if column {
        right.push(1);
    }
    let matrix = |shape: &[usize], transposed: bool| {
        let n = shape.len() - 2;
        let (rows, cols) = (shape[n], shape[n + 1]);
        if transposed { ([cols, rows], [1, cols]) } else { ([rows, cols], [cols, 1]) }
    };
    let ([m, k], [sm, sk]) = matrix(&left, c.attrs.int("trans_a", 0) != 0);
    let ([k2, n], [tk, tn]) = matrix(&right, c.attrs.int("trans_b", 0) != 0);
    if k != k2 {
        return Err(format!("K dims differ: {k} and {k2}"));
    }
    let (la, lb) = (&left[..left.len() - 2], &right[..right.len() - 2]);
    let batch = broadcast(la, lb)?;
    let (ba, bb) = (broadcast_strides(la, &batch)?, broadcast_strides(lb, &batch)?);
    let mut shape = batch.clone();
    if !row {
        shape.push(m);
    }
    if !column {
        shape.push(n);
    }
    let mut out = Tensor::zeros(a.elem, shape);
    let mut base = 0;
    each(&batch, |at| {
        let start =
            |strides: &[i64], area: usize| at.iter().zip(strides).map(|(&i, &s)| i * s as usize).sum::<usize>() * area;
        let (x, y) = (start(&ba, m * k), start(&bb, k * n));
        for i in 0..m {
            for j in 0..n {
                let sum = dot(a, b, k, |p| (x + i * sm + p * sk, y + p * tk + j * tn));
                put(&mut out, base + i * n + j, sum);
            }
        }
        base += m * n;
    });
    Ok(vec![out])
}

/// A sum of products, in the arithmetic of its element type.
pub(crate) enum Sum {
    /// One fused multiply-add a step.
    F32(f32),
    /// The oracle's.
    F64(f64),
    /// Wrapping.
    Int(i64),
}

/// `Σ a[x] · b[y]` over `(x, y) = at(0 .. count)`.
pub(crate) fn dot(a: &Tensor, b: &Tensor, count: usize, at: impl Fn(usize) -> (usize, usize)) -> Sum {
    match a.elem {
        Elem::F64 => Sum::F64((0..count).fold(0.0, |sum, p| {
            let (x, y) = at(p);
            libm::fma(a.get(x), b.get(y), sum)
        })),
        e if e.is_float() => Sum::F32((0..count).fold(0.0, |sum, p| {
            let (x, y) = at(p);
            libm::fmaf(a.get(x) as f32, b.get(y) as f32, sum)
        })),
        _ => Sum::Int((0..count).fold(0, |sum: i64, p| {
            let (x, y) = at(p);
            sum.wrapping_add(a.int(x).wrapping_mul(b.int(y)))
        })),
    }
}

pub(crate) fn put(out: &mut Tensor, i: usize, sum: Sum) {
    let size = out.elem.size();
    match sum {
        Sum::F32(x) => out.set(i, x.into()),
        Sum::F64(x) => out.set(i, x),
        Sum::Int(x) => out.bytes[i * size..(i + 1) * size].copy_from_slice(&x.to_le_bytes()[..size]),
    }
}
