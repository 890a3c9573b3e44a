//! Loop nests of random shape and body, and data among which are NaN, infinities, zeros and denormals.

use arbitrary::{Result, Unstructured};
use smalti_codegen::{Access, BinOp, Builder, CmpOp, Elem, Func, Nest, RedOp, Step, UnOp, Value};

/// A nest and what it runs on.
#[derive(Clone, Debug)]
pub struct Case {
    /// The nest.
    pub nest: Nest,
    /// Extents.
    pub extents: Vec<usize>,
    /// Strides, operand by operand.
    pub strides: Vec<i64>,
    /// The operands' bytes.
    pub data: Vec<Vec<u8>>,
}

/// Types that machine code has.
const TYPES: [Elem; 11] = [
    Elem::F32,
    Elem::F64,
    Elem::I32,
    Elem::I64,
    Elem::I16,
    Elem::I8,
    Elem::U8,
    Elem::U16,
    Elem::U32,
    Elem::U64,
    Elem::Bool,
];

/// Makes a case.
///
/// # Errors
/// Too few bytes.
pub fn case(u: &mut Unstructured<'_>) -> Result<Case> {
    let outer = u.int_in_range(0..=2usize)?;
    let inner = u.int_in_range(1..=2usize)?;
    let rank = outer + inner;
    let extents: Vec<usize> = (0..rank).map(|_| u.int_in_range(0..=7)).collect::<Result<_>>()?;
    // A long last dim now and then, so that vectors and partials are filled.
    let mut extents = extents;
    if u.ratio(1, 2)? {
        extents[rank - 1] = u.int_in_range(0..=90)?;
    }
    let mut b = Builder::new("fuzzed", outer, inner);
    let mut strides = Vec::new();
    let mut data = Vec::new();
    let mut loads = Vec::new();
    for i in 0..u.int_in_range(1..=3)? {
        // f32 is what vectors are made for.
        let elem = if u.ratio(1, 2)? { Elem::F32 } else { *u.choose(&TYPES)? };
        let (own, step, len) = layout(u, &extents, false)?;
        loads.push(b.operand(format!("x{i}"), elem, Access::In, step));
        strides.extend(own);
        data.push((0..len).map(|_| element(u, elem)).collect::<Result<Vec<_>>>()?.concat());
    }
    let (own, step, len) = layout(u, &extents, true)?;
    let reduces = outer > 0 && u.ratio(1, 3)?;
    b.inner_loop();
    let mut values: Vec<Value> = loads.iter().map(|&o| b.load(o)).collect();
    for _ in 0..u.int_in_range(1..=8)? {
        let value = instruction(u, &mut b, &values)?;
        values.push(value);
    }
    let last = *values.last().unwrap_or(&values[0]);
    let (result, own, step, len) = if reduces && b.type_of(last) != Elem::Bool {
        let op = *u.choose(&[RedOp::Sum, RedOp::Prod, RedOp::Min, RedOp::Max])?;
        let folded = b.reduce(op, last);
        b.once();
        // One element an outer point.
        let mut dense = vec![0i64; rank];
        let mut total = 1i64;
        for d in (0..outer).rev() {
            dense[d] = total;
            total *= extents[d] as i64;
        }
        (folded, dense, Step::Zero, total.max(0) as usize)
    } else {
        (last, own, step, len)
    };
    let elem = b.type_of(result);
    let out = b.operand("y", elem, Access::Out, step);
    b.store(out, result);
    strides.extend(own);
    data.push(vec![0; len * elem.size()]);
    Ok(Case { nest: b.finish(), extents, strides, data })
}

