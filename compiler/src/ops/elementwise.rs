//! Elementwise operations; lowered as fused regions.

use super::{Lowering, OnnxOp};
use crate::import::{ImportError, NodeImport, unsupported};
use smalti_graph::{Attr, Attrs, Elem, ValueId};

macro_rules! same {
    ($($onnx:literal => $graph:literal),* $(,)?) => {
        [$(OnnxOp { name: $onnx, import: |c| Ok(vec![plain(c, $graph)?]) }),*]
    };
}

/// Operations whose inputs are the graph operation's own, without attributes.
pub(super) const SAME: &[OnnxOp] = &same! {
    "Add" => "add", "Sub" => "sub", "Mul" => "mul", "Div" => "div", "Pow" => "pow", "PRelu" => "prelu",
    "And" => "and", "Or" => "or", "Xor" => "xor", "Not" => "not",
    "BitwiseAnd" => "bitwise_and", "BitwiseOr" => "bitwise_or", "BitwiseXor" => "bitwise_xor", "BitwiseNot" => "bitwise_not",
    "Equal" => "equal", "Less" => "less", "LessOrEqual" => "less_or_equal",
    "Greater" => "greater", "GreaterOrEqual" => "greater_or_equal",
    "Neg" => "neg", "Abs" => "abs", "Sign" => "sign", "Reciprocal" => "reciprocal", "Sqrt" => "sqrt",
    "Floor" => "floor", "Ceil" => "ceil", "Round" => "round", "Exp" => "exp", "Log" => "log", "Tanh" => "tanh",
    "Erf" => "erf", "Sin" => "sin", "Cos" => "cos", "Tan" => "tan", "Asin" => "asin", "Acos" => "acos", "Atan" => "atan",
    "Sigmoid" => "sigmoid", "Softplus" => "softplus", "Softsign" => "softsign", "Relu" => "relu",
    "Sinh" => "sinh", "Cosh" => "cosh", "Asinh" => "asinh", "Acosh" => "acosh", "Atanh" => "atanh",
    "HardSwish" => "hard_swish", "Mish" => "mish", "IsNaN" => "is_nan", "Where" => "where",
};

pub(super) const WITH_ATTRIBUTES: &[OnnxOp] = &[
    OnnxOp { name: "LeakyRelu", import: |c| attrs(c, "leaky_relu", &[("alpha", 0.01)]) },
    OnnxOp { name: "ThresholdedRelu", import: |c| attrs(c, "thresholded_relu", &[("alpha", 1.0)]) },
    OnnxOp { name: "Elu", import: |c| attrs(c, "elu", &[("alpha", 1.0)]) },
    OnnxOp { name: "Celu", import: |c| attrs(c, "celu", &[("alpha", 1.0)]) },
    OnnxOp { name: "Selu", import: |c| attrs(c, "selu", &[("alpha", 1.673_263_2), ("gamma", 1.050_701)]) },
    OnnxOp { name: "HardSigmoid", import: |c| attrs(c, "hard_sigmoid", &[("alpha", 0.2), ("beta", 0.5)]) },
    OnnxOp { name: "Shrink", import: |c| attrs(c, "shrink", &[("lambd", 0.5), ("bias", 0.0)]) },
    OnnxOp { name: "Swish", import: |c| attrs(c, "swish", &[("alpha", 1.0)]) },
    OnnxOp {
        name: "Gelu",
        import: |c| {
            let kind = Attr::Word(c.text("approximate"));
            let x = c.input(0)?;
            Ok(vec![c.one("gelu", Attrs::none().with("approximate", kind), &[x])?])
        },
    },
    OnnxOp {
        name: "IsInf",
        import: |c| {
            let on = |name: &str| (name.to_owned(), Attr::Int(c.int(name, 1)));
            let attrs = Attrs([on("detect_positive"), on("detect_negative")].into());
            let x = c.input(0)?;
            Ok(vec![c.one("is_inf", attrs, &[x])?])
        },
    },
    OnnxOp {
        name: "Mod",
        import: |c| {
            let attrs = Attrs::none().with("fmod", Attr::Int(c.int("fmod", 0)));
            let inputs = c.all()?;
            if c.elem(c.input(0)?)?.is_float() && c.int("fmod", 0) == 0 {
                return Err("floats need the attribute fmod = 1".into());
            }
            Ok(vec![c.one("mod", attrs, &inputs)?])
        },
    },
    OnnxOp {
        name: "BitShift",
        import: |c| {
            let op = if c.text("direction") == "RIGHT" { "shift_right" } else { "shift_left" };
            Ok(vec![plain(c, op)?])
        },
    },
    OnnxOp {
        name: "Cast",
        import: |c| {
            let (x, to) = (c.input(0)?, c.elem_attr("to")?);
            Ok(vec![cast(c, x, to)?])
        },
    },
    OnnxOp {
        name: "CastLike",
        import: |c| {
            let (x, like) = (c.input(0)?, c.input(1)?);
            let to = c.elem(like)?;
            Ok(vec![cast(c, x, to)?])
        },
    },
    OnnxOp { name: "Min", import: |c| chain(c, "min") },
    OnnxOp { name: "Max", import: |c| chain(c, "max") },
    OnnxOp { name: "Sum", import: |c| chain(c, "add") },
];

