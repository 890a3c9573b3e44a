//! `reduce_*`: folds dims. Attributes `axes` (all where absent and `keep_none` is 0) and `keepdims`. The order of the
//! fold is the loop-nest IR's.

use super::{Eval, OpDef, axes, run_nest};
use crate::graph::{Attrs, Fact, Infer};
use crate::{Elem, Tensor};
use smalti_codegen::{Access, BinOp, Builder, Nest, RedOp, Step, Value};
use smalti_dims::Dim;

/// What is folded, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Sum.
    Sum,
    /// Sum over the number of elements.
    Mean,
    /// The greatest.
    Max,
    /// The least.
    Min,
    /// Product.
    Prod,
}

macro_rules! defs {
    ($($static:ident, $kind:ident, $name:literal;)*) => {
        $(#[doc = concat!("`", $name, "`.")]
        pub static $static: OpDef = OpDef { name: $name, infer, eval: |c| eval(c, Kind::$kind) };)*

        /// The kind of a reduction by its operation's name.
        pub fn kind(name: &str) -> Option<Kind> {
            match name { $($name => Some(Kind::$kind),)* _ => None }
        }
    };
}

defs! {
    REDUCE_SUM, Sum, "reduce_sum";
    REDUCE_MEAN, Mean, "reduce_mean";
    REDUCE_MAX, Max, "reduce_max";
    REDUCE_MIN, Min, "reduce_min";
    REDUCE_PROD, Prod, "reduce_prod";
}

/// The dims that a node folds.
///
/// # Errors
/// An axis outside the rank.
pub fn folded(attrs: &Attrs, rank: usize) -> Result<Vec<usize>, String> {
    let list = attrs.ints("axes");
    if list.is_empty() && attrs.int("keep_none", 0) == 0 { Ok((0..rank).collect()) } else { axes(list, rank) }
}

fn infer(c: &mut Infer<'_>) -> Result<Vec<Fact>, String> {
    let (elem, x) = (c.elem(0)?, c.shape(0)?);
    if elem == Elem::Bool {
        return Err("element type bool is not allowed; allowed: a float or an integer type".to_owned());
    }
    let axes = folded(c.attrs, x.len())?;
    let keep = c.attrs.int("keepdims", 1) != 0;
    let mut shape = Vec::new();
    for (d, dim) in x.into_iter().enumerate() {
        match (axes.contains(&d), keep) {
            (false, _) => shape.push(dim),
            (true, true) => shape.push(Dim::from(1i64)),
            (true, false) => {}
        }
    }
    Ok(vec![Fact::tensor(elem, shape)])
}

/// The nest of a reduction: operands `x`, for means `count` (one element, of the type that sums have), and `y`.
pub fn nest(
    kind: Kind,
    elem: Elem,
    outer: usize,
    inner: usize,
    step: Step,
    load: &mut dyn FnMut(&mut Builder, u32) -> Value,
) -> Nest {
    let mut b = Builder::new("reduce", outer.max(1), inner.max(1));
    let x = b.operand("x", elem, Access::In, step);
    let count = (kind == Kind::Mean).then(|| b.operand("count", elem.widened(), Access::In, Step::Zero));
    let y = b.operand("y", elem, Access::Out, Step::Zero);
    b.inner_loop();
    let value = load(&mut b, x);
    let folded = b.reduce(
        match kind {
            Kind::Sum | Kind::Mean => RedOp::Sum,
            Kind::Max => RedOp::Max,
            Kind::Min => RedOp::Min,
            Kind::Prod => RedOp::Prod,
        },
        value,
    );
    b.once();
    let result = match count {
        Some(count) => {
            let count = b.load(count);
            b.bin(BinOp::Div, folded, count)
        }
        None => folded,
    };
    b.store(y, result);
    b.finish()
}

fn eval(c: &Eval<'_>, kind: Kind) -> Result<Vec<Tensor>, String> {
    let x = c.input(0)?;
    let axes = folded(c.attrs, x.shape.len())?;
    let keep = c.attrs.int("keepdims", 1) != 0;
    let strides = Tensor::strides(&x.shape);
    let kept: Vec<usize> = (0..x.shape.len()).filter(|d| !axes.contains(d)).collect();
    let pick = |dims: &[usize], of: &[usize], or: usize| -> Vec<usize> {
        if dims.is_empty() { vec![or] } else { dims.iter().map(|&d| of[d]).collect() }
    };
    let outer = pick(&kept, &x.shape, 1);
    let inner = pick(&axes, &x.shape, 1);
    let extents = [outer.clone(), inner.clone()].concat();
    let to_i64 = |v: Vec<usize>| v.into_iter().map(|s| s as i64).collect::<Vec<_>>();
    let read = to_i64([pick(&kept, &strides, 0), pick(&axes, &strides, 0)].concat());
    let mut write = to_i64(Tensor::strides(&outer));
    write.extend(vec![0; inner.len()]);
    let shape: Vec<usize> = (0..x.shape.len())
        .filter_map(|d| match (axes.contains(&d), keep) {
            (false, _) => Some(x.shape[d]),
            (true, true) => Some(1),
            (true, false) => None,
        })
        .collect();
    let nest = nest(kind, x.elem, outer.len(), inner.len(), Step::Any, &mut |b, x| b.load(x));
    let mut count = Tensor::zeros(x.elem.widened(), []);
    count.set(0, inner.iter().product::<usize>() as f64);
    let mut inputs = vec![(x, 0, read)];
    if kind == Kind::Mean {
        inputs.push((&count, 0, vec![0; extents.len()]));
    }
    run_nest(c, &nest, &extents, &inputs, &[(shape, write)])
}