/// Strides of an operand, the promise that they keep, and how many elements they reach.
fn layout(u: &mut Unstructured<'_>, extents: &[usize], output: bool) -> Result<(Vec<i64>, Step, usize)> {
    let rank = extents.len();
    let mut strides = vec![0i64; rank];
    let mut total = 1i64;
    // A gap after the last dim makes its stride 2; only inputs may be broadcast.
    let wide = u.ratio(1, 4)?;
    if wide {
        total = 2;
    }
    for d in (0..rank).rev() {
        let broadcast = !output && u.ratio(1, 4)?;
        if !broadcast {
            strides[d] = total;
            total *= extents[d].max(1) as i64;
        }
    }
    let step = match strides[rank - 1] {
        1 if u.ratio(3, 4)? => Step::Unit,
        0 if u.ratio(3, 4)? => Step::Zero,
        _ => Step::Any,
    };
    let last: i64 = extents.iter().zip(&strides).map(|(&e, s)| (e.max(1) as i64 - 1) * s).sum();
    Ok((strides, step, last as usize + 1))
}

fn element(u: &mut Unstructured<'_>, elem: Elem) -> Result<Vec<u8>> {
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1e-40, 3e9, -1.0, 88.0];
    let pick: u8 = u.arbitrary()?;
    let x = match special.get(usize::from(pick % 32)) {
        Some(x) => *x,
        None => f32::from(u.arbitrary::<i16>()?) / 256.0,
    };
    Ok(match elem {
        Elem::F32 => x.to_le_bytes().to_vec(),
        Elem::F64 => f64::from(x).to_le_bytes().to_vec(),
        Elem::Bool => vec![pick & 1],
        _ => {
            let word = u.arbitrary::<i64>()? >> (pick % 60);
            word.to_le_bytes()[..elem.size()].to_vec()
        }
    })
}

fn instruction(u: &mut Unstructured<'_>, b: &mut Builder, values: &[Value]) -> Result<Value> {
    let a = *u.choose(values)?;
    let ty = b.type_of(a);
    // Another value of the type, converted where there is none.
    let other = |u: &mut Unstructured<'_>, b: &mut Builder| -> Result<Value> {
        let c = *u.choose(values)?;
        Ok(b.cast(ty, c))
    };
    Ok(match u.int_in_range(0..=6u8)? {
        0 if ty.is_float() => {
            let op =
                *u.choose(&[UnOp::Neg, UnOp::Abs, UnOp::Sqrt, UnOp::Floor, UnOp::Ceil, UnOp::Trunc, UnOp::Nearest])?;
            b.un(op, a)
        }
        0 if ty == Elem::Bool => b.un(UnOp::Not, a),
        0 => {
            let op = *u.choose(&[UnOp::Neg, UnOp::Abs, UnOp::Not])?;
            b.un(op, a)
        }
        1 | 2 => {
            let c = other(u, b)?;
            let op = if ty.is_float() {
                *u.choose(&[BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Div, BinOp::Min, BinOp::Max])?
            } else if ty == Elem::Bool {
                *u.choose(&[BinOp::And, BinOp::Or, BinOp::Xor])?
            } else {
                *u.choose(&[
                    BinOp::Add,
                    BinOp::Sub,
                    BinOp::Mul,
                    BinOp::Div,
                    BinOp::Rem,
                    BinOp::Min,
                    BinOp::Max,
                    BinOp::And,
                    BinOp::Or,
                    BinOp::Xor,
                    BinOp::Shl,
                    BinOp::Shr,
                ])?
            };
            b.bin(op, a, c)
        }
        3 => {
            let c = other(u, b)?;
            let op = *u.choose(&[CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le, CmpOp::Gt, CmpOp::Ge])?;
            let truth = b.cmp(op, a, c);
            b.select(truth, a, c)
        }
        4 => {
            let to = *u.choose(&TYPES)?;
            b.cast(to, a)
        }
        5 if ty == Elem::F32 => {
            let func = *u.choose(&[Func::Exp, Func::Tanh, Func::Log, Func::Erf])?;
            b.call(func, &[a])
        }
        _ if ty.is_float() => {
            let (c, d) = (other(u, b)?, other(u, b)?);
            b.fma(a, c, d)
        }
        _ => {
            let bits = u.arbitrary::<u8>()?;
            let k = b.number(ty, f64::from(bits & if ty == Elem::Bool { 1 } else { 0x7f }));
            if ty == Elem::Bool { b.bin(BinOp::Xor, a, k) } else { b.bin(BinOp::Add, a, k) }
        }
    })
}
