//! Elementwise operations: one row each. The body is both the reference, by codegen's interpreter, and what the
//! compiler fuses.

use super::{Eval, OpDef, broadcast, broadcast_strides, run_nest};
use crate::graph::{Attrs, Fact, Infer};
use crate::{Elem, Tensor};
use smalti_codegen::{Access, BinOp, Builder, CmpOp, Func, Nest, Step, UnOp, Value};
use smalti_dims::Dim;

/// Which element types a row takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Floats.
    Floats,
    /// Floats and integers.
    Numbers,
    /// Integers.
    Integers,
    /// Truth values.
    Bools,
    /// Everything.
    Any,
}

impl Takes {
    fn admits(self, elem: Elem) -> bool {
        match self {
            Takes::Floats => elem.is_float(),
            Takes::Numbers => elem != Elem::Bool,
            Takes::Integers => elem.is_int(),
            Takes::Bools => elem == Elem::Bool,
            Takes::Any => true,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Takes::Floats => "a float type (float, double, float16 or bfloat16)",
            Takes::Numbers => "a float type (float, double, float16 or bfloat16) or an integer type",
            Takes::Integers => "an integer type",
            Takes::Bools => "bool",
            Takes::Any => "any type",
        }
    }
}

/// An elementwise operation on one or two inputs of one type.
pub struct Row {
    /// The operation.
    pub def: OpDef,
    /// How many inputs it has.
    pub arity: usize,
    /// Which types they may have.
    pub takes: Takes,
    /// Whether the result is a truth value instead of the inputs' type.
    pub test: bool,
    /// The arithmetic, on widened values.
    pub body: fn(&mut Builder, &Attrs, &[Value]) -> Value,
}

macro_rules! rows {
    ($($name:literal, $arity:literal, $takes:ident, $test:literal, $body:expr;)*) => {
        /// Every elementwise operation of one or two inputs.
        pub static ROWS: &[Row] = &[$(Row {
            def: OpDef { name: $name, infer: |c| infer(c, row($name)), eval: |c| eval(c, row($name)) },
            arity: $arity,
            takes: Takes::$takes,
            test: $test,
            body: $body,
        }),*];
    };
}

/// The row of that name.
///
/// # Panics
/// There is none.
fn row(name: &str) -> &'static Row {
    find(name).expect("the name of a row")
}

/// The row of that name.
pub fn find(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|r| r.def.name == name)
}

fn number(b: &mut Builder, like: Value, x: f64) -> Value {
    b.number(b.type_of(like), x)
}

fn apply(b: &mut Builder, op: BinOp, a: Value, x: f64) -> Value {
    let x = number(b, a, x);
    b.bin(op, a, x)
}

/// `a` where `a OP x` holds, else `no`.
fn unless(b: &mut Builder, op: CmpOp, a: Value, x: f64, no: Value) -> Value {
    let x = number(b, a, x);
    let holds = b.cmp(op, a, x);
    b.select(holds, a, no)
}

fn sigmoid(b: &mut Builder, x: Value) -> Value {
    let minus = b.un(UnOp::Neg, x);
    let e = b.call(Func::Exp, &[minus]);
    let sum = apply(b, BinOp::Add, e, 1.0);
    let one = number(b, x, 1.0);
    b.bin(BinOp::Div, one, sum)
}

/// log(1 + eˣ) as max(x, 0) + log1p(e^-|x|), which neither overflows nor cancels.
fn softplus(b: &mut Builder, x: Value) -> Value {
    let magnitude = b.un(UnOp::Abs, x);
    let minus = b.un(UnOp::Neg, magnitude);
    let e = b.call(Func::Exp, &[minus]);
    let log = b.call(Func::Log1p, &[e]);
    let zero = number(b, x, 0.0);
    let positive = b.bin(BinOp::Max, x, zero);
    b.bin(BinOp::Add, positive, log)
}

/// eˣ - 1, through f64, where the difference keeps its leading bits.
fn expm1(b: &mut Builder, x: Value) -> Value {
    let ty = b.type_of(x);
    let wide = b.cast(Elem::F64, x);
    let e = b.call(Func::Exp, &[wide]);
    let y = apply(b, BinOp::Sub, e, 1.0);
    let y = b.cast(ty, y);
    let magnitude = b.un(UnOp::Abs, x);
    // Where eˣ - 1 is x to the last bit.
    let tiny = number(b, x, 1e-8);
    let is_tiny = b.cmp(CmpOp::Lt, magnitude, tiny);
    b.select(is_tiny, x, y)
}

