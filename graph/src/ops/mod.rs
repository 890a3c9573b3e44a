//! One file an operation: attributes, shape rule, reference.

pub mod concat;
pub mod constant;
pub mod conv;
pub mod elementwise;
pub mod expand;
pub mod gather;
pub mod if_;
pub mod loop_;
pub mod matmul;
pub mod pad;
pub mod pool;
pub mod reduce;
pub mod reshape;
pub mod shape;
pub mod slice;
pub mod softmax;
pub mod tile;
pub mod transpose;

pub use crate::graph::Infer;
use crate::graph::{Attrs, Fact};
use crate::{DIMS, Elem, Tensor};
use smalti_codegen::{Access, Nest, interp, math};
use smalti_dims::Dim;

/// An operation.
#[derive(Debug)]
pub struct OpDef {
    /// Its name in texts.
    pub name: &'static str,
    /// Types and shapes of its outputs.
    pub infer: fn(&mut Infer<'_>) -> Result<Vec<Fact>, String>,
    /// The reference.
    pub eval: fn(&Eval<'_>) -> Result<Vec<Tensor>, String>,
}

/// What a reference is given. Input shapes have passed the shape rule's integer parts; what was a symbol then is
/// checked here.
pub struct Eval<'a> {
    /// The node's attributes.
    pub attrs: &'a Attrs,
    /// The inputs; absent ones are `None`.
    pub inputs: &'a [Option<&'a Tensor>],
    /// Whether floats are f64 throughout.
    pub exact: bool,
}

impl<'a> Eval<'a> {
    /// Input `i`.
    ///
    /// # Errors
    /// It is absent.
    pub fn input(&self, i: usize) -> Result<&'a Tensor, String> {
        self.inputs.get(i).copied().flatten().ok_or(format!("input {i} is missing"))
    }

    /// `elem`, or f64 where it is a float and the interpreter is exact.
    pub fn elem(&self, elem: Elem) -> Elem {
        if self.exact && elem.is_float() { Elem::F64 } else { elem }
    }
}

/// Every operation.
pub fn all() -> impl Iterator<Item = &'static OpDef> {
    let single: [&'static OpDef; 26] = [
        &concat::CONCAT,
        &constant::CONSTANT,
        &conv::CONV,
        &elementwise::CAST,
        &elementwise::WHERE,
        &expand::EXPAND,
        &gather::GATHER,
        &if_::IF,
        &loop_::LOOP,
        &matmul::MATMUL,
        &pad::PAD,
        &pool::MAX_POOL,
        &pool::AVERAGE_POOL,
        &reduce::REDUCE_SUM,
        &reduce::REDUCE_MEAN,
        &reduce::REDUCE_MAX,
        &reduce::REDUCE_MIN,
        &reduce::REDUCE_PROD,
        &reshape::RESHAPE,
        &reshape::SQUEEZE,
        &reshape::UNSQUEEZE,
        &reshape::FLATTEN,
        &shape::SHAPE,
        &slice::SLICE,
        &tile::TILE,
        &transpose::TRANSPOSE,
    ];
    single.into_iter().chain([&softmax::SOFTMAX, &softmax::LOG_SOFTMAX]).chain(elementwise::ROWS.iter().map(|r| &r.def))
}

/// The operation of that name.
pub fn find(name: &str) -> Option<&'static OpDef> {
    all().find(|o| o.name == name)
}

/// `axis`, counted from the end where it is negative.
///
/// # Errors
/// It lies outside `rank`.
pub fn axis(axis: i64, rank: usize) -> Result<usize, String> {
    let at = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
    match usize::try_from(at) {
        Ok(at) if at < rank => Ok(at),
        _ => Err(format!("axis {axis} lies outside the {rank} dims")),
    }
}

/// An index that counts from the end where it is negative, as one from the start. `is_size` says that it never is.
pub fn from_end(index: &Dim, size: &Dim, is_size: bool) -> Dim {
    let zero = Dim::from(0i64);
    match index.int() {
        Some(n) if n < 0 => index.clone() + size.clone(),
        None if !is_size => index.clone() + Dim::choose(&index.lesser(&zero), &zero, &zero, size),
        _ => index.clone(),
    }
}

/// The axes of a list, in ascending order.
///
/// # Errors
/// `rank` is too large, or one lies outside of it, or stands twice.
pub fn axes(list: &[i64], rank: usize) -> Result<Vec<usize>, String> {
    if rank > DIMS {
        return Err(format!("{rank} dims; {DIMS} are the most"));
    }
    let mut axes = list.iter().map(|&a| axis(a, rank)).collect::<Result<Vec<_>, _>>()?;
    axes.sort_unstable();
    if axes.windows(2).any(|w| w[0] == w[1]) {
        return Err(format!("axes {list:?} name a dim twice"));
    }
    Ok(axes)
}

