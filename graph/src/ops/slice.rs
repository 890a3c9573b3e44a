//! `slice`: inputs data, starts, ends, then optional axes and steps, as ONNX's Slice-13. Steps must be known.

use super::{Eval, OpDef, axis, gathered};
use crate::Tensor;
use crate::graph::{Fact, Infer};
use smalti_dims::Dim;

/// The operation.
pub static SLICE: OpDef = OpDef { name: "slice", infer, eval };

/// What is taken of one dim: from `start` on, `extent` elements `step` apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// The first element.
    pub start: Dim,
    /// How many.
    pub extent: Dim,
    /// From one to the next.
    pub step: i64,
}

/// What a slice takes of each dim.
///
/// # Errors
/// Axes or steps that are not known or not possible.
pub fn taken(c: &mut Infer<'_>) -> Result<Vec<Taken>, String> {
    let shape = c.shape(0)?;
    let (starts, ends) = (c.elements(1)?, c.elements(2)?);
    let known = |list: Vec<Dim>, what: &str| {
        let ints: Option<Vec<i64>> = list.iter().map(Dim::int).collect();
        ints.ok_or(format!("{what} must be known when the model is compiled"))
    };
    let axes = if c.has(3) { known(c.elements(3)?, "axes")? } else { (0..starts.len() as i64).collect() };
    let steps = if c.has(4) { known(c.elements(4)?, "steps")? } else { vec![1; starts.len()] };
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return Err("starts, ends, axes and steps must have one length".to_owned());
    }
    super::axes(&axes, shape.len())?;
    let zero = Dim::from(0i64);
    let mut taken: Vec<Taken> =
        shape.iter().map(|d| Taken { start: zero.clone(), extent: d.clone(), step: 1 }).collect();
    for (i, &a) in axes.iter().enumerate() {
        let d = axis(a, shape.len())?;
        let size = &shape[d];
        let step = steps[i];
        if step == 0 || step == i64::MIN {
            return Err(format!("a step of {step}"));
        }
        // Clamped to the places between (and, going back, before) the elements.
        let low = Dim::from(if step > 0 { 0i64 } else { -1 });
        let high = if step > 0 { size.clone() } else { size.clone() - Dim::from(1i64) };
        let place = |v: &Dim, floor: &Dim| {
            let from_end = super::from_end(v, size, c.is_size(v));
            // The limits that exporters write for "to the end" lie far beyond every size.
            match v.int() {
                Some(n) if n >= i64::from(i32::MAX) => high.clone(),
                Some(n) if n <= i64::from(i32::MIN) => floor.clone(),
                _ => from_end.greater(floor).lesser(&high),
            }
        };
        let start = place(&starts[i], &zero);
        let end = place(&ends[i], &low);
        let span = if step > 0 { end - start.clone() } else { start.clone() - end };
        let extent = span.div_ceil(&Dim::from(step.abs())).greater(&zero);
        taken[d] = Taken { start, extent, step };
    }
    Ok(taken)
}

fn infer(c: &mut Infer<'_>) -> Result<Vec<Fact>, String> {
    let taken = taken(c)?;
    let fact = c.input(0)?;
    let known = match (&fact.known, &taken[..]) {
        (Some(elements), [t]) => t.start.int().zip(t.extent.int()).and_then(|(start, extent)| {
            (0..extent).map(|i| elements.get(usize::try_from(start + i * t.step).ok()?).cloned()).collect()
        }),
        _ => None,
    };
    let elem = fact.elem()?;
    Ok(vec![Fact { known, ..Fact::tensor(elem, taken.into_iter().map(|t| t.extent)) }])
}

fn eval(c: &Eval<'_>) -> Result<Vec<Tensor>, String> {
    let x = c.input(0)?;
    let (starts, ends) = (c.input(1)?.ints(), c.input(2)?.ints());
    let optional = |i: usize| c.inputs.get(i).copied().flatten().map(Tensor::ints);
    let axes = optional(3).unwrap_or((0..starts.len() as i64).collect());
    let steps = optional(4).unwrap_or(vec![1; starts.len()]);
    super::axes(&axes, x.shape.len())?;
    let own = Tensor::strides(&x.shape);
    let (mut shape, mut offset) = (x.shape.clone(), 0);
    let mut strides: Vec<i64> = own.iter().map(|&s| s as i64).collect();
    for i in 0..starts.len() {
        let d = axis(axes[i], x.shape.len())?;
        let (size, step) = (x.shape[d] as i64, steps[i]);
        if step == 0 || step == i64::MIN {
            return Err(format!("a step of {step}"));
        }
        if size == 0 {
            continue;
        }
        let place =
            |v: i64, low: i64, high: i64| (if v < 0 { v.saturating_add(size) } else { v }).clamp(low, high.max(low));
        let (start, span) = if step > 0 {
            let start = place(starts[i], 0, size);
            (start, place(ends[i], 0, size) - start)
        } else {
            let start = place(starts[i], 0, size - 1);
            (start, start - place(ends[i], -1, size - 1))
        };
        shape[d] = if span > 0 { (span as u64).div_ceil(step.unsigned_abs()) as usize } else { 0 };
        offset += start * own[d] as i64;
        strides[d] = own[d] as i64 * step;
    }
    Ok(vec![gathered(x, &shape, offset, &strides)])
}