/// x/2 · (1 + erf(x/√2)), in f64, where the tail keeps its leading bits longest.
fn gelu(b: &mut Builder, attrs: &Attrs, x: Value) -> Value {
    let ty = b.type_of(x);
    let half = apply(b, BinOp::Mul, x, 0.5);
    if attrs.word("approximate") == "tanh" {
        let x2 = b.bin(BinOp::Mul, x, x);
        let x3 = b.bin(BinOp::Mul, x2, x);
        let cube = apply(b, BinOp::Mul, x3, 0.044715);
        let sum = b.bin(BinOp::Add, x, cube);
        let scaled = apply(b, BinOp::Mul, sum, (2.0 / core::f64::consts::PI).sqrt());
        let t = b.call(Func::Tanh, &[scaled]);
        let t = apply(b, BinOp::Add, t, 1.0);
        return b.bin(BinOp::Mul, half, t);
    }
    let wide = b.cast(Elem::F64, x);
    let scaled = apply(b, BinOp::Mul, wide, core::f64::consts::FRAC_1_SQRT_2);
    let e = b.call(Func::Erf, &[scaled]);
    let e = apply(b, BinOp::Add, e, 1.0);
    let half = apply(b, BinOp::Mul, wide, 0.5);
    let y = b.bin(BinOp::Mul, half, e);
    b.cast(ty, y)
}

/// ONNX's Mod: with `fmod` the sign of the dividend, else that of the divisor.
fn modulo(b: &mut Builder, attrs: &Attrs, x: Value, y: Value) -> Value {
    let ty = b.type_of(x);
    let rest = if ty.is_float() { b.call(Func::Fmod, &[x, y]) } else { b.bin(BinOp::Rem, x, y) };
    if attrs.int("fmod", 0) != 0 || !ty.is_float() && !ty.is_signed() {
        return rest;
    }
    let zero = number(b, x, 0.0);
    let negative = b.cmp(CmpOp::Lt, rest, zero);
    let other = b.cmp(CmpOp::Lt, y, zero);
    let differ = b.bin(BinOp::Xor, negative, other);
    let nonzero = b.cmp(CmpOp::Ne, rest, zero);
    let wrong = b.bin(BinOp::And, differ, nonzero);
    let mended = b.bin(BinOp::Add, rest, y);
    b.select(wrong, mended, rest)
}

fn power(b: &mut Builder, x: Value, y: Value) -> Value {
    let ty = b.type_of(x);
    if ty.is_float() {
        return b.call(Func::Pow, &[x, y]);
    }
    let (x, y) = (b.cast(Elem::F64, x), b.cast(Elem::F64, y));
    let p = b.call(Func::Pow, &[x, y]);
    b.cast(ty, p)
}

fn call(b: &mut Builder, func: Func, args: &[Value]) -> Value {
    b.call(func, args)
}