/// Calls `visit` for each index of `shape`, the last dim fastest.
pub(crate) fn each(shape: &[usize], mut visit: impl FnMut(&[usize])) {
    if shape.contains(&0) {
        return;
    }
    let mut at = vec![0; shape.len()];
    loop {
        visit(&at);
        let Some(d) = (0..shape.len()).rev().find(|&d| at[d] + 1 < shape[d]) else { return };
        at[d] += 1;
        at[d + 1..].fill(0);
    }
}

/// Copies the elements of `src` at `offset + Σ index·strides` for each index of `shape`.
pub(crate) fn gathered(src: &Tensor, shape: &[usize], offset: i64, strides: &[i64]) -> Tensor {
    let size = src.elem.size();
    let mut bytes = Vec::with_capacity(shape.iter().product::<usize>() * size);
    each(shape, |at| {
        let index = offset + at.iter().zip(strides).map(|(&i, s)| i as i64 * s).sum::<i64>();
        let start = index as usize * size;
        bytes.extend_from_slice(&src.bytes[start..start + size]);
    });
    Tensor::new(src.elem, shape, bytes)
}

/// The element strides with which a tensor of `shape` is read as one of `to`: 0 along dims that are broadcast.
///
/// # Errors
/// The shape does not broadcast.
pub fn broadcast_strides(shape: &[usize], to: &[usize]) -> Result<Vec<i64>, String> {
    let own = Tensor::strides(shape);
    let lead = to.len().checked_sub(shape.len()).ok_or(format!("{shape:?} has more dims than {to:?}"))?;
    (0..to.len())
        .map(|d| match d.checked_sub(lead) {
            None => Ok(0),
            Some(i) if shape[i] == to[d] => Ok(own[i] as i64),
            Some(i) if shape[i] == 1 => Ok(0),
            Some(_) => Err(format!("{shape:?} does not broadcast to {to:?}")),
        })
        .collect()
}

/// The shape of two shapes broadcast together.
///
/// # Errors
/// Two dims differ and neither is 1.
pub fn broadcast(a: &[usize], b: &[usize]) -> Result<Vec<usize>, String> {
    let rank = a.len().max(b.len());
    (0..rank)
        .map(|d| {
            let at = |s: &[usize]| (d + s.len()).checked_sub(rank).map_or(1, |i| s[i]);
            match (at(a), at(b)) {
                (x, 1) => Ok(x),
                (1, y) => Ok(y),
                (x, y) if x == y => Ok(x),
                _ => Err(format!("{a:?} and {b:?} don't broadcast together")),
            }
        })
        .collect()
}

/// Runs a nest on tensors: inputs with their strides, then outputs that are made here. In exact runs the nest
/// computes in f64, else in the arithmetic of machine code.
///
/// # Errors
/// Those of the interpreter.
pub(crate) fn run_nest(
    c: &Eval<'_>,
    nest: &Nest,
    extents: &[usize],
    inputs: &[(&Tensor, i64, Vec<i64>)],
    outputs: &[(Vec<usize>, Vec<i64>)],
) -> Result<Vec<Tensor>, String> {
    let nest = if c.exact { nest.promoted() } else { math::expand(nest) };
    let mut made: Vec<Tensor> = nest
        .operands
        .iter()
        .filter(|o| o.access != Access::In)
        .zip(outputs)
        .map(|(o, (shape, _))| Tensor::zeros(o.elem, shape.clone()))
        .collect();
    let mut data: Vec<interp::Data<'_>> = inputs.iter().map(|i| interp::Data::In(&i.0.bytes)).collect();
    data.extend(made.iter_mut().map(|t| interp::Data::Out(&mut t.bytes)));
    let strides: Vec<i64> =
        inputs.iter().flat_map(|i| i.2.clone()).chain(outputs.iter().flat_map(|o| o.1.clone())).collect();
    let offsets: Vec<i64> = inputs.iter().map(|i| i.1).chain(outputs.iter().map(|_| 0)).collect();
    let space = interp::Space { extents, strides: &strides, offsets: &offsets };
    interp::run(&nest, &space, &mut data, 0, extents.first().copied().unwrap_or(1)).map_err(|e| e.to_string())?;
    Ok(made)
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_unique_and_found() {
        let mut names: Vec<&str> = super::all().map(|o| o.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|w| w[0] != w[1]), "{names:?}");
        assert!(names.iter().all(|n| super::find(n).is_some()));
    }
}
