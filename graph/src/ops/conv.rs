//! `conv`: convolution of `[n][channels][spatial…]` with weights `[out channels][channels/groups][kernel…]` and an
//! optional bias. Attributes `strides`, `pads` (all begins, then all ends), `dilations`, `group`.
//!
//! As-run arithmetic: one fused multiply-add per term from 0, channels in groups of 16, then taps, then channels in
//! the group, padding left out; the bias is added last.

use super::matmul::{dot, put};
use super::{Eval, OpDef, each};
use crate::Tensor;
use crate::graph::{Attrs, Fact, Infer};
use smalti_dims::Dim;

/// The operation.
pub static CONV: OpDef = OpDef { name: "conv", infer, eval };

/// Channels that are summed before the next tap is turned to.
const CHANNEL_GROUP: usize = 16;

/// The most that a window's steps, padding and number of elements may be: products of two stay within 64 bits.
const FARTHEST: usize = i32::MAX as usize;

/// Geometry of a window along every spatial dim.
pub struct Window {
    /// Extents.
    pub kernel: Vec<usize>,
    /// Steps between neighbouring outputs.
    pub strides: Vec<usize>,
    /// Padding before, of each dim, then after.
    pub pads: Vec<usize>,
    /// Steps between neighbouring taps.
    pub dilations: Vec<usize>,
}

impl Window {
    /// Reads the attributes for a kernel of these extents.
    ///
    /// # Errors
    /// A list of the wrong length, a value that is not possible, or too many elements.
    pub fn new(attrs: &Attrs, kernel: Vec<usize>) -> Result<Window, String> {
        let n = kernel.len();
        let list = |name: &str, count: usize, default: usize| {
            let given = attrs.ints(name);
            if given.is_empty() {
                return Ok(vec![default; count]);
            }
            if given.len() != count {
                return Err(format!("'{name}' has {} values, {count} are needed", given.len()));
            }
            let size = |&v: &i64| usize::try_from(v).ok().filter(|v| (default..=FARTHEST).contains(v));
            let sizes: Option<Vec<usize>> = given.iter().map(size).collect();
            sizes.ok_or(format!("'{name}' is {given:?}; each must be at least {default} and at most {FARTHEST}"))
        };
        let taps = kernel.iter().try_fold(1usize, |p, &k| p.checked_mul(k.max(1)));
        if taps.is_none_or(|t| t > FARTHEST) {
            return Err(format!("a window of {kernel:?} has more than {FARTHEST} elements"));
        }
        Ok(Window {
            strides: list("strides", n, 1)?,
            pads: list("pads", 2 * n, 0)?,
            dilations: list("dilations", n, 1)?,
            kernel,
        })
    }

    /// The output extent along dim `d`.
    pub fn output(&self, d: usize, input: &Dim) -> Dim {
        let n = self.kernel.len();
        let reach = self.dilations[d] * (self.kernel[d].max(1) - 1) + 1;
        let padded = input.clone() + Dim::from(self.pads[d] + self.pads[d + n]);
        let room = padded - Dim::from(reach);
        room.div(&Dim::from(self.strides[d])) + Dim::from(1i64)
    }

    /// The output extents of these spatial dims.
    ///
    /// # Errors
    /// The window is larger than the padded input.
    pub fn outputs(&self, input: &[Dim]) -> Result<Vec<Dim>, String> {
        let extent = |d: usize| {
            let extent = self.output(d, &input[d]);
            if extent.int().is_some_and(|e| e < 0) {
                return Err(format!("a window of {} does not fit the padded input", self.kernel[d]));
            }
            Ok(extent)
        };
        (0..self.kernel.len()).map(extent).collect()
    }

    /// The padding before each dim of an input with batch and channels, then after each; none where all is zero.
    pub fn all_pads(&self) -> Option<Vec<i64>> {
        let (before, after) = self.pads.split_at(self.kernel.len());
        let with_outer = |pads: &[usize]| [0, 0].into_iter().chain(pads.iter().map(|&p| p as i64)).collect::<Vec<_>>();
        self.pads.iter().any(|&p| p != 0).then(|| [with_outer(before), with_outer(after)].concat())
    }

    /// The same as [`Window::output`] for an integer.
    ///
    /// # Errors
    /// The window is larger than the padded input.
    pub fn extent(&self, d: usize, input: usize) -> Result<usize, String> {
        let extent = self.output(d, &Dim::from(input));
        let text = || format!("a window of {} does not fit an input of {input}", self.kernel[d]);
        extent.size().ok_or_else(text)
    }

    /// How many taps of output `o` along dim `d` lie within an input of `input` elements.
    pub fn inside(&self, d: usize, o: usize, input: usize) -> usize {
        // Taps before this place of the padded input.
        let before =
            |place: usize| place.saturating_sub(o * self.strides[d]).div_ceil(self.dilations[d]).min(self.kernel[d]);
        before(self.pads[d] + input) - before(self.pads[d])
    }

    /// The input position of tap `k` of output `o` along dim `d`; none in the padding.
    pub fn position(&self, d: usize, o: usize, k: usize, input: usize) -> Option<usize> {
        let at = (o * self.strides[d] + k * self.dilations[d]).checked_sub(self.pads[d])?;
        (at < input).then_some(at)
    }
}