rows! {
    "add", 2, Any, false, |b, _, v| if b.type_of(v[0]) == Elem::Bool { b.bin(BinOp::Or, v[0], v[1]) } else { b.bin(BinOp::Add, v[0], v[1]) };
    "sub", 2, Numbers, false, |b, _, v| b.bin(BinOp::Sub, v[0], v[1]);
    "mul", 2, Numbers, false, |b, _, v| b.bin(BinOp::Mul, v[0], v[1]);
    "div", 2, Numbers, false, |b, _, v| b.bin(BinOp::Div, v[0], v[1]);
    "mod", 2, Numbers, false, |b, a, v| modulo(b, a, v[0], v[1]);
    "pow", 2, Numbers, false, |b, _, v| power(b, v[0], v[1]);
    "min", 2, Numbers, false, |b, _, v| b.bin(BinOp::Min, v[0], v[1]);
    "max", 2, Numbers, false, |b, _, v| b.bin(BinOp::Max, v[0], v[1]);
    "and", 2, Bools, false, |b, _, v| b.bin(BinOp::And, v[0], v[1]);
    "or", 2, Bools, false, |b, _, v| b.bin(BinOp::Or, v[0], v[1]);
    "xor", 2, Bools, false, |b, _, v| b.bin(BinOp::Xor, v[0], v[1]);
    "bitwise_and", 2, Integers, false, |b, _, v| b.bin(BinOp::And, v[0], v[1]);
    "bitwise_or", 2, Integers, false, |b, _, v| b.bin(BinOp::Or, v[0], v[1]);
    "bitwise_xor", 2, Integers, false, |b, _, v| b.bin(BinOp::Xor, v[0], v[1]);
    "shift_left", 2, Integers, false, |b, _, v| b.bin(BinOp::Shl, v[0], v[1]);
    "shift_right", 2, Integers, false, |b, _, v| b.bin(BinOp::Shr, v[0], v[1]);
    "equal", 2, Any, true, |b, _, v| b.cmp(CmpOp::Eq, v[0], v[1]);
    "less", 2, Numbers, true, |b, _, v| b.cmp(CmpOp::Lt, v[0], v[1]);
    "less_or_equal", 2, Numbers, true, |b, _, v| b.cmp(CmpOp::Le, v[0], v[1]);
    "greater", 2, Numbers, true, |b, _, v| b.cmp(CmpOp::Gt, v[0], v[1]);
    "greater_or_equal", 2, Numbers, true, |b, _, v| b.cmp(CmpOp::Ge, v[0], v[1]);
    "prelu", 2, Numbers, false, |b, _, v| {
        let scaled = b.bin(BinOp::Mul, v[0], v[1]);
        unless(b, CmpOp::Ge, v[0], 0.0, scaled)
    };
    "not", 1, Bools, false, |b, _, v| b.un(UnOp::Not, v[0]);
    "bitwise_not", 1, Integers, false, |b, _, v| b.un(UnOp::Not, v[0]);
    "neg", 1, Numbers, false, |b, _, v| b.un(UnOp::Neg, v[0]);
    "abs", 1, Numbers, false, |b, _, v| b.un(UnOp::Abs, v[0]);
    "sign", 1, Numbers, false, |b, _, v| {
        let (one, zero) = (number(b, v[0], 1.0), number(b, v[0], 0.0));
        let ty = b.type_of(v[0]);
        let positive = b.cmp(CmpOp::Gt, v[0], zero);
        let negative = b.cmp(CmpOp::Lt, v[0], zero);
        let minus = if ty.is_float() || ty.is_signed() { number(b, v[0], -1.0) } else { zero };
        let below = b.select(negative, minus, v[0]);
        b.select(positive, one, below)
    };
    "reciprocal", 1, Floats, false, |b, _, v| {
        let one = number(b, v[0], 1.0);
        b.bin(BinOp::Div, one, v[0])
    };
    "sqrt", 1, Floats, false, |b, _, v| b.un(UnOp::Sqrt, v[0]);
    "floor", 1, Floats, false, |b, _, v| b.un(UnOp::Floor, v[0]);
    "ceil", 1, Floats, false, |b, _, v| b.un(UnOp::Ceil, v[0]);
    "round", 1, Floats, false, |b, _, v| b.un(UnOp::Nearest, v[0]);
    "exp", 1, Floats, false, |b, _, v| call(b, Func::Exp, v);
    "log", 1, Floats, false, |b, _, v| call(b, Func::Log, v);
    "tanh", 1, Floats, false, |b, _, v| call(b, Func::Tanh, v);
    "erf", 1, Floats, false, |b, _, v| call(b, Func::Erf, v);
    "sin", 1, Floats, false, |b, _, v| call(b, Func::Sin, v);
    "cos", 1, Floats, false, |b, _, v| call(b, Func::Cos, v);
    "tan", 1, Floats, false, |b, _, v| call(b, Func::Tan, v);
    "asin", 1, Floats, false, |b, _, v| call(b, Func::Asin, v);
    "acos", 1, Floats, false, |b, _, v| call(b, Func::Acos, v);
    "atan", 1, Floats, false, |b, _, v| call(b, Func::Atan, v);
    "sinh", 1, Floats, false, |b, _, v| call(b, Func::Sinh, v);
    "cosh", 1, Floats, false, |b, _, v| call(b, Func::Cosh, v);
    "asinh", 1, Floats, false, |b, _, v| call(b, Func::Asinh, v);
    "acosh", 1, Floats, false, |b, _, v| call(b, Func::Acosh, v);
    "atanh", 1, Floats, false, |b, _, v| call(b, Func::Atanh, v);
    "sigmoid", 1, Floats, false, |b, _, v| sigmoid(b, v[0]);
    "softplus", 1, Floats, false, |b, _, v| softplus(b, v[0]);
    "softsign", 1, Floats, false, |b, _, v| {
        let magnitude = b.un(UnOp::Abs, v[0]);
        let sum = apply(b, BinOp::Add, magnitude, 1.0);
        b.bin(BinOp::Div, v[0], sum)
    };
    "relu", 1, Numbers, false, |b, _, v| {
        // A NaN stays: it is not less than 0.
        let zero = number(b, v[0], 0.0);
        let negative = b.cmp(CmpOp::Lt, v[0], zero);
        b.select(negative, zero, v[0])
    };
    "leaky_relu", 1, Floats, false, |b, a, v| {
        let scaled = apply(b, BinOp::Mul, v[0], a.float("alpha", 0.01).into());
        unless(b, CmpOp::Ge, v[0], 0.0, scaled)
    };
    "thresholded_relu", 1, Floats, false, |b, a, v| {
        let alpha = number(b, v[0], a.float("alpha", 1.0).into());
        let zero = number(b, v[0], 0.0);
        let below = b.cmp(CmpOp::Le, v[0], alpha);
        b.select(below, zero, v[0])
    };
    "elu", 1, Floats, false, |b, a, v| {
        let e = expm1(b, v[0]);
        let scaled = apply(b, BinOp::Mul, e, a.float("alpha", 1.0).into());
        unless(b, CmpOp::Gt, v[0], 0.0, scaled)
    };
    "celu", 1, Floats, false, |b, a, v| {
        let alpha = f64::from(a.float("alpha", 1.0));
        let inner = apply(b, BinOp::Div, v[0], alpha);
        let e = expm1(b, inner);
        let scaled = apply(b, BinOp::Mul, e, alpha);
        unless(b, CmpOp::Gt, v[0], 0.0, scaled)
    };
    "selu", 1, Floats, false, |b, a, v| {
        let e = expm1(b, v[0]);
        let scaled = apply(b, BinOp::Mul, e, a.float("alpha", 1.673_263_2).into());
        let y = unless(b, CmpOp::Gt, v[0], 0.0, scaled);
        apply(b, BinOp::Mul, y, a.float("gamma", 1.050_701).into())
    };
    "hard_sigmoid", 1, Floats, false, |b, a, v| {
        let scaled = apply(b, BinOp::Mul, v[0], a.float("alpha", 0.2).into());
        let moved = apply(b, BinOp::Add, scaled, a.float("beta", 0.5).into());
        let low = apply(b, BinOp::Max, moved, 0.0);
        apply(b, BinOp::Min, low, 1.0)
    };
    "hard_swish", 1, Floats, false, |b, _, v| {
        let sixth = number(b, v[0], 1.0 / 6.0);
        let scaled = b.bin(BinOp::Mul, v[0], sixth);
        let moved = apply(b, BinOp::Add, scaled, 0.5);
        let low = apply(b, BinOp::Max, moved, 0.0);
        let gate = apply(b, BinOp::Min, low, 1.0);
        b.bin(BinOp::Mul, v[0], gate)
    };
    "mish", 1, Floats, false, |b, _, v| {
        let s = softplus(b, v[0]);
        let t = b.call(Func::Tanh, &[s]);
        b.bin(BinOp::Mul, v[0], t)
    };
    "swish", 1, Floats, false, |b, a, v| {
        let scaled = apply(b, BinOp::Mul, v[0], a.float("alpha", 1.0).into());
        let s = sigmoid(b, scaled);
        b.bin(BinOp::Mul, v[0], s)
    };
    "shrink", 1, Numbers, false, |b, a, v| {
        // x - bias above lambd, x + bias below -lambd, else 0; in f64 for integers, as ONNX computes it.
        let ty = b.type_of(v[0]);
        let x = if ty.is_float() { v[0] } else { b.cast(Elem::F64, v[0]) };
        let (lambd, bias) = (f64::from(a.float("lambd", 0.5)), f64::from(a.float("bias", 0.0)));
        let zero = number(b, x, 0.0);
        let (above, below) = (apply(b, BinOp::Sub, x, bias), apply(b, BinOp::Add, x, bias));
        let (high, low) = (number(b, x, lambd), number(b, x, -lambd));
        let is_high = b.cmp(CmpOp::Gt, x, high);
        let is_low = b.cmp(CmpOp::Lt, x, low);
        let y = b.select(is_low, below, zero);
        let y = b.select(is_high, above, y);
        b.cast(ty, y)
    };
    "gelu", 1, Floats, false, |b, a, v| gelu(b, a, v[0]);
    "is_nan", 1, Floats, true, |b, _, v| b.cmp(CmpOp::Ne, v[0], v[0]);
    "is_inf", 1, Floats, true, |b, a, v| {
        let wanted = |b: &mut Builder, on: i64, x: f64| {
            let x = number(b, v[0], if on != 0 { x } else { f64::NAN });
            b.cmp(CmpOp::Eq, v[0], x)
        };
        let above = wanted(b, a.int("detect_positive", 1), f64::INFINITY);
        let below = wanted(b, a.int("detect_negative", 1), f64::NEG_INFINITY);
        b.bin(BinOp::Or, above, below)
    };
}