pub(super) const COMPOSED: &[OnnxOp] = &[
    OnnxOp {
        name: "Mean",
        import: |c| {
            let (count, elem) = (c.count(), c.input(0)?);
            let elem = c.elem(elem)?;
            let sum = chain(c, "add")?[0];
            let count = c.scalar(elem, count as f64);
            Ok(vec![c.one("div", Attrs::none(), &[sum, count])?])
        },
    },
    OnnxOp {
        name: "Clip",
        import: |c| {
            let mut x = c.input(0)?;
            let elem = c.elem(x)?;
            for (i, (name, op)) in [("min", "max"), ("max", "min")].into_iter().enumerate() {
                let bound = match c.optional(i + 1) {
                    Some(bound) => Some(bound),
                    None if c.has(name) => {
                        let value = c.float(name, 0.0).into();
                        Some(c.scalar(elem, value))
                    }
                    None => None,
                };
                if let Some(bound) = bound {
                    x = c.one(op, Attrs::none(), &[x, bound])?;
                }
            }
            Ok(vec![alias(c, x)?])
        },
    },
];

pub(super) const LOWERINGS: &[(&str, Lowering)] = &[("fused", |l, node| l.fused(node))];

fn plain(c: &mut NodeImport<'_, '_>, op: &str) -> Result<ValueId, ImportError> {
    let inputs = c.all()?;
    if inputs.is_empty() {
        return Err("there are no inputs".into());
    }
    if c.has("broadcast") {
        return unsupported("the attribute 'broadcast' of opset 6 and older");
    }
    c.one(op, Attrs::none(), &inputs)
}

fn attrs(c: &mut NodeImport<'_, '_>, op: &str, names: &[(&str, f32)]) -> Result<Vec<ValueId>, ImportError> {
    let attrs = names.iter().map(|&(n, d)| (n.to_owned(), Attr::Float(c.float(n, d)))).collect();
    let x = c.input(0)?;
    Ok(vec![c.one(op, Attrs(attrs), &[x])?])
}

fn cast(c: &mut NodeImport<'_, '_>, x: ValueId, to: Elem) -> Result<ValueId, ImportError> {
    c.one("cast", Attrs::none().with("to", Attr::Elem(to)), &[x])
}

/// Many inputs, two at a time from the left.
fn chain(c: &mut NodeImport<'_, '_>, op: &str) -> Result<Vec<ValueId>, ImportError> {
    let inputs = c.all()?;
    let (&first, rest) = inputs.split_first().ok_or("there are no inputs")?;
    let mut value = first;
    for &next in rest {
        value = c.one(op, Attrs::none(), &[value, next])?;
    }
    Ok(vec![alias(c, value)?])
}

/// A value of its own for an output that is an input.
pub(super) fn alias(c: &mut NodeImport<'_, '_>, value: ValueId) -> Result<ValueId, ImportError> {
    let inputs = c.all().unwrap_or_default();
    if !inputs.contains(&value) {
        return Ok(value);
    }
    let rank = c.rank(value)? as i64;
    let order = Attr::Ints((0..rank).collect());
    c.one("transpose", Attrs::none().with("perm", order), &[value])
}