fn infer(c: &mut Infer<'_>) -> Result<Vec<Fact>, String> {
    let (x, w) = (c.shape(0)?, c.shape(1)?);
    let elem = c.elem(0)?;
    if elem != c.elem(1)? || !elem.is_float() {
        return Err(format!("element types {elem} and {}; allowed: one float type", c.elem(1)?));
    }
    if x.len() < 3 || x.len() != w.len() {
        return Err(format!("ranks {} and {}: input and weights need one rank of at least 3", x.len(), w.len()));
    }
    let kernel: Option<Vec<usize>> = w[2..].iter().map(Dim::size).collect();
    let window = Window::new(c.attrs, kernel.ok_or("the kernel's extents must be known")?)?;
    let groups = c.attrs.int("group", 1);
    if groups < 1 || w[0].int().is_some_and(|oc| oc % groups != 0) {
        return Err(format!("{groups} groups don't divide the output channels"));
    }
    let channels = w[1].clone() * Dim::from(groups);
    c.equal("input channels and weights' channels times groups", &x[1], &channels)?;
    if c.has(2) {
        let bias = c.shape(2)?;
        if bias.len() != 1 {
            return Err("the bias must have one dim".to_owned());
        }
        c.equal("output channels and the bias", &w[0], &bias[0])?;
    }
    let mut shape = vec![x[0].clone(), w[0].clone()];
    shape.extend(window.outputs(&x[2..])?);
    Ok(vec![Fact::tensor(elem, shape)])
}

fn eval(c: &Eval<'_>) -> Result<Vec<Tensor>, String> {
    let (x, w) = (c.input(0)?, c.input(1)?);
    let bias = c.inputs.get(2).copied().flatten();
    let window = Window::new(c.attrs, w.shape[2..].to_vec())?;
    let spatial = window.kernel.len();
    let groups = c.attrs.int("group", 1).max(1) as usize;
    let (ic, oc) = (w.shape[1], w.shape[0]);
    if x.shape[1] != ic * groups || oc % groups != 0 {
        return Err(format!("{} input channels, weights for {ic} in each of {groups} groups", x.shape[1]));
    }
    let mut shape = vec![x.shape[0], oc];
    for d in 0..spatial {
        shape.push(window.extent(d, x.shape[d + 2])?);
    }
    let (xs, ws) = (Tensor::strides(&x.shape), Tensor::strides(&w.shape));
    let mut out = Tensor::zeros(x.elem, shape.clone());
    let mut i = 0;
    each(&shape, |at| {
        let first = at[1] / (oc / groups) * ic;
        let mut taps: Vec<(usize, usize)> = Vec::new();
        each(&window.kernel, |tap| {
            let mut offsets = (0, 0);
            for d in 0..spatial {
                match window.position(d, at[d + 2], tap[d], x.shape[d + 2]) {
                    Some(p) => {
                        offsets.0 += p * xs[d + 2];
                        offsets.1 += tap[d] * ws[d + 2];
                    }
                    None => return,
                }
            }
            taps.push(offsets);
        });
        let mut terms: Vec<(usize, usize)> = Vec::with_capacity(taps.len() * ic);
        for group in (0..ic).step_by(CHANNEL_GROUP) {
            for (tx, tw) in &taps {
                for ch in group..(group + CHANNEL_GROUP).min(ic) {
                    terms.push((at[0] * xs[0] + (first + ch) * xs[1] + tx, at[1] * ws[0] + ch * ws[1] + tw));
                }
            }
        }
        let sum = dot(x, w, terms.len(), |p| terms[p]);
        put(&mut out, i, sum);
        if let Some(bias) = bias {
            let sum = if c.exact {
                out.get(i) + bias.get(at[1])
            } else {
                // In f32, as the epilogue adds.
                f64::from(out.get(i) as f32 + bias.get(at[1]) as f32)
            };
            out.set(i, sum);
        }
        i += 1;
    });
    Ok(vec![out])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Attr;

    #[test]
    fn taps_inside_are_those_that_have_a_position() {
        for (kernel, stride, pads, dilation) in
            [(3, 1, [1, 1], 1), (2, 2, [1, 0], 3), (4, 3, [3, 3], 2), (1, 5, [0, 0], 7)]
        {
            let attrs = Attrs::none()
                .with("strides", Attr::Ints(vec![stride]))
                .with("pads", Attr::Ints(pads.to_vec()))
                .with("dilations", Attr::Ints(vec![dilation]));
            let window = Window::new(&attrs, vec![kernel]).unwrap();
            for input in 1..9 {
                for o in 0..9 {
                    let counted = (0..kernel).filter(|&k| window.position(0, o, k, input).is_some()).count();
                    assert_eq!(
                        window.inside(0, o, input),
                        counted,
                        "{kernel} {stride} {pads:?} {dilation} {input} {o}"
                    );
                }
            }
        }
    }

    #[test]
    fn windows_whose_arithmetic_leaves_64_bits_are_refused() {
        let attrs =
            |name: &str, v: i64| Attrs::none().with(name, Attr::Ints(vec![v; if name == "pads" { 2 } else { 1 }]));
        for name in ["strides", "pads", "dilations"] {
            assert!(Window::new(&attrs(name, i64::from(i32::MAX)), vec![1]).is_ok());
            for v in [-1, 1 << 31, i64::MAX, i64::MIN] {
                assert!(Window::new(&attrs(name, v), vec![1]).is_err(), "{name} {v}");
            }
        }
        assert!(Window::new(&Attrs::none(), vec![1 << 16, 1 << 16]).is_err());
        assert!(Window::new(&Attrs::none(), vec![usize::MAX, 2, 0]).is_err());
    }
}