fn infer(c: &mut Infer<'_>, row: &Row) -> Result<Vec<Fact>, String> {
    let elem = c.elem(0)?;
    if !row.takes.admits(elem) {
        return Err(format!("element type {elem} is not allowed; allowed: {}", row.takes.words()));
    }
    if c.inputs() > row.arity {
        return Err(format!("there are {} inputs, {} are taken", c.inputs(), row.arity));
    }
    let mut shape = c.shape(0)?;
    if row.arity == 2 {
        let other = c.elem(1)?;
        if other != elem {
            return Err(format!("element types differ: {elem} and {other}"));
        }
        let right = c.shape(1)?;
        shape = c.broadcast(&shape, &right)?;
    }
    let known = (row.arity == 2 && elem == Elem::I64).then(|| follow(c, row.def.name)).flatten();
    Ok(vec![Fact { known, ..Fact::tensor(if row.test { Elem::Bool } else { elem }, shape) }])
}

/// Shape arithmetic: elements of small tensors of i64, as expressions. Integers alone are left to the arithmetic of
/// tensors, which wraps and truncates as it must.
fn follow(c: &Infer<'_>, name: &str) -> Option<Vec<Dim>> {
    let (left, right) = (c.input(0).ok()?, c.input(1).ok()?);
    let (a, b) = (left.known.as_ref()?, right.known.as_ref()?);
    if a.len() != 1 && b.len() != 1 && left.shape().ok()? != right.shape().ok()? {
        return None;
    }
    let zip = |op: &dyn Fn(&Dim, &Dim) -> Option<Dim>| -> Option<Vec<Dim>> {
        let pick = |v: &[Dim], i: usize| v[if v.len() == 1 { 0 } else { i }].clone();
        let count = if a.len() == 1 { b.len() } else { a.len() };
        (0..count).map(|i| op(&pick(a, i), &pick(b, i))).collect()
    };
    // Of two integers the result is one, or it is not followed.
    let checked = |int: fn(i64, i64) -> Option<i64>, dim: fn(&Dim, &Dim) -> Dim| {
        zip(&|x, y| match (x.int(), y.int()) {
            (Some(x), Some(y)) => int(x, y).map(Dim::from),
            _ => Some(dim(x, y)),
        })
    };
    match name {
        "add" => checked(i64::checked_add, |x, y| x.clone() + y.clone()),
        "sub" => checked(i64::checked_sub, |x, y| x.clone() - y.clone()),
        "mul" => checked(i64::checked_mul, |x, y| x.clone() * y.clone()),
        "min" => zip(&|x, y| Some(x.lesser(y))),
        "max" => zip(&|x, y| Some(x.greater(y))),
        // Division of tensors truncates, that of dims floors: one where nothing is negative.
        "div" => zip(&|x, y| match (x.int(), y.int()) {
            (Some(x), Some(y)) => x.checked_div(y).map(Dim::from),
            (None, Some(y)) if y > 0 && c.is_size(x) => Some(x.div(&Dim::from(y))),
            _ => None,
        }),
        _ => None,
    }
}

