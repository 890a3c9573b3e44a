//! `softmax`, `log_softmax` along `axis`: the greatest value is subtracted first, so nothing overflows; a row of
//! -inf alone gives NaN, as the formula does.

use super::{Eval, OpDef, axis, run_nest};
use crate::graph::{Fact, Infer};
use crate::{Elem, Tensor};
use smalti_codegen::{Access, BinOp, Builder, Func, Nest, RedOp, Step};

/// eˣ over the sum of eˣ.
pub static SOFTMAX: OpDef = OpDef { name: "softmax", infer, eval: |c| eval(c, false) };
/// The logarithm of [`SOFTMAX`], without its zeros.
pub static LOG_SOFTMAX: OpDef = OpDef { name: "log_softmax", infer, eval: |c| eval(c, true) };

fn infer(c: &mut Infer<'_>) -> Result<Vec<Fact>, String> {
    let (elem, shape) = (c.elem(0)?, c.shape(0)?);
    if !elem.is_float() {
        return Err(format!(
            "element type {elem} is not allowed; allowed: a float type (float, double, float16 or bfloat16)"
        ));
    }
    axis(c.attrs.int("axis", -1), shape.len().max(1))?;
    Ok(vec![Fact::tensor(elem, shape)])
}

/// The nest: `outer` dims, and the one that is normalised.
pub fn nest(log: bool, elem: Elem, outer: usize, step: Step) -> Nest {
    let mut b = Builder::new(if log { "log_softmax" } else { "softmax" }, outer.max(1), 1);
    let x = b.operand("x", elem, Access::In, step);
    let y = b.operand("y", elem, Access::Out, step);
    b.inner_loop();
    let value = b.load(x);
    let greatest = b.reduce(RedOp::Max, value);
    b.inner_loop();
    let value = b.load(x);
    let below = b.bin(BinOp::Sub, value, greatest);
    let e = b.call(Func::Exp, &[below]);
    let sum = b.reduce(RedOp::Sum, e);
    let log_sum = log.then(|| {
        b.once();
        b.call(Func::Log, &[sum])
    });
    b.inner_loop();
    let value = b.load(x);
    let below = b.bin(BinOp::Sub, value, greatest);
    let result = match log_sum {
        Some(log_sum) => b.bin(BinOp::Sub, below, log_sum),
        None => {
            let e = b.call(Func::Exp, &[below]);
            b.bin(BinOp::Div, e, sum)
        }
    };
    b.store(y, result);
    b.finish()
}

fn eval(c: &Eval<'_>, log: bool) -> Result<Vec<Tensor>, String> {
    let x = c.input(0)?;
    let shape = if x.shape.is_empty() { vec![1] } else { x.shape.clone() };
    let at = axis(c.attrs.int("axis", -1), shape.len())?;
    let strides = Tensor::strides(&shape);
    // The axis last, an outer dim of extent 1 where there is none.
    let mut order: Vec<usize> = (0..shape.len()).filter(|&d| d != at).collect();
    order.push(at);
    let mut extents: Vec<usize> = order.iter().map(|&d| shape[d]).collect();
    let mut steps: Vec<i64> = order.iter().map(|&d| strides[d] as i64).collect();
    if extents.len() == 1 {
        extents.insert(0, 1);
        steps.insert(0, 0);
    }
    let nest = nest(log, x.elem, extents.len() - 1, Step::Any);
    run_nest(c, &nest, &extents, &[(x, 0, steps.clone())], &[(x.shape.clone(), steps)])
}
