//! Functions as arithmetic of the IR: one body each, for every back end and so with the same bits on every machine.
//!
//! f32 [`Func::Exp`] and [`Func::Tanh`] are polynomials; the other functions go through f64 and the pinned libm of
//! the helper table.

mod exp;
mod tanh;

use crate::nest::{Nest, Op, Value};
use crate::{Builder, Elem, Func};
use alloc::vec::Vec;

/// Replaces every function of f32 by its arithmetic. Back ends take only expanded nests.
#[must_use]
pub fn expand(nest: &Nest) -> Nest {
    if !nest.insts().any(|i| matches!(i.op, Op::Call(_)) && i.ty == Elem::F32) {
        return nest.clone();
    }
    let mut b = Builder::new(nest.name.clone(), nest.outer, nest.inner);
    for o in &nest.operands {
        b.operand(o.name.clone(), o.elem, o.access, o.step);
    }
    let mut values: Vec<Value> = Vec::new();
    for phase in &nest.phases {
        match phase {
            crate::Phase::Once(_) => b.once(),
            crate::Phase::Loop(_) => b.inner_loop(),
        }
        for inst in phase.insts() {
            let args: Vec<Value> = inst.args.iter().map(|v| values[v.0 as usize]).collect();
            values.push(match inst.op {
                Op::Call(Func::Exp) if inst.ty == Elem::F32 => exp::exp(&mut b, args[0]),
                Op::Call(Func::Tanh) if inst.ty == Elem::F32 => tanh::tanh(&mut b, args[0]),
                Op::Call(func) if inst.ty == Elem::F32 => {
                    let wide: Vec<Value> = args.iter().map(|&a| b.cast(Elem::F64, a)).collect();
                    let y = b.call(func, &wide);
                    b.cast(Elem::F32, y)
                }
                op => b.inst(op, inst.ty, &args),
            });
        }
    }
    b.finish()
}