/// The nest of one elementwise operation: `rank` dims, one input operand an input, one output.
pub fn nest(
    name: &str,
    rank: usize,
    inputs: &[Elem],
    out: Elem,
    body: &mut dyn FnMut(&mut Builder, &[Value]) -> Value,
) -> Nest {
    let mut b = Builder::new(name, 0, rank.max(1));
    let operands: Vec<u32> =
        inputs.iter().enumerate().map(|(i, &elem)| b.operand(format!("x{i}"), elem, Access::In, Step::Any)).collect();
    let y = b.operand("y", out, Access::Out, Step::Any);
    let values: Vec<Value> = operands.iter().map(|&o| b.load(o)).collect();
    let value = body(&mut b, &values);
    let value = b.cast(out.widened(), value);
    b.store(y, value);
    b.finish()
}

/// Runs a body on tensors that broadcast.
fn run(c: &Eval<'_>, out: Elem, body: &mut dyn FnMut(&mut Builder, &[Value]) -> Value) -> Result<Vec<Tensor>, String> {
    let inputs = (0..c.inputs.len()).map(|i| c.input(i)).collect::<Result<Vec<_>, _>>()?;
    let shape = inputs.iter().try_fold(Vec::new(), |shape, t| broadcast(&shape, &t.shape))?;
    let elems: Vec<Elem> = inputs.iter().map(|t| t.elem).collect();
    let nest = nest("reference", shape.len(), &elems, out, body);
    let extents = if shape.is_empty() { vec![1] } else { shape.clone() };
    let with = inputs
        .iter()
        .map(|t| broadcast_strides(&t.shape, &extents).map(|s| (*t, 0, s)))
        .collect::<Result<Vec<_>, _>>()?;
    let own = Tensor::strides(&extents).into_iter().map(|s| s as i64).collect();
    run_nest(c, &nest, &extents, &with, &[(shape, own)])
}

