//! `max_pool`, `average_pool`: over windows of `[n][channels][spatial…]`. Attributes `kernel_shape`, `strides`,
//! `pads`, `dilations`; for averages `count_include_pad`. Padding takes no part in a maximum.

use super::conv::Window;
use super::{Eval, OpDef, each};
use crate::Tensor;
use crate::graph::{Attrs, Fact, Infer};

/// The greatest value of a window; a NaN if one is in it.
pub static MAX_POOL: OpDef = OpDef { name: "max_pool", infer, eval: |c| eval(c, true) };
/// The mean of a window.
pub static AVERAGE_POOL: OpDef = OpDef { name: "average_pool", infer, eval: |c| eval(c, false) };

/// The window of a pooling node.
///
/// # Errors
/// Attributes that contradict each other.
pub fn window(attrs: &Attrs) -> Result<Window, String> {
    let kernel: Option<Vec<usize>> =
        attrs.ints("kernel_shape").iter().map(|&k| usize::try_from(k).ok().filter(|&k| k > 0)).collect();
    let window = Window::new(attrs, kernel.ok_or("'kernel_shape' has a value below 1")?)?;
    let n = window.kernel.len();
    for d in 0..n {
        let reach = window.dilations[d] * (window.kernel[d] - 1) + 1;
        if window.pads[d] >= reach || window.pads[d + n] >= reach {
            return Err(format!("padding must be smaller than the window of {reach}"));
        }
    }
    Ok(window)
}

fn infer(c: &mut Infer<'_>) -> Result<Vec<Fact>, String> {
    let (elem, x) = (c.elem(0)?, c.shape(0)?);
    let window = window(c.attrs)?;
    if x.len() != window.kernel.len() + 2 {
        return Err(format!("rank {} for a window of {} dims", x.len(), window.kernel.len()));
    }
    let mut shape = x[..2].to_vec();
    shape.extend(window.outputs(&x[2..])?);
    Ok(vec![Fact::tensor(elem, shape)])
}

fn eval(c: &Eval<'_>, max: bool) -> Result<Vec<Tensor>, String> {
    let x = c.input(0)?;
    let window = window(c.attrs)?;
    let spatial = window.kernel.len();
    let include = c.attrs.int("count_include_pad", 0) != 0;
    let mut shape = x.shape[..2].to_vec();
    for d in 0..spatial {
        shape.push(window.extent(d, x.shape[d + 2])?);
    }
    let strides = Tensor::strides(&x.shape);
    let mut out = Tensor::zeros(x.elem, shape.clone());
    let size = x.elem.size();
    let mut i = 0;
    each(&shape, |at| {
        let mut inside: Vec<usize> = Vec::new();
        let mut counted = 0usize;
        each(&window.kernel, |tap| {
            let mut offset = at[0] * strides[0] + at[1] * strides[1];
            // A tap beyond the declared padding (only there where the output is rounded up) is never counted.
            let mut padded = true;
            let mut real = true;
            for d in 0..spatial {
                let position = at[d + 2] * window.strides[d] + tap[d] * window.dilations[d];
                padded &= position < x.shape[d + 2] + window.pads[d] + window.pads[d + spatial];
                match window.position(d, at[d + 2], tap[d], x.shape[d + 2]) {
                    Some(p) => offset += p * strides[d + 2],
                    None => real = false,
                }
            }
            if real {
                inside.push(offset);
            }
            counted += usize::from(real || include && padded);
        });
        if max {
            let greatest = inside.iter().copied().reduce(|best, o| {
                let (a, b) = (x.get(best), x.get(o));
                if a.is_nan() || b <= a { best } else { o }
            });
            if let Some(o) = greatest {
                let value = x.at(o).to_vec();
                out.bytes[i * size..(i + 1) * size].copy_from_slice(&value);
            }
        } else {
            let sum = inside
                .iter()
                .fold(0.0, |sum, &o| if c.exact { sum + x.get(o) } else { f64::from(sum as f32 + x.get(o) as f32) });
            let mean = if c.exact { sum / counted as f64 } else { f64::from(sum as f32 / counted as f32) };
            out.set(i, mean);
        }
        i += 1;
    });
    Ok(vec![out])
}