fn eval(c: &Eval<'_>, row: &Row) -> Result<Vec<Tensor>, String> {
    let elem = c.input(0)?.elem;
    let out = if row.test { Elem::Bool } else { elem };
    run(c, out, &mut |b, v| (row.body)(b, c.attrs, v))
}

/// Converts to the type `to`.
pub static CAST: OpDef = OpDef {
    name: "cast",
    infer: |c| {
        let to = c.attrs.elem("to");
        let fact = c.input(0)?;
        let fits = |d: &Dim| to == Elem::I64 || d.int().is_none_or(|v| i32::try_from(v).is_ok());
        let keep = matches!(fact.elem()?, Elem::I64 | Elem::I32)
            && matches!(to, Elem::I64 | Elem::I32)
            && fact.known.iter().flatten().all(fits);
        Ok(vec![Fact { known: fact.known.clone().filter(|_| keep), ..Fact::tensor(to, fact.shape()?.to_vec()) }])
    },
    eval: |c| {
        let to = c.attrs.elem("to");
        run(c, c.elem(to), &mut |b, v| b.cast(to, v[0]))
    },
};

/// The second input where the first, a bool, is true, else the third.
pub static WHERE: OpDef = OpDef {
    name: "where",
    infer: |c| {
        if c.elem(0)? != Elem::Bool {
            return Err("the condition must be bool".to_owned());
        }
        let elem = c.elem(1)?;
        if elem != c.elem(2)? {
            return Err("both choices must have one element type".to_owned());
        }
        let (condition, yes, no) = (c.shape(0)?, c.shape(1)?, c.shape(2)?);
        let shape = c.broadcast(&yes, &no)?;
        let shape = c.broadcast(&condition, &shape)?;
        Ok(vec![Fact::tensor(elem, shape)])
    },
    eval: |c| {
        let elem = c.input(1)?.elem;
        run(c, elem, &mut |b, v| b.select(v[0], v[1], v[2]))
    },
};
